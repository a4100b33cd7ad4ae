// The emulated storage: its settings, its counters and its commands.
#pragma once

#include "Faults.h"
#include "Gate.h"

#include <atomic>
#include <string>
#include <vector>

namespace patchio::emulator {

struct Settings
{
  Model Storage;
  double MetadataLatency = 0.002;  ///< seconds of each metadata request, >= 0
  bool Cached = false;             ///< the kernel may cache data
  bool MetadataCache = true;       ///< the kernel may cache names and attributes
  bool SlowWrites = false;         ///< writes are served like reads; otherwise they take no time of their own
  std::vector<std::pair<double, int>> LoadPlan;  ///< pairs of seconds from the start and NC
  std::uint64_t Seed = 1;                        ///< seed of the faults' random numbers
};

/// Returns pairs of seconds and NC. With "0:0,10:32", NC is 0 at first, and 32 after ten seconds. Throws
/// patchio::Error.
std::vector<std::pair<double, int>> ParseLoadPlan(const std::string& text);

/// The emulated storage. Thread-safe. All parameters `path` are paths below the mount, without a leading
/// slash.
class Emulator
{
public:
  explicit Emulator(const Settings& settings);

  // The calls of the file system. The first two wait for a stall, if there is one, and return the fault of
  // the request.
  FaultOutcome OpenFile(const std::string& path);
  FaultOutcome PrepareRead(const std::string& path);
  /// Begins a read of `bytes` bytes. The read is complete when Await() of the result returns.
  Gate::Request Read(std::size_t bytes);
  void Written(std::size_t bytes);
  void Metadata();

  /// Executes a command of README.md: "reset", "load 32", "fault '*.h5' eio --after 3", ... Throws
  /// patchio::Error; the report shows its text until the next command.
  void Command(const std::string& line);

  /// Returns counters and settings as JSON.
  std::string Report();

  /// Ends all waits, now and later. Called when the program ends.
  void Stop() { this->Storage.Stop(); }

  const Settings& How() const { return this->Behaviour; }

private:
  void Execute(const std::string& line);
  void Reset();
  void SetNumber(const std::string& name, double value);

  const Settings Behaviour;
  Gate Storage;
  Faults Broken;
  std::atomic<double> MetadataLatency;
  std::atomic<std::uint64_t> Reads{0};
  std::atomic<std::uint64_t> ReadBytes{0};
  std::atomic<std::uint64_t> Writes{0};
  std::atomic<std::uint64_t> WrittenBytes{0};
  std::atomic<std::uint64_t> Opens{0};
  std::atomic<std::uint64_t> MetadataRequests{0};
  std::atomic<std::uint64_t> FaultsGiven{0};
  std::mutex Commanding;
  std::string LastError;
};

}  // namespace patchio::emulator
