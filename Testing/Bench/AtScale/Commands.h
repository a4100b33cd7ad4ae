// The subcommands of patchio_bench_at_scale. Each passes one JSON object to `answer`.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>

namespace patchio::atscale {

using Answer = std::function<void(const nlohmann::json&)>;

void AddReading(CLI::App& program, const Answer& answer);   ///< read, queue
void AddWriting(CLI::App& program, const Answer& answer);   ///< write
void AddPlanning(CLI::App& program, const Answer& answer);  ///< plan
void AddAgreeing(CLI::App& program, const Answer& answer);  ///< agree

}  // namespace patchio::atscale
