#include "SamraiDraft.h"

#include "TestTools.h"

#include <fmt/format.h>

#include <set>

namespace patchio::testing {

Catalog SmallCatalog()
{
  Catalog catalog;
  catalog.Dimension = 2;
  catalog.Time = 0.25;
  catalog.Step = 7;
  catalog.Origin = {10, -1, 0};
  AddLevel(catalog, {{{0, 0, 0}, {3, 2, 0}}, {{4, 0, 0}, {6, 2, 0}}});
  AddLevel(catalog, {{{2, 2, 0}, {5, 5, 0}}}, {2, 2, 1});
  catalog.Levels[0].Spacing = {0.5, 0.25, 1};
  catalog.Levels[1].Spacing = {0.25, 0.125, 1};
  catalog.Patches[1].Writer = 1;
  catalog.Patches[1].File = catalog.Patches[2].File = 1;
  catalog.Patches[2].Writer = 2;  // two processors in one cluster file
  catalog.Variables.push_back({"density", Centering::Cell, 1, {0, 0, 0}, "density", -1});
  catalog.Variables.push_back({"velocity", Centering::Node, 2, {0, 0, 0}, "velocity", -1});
  catalog.Variables.push_back({"pressure", Centering::Cell, 1, {1, 0, 0}, "pressure", -1});
  catalog.Variables.push_back({"fine only", Centering::Cell, 1, {0, 0, 0}, "fine only", -1});
  catalog.ResetPresence();
  for (int v = 0; v < 4; ++v) {
    for (int p = 0; p < 3; ++p) {
      catalog.SetPresence(v, p, v < 3 || p == 2 ? Presence::Stored : Presence::Absent);
    }
  }
  catalog.ChildBegin = {0, 1, 1, 1};
  catalog.Children = {2};
  return catalog;
}

float DraftValue(int patch, int variable, int component, std::int64_t index)
{
  return float(((patch * 10 + variable) * 10 + component) * 1000 + index);
}

std::vector<float> DraftValues(const Catalog& catalog, int patch, int variable, int component)
{
  std::vector<float> values(catalog.StoredTuples(variable, patch));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = DraftValue(patch, variable, component, i);
  }
  return values;
}

Hdf5Draft DraftSummary(const Catalog& catalog)
{
  std::vector<ComponentMinMax> ranges;
  int component = 0;
  for (const Variable& variable : catalog.Variables) {
    for (const int end = component + variable.Components; component < end; ++component) {
      for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
        ranges.push_back({p, component, double(p), double(p)});
      }
    }
  }
  return draft::DraftSummary(catalog, 3, ranges);
}

Hdf5Draft DraftCluster(const Catalog& catalog, int file)
{
  const auto values = [](int patch, int variable, int component, std::vector<double>& out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = DraftValue(patch, variable, component, i);
    }
  };
  return draft::DraftCluster(catalog, file, values, nullptr);
}

std::string WriteDump(const std::string& folder, const Catalog& catalog)
{
  const std::string dump = folder + fmt::format("/visit_dump.{:05}", catalog.Step);
  std::filesystem::create_directories(dump);
  const std::string summary = dump + "/summary.samrai";
  WriteHdf5(summary, DraftSummary(catalog));
  std::set<int> files;
  for (const Patch& patch : catalog.Patches) {
    files.insert(patch.File);
  }
  for (const int file : files) {
    WriteHdf5(ClusterPath(summary, file), DraftCluster(catalog, file));
  }
  return summary;
}

}  // namespace patchio::testing
