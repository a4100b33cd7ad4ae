#include "Io/StoredSums.h"

namespace patchio {
namespace {

/// Bytes of the pieces of each task, or for chunks their number.
std::vector<std::uint64_t> ReadOf(const LocationTable& table, const ReadPlan& plan)
{
  std::vector<std::uint64_t> read(table.Locations.size(), 0);
  for (const Piece& piece : plan.Pieces) {
    read[piece.Task] += table.Locations[piece.Task].Kind == Encoding::Chunked ? 1 : piece.Bytes;
  }
  return read;
}

std::uint64_t WholeOf(const LocationTable& table, const Location& location)
{
  if (location.Kind == Encoding::Chunked) {
    const ChunkRange chunks = ChunksHolding(table.ChunkedArrays[location.First]);
    return chunks.End - chunks.Begin;
  }
  return table.Extents[location.First].Bytes;
}

}  // namespace

StoredSums::StoredSums(const LocationTable& table, const ReadPlan& plan)
{
  if (table.Checksums.empty()) {
    return;
  }
  this->OfPieces.resize(plan.Pieces.size());
  this->OfTasks = std::vector<Task>(table.Locations.size());
  const std::vector<std::uint64_t> read = ReadOf(table, plan);
  for (std::size_t task = 0; task < this->OfTasks.size(); ++task) {
    const Location& location = table.Locations[task];
    this->OfTasks[task].Expected = table.Checksums[task];
    this->OfTasks[task].Known = (location.Kind == Encoding::Raw || location.Kind == Encoding::Chunked) &&
                                location.Count == 1 && read[task] == WholeOf(table, location);
  }
}

}  // namespace patchio
