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

/// Returns the centre of the box with these bounds (xmin, xmax, ymin ...).
Position MiddleOf(const std::array<double, 6>& bounds);

/// A surface on which a function of VTK has a given value.
class Surface
{
public:
  /// Returns the surface where `function` has the value `value`; for planes, `value` is a distance. Supports
  /// planes without a transform, and spheres, boxes and cylinders without a transform or with a linear
  /// transform. Returns nullopt for null and other functions, if `value` or the plane is not finite, and if
  /// the plane's normal is 0. Keeps a pointer to `function`, which must outlive the surface.
  static std::optional<Surface> FromFunction(vtkImplicitFunction* function, double value);

  bool IsPlane() const { return this->Type == Shape::Plane; }
  /// Returns the normal, of length 1, or the offset of a plane. The points x of the plane satisfy Normal . x
  /// = Offset.
  const Position& Normal() const { return this->PlaneNormal; }
  double Offset() const { return this->Value; }
  /// Returns the axis that is parallel to the normal of the plane; -1: no axis, or the surface is not a
  /// plane.
  int AlignedAxis() const;

  /// Returns the value of the function at a position minus the value on the surface. For planes, this
  /// difference is the signed distance from the plane.
  double ValueAt(Position position) const;
  /// Returns false if the surface certainly does not meet the box with these bounds. May return true if the
  /// surface passes near the box.
  bool MayMeet(const std::array<double, 6>& bounds) const;

private:
  enum class Shape
  {
    Plane,
    Round,  ///< a sphere or cylinder
    Box
  };

  /// Sets the normal and the offset if `function` is a plane without a transform. Returns false for other
  /// functions, and if the normal is 0 or not finite.
  bool SetPlane(vtkImplicitFunction* function, double value);
  bool SetTransform();

  Shape Type = Shape::Plane;
  vtkImplicitFunction* Function = nullptr;
  double Value = 0;  ///< value of Function on the surface; offset of a plane
  /// Radius of a sphere or cylinder. VTK's function is the squared distance from the centre or axis, minus
  /// the square of the radius.
  double Radius = 0;
  Position PlaneNormal{0, 0, 0};
  std::array<Position, 4> Columns;  ///< the transform: the images of the axes, then the translation
  bool Transformed = false;
  double Stretch = 1;  ///< upper bound of the factor by which the transform increases distances
};

/// The signed distances of the points of a uniform or rectilinear block from a plane (a Surface with
/// IsPlane()). Points at equal positions have equal distances in all blocks.
class PlaneField
{
public:
  PlaneField(const Block& block, const Surface& plane);

  /// Returns whether the plane may cut a cell in the layers begin .. end - 1 along z.
  bool Meets(int begin, int end) const;
  /// Returns the cells of the row (j, k) along x that the plane may cut: the first cell, and the cell after
  /// the last one.
  std::pair<int, int> CellsOfRow(int j, int k) const;
  /// Returns the distance of the point with these indices.
  double ValueAt(int i, int j, int k) const { return this->RowBase(j, k) + this->Along[0][i]; }

private:
  /// Returns the sum of the contributions of y and z.
  double RowBase(int j, int k) const { return this->Along[2][k] + this->Along[1][j]; }

  /// By axis: the contributions of the points' coordinates to the distance. The contributions of z include
  /// the offset.
  std::array<std::vector<double>, 3> Along;
};

/// The values of any surface (Surface::ValueAt()) at all points in some layers of a block. Has the functions
/// of PlaneField.
class SampledField
{
public:
  /// Computes the values in the layers of points `begin` to `end`, which are included.
  SampledField(const Block& block, int begin, int end, const Surface& surface);

  bool Meets(int, int) const { return true; }
  std::pair<int, int> CellsOfRow(int, int) const { return {0, this->Cells}; }
  double ValueAt(int i, int j, int k) const
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
