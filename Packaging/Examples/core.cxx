// Prints the contents of a data set and the sum of one variable, with PatchIO's Core, without VTK and
// ParaView.
//
//   core SUMMARY VARIABLE      for example, visit_dump.00016/summary.samrai uval
#include "Formats/Format.h"
#include "Read/ReadPatchData.h"

#include <cstdio>
#include <numeric>
#include <vector>

int main(int count, char** arguments)
{
  if (count != 3) {
    std::fprintf(stderr, "usage: core SUMMARY VARIABLE\n");
    return 2;
  }
  const patchio::Catalog catalog = patchio::FormatOf(arguments[1]).ReadCatalog(arguments[1]);
  std::printf("Core: %zu patches, %zu variables\n", catalog.Patches.size(), catalog.Variables.size());

  std::vector<int> patches(catalog.Patches.size());
  std::iota(patches.begin(), patches.end(), 0);
  const char* const variables[] = {arguments[2]};
  const patchio::ReadPatchDataResult result =
      patchio::ReadPatchData(arguments[1], patches.data(), static_cast<int>(patches.size()), variables, 1, 4);
  if (result.Error != patchio::ReadError::None) {
    std::fprintf(stderr, "%s\n", result.Message.c_str());
    return 1;
  }
  double sum = 0;
  for (const patchio::PatchData& patch : result.Patches) {
    const patchio::VariableData& values = patch.Variables.front();
    if (values.Type == patchio::ElementType::Float32 && !values.Absent) {
      const auto* const begin = reinterpret_cast<const float*>(values.Data.get());
      sum = std::accumulate(begin, begin + values.Tuples * values.Components, sum);
    }
  }
  std::printf("Core: the sum of %s is %.9g\n", arguments[2], sum);
}
