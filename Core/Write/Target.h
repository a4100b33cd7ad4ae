// Targets: the files to which the steps of a channel are written.
#pragma once

#include "Base/Communicator.h"
#include "Write/Declaration.h"
#include "Write/OutputConfig.h"
#include "Write/StepWriter.h"

#include <memory>
#include <vector>

namespace patchio::output {

/// A step that is prepared for its target.
class PendingStep
{
public:
  virtual ~PendingStep() = default;
  /// Writes this rank's values, `threads` requests at a time. Collective: every writing rank calls it. After
  /// it has returned, the step survives a crash, and readers see it. Throws Error, the same on all ranks; the
  /// target is then as before.
  virtual void Write(const std::vector<container::PatchValues>& mine, int threads) = 0;
};

class PartialTarget;

class Target
{
public:
  virtual ~Target() = default;
  /// Prepares a step, including all HDF5 calls. Call it on the simulation's thread: the library is not
  /// thread-safe and the simulation may use it, too. Steps are written in the order in which they were
  /// prepared. Not collective, but all ranks do it. Throws Error.
  virtual std::unique_ptr<PendingStep> Prepare(container::StepToWrite step) = 0;
  /// Writes the steps that the target has gathered, `threads` requests at a time. Collective: every writing
  /// rank calls it. Throws Error, the same on all ranks.
  virtual void Flush(int /*threads*/) {}
  /// Tells the target that a step of its channel is lost. Formats without step numbers leave room for the
  /// step, or refuse later steps. Not collective, but all ranks call it, in the order of the writes.
  virtual void Lose(std::int64_t /*step*/) {}
  /// This target as a PartialTarget, or null if it takes whole patches.
  virtual PartialTarget* AsPartialTarget() { return nullptr; }
};

/// A simulation's array: a variable on a patch, with its ghosts.
struct GivenArray
{
  int Patch = 0;     ///< in the catalog
  int Variable = 0;  ///< index among the variables of the step
  const void* Values = nullptr;
  Int3 Ghosts{};  ///< layers around the patch
};

/// A target that copies the parts it needs from the simulation's arrays, so that whole patches are not
/// copied.
class PartialTarget : public Target
{
public:
  PartialTarget* AsPartialTarget() override { return this; }
  /// Returns the bytes that the target keeps of a step with `variables` variables on this rank.
  virtual std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables) = 0;
  /// Replaces Prepare(step): the values are those of `mine`, and PendingStep::Write() gets no values.
  /// `fault`: reason why this rank has no values; empty: it has them. Faults of one rank alone must not be
  /// thrown here; the other ranks are told of them by PendingStep::Write(). Throws Error, the same on all
  /// ranks.
  virtual std::unique_ptr<PendingStep> Prepare(const container::StepToWrite& step,
      const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine,
      const std::string& fault) = 0;

private:
  std::unique_ptr<PendingStep> Prepare(container::StepToWrite) final { return nullptr; }
};

/// Makes the target of a channel; writes nothing and waits for no rank. `ranks`: the writing ranks. Both
/// arguments must outlive the target.
std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel);

/// Returns the number of writes in flight on each of `ranks` ranks.
int ThreadsFor(const OutputConfig& config, const Channel& channel, int ranks);

/// Makes a target for TargetFormat::Grads; see MakeTarget().
std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel);
/// Makes a target for TargetFormat::Kwave; see MakeTarget(). It gathers steps; see Channel::StepsAtOnce.
std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel);

}  // namespace patchio::output
