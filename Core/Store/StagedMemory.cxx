#include "Store/StagedMemory.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Store/IndexFileHead.h"

#include <fmt/format.h>

#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace patchio {
namespace {

/// Number of bytes that a shared block leaves free for other programs in the memory file system and in
/// memory.
constexpr std::uint64_t FreeBytes = std::uint64_t(64) << 20;
/// Age in seconds from which a file in the memory file system must be from a killed program, because a
/// running program removes the name of the file at once.
constexpr double StrayMemoryAge = 3600;

/// Returns the communicator of the ranks on this machine. Collective: every rank of the communicator calls
/// it.
OwnedComm SplitByMachine(Communicator& ranks, const StageSettings& settings)
{
  MPI_Comm machine = MPI_COMM_NULL;
  if (settings.RanksPerMachine > 0) {
    MPI_Comm_split(ranks.Mpi(), ranks.Rank() / settings.RanksPerMachine, ranks.Rank(), &machine);
  } else {
    MPI_Comm_split_type(ranks.Mpi(), MPI_COMM_TYPE_SHARED, ranks.Rank(), MPI_INFO_NULL, &machine);
  }
  return OwnedComm(machine);
}

int RankIn(MPI_Comm comm)
{
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

OwnedComm& OwnedComm::operator=(OwnedComm&& other) noexcept
{
  std::swap(this->Comm, other.Comm);
  return *this;
}

OwnedComm::~OwnedComm()
{
  int finalized = 0;
  if (this->Comm != MPI_COMM_NULL && MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) {
    MPI_Comm_free(&this->Comm);
  }
}

StagedMemory::StagedMemory(Communicator& ranks, std::uint64_t bytes, const StageSettings& settings)
    : Bytes(bytes)
{
  if (ranks.Size() > 1 && ranks.Mpi() != MPI_COMM_NULL) {
    this->MapShared(ranks, settings);
  }
  if (!this->Mapped) {
    this->AllocatePerRank(ranks);
  }
}

StagedMemory::~StagedMemory()
{
  this->Unmap();
}

/// Maps a new file of the memory file system on all ranks of each machine. Leaves Mapped false if mapping
/// fails on any rank. Collective: every rank of the communicator calls it.
void StagedMemory::MapShared(Communicator& ranks, const StageSettings& settings)
{
  this->Machine = SplitByMachine(ranks, settings);
  const bool first = RankIn(this->Machine.Get()) == 0;
  MPI_Comm leaders = MPI_COMM_NULL;
  MPI_Comm_split(ranks.Mpi(), first ? 0 : MPI_UNDEFINED, ranks.Rank(), &leaders);
  this->Leaders = OwnedComm(leaders);

  char name[512] = "";
  std::string fault;
  if (first) {
    fault = CatchError([&] {
      const std::string text = fmt::format(
          "{}/patchio-{}-{}-{}", settings.Folder, ::getuid(), ::getpid(), static_cast<const void*>(this));
      if (text.size() >= sizeof(name)) {
        throw Error("The path is too long.");
      }
      this->CreateFile(settings.Folder, text);
      std::snprintf(name, sizeof(name), "%s", text.c_str());
    });
  }
  MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, this->Machine.Get());
  const bool made = AllOf(ranks, fault.empty());
  const bool mapped = made && AllOf(ranks, CatchError([&] { this->Map(name); }).empty());
  if (first && *name) {
    ::unlink(name);  // all ranks have mapped the file, or no rank needs the file
  }
  if (mapped) {
    MPI_Comm_rank(this->Machine.Get(), &this->SharerNumber);
    MPI_Comm_size(this->Machine.Get(), &this->SharerCount);
  } else {
    this->Unmap();
  }
}

/// Creates the file `path` in `folder`, with the size of the block, and removes files of killed
/// programs. Throws Error if there is not enough space or memory, or if the folder is not writable.
void StagedMemory::CreateFile(const std::string& folder, const std::string& path)
{
  const std::uint64_t needed = this->Bytes + FreeBytes;
  struct statvfs system = {};
  if (::statvfs(folder.c_str(), &system) != 0) {
    throw SystemError(folder, "a memory file system", errno);
  }
  if (std::uint64_t(system.f_bavail) * system.f_frsize < needed || AvailableMemory() < needed) {
    throw FileError(folder, fmt::format("space for {} bytes", this->Bytes), "less");
  }
  RemoveStaleFiles(folder, fmt::format("patchio-{}-", ::getuid()), "", StrayMemoryAge);
  const PlainFile file(path, PlainFile::Purpose::Create, 0600);
  const std::string fault = CatchError([&] { file.Reserve(std::max<std::uint64_t>(this->Bytes, 1)); });
  if (!fault.empty()) {
    ::unlink(path.c_str());
    throw Error(fault);
  }
}

/// Maps the file `path` into memory. Throws Error if the file cannot be opened or mapped.
void StagedMemory::Map(const std::string& path)
{
  const PlainFile file(path, PlainFile::Purpose::Update);
  void* memory = ::mmap(nullptr, std::max<std::uint64_t>(this->Bytes, 1), PROT_READ | PROT_WRITE, MAP_SHARED,
      file.Descriptor(), 0);
  if (memory == MAP_FAILED) {
    throw SystemError(path, "shared memory", errno);
  }
  this->Begin = static_cast<std::byte*>(memory);
  this->Mapped = true;
}

void StagedMemory::Unmap()
{
  if (this->Mapped) {
    ::munmap(this->Begin, std::max<std::uint64_t>(this->Bytes, 1));
    this->Begin = nullptr;
    this->Mapped = false;
  }
}

/// Allocates the memory of this rank. Throws Error, the same on all ranks, if the memory of a machine does
/// not suffice. Collective: every rank of the communicator calls it.
void StagedMemory::AllocatePerRank(Communicator& ranks)
{
  CheckMemoryOfMachines(ranks, static_cast<double>(this->Bytes), 1, "Use fewer ranks per machine");
  RunOnAllRanks(ranks, [this] { this->PrivateMemory.reset(new std::byte[this->Bytes]); });
  this->Begin = this->PrivateMemory.get();
}

void StagedMemory::Load(
    Communicator& ranks, const PlainFile* file, const std::string& path, std::uint64_t begin)
{
  if (this->Mapped &&
      AllOf(ranks, ReadCollectively(this->Machine.Get(), path, begin, this->Bytes, this->Begin).empty())) {
    this->Finish(ranks);
    return;
  }
  RunOnRankZero(ranks, [&] { file->Read(begin, this->Begin, this->Bytes); });
  const MPI_Comm receivers = this->Mapped ? this->Leaders.Get() : ranks.Mpi();
  if (receivers != MPI_COMM_NULL) {
    BroadcastBytes(this->Begin, this->Bytes, 0, receivers);
  }
  this->Finish(ranks);
}

void StagedMemory::Gather(Communicator& ranks, const std::vector<std::uint64_t>& offsets,
    const std::vector<std::uint64_t>& lengths, const std::byte* data)
{
  const int rank = ranks.Rank();
  std::memcpy(this->Begin + offsets[rank], data, lengths[rank]);
  if (ranks.Size() > 1 && ranks.Mpi() != MPI_COMM_NULL) {
    // `owner` is the rank among the receivers that now has the bytes of this rank: if the block is shared,
    // the first rank of this machine; otherwise, this rank.
    int owner = rank;
    if (this->Mapped) {
      owner = this->Leaders.Get() != MPI_COMM_NULL ? RankIn(this->Leaders.Get()) : 0;
      MPI_Bcast(&owner, 1, MPI_INT, 0, this->Machine.Get());
    }
    const std::vector<int> owners = ranks.AllGather(std::vector<int>{owner});
    const MPI_Comm receivers = this->Mapped ? this->Leaders.Get() : ranks.Mpi();
    for (std::size_t r = 0; receivers != MPI_COMM_NULL && r < owners.size(); ++r) {
      BroadcastBytes(this->Begin + offsets[r], lengths[r], owners[r], receivers);
    }
  }
  this->Finish(ranks);
}

/// Waits until all copies are complete, makes a shared copy read-only, and frees the communicators.
/// Collective: every rank of the communicator calls it.
void StagedMemory::Finish(Communicator& ranks)
{
  AllOf(ranks, true);  // a barrier: no rank continues before all ranks have written
  if (this->Mapped) {
    ::mprotect(this->Begin, std::max<std::uint64_t>(this->Bytes, 1), PROT_READ);
  }
  this->Machine = OwnedComm();
  this->Leaders = OwnedComm();
}

}  // namespace patchio
