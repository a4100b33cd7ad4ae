#include "Io/Gaps.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace patchio {

void ExtendEdges(const Window& window, std::size_t elementBytes, void* output)
{
  if (!window.Extends) {
    return;
  }
  const int width = window.Tuple;
  const Dims dims{window.Output[0] / window.OutputTuple, window.Output[1], window.Output[2]};
  const Dims first{window.First[0] / width, window.First[1], window.First[2]};
  const Dims last{(window.Last[0] + 1) / width - 1, window.Last[1], window.Last[2]};
  const std::size_t tupleBytes = elementBytes * window.OutputComponents * window.OutputTuple;
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

/// Gives `count` tuples from `to` on the value of the tuple at `from`.
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

/// First entry of flags[begin .. end-1] that is `flag`; `end` when there is none.
std::int64_t FindFlag(const std::uint8_t* flags, std::int64_t begin, std::int64_t end, int flag)
{
  const void* found = begin < end ? std::memchr(flags + begin, flag, end - begin) : nullptr;
  return found ? static_cast<const std::uint8_t*>(found) - flags : end;
}

/// Fills the gaps of one row from within; false when it is all gap.
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

/// Rows or planes follow each other: those that have nothing become copies of the nearest one that has
/// something, the one before where two are as near. False when none has.
bool CopyNearest(const std::vector<bool>& hasSome, std::size_t bytes, std::byte* data)
{
  const auto count = static_cast<std::int64_t>(hasSome.size());
  std::int64_t last = -1;
  for (std::int64_t next = 0; next <= count; ++next) {
    if (next < count && !hasSome[next]) {
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
  std::vector<bool> rowHasSome(dims[1]);
  std::vector<bool> planeHasSome(dims[2], false);
  for (std::int64_t k = 0; k < dims[2]; ++k) {
    for (std::int64_t j = 0; j < dims[1]; ++j, flags += dims[0]) {
      rowHasSome[j] = FillRow(flags, dims[0], tupleBytes, data + k * planeBytes + j * rowBytes);
    }
    planeHasSome[k] = CopyNearest(rowHasSome, rowBytes, data + k * planeBytes);
  }
  const bool some = CopyNearest(planeHasSome, planeBytes, data);
  assert(some);
  static_cast<void>(some);
}

}  // namespace patchio
