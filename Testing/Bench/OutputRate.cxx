// Measures the cost of output for a model whose ranks divide a grid in two directions: with direct MPI-IO, or
// with an output configuration. The model sleeps instead of computing. With --copies, measures only the
// copies of values. Prints one JSON object.
#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "RunUnderMpi.h"
#include "Write/Output.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

using namespace patchio;
using nlohmann::json;

struct Options
{
  std::string To;       ///< path of an output configuration, or of the file that MPI-IO writes
  bool Mpi = false;     ///< writes with collective MPI-IO at each step
  bool Copies = false;  ///< measures only the copies
  std::vector<int> Cells{192, 96, 50};
  int Variables = 4, Steps = 10, Milliseconds = 200;
};

/// This rank's part of the grid, with the values of a field.
struct Part
{
  int Lower[3]{}, Upper[3]{};
  std::vector<float> Values;

  int Width(int axis) const { return this->Upper[axis] - this->Lower[axis] + 1; }
};

Part PartOf(const Options& options, int rank, int rankCount)
{
  int parts[2] = {0, 0};
  MPI_Dims_create(rankCount, 2, parts);
  const int place[3] = {rank % parts[0], rank / parts[0], 0};
  const int counts[3] = {parts[0], parts[1], 1};
  Part part;
  for (int axis = 0; axis < 3; ++axis) {
    part.Lower[axis] = options.Cells[axis] * place[axis] / counts[axis];
    part.Upper[axis] = options.Cells[axis] * (place[axis] + 1) / counts[axis] - 1;
  }
  part.Values.assign(std::size_t(part.Width(0)) * part.Width(1) * part.Width(2), static_cast<float>(rank));
  return part;
}

/// A method of output. Its call for a step returns when the model may continue.
class Way
{
public:
  virtual ~Way() = default;
  virtual void Write(int step) = 0;
  virtual void Finish() = 0;
};

/// Writes one file of all steps, one variable after another, like models without an output library.
class DirectMpi : public Way
{
public:
  DirectMpi(const Options& options, const Part& part) : Settings(options), Mine(part)
  {
    const int all[3] = {options.Cells[2], options.Cells[1], options.Cells[0]};
    const int size[3] = {part.Width(2), part.Width(1), part.Width(0)};
    const int start[3] = {part.Lower[2], part.Lower[1], part.Lower[0]};
    MPI_Type_create_subarray(3, all, size, start, MPI_ORDER_C, MPI_FLOAT, &this->Place);
    MPI_Type_commit(&this->Place);
    if (MPI_File_open(MPI_COMM_WORLD, options.To.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
            &this->File) != MPI_SUCCESS) {
      throw Error(options.To + " cannot be made.");
    }
  }

  void Write(int step) override
  {
    const auto bytes = MPI_Offset(this->Settings.Cells[0]) * this->Settings.Cells[1] *
                       this->Settings.Cells[2] * MPI_Offset(sizeof(float));
    for (int v = 0; v < this->Settings.Variables; ++v) {
      MPI_File_set_view(this->File, (step * MPI_Offset(this->Settings.Variables) + v) * bytes, MPI_FLOAT,
          this->Place, "native", MPI_INFO_NULL);
      MPI_File_write_all(this->File, this->Mine.Values.data(), static_cast<int>(this->Mine.Values.size()),
          MPI_FLOAT, MPI_STATUS_IGNORE);
    }
    MPI_File_sync(this->File);
  }

  void Finish() override
  {
    MPI_File_close(&this->File);
    MPI_Type_free(&this->Place);
  }

private:
  const Options& Settings;
  const Part& Mine;
  MPI_File File = MPI_FILE_NULL;
  MPI_Datatype Place = MPI_DATATYPE_NULL;
};

class Configured : public Way
{
public:
  Configured(output::Output& out, const Options& options, const Part& part)
      : Out(out), Pointers(options.Variables, part.Values.data())
  {
    this->Out.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
    output::DeclaredPatch patch;
    std::copy_n(part.Lower, 3, patch.Lower.begin());
    std::copy_n(part.Upper, 3, patch.Upper.begin());
    this->Out.SetPatches({patch});
    for (int v = 0; v < options.Variables; ++v) {
      this->Out.AddVariable({"v" + std::to_string(v), "", ElementType::Float32});
    }
  }

  void Write(int step) override { this->Out.Write(step, step, this->Pointers.data()); }
  void Finish() override { this->Out.Close(); }

private:
  output::Output& Out;
  const std::vector<const void*> Pointers;
};

/// Collective: every rank of `compute` calls it.
json Measure(const Options& options, output::Output* out, MPI_Comm compute)
{
  int rank = 0, ranks = 1;
  MPI_Comm_rank(compute, &rank);
  MPI_Comm_size(compute, &ranks);
  const Part part = PartOf(options, rank, ranks);
  std::unique_ptr<Way> way;
  if (out) {
    way = std::make_unique<Configured>(*out, options, part);
  } else {
    way = std::make_unique<DirectMpi>(options, part);
  }
  MPI_Barrier(compute);
  const Stopwatch all;
  double lost = 0;
  for (int step = 0; step < options.Steps; ++step) {
    std::this_thread::sleep_for(std::chrono::milliseconds(options.Milliseconds));
    MPI_Barrier(compute);  // like an exchange of halos
    const Stopwatch watch;
    way->Write(step);
    lost += watch.Seconds();
  }
  way->Finish();
  double mine[2] = {lost / options.Steps, all.Seconds()}, most[2];
  MPI_Allreduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, compute);
  return {{"lost", most[0]}, {"all", most[1]}};
}

/// Returns the bytes/s of packing fields with two layers of ghost cells, as a step does, and of memcpy into
/// allocated memory.
json MeasureCopies(const Options& options)
{
  constexpr int rounds = 200;
  output::Declaration declared;
  const auto alone = MakeSelfCommunicator();
  declared.SetGrid(3, {0, 0, 0}, {1, 1, 1}, {{1, 1, 1}});
  declared.SetPatches(
      *alone, {{0, {0, 0, 0}, {options.Cells[0] - 1, options.Cells[1] - 1, options.Cells[2] - 1}}});
  declared.AddVariable({"v", "", ElementType::Float32, 1, Centering::Cell, {2, 2, 0}});
  const std::size_t values = std::size_t(options.Cells[0]) * options.Cells[1] * options.Cells[2];
  const std::size_t bytes = values * sizeof(float);
  const std::vector<float> field(
      std::size_t(options.Cells[0] + 4) * (options.Cells[1] + 4) * options.Cells[2], 1.0f);
  std::vector<float> there(values * options.Variables);
  double packed = 0, copied = 0;
  for (int round = 0; round < rounds; ++round) {
    Stopwatch watch;
    for (int v = 0; v < options.Variables; ++v) {
      std::memcpy(there.data() + v * values, field.data(), bytes);
    }
    copied += watch.Seconds();
    watch = Stopwatch();
    const std::unique_ptr<std::byte[]> memory(new std::byte[bytes * options.Variables]);
    for (int v = 0; v < options.Variables; ++v) {
      declared.CopyWithoutGhosts(0, 0, field.data(), memory.get() + v * bytes);
    }
    packed += watch.Seconds();
  }
  const double all = static_cast<double>(bytes) * options.Variables * rounds;
  return {{"packed", all / packed}, {"copied", all / copied}};
}

int Run(int argc, char** argv)
{
  CLI::App program("What a model loses to its output");
  Options options;
  program.add_option("to", options.To, "output configuration, or the file for --mpi")->required();
  program.add_flag("--mpi", options.Mpi, "collective MPI-IO");
  program.add_option("--cells", options.Cells, "of the grid")->expected(3)->delimiter(',');
  program.add_option("--variables", options.Variables);
  program.add_option("--steps", options.Steps);
  program.add_option("--milliseconds", options.Milliseconds, "that a step computes");
  program.add_flag(
      "--copies", options.Copies, "measure only what copying a step costs; \"to\" is of no meaning");
  CLI11_PARSE(program, argc, argv);
  if (options.Copies) {
    std::printf("%s\n", MeasureCopies(options).dump().c_str());
    return 0;
  }
  std::unique_ptr<output::Output> out;
  if (!options.Mpi) {
    out = std::make_unique<output::Output>(output::ReadOutputConfig(options.To), MPI_COMM_WORLD);
  }
  const MPI_Comm compute = out ? out->Compute() : MPI_COMM_WORLD;
  if (compute == MPI_COMM_NULL) {
    return 0;
  }
  const json found = Measure(options, out.get(), compute);
  int rank = 0;
  MPI_Comm_rank(compute, &rank);
  if (rank == 0) {
    std::printf("%s\n", found.dump().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv)
{
  return RunUnderMpi(argc, argv, "patchio_bench_output", Run);
}
