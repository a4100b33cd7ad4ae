#include "Exec/ReadTask.h"

#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace patchio {
namespace {

/// Larger components go through the scratch memory in pieces of about this size.
constexpr std::int64_t PieceBytes = std::int64_t(4) << 20;

bool NeedsRearranging(const ArrayShape& shape)
{
  return shape.OutputComponents != 1 || shape.StoredGhosts != shape.OutputGhosts;
}

/// Output components that no stored one goes to become 0.
void ZeroSurplus(const ReadTarget& target, int storedComponents, std::size_t elementBytes)
{
  const ArrayShape& shape = target.Shape;
  if (shape.OutputComponents > storedComponents) {
    std::memset(target.Data, 0, shape.OutputTuples() * shape.OutputComponents * elementBytes);
  }
}

void ReadComponent(Lane& lane, const Extent& extent, const ReadTarget& target, int slot)
{
  const ArrayShape& shape = target.Shape;
  const Dims stored = shape.StoredDims();
  const std::int64_t elementBytes = SizeOf(extent.Type);
  const std::int64_t rowBytes = stored[0] * elementBytes;
  // Whole planes of stripped ghosts at both ends are not even read.
  const std::int64_t skipped = std::max(0, shape.StoredGhosts[2] - shape.OutputGhosts[2]);
  const std::int64_t end = (stored[2] - skipped) * stored[1];
  const std::int64_t rowsInPiece = std::max<std::int64_t>(1, PieceBytes / rowBytes);
  for (std::int64_t row = skipped * stored[1]; row < end; row += rowsInPiece) {
    const std::int64_t rows = std::min(rowsInPiece, end - row);
    void* scratch = lane.Scratch(rows * rowBytes);
    lane.Read(extent, row * rowBytes, rows * rowBytes, scratch);
    PlaceRows(shape, scratch, row, rows, elementBytes, slot, target.Data);
  }
}

void ReadRaw(Lane& lane, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  const Extent* extents = table.Extents.data() + location.First;
  const ArrayShape& shape = target.Shape;
  if (!NeedsRearranging(shape)) {
    lane.Read(extents[0], 0, extents[0].Bytes, target.Data);
    return;
  }
  const std::size_t elementBytes = SizeOf(extents[0].Type);
  ZeroSurplus(target, static_cast<int>(location.Count), elementBytes);
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    ReadComponent(lane, extents[c], target, (*target.Slots)[c]);
  }
  ExtendEdges(shape, elementBytes, target.Data);
}

template <typename T>
std::vector<T> ReadAll(Lane& lane, const Extent& extent)
{
  std::vector<T> values(extent.Bytes / sizeof(T));
  lane.Read(extent, 0, extent.Bytes, values.data());
  return values;
}

/// Extents of a sparse location: list of materials; then, when some cell is mixed, mix_mat, next_mat and
/// vol_fracs.
void ReadSparse(Lane& lane, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  const Extent* extents = table.Extents.data() + location.First;
  const auto materials = ReadAll<std::int32_t>(lane, extents[0]);
  std::vector<std::int32_t> mixMaterial, mixNext;
  std::vector<float> mixFraction;
  if (location.Count == 4) {
    mixMaterial = ReadAll<std::int32_t>(lane, extents[1]);
    mixNext = ReadAll<std::int32_t>(lane, extents[2]);
    mixFraction = ReadAll<float>(lane, extents[3]);
  }
  const ArrayShape& shape = target.Shape;
  std::vector<float> fractions(shape.StoredTuples());
  if (!DecodeSparseFractions(materials.data(), materials.size(), mixMaterial.data(), mixNext.data(),
          mixFraction.data(), mixMaterial.size(), location.Material, fractions.size(), fractions.data())) {
    throw FileError(table.Files[extents[0].File],
        fmt::format("a sound list of materials at offset {}", extents[0].Offset),
        "an entry that points outside the mix arrays or in a circle", "The file is damaged");
  }
  const Dims stored = shape.StoredDims();
  ZeroSurplus(target, 1, sizeof(float));
  PlaceRows(
      shape, fractions.data(), 0, stored[1] * stored[2], sizeof(float), (*target.Slots)[0], target.Data);
  ExtendEdges(shape, sizeof(float), target.Data);
}

void FillConstant(float value, const ReadTarget& target)
{
  const std::int64_t tuples = target.Shape.OutputTuples();
  const int components = target.Shape.OutputComponents;
  ZeroSurplus(target, static_cast<int>(target.Slots->size()), sizeof(float));
  for (const int slot : *target.Slots) {
    float* output = static_cast<float*>(target.Data) + slot;
    for (std::int64_t i = 0; i < tuples; ++i) {
      output[i * components] = value;
    }
  }
}

}  // namespace

ReadMeter::Request::Request(ReadMeter& meter, std::uint64_t bytes) : Meter(meter)
{
  const int now = ++meter.InFlight;
  int peak = meter.Peak;
  while (now > peak && !meter.Peak.compare_exchange_weak(peak, now)) {
  }
  ++meter.RequestCount;
  meter.ByteCount += bytes;
}

void Lane::Read(const Extent& extent, std::uint64_t begin, std::uint64_t bytes, void* into)
{
  assert(begin + bytes <= extent.Bytes);
  if (this->CurrentNumber != extent.File) {
    this->Current = this->Storage.Open(extent.File);
    this->CurrentNumber = extent.File;
  }
  {
    const ReadMeter::Request request(this->Meter, bytes);
    this->Current->Read(extent.Offset + begin, into, bytes);
  }
  if (extent.BigEndian == HostIsLittleEndian()) {
    SwapByteOrder(into, bytes / SizeOf(extent.Type), SizeOf(extent.Type));
  }
}

void* Lane::Scratch(std::size_t bytes)
{
  if (this->Memory.size() < bytes) {
    this->Memory.resize(bytes);
  }
  return this->Memory.data();
}

ElementType TypeOf(const LocationTable& table, const Location& location)
{
  return location.Kind == Encoding::Raw ? table.Extents[location.First].Type : ElementType::Float32;
}

void ExecuteReadTask(
    Lane& lane, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  switch (location.Kind) {
    case Encoding::Raw:
      ReadRaw(lane, table, location, target);
      break;
    case Encoding::Constant:
      FillConstant(location.Value, target);
      break;
    case Encoding::SparseMaterials:
      ReadSparse(lane, table, location, target);
      break;
    case Encoding::Chunked:
    case Encoding::Library:
    case Encoding::Absent:
    case Encoding::Missing:
      assert(!"PlanReads leaves these out");
      break;
  }
}

}  // namespace patchio
