#include "Read/SharedCatalog.h"

#include "MetadataChannel/SeriesSidecar.h"
#include "MetadataChannel/StepSidecar.h"
#include "Support/Bytes.h"
#include "Support/Error.h"
#include "Support/Together.h"

#include <algorithm>
#include <cstring>
#include <iterator>
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

/// The steps of all paths in ascending order, each once.
Series OpenAll(const std::vector<std::string>& paths, const SeriesOptions& options, ChannelMode mode)
{
  Series all;
  std::set<std::pair<std::string, int>> seen;
  for (const std::string& path : paths) {
    const Series one = OpenOne(path, options, mode);
    std::copy_if(one.Steps.begin(), one.Steps.end(), std::back_inserter(all.Steps),
        [&seen](const TimeStep& step) { return seen.emplace(step.Path, step.InFile).second; });
    all.Warnings.insert(all.Warnings.end(), one.Warnings.begin(), one.Warnings.end());
    all.Notes.insert(all.Notes.end(), one.Notes.begin(), one.Notes.end());
  }
  std::stable_sort(all.Steps.begin(), all.Steps.end(),
      [](const TimeStep& a, const TimeStep& b) { return a.Step < b.Step; });
  return all;
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
  Together(comm, [&] { catalog = alone ? read() : Catalog::Deserialize(bytes); });
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
