// The metadata channel on several ranks, with a fault on one of them: mpiexec -n NP
// patchio_channel_fault_mpi_test
//
// No rank may wait for a rank that has given up: such a fault shows as the time limit of the test. All ranks
// must report the fault. Because access rights do not apply to root, the faults come from paths that exist
// for the other ranks only, and from an own function MPI_File_open.
#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "IrregularFormat.h"
#include "MpiTest.h"
#include "Store/IndexFileHead.h"
#include "Store/StepIndexFile.h"

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace patchio {
namespace {

using testing::Expect;
using testing::Rank;
using testing::Ranks;

/// The rank whose MPI_File_open fails; -1: none.
int RankThatCannotOpen = -1;

}  // namespace
}  // namespace patchio

/// Replaces MPI's function, which is also called PMPI_File_open. The chosen rank gets a fault, and the others
/// an open file.
extern "C" int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file)
{
  const int code = PMPI_File_open(comm, path, mode, info, file);
  if (patchio::Rank != patchio::RankThatCannotOpen) {
    return code;
  }
  *file = MPI_FILE_NULL;
  return MPI_ERR_IO;
}

namespace patchio {
namespace {

/// Makes a file of known bytes, the same for all ranks.
std::string MakeFile(const std::string& folder, std::size_t bytes)
{
  const std::string path = folder + "/bytes";
  if (Rank == 0) {
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < bytes; ++i) {
      file.put(static_cast<char>(i * 7));
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return path;
}

bool AreTheFiles(const std::byte* bytes, std::size_t count)
{
  for (std::size_t i = 0; i < count; ++i) {
    if (bytes[i] != static_cast<std::byte>(static_cast<char>(i * 7))) {
      return false;
    }
  }
  return true;
}

/// Loads a file on all ranks together. Rank 0 reads instead if one rank does not find or cannot open the
/// file.
void CheckReading(Communicator& ranks, const std::string& folder, int victim)
{
  constexpr std::size_t bytes = 100000;
  const std::string path = MakeFile(folder, bytes);
  std::vector<std::byte> into(bytes);
  const std::string why = ReadCollectively(MPI_COMM_WORLD, path, 0, bytes, into.data());
  Expect(why.empty(), "reading together: " + why);
  for (const char* fault : {"none", "no such file", "not to be opened", "none again"}) {
    const bool missing = fault == std::string("no such file") && Rank == victim;
    RankThatCannotOpen = fault == std::string("not to be opened") ? victim : -1;
    StagedMemory memory(ranks, bytes, {});
    std::unique_ptr<PlainFile> file;
    if (Rank == 0) {
      file = std::make_unique<PlainFile>(path, PlainFile::Purpose::Read);
    }
    memory.Load(ranks, file.get(), missing ? folder + "/none" : path, 0);
    Expect(
        AreTheFiles(memory.Data(), bytes), fmt::format("reading, rank {}, {}: other bytes", victim, fault));
  }
  RankThatCannotOpen = -1;
}

/// Writes a shard of `Rank + 1` bytes on each rank.
std::string FaultOfWriting(Communicator& ranks, const std::string& path)
{
  const std::vector<std::byte> first(10), second(20), shard(Rank + 1, static_cast<std::byte>(Rank));
  std::vector<PartEntry> parts{{first.size(), 0, Checksum(first.data(), first.size())},
      {second.size(), 0, Checksum(second.data(), second.size())}};
  for (int rank = 0; rank < Ranks; ++rank) {
    const std::vector<std::byte> ofRank(rank + 1, static_cast<std::byte>(rank));
    parts.push_back({ofRank.size(), 0, Checksum(ofRank.data(), ofRank.size())});
  }
  return CatchError([&] {
    WriteIndexFile(ranks, path, IndexFileHead(parts), {first, second}, shard.data());
  });
}

void CheckWriting(Communicator& ranks, const std::string& folder, int victim)
{
  const std::string where = fmt::format("writing, rank {}", victim);
  const auto name = [&](const char* what) { return fmt::format("{}/{}-{}", folder, what, victim); };
  Expect(FaultOfWriting(ranks, name("well")).empty(), where + " well");
  if (Rank == 0) {
    Expect(IndexFileHead::Read(*OpenIndexFile(name("well"))).ShardCount() == std::size_t(Ranks),
        where + ": another file");
  }
  if (victim > 0) {  // rank 0 makes the file
    const std::string fault = FaultOfWriting(ranks, Rank == victim ? folder + "/none" : name("torn"));
    Expect(fault.find("No such file") != std::string::npos, where + " has no such file, but: " + fault);
  }
  RankThatCannotOpen = victim;
  Expect(!FaultOfWriting(ranks, name("shut")).empty(), where + " cannot open it, and all is well");
  RankThatCannotOpen = -1;
  if (Rank == 0) {
    bool refused = false;
    try {
      IndexFileHead::Read(*OpenIndexFile(name("shut")));
    } catch (const IndexFileError& error) {
      refused = error.Fault == FileFault::Unfinished;
    }
    Expect(refused, where + ": half a file passes for a whole one");
  }
}

/// Removes the working folder of rank 0, so that a relative path is invalid on rank 0 only.
void CheckLostFolder(Communicator& ranks, const std::string& folder)
{
  testing::IrregularFormat format;
  if (Rank == 0) {
    testing::IrregularFormat::WriteFiles(folder);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Catalog catalog = format.ReadCatalog(folder + "/summary.samrai");
  IndexSettings settings;
  settings.SettleSeconds = -10;
  const DescribingState describing = StateOfDescribingFile(catalog.Path);
  BuiltIndex built = *BuildIndex(ranks, format, catalog, settings);
  const fs::path before = fs::current_path();
  if (Rank == 0) {
    fs::create_directory(folder + "/gone");
    fs::current_path(folder + "/gone");
    fs::remove(folder + "/gone");
  }
  const std::string fault = CatchError([&] { FindStepIndexFile(ranks, "summary.samrai", settings); });
  Expect(!fault.empty(), "a place for a path that leads nowhere");
  const std::string absolute = catalog.Path;
  catalog.Path = "summary.samrai";
  const SaveOutcome outcome = SaveStepIndexFile(ranks, format, catalog, built, describing, settings);
  Expect(outcome.Path.empty() && !outcome.Reason.empty(), "saved where a path leads nowhere");
  fs::current_path(before);
  catalog.Path = absolute;
  Expect(!SaveStepIndexFile(ranks, format, catalog, built, describing, settings).Path.empty(), "not saved");
  Expect(FindStepIndexFile(ranks, absolute, settings).Found.has_value(), "not found");
}

}  // namespace
}  // namespace patchio

int main(int argc, char** argv)
{
  using namespace patchio;
  return patchio::testing::RunOnRanks(argc, argv, "no rank waits", [](Communicator& ranks) {
    const patchio::testing::SharedFolder folder;
    for (int victim = 0; victim < Ranks; ++victim) {
      CheckReading(ranks, folder.Path(), victim);
      CheckWriting(ranks, folder.Path(), victim);
    }
    CheckLostFolder(ranks, folder.Path());
  });
}
