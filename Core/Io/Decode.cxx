#include "Io/Decode.h"

#include "Io/WordCopy.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace patchio {

namespace {

struct MixArrays
{
  const std::int32_t* Material;
  const std::int32_t* Next;
  const float* Fraction;
  std::int64_t Count;
};

/// Sums the fractions of a material along the chain of a cell. Subtracts the length of the chain from
/// `steps`. Returns false if `steps` runs out or an index is outside the arrays.
bool SumFractionsInChain(
    const MixArrays& mix, std::int64_t entry, int material, std::int64_t& steps, float& fraction)
{
  fraction = 0;
  while (steps-- > 0) {
    if (entry < 0 || entry >= mix.Count) {
      return false;
    }
    if (mix.Material[entry] == material) {
      fraction += mix.Fraction[entry];
    }
    if (mix.Next[entry] == 0) {
      return true;
    }
    entry = std::int64_t(mix.Next[entry]) - 1;
  }
  return false;
}

}  // namespace

bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output)
{
  assert(materialCount == cells || materialCount == 1);
  const MixArrays mix{mixMaterial, mixNext, mixFraction, mixCount};
  // Valid files have short chains. The limit stops circular chains and long chains that many cells share.
  std::int64_t steps = mixCount + 16 * cells;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int32_t number = materials[materialCount == 1 ? 0 : cell];
    if (number >= 0) {
      output[cell] = number == material ? 1.0f : 0.0f;
    } else if (!SumFractionsInChain(mix, -(std::int64_t(number) + 1), material, steps, output[cell])) {
      return false;
    }
  }
  return true;
}

void ExtendEdges(const ArrayMapping& mapping, std::size_t elementBytes, void* output)
{
  if (!mapping.Extends) {
    return;
  }
  const int width = mapping.TupleWidth;
  const Dims dims{mapping.Output[0] / mapping.OutputTupleWidth, mapping.Output[1], mapping.Output[2]};
  const Dims first{mapping.First[0] / width, mapping.First[1], mapping.First[2]};
  const Dims last{(mapping.Last[0] + 1) / width - 1, mapping.Last[1], mapping.Last[2]};
  const std::size_t tupleBytes = elementBytes * mapping.OutputComponents * mapping.OutputTupleWidth;
  auto* tuples = static_cast<std::byte*>(output);
  const auto tupleAt = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return tuples + ((k * dims[1] + j) * dims[0] + i) * tupleBytes;
  };
  for (std::int64_t k = 0; k < dims[2]; ++k) {
    const std::int64_t nearK = std::clamp(k, first[2], last[2]);
    for (std::int64_t j = 0; j < dims[1]; ++j) {
      const std::int64_t nearJ = std::clamp(j, first[1], last[1]);
      const bool insideRow = nearK == k && nearJ == j;
      for (std::int64_t i = 0; i < dims[0]; ++i) {
        const std::int64_t nearI = std::clamp(i, first[0], last[0]);
        if (!insideRow || nearI != i) {
          std::memcpy(tupleAt(i, j, k), tupleAt(nearI, nearJ, nearK), tupleBytes);
        }
      }
    }
  }
}

namespace {

/// Copies the tuple at `from` to `count` tuples from `to` on.
void Repeat(const std::byte* from, std::int64_t count, std::size_t tupleBytes, std::byte* to)
{
  if (tupleBytes == 4) {
    std::uint32_t value;
    std::memcpy(&value, from, 4);
    std::fill_n(reinterpret_cast<std::uint32_t*>(to), count, value);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * tupleBytes, from, tupleBytes);
  }
}

/// Returns the index of the first entry of flags[begin .. end-1] that equals `flag`, or `end` if no entry
/// does.
std::int64_t FindFlag(const std::uint8_t* flags, std::int64_t begin, std::int64_t end, int flag)
{
  const void* found = begin < end ? std::memchr(flags + begin, flag, end - begin) : nullptr;
  return found ? static_cast<const std::uint8_t*>(found) - flags : end;
}

/// Fills the gaps of a row with values of the row. Returns false if the row has no values.
bool FillRow(const std::uint8_t* filled, std::int64_t count, std::size_t tupleBytes, std::byte* row)
{
  const std::int64_t first = FindFlag(filled, 0, count, 1);
  if (first == count) {
    return false;
  }
  Repeat(row + first * tupleBytes, first, tupleBytes, row);
  std::int64_t gap = FindFlag(filled, first, count, 0);
  while (gap < count) {
    const std::int64_t end = FindFlag(filled, gap, count, 1);
    Repeat(row + (gap - 1) * tupleBytes, end - gap, tupleBytes, row + gap * tupleBytes);
    gap = FindFlag(filled, end, count, 0);
  }
  return true;
}

/// Fills rows or planes without values with a copy of the nearest row or plane that has values, or of the
/// first of two equally near rows or planes. `bytes`: size of a row or plane. Returns false if no row or
/// plane has values.
bool CopyNearest(const std::vector<bool>& hasValues, std::size_t bytes, std::byte* data)
{
  const auto count = static_cast<std::int64_t>(hasValues.size());
  std::int64_t last = -1;
  for (std::int64_t next = 0; next <= count; ++next) {
    if (next < count && !hasValues[next]) {
      continue;
    }
    for (std::int64_t gap = last + 1; gap < next; ++gap) {
      const bool before = last >= 0 && (next == count || gap - last <= next - gap);
      if (before || next < count) {
        std::memcpy(data + gap * bytes, data + (before ? last : next) * bytes, bytes);
      }
    }
    last = next < count ? next : last;
  }
  return last >= 0;
}

}  // namespace

void FillGaps(const std::vector<std::uint8_t>& filled, const Dims& dims, std::size_t tupleBytes, void* output)
{
  const std::size_t rowBytes = dims[0] * tupleBytes;
  const std::size_t planeBytes = dims[1] * rowBytes;
  auto* const data = static_cast<std::byte*>(output);
  const std::uint8_t* flags = filled.data();
  std::vector<bool> rowHasValues(dims[1]);
  std::vector<bool> planeHasValues(dims[2], false);
  for (std::int64_t k = 0; k < dims[2]; ++k) {
    for (std::int64_t j = 0; j < dims[1]; ++j, flags += dims[0]) {
      rowHasValues[j] = FillRow(flags, dims[0], tupleBytes, data + k * planeBytes + j * rowBytes);
    }
    planeHasValues[k] = CopyNearest(rowHasValues, rowBytes, data + k * planeBytes);
  }
  const bool some = CopyNearest(planeHasValues, planeBytes, data);
  assert(some);
  static_cast<void>(some);
}

namespace {

/// Returns the number of ghost layers, per axis, that are both stored and delivered.
Int3 CommonGhosts(const ArrayShape& shape)
{
  Int3 common;
  for (int axis = 0; axis < 3; ++axis) {
    common[axis] = std::min(shape.StoredGhosts[axis], shape.OutputGhosts[axis]);
  }
  return common;
}

/// Returns the values per axis of an array with `ghosts` ghost layers around the interior.
Dims WithGhosts(Dims interior, const Int3& ghosts)
{
  for (int axis = 0; axis < 3; ++axis) {
    interior[axis] += 2 * std::int64_t(ghosts[axis]);
  }
  return interior;
}

}  // namespace

void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes)
{
  auto* bytes = static_cast<std::byte*>(data);
  const auto words = static_cast<std::int64_t>(count);
  assert(elementBytes == 1 || elementBytes == 2 || elementBytes == 4 || elementBytes == 8);
  if (elementBytes == 2) {
    CopyContiguous<std::uint16_t, true>(bytes, words, bytes);
  } else if (elementBytes == 4) {
    CopyContiguous<std::uint32_t, true>(bytes, words, bytes);
  } else if (elementBytes == 8) {
    CopyContiguous<std::uint64_t, true>(bytes, words, bytes);
  }
}

namespace {

/// Converts a bound of a range to type T, so that the same values of type T are in the range. `toward`: the
/// infinity on the side of the range's other bound.
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
bool ReplaceRange(T* values, std::int64_t count, double from, double to)
{
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const T low = BoundIn<T>(from, infinity);
  const T high = BoundIn<T>(to, -infinity);
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    // Branches would keep the compiler from using vectors. NaN does not equal itself.
    const bool undefined = (!(values[i] == values[i])) | ((values[i] >= low) & (values[i] <= high));
    values[i] = undefined ? std::numeric_limits<T>::quiet_NaN() : values[i];
    found |= undefined;
  }
  return found != 0;
}

}  // namespace

bool ReplaceUndefined(void* values, std::int64_t count, ElementType type, double from, double to)
{
  if (type == ElementType::Float32) {
    return ReplaceRange(static_cast<float*>(values), count, from, to);
  }
  return type == ElementType::Float64 && ReplaceRange(static_cast<double*>(values), count, from, to);
}

Dims ArrayShape::StoredDims() const
{
  return WithGhosts(this->Interior, this->StoredGhosts);
}

Dims ArrayShape::OutputDims() const
{
  return WithGhosts(this->Interior, this->OutputGhosts);
}

ArrayMapping::ArrayMapping(const ArrayShape& shape)
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

ArrayMapping::ArrayMapping(
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

void ArrayMapping::SetTupleWidth(int components)
{
  assert(components <= this->OutputComponents && this->TupleWidth == 1);
  for (std::int64_t* number :
      {&this->Stored[0], &this->Begin[0], &this->End[0], &this->Shift[0], &this->First[0]}) {
    *number *= components;
  }
  this->Output[0] *= this->OutputComponents;
  this->Last[0] = (this->Last[0] + 1) * components - 1;
  this->TupleWidth = components;
  this->OutputTupleWidth = this->OutputComponents;
  this->OutputComponents = 1;
}

bool ArrayMapping::IsContiguous(std::int64_t& first) const
{
  if (this->OutputTupleWidth != this->TupleWidth) {
    return false;
  }
  bool wide = true;  // a later axis is contiguous only if all axes before it are as wide as the output
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

RunPlacer::RunPlacer(const ArrayMapping& mapping, std::size_t elementBytes, bool swap, int slot, void* output)
    : Mapping(mapping),
      ElementBytes(elementBytes),
      Swap(swap),
      Target(static_cast<std::byte*>(output) + slot * elementBytes)
{
  assert(elementBytes == 1 || elementBytes == 2 || elementBytes == 4 || elementBytes == 8);
  assert(slot >= 0 && slot < mapping.OutputComponents);
  // Rows that are contiguous both as stored and in the output form one long row.
  this->Replicates = mapping.Ratio != Int3{1, 1, 1};
  for (int axis = 0; axis < 2 && !this->Replicates && this->RowsAreContiguous(); ++axis) {
    this->MergeFirstAxes();
  }
  // Values that fit into the cache and are used soon must stay in the cache, so these values are not
  // streamed. Contiguous values need no copy: they were read to their final position.
  constexpr std::int64_t large = 4 << 20, inCache = 1 << 20;
  const Dims& tuples = this->Mapping.Output;
  const bool isCached =
      mapping.IsUsedSoon && mapping.StoredTuples() * static_cast<std::int64_t>(elementBytes) <= inCache;
  this->Streams = !isCached && HasAvx2 && elementBytes > 1 && mapping.OutputComponents == 1 &&
                  mapping.OutputTupleWidth == mapping.TupleWidth &&
                  tuples[0] * tuples[1] * tuples[2] * static_cast<std::int64_t>(elementBytes) >= large;
}

/// Returns whether rows are placed completely, and are contiguous in the output as well as in the stored
/// array.
bool RunPlacer::RowsAreContiguous() const
{
  const ArrayMapping& w = this->Mapping;
  return w.OutputTupleWidth == w.TupleWidth && w.Stored[0] == w.Output[0] && w.Begin[0] == 0 &&
         w.End[0] == w.Stored[0] && w.Shift[0] == 0;
}

void RunPlacer::MergeFirstAxes()
{
  ArrayMapping& w = this->Mapping;
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
  assert(first + count <= this->Mapping.StoredTuples());
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
    FinishStreaming();
  }
}

template <typename Word, bool Swap>
void RunPlacer::PlaceRows(const std::byte* values, std::int64_t first, std::int64_t count) const
{
  const Dims& stored = this->Mapping.Stored;
  const std::int64_t end = first + count;
  if (end <= stored[0] && stored[1] * stored[2] == 1) {
    this->PlaceInRow<Word, Swap>(values, first, end, 0, 0);  // the frequent case, without divisions
    return;
  }
  const std::int64_t firstRow = first / stored[0];
  const std::int64_t endRow = (end - 1) / stored[0] + 1;
  const std::int64_t firstPlane = std::max(firstRow / stored[1], this->Mapping.Begin[2]);
  const std::int64_t endPlane = std::min((endRow - 1) / stored[1] + 1, this->Mapping.End[2]);
  for (std::int64_t k = firstPlane; k < endPlane; ++k) {
    const std::int64_t firstJ = std::max(firstRow - k * stored[1], this->Mapping.Begin[1]);
    const std::int64_t endJ = std::min(endRow - k * stored[1], this->Mapping.End[1]);
    for (std::int64_t j = firstJ; j < endJ; ++j) {
      this->PlaceInRow<Word, Swap>(values, first, end, j, k);
    }
  }
}

/// Places the values among first .. end - 1 that lie in row (j, k). `values` points to value `first`.
template <typename Word, bool Swap>
void RunPlacer::PlaceInRow(
    const std::byte* values, std::int64_t first, std::int64_t end, std::int64_t j, std::int64_t k) const
{
  const ArrayMapping& w = this->Mapping;
  const std::int64_t row = (k * w.Stored[1] + j) * w.Stored[0];
  const std::int64_t begin = std::max(first, row + w.Begin[0]);
  const std::int64_t count = std::min(end, row + w.End[0]) - begin;
  if (count <= 0) {
    return;
  }
  const std::byte* source = values + (begin - first) * sizeof(Word);
  if (this->Replicates) {
    this->Replicate<Word>(source, count, {begin - row, j, k});
    return;
  }
  const std::int64_t outputRow = ((k + w.Shift[2]) * w.Output[1] + j + w.Shift[1]) * w.Output[0];
  if (w.OutputTupleWidth != w.TupleWidth) {
    this->PlaceWiderTuples<Word>(source, begin - row, count, outputRow);
    return;
  }
  const std::int64_t tuple = outputRow + (begin - row) + w.Shift[0];
  std::byte* target = this->Target + tuple * w.OutputComponents * sizeof(Word);
  if (this->Streams && source != target) {
    CopyStreaming<Word, Swap>(source, count, target);
  } else if (w.OutputComponents == 1) {
    CopyContiguous<Word, Swap>(source, count, target);
  } else {
    CopyStrided<Word, Swap>(source, count, target, w.OutputComponents);
  }
}

/// Places tuples that have more components in the output than stored; only 2-D vectors and tensors need this
/// method. `first`: index of the first value in its row. `row`: index of the first value of the output's row.
template <typename Word>
void RunPlacer::PlaceWiderTuples(
    const std::byte* from, std::int64_t first, std::int64_t count, std::int64_t row) const
{
  const ArrayMapping& w = this->Mapping;
  for (std::int64_t n = 0; n < count; ++n) {
    Word word;
    std::memcpy(&word, from + n * sizeof(Word), sizeof(Word));
    word = this->Swap ? Swapped(word) : word;
    const std::int64_t tuple = (first + n + w.Shift[0]) / w.TupleWidth;
    const auto component = static_cast<int>((first + n) % w.TupleWidth);
    std::memcpy(
        this->Target + (row + tuple * w.OutputTupleWidth + w.OutputComponent(component)) * sizeof(Word),
        &word, sizeof(Word));
  }
}

/// Copies each value to all cells of the finer output that the value represents. `stored`: indices of the
/// first value. Only ghost layers from coarser levels need this method.
template <typename Word>
void RunPlacer::Replicate(const std::byte* from, std::int64_t count, const Dims& stored) const
{
  const ArrayMapping& w = this->Mapping;
  for (std::int64_t n = 0; n < count; ++n) {
    Word word;
    std::memcpy(&word, from + n * sizeof(Word), sizeof(Word));
    word = this->Swap ? Swapped(word) : word;
    Dims low, high;
    for (int axis = 0; axis < 3; ++axis) {
      const std::int64_t tuple = axis == 0 ? w.TupleWidth : 1;
      const std::int64_t index = (stored[axis] + (axis == 0 ? n : 0)) / tuple;
      const std::int64_t place = index * w.Ratio[axis] + w.Shift[axis] / tuple;
      low[axis] = std::max(place, w.First[axis] / tuple);
      high[axis] = std::min(place + w.Ratio[axis] - 1, (w.Last[axis] + 1) / tuple - 1);
    }
    const std::int64_t width = std::int64_t(w.OutputTupleWidth) * w.OutputComponents;
    const std::int64_t component = w.OutputComponent(static_cast<int>((stored[0] + n) % w.TupleWidth));
    for (std::int64_t k = low[2]; k <= high[2]; ++k) {
      for (std::int64_t j = low[1]; j <= high[1]; ++j) {
        const std::int64_t tuple = (k * w.Output[1] + j) * (w.Output[0] / w.OutputTupleWidth) + low[0];
        std::byte* target = this->Target + (tuple * width + component) * sizeof(Word);
        for (std::int64_t i = low[0]; i <= high[0]; ++i, target += width * sizeof(Word)) {
          std::memcpy(target, &word, sizeof(Word));
        }
      }
    }
  }
}

void PlaceRun(const ArrayMapping& mapping, const void* values, std::int64_t first, std::int64_t count,
    std::size_t elementBytes, bool swap, int slot, void* output)
{
  RunPlacer(mapping, elementBytes, swap, slot, output).Place(values, first, count);
}

}  // namespace patchio
