#include "Filters/Image.h"

#include "Base/Communicator.h"
#include "Catalog/Box.h"
#include "Filters/CellSet.h"
#include "Filters/VtkVersions.h"

#include <tbb/parallel_for.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace patchio::filters {

namespace {

/// Positions count as equal if they are closer than this fraction of a cell.
constexpr double Tolerance = 1e-6;

/// Blocks with cells of one width, and the box around their visible cells.
struct Level
{
  std::array<double, 3> Width, Lower, Upper;

  double Volume() const { return this->Width[0] * this->Width[1] * this->Width[2]; }
  bool HasWidthOf(const Level& other) const
  {
    for (int axis = 0; axis < 3; ++axis) {
      if (std::abs(this->Width[axis] - other.Width[axis]) > 1e-4 * other.Width[axis]) {
        return false;
      }
    }
    return true;
  }
};

/// Returns the box around the visible cells of a block; empty if there are none.
Box VisibleCells(const Block& block)
{
  const Int3 last{block.Cells(0) - 1, block.Cells(1) - 1, block.Cells(2) - 1};
  if (!block.Flags) {
    return {{0, 0, 0}, last};
  }
  const auto isVisible = [](unsigned char flag) { return !(flag & Block::HidingFlags); };
  Box seen{last, {-1, -1, -1}};
  const unsigned char* row = block.Flags;
  for (int k = 0; k <= last[2]; ++k) {
    for (int j = 0; j <= last[1]; ++j, row += last[0] + 1) {
      const unsigned char* const end = row + last[0] + 1;
      const unsigned char* const first = std::find_if(row, end, isVisible);
      if (first != end) {
        const auto behind =
            std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(first), isVisible);
        seen.Lower = {std::min<int>(seen.Lower[0], first - row), std::min(seen.Lower[1], j),
            std::min(seen.Lower[2], k)};
        seen.Upper = {std::max<int>(seen.Upper[0], behind.base() - row - 1), std::max(seen.Upper[1], j), k};
      }
    }
  }
  return seen;
}

void AddTo(std::vector<Level>& levels, const Level& more)
{
  const auto same =
      std::find_if(levels.begin(), levels.end(), [&](const Level& level) { return level.HasWidthOf(more); });
  if (same == levels.end()) {
    levels.push_back(more);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    same->Lower[axis] = std::min(same->Lower[axis], more.Lower[axis]);
    same->Upper[axis] = std::max(same->Upper[axis], more.Upper[axis]);
  }
}

/// Collective: returns the levels of all ranks, the finest first. Rectilinear blocks count by the mean width
/// of their cells.
std::vector<Level> LevelsOf(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  std::vector<Level> local, all;
  for (const Block* block : blocks) {
    const Box seen = VisibleCells(*block);
    if (seen.Empty()) {
      continue;
    }
    Level level;
    for (int axis = 0; axis < 3; ++axis) {
      level.Lower[axis] = block->PositionsOf(axis)[seen.Lower[axis]];
      level.Upper[axis] = block->PositionsOf(axis)[seen.Upper[axis] + 1];
      level.Width[axis] = block->Form == BlockForm::Uniform
                              ? block->Spacing[axis]
                              : (block->Bounds[2 * axis + 1] - block->Bounds[2 * axis]) / block->Cells(axis);
    }
    AddTo(local, level);
  }
  for (const Level& level : GatherValues(ranks, local)) {
    AddTo(all, level);
  }
  std::sort(all.begin(), all.end(), [](const Level& a, const Level& b) { return a.Volume() < b.Volume(); });
  return all;
}

/// Returns an image around all levels, with cells `times` times as wide as those of `level`. One node of the
/// image is the lower corner of `level`.
ImageGrid GridOf(const Level& level, int times, const std::vector<Level>& all)
{
  ImageGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    double lower = level.Lower[axis], upper = level.Upper[axis];
    for (const Level& other : all) {
      lower = std::min(lower, other.Lower[axis]);
      upper = std::max(upper, other.Upper[axis]);
    }
    const double width = level.Width[axis] * times;
    grid.Spacing[axis] = width;
    grid.Origin[axis] =
        level.Lower[axis] - width * std::ceil((level.Lower[axis] - lower) / width - Tolerance);
    const double cells = std::ceil((upper - grid.Origin[axis]) / width - Tolerance);
    grid.Cells[axis] = static_cast<int>(std::clamp(cells, 1.0, 1e9));
  }
  return grid;
}

double Snapped(double position)
{
  const double whole = std::round(position);
  return std::abs(position - whole) < Tolerance ? whole : position;
}

}  // namespace

ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double mostCells, Communicator& ranks)
{
  const std::vector<Level> levels = LevelsOf(blocks, ranks);
  const auto fits = [&](const ImageGrid& grid) {
    return double(grid.Cells[0]) * grid.Cells[1] * grid.Cells[2] <= std::max(mostCells, 1.0);
  };
  for (const Level& level : levels) {
    const ImageGrid grid = GridOf(level, 1, levels);
    if (fits(grid)) {
      return grid;
    }
  }
  ImageGrid grid;
  for (int times = 2; !levels.empty() && (times == 2 || !fits(grid)); ++times) {
    grid = GridOf(levels.back(), times, levels);
  }
  return grid;
}

AxisOverlaps::AxisOverlaps(const double* nodes, int cells, const ImageAxis& image)
{
  for (int cell = 0; cell < cells; ++cell) {
    const double lower = Snapped((nodes[cell] - image.Origin) / image.Spacing);
    const double upper = Snapped((nodes[cell + 1] - image.Origin) / image.Spacing);
    if (upper <= image.First || lower >= image.Last + 1) {
      continue;
    }
    const int last = static_cast<int>(std::min<double>(image.Last, std::ceil(upper) - 1));
    for (int i = static_cast<int>(std::max<double>(image.First, std::floor(lower))); i <= last; ++i) {
      if (this->List.empty()) {
        this->First = i;
        this->Last = i - 1;
      }
      if (i > this->Last) {
        this->Begin.push_back(static_cast<int>(this->List.size()));
        this->Last = i;
      }
      this->List.push_back({cell, std::min(upper, i + 1.0) - std::max(lower, double(i))});
    }
  }
  this->Begin.push_back(static_cast<int>(this->List.size()));
}

AxisSamples::AxisSamples(const double* nodes, int points, const ImageAxis& image)
{
  const double near = Tolerance * std::min(image.Spacing, nodes[1] - nodes[0]);
  for (int i = image.First; i <= image.Last; ++i) {
    const double position = image.Origin + image.Spacing * i;
    if (position < nodes[0] - near || position > nodes[points - 1] + near) {
      continue;
    }
    const auto next = std::upper_bound(nodes + 1, nodes + points, position + near) - nodes;
    const int point = static_cast<int>(next) - 1;
    const double way = position - nodes[point];
    if (this->List.empty()) {
      this->First = i;
    }
    this->Last = i;
    this->List.push_back({point, way <= near ? 0 : way / (nodes[point + 1] - nodes[point])});
  }
}

namespace {

constexpr double NotANumber = std::numeric_limits<double>::quiet_NaN();

ImageAxis AxisOf(const ImageGrid& grid, const Box& box, int axis)
{
  return {grid.Origin[axis], grid.Spacing[axis], box.Lower[axis], box.Upper[axis]};
}

/// Returns the box of a block's cells that meet cells of the image, or no box. For points: the points of such
/// cells, and of cells that only touch the image.
std::vector<Box> CellsWithin(const CellBlock& block, const ImageGrid& grid, const Box& image)
{
  const int beyond = block.OfPoints ? 1 : 0;
  const Box around = Grown(image, {beyond, beyond, beyond});
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const AxisOverlaps meets(block.Nodes[axis], block.NodeCount(axis) - 1, AxisOf(grid, around, axis));
    if (meets.List.empty()) {
      return {};
    }
    cells.Lower[axis] = meets.List.front().Cell;
    cells.Upper[axis] = meets.List.back().Cell + beyond;
  }
  return {cells};
}

/// A block and, along each axis, the map from its cells or points to those of the image.
template <typename AxisMap>
struct Placed
{
  const CellBlock* Of;
  int Number;
  std::array<AxisMap, 3> Axes;
};

/// The blocks that meet the image, and the blocks in each layer along z; coarse blocks come first.
template <typename AxisMap>
struct PlacedBlocks
{
  std::vector<Placed<AxisMap>> List;
  std::vector<std::vector<const Placed<AxisMap>*>> OfLayer;

  PlacedBlocks(const CellSet& set, const ImageGrid& grid, const Box& box)
      : OfLayer(static_cast<std::size_t>(std::max<std::int64_t>(box.Width(2), 0)))
  {
    for (std::size_t b = 0; b < set.Blocks.size() && !box.Empty(); ++b) {
      const CellBlock& block = set.Blocks[b];
      const auto map = [&](int axis) {
        const int count = block.NodeCount(axis) - (set.OfPoints ? 0 : 1);
        return AxisMap(block.Nodes[axis], count, AxisOf(grid, box, axis));
      };
      Placed<AxisMap> placed{&block, static_cast<int>(b), {map(0), map(1), map(2)}};
      if (std::none_of(placed.Axes.begin(), placed.Axes.end(),
              [](const AxisMap& axis) { return axis.List.empty(); })) {
        this->List.push_back(std::move(placed));
      }
    }
    std::stable_sort(this->List.begin(), this->List.end(),
        [](const auto& a, const auto& b) { return a.Of->CellVolume > b.Of->CellVolume; });
    for (const Placed<AxisMap>& placed : this->List) {
      for (int k = placed.Axes[2].First; k <= placed.Axes[2].Last; ++k) {
        this->OfLayer[k - box.Lower[2]].push_back(&placed);
      }
    }
  }
};

template <typename Value>
bool IsNumber(const Value* values, int components)
{
  return std::none_of(values, values + components, [](Value value) { return value != value; });
}

/// Sums of values and weights over the cells that meet a row of the image.
struct RowSums
{
  std::vector<double> Weights, Sums;

  RowSums(std::int64_t cells, int components) : Weights(cells, 0), Sums(cells * components, 0) {}

  /// Adds a row of a block's cells. first: number of the row's first cell; part: fraction of the image's row
  /// that the block's row overlaps; lower: first column of the image's row.
  template <typename Value>
  void Add(const CellBlock& block, const Value* values, int components, std::int64_t first, double part,
      const AxisOverlaps& x, int lower)
  {
    for (int i = x.First; i <= x.Last; ++i) {
      const std::int64_t to = i - lower;
      for (int o = x.Begin[i - x.First]; o < x.Begin[i - x.First + 1]; ++o) {
        const std::int64_t cell = first + x.List[o].Cell;
        const Value* const value = values + cell * components;
        if ((block.Flags && (block.Flags[cell] & Block::HidingFlags)) || !IsNumber(value, components)) {
          continue;
        }
        const double weight = part * x.List[o].Part;
        this->Weights[to] += weight;
        for (int c = 0; c < components; ++c) {
          this->Sums[to * components + c] += weight * value[c];
        }
      }
    }
  }
};

using PlacedCells = PlacedBlocks<AxisOverlaps>;
using PlacedPoints = PlacedBlocks<AxisSamples>;

/// Returns the sums for one row of the image; with array = -1, only the weights.
template <typename Value>
RowSums SumsOfRow(
    const CellSet& set, int array, int components, const PlacedCells& blocks, const Box& box, int j, int k)
{
  RowSums row(box.Width(0), components);
  for (const auto* placed : blocks.OfLayer[k - box.Lower[2]]) {
    const auto& [x, y, z] = placed->Axes;
    if (j < y.First || j > y.Last) {
      continue;
    }
    const CellBlock& block = *placed->Of;
    const auto* const values =
        array < 0 ? nullptr : reinterpret_cast<const Value*>(set.Values[placed->Number][array]);
    for (int oz = z.Begin[k - z.First]; oz < z.Begin[k - z.First + 1]; ++oz) {
      for (int oy = y.Begin[j - y.First]; oy < y.Begin[j - y.First + 1]; ++oy) {
        const std::int64_t first = block.Stride(1) * y.List[oy].Cell + block.Stride(2) * z.List[oz].Cell;
        row.Add(block, values, components, first, y.List[oy].Part * z.List[oz].Part, x, box.Lower[0]);
      }
    }
  }
  return row;
}

template <typename Value>
void FillCells(
    const CellSet& set, int array, const PlacedCells& blocks, const Box& box, int j, int k, double* values)
{
  const int components = set.Arrays[array].Components;
  const RowSums row = SumsOfRow<Value>(set, array, components, blocks, box, j, k);
  for (std::size_t v = 0; v < row.Sums.size(); ++v) {
    const double weight = row.Weights[v / components];
    values[v] = weight > 0 ? row.Sums[v] / weight : NotANumber;
  }
}

/// Returns whether a point lies in, or on, a visible cell of a block.
bool IsOnVisible(const CellBlock& block, const std::array<AxisSamples::Sample, 3>& at)
{
  if (!block.Flags) {
    return true;
  }
  Int3 lower, upper, cell;
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = std::max(at[axis].Point - (at[axis].Beyond > 0 ? 0 : 1), 0);
    upper[axis] = std::min(at[axis].Point, block.Cells[axis] - 2);
  }
  for (cell[2] = lower[2]; cell[2] <= upper[2]; ++cell[2]) {
    for (cell[1] = lower[1]; cell[1] <= upper[1]; ++cell[1]) {
      for (cell[0] = lower[0]; cell[0] <= upper[0]; ++cell[0]) {
        if (!(block.Flags[block.CellAfter(cell)] & Block::HidingFlags)) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Interpolates trilinearly between the points of a block.
template <typename Value>
double Between(
    const CellBlock& block, const Value* values, int components, const std::array<AxisSamples::Sample, 3>& at)
{
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t point = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int upper = corner >> axis & 1;
      weight *= upper ? at[axis].Beyond : 1 - at[axis].Beyond;
      point += block.Stride(axis) * (at[axis].Point + upper);
    }
    sum += weight > 0 ? weight * values[point * components] : 0;
  }
  return sum;
}

/// Sets the values at the points of a row of the image; with array = -1, marks points of visible cells by 1.
template <typename Value>
void FillPoints(
    const CellSet& set, int array, const PlacedPoints& blocks, const Box& box, int j, int k, double* values)
{
  const int components = array < 0 ? 1 : set.Arrays[array].Components;
  for (const auto* placed : blocks.OfLayer[k - box.Lower[2]]) {
    const auto& [x, y, z] = placed->Axes;
    for (int i = x.First; i <= x.Last && j >= y.First && j <= y.Last; ++i) {
      const std::array<AxisSamples::Sample, 3> at{
          x.List[i - x.First], y.List[j - y.First], z.List[k - z.First]};
      double* const to = values + std::int64_t(i - box.Lower[0]) * components;
      const auto* const from =
          array < 0 ? nullptr : reinterpret_cast<const Value*>(set.Values[placed->Number][array]);
      const bool visible = IsOnVisible(*placed->Of, at);
      for (int c = 0; c < components && visible; ++c) {
        const double value = from ? Between(*placed->Of, from + c, components, at) : 1;
        to[c] = std::isnan(value) ? to[c] : value;
      }
    }
  }
}

/// Collective: returns the lowest finite number of an array; NaN if there is none.
double LowestOf(vtkDataArray* array, Communicator& ranks)
{
  double lowest = std::numeric_limits<double>::infinity();
  for (int c = 0; c < array->GetNumberOfComponents(); ++c) {
    double range[2];
    array->GetFiniteRange(range, c);
    lowest = range[0] <= range[1] ? std::min(lowest, range[0]) : lowest;
  }
  const std::vector<double> all = ranks.AllGather(std::vector<double>{lowest});
  lowest = *std::min_element(all.begin(), all.end());
  return std::isfinite(lowest) ? lowest : NotANumber;
}

/// The cell data, or the point data, of the image.
class ImagePart
{
public:
  ImagePart(const Box& box, const std::function<bool(double)>& progress, double begin, double end)
      : Rows(box), Progress(progress), Begin(begin), End(end)
  {
  }

  /// Makes the flags and all arrays. fill(value of the array's type, array, j, k, values of the row) sets the
  /// known values. Other values stay NaN or, for array = -1, 0, which means hidden.
  template <typename Fill>
  void Make(const CellSet& set, unsigned char hidden, Fill fill)
  {
    const std::int64_t width = this->Rows.Width(0);
    this->Flags->SetName(vtkDataSetAttributes::GhostArrayName());
    SetTuples(this->Rows.Cells(), this->Flags);
    this->RunRows(0, set.Arrays.size() + 1, [&](int j, int k, std::size_t first) {
      std::vector<double> seen(width, 0);
      fill(char(), -1, j, k, seen.data());
      std::transform(seen.begin(), seen.end(), this->Flags->GetPointer(first),
          [&](double is) { return is > 0 ? 0 : hidden; });
    });
    for (std::size_t a = 0; a < set.Arrays.size(); ++a) {
      const CellArray& of = set.Arrays[a];
      const auto array = vtkSmartPointer<vtkDataArray>::Take(
          vtkDataArray::CreateDataArray(of.Type == VTK_FLOAT ? VTK_FLOAT : VTK_DOUBLE));
      array->SetName(of.Name.c_str());
      array->SetNumberOfComponents(of.Components);
      SetTuples(this->Rows.Cells(), array);
      this->Arrays.push_back(array);
      this->RunRows(a + 1, set.Arrays.size() + 1, [&](int j, int k, std::size_t first) {
        std::vector<double> values(width * of.Components, NotANumber);
        switch (of.Type) {
          vtkTemplateMacro(fill(VTK_TT(), static_cast<int>(a), j, k, values.data()));
        }
        void* const to = array->GetVoidPointer(static_cast<vtkIdType>(first) * of.Components);
        if (of.Type == VTK_FLOAT) {
          std::copy(values.begin(), values.end(), static_cast<float*>(to));
        } else {
          std::copy(values.begin(), values.end(), static_cast<double*>(to));
        }
      });
    }
  }

  /// Collective: adds the arrays to the image's data, and the flags if any rank has hidden cells or points.
  void Give(Communicator& ranks, vtkDataSetAttributes* data) const
  {
    const unsigned char* const first = this->Flags->GetPointer(0);
    const unsigned char* const last = first + this->Flags->GetNumberOfValues();
    const bool allSeen = std::all_of(first, last, [](unsigned char flag) { return flag == 0; });
    const bool hides = !AllOf(ranks, allSeen);
    for (const auto& array : this->Arrays) {
      const double lowest = LowestOf(array, ranks);
      for (const unsigned char* flag = first; hides && flag != last; ++flag) {
        for (int c = 0; *flag && c < array->GetNumberOfComponents(); ++c) {
          array->SetComponent(flag - first, c, lowest);
        }
      }
      data->AddArray(array);
    }
    if (hides) {
      data->AddArray(this->Flags);
    }
  }

  bool IsStopped() const { return this->Stopped; }

private:
  /// Calls work(j, k, number of the row's first value) for all rows, on all threads, as step `step` of
  /// `steps`. Stops if Progress returns false.
  template <typename Work>
  void RunRows(std::size_t step, std::size_t steps, Work work)
  {
    constexpr std::size_t looks = 16;
    const auto rows =
        static_cast<std::size_t>(this->Rows.Empty() ? 0 : this->Rows.Width(1) * this->Rows.Width(2));
    for (std::size_t look = 0; look < looks && !this->Stopped; ++look) {
      this->Stopped =
          !this->Progress(this->Begin + (this->End - this->Begin) * (step * looks + look) / (steps * looks));
      tbb::parallel_for(
          look * rows / looks, this->Stopped ? 0 : (look + 1) * rows / looks, [&](std::size_t row) {
            work(this->Rows.Lower[1] + static_cast<int>(row % this->Rows.Width(1)),
                this->Rows.Lower[2] + static_cast<int>(row / this->Rows.Width(1)), row * this->Rows.Width(0));
          });
    }
  }

  const Box Rows;
  const std::function<bool(double)>& Progress;
  const double Begin, End;
  bool Stopped = false;
  vtkNew<vtkUnsignedCharArray> Flags;
  std::vector<vtkSmartPointer<vtkDataArray>> Arrays;
};

/// Collective: returns the cells, or points, that this rank needs for its part of the image.
CellSet CellsOfImage(
    const std::vector<const Block*>& blocks, bool ofPoints, const ImageRequest& request, Communicator& ranks)
{
  CellSet set = MakeCellSet(blocks, ofPoints, ofPoints ? request.PointArrays : request.CellArrays, ranks);
  const std::vector<Box> wanted = GatherValues(ranks, std::vector<Box>{request.Cells});
  AddCellsOfOthers(
      set,
      [&](int rank, int block) {
        return wanted[rank].Empty() ? std::vector<Box>()
                                    : CellsWithin(set.Blocks[block], request.Grid, wanted[rank]);
      },
      ranks);
  return set;
}

/// Collective: makes the cell data. Returns false if the user has stopped the work.
bool FillCellData(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image)
{
  const CellSet set = CellsOfImage(blocks, false, request, ranks);
  const PlacedCells placed(set, request.Grid, request.Cells);
  ImagePart part(request.Cells, request.Progress, 0.1, request.PointArrays.empty() ? 1.0 : 0.5);
  part.Make(set, vtkDataSetAttributes::HIDDENCELL, [&](auto type, int array, int j, int k, double* values) {
    using Value = decltype(type);
    if (array < 0) {
      const RowSums row = SumsOfRow<Value>(set, array, 0, placed, request.Cells, j, k);
      std::copy(row.Weights.begin(), row.Weights.end(), values);
    } else {
      FillCells<Value>(set, array, placed, request.Cells, j, k, values);
    }
  });
  part.Give(ranks, image->GetCellData());
  return !part.IsStopped();
}

/// Collective: makes the point data. Returns false if the user has stopped the work.
bool FillPointData(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image)
{
  const CellSet set = CellsOfImage(blocks, true, request, ranks);
  Box points = request.Cells;
  for (int axis = 0; axis < 3 && !points.Empty(); ++axis) {
    ++points.Upper[axis];
  }
  const PlacedPoints placed(set, request.Grid, points);
  ImagePart part(points, request.Progress, 0.5, 1.0);
  part.Make(set, vtkDataSetAttributes::HIDDENPOINT, [&](auto type, int array, int j, int k, double* values) {
    FillPoints<decltype(type)>(set, array, placed, points, j, k, values);
  });
  part.Give(ranks, image->GetPointData());
  return !part.IsStopped();
}

}  // namespace

void FillImage(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image)
{
  const Box& cells = request.Cells;
  image->SetOrigin(request.Grid.Origin.data());
  image->SetSpacing(request.Grid.Spacing.data());
  if (!cells.Empty()) {
    image->SetExtent(cells.Lower[0], cells.Upper[0] + 1, cells.Lower[1], cells.Upper[1] + 1, cells.Lower[2],
        cells.Upper[2] + 1);
  }
  bool done = FillCellData(blocks, request, ranks, image);
  if (!request.PointArrays.empty()) {
    done = FillPointData(blocks, request, ranks, image) && done;
  }
  if (!done) {
    image->Initialize();
  }
  request.Progress(1.0);
}

}  // namespace patchio::filters
