// Which requests go wrong, and how.
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
  Short,  ///< for reads the file ends after `Bytes` bytes; its attributes still tell the whole length
  Stall   ///< reads take `Seconds` longer
};

struct FaultRule
{
  std::string Pattern;  ///< shell pattern for the path below the mount or for its last part; * matches / too
  FaultKind Kind = FaultKind::Eio;
  std::uint64_t After = 0;  ///< so many requests that match pass unharmed first
  double Probability = 1;   ///< of each request after those, 0..1, drawn in order from the seed
  double Seconds = 1;       ///< of a stall, >= 0
  std::uint64_t Bytes = 0;  ///< that a short file has
};

/// What happens to one request.
struct FaultOutcome
{
  bool Fails = false;              ///< with EIO
  double StallSeconds = 0;         ///< before it is served
  std::uint64_t End = UINT64_MAX;  ///< bytes from here on are not there
  bool Faulty() const { return this->Fails || this->StallSeconds > 0 || this->End != UINT64_MAX; }
};

/// Safe to use from many threads.
class Faults
{
public:
  explicit Faults(std::uint64_t seed) : Seed(seed) {}

  /// Throws patchio::Error where a number of the rule is out of its range.
  void Add(const FaultRule& rule);
  /// Takes out the rules with this very pattern and returns how many there were; all of them for "*".
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
