// Output of steps that catalogs describe, as ParaView has them, to the channels of a configuration.
#pragma once

#include "Base/Communicator.h"
#include "Write/OutputConfig.h"
#include "Write/Target.h"
#include "Write/WritingThread.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A rank's values of a step, and the owner of their memory.
struct HeldValues
{
  std::vector<container::PatchValues> Mine;
  std::shared_ptr<const void> Holder;
};

/// Writes the formats that need no declarations by a simulation: containers and GrADS files, in the modes
/// `direct` and `thread`. In the mode `thread`, a thread of each rank writes, without MPI. One thread must
/// call all methods.
class CatalogOutput
{
public:
  /// Collective: every rank calls it. `ranks` must outlive this object. Throws Error, the same on all ranks.
  CatalogOutput(OutputConfig config, Communicator& ranks);
  ~CatalogOutput();
  CatalogOutput(const CatalogOutput&) = delete;
  CatalogOutput& operator=(const CatalogOutput&) = delete;

  const std::vector<Channel>& Channels() const { return this->Config.Channels; }

  /// Writes a step to a channel. Collective: every rank calls it. `bytes`: size of this rank's values. `take`
  /// returns the values; with `copies` it must copy them, otherwise they must stay valid until Write()
  /// returns. Throws Error, the same on all ranks, for faults of this step and of earlier steps that were not
  /// thrown yet. A fault of an earlier step does not prevent the writing of this one.
  void Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
      const std::function<HeldValues(bool copies)>& take);
  /// Returns when all steps are on the storage. Collective: every rank calls it. Throws like Write().
  void Finish();
  /// Does the same for this rank alone, without MPI, which may have been finalized. Returns the text that
  /// Write() would throw.
  std::string FinishHere();

  /// Waits until this process has tried to write all its steps in the folder or file. Call it before reading
  /// there. `path`: the folder or file, or a file in the folder.
  static void Await(const std::string& path);

private:
  struct Sink
  {
    std::unique_ptr<Target> To;
    int Threads = 1;
  };

  void ThrowFaults();

  const OutputConfig Config;
  Communicator& Ranks;
  std::unique_ptr<Communicator> Aside;  ///< for writing threads; null: the caller's thread writes
  std::vector<Sink> Sinks;              ///< one per channel
  WritingThread Writer;
};

}  // namespace patchio::output
