// The initial data, and where it is at any later time: the exact solution.
#pragma once

#include "LinAdv/Grid.h"
#include "LinAdv/Options.h"

namespace patchio::linadv {

/// A ball or a hill carried along by a constant velocity.
class Profile
{
public:
  /// `scalar` 0 is the plain profile; the others lie beside it and are higher, so that no two are equal.
  Profile(const Options& options, const Problem& problem, int scalar);

  /// The value at the centre of each cell of `values.Cells`, a box on `level`, at a time.
  void Fill(int level, double time, Array& values) const;

  /// Difference between neighbouring cells above which they are refined.
  double TagDifference() const { return this->Threshold; }

private:
  /// The point's distance from the profile's centre, in radii, squared.
  double Distance2(const Double3& point, const Double3& centre) const;
  double Value(const Double3& point, const Double3& centre) const;

  Geometry Space;
  Double3 Start;
  Double3 Velocity;
  double Radius;
  double Inside;
  double Outside;
  double Threshold;
  bool Smooth;
};

}  // namespace patchio::linadv
