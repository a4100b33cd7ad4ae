// One time step from any format into a container, by all ranks together and with bounded memory.
#pragma once

#include "Convert/SelectedStep.h"
#include "Write/ContainerWriter.h"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace patchio::tools {

struct ConversionResult
{
  std::uint64_t Patches = 0, Arrays = 0, Bytes = 0;  ///< of all ranks
  container::StepRecord Record;                      ///< of what ConvertStep() has written; on rank 0
  std::uint64_t FileBytes = 0;                       ///< of its files; on rank 0
};

/// A variable of a container in words: name, centering, components, type of its values.
using VariablesInWords = std::set<std::string>;
VariablesInWords WordsOf(const std::vector<Variable>& variables, const std::vector<ElementType>& types);
/// Collective. Those that ConvertStep() would write. Throws Error, the same on all ranks.
VariablesInWords VariablesToWrite(
    Communicator& ranks, const OpenedStep& from, const ConversionOptions& options);

/// Patches, Arrays and Bytes.
ConversionResult ResultOf(const SelectedStep& step);

/// Collective. Layers of ghosts are left behind. progress: told on each rank what part of its values is done.
/// Throws Error, the same on all ranks.
ConversionResult ConvertStep(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    container::ContainerWriter& into, const std::function<void(double)>& progress);

}  // namespace patchio::tools
