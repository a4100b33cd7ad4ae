// The threads of VTK's filters in the process that reads, the ranks of a controller, and the cores of a rank.
#pragma once

#include "Base/Communicator.h"

#include <vtkMultiProcessController.h>
#include <vtkSmartPointer.h>

#include <memory>
#include <string>

namespace patchio {

/// Returns this rank's share of the cores of its machine: at least 1, and at most the cores that this rank
/// may use. Collective: every rank of the communicator calls it.
int CoresOfRank(Communicator& ranks);

/// The mean number of cells per block below which the blocks of a rank count as small. VTK 9.2 starts threads
/// for each loop over a block. These threads slow down slices of blocks of 32^3 cells, but do not slow down
/// any filter for blocks of 64^3 cells (`./dev bench filters`).
constexpr double LeastCellsForThreads = 100000;

/// Sets the backend of vtkSMPTools, so that all filters of this process use up to `threads` threads. If the
/// default backend of this build of VTK has threads (TBB, in Debian's VTK 9.6) but not more than `threads`,
/// selects the default backend for blocks of any size, because its threads cost nothing on small blocks.
/// Otherwise selects Sequential if `threads` is 1, if `smallBlocks` is true, or if VTK has no STDThread; in
/// all other cases STDThread, which can use up to one thread per core. Keeps a backend that other code or the
/// environment variable VTK_SMP_BACKEND_IN_USE has selected. Returns the number of threads, as text for the
/// report, with the name of a backend that was kept.
std::string SetFilterThreads(int threads, bool smallBlocks);

/// The ranks of a controller. Without a controller, the rank is this process alone.
class ReaderRanks
{
public:
  /// Uses the ranks of `controller`; null: this process alone.
  void SetController(vtkMultiProcessController* controller);
  vtkMultiProcessController* Controller() const { return this->VtkController; }

  Communicator& operator*() const { return *this->Ranks; }
  bool IsRankZero() const { return this->Ranks->Rank() == 0; }

  /// Returns the number of ranks on this machine. The first call is collective: every rank of the controller
  /// calls it.
  int RanksOnMachine() { return this->Ranks->MachineCommunicator().Size(); }
  /// Returns CoresOfRank(). The first call is collective: every rank of the controller calls it.
  int Cores();

private:
  vtkSmartPointer<vtkMultiProcessController> VtkController;
  std::unique_ptr<Communicator> Ranks = MakeSelfCommunicator();
  int RankCores = 0;  ///< 0: not computed yet
};

}  // namespace patchio
