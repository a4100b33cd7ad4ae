// The function whose zero is cut, at the points of a block.
#ifndef Filters_Fields_h
#define Filters_Fields_h

#include "Filters/Blocks.h"
#include "Filters/Surface.h"

#include <utility>
#include <vector>

namespace patchio::filters {

/// A plane at the points of a grid with straight axes. Equal positions give equal values in all blocks.
class PlaneField
{
public:
  PlaneField(const Block& block, const Surface& plane);

  /// False if no cell of these layers along z is cut.
  bool Meets(int begin, int end) const;
  /// The cells of a row along x that may be cut: first and end.
  std::pair<int, int> Row(int j, int k) const;
  double At(int i, int j, int k) const { return (this->Along[2][k] + this->Along[1][j]) + this->Along[0][i]; }

private:
  double Base(int j, int k) const { return this->Along[2][k] + this->Along[1][j]; }

  std::array<std::vector<double>, 3> Along;  ///< what each axis adds; z has the offset
};

/// Any function at the points of some layers of a block, all of them evaluated.
class SampledField
{
public:
  /// Layers of points begin to end, both included.
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

/// The position of a point of a block.
Position PositionAt(const Block& block, int i, int j, int k);

}  // namespace patchio::filters

#endif
