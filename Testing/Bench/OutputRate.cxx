// Measures the cost of output for a model whose ranks divide a grid in two directions: with direct MPI-IO, or
// with an output configuration. The model sleeps instead of computing. With --copies, measures only the
// copies of values. Prints one JSON object.
#include "Driver.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Write/Output.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

namespace patchio::bench {
namespace {

using nlohmann::json;

constexpr std::array<int, 3> GridCells{192, 96, 50};
constexpr int Variables = 4, Steps = 10;
constexpr std::chrono::milliseconds ComputeTime(200);  ///< of each step

struct Options
{
  std::string To;       ///< path of an output configuration, or of the file that MPI-IO writes
  bool Mpi = false;     ///< writes with collective MPI-IO at each step
  bool Copies = false;  ///< measures only the copies
};

/// This rank's part of the grid, with the values of a field.
struct Part
{
  int Lower[3]{}, Upper[3]{};
  std::vector<float> Values;

  int Width(int axis) const { return this->Upper[axis] - this->Lower[axis] + 1; }
};

Part PartOf(int rank, int rankCount)
{
  int parts[2] = {0, 0};
  MPI_Dims_create(rankCount, 2, parts);
  const int place[3] = {rank % parts[0], rank / parts[0], 0};
  const int counts[3] = {parts[0], parts[1], 1};
  Part part;
  for (int axis = 0; axis < 3; ++axis) {
    part.Lower[axis] = GridCells[axis] * place[axis] / counts[axis];
    part.Upper[axis] = GridCells[axis] * (place[axis] + 1) / counts[axis] - 1;
  }
  part.Values.assign(std::size_t(part.Width(0)) * part.Width(1) * part.Width(2), static_cast<float>(rank));
  return part;
}

/// Writes one file of all steps, one variable after another, like models without an output library.
class DirectMpi
{
public:
  DirectMpi(const std::string& path, const Part& part) : Mine(part)
  {
    const int all[3] = {GridCells[2], GridCells[1], GridCells[0]};
    const int size[3] = {part.Width(2), part.Width(1), part.Width(0)};
    const int start[3] = {part.Lower[2], part.Lower[1], part.Lower[0]};
    MPI_Type_create_subarray(3, all, size, start, MPI_ORDER_C, MPI_FLOAT, &this->Place);
    MPI_Type_commit(&this->Place);
    if (MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
            &this->File) != MPI_SUCCESS) {
      throw Error(path + " cannot be made.");
    }
  }

  void Write(int step)
  {
    const auto bytes = MPI_Offset(GridCells[0]) * GridCells[1] * GridCells[2] * MPI_Offset(sizeof(float));
    for (int v = 0; v < Variables; ++v) {
      MPI_File_set_view(this->File, (step * MPI_Offset(Variables) + v) * bytes, MPI_FLOAT, this->Place,
          "native", MPI_INFO_NULL);
      MPI_File_write_all(this->File, this->Mine.Values.data(), static_cast<int>(this->Mine.Values.size()),
          MPI_FLOAT, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(this->File);
  }

  void Finish()
  {
    MPI_File_close(&this->File);
    MPI_Type_free(&this->Place);
  }

private:
  const Part& Mine;
  MPI_File File = MPI_FILE_NULL;
  MPI_Datatype Place = MPI_DATATYPE_NULL;
};

void Declare(output::Output& out, const Part& part)
{
  out.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
  output::DeclaredPatch patch;
  std::copy_n(part.Lower, 3, patch.Lower.begin());
  std::copy_n(part.Upper, 3, patch.Upper.begin());
  out.SetPatches({patch});
  for (int v = 0; v < Variables; ++v) {
    out.AddVariable({"v" + std::to_string(v), "", ElementType::Float32});
  }
}

/// Runs the model. write(step) returns when the model may continue. Collective: every rank of `compute` calls
/// it.
template <typename Write, typename Finish>
json Measure(MPI_Comm compute, Write write, Finish finish)
{
  MPI_Barrier(compute);
  const Stopwatch all;
  double lost = 0;
  for (int step = 0; step < Steps; ++step) {
    std::this_thread::sleep_for(ComputeTime);
    MPI_Barrier(compute);  // like an exchange of halos
    const Stopwatch watch;
    write(step);
    lost += watch.Seconds();
  }
  finish();
  double mine[2] = {lost / Steps, all.Seconds()}, most[2];
  MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, compute);
  return {{"lost", most[0]}, {"all", most[1]}};
}

/// Returns the bytes/s of packing fields with two layers of ghost cells, as a step does, and of memcpy into
/// allocated memory.
json MeasureCopies()
{
  constexpr int rounds = 200;
  output::Declaration declared;
  const auto alone = MakeSelfCommunicator();
  declared.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
  declared.SetPatches(*alone, {{0, {0, 0, 0}, {GridCells[0] - 1, GridCells[1] - 1, GridCells[2] - 1}}});
  declared.AddVariable({"v", "", ElementType::Float32, 1, Centering::Cell, {2, 2, 0}});
  const std::size_t values = std::size_t(GridCells[0]) * GridCells[1] * GridCells[2];
  const std::size_t bytes = values * sizeof(float);
  const std::vector<float> field(std::size_t(GridCells[0] + 4) * (GridCells[1] + 4) * GridCells[2], 1.0f);
  std::vector<float> there(values * Variables);
  double packed = 0, copied = 0;
  for (int round = 0; round < rounds; ++round) {
    Stopwatch watch;
    for (int v = 0; v < Variables; ++v) {
      std::memcpy(there.data() + v * values, field.data(), bytes);
    }
    copied += watch.Seconds();
    watch = Stopwatch();
    const std::unique_ptr<std::byte[]> memory(new std::byte[bytes * Variables]);
    for (int v = 0; v < Variables; ++v) {
      declared.CopyWithoutGhosts(0, 0, field.data(), memory.get() + v * bytes);
    }
    packed += watch.Seconds();
  }
  const double all = static_cast<double>(bytes) * Variables * rounds;
  return {{"packed", all / packed}, {"copied", all / copied}};
}

json Run(const Options& options)
{
  if (options.Copies) {
    return MeasureCopies();
  }
  const Communicator& ranks = Ranks();
  if (options.Mpi) {
    const Part part = PartOf(ranks.Rank(), ranks.Size());
    DirectMpi file(options.To, part);
    return Measure(
        MPI_COMM_WORLD, [&](int step) { file.Write(step); }, [&] { file.Finish(); });
  }
  output::Output out(output::ReadOutputConfig(options.To), MPI_COMM_WORLD);
  const MPI_Comm compute = out.Compute();
  if (compute == MPI_COMM_NULL) {
    return {};
  }
  int rank = 0, rankCount = 1;
  MPI_Comm_rank(compute, &rank);
  MPI_Comm_size(compute, &rankCount);
  const Part part = PartOf(rank, rankCount);
  Declare(out, part);
  const std::vector<const void*> values(Variables, part.Values.data());
  return Measure(
      compute, [&](int step) { out.Write(step, step, values.data()); }, [&] { out.Close(); });
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("What a model loses to its output");
  program.add_option("to", options->To, "output configuration, or the file for --mpi")->required();
  program.add_flag("--mpi", options->Mpi, "collective MPI-IO");
  program.add_flag(
      "--copies", options->Copies, "measure only what copying a step costs; \"to\" is of no meaning");
  return [options] { return Run(*options); };
}

}  // namespace patchio::bench
