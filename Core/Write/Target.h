// Targets, which write the steps of a channel to files of one format.
#pragma once

#include "Base/Communicator.h"
#include "Write/Declaration.h"
#include "Write/OutputConfig.h"
#include "Write/StepWriter.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A function that writes a prepared step. `values`: this rank's values; only containers support
/// HeldValues::Next. `threads`: number of concurrent requests. When the function returns, the step is on the
/// storage, and readers see the step, unless the target gathers steps; see Target::Flush(). Throws Error, the
/// same on all ranks, if the step is lost. Collective: every writing rank calls it.
using PendingStep = std::function<void(container::HeldValues values, int threads)>;

/// A simulation's array: the values of a variable on a patch, with ghosts.
struct SimulationArray
{
  int Patch = 0;     ///< index in the catalog
  int Variable = 0;  ///< index among the variables of the step
  const void* Values = nullptr;
  Int3 Ghosts{};  ///< ghost layers around the patch, by axis
};

/// The simulation's arrays of a step on this rank, for targets that copy parts of the arrays; see
/// Target::CopiesParts().
struct SimulationArrays
{
  std::shared_ptr<const Declaration> Declared{};
  std::vector<SimulationArray> Arrays{};
  std::string Fault{};  ///< reason why this rank cannot provide values; empty: no fault
};

/// Writes the steps of one channel to files of one format.
class Target
{
public:
  virtual ~Target() = default;
  /// Prepares a step: makes all HDF5 calls of the write, except the calls for compressed values. Call this
  /// method on the simulation's thread: the HDF5 library is not thread-safe, and the simulation may use it.
  /// Steps must be written in the order of the calls of Prepare(). `source`: arrays for a target that copies
  /// parts. That target throws Error only if the step number is not above the last step number; this rank
  /// then must not take part in the write. The PendingStep informs the other ranks of all other faults. Other
  /// targets may throw Error if they cannot write the step. Not collective, but all ranks must call it.
  virtual PendingStep Prepare(container::StepToWrite step, const SimulationArrays& source) = 0;
  /// Writes the steps that the target has gathered. Throws Error, the same on all ranks. Collective: every
  /// writing rank calls it.
  virtual void Flush() {}
  /// Informs the target that a step is lost. Files without step numbers either contain undefined values for
  /// the step, or accept no later steps. Not collective, but all ranks must call it, in the order of the
  /// writes.
  virtual void MarkLost(std::int64_t /*step*/) {}

  /// Returns whether Prepare() copies the needed parts of the simulation's arrays, so that the caller need
  /// not copy whole arrays. The PendingStep then needs no values.
  virtual bool CopiesParts() const { return false; }
  /// Returns the largest number of bytes that a target that copies parts keeps for one step on this rank; 0
  /// for other targets. `variables`: number of variables of the channel.
  virtual std::uint64_t BytesOf(
      const std::shared_ptr<const Declaration>& /*declared*/, std::size_t /*variables*/)
  {
    return 0;
  }
};

/// Makes the target of a channel. `ranks`: the writing ranks. `ranks` and `channel` must outlive the target.
/// Does not write files. Not collective.
std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel);

/// Returns the number of threads that each of `rankCount` ranks writes with: from the configuration, or else
/// from the storage profile of the channel's path, or else 4.
int ThreadsFor(const OutputConfig& config, const Channel& channel, int rankCount);

/// Makes a target for TargetFormat::Grads; see MakeTarget().
std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel);
/// Makes a target for TargetFormat::Kwave; see MakeTarget(). The target may gather several steps before a
/// write; see Channel::StepsAtOnce.
std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel);

}  // namespace patchio::output
