#include "FilterThreads.h"

#include <vtkSMPTools.h>

#include <sched.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <string>
#include <vector>

namespace patchio {
namespace {

constexpr const char* WithoutThreads = "Sequential";
constexpr const char* WithThreads = "STDThread";

using Cores = std::bitset<CPU_SETSIZE>;

/// The cores of the machine, or those that the process is bound to.
Cores CoresOfProcess()
{
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  Cores cores;
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
  const Cores mine = CoresOfProcess();
  const std::vector<Cores> allowed = GatherValues<Cores>(ranks.OnMachine(), {mine});
  Cores together;
  for (const Cores& one : allowed) {
    together |= one;
  }
  return static_cast<int>(
      std::max<std::size_t>(1, std::min(mine.count(), together.count() / allowed.size())));
}

std::string SetFilterThreads(int threads)
{
  static int given = 1;
  const std::string backend = vtkSMPTools::GetBackend();
  const bool ours = backend == WithThreads && given > 1;
  if (backend != WithoutThreads && !ours) {
    return "set outside PatchIO: " + backend + ", " +
           std::to_string(vtkSMPTools::GetEstimatedNumberOfThreads());
  }
  if (threads != given) {
    given = threads > 1 && vtkSMPTools::SetBackend(WithThreads) ? threads : 1;
    if (given == 1) {
      vtkSMPTools::SetBackend(WithoutThreads);
    }
    vtkSMPTools::Initialize(given);
  }
  // The backend starts no more than there are cores.
  return std::to_string(given > 1 ? vtkSMPTools::GetEstimatedNumberOfThreads() : 1);
}

}  // namespace patchio
