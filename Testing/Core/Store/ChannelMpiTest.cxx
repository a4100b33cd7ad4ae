// The metadata channel on several ranks: mpiexec -n NP patchio_channel_mpi_test FOLDER...
//
// For each summary.samrai below the folders: some of the ranks make and save an index. Any number of ranks
// must find it, with and without shared memory, on one or several simulated machines, with the same locations
// as from the format. PATCHIO_METADATA_DIR must name a folder that only this test uses.
#include "Formats/Format.h"
#include "LocationTools.h"
#include "MpiTest.h"
#include "Read/CollectiveCalls.h"
#include "Store/StepIndexFile.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace patchio;
using patchio::testing::Expect;
using patchio::testing::Rank;
using patchio::testing::Ranks;

namespace {

/// A communicator of the first ranks of the world; null on other ranks.
class Group
{
public:
  explicit Group(int rankCount)
  {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, Rank < rankCount ? 0 : MPI_UNDEFINED, Rank, &part);
    this->Mpi = OwnedComm(part);
    if (part != MPI_COMM_NULL) {
      this->Communicator = MakeMpiCommunicator(part);
    }
  }
  OwnedComm Mpi;
  std::unique_ptr<patchio::Communicator> Communicator;
};

/// Returns the methods of staging, with names.
std::vector<std::pair<std::string, IndexSettings>> Ways()
{
  std::vector<std::pair<std::string, IndexSettings>> ways(4);
  ways[0].first = "shared memory";
  ways[1].first = "no memory file system";
  ways[1].second.Stage.Folder = "/nonexistent";
  ways[2].first = "a machine a rank";
  ways[2].second.Stage.RanksPerMachine = 1;
  ways[3].first = "two ranks a machine";
  ways[3].second.Stage.RanksPerMachine = 2;
  for (auto& way : ways) {
    way.second.SettleSeconds = -10;
    way.second.Threads = 2;
  }
  return ways;
}

/// The answers of the format to all requests, without an index.
struct Truth
{
  explicit Truth(const std::string& path)
      : Source(FormatOf(path)),
        Data(Source.ReadCatalog(path)),
        Requests(testing::AllRequests(Data)),
        Table(Source.Locate(Data, Requests, {}))
  {
  }
  const Format& Source;
  Catalog Data;
  std::vector<PatchVariable> Requests;
  LocationTable Table;
};

void ExpectRight(const Truth& truth, const Catalog& catalog, const StepIndex& index, const std::string& where)
{
  const IndexAnswer answer = index.Index.Find(catalog, truth.Requests);
  Expect(answer.Complete, where + ": the index is not complete");
  const std::string difference = testing::Difference(answer.Table, truth.Table);
  Expect(difference.empty(), where + ": " + difference);
  Expect(catalog.Serialize() == truth.Data.Serialize(), where + ": another catalog");
}

std::string Write(
    const Truth& truth, Communicator& ranks, const IndexSettings& settings, const std::string& where)
{
  const DescribingState describing = StateOfDescribingFile(truth.Data.Path);
  BuiltIndex built = *BuildIndex(ranks, truth.Source, truth.Data, settings);
  ExpectRight(truth, truth.Data, built.Index, where + ", built");
  const SaveOutcome outcome = SaveStepIndexFile(ranks, truth.Source, truth.Data, built, describing, settings);
  Expect(!outcome.Path.empty(), where + ": not saved: " + outcome.Reason);
  return outcome.Path;
}

void CheckReaders(const Truth& truth, int writers, const std::string& written)
{
  for (const int readers : {1, 2, 3, 4}) {
    const Group group(readers);
    for (const auto& [name, settings] : Ways()) {
      if (group.Communicator) {
        const std::string where = fmt::format(
            "{}: written by {} ({}), read by {} ({})", truth.Data.Path, writers, written, readers, name);
        const IndexFileSearch search = FindStepIndexFile(*group.Communicator, truth.Data.Path, settings);
        Expect(search.Found.has_value(), where + ": not found: " + search.Warning());
        if (search.Found) {
          ExpectRight(truth, search.Found->Data, search.Found->Index, where);
          const bool shared = group.Communicator->Size() > 1 && settings.Stage.Folder == "/dev/shm";
          Expect(search.Found->Index.Memory->InMemory() == shared, where + ": in another memory");
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/// Checks that all ranks reject a damaged index file.
void CheckDamaged(Communicator& ranks, const Truth& truth, const std::string& indexFile)
{
  if (Rank == 0) {
    std::fstream file(indexFile, std::ios::binary | std::ios::in | std::ios::out);
    const IndexFileHead head = IndexFileHead::Read(*OpenIndexFile(indexFile));
    file.seekp(static_cast<std::streamoff>(head.ShardEntry(head.ShardCount() - 1).Offset + 3));
    file.put('\x55');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const IndexFileSearch search = FindStepIndexFile(ranks, truth.Data.Path, Ways()[0].second);
  Expect(!search.Found, "a damaged index file was taken");
  Expect(!search.Warning().empty(), "a damaged index file is worth a warning");
}

void CheckStep(Communicator& ranks, const std::string& path)
{
  const Truth truth(path);
  Expect(truth.Table.Problems.empty(), path + ": not sound");
  std::string indexFile;
  for (const int writers : {1, 2, 4}) {
    for (const auto& [name, settings] : Ways()) {
      const Group group(writers);
      if (writers <= Ranks && group.Communicator) {
        indexFile = Write(
            truth, *group.Communicator, settings, fmt::format("{}: {} writers, {}", path, writers, name));
      }
      MPI_Barrier(MPI_COMM_WORLD);
      // All methods of writing make equal files.
      if (writers <= Ranks && (name == "shared memory" || name == "two ranks a machine")) {
        CheckReaders(truth, writers, name);
      }
    }
  }
  CheckDamaged(ranks, truth, indexFile);
}

}  // namespace

int main(int argc, char** argv)
{
  return patchio::testing::RunOnRanks(argc, argv, "all index files are found", [&](Communicator& ranks) {
    std::vector<std::string> paths;
    for (int i = 1; i < argc; ++i) {
      for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
        if (entry.path().filename() == "summary.samrai") {
          paths.push_back(entry.path().string());
        }
      }
    }
    std::sort(paths.begin(), paths.end());
    Expect(!paths.empty(), "there are no dumps");
    for (const std::string& path : paths) {
      CheckStep(ranks, path);
    }
  });
}
