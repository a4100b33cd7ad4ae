// From the catalog to the bytes of a VTKHDF file: a data set has the values of all boxes of a level one after
// another, or those of an image.
#include "Formats/LocateTask.h"
#include "Formats/VTKHDF/VtkhdfFile.h"
#include "Formats/VTKHDF/VtkhdfFormat.h"
#include "Hdf5Index/DatasetFinder.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>

namespace patchio::vtkhdf {
namespace {

using hdf5index::DatasetFinder;
using hdf5index::DatasetPart;

struct LevelDataset : hdf5index::FoundDataset
{
  ElementType Type = ElementType::Float32;
  std::string Problem;  ///< why it cannot be used; empty: it can
};

class Locator
{
public:
  Locator(const Catalog& catalog, const LocateOptions& options) : Data(catalog), Options(options)
  {
    if (catalog.FormatData.size() != 1) {
      throw Error("The catalog is none of a VTKHDF file.");
    }
    this->Type = static_cast<FileType>(catalog.FormatData[0]);
    this->Table.Files = {catalog.Path};
    this->AddUpValues();
  }

  LocationTable Run(const std::vector<PatchVariable>& requests)
  {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (i % 1024 == 0) {
        this->Task.Tell(static_cast<double>(i) / static_cast<double>(requests.size()));
      }
      this->Table.Locations.emplace_back();
      const std::string problem =
          CatchError([&] { this->Table.Locations.back() = this->LocateOne(requests[i]); });
      if (!problem.empty()) {
        this->Table.Locations.back() = MakeLocation(Encoding::Missing, 0, 0);
        this->Table.Problems.push_back({i, problem});
      }
    }
    this->Task.Tell(1);
    if (this->File && !this->File->WhyLibrary().empty()) {
      this->Table.Notes.push_back(
          fmt::format("{} is indexed by the HDF5 library: {}", this->Data.Path, this->File->WhyLibrary()));
    }
    return std::move(this->Table);
  }

private:
  void AddUpValues();
  std::uint64_t TuplesShared(int first, int patch) const;
  Location LocateOne(const PatchVariable& request);
  const LevelDataset& DatasetFor(const PatchVariable& request, std::string& name);
  void Take(const PatchVariable& request, const std::string& name, LevelDataset& found);
  DatasetPart PartOf(const PatchVariable& request) const;
  std::uint64_t TuplesOf(int patch, Centering center) const
  {
    const auto dims = this->Data.ArrayDims(patch, center, {0, 0, 0});
    return static_cast<std::uint64_t>(dims[0] * dims[1] * dims[2]);
  }

  const Catalog& Data;
  const LocateOptions Options;
  FileType Type = FileType::None;
  LocateTask Task{this->Options};
  LocationTable Table;
  std::optional<DatasetFinder> File;
  std::map<std::string, LevelDataset> Found;
  /// Tuples before each patch in its level's data sets, and of whole levels; by centering.
  std::array<std::vector<std::uint64_t>, 2> Before, OfLevel;
};

void Locator::AddUpValues()
{
  for (const Centering center : {Centering::Cell, Centering::Node}) {
    const auto c = static_cast<std::size_t>(center);
    for (const Level& level : this->Data.Levels) {
      std::uint64_t tuples = 0, shared = 0;
      for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
        if (this->Type == FileType::Image && center == Centering::Node) {
          shared = this->TuplesShared(level.FirstPatch, p);
        }
        this->Before[c].push_back(tuples - shared);
        tuples += this->TuplesOf(p, center) - shared;
      }
      this->OfLevel[c].push_back(tuples);
    }
  }
}

/// Slices of an image that follow each other have a plane of nodes in common.
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
  std::string name;
  const LevelDataset& found = this->DatasetFor(request, name);
  if (!found.Problem.empty()) {
    throw Error(found.Problem);
  }
  return AppendPart(found, found.Type, name, this->PartOf(request), 0, this->Table);
}

const LevelDataset& Locator::DatasetFor(const PatchVariable& request, std::string& name)
{
  const int level = this->Data.Patches[request.Patch].Level;
  name = GroupOfLevel(this->Type, level) + "/" + this->Data.Variables[request.Variable].StoredName;
  const auto [entry, isNew] = this->Found.emplace(name, LevelDataset());
  if (isNew) {
    entry->second.Problem = CatchError([&] { this->Take(request, name, entry->second); });
  }
  return entry->second;
}

/// Finds the data set, and checks that it is what the catalog says.
void Locator::Take(const PatchVariable& request, const std::string& name, LevelDataset& found)
{
  if (!this->File) {
    this->File.emplace(
        this->Data.Path, this->Options.LibraryOnly ? nullptr : this->Task.FilesOf({this->Data.Path}));
  }
  static_cast<hdf5index::FoundDataset&>(found) = this->File->Find(name);
  const std::optional<ElementType> type = TypeOfValues(found.Info);
  const Variable& variable = this->Data.Variables[request.Variable];
  const std::uint64_t wanted =
      this->OfLevel[static_cast<std::size_t>(variable.Center)][this->Data.Patches[request.Patch].Level] *
      static_cast<std::uint64_t>(variable.Components);
  if (!type || found.Info.Values != wanted) {
    throw FileError(this->Data.Path, fmt::format("{} numbers in '{}'", wanted, PlainText(name)),
        type ? fmt::format("{}", found.Info.Values) : "another type",
        "The file has changed since it was opened, or is damaged");
  }
  found.Type = *type;
  CheckInFile(found, found.Type, PlainText(name), *this->File);
}

DatasetPart Locator::PartOf(const PatchVariable& request) const
{
  const Variable& variable = this->Data.Variables[request.Variable];
  const auto components = static_cast<std::uint64_t>(variable.Components);
  return {this->Before[static_cast<std::size_t>(variable.Center)][request.Patch] * components,
      this->TuplesOf(request.Patch, variable.Center) * components};
}

}  // namespace

LocationTable VtkhdfFormat::Locate(
    const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions& options) const
{
  return Locator(catalog, options).Run(requests);
}

}  // namespace patchio::vtkhdf
