// Copies between arrays that may be on different ranks.
#pragma once

#include "LinAdv/Grid.h"

#include <mpi.h>

#include <map>
#include <vector>

namespace patchio::linadv {

/// Cells to copy from one array to another. The source's cells are Region - Shift.
struct CellCopy
{
  int From = 0;
  int To = 0;
  Box Region;
  Int3 Shift{0, 0, 0};
};

/// A list of copies, of which each rank keeps those that it takes part in. Both ends of a message derive
/// their lists from the patches, which all ranks know, in the same order: nothing is negotiated.
class CopyPlan
{
public:
  CopyPlan() = default;
  /// Fills the targets with all that `source`'s patches have of their cells.
  CopyPlan(const Grid& source, const std::vector<OwnedBox>& targets, int rank);

  /// The same copies the other way round.
  CopyPlan Reversed() const;

  /// Collective. Regions of one plan must not overlap within a target.
  void Run(MPI_Comm comm, const Field& source, Field& target) const;

private:
  std::vector<CellCopy> Local;
  std::map<int, std::vector<CellCopy>> Sends;     // by receiving rank
  std::map<int, std::vector<CellCopy>> Receives;  // by sending rank
};

}  // namespace patchio::linadv
