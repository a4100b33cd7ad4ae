// The division of a run's ranks into compute ranks and I/O ranks, after B. Yang et al., "Input/Output
// analysis and optimization for GRAPES regional model" (2022).
#pragma once

#include "Write/Declaration.h"
#include "Write/OutputConfig.h"

#include <mpi.h>

#include <vector>

namespace patchio::output {

/// Returns the default number of I/O ranks: one per 16 ranks, at least one, and with Shared at least one on
/// each machine with several ranks. `machines`: machine of each rank, counted from 0.
int AdaptiveCount(const std::vector<int>& machines, IoLayout layout);

/// Returns, for each rank, whether it is an I/O rank. `machines`: machine of each rank. `count`: number of
/// I/O ranks, from 1 to the number of ranks - 1.
std::vector<bool> ChooseIoRanks(const std::vector<int>& machines, int count, IoLayout layout);

/// The properties of a compute rank that determine its I/O rank.
struct ComputeRank
{
  Double3 Centre{0, 0, 0};   ///< centre of the rank's patches
  std::uint64_t Values = 0;  ///< amount of data that the rank sends, in any unit
  int Machine = 0;
};

/// Returns the I/O rank of each compute rank, counted among I/O ranks. The compute ranks of one I/O rank are
/// neighbours in space, and all I/O ranks receive similar amounts. `machines`: machine of each I/O rank. An
/// I/O rank on the same machine serves a compute rank if there is one. If all ranks are given the same
/// machine, machines have no influence.
std::vector<int> MapRanks(const std::vector<ComputeRank>& compute, const std::vector<int>& machines);

/// The role of each rank. Ranks have three numberings: among all ranks, among compute ranks, and among I/O
/// ranks.
class IoRoles
{
public:
  /// Divides the ranks of `all` into compute ranks and I/O ranks, as `config` says. `ranks`: the same ranks
  /// as a Communicator. MPI cannot split a communicator without blocking, so this call hangs if a rank stops
  /// within it. Throws Error, on all ranks, if `all` has too few ranks. Collective: every rank of `all` calls
  /// it.
  IoRoles(Communicator& ranks, MPI_Comm all, const OutputConfig& config);
  ~IoRoles();
  IoRoles(const IoRoles&) = delete;
  IoRoles& operator=(const IoRoles&) = delete;

  /// Communicator of all ranks, for PatchIO's messages only.
  MPI_Comm All() const { return this->AllRanks; }
  /// Communicator of the ranks that have the role of this rank.
  MPI_Comm OfSameRole() const { return this->Same; }
  /// Returns whether this rank is a compute rank.
  bool Computes() const { return !this->IsIoRank[this->Self]; }
  int Rank() const { return this->Self; }

  /// Numbers of the compute ranks and of the I/O ranks among all ranks.
  const std::vector<int>& ComputeRanks() const { return this->OfKind[0]; }
  const std::vector<int>& IoRanks() const { return this->OfKind[1]; }

  /// Prevents the release of the communicators, because MPI may still use messages that were given up.
  void Keep() { this->Kept = true; }

  /// Returns the I/O rank of each compute rank.
  std::vector<int> Map(const Declaration& declared) const;

private:
  MPI_Comm AllRanks = MPI_COMM_NULL, Same = MPI_COMM_NULL;
  bool Kept = false;
  const IoLayout Layout;
  int Self = 0;
  std::vector<int> Machines;   ///< machine of each rank
  std::vector<bool> IsIoRank;  ///< whether each rank is an I/O rank
  std::array<std::vector<int>, 2> OfKind;
};

}  // namespace patchio::output
