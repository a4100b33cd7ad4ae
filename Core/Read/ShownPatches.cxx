#include "Read/ShownPatches.h"

#include "Plan/Grids.h"
#include "Plan/Interest.h"

#include <algorithm>

namespace patchio {

ShownPatches::ShownPatches(const Catalog& catalog, const StepOptions& options)
    : Data(&catalog),
      FirstLevel(options.FirstLevel),
      LastLevel(options.LastLevel),
      Grids(options.Grids),
      Near(PatchesNear(catalog, options.Region)),
      WithValues(options.WithValues)
{
  for (const Patch& patch : catalog.Patches) {
    this->Shown.push_back(patch.Level >= options.FirstLevel && patch.Level <= options.LastLevel);
  }
}

void ShownPatches::LeaveOutGrids(const std::vector<int>& variables)
{
  const std::vector<bool> leftOut =
      LevelsLeftOut(*this->Data, this->FirstLevel, this->LastLevel, variables, this->Grids);
  for (std::size_t p = 0; p < this->Shown.size(); ++p) {
    this->Shown[p] = this->Shown[p] && !leftOut[this->Data->Patches[p].Level];
  }
}

bool ShownPatches::LeaveOutBroken(const std::vector<int>& patches)
{
  const std::size_t before = this->BrokenCount;
  for (const int patch : patches) {
    this->BrokenCount += this->Shown[patch] ? 1 : 0;
    this->Shown[patch] = false;
  }
  return this->BrokenCount > before;
}

std::vector<bool> ShownPatches::ToRead() const
{
  std::vector<bool> both = this->InRegion();
  for (std::size_t p = 0; p < this->WithValues.size(); ++p) {
    both[p] = both[p] && this->WithValues[p];
  }
  return both;
}

std::vector<bool> ShownPatches::InRegion() const
{
  std::vector<bool> both = this->Shown;
  for (std::size_t p = 0; p < both.size(); ++p) {
    both[p] = both[p] && this->Near[p];
  }
  return both;
}

std::string ShownPatches::EmptyText() const
{
  const auto any = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), true) != flags.end();
  };
  if (this->Shown.empty() || any(this->ToRead())) {
    return {};
  }
  if (any(this->Shown)) {
    return "Nothing is shown, because no patch touches the Region or has values in Value Range. Widen the "
           "Region or Value Range, or turn off Region or Skip By Value.";
  }
  return "Nothing is shown, because none of the " + std::to_string(this->Data->Levels.size()) +
         " levels of this time step is in Level Range " + std::to_string(this->FirstLevel) + " to " +
         std::to_string(this->LastLevel) + ".";
}

std::string ShownPatches::LeftOutText() const
{
  const auto count = [](const std::vector<bool>& flags) {
    return std::count(flags.begin(), flags.end(), true);
  };
  const auto shown = count(this->Shown), read = count(this->ToRead());
  return shown == read ? std::string()
                       : std::to_string(shown - read) + " of " + std::to_string(shown) +
                             " patches are skipped by Region or Skip By Value";
}

}  // namespace patchio
