// What the steps of a channel are written to.
#pragma once

#include "Base/Communicator.h"
#include "Write/Declaration.h"
#include "Write/OutputConfig.h"
#include "Write/StepWriter.h"

#include <memory>
#include <vector>

namespace patchio::output {

/// A step on its way to its target.
class StepOnItsWay
{
public:
  virtual ~StepOnItsWay() = default;
  /// Collective. Writes this rank's values, `threads` at once. When it has returned, the step outlives a
  /// crash and readers see it. Throws Error, the same on all ranks; what is there is as before then.
  virtual void Write(const std::vector<container::PatchValues>& mine, int threads) = 0;
};

class PartsTarget;

class Target
{
public:
  virtual ~Target() = default;
  /// What needs HDF5, of which a simulation may have the only copy: so this is for its own thread. Not
  /// collective, though all ranks do it; steps are written in the order in which they were prepared. Throws
  /// Error.
  virtual std::unique_ptr<StepOnItsWay> Prepare(container::StepToWrite step) = 0;
  /// Collective: writes, `threads` at once, the steps that it has gathered. Throws Error, the same on all
  /// ranks.
  virtual void Flush(int /*threads*/) {}
  /// Tells the target that a step of its channel is lost. Formats without step numbers leave room for the
  /// step, or refuse later steps. Not collective, but all ranks call it, in the order of the writes.
  virtual void Lose(std::int64_t /*step*/) {}
  /// Itself, where it is one.
  virtual PartsTarget* OfParts() { return nullptr; }
};

/// A variable on a patch as the simulation has it, with its ghosts.
struct GivenArray
{
  int Patch = 0;     ///< in the catalog
  int Variable = 0;  ///< of the step
  const void* Values = nullptr;
  Int3 Ghosts{};  ///< layers around the patch
};

/// A target that copies what it needs out of the simulation's arrays, so that nobody copies whole patches.
class PartsTarget : public Target
{
public:
  PartsTarget* OfParts() override { return this; }
  /// Bytes that it keeps of a step with so many variables on this rank.
  virtual std::uint64_t BytesOf(const std::shared_ptr<const Declaration>& what, std::size_t variables) = 0;
  /// In place of Prepare(): the values to write are those of `mine`, and StepOnItsWay::Write() gets none.
  /// fault: why this rank has none; empty: it has. Throws Error, the same on all ranks: what is wrong on this
  /// one alone is for the others to know when they write.
  virtual std::unique_ptr<StepOnItsWay> Prepare(const container::StepToWrite& step,
      const std::shared_ptr<const Declaration>& what, const std::vector<GivenArray>& mine,
      const std::string& fault) = 0;

private:
  std::unique_ptr<StepOnItsWay> Prepare(container::StepToWrite) final { return nullptr; }
};

/// Nothing is written yet, and no rank waits. ranks: those that write. Both arguments must outlive the
/// target.
std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel);

/// Writes in flight of each of so many ranks.
int ThreadsFor(const OutputConfig& config, const Channel& channel, int ranks);

/// One of those that MakeTarget() makes: see TargetFormat::Grads.
std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel);
/// Another: see TargetFormat::Kwave. It gathers steps, see Channel::StepsAtOnce.
std::unique_ptr<Target> MakeKwaveTarget(Communicator& ranks, const Channel& channel);

}  // namespace patchio::output
