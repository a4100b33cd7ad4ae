#include "Formats/SAMRAI/SamraiClusterWriter.h"

#include "Formats/SAMRAI/SamraiDatabase.h"
#include "Formats/SAMRAI/SamraiNames.h"

#include <algorithm>

namespace patchio::samrai {
namespace {

class ClusterFile
{
public:
  ClusterFile(const std::string& directory, int rank, const Catalog& catalog, const PatchValues& values)
      : Rank(rank), Content(catalog), Values(values), File(directory + "/" + ClusterName(rank))
  {
  }

  std::vector<ComponentRange> Write()
  {
    const hdf5::Handle processor = this->File.MakeGroup(Numbered("processor.", this->Rank));
    for (std::size_t l = 0; l < this->Content.Levels.size(); ++l) {
      const hdf5::Handle group =
          this->File.MakeGroup(processor, Numbered("level.", static_cast<std::int64_t>(l)));
      const Level& level = this->Content.Levels[l];
      for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
        if (this->Content.Patches[p].Writer == this->Rank) {
          this->WritePatch(group, p);
        }
      }
    }
    this->File.Finish();
    return std::move(this->Ranges);
  }

private:
  void WritePatch(hid_t level, int patch)
  {
    const std::string name = Numbered("patch.", this->Content.Patches[patch].Number);
    const hdf5::Handle group = this->File.MakeGroup(level, name);
    int number = 0;
    for (std::size_t v = 0; v < this->Content.Variables.size(); ++v) {
      const Variable& variable = this->Content.Variables[v];
      this->Wide.resize(this->Content.StoredTuples(static_cast<int>(v), patch));
      for (int component = 0; component < variable.Components; ++component) {
        this->Values(patch, static_cast<int>(v), component, this->Wide);
        this->Narrow.assign(this->Wide.begin(), this->Wide.end());
        this->File.Write(group, ComponentName(variable.Name, variable.Components, component), this->Narrow);
        this->AddRange(patch, number++);
      }
    }
  }

  void AddRange(int patch, int component)
  {
    const double min = *std::min_element(this->Wide.begin(), this->Wide.end());
    const double max = *std::max_element(this->Wide.begin(), this->Wide.end());
    this->Ranges.push_back({patch, component, min, max});
  }

  int Rank;
  const Catalog& Content;
  const PatchValues& Values;
  DatabaseFile File;
  std::vector<double> Wide;
  std::vector<float> Narrow;
  std::vector<ComponentRange> Ranges;
};

}  // namespace

std::vector<ComponentRange> WriteCluster(
    const std::string& directory, int rank, const Catalog& catalog, const PatchValues& values)
{
  return ClusterFile(directory, rank, catalog, values).Write();
}

}  // namespace patchio::samrai
