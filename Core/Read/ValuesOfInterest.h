// Which patches of a step are worth reading for certain values of a variable.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/ValueRange.h"
#include "Read/RankAgreement.h"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace patchio {

/// What the files say of the variables that were asked for last is kept: of a step that is shown, and of
/// those that are read ahead.
class ValuesOfInterest
{
public:
  /// Collective. One flag per patch, see PatchesWithValues(); empty where the files do not say it. Throws
  /// Error, the same on all ranks, when there is no such variable.
  std::vector<bool> PatchesWith(const RankAgreement& ranks, const Catalog& catalog,
      const std::string& variable, const ValueRange& wanted);
  /// The files may have changed.
  void Forget() { this->Known.clear(); }

private:
  /// Per patch; empty where the files do not say them.
  struct RangesOfStep
  {
    std::string Key;  ///< step and variable
    std::vector<ValueRange> Ranges;
  };
  static constexpr std::size_t MostKnown = 4;

  const std::vector<ValueRange>& RangesOf(const RankAgreement& ranks, const Catalog& catalog, int variable);

  std::deque<RangesOfStep> Known;  ///< the latest first
};

}  // namespace patchio
