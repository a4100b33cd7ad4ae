// Locates values in a VTKHDF file. A data set has the values of all boxes of a level one after another, or
// those of an image; the values of several steps follow each other, too.
#include "Base/Error.h"
#include "Formats/Hdf5Files.h"
#include "Formats/VTKHDF/VtkhdfFormat.h"
#include "Formats/VTKHDF/VtkhdfPlaces.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace patchio::vtkhdf {
namespace {

using hdf5::DatasetPart;

class Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options) : Data(catalog), Options(options)
  {
    this->Places = PlacesOfSteps(catalog, this->Type);
    this->Table.Files = {catalog.Path};
    this->Before.resize(catalog.Variables.size());
  }

  LocationTable Run(const std::vector<PatchVariable>& requests)
  {
    this->Task.LocateEach(
        requests, this->Table, [this](const PatchVariable& request) { return this->LocateOne(request); });
    return std::move(this->Table);
  }

private:
  const std::vector<std::uint64_t>& BeforePatches(int variable);
  std::uint64_t TuplesShared(int first, int patch) const;
  Location LocateOne(const PatchVariable& request);
  DatasetPart PartOf(const PatchVariable& request);

  const Catalog& Data;
  const LocateOptions Options;
  FileType Type = FileType::None;
  LocateTask Task{this->Options};
  LocationTable Table;
  Hdf5Files Files{this->Task, this->Table};
  PlacesOfSteps Places;
  std::vector<std::vector<std::uint64_t>> Before;  ///< by variable, filled when needed; see BeforePatches()
};

/// Returns the number of tuples before each patch of a level, counted from the level's first tuple in the
/// data set.
const std::vector<std::uint64_t>& Locator::BeforePatches(int variable)
{
  std::vector<std::uint64_t>& before = this->Before[static_cast<std::size_t>(variable)];
  if (!before.empty()) {
    return before;
  }
  const bool sharing =
      this->Type == FileType::Image && this->Data.Variables[variable].Center == Centering::Node;
  for (const Level& level : this->Data.Levels) {
    std::uint64_t tuples = 0;
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      const std::uint64_t shared = sharing ? this->TuplesShared(level.FirstPatch, p) : 0;
      before.push_back(tuples - shared);
      tuples += static_cast<std::uint64_t>(this->Data.StoredTuples(variable, p)) - shared;
    }
  }
  return before;
}

/// Returns the number of tuples that a patch shares with its predecessor: successive slices of an image have
/// a plane of nodes in common.
std::uint64_t Locator::TuplesShared(int first, int patch) const
{
  const auto dims = this->Data.ArrayDims(patch, Centering::Node, {0, 0, 0});
  std::uint64_t shared = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (this->Data.Patches[patch].Cells.Lower[axis] != this->Data.Patches[first].Cells.Lower[axis]) {
      shared = static_cast<std::uint64_t>(dims[0] * dims[1] * dims[2] / dims[axis]);
    }
  }
  return shared;
}

Location Locator::LocateOne(const PatchVariable& request)
{
  if (this->Data.PresenceOf(request.Variable, request.Patch) != Presence::Stored) {
    return {};
  }
  const int level = this->Data.Patches[request.Patch].Level;
  const std::string name =
      GroupOfLevel(this->Type, level) + "/" + this->Data.Variables[request.Variable].StoredName;
  const LocatedDataset& found = this->Files.Find(this->Data.Path, name, [](LocatedDataset&) {});
  const DatasetPart part = this->PartOf(request);
  if (part.First > found.Info.Values || part.Count > found.Info.Values - part.First) {
    throw FileError(this->Data.Path,
        fmt::format("{} numbers from {} on in '{}'", part.Count, part.First, PlainText(name)),
        fmt::format("{}", found.Info.Values), "The file has changed since it was opened, or is damaged");
  }
  return this->Files.Append(found, name, part);
}

DatasetPart Locator::PartOf(const PatchVariable& request)
{
  const auto components = static_cast<std::uint64_t>(this->Data.Variables[request.Variable].Components);
  const int level = this->Data.Patches[request.Patch].Level;
  const std::uint64_t first = this->Places.At(this->Data.StepInFile, level, request.Variable) +
                              this->BeforePatches(request.Variable)[request.Patch];
  return {first * components,
      static_cast<std::uint64_t>(this->Data.StoredTuples(request.Variable, request.Patch)) * components};
}

}  // namespace

LocationTable VtkhdfFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::vtkhdf
