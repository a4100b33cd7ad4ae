// Weighted linear least squares with few unknowns, some of which must not be negative.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

namespace patchio {

/// Finds the `Unknowns` numbers x for which the sum of weight (row . x - value)^2 is least.
template <std::size_t Unknowns>
class LeastSquares
{
public:
  using Vector = std::array<double, Unknowns>;

  void Add(const Vector& row, double value, double weight)
  {
    for (std::size_t i = 0; i < Unknowns; ++i) {
      for (std::size_t j = 0; j < Unknowns; ++j) {
        this->Matrix[i][j] += weight * row[i] * row[j];
      }
      this->Right[i] += weight * row[i] * value;
    }
    this->Squares += weight * value * value;
  }

  /// The sum for these numbers.
  double Misfit(const Vector& x) const
  {
    double sum = this->Squares;
    for (std::size_t i = 0; i < Unknowns; ++i) {
      sum -= 2 * x[i] * this->Right[i];
      for (std::size_t j = 0; j < Unknowns; ++j) {
        sum += x[i] * this->Matrix[i][j] * x[j];
      }
    }
    return sum;
  }

  /// With x[i] >= 0 where `bounded[i]`. Tries which of these are zero, so few unknowns only. Unknowns that
  /// the equations say nothing about are zero. None where there is no finite solution.
  std::optional<Vector> SolveNonNegative(const std::array<bool, Unknowns>& bounded) const
  {
    std::optional<Vector> best;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t set = 0; set < (std::size_t{1} << Unknowns); ++set) {
      const std::optional<Vector> x = this->SolveFor(set);
      if (x && IsAllowed(*x, bounded) && this->Misfit(*x) < least) {
        least = this->Misfit(*x);
        best = x;
      }
    }
    return best;
  }

private:
  static bool IsAllowed(const Vector& x, const std::array<bool, Unknowns>& bounded)
  {
    for (std::size_t i = 0; i < Unknowns; ++i) {
      if (!std::isfinite(x[i]) || (bounded[i] && x[i] < 0)) {
        return false;
      }
    }
    return true;
  }

  /// Gaussian elimination for the unknowns in `set` (bit i: x[i]), the others being zero. The matrix is
  /// scaled to ones on its diagonal, so that what counts as singular does not depend on units.
  std::optional<Vector> SolveFor(std::size_t set) const
  {
    constexpr double singular = 1e-12;
    Vector scale{};
    std::array<std::array<double, Unknowns + 1>, Unknowns> rows{};
    for (std::size_t i = 0; i < Unknowns; ++i) {
      scale[i] = (set >> i & 1) != 0 ? std::sqrt(this->Matrix[i][i]) : 0;
      if ((set >> i & 1) != 0 && !(scale[i] > 0)) {
        return {};
      }
    }
    for (std::size_t i = 0; i < Unknowns; ++i) {
      for (std::size_t j = 0; j < Unknowns; ++j) {
        rows[i][j] = scale[i] > 0 && scale[j] > 0 ? this->Matrix[i][j] / (scale[i] * scale[j]) : i == j;
      }
      rows[i][Unknowns] = scale[i] > 0 ? this->Right[i] / scale[i] : 0;
    }
    // The matrix is positive definite or singular: no other pivots than the diagonal are needed.
    for (std::size_t i = 0; i < Unknowns; ++i) {
      if (!(rows[i][i] > singular)) {
        return {};
      }
      for (std::size_t k = 0; k < Unknowns; ++k) {
        const double factor = k == i ? 0 : rows[k][i] / rows[i][i];
        for (std::size_t j = i; j <= Unknowns && k != i; ++j) {
          rows[k][j] -= factor * rows[i][j];
        }
      }
    }
    Vector x{};
    for (std::size_t i = 0; i < Unknowns; ++i) {
      x[i] = scale[i] > 0 ? rows[i][Unknowns] / rows[i][i] / scale[i] : 0;
    }
    return x;
  }

  std::array<Vector, Unknowns> Matrix{};
  Vector Right{};
  double Squares = 0;
};

}  // namespace patchio
