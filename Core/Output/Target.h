// What the steps of a channel are written to.
#pragma once

#include "Output/OutputConfig.h"
#include "Support/Communicator.h"
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

class Target
{
public:
  virtual ~Target() = default;
  /// What needs HDF5, of which a simulation may have the only copy: so this is for its own thread. Not
  /// collective, though all ranks do it; steps are written in the order in which they were prepared. Throws
  /// Error.
  virtual std::unique_ptr<StepOnItsWay> Prepare(container::StepToWrite step) = 0;
};

/// Nothing is written yet, and no rank waits. ranks: those that write. Both arguments must outlive the
/// target.
std::unique_ptr<Target> MakeTarget(Communicator& ranks, const Channel& channel);

/// One of those that MakeTarget() makes: see TargetFormat::Grads.
std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel);

}  // namespace patchio::output
