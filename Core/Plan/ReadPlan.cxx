#include "Plan/ReadPlan.h"

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
  Planner(const LocationTable& table, const std::vector<ComponentRange>& wanted)
      : Table(table), Wanted(wanted)
  {
  }

  ReadPlan Run(const StorageModel& storage, int threads)
  {
    for (std::size_t task = 0; task < this->Table.Locations.size(); ++task) {
      this->AddTask(static_cast<std::uint32_t>(task));
    }
    this->SortWhole();
    const std::uint64_t total = std::accumulate(this->Parts.begin(), this->Parts.end(), std::uint64_t(0),
        [](std::uint64_t sum, const Part& part) { return sum + part.Bytes; });
    this->Limits = LimitsOf(storage, total, threads);
    this->Cut();
    std::sort(
        this->Parts.begin(), this->Parts.end(), [](const Part& a, const Part& b) { return Key(a) < Key(b); });
    this->Merge();
    this->FindSequentialFiles();
    return std::move(this->Plan);
  }

private:
  struct Part : Segment
  {
    int File = 0;
  };

  static std::tuple<int, std::uint64_t, std::uint32_t, std::uint32_t, std::uint64_t> Key(const Part& part)
  {
    return {part.File, part.Offset, part.Task, part.Component, part.Begin};
  }

  void AddTask(std::uint32_t task);
  void AddByteRanges(std::uint32_t task);
  void AddChunks(std::uint32_t task);
  void SortWhole();
  void Cut();
  void Merge();
  void FindSequentialFiles();

  const LocationTable& Table;
  const std::vector<ComponentRange>& Wanted;
  RequestLimits Limits;
  std::vector<Part> Parts;
  ReadPlan Plan;
};

void Planner::AddTask(std::uint32_t task)
{
  switch (this->Table.Locations[task].Kind) {
    case Encoding::Missing:
    case Encoding::Absent:
      break;
    case Encoding::Constant:
      this->Plan.Constant.push_back(task);
      break;
    case Encoding::SparseMaterials:
      this->Plan.Whole.push_back(task);
      break;
    case Encoding::Library:
      this->Plan.Library.push_back(task);
      break;
    case Encoding::Raw:
      ++this->Plan.SegmentTasks;
      this->AddByteRanges(task);
      break;
    case Encoding::Chunked:
      ++this->Plan.SegmentTasks;
      this->AddChunks(task);
      break;
  }
}

void Planner::AddByteRanges(std::uint32_t task)
{
  const Location& location = this->Table.Locations[task];
  const ComponentRange range = this->Wanted.empty() ? ComponentRange() : this->Wanted[task];
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const ByteRange& byteRange = this->Table.ByteRanges[location.First + c];
    Part part;
    part.Begin = std::min(range.Begin, byteRange.Bytes);
    part.Bytes = std::min(range.End, byteRange.Bytes) - part.Begin;
    part.Offset = byteRange.Offset + part.Begin;
    part.File = byteRange.File;
    part.Task = task;
    part.Component = c;
    this->Parts.push_back(part);
  }
}

void Planner::AddChunks(std::uint32_t task)
{
  const Location& location = this->Table.Locations[task];
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const ChunkedArray& array = this->Table.ChunkedArrays[location.First + c];
    for (std::size_t i = array.FirstChunk; i < array.FirstChunk + array.ChunkCount; ++i) {
      const Chunk& chunk = this->Table.Chunks[i];
      Part part;
      part.Begin = i;
      part.Offset = chunk.Offset;
      part.Bytes = chunk.Bytes;
      part.File = array.File;
      part.Task = task;
      part.Component = c;
      this->Parts.push_back(part);
    }
  }
}

void Planner::SortWhole()
{
  const auto key = [this](std::uint32_t task) {
    const ByteRange& first = this->Table.ByteRanges[this->Table.Locations[task].First];
    return std::make_tuple(first.File, first.Offset, task);
  };
  std::sort(this->Plan.Whole.begin(), this->Plan.Whole.end(),
      [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

/// Cuts parts of byte ranges that exceed the size of a request. Chunks are not cut, because a chunk is
/// decoded as a whole.
void Planner::Cut()
{
  constexpr std::uint64_t grain = 64 << 10;
  const std::uint64_t most = std::max(this->Limits.Bytes / grain * grain, grain);
  const std::size_t parts = this->Parts.size();
  for (std::size_t i = 0; i < parts; ++i) {
    while (this->Parts[i].Bytes > most && this->Table.Locations[this->Parts[i].Task].Kind == Encoding::Raw) {
      Part rest = this->Parts[i];
      // The parts have about equal sizes, so that the last one is not tiny.
      const std::uint64_t segments = (rest.Bytes + most - 1) / most;
      const std::uint64_t first = std::min(most, (rest.Bytes / segments + grain - 1) / grain * grain);
      this->Parts[i].Begin += first;
      this->Parts[i].Offset += first;
      this->Parts[i].Bytes -= first;
      rest.Bytes = first;
      this->Parts.push_back(rest);
    }
  }
}

void Planner::Merge()
{
  this->Plan.Segments.reserve(this->Parts.size());
  for (const Part& part : this->Parts) {
    std::vector<StorageRequest>& requests = this->Plan.Requests;
    StorageRequest* last = requests.empty() ? nullptr : &requests.back();
    const std::uint64_t end = last ? last->Offset + last->Bytes : 0;
    // Chunks that were never written have no bytes in the file and are filled without reading.
    const bool joins = last && (last->Bytes == 0) == (part.Bytes == 0) && last->File == part.File &&
                       last->SegmentCount < MaximumSegments && part.Offset >= end &&
                       part.Offset - end <= this->Limits.Gap &&
                       part.Offset + part.Bytes - last->Offset <= this->Limits.Bytes;
    if (!joins) {
      requests.push_back({part.Offset, 0, part.File, 0, this->Plan.Segments.size()});
      last = &requests.back();
    }
    last->Bytes = part.Offset + part.Bytes - last->Offset;
    ++last->SegmentCount;
    this->Plan.Segments.push_back(part);
  }
}

void Planner::FindSequentialFiles()
{
  this->Plan.Sequential.assign(this->Table.Files.size(), false);
  const auto& parts = this->Parts;
  for (std::size_t begin = 0, end = 0; begin < parts.size(); begin = end) {
    std::uint64_t wanted = 0;
    std::uint64_t last = 0;
    for (; end < parts.size() && parts[end].File == parts[begin].File; ++end) {
      wanted += parts[end].Bytes;
      last = std::max(last, parts[end].Offset + parts[end].Bytes);
    }
    this->Plan.Sequential[parts[begin].File] = wanted > (last - parts[begin].Offset) / 2;
  }
}

}  // namespace

ReadPlan PlanReads(const LocationTable& table, const std::vector<ComponentRange>& wanted,
    const StorageModel& storage, int threads)
{
  return Planner(table, wanted).Run(storage, threads);
}

}  // namespace patchio
