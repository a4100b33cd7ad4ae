#include "FilterThreads.h"

#include "Filters/BlockFilter.h"

#include <sched.h>
#include <vtkSMP.h>
#include <vtkSMPTools.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace patchio {

namespace {

/// The default backend of this build of VTK.
constexpr const char* BackendOfVtk = VTK_SMP_BACKEND;
constexpr bool VtkHasThreads = VTK_SMP_DEFAULT_IMPLEMENTATION_SEQUENTIAL == 0;

/// Returns the ids of the cores that the process may use: all cores of the machine, or the cores that the
/// process is bound to.
std::vector<int> CoresOfProcess()
{
  // Linux supports more cores than CPU_SETSIZE = 1024, and returns no cores if a set is too small for the
  // machine.
  std::array<cpu_set_t, 64> allowed{};
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(allowed), allowed.data()) == 0) {
    for (std::size_t core = 0; core < allowed.size() * CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core % CPU_SETSIZE, &allowed[core / CPU_SETSIZE])) {
        cores.push_back(static_cast<int>(core));
      }
    }
  }
  return cores;
}

}  // namespace

int CoresOfRank(Communicator& ranks)
{
  Communicator& machine = ranks.MachineCommunicator();
  const std::vector<int> local = CoresOfProcess();
  const std::vector<int> all = GatherValues(machine, local);
  const std::set<int> together(all.begin(), all.end());
  return std::max(1, static_cast<int>(std::min(local.size(), together.size() / machine.Size())));
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
