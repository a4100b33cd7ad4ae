// Writes the values of a sensor at many steps: as a channel of the format kwave, by one collective write of
// parallel HDF5 per step, or only the same number of bytes from one buffer of one rank. Prints the rate
// until all bytes of the slowest rank are on the storage, as one JSON object.
#include "Driver.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Stopwatch.h"
#include "Hdf5/Library.h"
#include "Io/IoScheduler.h"
#include "Write/Output.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace patchio::bench {
namespace {

using namespace output;
using nlohmann::json;

struct Options
{
  std::string Path, How = "patchio", Cuboids;
  std::vector<int> Cells;
  int Steps = 100, Threads = 0;
};

/// Returns this rank's planes of the grid, which is divided as in k-Wave.
Box PlanesOf(const Options& options)
{
  const auto [first, end] = ShareOfRank(options.Cells[2], Ranks().Rank(), Ranks().Size());
  return {{0, 0, static_cast<int>(first)},
      {options.Cells[0] - 1, options.Cells[1] - 1, static_cast<int>(end) - 1}};
}

OutputConfig ConfigOf(const Options& options)
{
  json channel{{"path", options.Path}, {"format", "kwave"}, {"cuboids", json::parse(options.Cuboids)},
      {"windows", {{{"last", options.Steps - 1}}}}};
  return ReadOutputConfig(
      json{{"mode", "direct"}, {"threads", options.Threads}, {"channels", {channel}}}.dump());
}

void WriteChannel(const Options& options, const std::vector<float>& values)
{
  const Box mine = PlanesOf(options);
  Output output(ConfigOf(options), MPI_COMM_WORLD);
  output.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
  output.SetPatches({{0, mine.Lower, mine.Upper}});
  output.AddVariable({"p", {}, ElementType::Float32});
  const void* const arrays[] = {values.data()};
  for (int step = 0; step < options.Steps; ++step) {
    output.Write(step, step, arrays);
  }
  output.Flush();
}

/// Writes the values of all ranks side by side into a data set [step][values], with one chunk per step, like
/// k-Wave.
void WriteCollectively(const Options& options, const std::vector<float>& values)
{
  Catalog data;
  data.Levels.resize(1);
  for (int rank = 0; rank < Ranks().Size(); ++rank) {  // the cuboids cover the whole grid
    data.Patches.emplace_back().Cells = {
        {0, 0, 0}, {options.Cells[0] - 1, options.Cells[1] - 1, options.Cells[2] - 1}};
  }
  data.Patches[Ranks().Rank()].Cells = PlanesOf(options);
  std::vector<SensorRun> runs;
  for (const SensorPortion& portion : PortionsOf(ConfigOf(options).Channels[0].SensorCells, options.Path)) {
    for (std::size_t set = 0; set < portion.SetCount(); ++set) {
      const std::vector<SensorRun> more = RunsIn(portion, set, data, {Ranks().Rank()});
      runs.insert(runs.end(), more.begin(), more.end());
    }
  }
  const auto count = std::accumulate(runs.begin(), runs.end(), hsize_t(0),
      [](hsize_t sum, const SensorRun& run) { return sum + run.Count; });
  const std::vector<double> all = Ranks().AllGather(std::vector<double>{static_cast<double>(count)});
  const auto before = static_cast<hsize_t>(std::accumulate(all.begin(), all.begin() + Ranks().Rank(), 0.0));
  const hsize_t shape[] = {static_cast<hsize_t>(options.Steps),
      static_cast<hsize_t>(std::accumulate(all.begin(), all.end(), 0.0))};
  const hsize_t chunk[] = {1, shape[1]}, part[] = {1, count};
  {
    const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS)), transfer(H5Pcreate(H5P_DATASET_XFER)),
        creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Pset_chunk(creation, 2, chunk);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    const hdf5::Handle file(H5Fcreate(options.Path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
    const hdf5::Handle space(H5Screate_simple(2, shape, nullptr)), memory(H5Screate_simple(2, part, nullptr));
    const hdf5::Handle set(
        H5Dcreate2(file, "p", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    const Box mine = PlanesOf(options);
    std::vector<float> packed(count);
    for (hsize_t step = 0; step < shape[0]; ++step) {
      float* next = packed.data();
      for (const SensorRun& run : runs) {
        next = std::copy_n(&values[IndexIn(mine, run.Cell)], run.Count, next);
      }
      const hsize_t start[] = {step, before};
      count > 0 ? H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, part, nullptr)
                : H5Sselect_none(space);
      if (count == 0) {
        H5Sselect_none(memory);
      }
      if (H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, transfer, packed.data()) < 0) {
        throw Error("collective writing failed");
      }
    }
  }
  if (Ranks().Rank() == 0) {
    PlainFile(options.Path).Flush();
  }
}

double BytesOf(const Options& options)
{
  double bytes = 0;
  const OutputConfig config = ConfigOf(options);
  for (const SensorCuboid& cuboid : config.Channels[0].SensorCells.Cuboids) {
    bytes += static_cast<double>(cuboid.Cells.CellCount()) * sizeof(float) * options.Steps;
  }
  return bytes;
}

/// Writes plain bytes, which gives the upper limit of the rate.
void WriteBytes(const Options& options)
{
  constexpr std::uint64_t request = 1 << 20;
  if (Ranks().Rank() != 0) {
    return;
  }
  const auto bytes = static_cast<std::uint64_t>(BytesOf(options));
  const std::vector<std::byte> values(request);
  const PlainFile file(options.Path, PlainFile::Purpose::Create);
  std::filesystem::resize_file(options.Path, bytes);
  RunTasksOrThrow((bytes + request - 1) / request, options.Threads, [&](std::size_t task) {
    file.Write(task * request, values.data(), std::min(request, bytes - task * request));
  });
  file.Flush();
}

json Measure(const Options& options)
{
  const std::vector<float> values(PlanesOf(options).CellCount(), 0.5f);
  Synchronize();
  const Stopwatch watch;
  options.How == "patchio" ? WriteChannel(options, values)
  : options.How == "bytes" ? WriteBytes(options)
                           : WriteCollectively(options, values);
  return {{"rate", BytesOf(options) / Slowest(watch.Seconds())}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("Writes what a sensor sees, in one of several ways");
  program.add_option("path", options->Path, "the file, which must not exist")->required();
  program.add_option("--how", options->How)->check(CLI::IsMember({"patchio", "parallel", "bytes"}));
  program.add_option("--cells", options->Cells, "of the grid, X,Y,Z")
      ->delimiter(',')
      ->expected(3)
      ->required();
  program.add_option("--cuboids", options->Cuboids, "as in an output configuration")->required();
  program.add_option("--steps", options->Steps);
  program.add_option("--threads", options->Threads);
  return [options] { return Measure(*options); };
}

}  // namespace patchio::bench
