// The rules that make reads fail or stall.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace patchio::emulator {

enum class FaultKind
{
  Eio,   ///< reads fail with EIO
  Stall  ///< reads take `Seconds` longer
};

struct FaultRule
{
  std::string Pattern;  ///< shell pattern for the path below the mount or for its last part; * matches / too
  FaultKind Kind = FaultKind::Eio;
  std::uint64_t After = 0;  ///< number of matching reads that succeed first
  double Seconds = 1;       ///< duration of a stall, >= 0
};

/// The fault of one read, if any.
struct FaultOutcome
{
  bool Fails = false;       ///< the read fails with EIO
  double StallSeconds = 0;  ///< seconds before the read is served
};

/// The rules, and the number of reads that each has matched. Thread-safe.
class Faults
{
public:
  /// Adds a rule. Throws patchio::Error if a number of the rule is out of its range.
  void Add(const FaultRule& rule);
  /// Removes the rules with exactly this pattern, or all rules for "*".
  void Remove(const std::string& pattern);

  FaultOutcome OnRead(const std::string& path);

private:
  struct ActiveRule
  {
    FaultRule Rule;
    std::uint64_t Seen = 0;
  };

  std::mutex Mutex;
  std::vector<ActiveRule> Active;
};

}  // namespace patchio::emulator
