// Gaussian latitudes, which global spectral models use.
#pragma once

#include <string>
#include <vector>

namespace patchio::grads {

/// Latitudes of a grid that GrADS knows by a name in lower case, such as gaust62; 0 for another name.
int LatitudesOf(const std::string& grid);

/// Latitudes of a Gaussian grid in degrees, from south to north; count: 1 .. 10000.
std::vector<double> GaussianLatitudes(int count);

}  // namespace patchio::grads
