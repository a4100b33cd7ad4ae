#include "Plan/ReadPlan.h"

#include "Base/Bytes.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace patchio {

RequestLimits LimitsOf(const StorageModel& storage, std::uint64_t totalBytes, int threads)
{
  constexpr double share = 0.9;
  constexpr double least = 1 << 20;
  constexpr double most = 16 << 20;
  constexpr std::uint64_t leastOfThread = 64 << 10;
  constexpr std::uint64_t requestsOfThread = 4;

  const double gap = std::clamp(storage.Latency * storage.Bandwidth, 0.0, most);
  const double bytes = std::clamp(gap * share / (1 - share), least, most);
  const std::uint64_t fair =
      totalBytes / (requestsOfThread * static_cast<std::uint64_t>(std::max(threads, 1)));
  RequestLimits limits;
  limits.Bytes = std::min(static_cast<std::uint64_t>(bytes), std::max(fair, leastOfThread));
  limits.Gap = std::min(static_cast<std::uint64_t>(gap), limits.Bytes);
  return limits;
}

namespace {

class Planner
{
public:
  Planner(const LocationTable& table, const std::vector<ComponentRange>& ranges)
      : Table(table), Ranges(ranges)
  {
  }

  ReadPlan Run(const StorageModel& storage, int threads)
  {
    for (std::size_t task = 0; task < this->Table.Locations.size(); ++task) {
      this->AddTask(static_cast<std::uint32_t>(task));
    }
    this->SortWholeTasks();
    const std::uint64_t total = std::accumulate(this->FileSegments.begin(), this->FileSegments.end(),
        std::uint64_t(0), [](std::uint64_t sum, const FileSegment& segment) { return sum + segment.Bytes; });
    this->Limits = LimitsOf(storage, total, threads);
    this->Cut();
    std::sort(this->FileSegments.begin(), this->FileSegments.end(),
        [](const FileSegment& a, const FileSegment& b) { return SortKey(a) < SortKey(b); });
    this->Merge();
    this->FindSequentialFiles();
    return std::move(this->Plan);
  }

private:
  struct FileSegment : Segment
  {
    int File = 0;
  };

  static std::tuple<int, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t> SortKey(
      const FileSegment& segment)
  {
    return {segment.File, segment.Offset, segment.Task, segment.Component, segment.Begin};
  }

  void AddTask(std::uint32_t task);
  void AddByteRanges(std::uint32_t task);
  void AddChunks(std::uint32_t task);
  void SortWholeTasks();
  void Cut();
  void Merge();
  void FindSequentialFiles();

  const LocationTable& Table;
  const std::vector<ComponentRange>& Ranges;
  RequestLimits Limits;
  std::vector<FileSegment> FileSegments;
  ReadPlan Plan;
};

void Planner::AddTask(std::uint32_t task)
{
  switch (this->Table.Locations[task].Kind) {
    case Encoding::Missing:
    case Encoding::Absent:
      break;
    case Encoding::Constant:
      this->Plan.ConstantTasks.push_back(task);
      break;
    case Encoding::SparseMaterials:
      this->Plan.WholeTasks.push_back(task);
      break;
    case Encoding::Library:
      this->Plan.LibraryTasks.push_back(task);
      break;
    case Encoding::Raw:
      this->AddByteRanges(task);
      break;
    case Encoding::Chunked:
      this->AddChunks(task);
      break;
  }
}

void Planner::AddByteRanges(std::uint32_t task)
{
  const Location& location = this->Table.Locations[task];
  const ComponentRange range = this->Ranges.empty() ? ComponentRange() : this->Ranges[task];
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const ByteRange& byteRange = this->Table.ByteRanges[location.First + c];
    FileSegment segment;
    segment.Begin = std::min(range.Begin, byteRange.Bytes);
    segment.Bytes = std::min(range.End, byteRange.Bytes) - segment.Begin;
    segment.Offset = byteRange.Offset + segment.Begin;
    segment.File = byteRange.File;
    segment.Task = task;
    segment.Component = c;
    this->FileSegments.push_back(segment);
  }
}

void Planner::AddChunks(std::uint32_t task)
{
  const Location& location = this->Table.Locations[task];
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const ChunkedArray& array = this->Table.ChunkedArrays[location.First + c];
    for (std::size_t i = array.FirstChunk; i < array.FirstChunk + array.ChunkCount; ++i) {
      const Chunk& chunk = this->Table.Chunks[i];
      FileSegment segment;
      segment.Begin = i;
      segment.Offset = chunk.Offset;
      segment.Bytes = chunk.Bytes;
      segment.File = array.File;
      segment.Task = task;
      segment.Component = c;
      this->FileSegments.push_back(segment);
    }
  }
}

void Planner::SortWholeTasks()
{
  const auto key = [this](std::uint32_t task) {
    const ByteRange& first = this->Table.ByteRanges[this->Table.Locations[task].First];
    return std::make_tuple(first.File, first.Offset, task);
  };
  std::sort(this->Plan.WholeTasks.begin(), this->Plan.WholeTasks.end(),
      [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

/// Cuts segments of byte ranges that exceed the size of a request. Chunks are not cut, because a chunk is
/// decoded as a whole.
void Planner::Cut()
{
  constexpr std::uint64_t grain = 64 << 10;
  const std::uint64_t most = std::max(this->Limits.Bytes / grain * grain, grain);
  const std::size_t count = this->FileSegments.size();
  for (std::size_t i = 0; i < count; ++i) {
    while (this->FileSegments[i].Bytes > most &&
           this->Table.Locations[this->FileSegments[i].Task].Kind == Encoding::Raw) {
      FileSegment rest = this->FileSegments[i];
      // The segments have about equal sizes, so that the last one is not tiny.
      const std::uint64_t segments = (rest.Bytes + most - 1) / most;
      const std::uint64_t first = std::min(most, RoundUp(rest.Bytes / segments, grain));
      this->FileSegments[i].Begin += first;
      this->FileSegments[i].Offset += first;
      this->FileSegments[i].Bytes -= first;
      rest.Bytes = first;
      this->FileSegments.push_back(rest);
    }
  }
}

void Planner::Merge()
{
  this->Plan.Segments.reserve(this->FileSegments.size());
  for (const FileSegment& segment : this->FileSegments) {
    std::vector<StorageRequest>& requests = this->Plan.Requests;
    StorageRequest* last = requests.empty() ? nullptr : &requests.back();
    const std::uint64_t end = last ? last->Offset + last->Bytes : 0;
    // Chunks that were never written have no bytes in the file and are filled without reading.
    const bool joins = last && (last->Bytes == 0) == (segment.Bytes == 0) && last->File == segment.File &&
                       last->SegmentCount < MaximumSegments && segment.Offset >= end &&
                       segment.Offset - end <= this->Limits.Gap &&
                       segment.Offset + segment.Bytes - last->Offset <= this->Limits.Bytes;
    if (!joins) {
      requests.push_back({segment.Offset, 0, segment.File, 0, this->Plan.Segments.size()});
      last = &requests.back();
    }
    last->Bytes = segment.Offset + segment.Bytes - last->Offset;
    ++last->SegmentCount;
    this->Plan.Segments.push_back(segment);
  }
}

void Planner::FindSequentialFiles()
{
  this->Plan.SequentialFiles.assign(this->Table.Files.size(), false);
  const auto& fileSegments = this->FileSegments;
  for (std::size_t begin = 0, end = 0; begin < fileSegments.size(); begin = end) {
    std::uint64_t needed = 0;
    std::uint64_t last = 0;
    for (; end < fileSegments.size() && fileSegments[end].File == fileSegments[begin].File; ++end) {
      needed += fileSegments[end].Bytes;
      last = std::max(last, fileSegments[end].Offset + fileSegments[end].Bytes);
    }
    this->Plan.SequentialFiles[fileSegments[begin].File] = needed > (last - fileSegments[begin].Offset) / 2;
  }
}

}  // namespace

ReadPlan PlanReads(const LocationTable& table, const std::vector<ComponentRange>& ranges,
    const StorageModel& storage, int threads)
{
  return Planner(table, ranges).Run(storage, threads);
}

}  // namespace patchio
