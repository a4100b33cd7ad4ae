// The median of a list of numbers.
#pragma once

#include <boost/math/statistics/univariate_statistics.hpp>

#include <vector>

namespace patchio {

/// Returns the median: the middle value, or the mean of the two middle values of an even number of values.
/// `values` must not be empty.
inline double MedianOf(std::vector<double> values)
{
  return boost::math::statistics::median(values.begin(), values.end());
}

}  // namespace patchio
