// The subcommands of patchio_bench_at_scale. Each passes one JSON object to `answer`.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "../../Emulator/Model.h"

#include <functional>

namespace patchio::atscale {

using Answer = std::function<void(const nlohmann::json&)>;

/// Adds the parameters of a simulated storage to a subcommand.
void AddStorage(CLI::App& command, emulator::Model& storage);

void AddReading(CLI::App& program, const Answer& answer);   ///< read, queue
void AddWriting(CLI::App& program, const Answer& answer);   ///< write
void AddPlanning(CLI::App& program, const Answer& answer);  ///< plan
void AddAgreeing(CLI::App& program, const Answer& answer);  ///< agree

}  // namespace patchio::atscale
