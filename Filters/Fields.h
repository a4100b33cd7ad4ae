// The function of a surface, which is zero on the surface, at the points of a block.
#ifndef Filters_Fields_h
#define Filters_Fields_h

#include "Filters/Blocks.h"
#include "Filters/Surface.h"

#include <utility>
#include <vector>

namespace patchio::filters {

/// The signed distance from a plane at the points of a uniform or rectilinear block. Points at equal
/// positions have equal values in all blocks.
class PlaneField
{
public:
  PlaneField(const Block& block, const Surface& plane);

  /// Returns false if the plane cuts no cell of the layers begin .. end - 1 along z.
  bool Meets(int begin, int end) const;
  /// Returns the cells of a row along x that may be cut: the first one, and the one after the last.
  std::pair<int, int> Row(int j, int k) const;
  double At(int i, int j, int k) const { return (this->Along[2][k] + this->Along[1][j]) + this->Along[0][i]; }

private:
  double Base(int j, int k) const { return this->Along[2][k] + this->Along[1][j]; }

  /// Addends of each axis at its points; those of z include the offset.
  std::array<std::vector<double>, 3> Along;
};

/// Any function, evaluated at all points of some layers of a block.
class SampledField
{
public:
  /// Evaluates the function at the layers of points `begin` to `end`, both included.
  SampledField(const Block& block, int begin, int end, const Surface& surface);

  bool Meets(int, int) const { return true; }
  std::pair<int, int> Row(int, int) const { return {0, this->Cells}; }
  double At(int i, int j, int k) const
  {
    return this
        ->Values[i + this->Points[0] * (j + static_cast<std::size_t>(this->Points[1]) * (k - this->Begin))];
  }

private:
  Int3 Points;
  int Cells, Begin;
  std::vector<double> Values;
};

/// Returns the position of the point (i, j, k) of a block.
Position PositionAt(const Block& block, int i, int j, int k);

}  // namespace patchio::filters

#endif
