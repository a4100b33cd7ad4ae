#include "LinAdv/Profile.h"

#include <cmath>

namespace patchio::linadv {

Profile::Profile(const Options& options, const Problem& problem, int scalar)
    : Space(problem.Space),
      Start(problem.Centre),
      Velocity(problem.Velocity),
      Radius(problem.Radius),
      Inside(options.Inside * (1.0 + 0.1 * scalar)),
      Outside(options.Outside),
      Threshold(options.TagThreshold * std::abs(options.Inside - options.Outside)),
      Smooth(options.Profile == "gauss")
{
  if (scalar > 0) {
    // Along the axes in turn, at 1/2, 1 and 3/2 radii, then over again.
    const int dimension = this->Space.Dimension;
    this->Start[scalar % dimension] += 0.5 * this->Radius * (1 + scalar / dimension % 3);
  }
}

double Profile::Distance2(const Double3& point, const Double3& centre) const
{
  double sum = 0.0;
  for (int axis = 0; axis < this->Space.Dimension; ++axis) {
    double distance = point[axis] - centre[axis];
    if (this->Space.Periodic) {
      const double side = this->Space.Cells[axis] * this->Space.Spacing[axis];
      distance -= side * std::round(distance / side);
    }
    sum += distance * distance;
  }
  return sum / (this->Radius * this->Radius);
}

double Profile::Value(const Double3& point, const Double3& centre) const
{
  const double distance2 = this->Distance2(point, centre);
  const double share = this->Smooth ? std::exp(-2.0 * distance2) : (distance2 < 1.0 ? 1.0 : 0.0);
  return this->Outside + share * (this->Inside - this->Outside);
}

void Profile::Fill(int level, double time, Array& values) const
{
  const Double3 spacing = this->Space.SpacingOf(level);
  Double3 centre = this->Start;
  for (int axis = 0; axis < 3; ++axis) {
    centre[axis] += this->Velocity[axis] * time;
  }
  std::size_t next = 0;
  ForCells(values.Cells, [&](int i, int j, int k) {
    const Int3 cell{i, j, k};
    Double3 point;
    for (int axis = 0; axis < 3; ++axis) {
      point[axis] = this->Space.Origin[axis] + (cell[axis] + 0.5) * spacing[axis];
    }
    values.Values[next++] = this->Value(point, centre);
  });
}

}  // namespace patchio::linadv
