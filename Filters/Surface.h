// The surfaces that blocks are cut by: planes, spheres, boxes and cylinders of VTK.
#ifndef Filters_Surface_h
#define Filters_Surface_h

#include <array>
#include <optional>

class vtkImplicitFunction;

namespace patchio::filters {

using Position = std::array<double, 3>;

class Surface
{
public:
  /// Where the function has this value; for planes, a distance. Nothing for other functions, or if numbers
  /// are not finite. Keeps a pointer to the function.
  static std::optional<Surface> Make(vtkImplicitFunction* function, double value);

  bool IsPlane() const { return this->Kind == Shape::Plane; }
  /// For a plane: the points x with Normal . x = Offset. The normal has length 1.
  const Position& Normal() const { return this->PlaneNormal; }
  double Offset() const { return this->Wanted; }
  /// The axis that a plane's normal points along, in either direction; -1: none.
  int AlignedAxis() const;

  /// Zero on the surface; of a plane the distance.
  double At(Position position) const;
  /// False if the surface is farther from this position.
  bool IsWithin(const Position& position, double distance) const;

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
  double Wanted = 0;
  double Radius =
      0;  ///< of a sphere or cylinder, whose function is the square of a distance less that of this
  Position PlaneNormal{0, 0, 0};
  std::array<Position, 4> Columns;  ///< of the transform: the images of the axes, and what is added
  bool Transformed = false;
  double Stretch = 1;  ///< how much the transform lengthens distances at most
};

}  // namespace patchio::filters

#endif
