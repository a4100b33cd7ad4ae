// Threads for VTK's filters, such as contour, gradient and surface, which run in the process that reads.
#pragma once

#include "Base/Communicator.h"

#include <vtkMultiProcessController.h>
#include <vtkSmartPointer.h>

#include <memory>
#include <string>

namespace patchio {

/// Collective: returns this rank's share of the cores of its machine; at least 1.
int CoresOfRank(Communicator& ranks);

/// The average number of cells per block below which the blocks of a rank count as small. VTK 9.2 starts
/// threads for each loop over a block. These threads slow down slices of blocks of 32^3 cells, but no filter
/// of blocks of 64^3 cells (`./dev bench filters`).
constexpr double CellsWorthThreads = 100000;

/// Lets all filters of this process use up to `threads` threads from now on. If vtkSMPTools' own backend has
/// threads (TBB, in Debian's VTK 9.6) but not more than `threads`, that backend is used for blocks of any
/// size, because its threads cost nothing on small blocks. Otherwise the backend is STDThread, which can use
/// any number of threads, or Sequential for one thread and for small blocks. A backend that was chosen
/// elsewhere, by vtkSMPTools or by the environment variable VTK_SMP_BACKEND_IN_USE, stays in force. Returns
/// the number of threads in force, as text.
std::string SetFilterThreads(int threads, bool smallBlocks);

/// The ranks of a controller; this process alone if there is no controller.
class ReaderRanks
{
public:
  void Use(vtkMultiProcessController* controller);
  vtkMultiProcessController* Controller() const { return this->Of; }

  Communicator& operator*() const { return *this->Ranks; }
  bool IsFirst() const { return this->Ranks->Rank() == 0; }

  /// Returns the number of ranks on this machine. Collective when first called.
  int OnMachine() { return this->Ranks->OnMachine().Size(); }
  /// Returns CoresOfRank(). Collective when first called.
  int Cores();

private:
  vtkSmartPointer<vtkMultiProcessController> Of;
  std::unique_ptr<Communicator> Ranks = MakeSelfCommunicator();
  int CoresHere = 0;  ///< 0: not known yet
};

}  // namespace patchio
