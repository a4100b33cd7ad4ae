// What a summary names that PatchIO does not show.
#include "Formats/SAMRAI/SamraiSummary.h"
#include "Support/Hdf5.h"
#include "Support/NameList.h"

#include <fmt/format.h>

namespace patchio::samrai {

std::vector<std::string> NotesOnLeftOut(const std::string& summary)
{
  const hdf5::File file(summary);
  std::vector<std::string> notes;
  const std::string keys = "/visit_expressions/expression_keys";
  if (file.Has(keys)) {
    notes.push_back(fmt::format("VisIt expressions are skipped: {}; use ParaView's Calculator for them",
        NameList(file.Strings(keys, -1))));
  }
  const std::string flags = "/BASIC_INFO/material_state_variable";
  std::vector<std::string> states;
  if (file.Has(flags)) {
    const std::vector<std::string> names = file.Strings("/BASIC_INFO/var_names", -1);
    const std::vector<int> hasStates = file.Ints(flags, static_cast<std::int64_t>(names.size()));
    for (std::size_t v = 0; v < names.size(); ++v) {
      if (hasStates[v] == 1) {
        states.push_back(names[v]);
      }
    }
  }
  if (!states.empty()) {
    notes.push_back(fmt::format(
        "values per material (material_state) are skipped: {}; the values of whole cells are shown",
        NameList(states)));
  }
  return notes;
}

}  // namespace patchio::samrai
