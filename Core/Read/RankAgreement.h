// Everything that the ranks agree on while they open and read a series: each collective call of this folder
// is a method here.
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

/// What went wrong on any rank; the same on all of them.
struct AgreedFaults
{
  std::vector<std::string> Fatal;  ///< what ended the read of a rank as a whole
  std::vector<std::string> Texts;  ///< of files and arrays, each once
  std::vector<int> Patches;        ///< that cannot be read; may name one several times
};

/// A variable on the blocks of a rank, or of all ranks together.
struct ArraysOfVariable
{
  bool Lacking = false;    ///< some block lacks it
  bool Undefined = false;  ///< some values are undefined
  bool OfPoints = false;   ///< it lies on lists of points
  int Type = -1;           ///< its ElementType; -1: no block has it

  void Add(const ArraysOfVariable& other);
};

/// The ranks that read together. All methods but Rank() and Size() are collective: all ranks call them in the
/// same order, and where one throws, it throws Error with the same text on all of them. Cheap to copy.
class RankAgreement
{
public:
  /// Keeps a reference to `ranks`.
  RankAgreement(Communicator& ranks) : Ranks(&ranks) {}

  int Rank() const { return this->Ranks->Rank(); }
  int Size() const { return this->Ranks->Size(); }

  /// Runs `work`, which must not communicate; throws on all ranks what it throws on any.
  void RunOnAll(const std::function<void()>& work) const { RunOnAllRanks(*this->Ranks, work); }
  /// Whether it holds on every rank.
  bool All(bool holds) const { return AllOf(*this->Ranks, holds); }
  /// What rank 0 finds; ranks may see a file change at different times.
  bool RankZeroFinds(const std::function<bool()>& find) const;
  /// Whether these numbers are the same on all ranks.
  bool AreAlike(const std::vector<int>& numbers) const;
  /// The least number of any rank.
  int Least(int number) const;

  // Opening: one rank opens and the others are told, so that no file is described to many ranks by the file
  // system.

  /// Rank 0 opens the series of all paths, see OpenSeriesOfPaths(); all ranks get the result.
  Series OpenSeries(const std::vector<std::string>& paths, const SeriesOptions& options,
      ChannelMode mode = ChannelMode::Off) const;
  /// Rank 0 reads the catalog of a time step; all ranks get it. See Format.
  Catalog ReadCatalog(const std::string& path) const;
  Catalog ReadStep(const TimeStep& step) const;
  /// Format::RangesOf() by rank 0, for all.
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
  /// Each rank reads its part: `read` tells how far it is, and ends soon where the answer is false. No rank
  /// returns before all have read, or some was told to stop by its `progress`, which is called about every
  /// 10 ms with how far all ranks together are; then all stop at once, and false is the result on all of
  /// them. whileWaiting: called many times a second by a rank that waits for the others. `read` must not
  /// throw.
  bool ReadCollectively(const std::function<void(const ReadProgressCallback&)>& read,
      const ReadProgressCallback& progress, const std::function<void()>& whileWaiting) const;
  /// What went wrong anywhere. fatal: what ended this rank's read as a whole; empty when nothing did.
  AgreedFaults Faults(const std::string& fatal, const std::vector<LoadFault>& faults) const;
  /// What the arrays of each variable are like on all ranks; `mine` has the same length everywhere.
  std::vector<ArraysOfVariable> Arrays(std::vector<ArraysOfVariable> mine) const;
  /// The reports of all ranks in one.
  IoReport Combine(const IoReport& mine) const { return patchio::Combine(mine, *this->Ranks); }

private:
  Catalog ReadOnce(const std::function<Catalog()>& read) const;
  std::vector<std::string> GatherTexts(const std::vector<std::string>& mine) const;

  Communicator* Ranks;
};

}  // namespace patchio
