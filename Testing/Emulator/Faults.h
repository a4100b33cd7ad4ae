// The rules that make requests fail or stall.
#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace patchio::emulator {

enum class FaultKind
{
  Eio,    ///< reads fail with EIO
  Open,   ///< opening fails with EIO
  Short,  ///< for reads, the file ends after `Bytes` bytes; its attributes still have the full length
  Stall   ///< reads take `Seconds` longer
};

struct FaultRule
{
  std::string Pattern;  ///< shell pattern for the path below the mount or for its last part; * matches / too
  FaultKind Kind = FaultKind::Eio;
  std::uint64_t After = 0;  ///< number of matching requests that succeed first
  double Probability = 1;   ///< of a fault for each later request, 0..1, drawn in order
  double Seconds = 1;       ///< duration of a stall, >= 0
  std::uint64_t Bytes = 0;  ///< length of a short file
};

/// The fault of one request, if any.
struct FaultOutcome
{
  bool Fails = false;              ///< the request fails with EIO
  double StallSeconds = 0;         ///< seconds before the request is served
  std::uint64_t End = UINT64_MAX;  ///< offset at which the file ends
  bool Faulty() const { return this->Fails || this->StallSeconds > 0 || this->End != UINT64_MAX; }
};

/// The rules, and the number of requests that each has matched. Thread-safe.
class Faults
{
public:
  explicit Faults(std::uint64_t seed) : Seed(seed) {}

  /// Adds a rule. Throws patchio::Error if a number of the rule is out of its range.
  void Add(const FaultRule& rule);
  /// Removes the rules with exactly this pattern, or all rules for "*". Returns the number of removed rules.
  int Remove(const std::string& pattern);

  FaultOutcome OnOpen(const std::string& path) { return this->Judge(path, true); }
  FaultOutcome OnRead(const std::string& path) { return this->Judge(path, false); }

  std::vector<FaultRule> Rules();

private:
  struct ActiveRule
  {
    FaultRule Rule;
    std::mt19937_64 Random;
    std::uint64_t Seen = 0;
  };

  FaultOutcome Judge(const std::string& path, bool opening);

  const std::uint64_t Seed;
  std::mutex Mutex;
  std::vector<ActiveRule> Active;
};

}  // namespace patchio::emulator
