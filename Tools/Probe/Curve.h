// Significant peaks and dips of the rate over the block size.
#pragma once

#include <cstdint>
#include <vector>

namespace patchio::probe {

/// One block size in bytes, and the rates measured with it, all > 0, in any unit.
struct CurvePoint
{
  std::uint64_t Block = 0;
  std::vector<double> Rates;
};

/// A block size at which the curve is higher, or lower, than on both sides.
struct Feature
{
  bool Peak = true;       ///< false: a dip
  std::size_t Index = 0;  ///< index of the point in the curve
  std::uint64_t Block = 0;
  double Height = 0;  ///< rate at this point / rate to which the curve falls (dip: rises) on both sides
  /// |ln Height|, divided by its greatest value in pure noise; > 1: the feature is not noise.
  double Certainty = 0;
};

struct FeatureOptions
{
  double SignificanceLevel = 0.01;  ///< probability that the search finds a feature in pure noise
  /// Features whose Height (for dips: 1 / Height) is less than 1 + LeastHeight are left out.
  double LeastHeight = 0.05;
};

/// Returns the peaks and dips, sorted by block size. The noise is estimated from the repetitions of all
/// points together; if no point was repeated, the result is empty. The ends of the curve are not features.
/// `curve` must be sorted by block size.
std::vector<Feature> FindFeatures(const std::vector<CurvePoint>& curve, const FeatureOptions& options = {});

/// Returns the sorted block sizes for a closer measurement of a feature: the feature's point, its two
/// neighbours, and up to `perSide` sizes between the point and each neighbour, spaced evenly in the
/// logarithm. The sizes are multiples of 4096 if the three points are, otherwise of 8.
std::vector<std::uint64_t> RefinedBlocks(
    const std::vector<CurvePoint>& curve, const Feature& feature, int perSide);

}  // namespace patchio::probe
