#include "Tuning/Timeline.h"

#include <algorithm>

namespace patchio {

void Timeline::Add(const TimelinePoint& point)
{
  if (point.Seconds < this->Recorded.back().Seconds + this->Interval) {
    return;
  }
  if (this->Recorded.size() + 1 >= MostPoints) {
    // Drops every other point. The bytes of the next point include the bytes of the dropped point.
    std::vector<TimelinePoint> half;
    for (std::size_t i = 0; i < this->Recorded.size(); i += 2) {
      half.push_back(this->Recorded[i]);
    }
    this->Recorded = std::move(half);
    this->Interval *= 2;
  }
  this->Recorded.push_back(point);
}

void Timeline::End(const TimelinePoint& point)
{
  TimelinePoint end = point;
  end.Seconds = std::max(end.Seconds, this->Recorded.back().Seconds);
  this->Recorded.push_back(end);
}

TimelinePoint InterpolateTimeline(const std::vector<TimelinePoint>& points, double seconds)
{
  const auto later = [](double value, const TimelinePoint& point) { return value < point.Seconds; };
  const auto next = std::upper_bound(points.begin(), points.end(), seconds, later);
  if (next == points.begin()) {
    return {seconds, 0, 0};
  }
  const TimelinePoint& before = *(next - 1);
  if (next == points.end()) {
    return {seconds, before.Bytes, seconds > before.Seconds ? 0 : before.InFlight};
  }
  const double share = (seconds - before.Seconds) / (next->Seconds - before.Seconds);
  return {seconds, before.Bytes + share * (next->Bytes - before.Bytes),
      before.InFlight + share * (next->InFlight - before.InFlight)};
}

std::vector<TimelinePoint> SumOverRanks(const std::vector<TimelinePoint>& timeline, Communicator& ranks)
{
  if (ranks.Size() == 1) {
    return timeline;
  }
  constexpr std::size_t count = 101;
  const double end = ranks.Max({timeline.empty() ? 0 : timeline.back().Seconds})[0];
  if (end <= 0) {
    return {};  // no rank recorded a timeline
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < count; ++i) {
    const TimelinePoint point = InterpolateTimeline(timeline, end * static_cast<double>(i) / (count - 1));
    values.push_back(point.Bytes);
    values.push_back(point.InFlight);
  }
  const std::vector<double> all = ranks.Sum(values);
  std::vector<TimelinePoint> sum;
  for (std::size_t i = 0; i < count; ++i) {
    sum.push_back({end * static_cast<double>(i) / (count - 1), all[2 * i], all[2 * i + 1]});
  }
  return sum;
}

}  // namespace patchio
