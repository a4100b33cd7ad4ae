#include "Io/Decode.h"

#include "Io/WordCopy.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace patchio {
namespace {

/// Layers that both sides have, per axis.
Int3 CommonGhosts(const ArrayShape& shape)
{
  Int3 common;
  for (int axis = 0; axis < 3; ++axis) {
    common[axis] = std::min(shape.StoredGhosts[axis], shape.OutputGhosts[axis]);
  }
  return common;
}

}  // namespace

void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes)
{
  auto* bytes = static_cast<std::byte*>(data);
  const auto words = static_cast<std::int64_t>(count);
  assert(elementBytes == 1 || elementBytes == 2 || elementBytes == 4 || elementBytes == 8);
  if (elementBytes == 2) {
    CopyClose<std::uint16_t, true>(bytes, words, bytes);
  } else if (elementBytes == 4) {
    CopyClose<std::uint32_t, true>(bytes, words, bytes);
  } else if (elementBytes == 8) {
    CopyClose<std::uint64_t, true>(bytes, words, bytes);
  }
}

namespace {

/// The value in type T that is the bound of the same values; `toward`: where to look for it.
template <typename T>
T BoundIn(double bound, double toward)
{
  if (std::abs(bound) > std::numeric_limits<T>::max()) {
    const bool outwards = (toward > bound) == (bound > 0) || std::isinf(bound);
    const T beyond = outwards ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    return bound > 0 ? beyond : -beyond;
  }
  const T near = static_cast<T>(bound);
  const bool outside = toward > bound ? near < bound : near > bound;
  return outside ? std::nextafter(near, static_cast<T>(toward)) : near;
}

template <typename T>
bool BlankRange(T* values, std::int64_t count, double from, double to)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const T low = BoundIn<T>(from, infinity);
  const T high = BoundIn<T>(to, -infinity);
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    // Without branches; NaN compares with nothing, not with itself either.
    const bool undefined = (!(values[i] == values[i])) | ((values[i] >= low) & (values[i] <= high));
    values[i] = undefined ? std::numeric_limits<T>::quiet_NaN() : values[i];
    found |= undefined;
  }
  return found != 0;
}

}  // namespace

bool BlankUndefined(void* values, std::int64_t count, ElementType type, double from, double to)
{
  if (type == ElementType::Float32) {
    return BlankRange(static_cast<float*>(values), count, from, to);
  }
  return type == ElementType::Float64 && BlankRange(static_cast<double*>(values), count, from, to);
}

Dims ArrayShape::StoredDims() const
{
  Dims dims = this->Interior;
  for (int axis = 0; axis < 3; ++axis) {
    dims[axis] += 2 * std::int64_t(this->StoredGhosts[axis]);
  }
  return dims;
}

Dims ArrayShape::OutputDims() const
{
  Dims dims = this->Interior;
  for (int axis = 0; axis < 3; ++axis) {
    dims[axis] += 2 * std::int64_t(this->OutputGhosts[axis]);
  }
  return dims;
}

std::int64_t ArrayShape::StoredTuples() const
{
  const Dims dims = this->StoredDims();
  return dims[0] * dims[1] * dims[2];
}

std::int64_t ArrayShape::OutputTuples() const
{
  const Dims dims = this->OutputDims();
  return dims[0] * dims[1] * dims[2];
}

Window::Window(const ArrayShape& shape)
    : Stored(shape.StoredDims()), Output(shape.OutputDims()), OutputComponents(shape.OutputComponents)
{
  const Int3 common = CommonGhosts(shape);
  for (int axis = 0; axis < 3; ++axis) {
    this->Begin[axis] = shape.StoredGhosts[axis] - common[axis];
    this->End[axis] = this->Stored[axis] - this->Begin[axis];
    this->Shift[axis] = shape.OutputGhosts[axis] - shape.StoredGhosts[axis];
    this->First[axis] = this->Begin[axis] + this->Shift[axis];
    this->Last[axis] = this->End[axis] - 1 + this->Shift[axis];
    this->Extends = this->Extends || this->First[axis] > 0;
  }
}

Window::Window(
    const Box& stored, const Box& output, const Box& region, const Int3& ratio, int outputComponents)
    : Ratio(ratio), OutputComponents(outputComponents)
{
  const Box owners = Coarsen(region, ratio);
  for (int axis = 0; axis < 3; ++axis) {
    this->Stored[axis] = stored.Width(axis);
    this->Output[axis] = output.Width(axis);
    this->Begin[axis] = std::int64_t(owners.Lower[axis]) - stored.Lower[axis];
    this->End[axis] = std::int64_t(owners.Upper[axis]) - stored.Lower[axis] + 1;
    this->Shift[axis] = std::int64_t(stored.Lower[axis]) * ratio[axis] - output.Lower[axis];
    this->First[axis] = std::int64_t(region.Lower[axis]) - output.Lower[axis];
    this->Last[axis] = std::int64_t(region.Upper[axis]) - output.Lower[axis];
    assert(this->Begin[axis] >= 0 && this->End[axis] <= this->Stored[axis]);
    assert(this->First[axis] >= 0 && this->Last[axis] < this->Output[axis]);
  }
}

void Window::SpreadTuples(int components)
{
  assert(components <= this->OutputComponents && this->Tuple == 1);
  for (std::int64_t* number :
      {&this->Stored[0], &this->Begin[0], &this->End[0], &this->Shift[0], &this->First[0]}) {
    *number *= components;
  }
  this->Output[0] *= this->OutputComponents;
  this->Last[0] = (this->Last[0] + 1) * components - 1;
  this->Tuple = components;
  this->OutputTuple = this->OutputComponents;
  this->OutputComponents = 1;
}

bool Window::Contiguous(std::int64_t& first) const
{
  if (this->OutputTuple != this->Tuple) {
    return false;
  }
  bool wide = true;  // what follows is one piece only while all axes before are as wide as the output
  for (int axis = 0; axis < 3; ++axis) {
    const bool all = this->Begin[axis] == 0 && this->End[axis] == this->Stored[axis];
    if (!all || this->Ratio[axis] != 1 || (!wide && this->Stored[axis] > 1)) {
      return false;
    }
    wide = wide && this->Stored[axis] == this->Output[axis];
  }
  first = (this->Shift[2] * this->Output[1] + this->Shift[1]) * this->Output[0] + this->Shift[0];
  return true;
}

RunPlacer::RunPlacer(const Window& window, std::size_t elementBytes, bool swap, int slot, void* output)
    : Places(window),
      ElementBytes(elementBytes),
      Swap(swap),
      Target(static_cast<std::byte*>(output) + slot * elementBytes)
{
  assert(elementBytes == 1 || elementBytes == 2 || elementBytes == 4 || elementBytes == 8);
  assert(slot >= 0 && slot < window.OutputComponents);
  // Rows that follow each other without a gap on both sides are one long row.
  this->Spreads = window.Ratio != Int3{1, 1, 1};
  for (int axis = 0; axis < 2 && !this->Spreads && this->RowsFollow(); ++axis) {
    this->MergeFirstAxes();
  }
  // What fits into the cache may still be there when it is used. Rows that lie in one piece were read in
  // place.
  constexpr std::int64_t large = 4 << 20, inCache = 1 << 20;
  const Dims& tuples = this->Places.Output;
  const bool isCached =
      window.IsReadSoon && window.StoredTuples() * static_cast<std::int64_t>(elementBytes) <= inCache;
  this->Streams = !isCached && HasAvx2 && elementBytes > 1 && window.OutputComponents == 1 &&
                  window.OutputTuple == window.Tuple &&
                  tuples[0] * tuples[1] * tuples[2] * static_cast<std::int64_t>(elementBytes) >= large;
}

/// True where rows follow each other in the output as they do where they are stored, and all of each is
/// placed.
bool RunPlacer::RowsFollow() const
{
  const Window& w = this->Places;
  return w.OutputTuple == w.Tuple && w.Stored[0] == w.Output[0] && w.Begin[0] == 0 &&
         w.End[0] == w.Stored[0] && w.Shift[0] == 0;
}

void RunPlacer::MergeFirstAxes()
{
  Window& w = this->Places;
  for (Dims* dims : {&w.Begin, &w.End, &w.Shift, &w.Output}) {
    (*dims)[1] *= w.Stored[0];
  }
  w.Stored[1] *= w.Stored[0];
  const auto drop = [](Dims& dims, std::int64_t last) { dims = {dims[1], dims[2], last}; };
  drop(w.Stored, 1);
  drop(w.Output, 1);
  drop(w.Begin, 0);
  drop(w.End, 1);
  drop(w.Shift, 0);
}

void RunPlacer::Place(const void* values, std::int64_t first, std::int64_t count) const
{
  assert(first >= 0 && count >= 0);
  assert(first + count <= this->Places.StoredTuples());
  if (count == 0) {
    return;
  }
  const auto* bytes = static_cast<const std::byte*>(values);
  if (this->ElementBytes == 1) {
    this->PlaceRows<std::uint8_t, false>(bytes, first, count);
  } else if (this->ElementBytes == 2) {
    this->Swap ? this->PlaceRows<std::uint16_t, true>(bytes, first, count)
               : this->PlaceRows<std::uint16_t, false>(bytes, first, count);
  } else if (this->ElementBytes == 4) {
    this->Swap ? this->PlaceRows<std::uint32_t, true>(bytes, first, count)
               : this->PlaceRows<std::uint32_t, false>(bytes, first, count);
  } else {
    this->Swap ? this->PlaceRows<std::uint64_t, true>(bytes, first, count)
               : this->PlaceRows<std::uint64_t, false>(bytes, first, count);
  }
  if (this->Streams) {
    EndOfStream();
  }
}

template <typename Word, bool Swap>
void RunPlacer::PlaceRows(const std::byte* values, std::int64_t first, std::int64_t count) const
{
  const Dims& stored = this->Places.Stored;
  const std::int64_t end = first + count;
  if (end <= stored[0] && stored[1] * stored[2] == 1) {
    this->PlaceInRow<Word, Swap>(values, first, end, 0, 0);  // without divisions, as this is frequent
    return;
  }
  const std::int64_t firstRow = first / stored[0];
  const std::int64_t endRow = (end - 1) / stored[0] + 1;
  const std::int64_t firstPlane = std::max(firstRow / stored[1], this->Places.Begin[2]);
  const std::int64_t endPlane = std::min((endRow - 1) / stored[1] + 1, this->Places.End[2]);
  for (std::int64_t k = firstPlane; k < endPlane; ++k) {
    const std::int64_t firstJ = std::max(firstRow - k * stored[1], this->Places.Begin[1]);
    const std::int64_t endJ = std::min(endRow - k * stored[1], this->Places.End[1]);
    for (std::int64_t j = firstJ; j < endJ; ++j) {
      this->PlaceInRow<Word, Swap>(values, first, end, j, k);
    }
  }
}

/// Places what lies in row (j, k) of the values `first` .. `end - 1`, of which `values` is the first.
template <typename Word, bool Swap>
void RunPlacer::PlaceInRow(
    const std::byte* values, std::int64_t first, std::int64_t end, std::int64_t j, std::int64_t k) const
{
  const Window& w = this->Places;
  const std::int64_t row = (k * w.Stored[1] + j) * w.Stored[0];
  const std::int64_t begin = std::max(first, row + w.Begin[0]);
  const std::int64_t count = std::min(end, row + w.End[0]) - begin;
  if (count <= 0) {
    return;
  }
  const std::byte* source = values + (begin - first) * sizeof(Word);
  if (this->Spreads) {
    this->Spread<Word>(source, count, {begin - row, j, k});
    return;
  }
  const std::int64_t outputRow = ((k + w.Shift[2]) * w.Output[1] + j + w.Shift[1]) * w.Output[0];
  if (w.OutputTuple != w.Tuple) {
    this->PlaceWider<Word>(source, begin - row, count, outputRow);
    return;
  }
  const std::int64_t tuple = outputRow + (begin - row) + w.Shift[0];
  std::byte* target = this->Target + tuple * w.OutputComponents * sizeof(Word);
  if (this->Streams && source != target) {
    CopyStreaming<Word, Swap>(source, count, target);
  } else if (w.OutputComponents == 1) {
    CopyClose<Word, Swap>(source, count, target);
  } else {
    CopyApart<Word, Swap>(source, count, target, w.OutputComponents);
  }
}

/// Tuples that get more components than they are stored with. Seldom: for vectors of two dimensions. first:
/// the index of the first value in its row; row: that of the output's row.
template <typename Word>
void RunPlacer::PlaceWider(
    const std::byte* from, std::int64_t first, std::int64_t count, std::int64_t row) const
{
  const Window& w = this->Places;
  for (std::int64_t n = 0; n < count; ++n) {
    Word word;
    std::memcpy(&word, from + n * sizeof(Word), sizeof(Word));
    word = this->Swap ? Swapped(word) : word;
    const std::int64_t tuple = (first + n + w.Shift[0]) / w.Tuple;
    const auto component = static_cast<int>((first + n) % w.Tuple);
    std::memcpy(this->Target + (row + tuple * w.OutputTuple + w.PlaceInTuple(component)) * sizeof(Word),
        &word, sizeof(Word));
  }
}

/// Each of the values, the first of which has the indices `stored`, goes to all places of the finer output
/// that it stands for. Seldom: for ghost layers from coarser levels.
template <typename Word>
void RunPlacer::Spread(const std::byte* from, std::int64_t count, const Dims& stored) const
{
  const Window& w = this->Places;
  for (std::int64_t n = 0; n < count; ++n) {
    Word word;
    std::memcpy(&word, from + n * sizeof(Word), sizeof(Word));
    word = this->Swap ? Swapped(word) : word;
    Dims low, high;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t tuple = axis == 0 ? w.Tuple : 1;
      const std::int64_t index = (stored[axis] + (axis == 0 ? n : 0)) / tuple;
      const std::int64_t place = index * w.Ratio[axis] + w.Shift[axis] / tuple;
      low[axis] = std::max(place, w.First[axis] / tuple);
      high[axis] = std::min(place + w.Ratio[axis] - 1, (w.Last[axis] + 1) / tuple - 1);
    }
    const std::int64_t width = std::int64_t(w.OutputTuple) * w.OutputComponents;
    const std::int64_t component = w.PlaceInTuple(static_cast<int>((stored[0] + n) % w.Tuple));
    for (std::int64_t k = low[2]; k <= high[2]; ++k) {
      for (std::int64_t j = low[1]; j <= high[1]; ++j) {
        const std::int64_t tuple = (k * w.Output[1] + j) * (w.Output[0] / w.OutputTuple) + low[0];
        std::byte* target = this->Target + (tuple * width + component) * sizeof(Word);
        for (std::int64_t i = low[0]; i <= high[0]; ++i, target += width * sizeof(Word)) {
          std::memcpy(target, &word, sizeof(Word));
        }
      }
    }
  }
}

void PlaceRun(const Window& window, const void* values, std::int64_t first, std::int64_t count,
    std::size_t elementBytes, bool swap, int slot, void* output)
{
  RunPlacer(window, elementBytes, swap, slot, output).Place(values, first, count);
}

}  // namespace patchio
