// What a study measures, and what that needs.
#pragma once

#include "Probe/Measure.h"
#include "Probe/Result.h"
#include "Probe/Settings.h"
#include "Support/Communicator.h"

#include <cstdint>
#include <vector>

namespace patchio::probe {

/// Size of the file that shows whether files leave this machine's memory.
constexpr std::uint64_t CacheCheckBytes = 64u << 20;

/// A point and what is needed to measure it.
struct Planned
{
  PointKey Key;
  Function What;
};

/// The same on all ranks.
class StudyPlan
{
public:
  /// Throws Error where the settings make no sense, or leave nothing to measure. Keeps references.
  StudyPlan(const Settings& settings, const Communicator& ranks);

  const Choice& Wanted() const { return this->Chosen; }
  const std::vector<Planned>& Points() const { return this->All; }
  /// This rank's part of a file of about `size` bytes.
  Layout LayoutOf(View view, std::uint64_t size) const;
  /// Bytes of all test files.
  std::uint64_t BytesOfFiles() const;
  /// Bytes of memory that a rank needs at once.
  double MostMemory() const;

private:
  void Consider(const Function& function, View view, std::uint64_t size, std::uint64_t block);

  const Settings& How;
  const Communicator& Ranks;
  Choice Chosen;
  std::vector<Planned> All;
};

}  // namespace patchio::probe
