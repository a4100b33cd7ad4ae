// Files of floats that a run makes anew: what the targets grads and kwave have in common.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace patchio::output {

/// Values from the number `first` on, as floats.
void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to);

/// Makes the folder of a file that is to be made, and removes one of that name where that is wanted. Throws
/// Error where there is one otherwise.
void ClearPlace(const std::string& path, bool overwrite);

/// The steps of a file that says once for all of them which variables and cells they have, and where the grid
/// is, and that does not have their numbers: so all steps are alike, and come in the order of their numbers.
class AlikeSteps
{
public:
  explicit AlikeSteps(const std::string& path) : Path(path) {}

  /// Throws Error where the step is unlike the first one, or does not come after the last one.
  void Check(const Catalog& step) const;
  void Add(const Catalog& step);
  bool IsEmpty() const { return this->Last < 0; }

private:
  const std::string Path;
  std::vector<std::string> First;  ///< the first step in words
  std::int64_t Last = -1;
};

/// Numbers of steps that a file should have and does not, because they were lost before they came to it, or
/// could not be written. A step that is given once more is no longer lost.
class LostSteps
{
public:
  /// Steps that do not come after the last one that is there are not missed.
  void Add(std::int64_t step)
  {
    if (step > this->Last) {
      this->Numbers.insert(step);
    }
  }
  std::vector<std::int64_t> Before(std::int64_t step) const
  {
    return {this->Numbers.begin(), this->Numbers.lower_bound(step)};
  }
  /// This step is there: forgets it and those before.
  void Forget(std::int64_t step)
  {
    this->Last = step;
    this->Numbers.erase(this->Numbers.begin(), this->Numbers.upper_bound(step));
  }

private:
  std::set<std::int64_t> Numbers;
  std::int64_t Last = -1;
};

}  // namespace patchio::output
