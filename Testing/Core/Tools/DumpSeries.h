// A short series of dumps, each with values of its own.
#pragma once

#include "Read/StepRead.h"
#include "SamraiDraft.h"
#include "TestTools.h"

#include <string>
#include <vector>

namespace patchio::testing {

/// Steps 0, 1, 2 .. at times 0, 1, 2 .., of SmallCatalog().
class DumpSeries
{
public:
  explicit DumpSeries(int steps)
  {
    for (int step = 0; step < steps; ++step) {
      Catalog catalog = SmallCatalog();
      catalog.Step = step;
      catalog.Time = step;
      const std::string summary = WriteDump(this->Folder.Path(), catalog);
      WriteDensity(summary, step);
      this->Summaries.push_back(summary);
    }
  }

  /// Returns the files that describe the steps.
  const std::vector<std::string>& Paths() const { return this->Summaries; }

  /// Stores the values of variable 0 at a step in the dump that `summary` describes.
  static void WriteDensity(const std::string& summary, int step)
  {
    const Catalog catalog = SmallCatalog();
    for (const int file : {0, 1}) {
      Hdf5Draft cluster = DraftCluster(catalog, file);
      for (int p = 0; p < 3; ++p) {
        if (catalog.Patches[p].File == file) {
          cluster[PatchGroup(catalog.Patches[p]) + "density"] = Floats(DensityOf(step, p));
        }
      }
      WriteHdf5(ClusterPath(summary, file), cluster);
    }
  }

  /// Returns the stored values of variable 0.
  static std::vector<float> DensityOf(int step, int patch)
  {
    std::vector<float> values = DraftValues(SmallCatalog(), patch, 0, 0);
    for (float& value : values) {
      value += 100000.0F * static_cast<float>(step);
    }
    return values;
  }

  /// Expects the values of variable 0 at a step. The blocks must be patches, and variable 0 must be read
  /// first.
  static void ExpectDensity(LoadedStep& loaded, int step)
  {
    for (std::size_t b = 0; b < loaded.Plan.LocalBlocks.size(); ++b) {
      const LoadedArray& array = loaded.Array(b, 0);
      ASSERT_EQ(array.Status, ArrayStatus::Read);
      const auto* values = static_cast<const float*>(array.Values.get());
      EXPECT_EQ(std::vector<float>(values, values + array.Tuples), DensityOf(step, static_cast<int>(b)));
    }
  }

private:
  TempFolder Folder;
  std::vector<std::string> Summaries;
};

}  // namespace patchio::testing
