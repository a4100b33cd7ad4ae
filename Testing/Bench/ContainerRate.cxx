// Writes a step of equal blocks and reads it, in one of several ways. Prints the seconds of each part as one
// JSON object. Under mpirun, the blocks are divided among the ranks, and the times are those of the slowest
// rank.
#include "Driver.h"
#include "MadeUpStep.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Hdf5/Library.h"
#include "Io/IoScheduler.h"
#include "Plan/Blocks.h"
#include "Plan/ReadPlan.h"
#include "Read/CollectiveCalls.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "Write/ContainerWriter.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace patchio::bench {
namespace {

using nlohmann::json;

struct Options
{
  std::string Folder;
  std::string How = "patchio";
  int Blocks = 1000, Cells = 16, Steps = 1, Threads = 2;
  double Latency = StorageModel().Latency, Bandwidth = StorageModel().Bandwidth;
  bool Reads = false, InBox = false, Unverified = false;
};

/// Returns the values of a block. All blocks share them, so that memory does not limit the test.
std::vector<float> Values(const Options& options)
{
  std::vector<float> values(std::size_t(options.Cells) * options.Cells * options.Cells);
  std::iota(values.begin(), values.end(), 0.5f);
  return values;
}

/// Returns the blocks that this rank writes.
std::vector<int> OwnBlocks(const Catalog& catalog)
{
  std::vector<int> mine;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    if (catalog.Patches[p].Writer == Ranks().Rank()) {
      mine.push_back(static_cast<int>(p));
    }
  }
  return mine;
}

std::string Hdf5Path(const Options& options, int rank)
{
  return options.Folder + "/blocks." + (options.How == "hdf5" ? std::to_string(rank) : "all") + ".h5";
}

std::string PlainPath(const Options& options, int rank)
{
  return options.Folder + "/blocks." + std::to_string(rank);
}

std::string NameOf(int block)
{
  return "block." + std::to_string(block);
}

void WriteContainer(const Options& options, const Catalog& catalog)
{
  const std::vector<float> values = Values(options);
  container::ContainerWriter writer(Ranks(), options.Folder + "/blocks.pio", {false, 0});
  for (int number = 0; number < options.Steps; ++number) {
    Catalog data = catalog;
    data.Step = number;
    data.Time = number;
    const auto step = writer.Begin({data, {ElementType::Float32}, {}});
    std::vector<container::PatchValues> mine;
    for (const int block : OwnBlocks(catalog)) {
      mine.push_back({block, 0, values.data()});
    }
    step->Write(mine, options.Threads);
    writer.Commit(*step);
  }
}

/// Writes one data set per block, into one file per rank or into a common file.
void WriteHdf5(const Options& options, const Catalog& catalog)
{
  const std::vector<float> values = Values(options);
  const bool together = options.How == "parallel";
  const std::string path = Hdf5Path(options, Ranks().Rank());
  {
    const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS)), transfer(H5Pcreate(H5P_DATASET_XFER));
    if (together) {
      H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
      H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    }
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
    const auto n = static_cast<hsize_t>(options.Cells);
    const hsize_t one[] = {n, n, n}, all[] = {static_cast<hsize_t>(options.Blocks), n, n, n};
    if (together) {  // one data set with the blocks of all ranks, the best case for collective writes
      const std::vector<int> mine = OwnBlocks(catalog);
      const hdf5::Handle space(H5Screate_simple(4, all, nullptr));
      const hdf5::Handle set(
          H5Dcreate2(file, "blocks", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      const hsize_t start[] = {static_cast<hsize_t>(mine[0]), 0, 0, 0}, count[] = {mine.size(), n, n, n};
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr);
      const hdf5::Handle memory(H5Screate_simple(4, count, nullptr));
      std::vector<float> part;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        part.insert(part.end(), values.begin(), values.end());
      }
      if (H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, transfer, part.data()) < 0) {
        throw Error("collective writing failed");
      }
    } else {
      const hdf5::Handle space(H5Screate_simple(3, one, nullptr));
      for (const int block : OwnBlocks(catalog)) {
        const hdf5::Handle set(H5Dcreate2(
            file, NameOf(block).c_str(), H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        if (H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, transfer, values.data()) < 0) {
          throw Error("writing failed");
        }
      }
    }
  }
  PlainFile(path).Flush();  // as the container's writer does
}

/// Writes only the values, as a lower limit of the time.
void WritePlain(const Options& options, const Catalog& catalog)
{
  const std::vector<float> values = Values(options);
  const std::uint64_t bytes = values.size() * sizeof(float);
  const std::vector<int> mine = OwnBlocks(catalog);
  const PlainFile file(PlainPath(options, Ranks().Rank()), PlainFile::Purpose::Create);
  std::filesystem::resize_file(file.Path(), bytes * mine.size());
  RunTasks(mine.size(), options.Threads, [&](std::size_t i) { file.Write(i * bytes, values.data(), bytes); });
  file.Flush();
}

struct ReadCost
{
  double Metadata = 0;  ///< seconds until the locations of all bytes are known
  double Plan = 0;      ///< seconds from then until the first task can read; 0 for HDF5
  double Surplus = 1;   ///< bytes read / bytes of the blocks
};

/// Returns whether the block lies in the fourth or fifth eighth of the cube along each axis. A curve through
/// all blocks passes this box more often than a corner.
bool IsInBox(const Options& options, const Patch& block)
{
  return std::all_of(block.Cells.Lower.begin(), block.Cells.Lower.end(), [&](int lower) {
    const int eighth = 8 * lower / (EdgeOfCube(options.Blocks) * options.Cells);
    return eighth == 3 || eighth == 4;
  });
}

/// memory: the pool of earlier rounds.
ReadCost ReadContainer(const Options& options, const std::shared_ptr<MemoryPool>& memory)
{
  ReadCost cost;
  const Stopwatch watch;
  const std::string folder = options.Folder + "/blocks.pio";
  const Series series = OpenSeries(Ranks(), {folder}, {}, IndexMode::Off);
  const OpenedStep step(Ranks(), series.Steps.back().Path, IndexMode::Off);
  LoadRequest request;
  std::vector<int> mine;
  const auto [first, end] = ShareOfRank(step.Data().Patches.size(), Ranks().Rank(), Ranks().Size());
  mine.resize(end - first);
  std::iota(mine.begin(), mine.end(), static_cast<int>(first));
  if (options.InBox) {
    mine.erase(std::remove_if(mine.begin(), mine.end(),
                   [&](int p) { return !IsInBox(options, step.Data().Patches[p]); }),
        mine.end());
  }
  request.Blocks = BlocksOfPatches(step.Data(), mine);
  request.Variables = {RequestAsStored(step.Data(), 0)};
  request.Threads = options.Threads;
  request.Memory = memory;
  request.Storage = {options.Latency, options.Bandwidth};
  double located = 0;
  const double prepared = watch.Seconds();
  const auto locate = [&](const std::vector<PatchVariable>& wanted) {
    const double begin = watch.Seconds();
    LocationTable table = step.Locate(wanted, options.Threads, {}, !options.Unverified);
    located += watch.Seconds() - begin;
    return table;
  };
  RankRead read(locate, step.SharedData(), std::make_shared<const LoadRequest>(request));
  cost.Metadata = prepared + located;
  cost.Plan = watch.Seconds() - cost.Metadata;
  const LoadResult loaded = read.Read();
  if (!loaded.Faults.empty()) {
    throw Error(loaded.Faults[0].Message);
  }
  double wanted = 0;
  for (const LoadedArray& array : loaded.Arrays) {
    wanted += static_cast<double>(array.Tuples * sizeof(float));
  }
  cost.Surplus = static_cast<double>(loaded.Report.Bytes) / wanted;
  return cost;
}

/// Reads one data set after another; each rank reads a part of each file. arrays: memory of earlier rounds.
ReadCost ReadHdf5(const Options& options, std::vector<std::vector<float>>& arrays)
{
  ReadCost cost;
  const std::size_t cells = std::size_t(options.Cells) * options.Cells * options.Cells;
  std::size_t next = 0;
  double metadata = 0;
  const Stopwatch watch;
  for (int writer = 0; std::filesystem::exists(Hdf5Path(options, writer)); ++writer) {
    const double before = watch.Seconds();
    const hdf5::Handle file(H5Fopen(Hdf5Path(options, writer).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    H5G_info_t info;
    H5Gget_info(file, &info);
    metadata += watch.Seconds() - before;
    const auto [first, end] = ShareOfRank(info.nlinks, Ranks().Rank(), Ranks().Size());
    for (std::size_t i = first; i < end; ++i) {
      const double opening = watch.Seconds();
      char name[64];
      H5Lget_name_by_idx(file, "/", H5_INDEX_NAME, H5_ITER_NATIVE, i, name, sizeof name, H5P_DEFAULT);
      const hdf5::Handle set(H5Dopen2(file, name, H5P_DEFAULT));
      metadata += watch.Seconds() - opening;
      if (next == arrays.size()) {
        arrays.emplace_back(cells);
      }
      std::vector<float>& values = arrays[next++];
      if (H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
        throw Error("reading failed");
      }
    }
  }
  cost.Metadata = metadata;
  return cost;
}

ReadCost ReadPlain(const Options& options, std::vector<std::vector<float>>& arrays)
{
  ReadCost cost;
  const Stopwatch watch;
  const PlainFile file(PlainPath(options, Ranks().Rank()));
  const std::size_t cells = std::size_t(options.Cells) * options.Cells * options.Cells;
  arrays.resize(file.Size() / sizeof(float) / cells, std::vector<float>(cells));
  cost.Metadata = watch.Seconds();
  RunTasks(arrays.size(), options.Threads,
      [&](std::size_t i) { file.Read(i * cells * sizeof(float), arrays[i].data(), cells * sizeof(float)); });
  return cost;
}

/// Collective: every rank calls it.
json Measure(const Options& options)
{
  const Catalog catalog = CubeOfPatches(options.Blocks, options.Cells, 1, Ranks().Size());
  if (!options.Reads) {
    Synchronize();
    const Stopwatch watch;
    const auto write = options.How == "patchio" ? WriteContainer
                       : options.How == "plain" ? WritePlain
                                                : WriteHdf5;
    write(options, catalog);
    return {{"write", Slowest(watch.Seconds())}};
  }
  const auto memory = std::make_shared<MemoryPool>();
  memory->SetKeptLimit(std::uint64_t(1) << 40);
  std::vector<std::vector<float>> arrays;
  ReadCost cost;
  double all = 0;
  for (int round = 0; round < options.Steps; ++round) {
    const Stopwatch watch;
    cost = options.How == "patchio" ? ReadContainer(options, memory)
           : options.How == "plain" ? ReadPlain(options, arrays)
                                    : ReadHdf5(options, arrays);
    all = watch.Seconds();
  }
  return {{"metadata", Slowest(cost.Metadata)}, {"plan", Slowest(cost.Plan)}, {"all", Slowest(all)},
      {"surplus", Slowest(cost.Surplus)}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Writes and reads blocks in several ways");
  program.add_option("folder", options->Folder, "where the files are")->required();
  program
      .add_option("--how", options->How,
          "hdf5: a file a rank, a data set a block; parallel: one file, collectively; plain: only the bytes")
      ->check(CLI::IsMember({"patchio", "hdf5", "parallel", "plain"}));
  program.add_option("--blocks", options->Blocks, "of all ranks");
  program.add_option("--cells", options->Cells, "of a block along each axis");
  program.add_option(
      "--steps", options->Steps, "to write; when reading: rounds, whose last one the result describes");
  program.add_option("--threads", options->Threads, "of each rank");
  program.add_option("--latency", options->Latency, "seconds of a request");
  program.add_option("--bandwidth", options->Bandwidth, "bytes a second of a request");
  program.add_flag("--read", options->Reads, "read what was written");
  program.add_flag("--box", options->InBox, "read only 1/64 of the domain; of a container");
  program.add_flag(
      "--unverified", options->Unverified, "do not compare values with checksums; of a container");
  return [options] { return Measure(*options); };
}

}  // namespace patchio::bench
