#include "Probe/Circumstances.h"

#include "Base/Communicator.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Base/Text.h"
#include "Probe/Interrupt.h"
#include "Probe/TestFiles.h"
#include "Tuning/Mount.h"
#include "Tuning/StorageProfile.h"

#include <fmt/format.h>

#include <sys/utsname.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace patchio::probe {
namespace {

constexpr double MostResident = 0.05;  // maximum fraction of a dropped file in the page cache
constexpr double MemoryLike =
    0.7;  // fraction of the rate of the page cache; a faster read came from the cache

constexpr const char* LibrarysChoice = "chosen by the library";

/// Returns the setting by which the user has chosen the MPI library's component for MPI-IO, or
/// LibrarysChoice.
std::string IoComponent()
{
  for (const char* name : {"OMPI_MCA_io", "ROMIO_FSTYPE_FORCE", "I_MPI_EXTRA_FILESYSTEM"}) {
    const char* value = std::getenv(name);
    if (value && *value) {
      return fmt::format("{}={}", name, value);
    }
  }
  return LibrarysChoice;
}

std::string TypeOfMount(const std::string& directory)
{
  const std::optional<Mount> mount = MountOf(directory);
  return mount ? mount->Type : "unknown";
}

double MeasureReadRate(const std::string& path, std::uint64_t bytes)
{
  const PlainFile file(path);
  std::vector<std::byte> buffer(1 << 20);
  const Stopwatch watch;
  for (std::uint64_t done = 0; done < bytes; done += buffer.size()) {
    file.Read(done, buffer.data(), std::min<std::uint64_t>(buffer.size(), bytes - done));
  }
  return static_cast<double>(bytes) / std::max(1e-9, watch.Seconds());
}

}  // namespace

bool LibraryLacks(const Function& function, const std::string& path)
{
  const std::string component = IoComponent();
  const bool romio = component.find("romio") != std::string::npos ||
                     component.find("^ompio") != std::string::npos ||
                     (component == LibrarysChoice && TypeOfMount(path) == "lustre");
  return romio && BeginsWith(MpiVersion(), "Open MPI") && function.Collective &&
         function.Synchronism == Completion::NonBlocking;
}

void DescribeCircumstances(Communicator& ranks, const std::string& directory, Result& result)
{
  utsname system = {};
  ::uname(&system);
  const std::vector<std::string> hosts = ranks.AllGather(std::string(system.nodename));
  std::error_code ignored;
  result.Started = UtcText(CurrentUnixTime());
  result.Machine = {{"host", hosts[0]}, {"hosts", std::set<std::string>(hosts.begin(), hosts.end()).size()},
      {"ranks", ranks.Size()},
      {"system", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
      {"directory", std::filesystem::absolute(directory, ignored).string()},
      {"file_system", TypeOfMount(directory)}, {"mpi", MpiVersion()}, {"mpi_io", IoComponent()}};
}

CacheCheck CheckCache(Communicator& ranks, const std::string& file, std::uint64_t bytes)
{
  std::vector<double> found(3, 0.0);
  RunOnRankZero(ranks, [&] {
    WritePattern(file, 1, 0, bytes);
    DropFromPageCache(file);
    if (!Interrupt::Received()) {
      const double resident = ResidentFraction(file);
      const double cold = MeasureReadRate(file, bytes);
      found = {cold, MeasureReadRate(file, bytes), resident};
    }
  });
  found = ranks.Sum(found);  // the other ranks have zeros
  CacheCheck check;
  check.ColdRate = found[0];
  check.WarmRate = found[1];
  check.Resident = found[2];
  check.CanDropFiles = check.Resident <= MostResident && check.ColdRate < MemoryLike * check.WarmRate;
  return check;
}

std::string CacheWarning(const CacheCheck& check)
{
  if (check.CanDropFiles) {
    return {};
  }
  if (check.Resident > MostResident) {
    return fmt::format(
        "{:.0f} % of a file stay in this machine's memory after the probe has dropped the file, so read "
        "rates are those of memory. Use test files larger than the memory.",
        100 * check.Resident);
  }
  return fmt::format(
      "Read rates may be those of memory, on this machine or on a server: reading a dropped file is as fast "
      "as reading a file in memory ({:.0f} and {:.0f} MB/s).",
      check.ColdRate / 1e6, check.WarmRate / 1e6);
}

bool IsProbablyCached(const CacheCheck& check, double rate, double resident, int rankCount)
{
  const int cores = std::max(1u, std::thread::hardware_concurrency());
  return resident > MostResident || rate > MemoryLike * check.WarmRate * std::min(rankCount, cores);
}

}  // namespace patchio::probe
