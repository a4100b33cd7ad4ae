// A step between the simulation and the targets of its channels.
#pragma once

#include "Base/RunOnAllRanks.h"
#include "Write/ArraysOfStep.h"
#include "Write/Output.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// The variables of a channel, by number. Throws Error where the simulation lacks one.
std::vector<int> VariablesOf(const Channel& channel, const Catalog& data);

/// Must be alike on all ranks.
struct StepHead
{
  std::int64_t Number = 0;
  double Time = 0;
  std::uint64_t Declared = 0;  ///< a checksum of Declaration::Lines()
};

/// What a sink gets of a step.
struct Output::Part
{
  std::size_t Sink = 0;
  std::unique_ptr<StepOnItsWay> To;
  std::vector<container::PatchValues> Mine;
  std::string Fault;  ///< why this rank could not prepare it
};

/// What a call of Write() leaves for those that write.
struct Output::Step
{
  std::int64_t Number = 0;
  double Time = 0;
  std::shared_ptr<const Declaration> What;
  std::vector<std::size_t> Sinks;   ///< that want it
  std::vector<bool> Wanted;         ///< of each variable, by one of them
  std::vector<ArrayOfStep> Arrays;  ///< that there are of this rank, by variable and patch
  bool HasAll = true;               ///< nothing lacks on its patches
  std::string Fault;                ///< why this rank cannot give its values
  std::unique_ptr<std::byte[]> Copies;
  std::uint64_t BytesOfParts = 0;  ///< that sinks copy by themselves

  std::vector<Part> Parts;

  /// Bytes of the arrays that CopyArrays() copies: all of them, or those that have ghosts.
  std::uint64_t BytesToCopy(bool all) const;
  /// From now on the simulation's arrays are not needed any more, if `all`.
  void CopyArrays(bool all);
  /// Unless there was a fault before; keeps what it throws.
  void TryTo(const std::function<void()>& work)
  {
    this->Fault = this->Fault.empty() ? CatchError(work) : this->Fault;
  }
  StepHead Head() const;
  /// Copies all arrays one after another.
  void Pack(std::byte* to) const;
};

}  // namespace patchio::output
