// From the places of bytes to requests: what a request to a storage costs, and which requests fetch the bytes
// of a rank's read tasks.
#pragma once

#include "Catalog/Extent.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

/// A request of b bytes takes Latency + b / Bandwidth.
struct StorageModel
{
  double Latency = 20e-6;  ///< seconds before the first byte, >= 0
  double Bandwidth = 1e9;  ///< bytes a second of one request among as many as read at once, > 0
};

struct RequestLimits
{
  std::uint64_t Gap = 0;    ///< bytes that nobody wants but are read, rather than starting another request
  std::uint64_t Bytes = 1;  ///< of one request
};

/// Reading a gap of Latency x Bandwidth bytes costs as much as another request. A request of
/// gap x f / (1 - f) bytes spends the share f = 0.9 of its time on bytes; it is kept between 1 MiB, which is
/// what network and parallel file systems send at once, and 16 MiB; but each of the `threads` gets several
/// requests if there are bytes for that, down to 64 KiB a request.
RequestLimits LimitsOf(const StorageModel& storage, std::uint64_t totalBytes, int threads);

/// The bytes begin .. end-1 of each component that a task wants; all by default. Chunked arrays are always
/// read in whole chunks.
struct ByteRange
{
  std::uint64_t Begin = 0;
  std::uint64_t End = ~std::uint64_t(0);
};

/// Stored bytes that belong together: a part of an extent, or a chunk.
struct Piece
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;   ///< of the piece; 0 for a chunk that was never written
  std::uint64_t Begin = 0;  ///< Raw: where in the extent it begins; Chunked: index into LocationTable::Chunks
  std::uint32_t Task = 0;   ///< index into LocationTable::Locations
  std::uint32_t Component = 0;
};

/// One read of the storage: pieces in ascending order of their offsets, with at most small gaps.
struct Transfer
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  int File = 0;
  std::uint32_t PieceCount = 0;
  std::size_t FirstPiece = 0;
};

/// Everything a rank does to get its values. Read tasks carry out Transfers, Whole and Constant in this
/// order.
struct ReadPlan
{
  std::vector<Piece> Pieces;  ///< in file order
  std::vector<Transfer> Transfers;
  std::vector<std::uint32_t>
      Whole;  ///< tasks that need all their extents at once (SparseMaterials), in file order
  std::vector<std::uint32_t> Constant;  ///< tasks without bytes
  std::vector<std::uint32_t> Library;   ///< tasks for the HDF5 library, which takes one thread only

  /// Per file of the table: most bytes between the first and the last wanted one are wanted, so that the
  /// system does well to read ahead.
  std::vector<bool> Sequential;

  std::size_t Tasks() const
  {
    return this->PieceTasks + this->Whole.size() + this->Constant.size() + this->Library.size();
  }
  std::size_t PieceTasks = 0;  ///< tasks made of pieces
};

/// Pieces of one request at most; a vectored read takes 1024 addresses, gaps included.
constexpr std::uint32_t MaximumPieces = 500;

/// Plans all requests that produce values; absent and missing ones are left out. Pieces are sorted by file
/// and offset; neighbours are merged across gaps of up to Gap bytes as long as the request has no more than
/// Bytes; larger extents are cut at multiples of 64 KiB. O(n log n) in the number of pieces.
///
/// wanted: one range per request, or empty for all bytes.
ReadPlan PlanReads(const LocationTable& table, const std::vector<ByteRange>& wanted,
    const StorageModel& storage, int threads);

}  // namespace patchio
