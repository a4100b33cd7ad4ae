// What the names of k-Wave's data sets mean.
#pragma once

#include <string>

namespace patchio::kwave {

/// PatchIO's own: the times of all steps, shape (steps,1,1,1), where they are not multiples of dt.
constexpr const char* TimesName = "sample_times";

/// "ux_max_all", "p_final": values of the whole domain, whatever the sensor.
bool IsOfDomain(const std::string& name);

/// "p", "uy_non_staggered", "p_max", "Iz_avg", "Q_term": values at the sensor.
bool IsOfSensor(const std::string& name);

/// One value a point, made of all steps: maxima, averages, final values.
bool IsAggregate(const std::string& name);

/// True for the names of single numbers in a file's header, such as "Nx", "dt" and "t_index".
bool IsHeader(const std::string& name);

/// The name of the variable with the positions of a list of points.
inline std::string PositionsOf(const std::string& list)
{
  return list + " positions";
}

/// Returns the reason why PatchIO cannot write a sensor's variable with this name, as a phrase for messages.
/// Empty: PatchIO can write it.
std::string FaultOfName(const std::string& name);

/// Data sets that say how the simulation is run; they are no fields, whatever their shapes.
bool IsSetting(const std::string& name);

}  // namespace patchio::kwave
