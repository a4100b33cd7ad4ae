#include "Tuning/ReportData.h"

#include "Base/ByteText.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace patchio {
namespace {

using JsonValue = nlohmann::ordered_json;

JsonValue SecondsOf(const PastRead& read)
{
  return {{"open", read.OpenSeconds}, {"locate", read.LocateSeconds},
      {"read", read.ReadSeconds - read.DecodeSeconds}, {"decode", read.DecodeSeconds},
      {"assemble", read.AssembleSeconds}};
}

PastRead Summary(const ReportData& data)
{
  const IoReport& report = data.Last;
  PastRead read;
  read.Time = data.Time;
  read.OpenSeconds = report.OpenSeconds;
  read.LocateSeconds = report.LocateSeconds;
  read.ReadSeconds = report.ReadSeconds;
  read.DecodeSeconds = report.DecodePart();
  read.AssembleSeconds = report.AssembleSeconds;
  read.Bytes = static_cast<double>(report.Bytes);
  read.InFlight = data.MeanInFlight();
  read.Cancelled = data.Cancelled;
  return read;
}

JsonValue JsonOf(const PastRead& read)
{
  return {{"time", read.Time}, {"seconds", SecondsOf(read)}, {"bytes", read.Bytes},
      {"in_flight", read.InFlight}, {"cancelled", read.Cancelled}};
}

JsonValue JsonOf(const std::vector<TimelinePoint>& moments)
{
  JsonValue seconds = JsonValue::array(), bytes = JsonValue::array(), inFlight = JsonValue::array();
  for (const TimelinePoint& point : moments) {
    seconds.push_back(point.Seconds);
    bytes.push_back(point.Bytes);
    inFlight.push_back(point.InFlight);
  }
  return {{"seconds", seconds}, {"bytes", bytes}, {"in_flight", inFlight}};
}

JsonValue JsonOf(const std::vector<ThreadChange>& changes)
{
  JsonValue list = JsonValue::array();
  for (const ThreadChange& change : changes) {
    list.push_back({change.Seconds, change.Threads});
  }
  return list;
}

/// The law as points that lines can join: eight for each doubling of N, to a little beyond the samples.
JsonValue PointsOf(const RateFit& fit)
{
  JsonValue points = JsonValue::array();
  if (fit.Known()) {
    const double end = std::log2(2.0 * fit.Most());
    for (double place = std::log2(std::max(fit.Least(), 1)); place <= end; place += 0.125) {
      points.push_back({std::exp2(place), fit.At(std::exp2(place))});
    }
  }
  return points;
}

JsonValue JsonOf(const StorageCurve& storage)
{
  JsonValue samples = JsonValue::array();
  for (const RateSample& sample : storage.Samples) {
    samples.push_back({sample.Concurrency, sample.Rate});
  }
  return {{"best_concurrency", storage.Concurrency}, {"load", storage.Load}, {"source", storage.Source},
      {"samples", samples}, {"curve", PointsOf(storage.Fit)}};
}

}  // namespace

double ReportData::MeanInFlight() const
{
  return this->Last.ReadSeconds > 0 ? this->Last.StorageSeconds / this->Last.ReadSeconds : 0;
}

void ReportData::Remember()
{
  this->Past.push_back(Summary(*this));
  if (this->Past.size() > MostPast) {
    this->Past.pop_front();
  }
}

std::string ReportData::Text() const
{
  if (!this->Cancelled) {
    return (this->Date.empty() ? "" : "Date: " + this->Date + "\n") + this->Last.Text();
  }
  const std::uint64_t wanted = std::max(static_cast<std::uint64_t>(this->WantedBytes), this->Last.Bytes);
  return fmt::format(
      "Cancelled after {:.1f} s: {} of {} read from {}\nNothing is shown. Change the time step or any "
      "property of the reader to read again.\n",
      this->Last.ReadSeconds, ByteText(this->Last.Bytes), ByteText(wanted), this->File);
}

std::string ReportData::Json() const
{
  const IoReport& report = this->Last;
  JsonValue past = JsonValue::array();
  for (const PastRead& read : this->Past) {
    past.push_back(JsonOf(read));
  }
  const JsonValue json = {{"version", 1}, {"file", this->File}, {"time", this->Time}, {"date", this->Date},
      {"cancelled", this->Cancelled}, {"ranks", report.Ranks},
      {"threads_of_rank", {report.ThreadsMin, report.ThreadsMax}}, {"patches", report.Patches},
      {"blocks", report.Blocks}, {"tasks", report.Tasks}, {"requests", report.Requests},
      {"bytes", report.Bytes}, {"wanted_bytes", this->WantedBytes}, {"cached_bytes", report.CachedBytes},
      {"cached_arrays", report.CachedArrays}, {"arena_width", report.ArenaWidth},
      {"peak_in_flight", report.PeakInFlight}, {"in_flight", this->MeanInFlight()},
      {"request_seconds", report.Requests > 0 ? report.StorageSeconds / double(report.Requests) : 0},
      {"seconds", SecondsOf(Summary(*this))}, {"moments", JsonOf(report.Moments)},
      {"threads", JsonOf(this->Threads)}, {"storage", JsonOf(this->Storage)}, {"past", past},
      {"notes", report.Notes}};
  // File names need not be UTF-8.
  return json.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
}

}  // namespace patchio
