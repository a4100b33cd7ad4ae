// Compute ranks and I/O ranks of a run: who is what. Paper 5, section on the division of processes.
#pragma once

#include "Write/Declaration.h"
#include "Write/OutputConfig.h"

#include <mpi.h>

#include <vector>

namespace patchio::output {

/// Ranks are counted in three ways: all of them, the compute ranks, and the I/O ranks.
class IoRoles
{
public:
  /// Collective. ranks: those of `all`. MPI cannot split a communicator without waiting, so this waits for
  /// ranks that stop within it. Throws Error on all ranks where there are too few.
  IoRoles(Communicator& ranks, MPI_Comm all, const OutputConfig& config);
  ~IoRoles();
  IoRoles(const IoRoles&) = delete;
  IoRoles& operator=(const IoRoles&) = delete;

  /// All ranks, for messages of PatchIO alone.
  MPI_Comm All() const { return this->Everybody; }
  /// The ranks that are what this one is.
  MPI_Comm Alike() const { return this->Same; }
  bool Computes() const { return !this->Serves[this->Self]; }
  int Rank() const { return this->Self; }

  /// Where compute ranks and I/O ranks are among all.
  const std::vector<int>& Computing() const { return this->OfKind[0]; }
  const std::vector<int>& Serving() const { return this->OfKind[1]; }

  /// Messages were given up that MPI may still be busy with: from now on nothing is freed.
  void Keep() { this->Kept = true; }

  /// The I/O rank of each compute rank.
  std::vector<int> Map(const Declaration& declared) const;

private:
  MPI_Comm Everybody = MPI_COMM_NULL, Same = MPI_COMM_NULL;
  bool Kept = false;
  const IoLayout Layout;
  int Self = 0;
  std::vector<int> Machines;  ///< of all ranks
  std::vector<bool> Serves;   ///< of all ranks
  std::array<std::vector<int>, 2> OfKind;
};

}  // namespace patchio::output
