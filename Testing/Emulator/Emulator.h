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
  int Load = 0;                    ///< NC
};

/// The emulated storage. Thread-safe. All parameters `path` are paths below the mount, without a leading
/// slash.
class Emulator
{
public:
  explicit Emulator(const Settings& settings);

  /// Begins a request to open a file.
  void OpenFile();
  /// Waits for a stall, if there is one. Returns whether the read fails.
  bool PrepareRead(const std::string& path);
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
  void SetLoad(int load);
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
