// The surfaces that cut blocks: VTK's planes, spheres, boxes and cylinders.
#ifndef Filters_Surface_h
#define Filters_Surface_h

#include "Filters/Blocks.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

class vtkImplicitFunction;

namespace patchio::filters {

using Position = std::array<double, 3>;

/// Returns the middle of the box with these bounds.
Position MiddleOf(const std::array<double, 6>& bounds);

class Surface
{
public:
  /// Makes the surface where `function` has the value `value`, which is a distance for planes. Supports
  /// planes without a transform, and spheres, boxes and cylinders with at most a linear transform. Returns
  /// nullopt for other functions, and if numbers are not finite. Keeps a pointer to the function.
  static std::optional<Surface> Make(vtkImplicitFunction* function, double value);

  bool IsPlane() const { return this->Kind == Shape::Plane; }
  /// The normal, of length 1, and the offset of a plane, which has the points x with Normal . x = Offset.
  const Position& Normal() const { return this->PlaneNormal; }
  double Offset() const { return this->Value; }
  /// Returns the axis that a plane's normal is parallel to; -1: none.
  int AlignedAxis() const;

  /// Returns the function's value minus that of the surface: for planes, the signed distance from the
  /// surface.
  double At(Position position) const;
  /// Returns false if the surface does not meet the ball around the box with these bounds. May also return
  /// true for a surface that passes near the ball.
  bool MayMeet(const std::array<double, 6>& bounds) const;

private:
  enum class Shape
  {
    Plane,
    Round,
    Box
  };

  bool TakePlane(vtkImplicitFunction* function, double value);
  bool TakeTransform();

  Shape Kind = Shape::Plane;
  vtkImplicitFunction* Function = nullptr;
  double Value = 0;
  /// Radius of a sphere or cylinder. VTK's function is the squared distance from its centre or axis minus the
  /// square of the radius.
  double Radius = 0;
  Position PlaneNormal{0, 0, 0};
  std::array<Position, 4> Columns;  ///< the transform: images of the axes, then the translation
  bool Transformed = false;
  double Stretch = 1;  ///< upper bound of the factor by which the transform lengthens distances
};

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

  /// The contribution of each axis to the distance, at the points along this axis; that of z includes the
  /// offset.
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

}  // namespace patchio::filters

#endif
