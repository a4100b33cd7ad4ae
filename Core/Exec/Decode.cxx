#include "Exec/Decode.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace patchio {
namespace {

template <typename Word, Word (*Swap)(Word)>
void SwapWords(void* data, std::size_t count)
{
  auto* bytes = static_cast<std::byte*>(data);
  for (std::size_t i = 0; i < count; ++i, bytes += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes, sizeof(Word));
    word = Swap(word);
    std::memcpy(bytes, &word, sizeof(Word));
  }
}

std::uint32_t Swap32(std::uint32_t word)
{
  return __builtin_bswap32(word);
}

std::uint64_t Swap64(std::uint64_t word)
{
  return __builtin_bswap64(word);
}

template <typename Word>
void CopyStrided(const Word* from, std::int64_t count, Word* to, std::int64_t stride)
{
  if (stride == 1) {
    std::copy_n(from, count, to);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    to[i * stride] = from[i];
  }
}

/// Layers that both sides have, per axis.
Int3 CommonGhosts(const ArrayShape& shape)
{
  Int3 common;
  for (int axis = 0; axis < 3; ++axis) {
    common[axis] = std::min(shape.StoredGhosts[axis], shape.OutputGhosts[axis]);
  }
  return common;
}

template <typename Word>
void PlaceRowsOf(const ArrayShape& shape, const Word* rows, std::int64_t firstRow, std::int64_t rowCount,
    int slot, Word* output)
{
  const Dims stored = shape.StoredDims();
  const Dims out = shape.OutputDims();
  const Int3 common = CommonGhosts(shape);
  Dims shift, begin, end;
  for (int axis = 0; axis < 3; ++axis) {
    shift[axis] = shape.OutputGhosts[axis] - shape.StoredGhosts[axis];
    begin[axis] = shape.StoredGhosts[axis] - common[axis];
    end[axis] = stored[axis] - begin[axis];
  }
  for (std::int64_t row = firstRow; row < firstRow + rowCount; ++row, rows += stored[0]) {
    const std::int64_t j = row % stored[1];
    const std::int64_t k = row / stored[1];
    if (j < begin[1] || j >= end[1] || k < begin[2] || k >= end[2]) {
      continue;
    }
    const std::int64_t tuple = ((k + shift[2]) * out[1] + (j + shift[1])) * out[0] + begin[0] + shift[0];
    CopyStrided(rows + begin[0], end[0] - begin[0], output + tuple * shape.OutputComponents + slot,
        shape.OutputComponents);
  }
}

}  // namespace

void SwapByteOrder(void* data, std::size_t count, std::size_t elementBytes)
{
  assert(elementBytes == 4 || elementBytes == 8);
  if (elementBytes == 4) {
    SwapWords<std::uint32_t, Swap32>(data, count);
  } else {
    SwapWords<std::uint64_t, Swap64>(data, count);
  }
}

bool HostIsLittleEndian()
{
  const std::uint16_t one = 1;
  std::uint8_t first;
  std::memcpy(&first, &one, 1);
  return first == 1;
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

void PlaceRows(const ArrayShape& shape, const void* rows, std::int64_t firstRow, std::int64_t rowCount,
    std::size_t elementBytes, int slot, void* output)
{
  assert(elementBytes == 4 || elementBytes == 8);
  if (elementBytes == 4) {
    PlaceRowsOf(shape, static_cast<const std::uint32_t*>(rows), firstRow, rowCount, slot,
        static_cast<std::uint32_t*>(output));
  } else {
    PlaceRowsOf(shape, static_cast<const std::uint64_t*>(rows), firstRow, rowCount, slot,
        static_cast<std::uint64_t*>(output));
  }
}

void ExtendEdges(const ArrayShape& shape, std::size_t elementBytes, void* output)
{
  const Dims dims = shape.OutputDims();
  const Int3 common = CommonGhosts(shape);
  Dims first, last;
  bool needed = false;
  for (int axis = 0; axis < 3; ++axis) {
    first[axis] = shape.OutputGhosts[axis] - common[axis];
    last[axis] = dims[axis] - 1 - first[axis];
    needed = needed || first[axis] > 0;
  }
  if (!needed) {
    return;
  }
  const std::size_t tupleBytes = elementBytes * shape.OutputComponents;
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

struct MixArrays
{
  const std::int32_t* Material;
  const std::int32_t* Next;
  const float* Fraction;
  std::int64_t Count;
};

/// Follows one cell's chain of materials, taking its length off `steps`; false when that runs out.
bool FractionInChain(
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
  // Chains in a sound file are short; a circle, or long chains shared by many cells, must not cost much.
  std::int64_t steps = mixCount + 16 * cells;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int32_t number = materials[materialCount == 1 ? 0 : cell];
    if (number >= 0) {
      output[cell] = number == material ? 1.0f : 0.0f;
    } else if (!FractionInChain(mix, -(std::int64_t(number) + 1), material, steps, output[cell])) {
      return false;
    }
  }
  return true;
}

}  // namespace patchio
