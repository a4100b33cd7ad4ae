// Targets: the files of a channel, to which its steps are written.
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

/// Writes a step that is prepared for its target, with this rank's values, `threads` requests at a time.
/// Collective: every writing rank calls it. Afterwards the step survives a crash, and readers see the step.
/// Only containers take values in several parts; see HeldValues::Next. Throws Error, the same on all ranks;
/// the target is then unchanged.
using PendingStep = std::function<void(container::HeldValues values, int threads)>;

/// A simulation's array: a variable on a patch, with its ghosts.
struct GivenArray
{
  int Patch = 0;     ///< index in the catalog
  int Variable = 0;  ///< index among the variables of the step
  const void* Values = nullptr;
  Int3 Ghosts{};  ///< layers around the patch
};

/// A simulation's arrays of a step, for targets that copy the parts that they need.
struct GivenArrays
{
  std::shared_ptr<const Declaration> What{};
  std::vector<GivenArray> Arrays{};
  std::string Fault{};  ///< reason why this rank has no values; empty: it has values
};

/// The files of one channel, in one format.
class Target
{
public:
  virtual ~Target() = default;
  /// Prepares a step, including all HDF5 calls. Call this method on the simulation's thread: the library is
  /// not thread-safe and the simulation may use it, too. The order of the writes is that of the calls of
  /// Prepare(). `given`: arrays for targets that take parts. A target that takes parts must not throw a fault
  /// of one rank alone; the PendingStep of the target informs the other ranks of the fault. Throws Error. Not
  /// collective, but all ranks must call it.
  virtual PendingStep Prepare(container::StepToWrite step, const GivenArrays& given) = 0;
  /// Writes the steps that the target has gathered, `threads` requests at a time. Throws Error, the same on
  /// all ranks. Collective: every writing rank calls it.
  virtual void Flush(int /*threads*/) {}
  /// Informs the target that a step of its channel is lost. Formats without step numbers leave room for the
  /// step, or throw Error for later steps. Not collective, but all ranks must call it, in the order of the
  /// writes.
  virtual void Lose(std::int64_t /*step*/) {}

  /// Returns whether the target copies only the needed parts of the simulation's arrays, so that the caller
  /// need not copy whole patches. The PendingStep then gets no values.
  virtual bool TakesParts() const { return false; }
  /// Returns the bytes that a target that takes parts keeps of a step with `variables` variables on this
  /// rank.
  virtual std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& /*what*/, std::size_t /*variables*/)
  {
    return 0;
  }
};

/// Makes the target of a channel, without a write or a wait for other ranks. `ranks`: the writing ranks.
/// `ranks` and `channel` must outlive the target.
std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel);

/// Returns the number of writes in flight on each of `ranks` ranks.
int ThreadsFor(const OutputConfig& config, const Channel& channel, int ranks);

/// Makes a target for TargetFormat::Grads; see MakeTarget().
std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel);
/// Makes a target for TargetFormat::Kwave; see MakeTarget(). The target gathers steps; see
/// Channel::StepsAtOnce.
std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel);

}  // namespace patchio::output
