// What is fuzzed: each target takes any bytes. It ends by itself, or PatchIO has a fault.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::fuzz {

struct Target
{
  const char* Name;
  /// A fault is any exception, but for those that this catches; and what a sanitizer finds.
  void (*Run)(std::string_view bytes);
  /// Sound inputs to begin with.
  std::vector<std::string> (*Seeds)();
};

const std::vector<Target>& AllTargets();

void RunTarget(const Target& target, std::string_view bytes);
/// Why the bytes that a target took last were refused, in part or whole; empty: they were not.
const std::string& Refusal();

/// Null when there is none of that name.
const Target* FindTarget(std::string_view name);

}  // namespace patchio::fuzz
