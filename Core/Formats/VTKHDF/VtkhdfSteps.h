// The group VTKHDF/Steps of files with several time steps: their times, and where the values of each begin.
#pragma once

#include "Formats/VTKHDF/VtkhdfAccess.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

/// The steps of a file. A file without the group has one step, at which everything begins at 0.
class StepsGroup
{
public:
  /// Keeps a reference. Throws Error when the group is damaged.
  explicit StepsGroup(const Access& file);

  bool IsThere() const { return this->There; }
  std::size_t Count() const { return this->Steps; }
  const std::vector<double>& Times() const { return this->Values; }

  /// Steps x columns numbers of a list of the group. Throws Error when it is not there or short.
  std::vector<std::int64_t> List(const std::string& name, std::uint64_t columns = 1) const;
  /// The same, or nothing where it is not there.
  std::optional<std::vector<std::int64_t>> MaybeList(const std::string& name) const;

private:
  const Access& File;
  bool There = false;
  std::size_t Steps = 1;
  std::vector<double> Values;
};

}  // namespace patchio::vtkhdf
