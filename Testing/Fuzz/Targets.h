// The fuzz targets. Each target accepts any bytes. If it does not end by itself, PatchIO has a fault.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::fuzz {

struct Target
{
  const char* Name;
  /// Runs the target. Exceptions that it does not catch, and reports of sanitizers, are faults.
  void (*Run)(std::string_view bytes);
  /// Returns valid inputs to begin with.
  std::vector<std::string> (*Seeds)();
};

const std::vector<Target>& AllTargets();

void RunTarget(const Target& target, std::string_view bytes);
/// Returns why the last bytes were rejected, in part or completely; empty if they were accepted.
const std::string& Refusal();

/// Returns the target with this name, or null.
const Target* FindTarget(std::string_view name);

}  // namespace patchio::fuzz
