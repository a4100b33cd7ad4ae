// Functions that the targets grads and kwave share. Each run makes their files of 32-bit floats anew.
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

/// Copies `count` values of type `type` to `to`, converted to float. `first`: index of the first value in
/// `from`.
void CopyFloats(ElementType type, const void* from, std::size_t first, std::int64_t count, float* to);

/// Prepares the path of a new file: makes its folder and, if `overwrite` is true, removes an existing file
/// `path`. Throws Error if `path` exists and `overwrite` is false. Also throws Error if `path` is not a file
/// of an earlier run: a link, a folder, or a file that is not empty and for which isReplaceable() returns
/// false. `kind`: phrase for the new file, such as "a k-Wave file".
void PreparePath(const std::string& path, bool overwrite, const std::string& kind,
    const std::function<bool()>& isReplaceable);

/// Checks the steps of a file without step numbers whose header describes the variables and the grid of all
/// steps. All steps must have the same variables and grid, and increasing numbers.
class UniformSteps
{
public:
  explicit UniformSteps(const std::string& path) : Path(path) {}

  /// Throws Error if the step differs from the first step of the file, or does not follow the last one.
  void Check(const Catalog& step) const;
  /// Records that the step is now the last one of the file.
  void Add(const Catalog& step);
  bool IsEmpty() const { return this->Last < 0; }

private:
  const std::string Path;
  std::vector<std::string> First;  ///< description of the first step
  std::int64_t Last = -1;
};

/// The numbers of the steps that are missing in a file. These steps did not reach the target, or an error
/// prevented their writes. The simulation may write such a step again.
class LostSteps
{
public:
  /// Adds a lost step. Ignores a step before the last written step, because the file has no room for that
  /// step.
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
