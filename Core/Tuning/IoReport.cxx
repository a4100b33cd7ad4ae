#include "Tuning/IoReport.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>

namespace patchio {

namespace {

struct ByteUnit
{
  const char* Name;
  double Bytes;
};

ByteUnit ByteUnitFor(double bytes)
{
  constexpr std::array<ByteUnit, 4> units{{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}}};
  const auto fitting =
      std::find_if(units.begin(), units.end(), [bytes](const ByteUnit& unit) { return bytes >= unit.Bytes; });
  return fitting == units.end() ? ByteUnit{"bytes", 1} : *fitting;
}

/// Formats a duration in seconds: "3 s", "2 min", "1.5 h". Rounds seconds up.
std::string DurationText(double seconds)
{
  return seconds < 100    ? fmt::format("{:.0f} s", std::ceil(seconds))
         : seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60)
                          : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

std::string ReadingText(double bytes, double bytesToRead, double rate)
{
  if (bytesToRead <= 0) {
    return "Reading";
  }
  const ByteUnit unit = ByteUnitFor(bytesToRead);
  const int digits = unit.Bytes > 1 && bytesToRead < 100 * unit.Bytes ? 1 : 0;
  const double digit = unit.Bytes / std::pow(10, digits);
  // Rounding down lets the text show the total only when all bytes are read. The term 1e-9 is for numbers
  // such as 1.2, which have no exact representation.
  const double read = bytes < bytesToRead ? std::floor(bytes / digit + 1e-9) * digit : bytesToRead;
  std::string text = fmt::format("Reading {:.{}f} of {:.{}f} {}", read / unit.Bytes, digits,
      bytesToRead / unit.Bytes, digits, unit.Name);
  if (bytes >= bytesToRead) {
    text += ", decoding";
  } else if (rate > 0 && bytes > 0) {
    const ByteUnit ofRate = ByteUnitFor(rate);
    text += fmt::format(", {:.{}f} {}/s, {} left", rate / ofRate.Bytes, rate < 10 * ofRate.Bytes ? 1 : 0,
        ofRate.Name, DurationText((bytesToRead - bytes) / rate));
  }
  return text;
}

double ReadingFraction(double bytes, double bytesToRead, double taskFraction)
{
  return bytesToRead > 0 ? std::min(bytes / bytesToRead, 1.0) : taskFraction;
}

namespace {

std::string RangeText(int from, int to)
{
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

}  // namespace

double IoReport::MegabytesPerSecond() const
{
  return this->ReadSeconds > 0 ? this->Bytes * 1e-6 / this->ReadSeconds : 0;
}

double IoReport::DecodeWallSeconds() const
{
  const double all = this->StorageSeconds + this->DecodeSeconds;
  return all > 0 ? this->ReadSeconds * this->DecodeSeconds / all : 0;
}

std::string IoReport::Text() const
{
  std::string text;
  text += fmt::format("Ranks: {}\n", this->Ranks);
  text += fmt::format("Threads per rank (NT): {}\n", RangeText(this->ThreadsMin, this->ThreadsMax));
  text += this->ThreadsText;
  text += fmt::format("Patches: {}\n", this->Patches);
  if (this->Blocks > 0) {
    text += fmt::format("Blocks: {}\n", this->Blocks);
  }
  text += fmt::format("Read tasks: {}{}\n", this->Tasks,
      this->ArenaWidth > 0 ? fmt::format(", in TBB arenas with {} slots", this->ArenaWidth) : "");
  text += fmt::format("Bytes read: {} in {} requests\n", ByteText(this->Bytes), this->Requests);
  if (this->CachedArrays > 0) {
    text += fmt::format(
        "From the cache: {} in {}\n", ByteText(this->CachedBytes), CountText(this->CachedArrays, "array"));
  }
  text += fmt::format("Maximum reads in flight: {}\n", this->PeakInFlight);
  text += fmt::format("Seconds: open {:.3f}, locate {:.3f}, read {:.3f}, assemble {:.3f}\n",
      this->OpenSeconds, this->LocateSeconds, this->ReadSeconds, this->AssembleSeconds);
  if (this->Bytes > 0) {
    text += fmt::format("Read rate: {:.0f} MB/s\n", this->MegabytesPerSecond());
  }
  if (!this->FilterThreads.empty()) {
    text += "Filter threads per rank: " + this->FilterThreads + "\n";
  }
  if (this->Prefetches > 0 && this->Bytes > 0) {
    text += fmt::format("Read ahead: {} of {}, then waited {:.3f} s for the rest\n",
        ByteText(this->PrefetchedBytes), ByteText(this->Bytes), this->WaitSeconds);
  }
  if (!this->Metadata.empty()) {
    text += "Metadata: " + this->Metadata + "\n";
  }
  for (const std::string& note : this->Notes) {
    text += "Note: " + note + "\n";
  }
  return text;
}

namespace {

std::string WithoutDigits(std::string text)
{
  text.erase(std::remove_if(text.begin(), text.end(), IsDigit), text.end());
  return text;
}

/// Adds the notes of a rank to `all`, unless they are in `known`. Then adds their texts without digits to
/// `known`.
void AddNotes(
    const std::vector<std::string>& notes, std::vector<std::string>& all, std::set<std::string>& known)
{
  std::set<std::string> found;
  for (const std::string& note : notes) {
    const std::string words = WithoutDigits(note);
    found.insert(words);
    if (known.count(words) == 0) {
      all.push_back(note);
    }
  }
  known.merge(found);
}

/// Returns the notes of all ranks in rank order, without notes that differ from those of earlier ranks only
/// in their numbers. Gathers notes only if a rank has a note that rank 0 lacks. Collective: every rank of the
/// communicator calls it.
std::vector<std::string> CombineNotes(const std::vector<std::string>& notes, Communicator& ranks)
{
  const std::vector<std::byte> ofRank0 = ProduceOnRankZero(ranks, [&] {
    ByteWriter out;
    out.Append(notes);
    return out.Release();
  });
  std::vector<std::string> all, others;
  std::set<std::string> known;
  AddNotes(ByteReader(ofRank0).Get<std::vector<std::string>>(), all, known);
  std::copy_if(notes.begin(), notes.end(), std::back_inserter(others),
      [&](const std::string& note) { return known.count(WithoutDigits(note)) == 0; });
  if (!AllOf(ranks, others.empty())) {
    for (const std::string& ofRank : ranks.AllGather(JoinTexts(others))) {
      AddNotes(SplitTexts(ofRank), all, known);
    }
  }
  return all;
}

}  // namespace

IoReport CombineOverRanks(const IoReport& report, Communicator& ranks)
{
  std::vector<double> values{double(report.ThreadsMin), double(report.ThreadsMax), double(report.Patches),
      double(report.Tasks), double(report.Requests), double(report.Bytes), double(report.PeakInFlight),
      report.OpenSeconds, report.LocateSeconds, report.ReadSeconds, report.AssembleSeconds,
      double(report.Blocks), report.StorageSeconds, report.DecodeSeconds, double(report.Prefetches),
      double(report.PrefetchedBytes), report.WaitSeconds, double(report.CachedArrays),
      double(report.CachedBytes), double(report.ArenaWidth)};
  const std::vector<double> sum = ranks.Sum(values);
  values[0] = -values[0];  // to find the least value by a maximum
  const std::vector<double> most = ranks.Max(values);

  IoReport total = report;
  total.Ranks = ranks.Size();
  total.ThreadsMin = static_cast<int>(-most[0]);
  total.ThreadsMax = static_cast<int>(most[1]);
  total.Patches = static_cast<std::uint64_t>(sum[2]);
  total.Tasks = static_cast<std::uint64_t>(sum[3]);
  total.Requests = static_cast<std::uint64_t>(sum[4]);
  total.Bytes = static_cast<std::uint64_t>(sum[5]);
  total.PeakInFlight = static_cast<int>(sum[6]);
  total.OpenSeconds = most[7];
  total.LocateSeconds = most[8];
  total.ReadSeconds = most[9];
  total.AssembleSeconds = most[10];
  total.Blocks = static_cast<std::uint64_t>(sum[11]);
  total.StorageSeconds = sum[12];
  total.DecodeSeconds = sum[13];
  total.Prefetches = static_cast<int>(sum[14]);
  total.PrefetchedBytes = static_cast<std::uint64_t>(sum[15]);
  total.WaitSeconds = most[16];
  total.CachedArrays = static_cast<std::uint64_t>(sum[17]);
  total.CachedBytes = static_cast<std::uint64_t>(sum[18]);
  total.ArenaWidth = static_cast<int>(sum[19]);
  total.Notes = CombineNotes(report.Notes, ranks);
  total.Timeline = SumOverRanks(report.Timeline, ranks);
  return total;
}

namespace {

using JsonValue = nlohmann::ordered_json;

JsonValue JsonOfSeconds(const PastRead& read)
{
  return {{"open", read.OpenSeconds}, {"locate", read.LocateSeconds},
      {"read", read.ReadSeconds - read.DecodeSeconds}, {"decode", read.DecodeSeconds},
      {"assemble", read.AssembleSeconds}};
}

PastRead SummaryOf(const ReportData& data)
{
  const IoReport& report = data.Last;
  PastRead read;
  read.Time = data.Time;
  read.OpenSeconds = report.OpenSeconds;
  read.LocateSeconds = report.LocateSeconds;
  read.ReadSeconds = report.ReadSeconds;
  read.DecodeSeconds = report.DecodeWallSeconds();
  read.AssembleSeconds = report.AssembleSeconds;
  read.Bytes = static_cast<double>(report.Bytes);
  read.InFlight = data.MeanInFlight();
  read.Cancelled = data.Cancelled;
  return read;
}

JsonValue JsonOf(const PastRead& read)
{
  return {{"time", read.Time}, {"seconds", JsonOfSeconds(read)}, {"bytes", read.Bytes},
      {"in_flight", read.InFlight}, {"cancelled", read.Cancelled}};
}

JsonValue JsonOf(const std::vector<TimelinePoint>& points)
{
  JsonValue seconds = JsonValue::array(), bytes = JsonValue::array(), inFlight = JsonValue::array();
  for (const TimelinePoint& point : points) {
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

/// Returns the total number of bytes of the read; at least the bytes read until now, because
/// ReportData::BytesToRead may be unknown.
std::uint64_t TotalBytes(const ReportData& data)
{
  return std::max(static_cast<std::uint64_t>(data.BytesToRead), data.Last.Bytes);
}

/// Returns points of the law for drawing lines: eight per doubling of N, from the least N sampled to twice
/// the greatest.
JsonValue JsonOfCurve(const RateFit& fit)
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
      {"samples", samples}, {"curve", JsonOfCurve(storage.Fit)}};
}

}  // namespace

double ReportData::MeanInFlight() const
{
  return this->Last.ReadSeconds > 0 ? this->Last.StorageSeconds / this->Last.ReadSeconds : 0;
}

void ReportData::AppendPastRead()
{
  this->PastReads.push_back(SummaryOf(*this));
  if (this->PastReads.size() > MostPastReads) {
    this->PastReads.pop_front();
  }
}

std::string ReportData::Text() const
{
  if (!this->Cancelled) {
    return (this->Date.empty() ? "" : "Date: " + this->Date + "\n") + this->Last.Text();
  }
  const std::uint64_t total = TotalBytes(*this);
  return fmt::format(
      "Cancelled after {:.1f} s: {}{} read from {}\nThe output is empty. Change the time step or any "
      "property of the reader to read again.\n",
      this->Last.ReadSeconds, ByteText(this->Last.Bytes), total > 0 ? " of " + ByteText(total) : "",
      this->File);
}

std::string ReportData::Json() const
{
  const IoReport& report = this->Last;
  JsonValue past = JsonValue::array();
  for (const PastRead& read : this->PastReads) {
    past.push_back(JsonOf(read));
  }
  const JsonValue json = {{"version", 1}, {"file", this->File}, {"time", this->Time}, {"date", this->Date},
      {"cancelled", this->Cancelled}, {"ranks", report.Ranks},
      {"threads_of_rank", {report.ThreadsMin, report.ThreadsMax}}, {"patches", report.Patches},
      {"blocks", report.Blocks}, {"tasks", report.Tasks}, {"requests", report.Requests},
      {"bytes", report.Bytes}, {"wanted_bytes", TotalBytes(*this)}, {"cached_bytes", report.CachedBytes},
      {"cached_arrays", report.CachedArrays}, {"arena_width", report.ArenaWidth},
      {"peak_in_flight", report.PeakInFlight}, {"in_flight", this->MeanInFlight()},
      {"request_seconds", report.Requests > 0 ? report.StorageSeconds / double(report.Requests) : 0},
      {"seconds", JsonOfSeconds(SummaryOf(*this))}, {"moments", JsonOf(report.Timeline)},
      {"threads", JsonOf(this->Threads)}, {"storage", JsonOf(this->Storage)}, {"past", past},
      {"notes", report.Notes}};
  // File names may not be valid UTF-8.
  return json.dump(-1, ' ', false, JsonValue::error_handler_t::replace);
}

}  // namespace patchio
