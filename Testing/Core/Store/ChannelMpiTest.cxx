// The metadata channel on several ranks: mpiexec -n NP patchio_channel_mpi_test FOLDER...
//
// For each summary.samrai below the folders: some of the ranks make and save an index. Any number of ranks
// must find it, with and without shared memory, on one or several simulated machines, with the same locations
// as from the format. PATCHIO_METADATA_DIR must name a folder that only this test uses.
#include "Formats/Format.h"
#include "LocationTools.h"
#include "Read/CollectiveCalls.h"
#include "Store/StepIndexFile.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
using namespace patchio;

namespace {

int Failures = 0;

void Expect(bool holds, const std::string& what)
{
  if (!holds) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::printf("FAILED on rank %d: %s\n", rank, what.c_str());
    ++Failures;
  }
}

/// A communicator of the first ranks of the world; null on other ranks.
class Group
{
public:
  explicit Group(int rankCount)
  {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < rankCount ? 0 : MPI_UNDEFINED, rank, &part);
    this->Mpi = OwnedComm(part);
    if (part != MPI_COMM_NULL) {
      this->Ranks = MakeMpiCommunicator(part);
    }
  }
  OwnedComm Mpi;
  std::unique_ptr<Communicator> Ranks;
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
      if (group.Ranks) {
        const std::string where = fmt::format(
            "{}: written by {} ({}), read by {} ({})", truth.Data.Path, writers, written, readers, name);
        const IndexFileSearch search = FindStepIndexFile(*group.Ranks, truth.Data.Path, settings);
        Expect(search.Found.has_value(), where + ": not found: " + search.Warning());
        if (search.Found) {
          ExpectRight(truth, search.Found->Data, search.Found->Index, where);
          const bool shared = group.Ranks->Size() > 1 && settings.Stage.Folder == "/dev/shm";
          Expect(search.Found->Index.Memory->InMemory() == shared, where + ": in another memory");
        }
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/// Checks that all ranks reject a damaged index file.
void CheckDamaged(const Truth& truth, const std::string& indexFile)
{
  const Group all(1 << 20);
  if (all.Ranks->Rank() == 0) {
    std::fstream file(indexFile, std::ios::binary | std::ios::in | std::ios::out);
    const IndexFileHead head = IndexFileHead::Read(*OpenIndexFile(indexFile));
    file.seekp(static_cast<std::streamoff>(head.ShardEntry(head.ShardCount() - 1).Offset + 3));
    file.put('\x55');
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const IndexFileSearch search = FindStepIndexFile(*all.Ranks, truth.Data.Path, Ways()[0].second);
  Expect(!search.Found, "a damaged index file was taken");
  Expect(!search.Warning().empty(), "a damaged index file is worth a warning");
}

void CheckStep(const std::string& path, int rankCount)
{
  const Truth truth(path);
  Expect(truth.Table.Problems.empty(), path + ": not sound");
  std::string indexFile;
  for (const int writers : {1, 2, 4}) {
    for (const auto& [name, settings] : Ways()) {
      const Group group(writers);
      if (writers <= rankCount && group.Ranks) {
        indexFile =
            Write(truth, *group.Ranks, settings, fmt::format("{}: {} writers, {}", path, writers, name));
      }
      MPI_Barrier(MPI_COMM_WORLD);
      // All methods of writing make equal files.
      if (writers <= rankCount && (name == "shared memory" || name == "two ranks a machine")) {
        CheckReaders(truth, writers, name);
      }
    }
  }
  CheckDamaged(truth, indexFile);
}

/// Checks that all ranks continue without an index file if it cannot be written.
void CheckNoPlace(const std::string& path)
{
  const std::string before = std::getenv("PATCHIO_METADATA_DIR");
  ::setenv("PATCHIO_METADATA_DIR", "/dev/null/below", 1);
  const Group all(1 << 20);
  const Truth truth(path);
  const DescribingState describing = StateOfDescribingFile(path);
  BuiltIndex built = *BuildIndex(*all.Ranks, truth.Source, truth.Data, Ways()[0].second);
  const SaveOutcome outcome =
      SaveStepIndexFile(*all.Ranks, truth.Source, truth.Data, built, describing, Ways()[0].second);
  Expect(outcome.Path.empty() && !outcome.Reason.empty(), "saved where nothing can be");
  ExpectRight(truth, truth.Data, built.Index, "unsaved");
  ::setenv("PATCHIO_METADATA_DIR", before.c_str(), 1);
}

}  // namespace

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rankCount = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &rankCount);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    if (!fs::exists(argv[i])) {
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.path().filename() == "summary.samrai") {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  if (!std::getenv("PATCHIO_METADATA_DIR")) {
    Expect(false, "PATCHIO_METADATA_DIR is not set");
    paths.clear();
  }
  for (const std::string& path : paths) {
    CheckStep(path, rankCount);
  }
  if (!paths.empty()) {
    CheckNoPlace(paths.front());
  }
  MPI_Allreduce(MPI_IN_PLACE, &Failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf(paths.empty() && Failures == 0 ? "skipped: no data\n" : "%zu steps, %d failures\n",
        paths.size(), Failures);
  }
  MPI_Finalize();
  return Failures > 0 ? 1 : 0;
}
