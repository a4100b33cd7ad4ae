// Divides the ranks of a run into compute ranks and I/O ranks, after B. Yang et al., "Input/Output analysis
// and optimization for GRAPES regional model" (2022).
#pragma once

#include "Write/Declaration.h"
#include "Write/OutputConfig.h"

#include <mpi.h>

#include <vector>

namespace patchio::output {

/// Returns the default number of I/O ranks: one per 16 ranks, and at least one; with IoLayout::Shared, also
/// at least one per machine with several ranks; at most all ranks but one. `machines`: number of each rank's
/// machine.
int DefaultIoRankCount(const std::vector<int>& machines, IoLayout layout);

/// Chooses `count` I/O ranks. Returns one flag per rank: whether the rank is an I/O rank. `machines`: number
/// of each rank's machine. `count`: from 1 to the number of ranks - 1.
std::vector<bool> ChooseIoRanks(const std::vector<int>& machines, int count, IoLayout layout);

/// The properties of a compute rank that determine its I/O rank.
struct ComputeRank
{
  Double3 Centre{0, 0, 0};  ///< centre of the rank's patches
  std::uint64_t Cells = 0;  ///< number of cells, in proportion to the data that the rank sends
  int Machine = 0;          ///< number of the rank's machine
};

/// Returns the I/O rank of each compute rank, as a number among the I/O ranks. `machines`: number of each I/O
/// rank's machine. If a compute rank's machine has I/O ranks, the result is one of these I/O ranks, otherwise
/// an I/O rank of another machine. The compute ranks of an I/O rank are neighbours in space, and the I/O
/// ranks of a machine receive similar amounts of data.
std::vector<int> MapRanks(const std::vector<ComputeRank>& compute, const std::vector<int>& machines);

/// The role of each rank. Ranks have three numberings: among all ranks, among compute ranks, and among I/O
/// ranks.
class IoRoles
{
public:
  /// Divides the ranks of `world` into compute ranks and I/O ranks. `ranks`: a Communicator of the same
  /// ranks. MPI cannot split a communicator without blocking, so the constructor hangs if another rank stops
  /// within the constructor. Throws Error, on all ranks, if `world` has too few ranks. Collective: every rank
  /// of `world` calls it.
  IoRoles(Communicator& ranks, MPI_Comm world, const OutputConfig& config);
  ~IoRoles();
  IoRoles(const IoRoles&) = delete;
  IoRoles& operator=(const IoRoles&) = delete;

  /// Returns the communicator of all ranks, which only PatchIO uses.
  MPI_Comm WorldCommunicator() const { return this->World; }
  /// Returns the communicator of the ranks that have the same role as this rank.
  MPI_Comm RoleCommunicator() const { return this->SameRole; }
  bool IsComputeRank() const { return !this->IsIoRank[this->OwnRank]; }
  /// Returns the number of this rank among all ranks.
  int Rank() const { return this->OwnRank; }

  /// Return the numbers, among all ranks, of the compute ranks and of the I/O ranks.
  const std::vector<int>& ComputeRanks() const { return this->RanksOfRole[0]; }
  const std::vector<int>& IoRanks() const { return this->RanksOfRole[1]; }

  /// Makes the destructor leak the communicators. Call this method if messages are still in progress.
  void LeakCommunicators() { this->LeaksCommunicators = true; }

  /// Returns the I/O rank of each compute rank, see MapRanks(). With IoLayout::Independent, all ranks count
  /// as ranks of one machine.
  std::vector<int> MapComputeRanks(const Declaration& declared) const;

private:
  MPI_Comm World = MPI_COMM_NULL, SameRole = MPI_COMM_NULL;
  bool LeaksCommunicators = false;
  const IoLayout Layout;
  int OwnRank = 0;
  std::vector<int> Machines;                    ///< number of each rank's machine
  std::vector<bool> IsIoRank;                   ///< one flag per rank
  std::array<std::vector<int>, 2> RanksOfRole;  ///< compute ranks, I/O ranks
};

}  // namespace patchio::output
