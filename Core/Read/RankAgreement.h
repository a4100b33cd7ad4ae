// The collective operations of opening and reading a series. Each collective call of this folder is a method
// here.
#pragma once

#include "Base/Communicator.h"
#include "Base/Memory.h"
#include "Formats/Format.h"
#include "Io/Progress.h"
#include "Read/LoadRequest.h"
#include "Store/StepSidecar.h"
#include "Tuning/AutomaticThreads.h"
#include "Tuning/IoReport.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The faults of all ranks; the same on all of them.
struct AgreedFaults
{
  std::vector<std::string> Fatal;  ///< faults that ended the whole read of a rank
  std::vector<std::string> Texts;  ///< faults of files and arrays, each once
  std::vector<int> Patches;        ///< patches that cannot be read; may repeat
};

/// The state of a variable's arrays on the blocks of one rank, or of all ranks.
struct ArraysOfVariable
{
  bool Lacking = false;    ///< some block lacks the variable
  bool Undefined = false;  ///< some values are undefined
  bool OfPoints = false;   ///< the variable lies on lists of points
  int Type = -1;           ///< ElementType of the arrays; -1: no block has the variable

  void Add(const ArraysOfVariable& other);
};

/// The ranks that read together. Cheap to copy. All methods but Rank() and Size() are collective: every rank
/// of the communicator calls them in the same order. Methods that throw throw Error, with the same text on
/// all ranks.
class RankAgreement
{
public:
  /// Keeps a reference to `ranks`.
  RankAgreement(Communicator& ranks) : Ranks(&ranks) {}

  int Rank() const { return this->Ranks->Rank(); }
  int Size() const { return this->Ranks->Size(); }

  /// Runs `work`, which must not communicate. Throws on all ranks the error that it throws on any.
  void RunOnAll(const std::function<void()>& work) const { RunOnAllRanks(*this->Ranks, work); }
  /// Returns whether `holds` is true on every rank.
  bool All(bool holds) const { return AllOf(*this->Ranks, holds); }
  /// Returns the result of `find` on rank 0, because ranks may see a change of a file at different times.
  bool RankZeroFinds(const std::function<bool()>& find) const;
  /// Returns whether `numbers` are the same on all ranks.
  bool AreAlike(const std::vector<int>& numbers) const;
  /// Returns the least `number` of all ranks.
  int Least(int number) const;

  // Opening: one rank opens and sends the result to the others, so that the file system does not have to
  // serve the description to many ranks.

  /// Opens the series of all paths on rank 0, see OpenSeriesOfPaths(), and broadcasts it.
  Series OpenSeries(const std::vector<std::string>& paths, const SeriesOptions& options,
      ChannelMode mode = ChannelMode::Off) const;
  /// Reads the catalog of a time step on rank 0, see Format, and broadcasts it.
  Catalog ReadCatalog(const std::string& path) const;
  Catalog ReadStep(const TimeStep& step) const;
  /// Calls Format::RangesOf() on rank 0 and broadcasts the result.
  std::vector<ValueRange> ReadRanges(const Catalog& catalog, int variable) const;
  /// See FindStepSidecar().
  SidecarSearch FindSidecar(const std::string& path, const ChannelSettings& settings) const
  {
    return FindStepSidecar(*this->Ranks, path, settings);
  }
  /// See patchio::BuildIndex().
  std::optional<BuiltIndex> BuildIndex(const Format& format, const Catalog& catalog,
      const ChannelSettings& settings, const ProgressCallback& progress) const
  {
    return patchio::BuildIndex(*this->Ranks, format, catalog, settings, progress);
  }
  /// See SaveStepSidecar().
  SaveOutcome SaveSidecar(const Format& format, const Catalog& catalog, BuiltIndex& built,
      const DescribingState& describing, const ChannelSettings& settings) const
  {
    return SaveStepSidecar(*this->Ranks, format, catalog, built, describing, settings);
  }

  // Reading

  /// See AutomaticThreads::Begin(); End() of the same object is collective, too.
  void BeginThreads(
      AutomaticThreads& threads, const std::string& path, ThreadPolicy policy, int mostOfRank) const
  {
    threads.Begin(*this->Ranks, path, policy, mostOfRank);
  }
  /// See RunUnlessStopped().
  bool RunUnlessStopped(
      const ProgressCallback& progress, const std::function<void(const ProgressCallback&)>& work) const
  {
    return patchio::RunUnlessStopped(*this->Ranks, progress, work);
  }
  /// See CheckMemoryOfMachines().
  void CheckMemory(double bytes, double share = 1) const
  {
    CheckMemoryOfMachines(*this->Ranks, bytes, share);
  }
  /// Runs `read` on every rank. `read` reports its progress and ends soon after the callback returned false;
  /// it must not throw. Returns when all ranks have read, or when `progress` returned false on any rank: then
  /// all ranks stop, and the result is false on all. `progress` is called about every 10 ms with the progress
  /// of all ranks together. `whileWaiting` is called many times a second by a rank that waits for the others.
  bool ReadCollectively(const std::function<void(const ReadProgressCallback&)>& read,
      const ReadProgressCallback& progress, const std::function<void()>& whileWaiting) const;
  /// Returns the faults of all ranks. `fatal`: the fault that ended this rank's read as a whole, or an empty
  /// text.
  AgreedFaults Faults(const std::string& fatal, const std::vector<LoadFault>& faults) const;
  /// Returns the state of each variable's arrays on all ranks. `mine` has the same length on all ranks.
  std::vector<ArraysOfVariable> Arrays(std::vector<ArraysOfVariable> mine) const;
  /// Combines the reports of all ranks into one.
  IoReport Combine(const IoReport& mine) const { return patchio::Combine(mine, *this->Ranks); }

private:
  Catalog ReadOnce(const std::function<Catalog()>& read) const;
  std::vector<std::string> GatherTexts(const std::vector<std::string>& mine) const;

  Communicator* Ranks;
};

}  // namespace patchio
