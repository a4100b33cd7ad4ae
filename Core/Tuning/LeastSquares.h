// Weighted linear least squares with few unknowns. Some unknowns can be constrained to values >= 0.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <array>
#include <limits>
#include <optional>

namespace patchio {

/// Finds the vector x of `Unknowns` numbers that minimizes the sum of weight (row . x - value)^2 over all
/// equations row . x = value, see Add().
template <int Unknowns>
class LeastSquares
{
public:
  using Vector = Eigen::Matrix<double, Unknowns, 1>;
  using Matrix = Eigen::Matrix<double, Unknowns, Unknowns>;

  void Add(const Vector& row, double value, double weight)
  {
    this->NormalMatrix += weight * row * row.transpose();
    this->RightSide += weight * value * row;
    this->ValueSquares += weight * value * value;
  }

  /// Returns the sum of weight (row . x - value)^2 for the vector `x`.
  double SquaredError(const Vector& x) const
  {
    return this->ValueSquares - 2 * x.dot(this->RightSide) + x.dot(this->NormalMatrix * x);
  }

  /// Returns the best x with x[i] >= 0 if `bounded[i]`. Tries all sets of unknowns that are zero, so the time
  /// doubles with each unknown. Unknowns that the equations do not determine are zero. Returns nothing if an
  /// equation was not finite.
  std::optional<Vector> SolveNonNegative(const std::array<bool, Unknowns>& bounded) const
  {
    std::optional<Vector> best;
    double least = std::numeric_limits<double>::infinity();
    for (unsigned set = 0; set < (1u << Unknowns); ++set) {
      const std::optional<Vector> x = this->Solve(set);
      if (x && IsAllowed(*x, bounded) && this->SquaredError(*x) < least) {
        least = this->SquaredError(*x);
        best = x;
      }
    }
    return best;
  }

  /// Returns the best x in which all unknowns outside `set` (bit i: x[i]) are zero, or nothing if the
  /// equations do not determine x. Scales the matrix to a diagonal of ones, so that the test for singularity
  /// does not depend on units.
  std::optional<Vector> Solve(unsigned set) const
  {
    constexpr double singular = 1e-12;
    Vector scale = Vector::Zero();
    Vector others = Vector::Ones();
    for (int i = 0; i < Unknowns; ++i) {
      if ((set >> i & 1) != 0) {
        if (!(this->NormalMatrix(i, i) > 0)) {
          return {};
        }
        scale[i] = 1 / std::sqrt(this->NormalMatrix(i, i));
        others[i] = 0;
      }
    }
    Matrix scaled = scale.asDiagonal() * this->NormalMatrix * scale.asDiagonal();
    scaled.diagonal() += others;
    const Eigen::LDLT<Matrix> factors(scaled);
    if (!(factors.vectorD().minCoeff() > singular)) {
      return {};
    }
    return Vector(scale.asDiagonal() * factors.solve(scale.asDiagonal() * this->RightSide));
  }

private:
  static bool IsAllowed(const Vector& x, const std::array<bool, Unknowns>& bounded)
  {
    bool allowed = x.allFinite();
    for (int i = 0; i < Unknowns; ++i) {
      allowed = allowed && (!bounded[i] || x[i] >= 0);
    }
    return allowed;
  }

  Matrix NormalMatrix = Matrix::Zero();
  Vector RightSide = Vector::Zero();
  double ValueSquares = 0;
};

}  // namespace patchio
