// Collective operations of opening and reading a series.
#pragma once

#include "Base/Communicator.h"
#include "Formats/Format.h"
#include "Io/Progress.h"
#include "Read/LoadRequest.h"
#include "Store/StepIndexFile.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio {

/// The faults of all ranks, the same on all ranks.
struct GatheredFaults
{
  std::vector<std::string> Fatal;  ///< faults that ended the whole read of a rank
  std::vector<std::string> Texts;  ///< faults of files and arrays, each once, at most 8 of each rank
  std::vector<int> Patches;        ///< patches that cannot be read; may repeat
};

/// The state of a variable's arrays on the blocks of one rank, or of all ranks.
struct VariableState
{
  bool IsPartial = false;     ///< some block lacks the variable
  bool HasUndefined = false;  ///< some values are undefined
  bool OfPoints = false;      ///< the variable lies on lists of points
  int Type = -1;              ///< ElementType of the arrays; -1: no block has the variable

  void Add(const VariableState& other);
};

// All functions below are collective: every rank of `ranks` calls them in the same order. The functions throw
// Error with the same text on all ranks.

/// Runs `evaluate` on rank 0 and returns its result on all ranks, because ranks may see a change of a file at
/// different times.
bool BoolOfRankZero(Communicator& ranks, const std::function<bool()>& evaluate);

// Opening: rank 0 opens and broadcasts the result, so that the file system need not serve the description to
// many ranks.

/// Opens the series of all paths on rank 0 (see OpenSeriesOfPaths()) and broadcasts the series.
Series OpenSeries(Communicator& ranks, const std::vector<std::string>& paths, const SeriesOptions& options,
    IndexMode mode = IndexMode::Off);
/// Reads the catalog of the first step at `path`, or of `step`, on rank 0 and broadcasts the catalog.
Catalog ReadCatalog(Communicator& ranks, const std::string& path);
Catalog ReadCatalog(Communicator& ranks, const TimeStep& step);
/// Calls Format::RangesOf() on rank 0 and broadcasts the result.
std::vector<ValueRange> ReadRanges(Communicator& ranks, const Catalog& catalog, int variable);

// Reading

/// Returns the faults of all ranks. `fatal`: the fault that ended this rank's read as a whole, or an empty
/// text.
GatheredFaults GatherFaults(
    Communicator& ranks, const std::string& fatal, const std::vector<LoadFault>& faults);
/// Returns the state of each variable's arrays on all ranks. `ofThisRank`: state of this rank's arrays, one
/// entry per variable. The variables are the same on all ranks.
std::vector<VariableState> CombineVariableStates(Communicator& ranks, std::vector<VariableState> ofThisRank);

}  // namespace patchio
