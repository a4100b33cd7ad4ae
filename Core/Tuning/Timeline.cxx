#include "Tuning/Timeline.h"

#include <algorithm>

namespace patchio {

void Timeline::Add(const TimelinePoint& point)
{
  if (point.Seconds < this->Kept.back().Seconds + this->Interval) {
    return;
  }
  if (this->Kept.size() + 1 >= MostPoints) {
    // Drops every other moment. The bytes of the next moment include those of the dropped moment.
    std::vector<TimelinePoint> half;
    for (std::size_t i = 0; i < this->Kept.size(); i += 2) {
      half.push_back(this->Kept[i]);
    }
    this->Kept = std::move(half);
    this->Interval *= 2;
  }
  this->Kept.push_back(point);
}

void Timeline::End(const TimelinePoint& point)
{
  TimelinePoint end = point;
  end.Seconds = std::max(end.Seconds, this->Kept.back().Seconds);
  this->Kept.push_back(end);
}

TimelinePoint At(const std::vector<TimelinePoint>& points, double seconds)
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

std::vector<TimelinePoint> SumOverRanks(const std::vector<TimelinePoint>& ofThisRank, Communicator& comm)
{
  if (comm.Size() == 1) {
    return ofThisRank;
  }
  constexpr std::size_t moments = 101;
  const double end = comm.Largest({ofThisRank.empty() ? 0 : ofThisRank.back().Seconds})[0];
  if (end <= 0) {
    return {};  // no rank recorded a timeline
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < moments; ++i) {
    const TimelinePoint point = At(ofThisRank, end * static_cast<double>(i) / (moments - 1));
    values.push_back(point.Bytes);
    values.push_back(point.InFlight);
  }
  const std::vector<double> all = comm.Sum(values);
  std::vector<TimelinePoint> sum;
  for (std::size_t i = 0; i < moments; ++i) {
    sum.push_back({end * static_cast<double>(i) / (moments - 1), all[2 * i], all[2 * i + 1]});
  }
  return sum;
}

}  // namespace patchio
