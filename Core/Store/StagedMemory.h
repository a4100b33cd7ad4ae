// Memory that holds the index while a step is open: one copy a machine, in the memory file system, that all
// ranks there see; or, where that cannot be, a copy in each rank.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

class PlainFile;

/// An MPI communicator that is freed at the end; null without MPI.
class OwnedComm
{
public:
  OwnedComm() = default;
  explicit OwnedComm(MPI_Comm comm) : Comm(comm) {}
  OwnedComm(OwnedComm&& other) noexcept : Comm(other.Comm) { other.Comm = MPI_COMM_NULL; }
  OwnedComm& operator=(OwnedComm&& other) noexcept;
  ~OwnedComm();
  MPI_Comm Get() const { return this->Comm; }

private:
  MPI_Comm Comm = MPI_COMM_NULL;
};

struct StageSettings
{
  std::string Folder = "/dev/shm";  ///< of the memory file system
  int RanksPerMachine = 0;          ///< for tests: so many ranks count as a machine; 0: MPI tells
};

/// A block of memory, empty at first.
///
/// InMemory() is the switch `memory` of the dual-channel paper: the block lies in the memory file system. The
/// paper's other switch, `changed`, which saves metadata when they are closed, is not needed: an index never
/// changes, and is saved as soon as it is built.
class StagedMemory
{
public:
  /// Collective; all ranks give the same size. The block lies in the memory file system if that can be
  /// written and has enough room, and the machine too, on all machines; otherwise each rank takes memory of
  /// its own. One rank alone always does so. Throws Error, the same on all ranks, when there is not enough
  /// memory.
  StagedMemory(Communicator& comm, std::uint64_t bytes, const StageSettings& settings);
  ~StagedMemory();
  StagedMemory(const StagedMemory&) = delete;
  StagedMemory& operator=(const StagedMemory&) = delete;

  std::byte* Data() { return this->Begin; }
  const std::byte* Data() const { return this->Begin; }
  std::uint64_t Size() const { return this->Bytes; }
  bool InMemory() const { return this->Mapped; }
  /// Among the ranks that share this copy; 0 of 1 when it is this rank's own.
  int Sharer() const { return this->SharerNumber; }
  int Sharers() const { return this->SharerCount; }

  /// Collective. Fills all copies from a file: the bytes from `begin` on. The ranks of a machine read
  /// together, each a slice; where that fails, or each rank has its own copy, rank 0 reads and passes it on.
  /// `file`: the file, open, on rank 0; not used on the others. `path`: its name, on all. Throws Error, the
  /// same on all ranks.
  void Load(Communicator& comm, const PlainFile* file, const std::string& path, std::uint64_t begin);

  /// Collective. Fills all copies with each rank's bytes: `offsets` and `lengths` of all ranks, `mine` of
  /// this one.
  void Gather(Communicator& comm, const std::vector<std::uint64_t>& offsets,
      const std::vector<std::uint64_t>& lengths, const std::byte* mine);

private:
  void MapTogether(Communicator& comm, const StageSettings& settings);
  void MakeFile(const std::string& folder, const std::string& name);
  void Map(const std::string& name);
  void Unmap();
  void TakeOwn(Communicator& comm);
  void Finish(Communicator& comm);

  std::byte* Begin = nullptr;
  std::uint64_t Bytes;
  bool Mapped = false;
  int SharerNumber = 0;
  int SharerCount = 1;
  std::unique_ptr<std::byte[]> Own;
  OwnedComm Machine;  ///< the ranks that share this copy
  OwnedComm Leaders;  ///< the first rank of each copy; null on the others
};

}  // namespace patchio
