#include "Exec/ReadTask.h"

#include "Exec/Chunks.h"
#include "Support/ByteOrder.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>

namespace patchio {
namespace {

bool NeedsSwap(ElementType type, bool bigEndian)
{
  return SizeOf(type) > 1 && bigEndian == HostIsLittleEndian();
}

/// One request of a lane, from the addresses of its bytes to the values.
class TransferReader
{
public:
  TransferReader(Lane& lane, const LocationTable& table, const ReadPlan& plan, const Transfer& transfer,
      const TargetFunction& targetOf)
      : Executor(lane),
        Table(table),
        Request(transfer),
        TargetOf(targetOf),
        Begin(plan.Pieces.data() + transfer.FirstPiece),
        End(Begin + transfer.PieceCount)
  {
  }

  void Run()
  {
    this->Fetch();
    const std::byte* stored = this->Stored;
    for (const Piece* piece = this->Begin; piece != this->End; ++piece) {
      const ReadTarget target = this->TargetOf(piece->Task);
      if (this->GoesStraight(*piece, target)) {
        this->PlaceExtent(*piece, target, this->StraightAddress(*piece, target));
        continue;
      }
      if (this->KindOf(*piece) == Encoding::Raw) {
        this->PlaceExtent(*piece, target, stored);
      } else {
        this->PlaceStoredChunk(*piece, target, stored);
      }
      stored += piece->Bytes;
    }
  }

private:
  Encoding KindOf(const Piece& piece) const { return this->Table.Locations[piece.Task].Kind; }
  const Extent& ExtentOf(const Piece& piece) const
  {
    return this->Table.Extents[this->Table.Locations[piece.Task].First + piece.Component];
  }
  const ChunkedArray& ArrayOf(const Piece& piece) const
  {
    return this->Table.ChunkedArrays[this->Table.Locations[piece.Task].First + piece.Component];
  }

  /// True when stored values and output lie alike, so that the storage can write where they stay. Small
  /// pieces cost less on the way through the lane's scratch memory, which is in the cache, than as addresses
  /// of their own.
  bool GoesStraight(const Piece& piece, const ReadTarget& target) const
  {
    constexpr std::uint64_t small = 64 << 10;
    return this->KindOf(piece) == Encoding::Raw && (piece.Bytes >= small || this->Request.PieceCount == 1) &&
           target.Shape.OutputComponents == 1 && target.Shape.StoredGhosts == target.Shape.OutputGhosts;
  }
  std::byte* StraightAddress(const Piece& piece, const ReadTarget& target) const
  {
    return static_cast<std::byte*>(target.Data) + piece.Begin;
  }

  void Fetch();
  void PlaceExtent(const Piece& piece, const ReadTarget& target, const void* values) const;
  void PlaceStoredChunk(const Piece& piece, const ReadTarget& target, const std::byte* stored) const;

  Lane& Executor;
  const LocationTable& Table;
  const Transfer& Request;
  const TargetFunction& TargetOf;
  const Piece* Begin;
  const Piece* End;
  const std::byte* Stored = nullptr;  ///< bytes of the pieces that do not go straight, one after another
};

void TransferReader::Fetch()
{
  std::size_t indirect = 0;
  std::size_t widestGap = 0;
  std::uint64_t position = this->Request.Offset;
  for (const Piece* piece = this->Begin; piece != this->End; ++piece) {
    widestGap = std::max<std::size_t>(widestGap, piece->Offset - position);
    indirect += this->GoesStraight(*piece, this->TargetOf(piece->Task)) ? 0 : piece->Bytes;
    position = piece->Offset + piece->Bytes;
  }
  std::byte* const scratch = this->Executor.Scratch(indirect + widestGap);
  std::byte* const waste = scratch + indirect;
  std::byte* next = scratch;
  std::vector<iovec>& buffers = this->Executor.Buffers();
  position = this->Request.Offset;
  for (const Piece* piece = this->Begin; piece != this->End; ++piece) {
    if (piece->Offset > position) {
      buffers.push_back({waste, piece->Offset - position});
    }
    const ReadTarget target = this->TargetOf(piece->Task);
    const bool straight = this->GoesStraight(*piece, target);
    buffers.push_back({straight ? this->StraightAddress(*piece, target) : next, piece->Bytes});
    next += straight ? 0 : piece->Bytes;
    position = piece->Offset + piece->Bytes;
  }
  if (this->Request.Bytes > 0) {
    this->Executor.Read(this->Request.File, this->Request.Offset, buffers);
  }
  this->Stored = scratch;
}

void TransferReader::PlaceExtent(const Piece& piece, const ReadTarget& target, const void* values) const
{
  const Extent& extent = this->ExtentOf(piece);
  const std::int64_t elementBytes = SizeOf(extent.Type);
  PlaceRun(target.Shape, values, piece.Begin / elementBytes, piece.Bytes / elementBytes, elementBytes,
      NeedsSwap(extent.Type, extent.BigEndian), (*target.Slots)[piece.Component], target.Data);
}

void TransferReader::PlaceStoredChunk(
    const Piece& piece, const ReadTarget& target, const std::byte* stored) const
{
  const ChunkedArray& array = this->ArrayOf(piece);
  const Chunk& chunk = this->Table.Chunks[piece.Begin];
  try {
    CheckChunkedArray(array);
    const std::byte* values = chunk.Bytes > 0
                                  ? this->Executor.Decoder().Undo(array.Filters, chunk.SkippedFilters,
                                        array.Type, stored, piece.Bytes, ChunkBytes(array))
                                  : nullptr;
    PlaceChunk(target.Shape, array, chunk, values, (*target.Slots)[piece.Component], target.Data);
  } catch (const Error& error) {
    throw FileError(this->Table.Files[array.File],
        fmt::format("a sound chunk of data at offset {}", chunk.Offset), error.what(), "The file is damaged");
  }
}

/// Sets the components of the output that no stored one goes to.
template <typename Word>
void ZeroSlots(Word* values, std::int64_t tuples, int components, const std::vector<int>& slots)
{
  for (int c = 0; c < components; ++c) {
    if (std::find(slots.begin(), slots.end(), c) == slots.end()) {
      for (std::int64_t i = 0; i < tuples; ++i) {
        values[i * components + c] = 0;
      }
    }
  }
}

void ZeroSurplus(const ReadTarget& target, std::size_t elementBytes)
{
  const int components = target.Shape.OutputComponents;
  const std::int64_t tuples = target.Shape.OutputTuples();
  if (static_cast<int>(target.Slots->size()) >= components) {
    return;
  }
  if (elementBytes == 8) {
    ZeroSlots(static_cast<std::uint64_t*>(target.Data), tuples, components, *target.Slots);
  } else if (elementBytes == 4) {
    ZeroSlots(static_cast<std::uint32_t*>(target.Data), tuples, components, *target.Slots);
  } else {
    ZeroSlots(static_cast<std::uint8_t*>(target.Data), tuples, components, *target.Slots);
  }
}

template <typename T>
std::vector<T> ReadAll(Lane& lane, const Extent& extent)
{
  std::vector<T> values(extent.Bytes / sizeof(T));
  std::vector<iovec>& buffers = lane.Buffers();
  buffers.push_back({values.data(), values.size() * sizeof(T)});
  lane.Read(extent.File, extent.Offset, buffers);
  if (NeedsSwap(extent.Type, extent.BigEndian)) {
    SwapByteOrder(values.data(), values.size(), sizeof(T));
  }
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
  PlaceRun(
      shape, fractions.data(), 0, fractions.size(), sizeof(float), false, (*target.Slots)[0], target.Data);
}

void FillConstant(float value, const ReadTarget& target)
{
  const std::int64_t tuples = target.Shape.OutputTuples();
  const int components = target.Shape.OutputComponents;
  for (const int slot : *target.Slots) {
    float* output = static_cast<float*>(target.Data) + slot;
    for (std::int64_t i = 0; i < tuples; ++i) {
      output[i * components] = value;
    }
  }
}

}  // namespace

void ReadTransfer(Lane& lane, const LocationTable& table, const ReadPlan& plan, const Transfer& transfer,
    const TargetFunction& targetOf)
{
  TransferReader(lane, table, plan, transfer, targetOf).Run();
}

void FinishTask(const LocationTable& table, const Location& location, const ReadTarget& target)
{
  const std::size_t elementBytes = SizeOf(TypeOf(table, location));
  ZeroSurplus(target, elementBytes);
  ExtendEdges(target.Shape, elementBytes, target.Data);
}

void ReadWhole(Lane& lane, const LocationTable& table, const Location& location, const ReadTarget& target)
{
  if (location.Kind == Encoding::SparseMaterials) {
    ReadSparse(lane, table, location, target);
  } else {
    assert(location.Kind == Encoding::Constant);
    FillConstant(location.Value, target);
  }
  FinishTask(table, location, target);
}

ByteRange WantedBytes(const ArrayShape& shape, std::size_t elementBytes)
{
  const Dims stored = shape.StoredDims();
  const std::int64_t skipped = std::max(0, shape.StoredGhosts[2] - shape.OutputGhosts[2]);
  const std::uint64_t plane = stored[0] * stored[1] * elementBytes;
  return {skipped * plane, (stored[2] - skipped) * plane};
}

ElementType TypeOf(const LocationTable& table, const Location& location)
{
  switch (location.Kind) {
    case Encoding::Raw:
      return table.Extents[location.First].Type;
    case Encoding::Chunked:
      return table.ChunkedArrays[location.First].Type;
    case Encoding::Library:
      return table.LibraryArrays[location.First].Type;
    case Encoding::SparseMaterials:
    case Encoding::Constant:
    case Encoding::Absent:
    case Encoding::Missing:
      break;
  }
  return ElementType::Float32;
}

}  // namespace patchio
