// Memory that holds the index while a step is open: one copy per machine, in the memory file system, shared
// by the ranks of the machine; or, if that is not possible, one copy per rank.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

class PlainFile;

/// Owns an MPI communicator and frees it in the destructor. MPI_COMM_NULL without MPI.
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
  std::string Folder = "/dev/shm";  ///< mount point of the memory file system
  int RanksPerMachine = 0;          ///< for tests: number of ranks that count as one machine; 0: MPI decides
};

/// A block of memory that the ranks of a machine share if possible. Load() or Gather() fills it.
///
/// InMemory() is the switch `memory` of L. Cao et al., "Dual channel parallel I/O: A fast data access for
/// scientific computing", 2015: the block lies in the memory file system. The paper's other switch,
/// `changed`, by which metadata are saved when they are closed, is not needed: an index never changes, and is
/// saved as soon as it is built.
class StagedMemory
{
public:
  /// Allocates a block of `bytes` bytes. Collective: every rank of the communicator calls it, with the same
  /// `bytes`. The block lies in the memory file system if, on all machines, this file system is writable and
  /// has enough room, and the machine has enough memory. Otherwise each rank allocates its own memory; a
  /// single rank always does. Throws Error, the same on all ranks, when there is not enough memory.
  StagedMemory(Communicator& comm, std::uint64_t bytes, const StageSettings& settings);
  ~StagedMemory();
  StagedMemory(const StagedMemory&) = delete;
  StagedMemory& operator=(const StagedMemory&) = delete;

  std::byte* Data() { return this->Begin; }
  const std::byte* Data() const { return this->Begin; }
  std::uint64_t Size() const { return this->Bytes; }
  bool InMemory() const { return this->Mapped; }
  /// Returns the number of this rank among the Sharers() ranks that share this copy. A rank with its own copy
  /// is number 0 of 1.
  int Sharer() const { return this->SharerNumber; }
  int Sharers() const { return this->SharerCount; }

  /// Fills all copies from the file, beginning at byte `begin`. Collective: every rank of the communicator
  /// calls it. The ranks of a machine read together, one slice each; if that fails, or if each rank has its
  /// own copy, rank 0 reads and broadcasts. `file`: the open file, used on rank 0 only. `path`: name of the
  /// file, on all ranks. Throws Error, the same on all ranks.
  void Load(Communicator& comm, const PlainFile* file, const std::string& path, std::uint64_t begin);

  /// Fills all copies with the bytes of all ranks. Collective: every rank of the communicator calls it.
  /// `offsets` and `lengths`: of each rank's bytes in the block. `data`: this rank's bytes.
  void Gather(Communicator& comm, const std::vector<std::uint64_t>& offsets,
      const std::vector<std::uint64_t>& lengths, const std::byte* data);

private:
  void MapShared(Communicator& comm, const StageSettings& settings);
  void MakeFile(const std::string& folder, const std::string& name);
  void Map(const std::string& name);
  void Unmap();
  void AllocateOwn(Communicator& comm);
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
