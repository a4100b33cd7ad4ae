// Files to measure a storage with, and reading them so that no cache answers.
#pragma once

#include "Base/Communicator.h"
#include "Io/Source.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::probe {

/// Files that all ranks read.
struct ProbeFiles
{
  std::vector<std::string> Paths;
  std::vector<std::uint64_t> Bytes;  ///< of each
  std::uint64_t TotalBytes() const;
};

/// Test files in a folder of their own in DIR (MakeProbeFolder), written by all ranks, removed with this
/// object.
class TestFiles
{
public:
  /// Collective. Writes `bytes` of data that no file system can compress in all, and flushes them. After
  /// `seconds` it stops where at least 128 MiB are there, after three times as long where 16 MiB are, and
  /// when `cancel` becomes true. `announce` is called with the folder, on the rank that has made it, and with
  /// each file before it is made: for those who remove them at a signal. Throws Error, the same on all ranks:
  /// no room for so much, DIR is not writable, or not the same on all nodes.
  TestFiles(Communicator& comm, const std::string& dir, std::uint64_t bytes, double seconds,
      const std::atomic<bool>* cancel = nullptr,
      const std::function<void(const std::string&)>& announce = {});
  ~TestFiles();
  TestFiles(const TestFiles&) = delete;
  TestFiles& operator=(const TestFiles&) = delete;

  /// The files of all ranks.
  const ProbeFiles& Files() const { return this->All; }

private:
  void MakeFolder(Communicator& comm, const std::string& dir);
  void Write(int rank, int ranks, std::uint64_t bytes, double seconds, const std::atomic<bool>* cancel);
  void Gather(Communicator& comm);
  void Remove();

  std::function<void(const std::string&)> Announce;
  std::string Folder;
  ProbeFiles Own;
  ProbeFiles All;
};

/// Files that are there already, folders with all files in them included; at most 64 of them, from all parts
/// of the list, and none below 64 KiB. Throws Error where that leaves less than 1 MiB.
ProbeFiles FindProbeFiles(const std::vector<std::string>& paths);

}  // namespace patchio::probe
