#include "patchio.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Write/Output.h"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <string>

using namespace patchio;

struct patchio_output
{
  std::unique_ptr<output::Output> Engine;
  std::string Error;
  int Key = MPI_KEYVAL_INVALID;  ///< key of the MPI attribute whose deletion closes the output
  bool IsClosed = false;
};

namespace {

/// The message of patchio_error(NULL).
std::string lastError;

/// Throws Error if a required argument is NULL.
void Require(const void* argument, const char* call, const char* name)
{
  if (!argument) {
    throw Error(fmt::format("{}() needs {}, but the argument is NULL.", call, name));
  }
}

/// Turns off the simulation's floating-point traps during a call, because NaN and values that exceed the
/// range of floats are valid data. Threads that start during the call inherit this setting.
class WithoutTraps
{
public:
  WithoutTraps() { std::feholdexcept(&this->Before); }
  ~WithoutTraps() { std::fesetenv(&this->Before); }
  WithoutTraps(const WithoutTraps&) = delete;
  WithoutTraps& operator=(const WithoutTraps&) = delete;

private:
  std::fenv_t Before = {};
};

/// Stores an output until the program ends, so that a call with a closed output returns an error.
patchio_output* Register(std::unique_ptr<patchio_output> output)
{
  static std::mutex lock;
  static auto& all = *new std::deque<std::unique_ptr<patchio_output>>;  // exit() must not wait for writes
  const std::lock_guard<std::mutex> guard(lock);
  return all.emplace_back(std::move(output)).get();
}

/// Runs work(engine). Returns 0, or 1 after an error, and stores the message for patchio_error().
template <typename Work>
int Try(patchio_output* output, const Work& work)
{
  const WithoutTraps guard;
  try {
    if (!output) {
      lastError = "The output is NULL. patchio_open() returns NULL when it fails: check its result.";
    } else if (output->IsClosed) {
      output->Error = "The output is closed. patchio_close() is the last call for an output.";
    } else if (!output->Engine) {
      output->Error =
          "The output is closed, because MPI_Finalize() closes all outputs. Make all calls before "
          "MPI_Finalize().";
    } else {
      const std::string fault = CatchError([&] { work(*output->Engine); });
      if (fault.empty()) {
        return 0;
      }
      output->Error = fault;
    }
  } catch (const std::bad_alloc&) {
    // There is not enough memory for the message either.
  }
  return 1;
}

/// Runs work(engine) as a declaration, see Output::Declare(). `call`: name of the C function.
template <typename Work>
int TryToDeclare(patchio_output* output, const char* call, bool replaces, const Work& work)
{
  return Try(output, [&](output::Output& engine) { engine.Declare(call, replaces, [&] { work(engine); }); });
}

ElementType TypeOf(patchio_type type, const char* name)
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
  throw Error(fmt::format("Variable '{}' has the type {}. Pass a value of patchio_type, 0 to {}.",
      PlainText(name), static_cast<int>(type), static_cast<int>(PATCHIO_INT64)));
}

/// Closes an output that the program has not closed. MPI_Finalize() and RemoveFinalizeCallback() call this
/// function. RemoveFinalizeCallback() passes only closed outputs, for which the function does nothing.
int CloseAtFinalize(MPI_Comm /*self*/, int /*key*/, void* attribute, void* /*extra*/)
{
  const WithoutTraps guard;
  auto* const output = static_cast<patchio_output*>(attribute);
  const std::string fault =
      output->Engine
          ? CatchError([&] { output->Engine->Close("MPI_Finalize (patchio_close was not called)"); })
          : std::string();
  output->Engine.reset();
  if (!fault.empty()) {
    std::fprintf(stderr, "PatchIO: the program did not call patchio_close() before MPI_Finalize(). %s\n",
        fault.c_str());
  }
  return MPI_SUCCESS;
}

/// Makes MPI_Finalize() call CloseAtFinalize() for the output.
void AddFinalizeCallback(patchio_output& output)
{
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, CloseAtFinalize, &output.Key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, output.Key, &output);
}

/// Removes the callback of AddFinalizeCallback().
void RemoveFinalizeCallback(patchio_output& output)
{
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) {
    MPI_Comm_delete_attr(MPI_COMM_SELF, output.Key);
    MPI_Comm_free_keyval(&output.Key);
  }
}

Centering CenteringOf(patchio_place place, const char* name)
{
  if (place != PATCHIO_CELLS && place != PATCHIO_NODES) {
    throw Error(fmt::format("Variable '{}' has the place {}. Pass a value of patchio_place, 0 or 1.",
        PlainText(name), static_cast<int>(place)));
  }
  return place == PATCHIO_NODES ? Centering::Node : Centering::Cell;
}

Int3 ToInt3(const std::int32_t* numbers, int defaultValue)
{
  return numbers ? Int3{numbers[0], numbers[1], numbers[2]} : Int3{defaultValue, defaultValue, defaultValue};
}

/// Ignores the signal SIGXFSZ unless the program handles the signal. Writes beyond the limit on file sizes
/// then fail with an error code instead of ending the program.
void IgnoreSizeSignal()
{
  struct sigaction now = {};
  if (sigaction(SIGXFSZ, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
    now.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &now, nullptr);
  }
}

bool IsMpiRunning(int& initialized)
{
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized;
}

/// Throws Error if MPI is not running, or if `communicator` is null or an intercommunicator. Without this
/// check, MPI would abort the program.
void CheckMpi(MPI_Comm communicator)
{
  int initialized = 0;
  if (!IsMpiRunning(initialized)) {
    throw Error(
        initialized
            ? "patchio_open() needs MPI, which MPI_Finalize() has ended. Open outputs before MPI_Finalize()."
            : "patchio_open() needs MPI. Call MPI_Init() first.");
  }
  // Open MPI converts a Fortran number that is not a communicator to a null pointer.
  if (communicator == MPI_COMM_NULL || communicator == MPI_Comm{}) {
    throw Error(
        "The communicator of patchio_open() is MPI_COMM_NULL or invalid. Call patchio_open() only on ranks "
        "of the communicator.");
  }
  int isInter = 0;
  MPI_Comm_test_inter(communicator, &isInter);
  if (isInter) {
    throw Error(
        "The communicator of patchio_open() is an intercommunicator. Pass an intracommunicator, which has "
        "one group of ranks.");
  }
}

}  // namespace

patchio_output* patchio_open(const char* configuration, MPI_Comm communicator)
{
  const WithoutTraps guard;
  auto output = std::make_unique<patchio_output>();
  lastError = CatchError([&] {
    CheckMpi(communicator);
    IgnoreSizeSignal();
    output::OutputConfig config;
    const std::string fault = CatchError([&] {
      Require(configuration, "patchio_open", "the configuration");
      config = output::ReadOutputConfig(configuration);
    });
    output::BoundedCommunicator ranks(communicator, config.WaitSeconds, "patchio_open");
    const auto check = [&ranks](const std::string& text) { RunOnAllRanks(ranks, [&] { ThrowFault(text); }); };
    check(fault);
    check(CatchError([&] { output->Engine = std::make_unique<output::Output>(config, communicator); }));
    AddFinalizeCallback(*output);
  });
  return lastError.empty() ? Register(std::move(output)) : nullptr;
}

/// Implements patchio_open() for patchio.f90, whose communicators are integers.
extern "C" __attribute__((visibility("default"))) patchio_output* patchio_open_fortran(
    const char* configuration, MPI_Fint communicator)
{
  int initialized = 0;
  return patchio_open(configuration, IsMpiRunning(initialized) ? MPI_Comm_f2c(communicator) : MPI_COMM_NULL);
}

int patchio_compute(patchio_output* output, MPI_Comm* compute)
{
  if (compute) {
    *compute = MPI_COMM_NULL;
  }
  return Try(output, [&](output::Output& engine) {
    Require(compute, "patchio_compute", "the communicator");
    *compute = engine.SeparateRanks();
  });
}

/// Implements patchio_compute() for patchio.f90.
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
  return TryToDeclare(output, "patchio_grid", true, [&](output::Output& engine) {
    Require(origin, "patchio_grid", "the origin");
    Require(spacing, "patchio_grid", "the spacing");
    if (levels > 1) {
      Require(ratios, "patchio_grid", fmt::format("the ratios of {} levels", levels).c_str());
    }
    if (levels < 1) {
      throw Error(fmt::format("patchio_grid() needs 1 or more levels, but `levels` is {}.", levels));
    }
    std::vector<Int3> all;
    for (int level = 0; level < levels; ++level) {
      all.push_back(ToInt3(ratios ? ratios + 3 * level : nullptr, 1));
    }
    engine.SetGrid(dimension, {origin[0], origin[1], origin[2]}, {spacing[0], spacing[1], spacing[2]}, all);
  });
}

int patchio_patches(patchio_output* output, int count, const patchio_patch* patches)
{
  return TryToDeclare(output, "patchio_patches", true, [&](output::Output& engine) {
    std::string fault;
    if (count < 0) {
      fault = fmt::format("patchio_patches() has the count {}. Pass 0 or more.", count);
    } else if (count > 0 && !patches) {
      fault = fmt::format("patchio_patches() needs an array of {} patches, but the argument is NULL.", count);
    }
    std::vector<output::DeclaredPatch> all;
    for (int p = 0; p < count && fault.empty(); ++p) {
      output::DeclaredPatch& patch = all.emplace_back();
      patch.Level = patches[p].level;
      std::copy_n(patches[p].lower, 3, patch.Lower.begin());
      std::copy_n(patches[p].upper, 3, patch.Upper.begin());
    }
    engine.SetPatches(all, fault);
  });
}

int patchio_variable(patchio_output* output, const char* name, const char* description, patchio_type type,
    int components, patchio_place place, const int32_t* ghosts)
{
  return TryToDeclare(output, "patchio_variable", false, [&](output::Output& engine) {
    Require(name, "patchio_variable", "the name");
    engine.AddVariable({name, description ? description : "", TypeOf(type, name), components,
        CenteringOf(place, name), ToInt3(ghosts, 0)});
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
  const WithoutTraps guard;
  lastError.clear();
  if (output && (output->Engine || output->IsClosed) &&
      Try(output, [](output::Output& engine) { engine.Close(); }) != 0) {
    lastError = output->Error;
  }
  if (output && !output->IsClosed) {
    output->IsClosed = true;
    output->Engine.reset();
    RemoveFinalizeCallback(*output);
  }
  return lastError.empty() ? 0 : 1;
}

const char* patchio_error(const patchio_output* output)
{
  return output ? output->Error.c_str() : lastError.c_str();
}
