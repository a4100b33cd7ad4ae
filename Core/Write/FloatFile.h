// Functions and classes for the files of the formats grads and kwave, which contain 32-bit floats. A run
// cannot add steps to the files of an earlier run.
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

/// Converts `count` values of type `type` to float. `first`: index in `from` of the first value. `to`: memory
/// for the floats.
void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to);

/// Prepares the path of a new file: makes the folder of the file and, if `overwrite` is true, removes an
/// existing file. `description`: phrase in messages for a file of an earlier run, such as "a k-Wave file".
/// `isReplaceable` returns whether the existing file, which is not empty, is a file of an earlier run. Throws
/// Error if `path` exists and `overwrite` is false, or if `path` is a link, a folder, or a file that is not
/// replaceable.
void PreparePath(const std::string& path, bool overwrite, const std::string& description,
    const std::function<bool()>& isReplaceable);

/// Checks the steps of a file that does not contain step numbers and has one description of the variables and
/// the grid. All steps must have increasing numbers, and the same variables and grid.
class UniformSteps
{
public:
  explicit UniformSteps(const std::string& path) : Path(path) {}

  /// Throws Error if the number of the step is not above the number of the last step.
  void CheckNumber(std::int64_t step) const;
  /// Throws Error if the step has other variables or another grid than the first step of the file.
  void CheckDescription(const Catalog& step) const;
  /// Records that `step` is the last step of the file.
  void Add(const Catalog& step);
  bool IsEmpty() const { return this->Last < 0; }

private:
  const std::string Path;
  std::vector<std::string> First;  ///< description of the first step
  std::int64_t Last = -1;
};

/// The numbers of the steps that are missing in a file, because the steps did not reach the target, or
/// because writes failed. The simulation may write a lost step again.
class LostSteps
{
public:
  /// Adds a lost step. Ignores a step up to the last written step, because the file has no space for such a
  /// step.
  void Add(std::int64_t step)
  {
    if (step > this->Last) {
      this->Numbers.insert(step);
    }
  }
  /// Returns the numbers of the lost steps below `step`, in ascending order.
  std::vector<std::int64_t> Before(std::int64_t step) const
  {
    return {this->Numbers.begin(), this->Numbers.lower_bound(step)};
  }
  /// Records that `step` is the last written step. Removes `step` and all lost steps before `step`.
  void MarkWritten(std::int64_t step)
  {
    this->Last = step;
    this->Numbers.erase(this->Numbers.begin(), this->Numbers.upper_bound(step));
  }

private:
  std::set<std::int64_t> Numbers;
  std::int64_t Last = -1;
};

}  // namespace patchio::output
