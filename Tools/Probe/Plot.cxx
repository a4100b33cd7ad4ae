#include "Probe/Plot.h"

#include "PythonScript.h"

namespace patchio::probe {

std::string DrawPlots(
    const std::vector<std::string>& results, const std::string& folder, const std::string& python)
{
  std::vector<std::string> arguments = results;
  arguments.insert(arguments.end(), {"--output", folder});
  return tools::RunPythonScript("plot_probe.py", arguments, python);
}

}  // namespace patchio::probe
