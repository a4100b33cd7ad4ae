// Writes SAMRAI VisIt dumps ("VDR" 2.0) as SAMRAI 4 does.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"

#include <functional>
#include <string>
#include <vector>

namespace patchio::samrai {

/// Puts one component of a variable on a patch into `values`, which has the right length already: one
/// a cell (or node) of the patch's box, axis 0 fastest. `patch` is a global number. Called for the patches
/// of this rank only; must not communicate.
using PatchValues = std::function<void(int patch, int variable, int component, std::vector<double>& values)>;

/// Writes the dumps of one run into one directory: visit_dump.NNNNN/ with a cluster file a rank (also for
/// ranks without patches) and the summary; and a line in dumps.visit when the dump is complete.
///
/// Values are stored as 32-bit floats. When the environment variable SOURCE_DATE_EPOCH is set, no present
/// time goes into the files, so that equal runs give equal bytes.
class SamraiWriter
{
public:
  /// `directory` is created when missing, by rank 0 at the first dump. `comm` must outlive the writer.
  SamraiWriter(Communicator& comm, std::string directory);

  /// Collective. Replaces a dump of the same step; the first call starts dumps.visit anew.
  /// `catalog` is the same on all ranks. Used of it: Dimension, Time, Step, Origin, Levels, Variables
  /// (without ghosts), and of the patches Cells, Level, Number and Writer, the rank that has the values.
  /// All patches have all variables. Uniform grids only.
  /// Throws Error, on all ranks, when the catalog cannot be such a dump or a file cannot be written.
  void Write(const Catalog& catalog, const PatchValues& values);

  /// True for a file or folder in the directory that, by its name, this writer or SAMRAI's may have made.
  static bool MayHaveMade(const std::string& name);

private:
  void AppendToIndex(const std::string& dumpName);

  Communicator& Comm;
  std::string Directory;
  bool IndexStarted = false;
};

}  // namespace patchio::samrai
