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

/// Positions count as equal if their distance is less than about this fraction of a cell's width.
constexpr double Tolerance = 1e-6;

/// The cell width of some blocks along each axis, and the bounds of their visible cells.
struct CellLevel
{
  std::array<double, 3> Width, Lower, Upper;

  double CellVolume() const { return this->Width[0] * this->Width[1] * this->Width[2]; }
  bool HasWidthOf(const CellLevel& other) const
  {
    for (int axis = 0; axis < 3; ++axis) {
      if (std::abs(this->Width[axis] - other.Width[axis]) > 1e-4 * other.Width[axis]) {
        return false;
      }
    }
    return true;
  }
};

/// Returns the box around the visible cells of a block; an empty box if all cells are hidden.
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

/// Extends the bounds of the level with the cell width of `more`. Adds `more` if `levels` has no such level.
void MergeLevel(std::vector<CellLevel>& levels, const CellLevel& more)
{
  const auto same = std::find_if(
      levels.begin(), levels.end(), [&](const CellLevel& level) { return level.HasWidthOf(more); });
  if (same == levels.end()) {
    levels.push_back(more);
    return;
  }
  for (int axis = 0; axis < 3; ++axis) {
    same->Lower[axis] = std::min(same->Lower[axis], more.Lower[axis]);
    same->Upper[axis] = std::max(same->Upper[axis], more.Upper[axis]);
  }
}

/// Returns the levels of all ranks, the finest level first. The cell width of a rectilinear block is the mean
/// width of its cells. Collective: every rank of the communicator calls it.
std::vector<CellLevel> LevelsOf(const std::vector<const Block*>& blocks, Communicator& ranks)
{
  std::vector<CellLevel> local, all;
  for (const Block* block : blocks) {
    const Box seen = VisibleCells(*block);
    if (seen.Empty()) {
      continue;
    }
    CellLevel level;
    for (int axis = 0; axis < 3; ++axis) {
      level.Lower[axis] = block->PositionsOf(axis)[seen.Lower[axis]];
      level.Upper[axis] = block->PositionsOf(axis)[seen.Upper[axis] + 1];
      level.Width[axis] = block->Form == BlockForm::Uniform
                              ? block->Spacing[axis]
                              : (block->Bounds[2 * axis + 1] - block->Bounds[2 * axis]) / block->Cells(axis);
    }
    MergeLevel(local, level);
  }
  for (const CellLevel& level : GatherValues(ranks, local)) {
    MergeLevel(all, level);
  }
  std::sort(all.begin(), all.end(),
      [](const CellLevel& a, const CellLevel& b) { return a.CellVolume() < b.CellVolume(); });
  return all;
}

/// Returns an image around all levels, with cells that are `times` times as wide as the cells of `level`. A
/// node of the image lies at the lower corner of `level`.
ImageGrid ImageGridAround(const CellLevel& level, int times, const std::vector<CellLevel>& all)
{
  ImageGrid grid;
  for (int axis = 0; axis < 3; ++axis) {
    double lower = level.Lower[axis], upper = level.Upper[axis];
    for (const CellLevel& other : all) {
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

/// Returns the nearest integer if `position` lies within Tolerance of the integer, otherwise `position`.
double SnapToInteger(double position)
{
  const double whole = std::round(position);
  return std::abs(position - whole) < Tolerance ? whole : position;
}

}  // namespace

ImageGrid ChooseImageGrid(const std::vector<const Block*>& blocks, double maxCells, Communicator& ranks)
{
  const std::vector<CellLevel> levels = LevelsOf(blocks, ranks);
  const auto fits = [&](const ImageGrid& grid) {
    return double(grid.Cells[0]) * grid.Cells[1] * grid.Cells[2] <= std::max(maxCells, 1.0);
  };
  for (const CellLevel& level : levels) {
    const ImageGrid grid = ImageGridAround(level, 1, levels);
    if (fits(grid)) {
      return grid;
    }
  }
  ImageGrid grid;
  for (int times = 2; !levels.empty() && (times == 2 || !fits(grid)); ++times) {
    grid = ImageGridAround(levels.back(), times, levels);
  }
  return grid;
}

AxisOverlaps::AxisOverlaps(const double* nodes, int cells, const ImageAxis& image)
{
  for (int cell = 0; cell < cells; ++cell) {
    const double lower = SnapToInteger((nodes[cell] - image.Origin) / image.Spacing);
    const double upper = SnapToInteger((nodes[cell + 1] - image.Origin) / image.Spacing);
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
    const double offset = position - nodes[point];
    if (this->List.empty()) {
      this->First = i;
    }
    this->Last = i;
    this->List.push_back({point, offset <= near ? 0 : offset / (nodes[point + 1] - nodes[point])});
  }
}

namespace {

constexpr double NotANumber = std::numeric_limits<double>::quiet_NaN();

ImageAxis AxisOf(const ImageGrid& grid, const Box& box, int axis)
{
  return {grid.Origin[axis], grid.Spacing[axis], box.Lower[axis], box.Upper[axis]};
}

/// Returns a list with one box: the block's cells that overlap the box `image` of cells of the image. Returns
/// an empty list if no cell overlaps. For point data, returns the points of these cells and of the cells that
/// overlap the cells of the image next to the box.
std::vector<Box> CellsWithin(const CellBlock& block, const ImageGrid& grid, const Box& image)
{
  const int beyond = block.IsPointData ? 1 : 0;
  const Box around = Grow(image, {beyond, beyond, beyond});
  Box cells;
  for (int axis = 0; axis < 3; ++axis) {
    const AxisOverlaps overlaps(block.Nodes[axis], block.NodeCount(axis) - 1, AxisOf(grid, around, axis));
    if (overlaps.List.empty()) {
      return {};
    }
    cells.Lower[axis] = overlaps.List.front().Cell;
    cells.Upper[axis] = overlaps.List.back().Cell + beyond;
  }
  return {cells};
}

/// A block and, along each axis, the map between its cells or points and the cells or points of the image.
template <typename AxisMap>
struct MappedBlock
{
  const CellBlock* Block;
  int Number;  ///< index of Block in the CellSet
  std::array<AxisMap, 3> Axes;
};

/// The blocks that overlap the image, and the blocks in each layer of the image along z. Coarse blocks come
/// first.
template <typename AxisMap>
struct MappedBlocks
{
  std::vector<MappedBlock<AxisMap>> List;
  std::vector<std::vector<const MappedBlock<AxisMap>*>> BlocksOfLayer;

  MappedBlocks(const CellSet& set, const ImageGrid& grid, const Box& box)
      : BlocksOfLayer(static_cast<std::size_t>(std::max<std::int64_t>(box.Width(2), 0)))
  {
    for (std::size_t b = 0; b < set.Blocks.size() && !box.Empty(); ++b) {
      const CellBlock& block = set.Blocks[b];
      const auto map = [&](int axis) {
        const int count = block.NodeCount(axis) - (set.IsPointData ? 0 : 1);
        return AxisMap(block.Nodes[axis], count, AxisOf(grid, box, axis));
      };
      MappedBlock<AxisMap> placed{&block, static_cast<int>(b), {map(0), map(1), map(2)}};
      if (std::none_of(placed.Axes.begin(), placed.Axes.end(),
              [](const AxisMap& axis) { return axis.List.empty(); })) {
        this->List.push_back(std::move(placed));
      }
    }
    std::stable_sort(this->List.begin(), this->List.end(),
        [](const auto& a, const auto& b) { return a.Block->CellVolume > b.Block->CellVolume; });
    for (const MappedBlock<AxisMap>& placed : this->List) {
      for (int k = placed.Axes[2].First; k <= placed.Axes[2].Last; ++k) {
        this->BlocksOfLayer[k - box.Lower[2]].push_back(&placed);
      }
    }
  }
};

/// Returns whether no component of a tuple is NaN.
template <typename Value>
bool IsNumber(const Value* values, int components)
{
  return std::none_of(values, values + components, [](Value value) { return value != value; });
}

/// The sums of values and weights over the cells that overlap each cell of a row of the image.
struct RowSums
{
  std::vector<double> Weights, Sums;

  RowSums(std::int64_t cells, int components) : Weights(cells, 0), Sums(cells * components, 0) {}

  /// Adds the visible cells of a row of a block, except cells with NaN. `first`: number of the first cell of
  /// the row. `fraction`: fraction of the cross-section of the image's row that the block's row overlaps.
  /// `x`: overlaps along the row. `lower`: index of the first cell of the image's row.
  template <typename Value>
  void Add(const CellBlock& block, const Value* values, int components, std::int64_t first, double fraction,
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
        const double weight = fraction * x.List[o].Fraction;
        this->Weights[to] += weight;
        for (int c = 0; c < components; ++c) {
          this->Sums[to * components + c] += weight * value[c];
        }
      }
    }
  }
};

using MappedCells = MappedBlocks<AxisOverlaps>;
using MappedPoints = MappedBlocks<AxisSamples>;

/// Returns the sums for the row (j, k) of the image. `array`: index of the array; -1: computes only the
/// weights.
template <typename Value>
RowSums SumsOfRow(
    const CellSet& set, int array, int components, const MappedCells& blocks, const Box& box, int j, int k)
{
  RowSums row(box.Width(0), components);
  for (const auto* placed : blocks.BlocksOfLayer[k - box.Lower[2]]) {
    const auto& [x, y, z] = placed->Axes;
    if (j < y.First || j > y.Last) {
      continue;
    }
    const CellBlock& block = *placed->Block;
    const auto* const values =
        array < 0 ? nullptr : reinterpret_cast<const Value*>(set.Values[placed->Number][array]);
    for (int oz = z.Begin[k - z.First]; oz < z.Begin[k - z.First + 1]; ++oz) {
      for (int oy = y.Begin[j - y.First]; oy < y.Begin[j - y.First + 1]; ++oy) {
        const std::int64_t first = block.Stride(1) * y.List[oy].Cell + block.Stride(2) * z.List[oz].Cell;
        row.Add(block, values, components, first, y.List[oy].Fraction * z.List[oz].Fraction, x, box.Lower[0]);
      }
    }
  }
  return row;
}

/// Sets the values of the cells in the row (j, k) of the image. Cells without visible data get NaN.
template <typename Value>
void FillCells(
    const CellSet& set, int array, const MappedCells& blocks, const Box& box, int j, int k, double* values)
{
  const int components = set.Arrays[array].Components;
  const RowSums row = SumsOfRow<Value>(set, array, components, blocks, box, j, k);
  for (std::size_t v = 0; v < row.Sums.size(); ++v) {
    const double weight = row.Weights[v / components];
    values[v] = weight > 0 ? row.Sums[v] / weight : NotANumber;
  }
}

/// Returns whether a point of the image lies in, or on the border of, a visible cell of a block.
bool IsOnVisibleCell(const CellBlock& block, const std::array<AxisSamples::Sample, 3>& at)
{
  if (!block.Flags) {
    return true;
  }
  Int3 lower, upper;
  for (int axis = 0; axis < 3; ++axis) {
    lower[axis] = std::max(at[axis].Point - (at[axis].Fraction > 0 ? 0 : 1), 0);
    upper[axis] = std::min(at[axis].Point, block.Cells[axis] - 2);
  }
  return block.AnyCellVisible(lower, upper);
}

/// Returns the trilinear interpolation between the points of a block.
template <typename Value>
double InterpolateAt(
    const CellBlock& block, const Value* values, int components, const std::array<AxisSamples::Sample, 3>& at)
{
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t point = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int upper = corner >> axis & 1;
      weight *= upper ? at[axis].Fraction : 1 - at[axis].Fraction;
      point += block.Stride(axis) * (at[axis].Point + upper);
    }
    sum += weight > 0 ? weight * values[point * components] : 0;
  }
  return sum;
}

/// Sets the values at the points in the row (j, k) of the image. `array`: index of the array; -1: sets 1 at
/// points in or on visible cells.
template <typename Value>
void FillPoints(
    const CellSet& set, int array, const MappedPoints& blocks, const Box& box, int j, int k, double* values)
{
  const int components = array < 0 ? 1 : set.Arrays[array].Components;
  for (const auto* placed : blocks.BlocksOfLayer[k - box.Lower[2]]) {
    const auto& [x, y, z] = placed->Axes;
    for (int i = x.First; i <= x.Last && j >= y.First && j <= y.Last; ++i) {
      const std::array<AxisSamples::Sample, 3> at{
          x.List[i - x.First], y.List[j - y.First], z.List[k - z.First]};
      double* const to = values + std::int64_t(i - box.Lower[0]) * components;
      const auto* const from =
          array < 0 ? nullptr : reinterpret_cast<const Value*>(set.Values[placed->Number][array]);
      const bool visible = IsOnVisibleCell(*placed->Block, at);
      for (int c = 0; c < components && visible; ++c) {
        const double value = from ? InterpolateAt(*placed->Block, from + c, components, at) : 1;
        to[c] = std::isnan(value) ? to[c] : value;
      }
    }
  }
}

/// Returns the lowest finite number of an array on all ranks; NaN if the array has no finite number.
/// Collective: every rank of the communicator calls it.
double LowestValue(vtkDataArray* array, Communicator& ranks)
{
  double lowest = std::numeric_limits<double>::infinity();
  for (int c = 0; c < array->GetNumberOfComponents(); ++c) {
    double range[2];
    array->GetFiniteRange(range, c);
    lowest = range[0] <= range[1] ? std::min(lowest, range[0]) : lowest;
  }
  lowest = ranks.Min({lowest})[0];
  return std::isfinite(lowest) ? lowest : NotANumber;
}

/// The cell data, or the point data, of the image.
class ImageArrays
{
public:
  /// Keeps a reference to `progress`, to which MakeArrays() reports from `begin` to `end`. `box`: the cells,
  /// or points, of the image on this rank.
  ImageArrays(const Box& box, const std::function<bool(double)>& progress, double begin, double end)
      : Extent(box), Progress(progress), ProgressBegin(begin), ProgressEnd(end)
  {
  }

  /// Makes the flags and all arrays of `set`. fill(type, array, j, k, values) sets the known values of the
  /// row (j, k) of an array; `type` is any value of the type of the array. Other values stay NaN. For array =
  /// -1, fill() sets positive values at visible cells or points; other values stay 0. `hidden`: flag of
  /// hidden cells or points.
  template <typename Fill>
  void MakeArrays(const CellSet& set, unsigned char hidden, Fill fill)
  {
    const std::int64_t width = this->Extent.Width(0);
    this->Flags->SetName(vtkDataSetAttributes::GhostArrayName());
    SetTuples(this->Extent.CellCount(), this->Flags);
    this->RunRows(0, set.Arrays.size() + 1, [&](int j, int k, std::size_t first) {
      std::vector<double> seen(width, 0);
      fill(char(), -1, j, k, seen.data());
      std::transform(seen.begin(), seen.end(), this->Flags->GetPointer(first),
          [&](double value) { return value > 0 ? 0 : hidden; });
    });
    for (std::size_t a = 0; a < set.Arrays.size(); ++a) {
      const CellArray& source = set.Arrays[a];
      const auto array = vtkSmartPointer<vtkDataArray>::Take(
          vtkDataArray::CreateDataArray(source.Type == VTK_FLOAT ? VTK_FLOAT : VTK_DOUBLE));
      array->SetName(source.Name.c_str());
      array->SetNumberOfComponents(source.Components);
      SetTuples(this->Extent.CellCount(), array);
      this->Arrays.push_back(array);
      this->RunRows(a + 1, set.Arrays.size() + 1, [&](int j, int k, std::size_t first) {
        std::vector<double> values(width * source.Components, NotANumber);
        switch (source.Type) {
          vtkTemplateMacro(fill(VTK_TT(), static_cast<int>(a), j, k, values.data()));
        }
        void* const to = array->GetVoidPointer(static_cast<vtkIdType>(first) * source.Components);
        if (source.Type == VTK_FLOAT) {
          std::copy(values.begin(), values.end(), static_cast<float*>(to));
        } else {
          std::copy(values.begin(), values.end(), static_cast<double*>(to));
        }
      });
    }
  }

  /// Sets the values of hidden cells or points to LowestValue(). Adds the arrays to `data`, and the flags if
  /// any rank has hidden cells or points. Collective: every rank of the communicator calls it.
  void AddArraysTo(Communicator& ranks, vtkDataSetAttributes* data) const
  {
    const unsigned char* const first = this->Flags->GetPointer(0);
    const unsigned char* const last = first + this->Flags->GetNumberOfValues();
    const bool allVisible = std::all_of(first, last, [](unsigned char flag) { return flag == 0; });
    const bool hides = !AllOf(ranks, allVisible);
    for (const auto& array : this->Arrays) {
      const double lowest = LowestValue(array, ranks);
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
  /// Calls work(j, k, first) for all rows, on all threads of TBB; `first` is the number of the first cell or
  /// point of the row. For the progress, the call is step `step` of `steps`. Stops if Progress returns false.
  template <typename Work>
  void RunRows(std::size_t step, std::size_t steps, Work work)
  {
    constexpr std::size_t batches = 16;
    const auto rows =
        static_cast<std::size_t>(this->Extent.Empty() ? 0 : this->Extent.Width(1) * this->Extent.Width(2));
    for (std::size_t batch = 0; batch < batches && !this->Stopped; ++batch) {
      this->Stopped = !this->Progress(this->ProgressBegin + (this->ProgressEnd - this->ProgressBegin) *
                                                                (step * batches + batch) / (steps * batches));
      tbb::parallel_for(
          batch * rows / batches, this->Stopped ? 0 : (batch + 1) * rows / batches, [&](std::size_t row) {
            work(this->Extent.Lower[1] + static_cast<int>(row % this->Extent.Width(1)),
                this->Extent.Lower[2] + static_cast<int>(row / this->Extent.Width(1)),
                row * this->Extent.Width(0));
          });
    }
  }

  const Box Extent;
  const std::function<bool(double)>& Progress;
  const double ProgressBegin, ProgressEnd;
  bool Stopped = false;
  vtkNew<vtkUnsignedCharArray> Flags;
  std::vector<vtkSmartPointer<vtkDataArray>> Arrays;
};

/// Returns the cells, or points, that this rank needs for its part of the image. Collective: every rank of
/// the communicator calls it.
CellSet CellsOfImage(const std::vector<const Block*>& blocks, bool isPointData, const ImageRequest& request,
    Communicator& ranks)
{
  CellSet set =
      MakeCellSet(blocks, isPointData, isPointData ? request.PointArrays : request.CellArrays, ranks);
  const std::vector<Box> requested = GatherValues(ranks, std::vector<Box>{request.Cells});
  AddRemoteCells(
      set,
      [&](int rank, int block) {
        return requested[rank].Empty() ? std::vector<Box>()
                                       : CellsWithin(set.Blocks[block], request.Grid, requested[rank]);
      },
      ranks);
  return set;
}

/// Makes the cell data of the image. Returns false if request.Progress has stopped the work. Collective:
/// every rank of the communicator calls it.
bool FillCellData(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image)
{
  const CellSet set = CellsOfImage(blocks, false, request, ranks);
  const MappedCells placed(set, request.Grid, request.Cells);
  ImageArrays arrays(request.Cells, request.Progress, 0.1, request.PointArrays.empty() ? 1.0 : 0.5);
  arrays.MakeArrays(
      set, vtkDataSetAttributes::HIDDENCELL, [&](auto type, int array, int j, int k, double* values) {
        using Value = decltype(type);
        if (array < 0) {
          const RowSums row = SumsOfRow<Value>(set, array, 0, placed, request.Cells, j, k);
          std::copy(row.Weights.begin(), row.Weights.end(), values);
        } else {
          FillCells<Value>(set, array, placed, request.Cells, j, k, values);
        }
      });
  arrays.AddArraysTo(ranks, image->GetCellData());
  return !arrays.IsStopped();
}

/// Makes the point data of the image. Returns false if request.Progress has stopped the work. Collective:
/// every rank of the communicator calls it.
bool FillPointData(const std::vector<const Block*>& blocks, const ImageRequest& request, Communicator& ranks,
    vtkImageData* image)
{
  const CellSet set = CellsOfImage(blocks, true, request, ranks);
  Box points = request.Cells;
  for (int axis = 0; axis < 3 && !points.Empty(); ++axis) {
    ++points.Upper[axis];
  }
  const MappedPoints placed(set, request.Grid, points);
  ImageArrays arrays(points, request.Progress, 0.5, 1.0);
  arrays.MakeArrays(
      set, vtkDataSetAttributes::HIDDENPOINT, [&](auto type, int array, int j, int k, double* values) {
        FillPoints<decltype(type)>(set, array, placed, points, j, k, values);
      });
  arrays.AddArraysTo(ranks, image->GetPointData());
  return !arrays.IsStopped();
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
