// The middle of some numbers.
#pragma once

#include <boost/math/statistics/univariate_statistics.hpp>

#include <vector>

namespace patchio {

/// The mean of the two in the middle where their number is even. There must be some.
inline double MedianOf(std::vector<double> values)
{
  return boost::math::statistics::median(values.begin(), values.end());
}

}  // namespace patchio
