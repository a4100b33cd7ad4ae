// Requests to the storage: a model of their cost, and the plan of all requests of a rank.
#pragma once

#include "Catalog/Location.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace patchio {

/// A model of the storage: a request of b bytes takes Latency + b / Bandwidth seconds.
struct StorageModel
{
  double Latency = 20e-6;  ///< seconds until the first byte, >= 0
  double Bandwidth = 1e9;  ///< bytes per second of one request at the usual concurrency, > 0
};

/// The limits for merging and cutting the requests of a read, see LimitsOf().
struct RequestLimits
{
  std::uint64_t Gap = 0;    ///< greatest gap of unneeded bytes that a request reads
  std::uint64_t Bytes = 1;  ///< greatest size of one request
};

/// Returns the limits of requests. Gap: Latency x Bandwidth, but at most Bytes; reading Gap bytes takes as
/// long as the latency of another request. Bytes: a request of Latency x Bandwidth x f / (1 - f) bytes
/// spends the fraction f = 0.9 of its time on transferring bytes; the result is clamped to 1 MiB (which
/// network and parallel file systems transfer at once) to 16 MiB. If `totalBytes`, the bytes that this rank
/// reads, do not suffice for 4 requests of that size on each of the `threads` threads, requests become
/// smaller, down to 64 KiB.
RequestLimits LimitsOf(const StorageModel& storage, std::uint64_t totalBytes, int threads);

/// The bytes Begin .. End-1 that a task with a Raw location needs of each of its stored arrays; by default
/// all bytes. Other tasks need all bytes.
struct ComponentRange
{
  std::uint64_t Begin = 0;
  std::uint64_t End = ~std::uint64_t(0);
};

/// A contiguous range of stored bytes of one task: a part of a byte range, or a chunk.
struct Segment
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;   ///< of the segment; 0 for a chunk that was never written
  std::uint64_t Begin = 0;   ///< Raw: offset within the byte range; Chunked: index into LocationTable::Chunks
  std::uint32_t Task = 0;    ///< index into LocationTable::Locations
  std::uint32_t Component = 0;  ///< index of the stored array among the arrays of the task
};

/// One request to the storage. The segments of a request are sorted by offset, with at most small gaps
/// between them. Bytes is 0 if all segments are chunks that were never written.
struct StorageRequest
{
  std::uint64_t Offset = 0;
  std::uint64_t Bytes = 0;
  int File = 0;
  std::uint32_t SegmentCount = 0;
  std::size_t FirstSegment = 0;
};

/// All reads and decodings of one rank. The threads of a read process Requests, then WholeTasks, then
/// ConstantTasks. Tasks are indices into LocationTable::Locations.
struct ReadPlan
{
  std::vector<Segment> Segments;  ///< in file order
  std::vector<StorageRequest> Requests;
  /// Tasks that need all their byte ranges at once (SparseMaterials), in file order.
  std::vector<std::uint32_t> WholeTasks;
  std::vector<std::uint32_t> ConstantTasks;  ///< tasks without bytes
  std::vector<std::uint32_t> LibraryTasks;   ///< tasks for the HDF5 library, which allows one thread only

  /// Per file of the table: true if most bytes between the first and the last needed byte are needed, so that
  /// the system should read ahead.
  std::vector<bool> SequentialFiles;
};

/// Greatest number of segments of one request: a vectored read takes at most 1024 addresses, including gaps.
constexpr std::uint32_t MaximumSegments = 500;

/// Plans all requests and tasks that produce values; absent and missing locations are left out. Segments are
/// sorted by file and offset. Neighbours are merged across gaps of up to RequestLimits::Gap bytes as long as
/// the request has at most RequestLimits::Bytes and MaximumSegments; larger byte ranges are cut into
/// segments, whose sizes are multiples of 64 KiB except for the last segment. O(n log n) in the number of
/// segments.
///
/// `ranges`: one range per location of the table, or empty for all bytes. `threads`: number of concurrent
/// requests of this rank.
ReadPlan PlanReads(const LocationTable& table, const std::vector<ComponentRange>& ranges,
    const StorageModel& storage, int threads);

}  // namespace patchio
