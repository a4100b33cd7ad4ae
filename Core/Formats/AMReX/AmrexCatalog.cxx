// The catalog of a plotfile, from the file Header and the file Cell_H of each level. The memory that reading
// takes is bounded by the size of the files.
#include "Base/Error.h"
#include "Catalog/CheckCatalog.h"
#include "Catalog/Location.h"
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/AMReX/AmrexFormat.h"
#include "Formats/AMReX/AmrexText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::amrex {
namespace {

/// The contents of the text file of a MultiFab, AMReX's array of the values on all boxes of a level.
struct MultiFabHeader
{
  bool HasFabHeaders = true;  ///< false: the values begin at the offset of the FAB
  RealKind Kind;  ///< set only without FAB headers, because each header states its own number format
  int Components = 0;
  Int3 Ghosts{0, 0, 0};
  Int3 NodeCentred{0, 0, 0};           ///< the same for all boxes
  std::vector<Box> Boxes;              ///< boxes of cells or nodes, without ghosts
  std::vector<std::string> Files;      ///< names of files in the folder of Cell_H, each once
  std::vector<int> FileOfBox;          ///< index into Files
  std::vector<std::uint64_t> Offsets;  ///< offset of each box's FAB in its file
};

constexpr int MostComponents = 1 << 20;
constexpr std::uint64_t LeastBytesOfBox = 10;  ///< a lower limit: "((0,0) ..." and "FabOnDisk: ..." take more

/// Versions of MultiFab headers. Versions 3 and 4 add least and greatest values to version 2.
constexpr int WithFabHeaders = 1;  ///< also a range for each box
constexpr int WithRanges = 3;      ///< a range for each box; version 4 has one range for all boxes
constexpr int LastVersion = 4;

/// Reads the text file of a MultiFab, such as Level_0/Cell_H. An object reads once.
class MultiFabReader
{
public:
  /// Opens the file prefix + "_H".
  MultiFabReader(const std::string& prefix, int dimension) : Lines(prefix + "_H"), Dimension(dimension) {}

  /// Reads the whole header. Throws Error when the contents are invalid, or when the file does not have
  /// `boxes` boxes. The memory that reading takes is bounded by the size of the file.
  MultiFabHeader Read(std::int64_t boxes)
  {
    this->ReadTop();
    this->ReadBoxes(boxes);
    this->ReadLocations();
    if (!this->Header.HasFabHeaders) {
      this->ReadNumberFormat();
    }
    return std::move(this->Header);
  }

  /// Returns the least and greatest value of a component on each box, or an empty list if the file does not
  /// contain them. Call this method only for files that Read() accepts.
  std::vector<ValueRange> ReadRanges(std::int64_t boxes, int component)
  {
    this->ReadTop();
    this->ReadBoxes(boxes);
    this->ReadLocations();
    if (this->Version != WithFabHeaders && this->Version != WithRanges) {
      return {};
    }
    const std::vector<double> least = this->ReadExtremes("least", component);
    const std::vector<double> greatest = this->ReadExtremes("greatest", component);
    std::vector<ValueRange> ranges;
    for (std::size_t i = 0; i < least.size(); ++i) {
      ranges.push_back(RangeOfFloats(least[i], greatest[i]));
    }
    return ranges;
  }

private:
  std::vector<double> ReadExtremes(const char* extreme, int component);
  void ReadTop();
  void ReadBoxes(std::int64_t boxes);
  void ReadBox();
  void ReadLocations();
  void ReadLocation();
  int AddFile(std::string_view name);
  void ReadNumberFormat();

  TextLines Lines;
  int Dimension;
  int Version = 0;
  MultiFabHeader Header;
  std::unordered_map<std::string, int> FileNumbers;
  std::string LastName;
};

void MultiFabReader::ReadTop()
{
  const auto version =
      this->Lines.NextNumber("a supported version of the MultiFab header", WithFabHeaders, LastVersion);
  this->Version = static_cast<int>(version);
  this->Header.HasFabHeaders = version == WithFabHeaders;
  this->Lines.Next("the distribution of the FABs over files");
  this->Header.Components =
      static_cast<int>(this->Lines.NextNumber("the number of components", 1, MostComponents));
  TextScanner words(this->Lines.Next("the width of the ghost layer"));
  Int3& ghosts = this->Header.Ghosts;
  if (!ParseTuple(words, ghosts, this->Dimension)) {
    int width = 0;
    TextScanner again(words.Remaining());
    if (!again.Consume(width)) {
      this->Lines.Fail("the width of the ghost layer");
    }
    for (int axis = 0; axis < this->Dimension; ++axis) {
      ghosts[axis] = width;
    }
  }
  for (const int width : ghosts) {
    if (width < 0 || width > MostGhosts) {
      this->Lines.Fail(fmt::format("a ghost layer of 0 to {} cells", MostGhosts));
    }
  }
}

void MultiFabReader::ReadBoxes(std::int64_t boxes)
{
  TextScanner words(this->Lines.Next("the number of boxes"));
  std::int64_t count = 0;
  if (!words.Consume("(") || !words.Consume(count) || count != boxes ||
      static_cast<std::uint64_t>(count) > this->Lines.Bytes() / LeastBytesOfBox) {
    this->Lines.Fail(
        fmt::format("the number of boxes, {} as the plotfile's Header states, in a file of {} bytes or more,",
            boxes, static_cast<std::uint64_t>(boxes) * LeastBytesOfBox));
  }
  this->Header.Boxes.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    this->ReadBox();
  }
  TextScanner end(this->Lines.Next("the end of the boxes"));
  if (!end.Consume(")")) {
    this->Lines.Fail("')' at the end of the boxes");
  }
}

void MultiFabReader::ReadBox()
{
  TextScanner words(this->Lines.Next("a box"));
  TypedBox box;
  if (!ParseBox(words, box, this->Dimension)) {
    this->Lines.Fail(
        "a box of the form ((lower) (upper) (centring)) with lower <= upper and indices up to 2^30");
  }
  if (this->Header.Boxes.empty()) {
    this->Header.NodeCentred = box.NodeCentred;
  } else if (this->Header.NodeCentred != box.NodeCentred) {
    this->Lines.Fail("a box with the same centring as the boxes before it");
  }
  this->Header.Boxes.push_back(box.Indices);
}

void MultiFabReader::ReadLocations()
{
  const auto boxes = static_cast<std::int64_t>(this->Header.Boxes.size());
  this->Lines.NextNumber("the number of FABs, one for each box", boxes, boxes);
  this->Header.FileOfBox.reserve(this->Header.Boxes.size());
  this->Header.Offsets.reserve(this->Header.Boxes.size());
  for (std::int64_t i = 0; i < boxes; ++i) {
    this->ReadLocation();
  }
}

/// Reads a line such as "FabOnDisk: Cell_D_00000 45143".
void MultiFabReader::ReadLocation()
{
  const char* const expected = "the file name and offset of a FAB";
  TextScanner words(this->Lines.Next(expected));
  std::string_view name;
  std::int64_t offset = 0;
  if (!words.Consume("FabOnDisk:") || !words.ConsumeWord(name) || !words.Consume(offset) || !words.AtEnd() ||
      offset < 0) {
    this->Lines.Fail(expected);
  }
  this->Header.FileOfBox.push_back(this->AddFile(name));
  this->Header.Offsets.push_back(static_cast<std::uint64_t>(offset));
}

/// Returns the number of a file of the MultiFab. Adds a new name to the files. Throws Error for a name
/// outside the folder.
int MultiFabReader::AddFile(std::string_view name)
{
  if (!this->Header.FileOfBox.empty() && name == this->LastName) {
    return this->Header.FileOfBox.back();
  }
  this->LastName = name;
  if (name.find('/') != std::string_view::npos || name == "." || name == "..") {
    this->Lines.Fail("the name of a file in the same folder");
  }
  const auto [known, isNew] =
      this->FileNumbers.emplace(this->LastName, static_cast<int>(this->Header.Files.size()));
  if (isNew) {
    this->Header.Files.push_back(this->LastName);
  }
  return known->second;
}

/// Reads a blank line, "boxes,components", and a line for each box: numbers that each end with a comma.
/// Returns the numbers of `component`. Other texts, such as "nan" and "inf", become NaN. `extreme`: "least"
/// or "greatest", for messages.
std::vector<double> MultiFabReader::ReadExtremes(const char* extreme, int component)
{
  const std::string expected = fmt::format("the {} values of {} boxes and {} components", extreme,
      this->Header.Boxes.size(), this->Header.Components);
  this->Lines.Next(expected.c_str());
  TextScanner head(this->Lines.Next(expected.c_str()));
  std::int64_t boxes = 0;
  int components = 0;
  if (!head.Consume(boxes) || !head.Consume(",") || !head.Consume(components) ||
      boxes != static_cast<std::int64_t>(this->Header.Boxes.size()) ||
      components != this->Header.Components) {
    this->Lines.Fail(expected);
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < boxes; ++i) {
    std::string_view rest = this->Lines.Next(expected.c_str());
    for (int c = 0; c < component; ++c) {
      const std::size_t comma = rest.find(',');
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    TextScanner number(rest.substr(0, rest.find(',')));
    double value = 0;
    values.push_back(
        number.Consume(value) && number.AtEnd() ? value : std::numeric_limits<double>::quiet_NaN());
  }
  return values;
}

/// Reads the number format from the end of the file, behind the least and greatest values.
void MultiFabReader::ReadNumberFormat()
{
  const std::string line = this->Lines.LastLine();
  TextScanner words(line);
  if (!ParseRealKind(words, this->Header.Kind) || !words.AtEnd()) {
    throw FileError(this->Lines.Path(), "a number format (4 or 8 bytes, IEEE) in the last line",
        fmt::format("'{}'", PlainText(line.substr(0, 80))),
        "The file is damaged, or its number format is not supported");
  }
}

constexpr double MostEntries = 2e9;  ///< limit on the number of pairs <patch, variable>
constexpr const char* Advice = "The plotfile is damaged or is still being written";

/// Makes the catalog of a plotfile from its text files.
class CatalogMaker
{
public:
  explicit CatalogMaker(const std::string& path) : Folder(fs::path(path).parent_path())
  {
    this->Data.Path = path;
  }

  Catalog Run()
  {
    this->Header = ReadPlotHeader(this->Data.Path);
    this->Data.Dimension = this->Header.Dimension;
    this->Data.Time = this->Header.Time;
    this->Data.Step = this->Header.Step;
    for (std::size_t level = 0; level < this->Header.Levels.size(); ++level) {
      this->AddLevel(level);
    }
    this->SetOrigin();
    this->AddVariables();
    this->SetNextOffsets();
    this->Check();
    this->Data.FormatData = Pack(this->Locations);
    return std::move(this->Data);
  }

private:
  void AddLevel(std::size_t number);
  Int3 RatioOf(std::size_t number) const;
  void CheckMultiFab(const MultiFabHeader& multiFab, std::size_t number);
  void AddPatches(const MultiFabHeader& multiFab, std::size_t number);
  void SetOrigin();
  void AddVariables();
  void SetNextOffsets();
  void Check() const;

  fs::path Folder;
  PlotHeader Header;
  Catalog Data;
  FabLocations Locations;
  Int3 Ghosts{0, 0, 0};
  Centering Center = Centering::Cell;
};

void CatalogMaker::AddLevel(std::size_t number)
{
  const LevelHeader& header = this->Header.Levels[number];
  const MultiFabHeader multiFab =
      MultiFabReader((this->Folder / header.Prefix).string(), this->Header.Dimension).Read(header.Boxes);
  this->CheckMultiFab(multiFab, number);
  Level& level = this->Data.Levels.emplace_back();
  level.FirstPatch = static_cast<int>(this->Data.Patches.size());
  level.PatchCount = static_cast<int>(multiFab.Boxes.size());
  level.Spacing = header.Spacing;
  level.Ratio = this->RatioOf(number);
  FabStyle& style = this->Locations.Levels.emplace_back();
  style.Kind = multiFab.Kind;
  style.HasHeaders = multiFab.HasFabHeaders;
  style.AtNodes = this->Center == Centering::Node;
  this->AddPatches(multiFab, number);
}

/// Returns the refinement ratio of a level to the next coarser level; 1 for level 0. The Header has one ratio
/// for all axes; the domains show the ratio of each axis if their widths are multiples. Throws Error if
/// neither shows a ratio.
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
      throw FileError(this->Data.Path,
          "a domain on each level that is a multiple of the domain on the coarser level",
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
        fmt::format("{} components, as the plotfile's Header states", this->Header.Names.size()),
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
    throw FileError(
        file, "the ghost layers and centring of level 0", "other ghost layers or centring", Advice);
  }
  const std::size_t most = std::numeric_limits<int>::max() - this->Data.Patches.size();
  if (multiFab.Boxes.size() > most) {
    throw FileError(file, fmt::format("at most {} boxes in all levels", std::numeric_limits<int>::max()),
        fmt::format("{}", this->Data.Patches.size() + multiFab.Boxes.size()));
  }
}

void CatalogMaker::AddPatches(const MultiFabHeader& multiFab, std::size_t number)
{
  const fs::path folder = fs::path(this->Header.Levels[number].Prefix).parent_path();
  const int firstFile = static_cast<int>(this->Locations.Files.size());
  for (const std::string& file : multiFab.Files) {
    this->Locations.Files.push_back((folder / file).string());
  }
  this->Data.Patches.reserve(this->Data.Patches.size() + multiFab.Boxes.size());
  this->Locations.Fabs.reserve(this->Data.Patches.capacity());
  for (std::size_t i = 0; i < multiFab.Boxes.size(); ++i) {
    Patch& patch = this->Data.Patches.emplace_back();
    patch.Cells = multiFab.Boxes[i];
    for (int axis = 0; axis < 3; ++axis) {
      patch.Cells.Upper[axis] -= multiFab.NodeCentred[axis];
    }
    patch.Level = static_cast<int>(number);
    patch.Number = static_cast<int>(i);
    patch.File = firstFile + multiFab.FileOfBox[i];
    this->Locations.Fabs.push_back({multiFab.Offsets[i], 0});
  }
}

/// Sets the origin. The corner of the domain is the position of the domain's lowest index, which may differ
/// from 0. In files of old AMReX versions, the corner is the position of index 0. The position of the first
/// box shows which of the two holds.
void CatalogMaker::SetOrigin()
{
  const LevelHeader& coarsest = this->Header.Levels[0];
  for (int axis = 0; axis < this->Header.Dimension; ++axis) {
    const double cell = coarsest.Spacing[axis];
    double& origin = this->Data.Origin[axis];
    origin = this->Header.Corner[axis] - coarsest.Domain.Lower[axis] * cell;
    const bool isOld = coarsest.Boxes > 0 &&
                       std::abs(this->Header.Corner[axis] + this->Data.Patches[0].Cells.Lower[axis] * cell -
                                this->Header.FirstBoxCorner[axis]) < 0.01 * cell;
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
    std::string name(Trimmed(this->Header.Names[i]));
    const std::string number = fmt::format("(component {})", i);
    name = name.empty() ? number : name;
    while (!taken.insert(name).second) {
      name += " " + number;
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

/// Sets FabLocation::Next of all FABs, so that most FAB headers need not be read.
void CatalogMaker::SetNextOffsets()
{
  const auto before = [this](int a, int b) {
    const int fileA = this->Data.Patches[a].File, fileB = this->Data.Patches[b].File;
    return fileA != fileB ? fileA < fileB : this->Locations.Fabs[a].Offset < this->Locations.Fabs[b].Offset;
  };
  std::vector<int> order(this->Data.Patches.size());
  std::iota(order.begin(), order.end(), 0);
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::sort(order.begin(), order.end(), before);
  }
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    if (this->Data.Patches[order[i]].File == this->Data.Patches[order[i + 1]].File) {
      this->Locations.Fabs[order[i]].Next = this->Locations.Fabs[order[i + 1]].Offset;
    }
  }
}

void CatalogMaker::Check() const
{
  try {
    CheckCatalog(this->Data);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: expected a valid plotfile. {} {}.", this->Data.Path, error.what(), Advice));
  }
}

}  // namespace

Catalog AmrexFormat::ReadCatalog(const std::string& path) const
{
  return CatalogMaker(path).Run();
}

std::vector<ValueRange> AmrexFormat::RangesOf(const Catalog& catalog, int variable) const
{
  const PlotHeader header = ReadPlotHeader(catalog.Path);
  const fs::path folder = fs::path(catalog.Path).parent_path();
  // Components and variables have the same order.
  const int component = variable;
  std::vector<ValueRange> ranges;
  for (std::size_t l = 0; l < catalog.Levels.size() && l < header.Levels.size(); ++l) {
    const std::vector<ValueRange> ofLevel =
        MultiFabReader((folder / header.Levels[l].Prefix).string(), header.Dimension)
            .ReadRanges(catalog.Levels[l].PatchCount, component);
    ranges.insert(ranges.end(), ofLevel.begin(), ofLevel.end());
  }
  return ranges.size() == catalog.Patches.size() ? ranges : std::vector<ValueRange>();
}

}  // namespace patchio::amrex
