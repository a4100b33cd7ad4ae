// One update of the reader: from the wanted variables to the output.
#ifndef PatchUpdate_h
#define PatchUpdate_h

#include "Catalog/Catalog.h"
#include "Read/OpenedStep.h"
#include "Read/PatchLoader.h"
#include "Support/Communicator.h"

#include <memory>
#include <string>
#include <vector>

class vtkMultiBlockDataSet;

namespace patchio {

/// Carries out one update, step by step in the order of the methods.
class PatchUpdate
{
public:
  /// Levels firstLevel .. lastLevel are shown. Keeps references to `ranks` and `step`.
  PatchUpdate(Communicator& ranks, const OpenedStep& step, int firstLevel, int lastLevel);

  /// True when there are patches, but none on the levels that are shown.
  bool Empty() const;

  /// Level one of two-level reading: the shown patches that belong to one of `pieces` parts.
  std::vector<int> PatchesOfPiece(const std::vector<VariableRequest>& variables, int piece, int pieces) const;

  /// Finds out where the bytes lie. Like Read(), keeps what goes wrong on this rank, so that all ranks go on
  /// to agree on it.
  void Locate(const LoadRequest& request);

  /// Collective: throws Error on all ranks when some machine has too little memory for what was located.
  void CheckMemory();

  /// Level two: NT threads.
  void Read(const ProgressCallback& progress);

  /// Collective: agrees on what went wrong anywhere so far. Throws Error, the same on all ranks, when nothing
  /// may be shown; else returns a warning, empty when all is well.
  std::string AgreeOnFaults(bool skipBroken);

  /// Collective: true when any rank was told to stop.
  bool AnyCancelled() const;

  /// Makes the output. Every layer of `ghosts` makes the grids grow.
  void Assemble(vtkMultiBlockDataSet* output, const Int3& ghosts, bool blankRefined);

  /// This rank's report.
  IoReport& Report() { return this->Loaded.Report; }

private:
  std::int64_t StoredValues(const std::vector<VariableRequest>& variables, int patch) const;
  void CheckCoordinates();

  Communicator& Ranks;
  const OpenedStep& Step;
  const Catalog& Data;
  int FirstLevel, LastLevel;
  std::vector<bool> Shown;  ///< per patch: in the output of some rank
  LoadRequest Request;
  std::unique_ptr<PatchLoader> Loader;
  LoadResult Loaded;
  std::vector<LoadFault> Faults;  ///< of this rank
  std::string Fatal;              ///< what ended this rank's read as a whole
};

/// The texts, one a line.
std::string JoinLines(const std::vector<std::string>& texts);

}  // namespace patchio

#endif
