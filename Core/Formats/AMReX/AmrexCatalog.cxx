// From Header and the levels' Cell_H to the catalog of one plotfile. What it allocates is bounded by the size
// of the files.
#include "Catalog/CheckCatalog.h"
#include "Formats/AMReX/AmrexFabLocations.h"
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/AMReX/AmrexHeader.h"
#include "Formats/AMReX/AmrexMultiFab.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

constexpr double MostEntries = 2e9;  ///< <patch, variable>
constexpr const char* Advice = "The plotfile is damaged or is still being written";

class CatalogMaker
{
public:
  explicit CatalogMaker(const std::string& path) : Folder(fs::path(path).parent_path())
  {
    this->Data.Path = path;
  }

  Catalog Make()
  {
    this->Header = ReadPlotHeader(this->Data.Path);
    this->Data.Dimension = this->Header.Dimension;
    this->Data.Time = this->Header.Time;
    this->Data.Step = this->Header.Step;
    for (std::size_t level = 0; level < this->Header.Levels.size(); ++level) {
      this->AddLevel(level);
    }
    this->FindOrigin();
    this->AddVariables();
    this->FindNeighboursInFiles();
    this->Check();
    this->Data.FormatData = Pack(this->Where);
    return std::move(this->Data);
  }

private:
  void AddLevel(std::size_t number);
  Int3 RatioOf(std::size_t number) const;
  void CheckMultiFab(const MultiFabHeader& multiFab, std::size_t number);
  void AddPatches(const MultiFabHeader& multiFab, std::size_t number);
  void FindOrigin();
  void AddVariables();
  void FindNeighboursInFiles();
  void Check() const;

  fs::path Folder;
  PlotHeader Header;
  Catalog Data;
  FabLocations Where;
  Int3 Ghosts{0, 0, 0};
  Centering Center = Centering::Cell;
};

void CatalogMaker::AddLevel(std::size_t number)
{
  const LevelHeader& header = this->Header.Levels[number];
  const MultiFabHeader multiFab =
      ReadMultiFabHeader((this->Folder / header.Prefix).string(), this->Header.Dimension, header.Boxes);
  this->CheckMultiFab(multiFab, number);
  Level& level = this->Data.Levels.emplace_back();
  level.FirstPatch = static_cast<int>(this->Data.Patches.size());
  level.PatchCount = static_cast<int>(multiFab.Boxes.size());
  level.Spacing = header.Spacing;
  level.Ratio = this->RatioOf(number);
  FabStyle& style = this->Where.Levels.emplace_back();
  style.Kind = multiFab.Kind;
  style.Headers = multiFab.FabHeaders;
  style.Nodes = this->Center == Centering::Node;
  this->AddPatches(multiFab, number);
}

/// The Header has one ratio for all axes; the domains tell the ratio of each axis.
Int3 CatalogMaker::RatioOf(std::size_t number) const
{
  Int3 ratio{1, 1, 1};
  if (number == 0) {
    return ratio;
  }
  const LevelHeader& coarse = this->Header.Levels[number - 1];
  const LevelHeader& fine = this->Header.Levels[number];
  for (int axis = 0; axis < this->Header.Dimension; ++axis) {
    const std::int64_t coarseWidth = coarse.Domain.Width(axis), fineWidth = fine.Domain.Width(axis);
    if (fineWidth % coarseWidth == 0) {
      ratio[axis] = static_cast<int>(fineWidth / coarseWidth);
    } else if (number <= this->Header.Ratios.size()) {
      ratio[axis] = this->Header.Ratios[number - 1];
    } else {
      throw FileError(this->Data.Path, "a domain on each level that is a multiple of the coarser one",
          fmt::format("{} cells on level {} and {} on level {}, on axis {}", coarseWidth, number - 1,
              fineWidth, number, axis),
          Advice);
    }
  }
  return ratio;
}

void CatalogMaker::CheckMultiFab(const MultiFabHeader& multiFab, std::size_t number)
{
  const std::string file = (this->Folder / this->Header.Levels[number].Prefix).string() + "_H";
  if (static_cast<std::size_t>(multiFab.Components) != this->Header.Names.size()) {
    throw FileError(file,
        fmt::format("{} components, as the plotfile's Header says", this->Header.Names.size()),
        fmt::format("{}", multiFab.Components), Advice);
  }
  Int3 nodes{0, 0, 0};
  std::fill_n(nodes.begin(), this->Header.Dimension, 1);
  if (multiFab.NodeCentred != Int3{0, 0, 0} && multiFab.NodeCentred != nodes) {
    throw FileError(file, "values in cells or at nodes", "values on faces or edges",
        "PatchIO does not support face and edge values; let the simulation average them to cells");
  }
  const Centering center = multiFab.NodeCentred == nodes ? Centering::Node : Centering::Cell;
  if (number == 0) {
    this->Ghosts = multiFab.Ghosts;
    this->Center = center;
  } else if (multiFab.Ghosts != this->Ghosts || center != this->Center) {
    throw FileError(file, "the ghost layers and centring of level 0", "others", Advice);
  }
  const std::size_t most = std::numeric_limits<int>::max() - this->Data.Patches.size();
  if (multiFab.Boxes.size() > most) {
    throw FileError(
        file, fmt::format("at most {} more boxes", most), fmt::format("{}", multiFab.Boxes.size()));
  }
}

void CatalogMaker::AddPatches(const MultiFabHeader& multiFab, std::size_t number)
{
  const fs::path folder = fs::path(this->Header.Levels[number].Prefix).parent_path();
  const int firstFile = static_cast<int>(this->Where.Files.size());
  for (const std::string& file : multiFab.Files) {
    this->Where.Files.push_back((folder / file).string());
  }
  this->Data.Patches.reserve(this->Data.Patches.size() + multiFab.Boxes.size());
  this->Where.Fabs.reserve(this->Data.Patches.capacity());
  for (std::size_t i = 0; i < multiFab.Boxes.size(); ++i) {
    Patch& patch = this->Data.Patches.emplace_back();
    patch.Cells = multiFab.Boxes[i];
    for (int axis = 0; axis < 3; ++axis) {
      patch.Cells.Upper[axis] -= multiFab.NodeCentred[axis];
    }
    patch.Level = static_cast<int>(number);
    patch.Number = static_cast<int>(i);
    patch.File = firstFile + multiFab.FileOfBox[i];
    this->Where.Fabs.push_back({multiFab.Offsets[i], 0});
  }
}

/// The corner of the domain belongs to its lowest index, which need not be 0; in old versions of AMReX it
/// belonged to index 0. The position of the first box says which holds.
void CatalogMaker::FindOrigin()
{
  const LevelHeader& coarsest = this->Header.Levels[0];
  for (int axis = 0; axis < this->Header.Dimension; ++axis) {
    const double cell = coarsest.Spacing[axis];
    double& origin = this->Data.Origin[axis];
    origin = this->Header.Corner[axis] - coarsest.Domain.Lower[axis] * cell;
    const bool isOld = coarsest.Boxes > 0 &&
                       std::abs(this->Header.Corner[axis] + this->Data.Patches[0].Cells.Lower[axis] * cell -
                                this->Header.FirstBox[axis]) < 0.01 * cell;
    if (isOld) {
      origin = this->Header.Corner[axis];
    }
  }
}

void CatalogMaker::AddVariables()
{
  if (static_cast<double>(this->Header.Names.size()) * static_cast<double>(this->Data.Patches.size()) >
      MostEntries) {
    throw FileError(this->Data.Path, fmt::format("at most {:.0e} arrays", MostEntries),
        fmt::format("{} components of {} patches", this->Header.Names.size(), this->Data.Patches.size()),
        Advice);
  }
  std::set<std::string> taken;
  for (std::size_t i = 0; i < this->Header.Names.size(); ++i) {
    std::string name = this->Header.Names[i];
    name.erase(name.find_last_not_of(" \t\r") + 1);
    name.erase(0, std::min(name.find_first_not_of(" \t"), name.size()));
    if (name.empty() || !taken.insert(name).second) {
      name += fmt::format("{}(component {})", name.empty() ? "" : " ", i);
      taken.insert(name);
    }
    Variable& variable = this->Data.Variables.emplace_back();
    variable.Name = name;
    variable.Center = this->Center;
    variable.Ghosts = this->Ghosts;
    variable.StoredName = std::to_string(i);
  }
  this->Data.ResetPresence();
  for (std::size_t v = 0; v < this->Data.Variables.size(); ++v) {
    for (std::size_t p = 0; p < this->Data.Patches.size(); ++p) {
      this->Data.SetPresence(static_cast<int>(v), static_cast<int>(p), Presence::Stored);
    }
  }
}

/// Finds the next FAB in the file of each one, so that most headers need not be read.
void CatalogMaker::FindNeighboursInFiles()
{
  const auto before = [this](int a, int b) {
    const int fileA = this->Data.Patches[a].File, fileB = this->Data.Patches[b].File;
    return fileA != fileB ? fileA < fileB : this->Where.Fabs[a].Offset < this->Where.Fabs[b].Offset;
  };
  std::vector<int> order(this->Data.Patches.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::sort(order.begin(), order.end(), before);
  }
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (this->Data.Patches[order[i]].File == this->Data.Patches[order[i + 1]].File) {
      this->Where.Fabs[order[i]].Next = this->Where.Fabs[order[i + 1]].Offset;
    }
  }
}

void CatalogMaker::Check() const
{
  try {
    CheckCatalog(this->Data);
  } catch (const Error& error) {
    throw FileError(
        this->Data.Path, "a valid plotfile", fmt::format("an invalid one: {}", error.what()), Advice);
  }
}

}  // namespace

Catalog AmrexFormat::ReadCatalog(const std::string& path) const
{
  return CatalogMaker(path).Make();
}

std::vector<ValueRange> AmrexFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const PlotHeader header = ReadPlotHeader(catalog.Path);
  const fs::path folder = fs::path(catalog.Path).parent_path();
  // A component is a variable, in the order of both.
  const int component = variable;
  std::vector<ValueRange> ranges;
  for (std::size_t l = 0; l < catalog.Levels.size() && l < header.Levels.size(); ++l) {
    const std::vector<ValueRange> ofLevel = ReadMultiFabRanges((folder / header.Levels[l].Prefix).string(),
        header.Dimension, catalog.Levels[l].PatchCount, component);
    ranges.insert(ranges.end(), ofLevel.begin(), ofLevel.end());
  }
  return ranges.size() == catalog.Patches.size() ? ranges : std::vector<ValueRange>();
}

}  // namespace patchio::amrex
