#include "Read/CollectiveCalls.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Read/OpenedSeries.h"

#include <algorithm>
#include <tuple>

namespace patchio {
namespace {

/// Returns references to the members of a step, in the order in which Pack() writes them.
template <typename Step>
auto MembersOf(Step& step)
{
  return std::tie(step.Path, step.Time, step.Step, step.Date, step.StepInFile, step.HasNotes, step.Notes);
}

std::vector<std::byte> Pack(const Series& series)
{
  ByteWriter out;
  out.Append<std::uint64_t>(series.Steps.size());
  for (const TimeStep& step : series.Steps) {
    out.Append(MembersOf(step));
  }
  out.Append(std::tie(series.Warnings, series.Notes, series.Watched));
  return out.Release();
}

Series Unpack(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  Series series;
  const auto count = in.Get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    in.Get(MembersOf(series.Steps.emplace_back()));
  }
  in.Get(std::tie(series.Warnings, series.Notes, series.Watched));
  return series;
}

/// Runs `read` on rank 0 and broadcasts the catalog.
Catalog ReadOnce(Communicator& ranks, const std::function<Catalog()>& read)
{
  const bool alone = ranks.Size() == 1;
  std::vector<std::byte> bytes;
  if (!alone) {
    bytes = ProduceOnRankZero(ranks, [&read] { return read().Serialize(); });
  }
  Catalog catalog;
  RunOnAllRanks(ranks, [&] { catalog = alone ? read() : Catalog::Deserialize(bytes); });
  return catalog;
}

/// Returns the first nonempty texts of each rank, see GatherTexts(). Collective: every rank of the
/// communicator calls it.
std::vector<std::string> GatherFirstTexts(Communicator& ranks, const std::vector<std::string>& ofThisRank)
{
  // Limit per rank, which keeps a dump with 100,000 missing patches from flooding the network.
  constexpr std::size_t most = 8;
  std::vector<std::string> own;
  for (const std::string& text : ofThisRank) {
    if (!text.empty() && own.size() < most && std::find(own.begin(), own.end(), text) == own.end()) {
      own.push_back(text);
    }
  }
  return GatherTexts(ranks, own);
}

}  // namespace

void VariableState::Add(const VariableState& other)
{
  this->IsPartial = this->IsPartial || other.IsPartial;
  this->HasUndefined = this->HasUndefined || other.HasUndefined;
  this->OfPoints = this->OfPoints || other.OfPoints;
  this->Type = std::max(this->Type, other.Type);
}

bool BoolOfRankZero(Communicator& ranks, const std::function<bool()>& evaluate)
{
  const std::vector<std::byte> found = ProduceOnRankZero(
      ranks, [&evaluate] { return std::vector<std::byte>(1, std::byte(evaluate() ? 1 : 0)); });
  return found[0] == std::byte(1);
}

Series OpenSeries(
    Communicator& ranks, const std::vector<std::string>& paths, const SeriesOptions& options, IndexMode mode)
{
  const auto open = [&] { return OpenSeriesOfPaths(paths, options, mode); };
  if (ranks.Size() > 1) {
    return Unpack(ProduceOnRankZero(ranks, [&open] { return Pack(open()); }));
  }
  Series series;
  RunOnAllRanks(ranks, [&] { series = open(); });
  return series;
}

Catalog ReadCatalog(Communicator& ranks, const std::string& path)
{
  return ReadOnce(ranks, [&path] { return FormatOf(path).ReadCatalog(path); });
}

Catalog ReadCatalog(Communicator& ranks, const TimeStep& step)
{
  return ReadOnce(ranks, [&step] { return FormatOf(step.Path).ReadStep(step); });
}

std::vector<ValueRange> ReadRanges(Communicator& ranks, const Catalog& catalog, int variable)
{
  const std::vector<std::byte> bytes = ProduceOnRankZero(ranks, [&] {
    ByteWriter writer;
    writer.Append(FormatOf(catalog.Path).RangesOf(catalog, variable));
    return writer.Release();
  });
  return ByteReader(bytes).Get<std::vector<ValueRange>>();
}

GatheredFaults GatherFaults(
    Communicator& ranks, const std::string& fatal, const std::vector<LoadFault>& faults)
{
  std::vector<std::string> texts;
  GatheredFaults gathered;
  for (const LoadFault& fault : faults) {
    texts.push_back(fault.Message);
    gathered.Patches.push_back(fault.Patch);
  }
  if (AllOf(ranks, fatal.empty() && faults.empty())) {
    return gathered;
  }
  gathered.Fatal = GatherFirstTexts(ranks, {fatal});
  gathered.Texts = GatherFirstTexts(ranks, texts);
  gathered.Patches = ranks.AllGather(gathered.Patches);
  return gathered;
}

std::vector<VariableState> CombineVariableStates(Communicator& ranks, std::vector<VariableState> ofThisRank)
{
  std::vector<double> numbers;
  for (const VariableState& state : ofThisRank) {
    numbers.insert(numbers.end(),
        {double(state.IsPartial), double(state.HasUndefined), double(state.OfPoints), double(state.Type)});
  }
  numbers = ranks.Max(numbers);
  for (std::size_t i = 0; i < ofThisRank.size(); ++i) {
    const double* const all = numbers.data() + 4 * i;
    ofThisRank[i] = {all[0] > 0, all[1] > 0, all[2] > 0, static_cast<int>(all[3])};
  }
  return ofThisRank;
}

}  // namespace patchio
