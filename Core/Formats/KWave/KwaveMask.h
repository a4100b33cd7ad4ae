// Where the sensor is: in the file itself, or in an input file beside it.
#pragma once

#include "Formats/KWave/KwaveFile.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace patchio::kwave {

enum class MaskType
{
  Index = 0,   ///< a list of grid points
  Corners = 1  ///< cuboids
};

struct Cuboid
{
  std::array<std::int64_t, 3> Lower{}, Upper{};  ///< from 1, both included

  std::int64_t Width(int axis) const { return this->Upper[axis] - this->Lower[axis] + 1; }
  bool operator==(const Cuboid& other) const
  {
    return this->Lower == other.Lower && this->Upper == other.Upper;
  }
};

inline std::array<std::int64_t, 3> ExtentsOf(const Cuboid& cuboid)
{
  return {cuboid.Width(0), cuboid.Width(1), cuboid.Width(2)};
}

/// What a mask must be to fit results.
struct MaskNeeds
{
  MaskType Type = MaskType::Index;
  std::array<std::int64_t, 3> Dims{};  ///< grid points of the domain
  std::uint64_t Points = 0;            ///< Index: length of the list; 0: any
  /// Corners: data sets of one quantity in order, extents of x, y, z; empty: any.
  std::vector<std::array<std::int64_t, 3>> Cuboids;
};

struct Mask
{
  std::string File;  ///< name in the same folder; empty: the file itself
  std::uint64_t Points = 0;
  std::vector<Cuboid> Cuboids;
};

/// The mask in a file, if it has one that fits. Throws Error when it has one that makes no sense.
std::vector<Mask> MaskIn(const KwaveFile& file, const MaskNeeds& needs);

/// The mask of an output that has none, from an input file (or another output) in its folder: one that is
/// named alike before others. Empty when none fits. Throws Error when several fit that are not the same.
std::vector<Mask> MaskBeside(const std::string& path, const MaskNeeds& needs);

}  // namespace patchio::kwave
