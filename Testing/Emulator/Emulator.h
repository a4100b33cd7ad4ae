// The emulated storage: how it behaves now, what it has counted, and the commands that change it.
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
  double MetadataLatency = 0.002;  ///< seconds of every metadata request, >= 0
  bool Cached = false;             ///< the kernel may keep what was read
  bool MetadataCache = true;       ///< the kernel may keep names and attributes
  bool SlowWrites = false;         ///< writes are served like reads; otherwise they take no time of their own
  std::vector<std::pair<double, int>> LoadPlan;  ///< seconds from the start, NC
  std::uint64_t Seed = 1;                        ///< of the faults
};

/// "0:0,10:32" -> NC is 0 at once and 32 ten seconds later. Throws patchio::Error.
std::vector<std::pair<double, int>> ParseLoadPlan(const std::string& text);

/// Safe to use from many threads. `path` is the path below the mount, without a slash in front.
class Emulator
{
public:
  explicit Emulator(const Settings& settings);

  // What a file system asks. The first two tell what goes wrong, after the time that a stall takes.
  FaultOutcome OpenFile(const std::string& path);
  FaultOutcome PrepareRead(const std::string& path);
  /// A read of so many bytes; when it returns from its Await, they are read.
  Gate::Request Read(std::size_t bytes);
  void Written(std::size_t bytes);
  void Metadata();

  /// A line as README.md lists them: "reset", "load 32", "fault '*.h5' eio --after 3", ... Throws
  /// patchio::Error, whose text the report shows until the next command.
  void Command(const std::string& line);

  /// Counters and settings as JSON.
  std::string Report();

  /// Nobody waits any more; for the end.
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
