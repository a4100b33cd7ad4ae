#include "Convert/PieceExport.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Catalog/Location.h"
#include "Catalog/Nesting.h"
#include "Io/IoScheduler.h"
#include "Plan/Blocks.h"
#include "Read/PointCells.h"
#include "Read/ReadRequest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/uio.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::tools {
namespace {

struct VtkXmlArray
{
  std::string Name;
  ElementType Type = ElementType::Float32;
  int Components = 1;
  std::uint64_t Tuples = 0;
  const void* Values = nullptr;  ///< must stay valid until the file is written
};

/// Returns the text of a VTK XML file of this type. The root element contains `content`, then `trailer`.
std::string VtkXmlFile(const std::string& type, const std::string& content, const std::string& trailer = {})
{
  return fmt::format(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "{}{}</VTKFile>\n",
      type, content, trailer);
}

class VtkXmlPiece
{
public:
  /// Begins a file with one piece. `type`: "ImageData" and so on. `grid`, `piece`: the attributes of the
  /// grid's element and of the piece's element.
  VtkXmlPiece(std::string type, std::string grid, std::string piece)
      : Type(std::move(type)), Grid(std::move(grid)), Piece(std::move(piece))
  {
  }

  /// Adds an element with arrays: "PointData", "Points" and so on.
  void Add(const std::string& element, const std::vector<VtkXmlArray>& arrays);
  /// Keeps `bytes` in memory until the file is written, and returns their address.
  const void* Retain(std::vector<std::byte> bytes)
  {
    return this->Retained.emplace_back(std::move(bytes)).data();
  }
  /// Returns an array of `values` values, all NaN, or 0 if the type has no NaN. Equal arrays share one copy
  /// in the file.
  const void* UndefinedArray(ElementType type, std::uint64_t values);

  /// Writes the file, which must not exist. Throws Error if the file cannot be written.
  void Write(const std::string& path) const;

private:
  std::uint64_t OffsetOf(const void* values, std::uint64_t bytes);

  const std::string Type, Grid, Piece;
  std::string Elements;
  std::deque<std::vector<std::byte>> Retained;
  std::deque<std::uint64_t> Lengths;
  std::vector<iovec> Data;  ///< for each array: its length, then its bytes
  std::uint64_t Bytes = 0;  ///< bytes of all parts of Data
  std::map<std::pair<const void*, std::uint64_t>, std::uint64_t> Offsets;  ///< by address and length
  std::map<std::pair<ElementType, std::uint64_t>, const void*>
      UndefinedArrays;  ///< by type and number of values
};

/// Returns VTK's name of a type, such as "Float32": numpy's name with capitals at the beginning.
std::string VtkNameOf(ElementType type)
{
  std::string name = NameOf(type);
  const std::size_t letters = name[0] == 'u' ? 2 : 1;
  for (std::size_t i = 0; i < letters; ++i) {
    name[i] = static_cast<char>(name[i] - 'a' + 'A');
  }
  return name;
}

template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& values)
{
  const auto* const begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

/// Returns the text as the value of an XML attribute.
std::string XmlText(const std::string& text)
{
  using nlohmann::json;
  // Bytes that are not UTF-8 are replaced.
  const std::string clean =
      json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
  std::string result;
  for (const char c : clean) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < ' ' ? '_' : c;
    }
  }
  return result;
}

void VtkXmlPiece::Add(const std::string& element, const std::vector<VtkXmlArray>& arrays)
{
  this->Elements += fmt::format("<{}>\n", element);
  for (const VtkXmlArray& array : arrays) {
    this->Elements += fmt::format(
        "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" offset=\"{}\"/>\n",
        VtkNameOf(array.Type), XmlText(array.Name), array.Components,
        this->OffsetOf(array.Values, array.Tuples * array.Components * SizeOf(array.Type)));
  }
  this->Elements += fmt::format("</{}>\n", element);
}

std::uint64_t VtkXmlPiece::OffsetOf(const void* values, std::uint64_t bytes)
{
  const auto [entry, isNew] = this->Offsets.emplace(std::pair(values, bytes), this->Bytes);
  if (isNew) {
    this->Data.push_back({&this->Lengths.emplace_back(bytes), sizeof(std::uint64_t)});
    if (bytes > 0) {
      this->Data.push_back({const_cast<void*>(values), bytes});
    }
    this->Bytes += sizeof(std::uint64_t) + bytes;
  }
  return entry->second;
}

const void* VtkXmlPiece::UndefinedArray(ElementType type, std::uint64_t values)
{
  const void*& undefined = this->UndefinedArrays[{type, values}];
  if (!undefined) {
    undefined = this->Retain(type == ElementType::Float32
                                 ? BytesOf(std::vector(values, std::numeric_limits<float>::quiet_NaN()))
                             : type == ElementType::Float64
                                 ? BytesOf(std::vector(values, std::numeric_limits<double>::quiet_NaN()))
                                 : std::vector<std::byte>(values * SizeOf(type)));
  }
  return undefined;
}

void VtkXmlPiece::Write(const std::string& path) const
{
  const std::string end = "</AppendedData>\n";
  std::string head = fmt::format(
      "<{0} {1}>\n<Piece {2}>\n{3}</Piece>\n</{0}>\n", this->Type, this->Grid, this->Piece, this->Elements);
  head = VtkXmlFile(this->Type, head, "<AppendedData encoding=\"raw\">\n_" + end);
  const std::size_t begin = head.rfind(end);
  std::vector<iovec> buffers{{head.data(), begin}};
  buffers.insert(buffers.end(), this->Data.begin(), this->Data.end());
  buffers.push_back({head.data() + begin, head.size() - begin});
  PlainFile(path, PlainFile::Purpose::Create).Write(0, buffers);
}

/// VTK's flags of cells. Cells under finer patches have both flags, as in the reader's grids.
constexpr std::uint8_t DuplicateCell = 1, RefinedCell = 8;
constexpr const char* FlagsName = "vtkGhostType";

std::vector<bool> ShownPatches(const SelectedStep& step, const Catalog& whole)
{
  std::vector<bool> shown(whole.Patches.size(), false);
  for (std::size_t p = 0; p < step.Data().Patches.size(); ++p) {
    shown[step.NumberInStep(static_cast<int>(p))] = true;
  }
  return shown;
}

/// Writes the pieces of a step. All pieces have the same arrays.
class Pieces
{
public:
  /// Finds the arrays that all pieces have, and the cells that other patches replace. `whole`: the catalog of
  /// the step with all patches, as stored. Both arguments must outlive this object.
  Pieces(const SelectedStep& step, const Catalog& whole);

  /// Returns the name of a patch's file.
  std::string FileNameOf(int patch) const;
  /// Writes the file of patch arrays.Patch. Throws Error if the file cannot be written, or if the arrays lack
  /// the geometry or are damaged.
  void Write(const PatchArrays& arrays, const std::string& path) const;

private:
  bool HasPoints(int patch) const
  {
    return this->Data.RoleOf(this->Data.Patches[patch].Level) == LevelRole::Points;
  }
  const LoadedArray& RequiredArray(const PatchArrays& arrays, int variable) const;
  std::uint64_t TuplesOf(int patch, Centering center) const;
  std::vector<std::uint8_t> FlagsOf(int patch) const;
  VtkXmlPiece BeginPiece(int patch, bool hidesCells) const;
  VtkXmlPiece BeginStructuredPiece(int patch, bool hidesCells) const;
  void AddData(const PatchArrays& arrays, const std::vector<std::uint8_t>& flags, VtkXmlPiece& piece) const;
  void AddGrid(const PatchArrays& arrays, VtkXmlPiece& piece) const;
  void AddPositions(const PatchArrays& arrays, int variable, VtkXmlPiece& piece) const;
  void AddPoints(const PatchArrays& arrays, VtkXmlPiece& piece) const;
  void AddAxes(int patch, VtkXmlPiece& piece) const;
  void AddCells(const PatchArrays& arrays, int list, const std::string& element, VtkXmlPiece& piece) const;

  const SelectedStep& Step;
  const Catalog& Data;
  const Nesting PatchNesting;  ///< nesting of the whole step
  bool HasFlags = false;       ///< true if some cells may be hidden
  std::vector<bool> Present;   ///< for each variable: whether a patch has it
  std::vector<bool> OnPoints;  ///< for each variable: whether a list of points has it
};

Pieces::Pieces(const SelectedStep& step, const Catalog& whole)
    : Step(step),
      Data(step.Data()),
      PatchNesting(whole, ShownPatches(step, whole)),
      Present(this->Data.Variables.size(), false),
      OnPoints(this->Data.Variables.size(), false)
{
  for (std::size_t p = 0; p < this->Data.Patches.size(); ++p) {
    const int patch = static_cast<int>(p);
    for (std::size_t v = 0; v < this->Data.Variables.size(); ++v) {
      const bool has = this->Data.PresenceOf(static_cast<int>(v), patch) == Presence::Stored;
      this->Present[v] = this->Present[v] || has;
      this->OnPoints[v] = this->OnPoints[v] || (has && this->HasPoints(patch));
    }
    const int level = this->Data.Patches[p].Level;
    const bool refines = level > 0 && this->Data.RoleOf(level) == LevelRole::Refinement;
    this->HasFlags = this->HasFlags || (refines && !this->Data.IsMesh()) ||
                     this->PatchNesting.HasUnownedCells(step.NumberInStep(patch));
  }
}

std::string Pieces::FileNameOf(int patch) const
{
  const char* extension = "vti";
  if (this->HasPoints(patch) || this->Data.Grid == GridType::Polygonal) {
    extension = "vtp";
  } else if (this->Data.Grid != GridType::Uniform) {
    extension = this->Data.Grid == GridType::Rectilinear   ? "vtr"
                : this->Data.Grid == GridType::Curvilinear ? "vts"
                                                           : "vtu";
  }
  return fmt::format("{:06}.{}", patch, extension);
}

void Pieces::Write(const PatchArrays& arrays, const std::string& path) const
{
  const std::vector<std::uint8_t> flags = this->FlagsOf(arrays.Patch);
  const bool hidesCells =
      std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag != 0; });
  VtkXmlPiece piece = this->BeginPiece(arrays.Patch, hidesCells);
  this->AddData(arrays, flags, piece);
  this->AddGrid(arrays, piece);
  piece.Write(path);
}

const LoadedArray& Pieces::RequiredArray(const PatchArrays& arrays, int variable) const
{
  if (variable < 0 || !arrays.Arrays[variable]) {
    throw FileError(this->Data.Path,
        fmt::format("the geometry of patch {}", this->Step.NumberInStep(arrays.Patch)),
        variable < 0 ? "nothing" : "no '" + PlainText(this->Data.Variables[variable].Name) + "'",
        "The file is damaged");
  }
  return *arrays.Arrays[variable];
}

std::uint64_t Pieces::TuplesOf(int patch, Centering center) const
{
  const auto dims = this->Data.ArrayDims(patch, this->HasPoints(patch) ? Centering::Cell : center, {0, 0, 0});
  return static_cast<std::uint64_t>(dims[0] * dims[1] * dims[2]);
}

/// Returns the flags of all cells; an empty list if no selected patch needs flags, or for a list of
/// points.
std::vector<std::uint8_t> Pieces::FlagsOf(int patch) const
{
  if (!this->HasFlags || this->HasPoints(patch)) {
    return {};
  }
  const int number = this->Step.NumberInStep(patch);
  std::vector<std::uint8_t> flags = this->PatchNesting.CellsShownElsewhere(number);
  flags.resize(this->TuplesOf(patch, Centering::Cell), 0);
  const std::vector<std::uint8_t> covered = this->PatchNesting.CoveredCells(number);
  for (std::size_t i = 0; i < covered.size(); ++i) {
    flags[i] = covered[i] ? RefinedCell | DuplicateCell : flags[i];
  }
  return flags;
}

VtkXmlPiece Pieces::BeginPiece(int patch, bool hidesCells) const
{
  const std::uint64_t points = this->TuplesOf(patch, Centering::Node);
  if (this->HasPoints(patch)) {
    return {"PolyData", "", fmt::format("NumberOfPoints=\"{0}\" NumberOfVerts=\"{0}\"", points)};
  }
  if (this->Data.IsMesh()) {
    const auto& cells = this->Data.Meshes[patch].Cells;
    const bool polygonal = this->Data.Grid == GridType::Polygonal;
    return {polygonal ? "PolyData" : "UnstructuredGrid", "",
        polygonal ? fmt::format("NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" "
                                "NumberOfPolys=\"{}\" NumberOfStrips=\"{}\"",
                        points, cells[0], cells[1], cells[2], cells[3])
                  : fmt::format("NumberOfPoints=\"{}\" NumberOfCells=\"{}\"", points, cells[0])};
  }
  return this->BeginStructuredPiece(patch, hidesCells);
}

/// Begins the piece of a structured grid. ParaView 5.11 crashes when it draws a grid that has hidden cells
/// and does not end at index 0. So the indices of grids with hidden cells are shifted, and end at 0.
VtkXmlPiece Pieces::BeginStructuredPiece(int patch, bool hidesCells) const
{
  const Level& level = this->Data.Levels[this->Data.Patches[patch].Level];
  Box nodes = this->Data.NodesOf(this->Data.Patches[patch].Level, this->Data.Patches[patch].Cells);
  Double3 origin = this->Data.Origin;
  for (int axis = 0; axis < 3 && hidesCells; ++axis) {
    origin[axis] += nodes.Upper[axis] * level.Spacing[axis];
    nodes.Lower[axis] -= nodes.Upper[axis];
    nodes.Upper[axis] = 0;
  }
  const std::string extent = fmt::format("Extent=\"{} {} {} {} {} {}\"", nodes.Lower[0], nodes.Upper[0],
      nodes.Lower[1], nodes.Upper[1], nodes.Lower[2], nodes.Upper[2]);
  if (this->Data.Grid != GridType::Uniform) {
    return {this->Data.Grid == GridType::Rectilinear ? "RectilinearGrid" : "StructuredGrid", "Whole" + extent,
        extent};
  }
  return {"ImageData",
      fmt::format("Whole{} Origin=\"{}\" Spacing=\"{}\"", extent, fmt::join(origin, " "),
          fmt::join(level.Spacing, " ")),
      extent};
}

void Pieces::AddData(
    const PatchArrays& arrays, const std::vector<std::uint8_t>& flags, VtkXmlPiece& piece) const
{
  std::vector<VtkXmlArray> points, cells;
  for (std::size_t v = 0; v < arrays.Arrays.size(); ++v) {
    const Variable& variable = this->Data.Variables[v];
    const bool replaced = !flags.empty() && variable.Name == FlagsName && variable.Center == Centering::Cell;
    if (this->Data.IsGeometry(static_cast<int>(v)) || !this->Present[v] || replaced) {
      continue;
    }
    const LoadedArray* const array = arrays.Arrays[v];
    const bool ofPoints = variable.Center == Centering::Node ||
                          (array ? this->HasPoints(arrays.Patch) : bool(this->OnPoints[v]));
    const ElementType type = this->Step.Types()[v];
    const int components =
        RequestInThreeDimensions(this->Data, static_cast<int>(v), {0, 0, 0}).OutputComponents;
    const std::uint64_t tuples = this->TuplesOf(arrays.Patch, ofPoints ? Centering::Node : Centering::Cell);
    (ofPoints ? points : cells)
        .push_back({variable.Name, type, components, tuples,
            array ? array->Values.get() : piece.UndefinedArray(type, tuples * components)});
  }
  if (!flags.empty()) {
    cells.push_back({FlagsName, ElementType::UInt8, 1, flags.size(), piece.Retain(BytesOf(flags))});
  }
  piece.Add("PointData", points);
  piece.Add("CellData", cells);
}

void Pieces::AddGrid(const PatchArrays& arrays, VtkXmlPiece& piece) const
{
  if (this->HasPoints(arrays.Patch)) {
    this->AddPoints(arrays, piece);
  } else if (this->Data.Grid == GridType::Rectilinear) {
    this->AddAxes(arrays.Patch, piece);
  } else if (this->Data.Grid == GridType::Curvilinear) {
    this->AddPositions(arrays, this->Data.CoordinatesVariable, piece);
  } else if (this->Data.IsMesh()) {
    this->AddPositions(arrays, this->Data.FindMeshArray(MeshRole::Points), piece);
    if (this->Data.Grid == GridType::Unstructured) {
      this->AddCells(arrays, 0, "Cells", piece);
    } else {
      const char* const elements[MeshSize::MostLists] = {"Verts", "Lines", "Polys", "Strips"};
      for (int list = 0; list < MeshSize::MostLists; ++list) {
        this->AddCells(arrays, list, elements[list], piece);
      }
    }
  }
}

/// Adds the positions of the points of a mesh or a curvilinear grid. Throws Error if the patch lacks
/// positions.
void Pieces::AddPositions(const PatchArrays& arrays, int variable, VtkXmlPiece& piece) const
{
  const std::uint64_t tuples = this->TuplesOf(arrays.Patch, Centering::Node);
  const LoadedArray none;
  const LoadedArray& array = tuples > 0 ? this->RequiredArray(arrays, variable) : none;
  piece.Add("Points", {{"Points", array.Type, 3, tuples, array.Values.get()}});
}

/// Adds a list of points, with a vertex cell for each point. Throws Error if the patch lacks points, or a
/// point is outside the domain.
void Pieces::AddPoints(const PatchArrays& arrays, VtkXmlPiece& piece) const
{
  const int level = this->Data.Patches[arrays.Patch].Level, variable = this->Data.PositionsVariable(level);
  const LoadedArray& numbers = this->RequiredArray(arrays, variable);
  const PointCells cells(this->Data, numbers, this->Data.Variables[variable].Name);
  std::vector<Double3> positions;
  std::vector<std::int64_t> nodes(cells.Count()), ends(cells.Count());
  for (std::size_t p = 0; p < cells.Count(); ++p) {
    positions.push_back(cells.PositionOf(p, level));
  }
  std::iota(nodes.begin(), nodes.end(), 0);
  std::iota(ends.begin(), ends.end(), 1);
  const std::uint64_t count = cells.Count();
  piece.Add("Points", {{"Points", ElementType::Float64, 3, count, piece.Retain(BytesOf(positions))}});
  piece.Add("Verts", {{"connectivity", ElementType::Int64, 1, count, piece.Retain(BytesOf(nodes))},
                         {"offsets", ElementType::Int64, 1, count, piece.Retain(BytesOf(ends))}});
}

void Pieces::AddAxes(int patch, VtkXmlPiece& piece) const
{
  const Box nodes = this->Data.NodesOf(this->Data.Patches[patch].Level, this->Data.Patches[patch].Cells);
  std::vector<VtkXmlArray> axes;
  for (int axis = 0; axis < 3; ++axis) {
    const Axis& all = this->Data.Axes[axis];
    axes.push_back({fmt::format("axis {}", axis), ElementType::Float64, 1,
        static_cast<std::uint64_t>(nodes.Width(axis)), all.Positions.data() + nodes.Lower[axis] - all.First});
  }
  piece.Add("Coordinates", axes);
}

void Pieces::AddCells(
    const PatchArrays& arrays, int list, const std::string& element, VtkXmlPiece& piece) const
{
  const MeshSize& size = this->Data.Meshes[arrays.Patch];
  const auto add = [&](MeshRole role, const char* name, std::int64_t count, std::size_t skipped) {
    VtkXmlArray array{name, role == MeshRole::Types ? ElementType::UInt8 : ElementType::Int64, 1,
        static_cast<std::uint64_t>(count), nullptr};
    if (count > 0) {
      const LoadedArray& values = this->RequiredArray(arrays, this->Data.FindMeshArray(role, list));
      array.Type = values.Type;
      array.Values = static_cast<const std::byte*>(values.Values.get()) + skipped * SizeOf(values.Type);
    }
    return array;
  };
  std::vector<VtkXmlArray> all{add(MeshRole::Connectivity, "connectivity", size.Connectivity[list], 0),
      // VTK's files leave out the leading 0 of the offsets.
      add(MeshRole::Offsets, "offsets", size.Cells[list], 1)};
  if (this->Data.Grid == GridType::Unstructured) {
    all.push_back(add(MeshRole::Types, "types", size.Cells[list], 0));
  }
  piece.Add(element, all);
}

/// Writes this rank's pieces. Throws Error if a piece cannot be read or written.
void WritePieces(SelectedStep& step, const Pieces& pieces, const std::string& folder, int threads,
    const std::function<void(double)>& progress)
{
  for (LoadResult loaded; step.Next(loaded);) {
    const std::vector<PatchArrays> patches = step.ArraysOf(loaded);
    RunTasksOrThrow(patches.size(), threads,
        [&](std::size_t i) { pieces.Write(patches[i], folder + "/" + pieces.FileNameOf(patches[i].Patch)); });
    progress(step.FractionRead());
  }
}

/// Returns the text of the .vtm file: the tree of levels and patches.
std::string BlockTree(const Catalog& data, const Pieces& pieces, const std::string& folder)
{
  std::string tree = "<vtkMultiBlockDataSet>\n";
  for (std::size_t l = 0; l < data.Levels.size(); ++l) {
    const Level& level = data.Levels[l];
    tree +=
        fmt::format("<Block index=\"{}\" name=\"{}\">\n", l, XmlText(data.NameOfLevel(static_cast<int>(l))));
    for (int i = 0; i < level.PatchCount; ++i) {
      const int patch = level.FirstPatch + i;
      tree += fmt::format("<DataSet index=\"{}\" name=\"{}\" file=\"{}/{}\"/>\n", i,
          XmlText(NameOfBlock(data, BlockOfPatch(data, patch))), folder, pieces.FileNameOf(patch));
    }
    tree += "</Block>\n";
  }
  return VtkXmlFile("vtkMultiBlockDataSet", tree + "</vtkMultiBlockDataSet>\n");
}

}  // namespace

ConversionResult ExportPieces(Communicator& ranks, const OpenedStep& from, const ConversionOptions& options,
    const std::string& folder, const std::string& name, const std::function<void(double)>& progress)
{
  SelectedStep step(ranks, from, options);
  const std::string target = folder + "/" + name, part = target + ".part";
  std::unique_ptr<Pieces> pieces;
  RunOnRankZero(ranks, [&] {
    fs::remove_all(part);
    fs::create_directory(part);
  });
  try {
    RunOnAllRanks(ranks, [&] {
      pieces = std::make_unique<Pieces>(step, from.Data());
      WritePieces(step, *pieces, part, options.Threads, progress);
    });
    RunOnRankZero(ranks, [&] {
      // The .vtm file is removed first, so that it never names pieces of another export.
      fs::remove(target + ".vtm");
      fs::remove_all(target);
      fs::rename(part, target);
      ReplaceFile(target + ".vtm", BlockTree(step.Data(), *pieces, name));
    });
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove_all(part, ignored);
    throw;
  }
  return ResultOf(step);
}

std::string StepFileName(const TimeStep& step)
{
  return fmt::format("step.{:06}", step.Step);
}

void WritePvdFile(const Series& series, const std::string& folder)
{
  const std::vector<double> times = TimeValues(series);
  std::string list = "<Collection>\n";
  for (std::size_t i = 0; i < series.Steps.size(); ++i) {
    list +=
        fmt::format("<DataSet timestep=\"{}\" file=\"{}.vtm\"/>\n", times[i], StepFileName(series.Steps[i]));
  }
  ReplaceFile(folder + "/steps.pvd", VtkXmlFile("Collection", list + "</Collection>\n"));
}

}  // namespace patchio::tools
