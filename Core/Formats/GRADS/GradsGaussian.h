// Gaussian latitudes, which global spectral models use.
#pragma once

#include <vector>

namespace patchio::grads {

/// Latitudes of a Gaussian grid in degrees, from south to north; count: 1 .. 10000.
std::vector<double> GaussianLatitudes(int count);

}  // namespace patchio::grads
