#include "Read/ValuesOfInterest.h"

#include "Base/Error.h"
#include "Plan/Interest.h"

#include <algorithm>

namespace patchio {

std::vector<bool> ValuesOfInterest::PatchesWith(
    const RankAgreement& ranks, const Catalog& catalog, const std::string& variable, const ValueRange& wanted)
{
  const int number = catalog.FindVariable(variable);
  if (number < 0) {
    throw Error(
        "Select a scalar array of the data as Value Array, or turn off Skip By Value. The data have no array "
        "'" +
        variable + "'.");
  }
  const std::vector<ValueRange>& ranges = this->RangesOf(ranks, catalog, number);
  return ranges.empty() ? std::vector<bool>() : PatchesWithValues(catalog, ranges, wanted);
}

const std::vector<ValueRange>& ValuesOfInterest::RangesOf(
    const RankAgreement& ranks, const Catalog& catalog, int variable)
{
  const std::string key =
      std::to_string(variable) + " " + std::to_string(catalog.StepInFile) + " " + catalog.Path;
  const auto known = std::find_if(
      this->Known.begin(), this->Known.end(), [&key](const RangesOfStep& step) { return step.Key == key; });
  if (known != this->Known.end()) {
    return known->Ranges;
  }
  this->Known.push_front({key, ranks.ReadRanges(catalog, variable)});
  this->Known.resize(std::min(this->Known.size(), MostKnown));
  return this->Known.front().Ranges;
}

}  // namespace patchio
