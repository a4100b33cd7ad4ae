// Parts that the targets grads and kwave share: files of 32-bit floats that a run makes anew.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace patchio::output {

/// Copies `count` values from number `first` on, converted to float.
void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to);

/// Makes the folder of a file that is to be made, and with `overwrite` removes a file of that name. Throws
/// Error if something is there otherwise, or if it is not a file that an earlier run wrote: a link, a folder,
/// or a file that is not empty and for which isReplaceable() is false. `kind` is what the file is to be, such
/// as "a k-Wave file".
void ClearPlace(const std::string& path, bool overwrite, const std::string& kind,
    const std::function<bool()>& isReplaceable);

/// Check of the steps of a file whose header describes the variables and the grid of all steps, and which
/// does not contain step numbers. All steps must have the same variables and grid, and increasing numbers.
class AlikeSteps
{
public:
  explicit AlikeSteps(const std::string& path) : Path(path) {}

  /// Throws Error if the step differs from the first step of the file, or does not come after the last one.
  void Check(const Catalog& step) const;
  /// Makes the step the last one of the file.
  void Add(const Catalog& step);
  bool IsEmpty() const { return this->Last < 0; }

private:
  const std::string Path;
  std::vector<std::string> First;  ///< description of the first step
  std::int64_t Last = -1;
};

/// Numbers of steps that are missing in a file: lost before they reached its target, or not written because
/// of an error. The simulation may write such a step again.
class LostSteps
{
public:
  /// Adds a lost step. A step before the last written one is ignored: the file has no place for it.
  void Add(std::int64_t step)
  {
    if (step > this->Last) {
      this->Numbers.insert(step);
    }
  }
  /// Returns the lost steps with smaller numbers than `step`, in ascending order.
  std::vector<std::int64_t> Before(std::int64_t step) const
  {
    return {this->Numbers.begin(), this->Numbers.lower_bound(step)};
  }
  /// Removes `step`, which is written, and the lost steps before it.
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
