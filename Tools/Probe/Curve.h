// Peaks and dips of the rate over the block size, told from noise.
#pragma once

#include <cstdint>
#include <vector>

namespace patchio::probe {

/// One block size and the rates measured with it, all > 0, in any unit.
struct CurvePoint
{
  std::uint64_t Block = 0;
  std::vector<double> Rates;
};

/// A place where the curve is higher, or lower, than on both sides.
struct Feature
{
  bool Peak = true;       ///< else a dip
  std::size_t Index = 0;  ///< of the point
  std::uint64_t Block = 0;
  double Height = 0;     ///< rate here / the rate that it falls or rises to on both sides; dip: < 1
  double Certainty = 0;  ///< height in units of what noise makes at most; > 1: not noise
};

struct FeatureOptions
{
  double Doubt = 0.01;        ///< probability of a feature in a curve that is nothing but noise
  double LeastHeight = 0.05;  ///< smaller ones are of no use, however sure
};

/// Peaks and dips in the order of block sizes. The noise is that between the repetitions of a point, taken
/// together over all points; where no point was repeated there is nothing to tell features by, and none is
/// found. The ends of the curve are no features. `curve` is sorted by block.
std::vector<Feature> FindFeatures(const std::vector<CurvePoint>& curve, const FeatureOptions& options = {});

/// Block sizes to look closer at a feature: `perSide` ones between it and each of its neighbours, evenly in
/// the logarithm, and the three points themselves; sorted. Multiples of 4096 where the neighbours are, else
/// of 8.
std::vector<std::uint64_t> RefinedBlocks(
    const std::vector<CurvePoint>& curve, const Feature& feature, int perSide);

}  // namespace patchio::probe
