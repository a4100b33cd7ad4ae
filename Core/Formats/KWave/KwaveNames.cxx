#include "Formats/KWave/KwaveNames.h"

#include "Base/TextScanner.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>

namespace patchio::kwave {
namespace {

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends)
{
  return std::any_of(ends.begin(), ends.end(), [name](std::string_view end) { return EndsWith(name, end); });
}

bool BeginsWithAny(std::string_view name, std::initializer_list<std::string_view> begins)
{
  return std::any_of(
      begins.begin(), begins.end(), [name](std::string_view begin) { return BeginsWith(name, begin); });
}

}  // namespace

bool IsOfDomain(const std::string& name)
{
  return EndsWithAny(name, {"_all", "_final"});
}

bool IsOfSensor(const std::string& name)
{
  static const std::set<std::string_view> quantities{"p", "ux", "uy", "uz", "ux_non_staggered",
      "uy_non_staggered", "uz_non_staggered", "Ix_avg", "Iy_avg", "Iz_avg", "Q_term"};
  constexpr std::string_view ends[] = {"", "_max", "_min", "_rms", "_c"};
  return std::any_of(std::begin(ends), std::end(ends), [&name](std::string_view end) {
    return EndsWith(name, end) &&
           quantities.count(std::string_view(name).substr(0, name.size() - end.size())) > 0;
  });
}

bool IsAggregate(const std::string& name)
{
  return EndsWithAny(name, {"_max", "_min", "_rms", "_avg", "_avg_c", "_all", "_final"}) ||
         name == "Q_term" || name == "Q_term_c";
}

bool IsHeader(const std::string& name)
{
  static const std::set<std::string_view> names{"Nx", "Ny", "Nz", "Nt", "dx", "dy", "dz", "dt", "t_index"};
  return names.count(name) > 0;
}

std::string FaultOfName(const std::string& name)
{
  if (name.find('/') != std::string::npos || name == ".") {
    return "'/' and '.' stand for groups in HDF5 files";
  }
  if (IsHeader(name) || IsSetting(name)) {
    return "k-Wave files use this name themselves";
  }
  if (name == PositionsOf("sensor")) {
    return "readers give this name to the positions of the sensor's points";
  }
  return IsAggregate(name) ? "k-Wave files use this name for one value of all steps" : "";
}

bool IsSetting(const std::string& name)
{
  const bool setting =
      EndsWithAny(name, {"_source_input", "_source_index", "_flag", "_signal_index", "_delay"}) ||
      BeginsWithAny(name, {"sensor_mask", "pml_", "dd", "dxudxn", "dyudyn", "dzudzn"}) ||
      name == "delay_mask" || name == TimesName;
  return setting && name != "p0_source_input";
}

}  // namespace patchio::kwave
