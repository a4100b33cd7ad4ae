#include "patchio.h"

#include "Output/Output.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>

using namespace patchio;

struct patchio_output
{
  std::unique_ptr<output::Output> Engine;
  std::string Error;
};

namespace {

/// What patchio_error(NULL) says.
std::string lastError;

int Try(patchio_output* output, const std::function<void(output::Output&)>& work)
{
  const std::string fault = CatchError([&] { work(*output->Engine); });
  if (fault.empty()) {
    return 0;
  }
  output->Error = fault;
  return 1;
}

ElementType TypeOf(patchio_type type)
{
  switch (type) {
    case PATCHIO_FLOAT:
      return ElementType::Float32;
    case PATCHIO_DOUBLE:
      return ElementType::Float64;
    case PATCHIO_INT32:
      return ElementType::Int32;
    case PATCHIO_INT64:
      return ElementType::Int64;
  }
  throw Error("A variable was declared with a type that patchio.h does not have.");
}

Int3 ThreeOf(const std::int32_t* numbers, int otherwise)
{
  return numbers ? Int3{numbers[0], numbers[1], numbers[2]} : Int3{otherwise, otherwise, otherwise};
}

}  // namespace

patchio_output* patchio_open(const char* configuration, MPI_Comm communicator)
{
  auto output = std::make_unique<patchio_output>();
  lastError = CatchError([&] {
    const auto ranks = MakeMpiCommunicator(communicator);
    output::OutputConfig config;
    RunOnAllRanks(*ranks, [&] { config = output::ReadOutputConfig(configuration); });
    const std::string fault =
        CatchError([&] { output->Engine = std::make_unique<output::Output>(config, communicator); });
    RunOnAllRanks(*ranks, [&] {
      if (!fault.empty()) {
        throw Error(fault);
      }
    });
  });
  return lastError.empty() ? output.release() : nullptr;
}

/// For patchio.f90, whose communicators are numbers.
extern "C" __attribute__((visibility("default"))) patchio_output* patchio_open_fortran(
    const char* configuration, MPI_Fint communicator)
{
  return patchio_open(configuration, MPI_Comm_f2c(communicator));
}

int patchio_compute(patchio_output* output, MPI_Comm* compute)
{
  *compute = MPI_COMM_NULL;
  return Try(output, [&](output::Output& engine) { *compute = engine.Compute(); });
}

/// For patchio.f90.
extern "C" __attribute__((visibility("default"))) int patchio_compute_fortran(
    patchio_output* output, MPI_Fint* compute)
{
  MPI_Comm comm = MPI_COMM_NULL;
  const int fault = patchio_compute(output, &comm);
  *compute = MPI_Comm_c2f(comm);
  return fault;
}

int patchio_grid(patchio_output* output, int dimension, const double* origin, const double* spacing,
    int levels, const int32_t* ratios)
{
  return Try(output, [&](output::Output& engine) {
    std::vector<Int3> all;
    for (int level = 0; level < levels; ++level) {
      all.push_back(ThreeOf(ratios ? ratios + 3 * level : nullptr, 1));
    }
    engine.SetGrid(dimension, {origin[0], origin[1], origin[2]}, {spacing[0], spacing[1], spacing[2]}, all);
  });
}

int patchio_patches(patchio_output* output, int count, const patchio_patch* patches)
{
  return Try(output, [&](output::Output& engine) {
    std::vector<output::DeclaredPatch> all;
    for (int p = 0; p < count; ++p) {
      output::DeclaredPatch& patch = all.emplace_back();
      patch.Level = patches[p].level;
      std::copy_n(patches[p].lower, 3, patch.Lower.begin());
      std::copy_n(patches[p].upper, 3, patch.Upper.begin());
    }
    engine.SetPatches(all);
  });
}

int patchio_variable(patchio_output* output, const char* name, const char* description, patchio_type type,
    int components, patchio_place place, const int32_t* ghosts)
{
  return Try(output, [&](output::Output& engine) {
    engine.AddVariable({name, description ? description : "", TypeOf(type), components,
        place == PATCHIO_NODES ? Centering::Node : Centering::Cell, ThreeOf(ghosts, 0)});
  });
}

int patchio_write(patchio_output* output, int64_t step, double time, const void* const* values)
{
  return Try(output, [&](output::Output& engine) { engine.Write(step, time, values); });
}

int patchio_flush(patchio_output* output)
{
  return Try(output, [](output::Output& engine) { engine.Flush(); });
}

int patchio_close(patchio_output* output)
{
  const std::unique_ptr<patchio_output> closing(output);
  lastError.clear();
  if (closing && Try(closing.get(), [](output::Output& engine) { engine.Close(); }) != 0) {
    lastError = closing->Error;
  }
  return lastError.empty() ? 0 : 1;
}

const char* patchio_error(const patchio_output* output)
{
  return output ? output->Error.c_str() : lastError.c_str();
}
