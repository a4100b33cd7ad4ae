// The driver of all measuring programs: their options, ranks, results and errors. Driver.cxx has their main
// function.
#pragma once

#include "Base/Communicator.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::bench {

/// Carries out a measurement. Rank 0 prints the result as one line of JSON; null: nothing is printed.
using Measurement = std::function<nlohmann::json()>;

/// Adds the options of a program to `program`. Returns the measurement, which runs after the options are
/// parsed. Each program defines this function.
Measurement Describe(CLI::App& program);

/// Returns the ranks of the program. Starts MPI in the first call. Collective: every rank calls it.
Communicator& Ranks();

/// Returns the maximum of `seconds` over all ranks. Collective: every rank calls it.
inline double Slowest(double seconds)
{
  return Ranks().Max({seconds})[0];
}

/// Waits for all ranks. Collective: every rank calls it.
inline void Synchronize()
{
  Ranks().AllGather(std::vector<int>{});
}

}  // namespace patchio::bench
