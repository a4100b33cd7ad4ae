// Reads a dump with PatchIO or with one of the methods to compare. Prints the seconds of each part as one
// JSON object. Under mpirun, the patches are divided among the ranks, and the times are those of the slowest
// rank.
#include "Driver.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Hdf5/Library.h"
#include "Plan/Blocks.h"
#include "Plan/Partition.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "SamraiDump.h"
#include "Tuning/AutomaticThreads.h"

#include <sys/mman.h>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace patchio::bench {
namespace {

using nlohmann::json;

struct Options
{
  std::string Summary;
  std::string How = "patchio";
  int Threads = 1;
  int Steps = 1;
  int Patches = -1;
  double Warm = 0;
  bool IndexFile = false;
  double Latency = StorageModel().Latency;
  double Bandwidth = StorageModel().Bandwidth;
  bool LibraryLocate = false;
  bool Merged = false;
  bool Automatic = false;
};

/// The seconds of each part, and the amount of data.
struct Cost
{
  double Open = 0;
  double Locate = 0;
  double Blocks = 0;         ///< making the blocks, as vtkPatchReader does once per step
  std::vector<double> Read;  ///< one value per step, including planning
  double Bytes = 0;          ///< bytes of the values of one step
  /// The sum of all values of the last step, to check that all methods read the same values. With merged
  /// blocks, fill values of gaps count, and values under finer patches may not count.
  double Sum = 0;
};

double SumOf(const float* values, std::size_t count)
{
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) {
    sum += values[i];
  }
  return sum;
}

std::vector<int> PatchesOfRank(const Options& options, const Catalog& catalog)
{
  std::vector<int> all(catalog.Patches.size());
  if (options.Patches >= 0 && options.Patches < static_cast<int>(all.size())) {
    all.resize(options.Patches);
  }
  std::vector<std::int64_t> weights;
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p] = static_cast<int>(p);
    weights.push_back(catalog.Variables.empty() ? 1 : catalog.StoredTuples(0, all[p]));
  }
  const std::vector<int> parts = PartitionPatches(catalog, all, weights, Ranks().Size());
  std::vector<int> mine;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (parts[p] == Ranks().Rank()) {
      mine.push_back(all[p]);
    }
  }
  return mine;
}

/// Gets memory from the host of a virtual machine in advance and returns it to the kernel. The host may take
/// back memory that is unused for some seconds, and returns it page by page, more slowly than any measured
/// read.
void FetchMemory(double gigabytes)
{
  const auto bytes = static_cast<std::size_t>(gigabytes * 1e9);
  if (bytes == 0) {
    return;
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) {
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    for (std::size_t i = 0; i < bytes; i += 4096) {
      static_cast<volatile char*>(memory)[i] = 1;
    }
    ::munmap(memory, bytes);
  }
}

/// The files of a rank, each opened once.
class OpenFiles
{
public:
  explicit OpenFiles(const Catalog& catalog) : Data(catalog) {}

  /// Returns the open data set of a variable on a patch.
  hdf5::Handle Dataset(int patch, int variable)
  {
    const Patch& place = this->Data.Patches[patch];
    hdf5::Handle& file = this->Files[place.File];
    if (!file.IsValid()) {
      file = hdf5::Handle(
          H5Fopen(draft::ClusterPath(this->Data.Path, place.File).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    }
    const std::string name = draft::PatchGroup(place) + this->Data.Variables[variable].StoredName;
    return hdf5::Handle(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
  }

private:
  const Catalog& Data;
  std::map<int, hdf5::Handle> Files;
};

/// Locates contiguous data sets one after another with the HDF5 library.
LocationTable LocateByLibrary(const Catalog& catalog, const std::vector<PatchVariable>& requests)
{
  LocationTable table;
  OpenFiles files(catalog);
  for (const PatchVariable& request : requests) {
    const std::string path = draft::ClusterPath(catalog.Path, catalog.Patches[request.Patch].File);
    if (table.Files.empty() || table.Files.back() != path) {
      table.Files.push_back(path);
    }
    const hdf5::Handle dataset = files.Dataset(request.Patch, request.Variable);
    const hdf5::Handle space(H5Dget_space(dataset)), type(H5Dget_type(dataset));
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF) {
      throw Error("a data set that is not contiguous in " + path);
    }
    const auto values = static_cast<std::uint64_t>(H5Sget_simple_extent_npoints(space));
    table.ByteRanges.push_back({offset, values * H5Tget_size(type), static_cast<int>(table.Files.size()) - 1,
        ElementType::Float32, H5Tget_order(type) == H5T_ORDER_BE});
    table.Locations.push_back(MakeLocation(Encoding::Raw, table.ByteRanges.size() - 1, 1));
  }
  return table;
}

/// Two-level reading as in vtkPatchReader. From the second step on, the memory of the previous step is
/// reused.
///
/// All ranks begin each step together, as they do in ParaView. Otherwise a fixed number of threads would look
/// faster than the mode Automatic, whose ranks agree before they read: one rank would read while another adds
/// up its values.
class PatchIoReads
{
public:
  PatchIoReads(const Options& options, const OpenedStep& step, const LoadRequest& request, Cost& cost)
      : How(options), Step(step), Request(request), Result(cost)
  {
  }

  /// Collective: reads all steps.
  void Run()
  {
    // Without steps, the stages before the read are still measured.
    for (int i = 0; i < std::max(this->How.Steps, 1); ++i) {
      this->ReadStep(i == 0);
    }
  }

private:
  void ReadStep(bool first)
  {
    const Stopwatch watch;
    this->BeginAutomatic();
    LoadResult loaded;
    const std::string fault = CatchError([&] { loaded = this->Load(); });
    if (this->How.Automatic) {
      this->Automatic.End();
    }
    this->Result.Read.push_back(watch.Seconds() - this->LocateSeconds);
    this->Result.Locate += first ? this->LocateSeconds : 0;
    RunOnAllRanks(Ranks(), [&] {
      ThrowFault(fault);
      this->AddUp(loaded);
    });
  }

  LoadResult Load()
  {
    this->LocateSeconds = 0;
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      const Stopwatch watch;
      const Catalog& catalog = this->Step.Data();
      LocationTable table = this->How.LibraryLocate ? LocateByLibrary(catalog, requests)
                                                    : this->Step.Locate(requests, this->How.Threads);
      this->LocateSeconds = watch.Seconds();
      return table;
    };
    RankRead loader(locate, this->Step.SharedData(), std::make_shared<const LoadRequest>(this->Request));
    LoadResult loaded = this->How.Steps > 0 ? loader.Read() : LoadResult();
    const std::vector<LoadFault> faults = this->How.Steps > 0 ? loaded.Faults : loader.Faults();
    if (!faults.empty()) {
      throw Error(faults[0].Message);
    }
    return loaded;
  }

  void BeginAutomatic()
  {
    if (!this->How.Automatic) {
      return;
    }
    this->Automatic.Begin(Ranks(), this->How.Summary, ThreadPolicy::Balanced, 256);
    this->Request.Control = &this->Automatic.Control();
    this->Request.Threads = this->Request.Control->Threads();
    this->Request.Storage = this->Automatic.Choice().CostOfRequest.value_or(this->Request.Storage);
  }

  void AddUp(const LoadResult& loaded)
  {
    this->Result.Sum = this->Result.Bytes = 0;
    for (const LoadedArray& array : loaded.Arrays) {
      const std::size_t count = array.Tuples * array.Components;
      this->Result.Sum += SumOf(static_cast<const float*>(array.Values.get()), count);
      this->Result.Bytes += static_cast<double>(count * sizeof(float));
    }
  }

  const Options& How;
  const OpenedStep& Step;
  LoadRequest Request;
  Cost& Result;
  AutomaticThreads Automatic;
  double LocateSeconds = 0;  ///< seconds of the current step
};

/// One-level reading, also with several threads like a thread-safe HDF5, which admits one thread at a time.
void ReadWithHdf5(const Options& options, const Catalog& catalog, const LoadRequest& request, Cost& cost)
{
  const std::size_t variables = request.Variables.size();
  const std::size_t tasks = request.Blocks.size() * variables;
  std::mutex library;
  for (int step = 0; step < options.Steps; ++step) {
    const Stopwatch watch;
    OpenFiles files(catalog);  // opened for each step, because steps are in different files
    std::vector<std::unique_ptr<float[]>> arrays(tasks);
    std::vector<std::size_t> counts(tasks);
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    const auto work = [&] {
      for (std::size_t task = next++; task < tasks; task = next++) {
        const int patch = request.Blocks[task / variables].Parts[0].Owner;
        const int variable = request.Variables[task % variables].Variable;
        const std::lock_guard<std::mutex> lock(library);
        const hdf5::Handle dataset = files.Dataset(patch, variable);
        const hdf5::Handle space(H5Dget_space(dataset));
        counts[task] = static_cast<std::size_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
        arrays[task].reset(new float[counts[task]]);
        failed = failed ||
                 H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, arrays[task].get()) < 0;
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options.Threads; ++t) {
      threads.emplace_back(work);
    }
    work();
    for (std::thread& thread : threads) {
      thread.join();
    }
    cost.Read.push_back(watch.Seconds());
    if (failed) {
      throw Error("HDF5 could not read a data set of " + catalog.Path);
    }
    cost.Sum = cost.Bytes = 0;
    for (std::size_t task = 0; task < tasks; ++task) {
      cost.Sum += SumOf(arrays[task].get(), counts[task]);
      cost.Bytes += static_cast<double>(counts[task] * sizeof(float));
    }
  }
}

/// Returns the blocks that vtkPatchReader makes of the rank's patches.
std::vector<Block> BlocksOfRank(const Options& options, const Catalog& catalog)
{
  const std::vector<int> mine = PatchesOfRank(options, catalog);
  if (!options.Merged) {
    return BlocksOfPatches(catalog, mine);
  }
  std::vector<bool> shown(catalog.Patches.size(), false);
  for (const int patch : mine) {
    shown[patch] = true;
  }
  const Nesting nesting(catalog, shown);
  std::vector<int> variables(catalog.Variables.size());
  std::iota(variables.begin(), variables.end(), 0);
  BlockOptions blocks;
  blocks.Merge = true;
  return MakeBlocks(catalog, shown, PatchTypes(catalog, variables), nesting, true, blocks);
}

LoadRequest MakeRequest(const Options& options, const Catalog& catalog)
{
  LoadRequest request;
  request.Blocks = BlocksOfRank(options, catalog);
  request.Threads = options.Threads;
  request.Storage = {options.Latency, options.Bandwidth};
  request.Memory = std::make_shared<MemoryPool>();
  const int variables = static_cast<int>(catalog.Variables.size());
  for (int v = 0; v < variables; ++v) {
    request.Variables.push_back(RequestAsStored(catalog, v));
  }
  return request;
}

/// Returns the times of the slowest rank, and the sums of the values over all ranks. Collective: every rank
/// calls it.
json Measure(const Options& options)
{
  Cost cost;
  RunOnAllRanks(Ranks(), [&] { FetchMemory(options.Warm); });
  Stopwatch watch;
  OpenedStep step(Ranks(), options.Summary, options.IndexFile ? IndexMode::On : IndexMode::Off);
  cost.Open = watch.Seconds();
  if (options.How == "patchio" && !options.LibraryLocate) {
    watch = Stopwatch();
    step.Prepare(Ranks(), options.Threads);
    cost.Locate = watch.Seconds();
  }
  LoadRequest request;
  RunOnAllRanks(Ranks(), [&] {
    const Stopwatch blocks;
    request = MakeRequest(options, step.Data());
    cost.Blocks = blocks.Seconds();
  });
  if (options.How == "patchio") {
    PatchIoReads(options, step, request, cost).Run();
  } else {
    RunOnAllRanks(Ranks(), [&] { ReadWithHdf5(options, step.Data(), request, cost); });
  }
  const std::vector<double> sums = Ranks().Sum({cost.Bytes, cost.Sum});
  return {{"open", Slowest(cost.Open)}, {"locate", Slowest(cost.Locate)}, {"read", Ranks().Max(cost.Read)},
      {"blocks", Slowest(cost.Blocks)}, {"bytes", sums[0]}, {"sum", sums[1]}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Reads a SAMRAI dump and says how long it took");
  program.add_option("SUMMARY", options->Summary)->required();
  program
      .add_option("--how", options->How, "hdf5: one data set after another, and with threads behind one lock")
      ->check(CLI::IsMember({"patchio", "hdf5"}));
  program.add_option("--threads", options->Threads, "NT of each rank")->check(CLI::Range(1, 1024));
  program.add_flag("--automatic", options->Automatic, "the mode Automatic, in place of --threads");
  program.add_option("--steps", options->Steps, "how often it is read; 0: only opened")
      ->check(CLI::Range(0, 1000));
  program.add_option("--patches", options->Patches, "read only the first ones");
  program.add_option("--warm", options->Warm, "GB of memory to fetch from a virtual machine's host ahead");
  program.add_flag("--sidecar", options->IndexFile, "open through the metadata channel, as ParaView does");
  program.add_option("--latency", options->Latency, "seconds of a request");
  program.add_option("--bandwidth", options->Bandwidth, "bytes a second of a request");
  program.add_flag("--merged", options->Merged, "patches of a rank become few large blocks; not with hdf5");
  program.add_flag("--library-locate", options->LibraryLocate, "find the data sets through the HDF5 library");
  return [options] {
    if (options->How == "hdf5" && (options->Automatic || options->Merged)) {
      throw Error("--automatic and --merged go with --how patchio only");
    }
    return Measure(*options);
  };
}

}  // namespace patchio::bench
