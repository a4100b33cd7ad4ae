#include "FilterThreads.h"

#include "Filters/BlockFilter.h"

#include <sched.h>
#include <vtkSMP.h>
#include <vtkSMPTools.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

namespace patchio {

namespace {

/// The default backend of this build of VTK.
constexpr const char* BackendOfVtk = VTK_SMP_BACKEND;
constexpr bool VtkHasThreads = VTK_SMP_DEFAULT_IMPLEMENTATION_SEQUENTIAL == 0;

using CoreSet = std::bitset<CPU_SETSIZE>;

/// Returns the cores that the process may use: all cores of the machine, or the cores that the process is
/// bound to. Returns an empty set if the machine has more than CPU_SETSIZE cores.
CoreSet CoresOfProcess()
{
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  CoreSet cores;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (std::size_t core = 0; core < cores.size(); ++core) {
      cores[core] = CPU_ISSET(core, &allowed) != 0;
    }
  }
  return cores;
}

}  // namespace

int CoresOfRank(Communicator& ranks)
{
  const CoreSet local = CoresOfProcess();
  const std::vector<CoreSet> allowed = GatherValues<CoreSet>(ranks.MachineCommunicator(), {local});
  CoreSet together;
  for (const CoreSet& one : allowed) {
    together |= one;
  }
  return static_cast<int>(
      std::max<std::size_t>(1, std::min(local.count(), together.count() / allowed.size())));
}

std::string SetFilterThreads(int threads, bool smallBlocks)
{
  static std::string chosenBackend = BackendOfVtk;
  if (vtkSMPTools::GetBackend() != chosenBackend || std::getenv("VTK_SMP_BACKEND_IN_USE")) {
    return std::string("set outside PatchIO: ") + vtkSMPTools::GetBackend() + ", " +
           std::to_string(vtkSMPTools::GetEstimatedNumberOfThreads());
  }
  static const int threadsOfVtk = vtkSMPTools::GetEstimatedNumberOfThreads();
  if (VtkHasThreads && threads >= threadsOfVtk) {
    // This order is necessary: VTK lets TBB use fewer threads than before, but not more.
    vtkSMPTools::Initialize(threadsOfVtk);
    vtkSMPTools::SetBackend(BackendOfVtk);
  } else if (threads > 1 && !smallBlocks && vtkSMPTools::SetBackend("STDThread")) {
    vtkSMPTools::Initialize(threads);
  } else {
    vtkSMPTools::SetBackend("Sequential");
  }
  chosenBackend = vtkSMPTools::GetBackend();
  // The backends start at most as many threads as the machine has cores.
  return std::to_string(chosenBackend == "Sequential" ? 1 : vtkSMPTools::GetEstimatedNumberOfThreads());
}

void ReaderRanks::SetController(vtkMultiProcessController* controller)
{
  this->VtkController = controller;
  this->Ranks = MakeCommunicator(controller);
  this->RankCores = 0;
}

int ReaderRanks::Cores()
{
  if (this->RankCores == 0) {
    this->RankCores = CoresOfRank(*this->Ranks);
  }
  return this->RankCores;
}

}  // namespace patchio
