// The steps that were opened last, so that going back to one costs nothing.
#pragma once

#include "Session/OpenedStep.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace patchio {

class OpenedSteps
{
public:
  /// Most steps that are kept, and about how much memory those before the latest may take.
  static constexpr std::size_t MostSteps = 64;
  static constexpr std::uint64_t MostBytes = std::uint64_t(64) << 20;

  /// Collective: the step that was opened before under this path, unless its describing file has changed
  /// since; else opens it, see OpenedStep. Throws Error like that, the same on all ranks.
  std::shared_ptr<OpenedStep> Open(Communicator& comm, const std::string& path, ChannelMode mode);
  void Clear() { this->Steps.clear(); }

private:
  struct Entry
  {
    std::string Path;
    std::shared_ptr<OpenedStep> Step;
  };

  void Trim();

  std::deque<Entry> Steps;  ///< the latest first; the same on all ranks
};

}  // namespace patchio
