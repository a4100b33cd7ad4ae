#include "Formats/GRADS/GradsGaussian.h"

#include <boost/math/special_functions/legendre.hpp>

#include <cmath>
#include <map>

namespace patchio::grads {

int LatitudesOf(const std::string& grid)
{
  static const std::map<std::string, int> grids{
      {"gaust62", 94}, {"gausr15", 40}, {"gausr20", 52}, {"gausr30", 80}, {"gausr40", 102}};
  const auto known = grids.find(grid);
  return known == grids.end() ? 0 : known->second;
}

std::vector<double> GaussianLatitudes(int count)
{
  constexpr double degrees = 180 / 3.14159265358979323846;
  std::vector<double> latitudes;
  // The sines are the roots of a Legendre polynomial; Boost gives those that are not negative.
  const std::vector<double> roots = boost::math::legendre_p_zeros<double>(count);
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
    if (*root > 0) {
      latitudes.push_back(-std::asin(*root) * degrees);
    }
  }
  for (const double root : roots) {
    latitudes.push_back(std::asin(root) * degrees);
  }
  return latitudes;
}

}  // namespace patchio::grads
