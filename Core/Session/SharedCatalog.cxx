#include "Session/SharedCatalog.h"

#include "MetadataChannel/SeriesSidecar.h"
#include "MetadataChannel/StepSidecar.h"
#include "Support/Bytes.h"
#include "Support/Error.h"
#include "Support/RegularFile.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace patchio {
namespace {

void PutTexts(ByteWriter& out, const std::vector<std::string>& texts)
{
  out.Put<std::uint64_t>(texts.size());
  for (const std::string& text : texts) {
    out.Put(text);
  }
}

std::vector<std::string> GetTexts(ByteReader& in)
{
  std::vector<std::string> texts;
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    in.Get(texts.emplace_back());
  }
  return texts;
}

std::vector<std::byte> Pack(const Series& series)
{
  ByteWriter out;
  out.Put<std::uint64_t>(series.Steps.size());
  for (const TimeStep& step : series.Steps) {
    out.Put(step.Path);
    out.Put(step.Time);
    out.Put(step.Step);
    out.Put(step.Date);
    out.Put(step.InFile);
  }
  PutTexts(out, series.Warnings);
  PutTexts(out, series.Notes);
  return out.Take();
}

Series Unpack(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  Series series;
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    TimeStep& step = series.Steps.emplace_back();
    in.Get(step.Path);
    in.Get(step.Time);
    in.Get(step.Step);
    in.Get(step.Date);
    in.Get(step.InFile);
  }
  series.Warnings = GetTexts(in);
  series.Notes = GetTexts(in);
  return series;
}

/// The steps behind one path, with the help of the sidecars.
Series OpenOne(const std::string& path, const SeriesOptions& options, ChannelMode mode)
{
  if (mode == ChannelMode::Off) {
    return FormatOf(path).OpenSeries(path, options);
  }
  // A series that cannot be saved is opened step by step the next time, which is no news for the user.
  KeptSeries kept = OpenWithSidecar(path, options, mode, ChannelSettings().SettleSeconds);
  if (!kept.Warning.empty()) {
    kept.Opened.Warnings.push_back(kept.Warning);
  }
  return kept.Opened;
}

/// Several paths of one series, as of plotfiles beside each other, bring the same texts.
void AddNew(const std::vector<std::string>& from, std::vector<std::string>& to)
{
  for (const std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) {
      to.push_back(text);
    }
  }
}

/// Series of several paths become one.
class SeriesJoiner
{
public:
  SeriesJoiner(const SeriesOptions& options, ChannelMode mode) : Options(options), Mode(mode) {}

  void Add(const std::string& path);
  /// All steps in ascending order, each once.
  Series Joined();

private:
  void NoteOverlap();

  const SeriesOptions& Options;
  const ChannelMode Mode;
  Series All;
  std::set<std::pair<std::string, int>> Seen;      ///< by TimeStep::Path and TimeStep::InFile
  std::map<std::int64_t, std::string> PathOfStep;  ///< which of the paths has brought it, by TimeStep::Step
  std::size_t Overlap = 0;                         ///< steps that two paths have brought
  std::string OverlapExample;
};

void SeriesJoiner::Add(const std::string& path)
{
  const Series one = OpenOne(path, this->Options, this->Mode);
  for (const TimeStep& step : one.Steps) {
    if (!this->Seen.emplace(step.Path, step.InFile).second) {
      continue;
    }
    this->All.Steps.push_back(step);
    const std::string& other = this->PathOfStep.emplace(step.Step, path).first->second;
    if (other != path && this->Overlap++ == 0) {
      this->OverlapExample = fmt::format("step {}{} is in {} and in {}", step.Step,
          step.Date.empty() ? "" : " (" + step.Date + ")", other, path);
    }
  }
  AddNew(one.Warnings, this->All.Warnings);
  AddNew(one.Notes, this->All.Notes);
}

/// Times of two runs would be shown in turn, as if they were one's.
void SeriesJoiner::NoteOverlap()
{
  if (this->Overlap > 0) {
    this->All.Warnings.push_back(fmt::format(
        "Files that were opened together have {} in common: {}. They are shown as one series, the "
        "same step of each file in turn; open files of different runs one by one.",
        this->Overlap == 1 ? "a step" : fmt::format("{} steps", this->Overlap), this->OverlapExample));
  }
}

Series SeriesJoiner::Joined()
{
  this->NoteOverlap();
  std::stable_sort(this->All.Steps.begin(), this->All.Steps.end(),
      [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
  return std::move(this->All);
}

/// Steps of one series are of one format.
void CheckFormats(const std::vector<std::string>& paths)
{
  const Format& first = FormatOf(paths[0]);
  for (const std::string& path : paths) {
    const Format& format = FormatOf(path);
    if (&format != &first) {
      throw FileError(path,
          fmt::format("a file of the format {}, like {}, as files that are opened together become one series",
              first.Name(), paths[0]),
          fmt::format("one of the format {}", format.Name()), "Open files of different formats one by one");
    }
  }
}

Series OpenAll(std::vector<std::string> paths, const SeriesOptions& options, ChannelMode mode)
{
  std::transform(paths.begin(), paths.end(), paths.begin(), TidyPath);
  if (paths.size() > 1) {
    CheckFormats(paths);
  }
  SeriesJoiner joiner(options, mode);
  for (const std::string& path : paths) {
    joiner.Add(path);
  }
  return joiner.Joined();
}

}  // namespace

Series OpenSharedSeries(
    Communicator& comm, const std::vector<std::string>& paths, const SeriesOptions& options, ChannelMode mode)
{
  return Unpack(BytesOfRankZero(comm, [&] { return Pack(OpenAll(paths, options, mode)); }));
}

Catalog ReadSharedCatalog(Communicator& comm, const std::string& path)
{
  const auto read = [&path] { return FormatOf(path).ReadCatalog(path); };
  const bool alone = comm.Size() == 1;
  std::vector<std::byte> bytes;
  if (!alone) {
    bytes = BytesOfRankZero(comm, [&read] { return read().Serialize(); });
  }
  Catalog catalog;
  RunOnAllRanks(comm, [&] { catalog = alone ? read() : Catalog::Deserialize(bytes); });
  return catalog;
}

std::vector<ValueRange> ReadSharedRanges(Communicator& comm, const Catalog& catalog, int variable)
{
  const std::vector<std::byte> bytes = BytesOfRankZero(comm, [&] {
    const std::vector<ValueRange> ranges = FormatOf(catalog.Path).RangesOf(catalog, variable);
    const auto* begin = reinterpret_cast<const std::byte*>(ranges.data());
    return std::vector<std::byte>(begin, begin + ranges.size() * sizeof(ValueRange));
  });
  std::vector<ValueRange> ranges(bytes.size() / sizeof(ValueRange));
  std::memcpy(ranges.data(), bytes.data(), ranges.size() * sizeof(ValueRange));
  return ranges;
}

std::vector<std::string> GatherFaults(Communicator& comm, const std::vector<std::string>& mine)
{
  // A handful a rank says enough, and keeps a dump with 100,000 missing patches from flooding the network.
  constexpr std::size_t most = 8;
  std::vector<std::string> own;
  for (const std::string& text : mine) {
    if (!text.empty() && own.size() < most && std::find(own.begin(), own.end(), text) == own.end()) {
      own.push_back(text);
    }
  }
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const std::string& ofRank : comm.AllGather(JoinTexts(own))) {
    for (const std::string& text : SplitTexts(ofRank)) {
      if (seen.insert(text).second) {
        all.push_back(text);
      }
    }
  }
  return all;
}

}  // namespace patchio
