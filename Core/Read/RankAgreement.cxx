#include "Read/RankAgreement.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Read/OpenedSeries.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace patchio {
namespace {

/// The members of a step in the order in which they are sent.
template <typename Step>
auto MembersOf(Step& step)
{
  return std::tie(step.Path, step.Time, step.Step, step.Date, step.InFile, step.HasNotes, step.Notes);
}

std::vector<std::byte> Pack(const Series& series)
{
  ByteWriter out;
  out.Put<std::uint64_t>(series.Steps.size());
  for (const TimeStep& step : series.Steps) {
    out.Put(MembersOf(step));
  }
  out.Put(std::tie(series.Warnings, series.Notes, series.Watched));
  return out.Take();
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

}  // namespace

void ArraysOfVariable::Add(const ArraysOfVariable& other)
{
  this->Lacking = this->Lacking || other.Lacking;
  this->Undefined = this->Undefined || other.Undefined;
  this->OfPoints = this->OfPoints || other.OfPoints;
  this->Type = std::max(this->Type, other.Type);
}

bool RankAgreement::RankZeroFinds(const std::function<bool()>& find) const
{
  const std::vector<std::byte> found =
      BytesOfRankZero(*this->Ranks, [&find] { return std::vector<std::byte>(1, std::byte(find() ? 1 : 0)); });
  return found[0] == std::byte(1);
}

bool RankAgreement::AreAlike(const std::vector<int>& numbers) const
{
  std::vector<double> ofBothSigns(numbers.begin(), numbers.end());
  std::transform(
      numbers.begin(), numbers.end(), std::back_inserter(ofBothSigns), [](int n) { return -double(n); });
  const std::vector<double> largest = this->Ranks->Largest(ofBothSigns);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (largest[i] != -largest[numbers.size() + i]) {
      return false;
    }
  }
  return true;
}

int RankAgreement::Least(int number) const
{
  return static_cast<int>(-this->Ranks->Largest({-double(number)})[0]);
}

Series RankAgreement::OpenSeries(
    const std::vector<std::string>& paths, const SeriesOptions& options, ChannelMode mode) const
{
  const auto open = [&] { return OpenSeriesOfPaths(paths, options, mode); };
  if (this->Size() > 1) {
    return Unpack(BytesOfRankZero(*this->Ranks, [&open] { return Pack(open()); }));
  }
  Series series;
  this->RunOnAll([&] { series = open(); });
  return series;
}

Catalog RankAgreement::ReadCatalog(const std::string& path) const
{
  return this->ReadOnce([&path] { return FormatOf(path).ReadCatalog(path); });
}

Catalog RankAgreement::ReadStep(const TimeStep& step) const
{
  return this->ReadOnce([&step] { return FormatOf(step.Path).ReadStep(step); });
}

Catalog RankAgreement::ReadOnce(const std::function<Catalog()>& read) const
{
  const bool alone = this->Size() == 1;
  std::vector<std::byte> bytes;
  if (!alone) {
    bytes = BytesOfRankZero(*this->Ranks, [&read] { return read().Serialize(); });
  }
  Catalog catalog;
  this->RunOnAll([&] { catalog = alone ? read() : Catalog::Deserialize(bytes); });
  return catalog;
}

std::vector<ValueRange> RankAgreement::ReadRanges(const Catalog& catalog, int variable) const
{
  const std::vector<std::byte> bytes = BytesOfRankZero(*this->Ranks, [&] {
    const std::vector<ValueRange> ranges = FormatOf(catalog.Path).RangesOf(catalog, variable);
    const auto* begin = reinterpret_cast<const std::byte*>(ranges.data());
    return std::vector<std::byte>(begin, begin + ranges.size() * sizeof(ValueRange));
  });
  std::vector<ValueRange> ranges(bytes.size() / sizeof(ValueRange));
  // No memcpy: if there are no ranges, the addresses are null.
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(ranges.data()));
  return ranges;
}

bool RankAgreement::ReadCollectively(const std::function<void(const ReadProgressCallback&)>& read,
    const ReadProgressCallback& progress, const std::function<void()>& whileWaiting) const
{
  SharedProgress together(*this->Ranks);
  Pace pace(TellInterval);
  const auto shallStop = [&] { return progress && pace.Due() && !progress(together.OfAll()); };
  read([&](const ReadProgress& mine) { return together.Step(mine, shallStop()); });
  together.Finish([&] {
    whileWaiting();
    return shallStop();
  });
  return !together.Stopped();
}

AgreedFaults RankAgreement::Faults(const std::string& fatal, const std::vector<LoadFault>& faults) const
{
  std::vector<std::string> texts;
  AgreedFaults agreed;
  for (const LoadFault& fault : faults) {
    texts.push_back(fault.Message);
    agreed.Patches.push_back(fault.Patch);
  }
  if (this->All(fatal.empty() && faults.empty())) {
    return agreed;
  }
  agreed.Fatal = this->GatherTexts({fatal});
  agreed.Texts = this->GatherTexts(texts);
  agreed.Patches = this->Ranks->AllGather(agreed.Patches);
  return agreed;
}

/// Returns the texts of all ranks that are not empty, in rank order, each once.
std::vector<std::string> RankAgreement::GatherTexts(const std::vector<std::string>& mine) const
{
  // Limit per rank, which keeps a dump with 100,000 missing patches from flooding the network.
  constexpr std::size_t most = 8;
  std::vector<std::string> own;
  for (const std::string& text : mine) {
    if (!text.empty() && own.size() < most && std::find(own.begin(), own.end(), text) == own.end()) {
      own.push_back(text);
    }
  }
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const std::string& ofRank : this->Ranks->AllGather(JoinTexts(own))) {
    for (const std::string& text : SplitTexts(ofRank)) {
      if (seen.insert(text).second) {
        all.push_back(text);
      }
    }
  }
  return all;
}

std::vector<ArraysOfVariable> RankAgreement::Arrays(std::vector<ArraysOfVariable> mine) const
{
  std::vector<double> numbers;
  for (const ArraysOfVariable& one : mine) {
    numbers.insert(
        numbers.end(), {double(one.Lacking), double(one.Undefined), double(one.OfPoints), double(one.Type)});
  }
  numbers = this->Ranks->Largest(numbers);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const double* const all = numbers.data() + 4 * i;
    mine[i] = {all[0] > 0, all[1] > 0, all[2] > 0, static_cast<int>(all[3])};
  }
  return mine;
}

}  // namespace patchio
