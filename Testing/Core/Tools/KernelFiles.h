// The texts of files below /proc in which kernels count reads, for tests.
#pragma once

#include "TestTools.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace patchio::testing {

/// Returns a machine's only NFS mount as /proc/self/mountstats shows it (kernel 6.1; older ones lack the last
/// column).
inline std::string NfsMount(const std::string& point, const std::string& type, std::uint64_t wanted,
    std::uint64_t delivered, std::uint64_t requests, std::uint64_t milliseconds)
{
  return fmt::format(
      "device server:/export mounted on {} with fstype {} statvers=1.1\n"
      "\topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,timeo=600\n"
      "\tage:\t11343100\n"
      "\tcaps:\tcaps=0x3fc7,wtmult=512,dtsize=8192,bsize=0,namlen=255\n"
      "\tsec:\tflavor=1,pseudoflavor=1\n"
      "\tevents:\t1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27\n"
      "\tbytes:\t{} 77 0 0 {} 77 55 66\n"
      "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"
      "\txprt:\ttcp 0 0 1 0 0 1000 1000 0 2000 0 2 3 4\n"
      "\tper-op statistics\n"
      "\t        NULL: 1 1 0 44 24 0 0 0 0\n"
      "\t        READ: {} {} 0 5000 {} 100 {} {} 0\n"
      "\t       WRITE: 9 9 0 9 9 9 9 9 0\n\n",
      point, type, wanted, delivered, requests, requests, delivered, milliseconds, milliseconds + 100);
}

/// Returns the statistics of a storage target (Lustre 2.10 and later).
inline std::string LustreTarget(std::uint64_t bytes, std::uint64_t requests, std::uint64_t microseconds)
{
  return fmt::format(
      "snapshot_time             1523008010.817348638 secs.nsecs\n"
      "req_waittime              {0} samples [usec] 45 101034 {1} 8098\n"
      "req_active                {0} samples [reqs] 1 16 {0} 55\n"
      "read_bytes                {0} samples [bytes] 4096 4194304 {2} 99\n"
      "ost_read                  {0} samples [usec] 200 101034 {1} 77\n",
      requests, microseconds, bytes);
}

inline std::string LustreMount(std::uint64_t bytes)
{
  return fmt::format(
      "snapshot_time             1523008010.817348638 secs.nsecs\n"
      "read_bytes                25673 samples [bytes] 1 3366225 {}\n"
      "open                      12 samples [regs]\n",
      bytes);
}

inline void WriteDeepText(const std::string& path, const std::string& text)
{
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  WriteText(path, text);
}

}  // namespace patchio::testing
