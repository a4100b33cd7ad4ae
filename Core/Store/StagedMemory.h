// Memory for the index of an open step. The ranks of a machine share one copy in the memory file system; if
// sharing is not possible, each rank has its own copy.
#pragma once

#include "Base/Communicator.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

class PlainFile;

/// An MPI communicator, or MPI_COMM_NULL. The destructor frees the communicator unless MPI is finalized.
/// Collective: every rank of the communicator destroys its object.
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

/// Settings of StagedMemory.
struct StageSettings
{
  std::string Folder = "/dev/shm";  ///< mount point of the memory file system
  /// For tests: number of ranks that count as one machine; 0: MPI finds the ranks of a machine.
  int RanksPerMachine = 0;
};

/// A block of memory that the ranks of a machine share if possible. Load() or Gather(), called once, fills
/// the block; a shared block is read-only afterwards.
///
/// InMemory() is the switch `memory` of L. Cao et al., "Dual channel parallel I/O: A fast data access for
/// scientific computing", 2015: the block lies in the memory file system. The other switch of the paper,
/// `changed`, by which metadata are saved at the end, is not needed, because an index never changes and is
/// saved as soon as it is built.
class StagedMemory
{
public:
  /// Allocates a block of `bytes` bytes, the same number on all ranks. The block lies in the memory file
  /// system if this file system is writable and has enough space, and there is enough memory, on all
  /// machines. Otherwise, or with one rank or without MPI, each rank allocates its own memory. Throws Error,
  /// the same on all ranks, if the memory does not suffice. Collective: every rank of the communicator calls
  /// it.
  StagedMemory(Communicator& ranks, std::uint64_t bytes, const StageSettings& settings);
  ~StagedMemory();
  StagedMemory(const StagedMemory&) = delete;
  StagedMemory& operator=(const StagedMemory&) = delete;

  std::byte* Data() { return this->Begin; }
  const std::byte* Data() const { return this->Begin; }
  /// Returns the size of the block in bytes.
  std::uint64_t Size() const { return this->Bytes; }
  /// Returns whether the block lies in the memory file system, where the ranks of a machine share the block.
  bool InMemory() const { return this->Mapped; }
  /// Returns the number of this rank among the Sharers() ranks that share this copy, from 0 on.
  int Sharer() const { return this->SharerNumber; }
  /// Returns the number of ranks that share this copy. A rank with its own copy counts as one rank.
  int Sharers() const { return this->SharerCount; }

  /// Fills all copies with Size() bytes of a file. `file`: the open file, used on rank 0 only; `path`: path
  /// of the file, on all ranks; `begin`: offset of the first byte. The ranks of a machine read collectively,
  /// each rank one slice; if the collective read fails, or if each rank has its own copy, rank 0 reads and
  /// broadcasts the bytes. Throws Error, the same on all ranks, if rank 0 cannot read the file. Collective:
  /// every rank of the communicator calls it.
  void Load(Communicator& ranks, const PlainFile* file, const std::string& path, std::uint64_t begin);

  /// Fills all copies with the bytes of all ranks. `offsets` and `lengths`: position and number of each
  /// rank's bytes in the block; `data`: the bytes of this rank. Collective: every rank of the communicator
  /// calls it.
  void Gather(Communicator& ranks, const std::vector<std::uint64_t>& offsets,
      const std::vector<std::uint64_t>& lengths, const std::byte* data);

private:
  void MapShared(Communicator& ranks, const StageSettings& settings);
  void CreateFile(const std::string& folder, const std::string& path);
  void Map(const std::string& path);
  void Unmap();
  void AllocatePerRank(Communicator& ranks);
  void Finish(Communicator& ranks);

  std::byte* Begin = nullptr;
  std::uint64_t Bytes;
  bool Mapped = false;
  int SharerNumber = 0;
  int SharerCount = 1;
  /// This rank's own copy; null if the ranks of the machine share a copy.
  std::unique_ptr<std::byte[]> PrivateMemory;
  OwnedComm Machine;  ///< the ranks of this machine, until the block is filled
  OwnedComm Leaders;  ///< the first ranks of all machines, also until then; MPI_COMM_NULL on other ranks
};

}  // namespace patchio
