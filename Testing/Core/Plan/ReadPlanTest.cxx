#include "Plan/ReadPlan.h"

#include "Base/Bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace patchio {
namespace {

/// Gaps of up to 1000 bytes are bridged.
constexpr StorageModel Model{1e-3, 1e6};

class Table : public LocationTable
{
public:
  Table& Raw(int file, std::uint64_t offset, std::uint64_t bytes = 4)
  {
    this->HaveFile(file);
    this->Add(Encoding::Raw, this->ByteRanges.size(), 1);
    this->ByteRanges.push_back({offset, bytes, file, ElementType::Float32, false});
    return *this;
  }
  /// Adds one component in chunks of 100 bytes at these offsets; 0: a chunk that was never written.
  Table& Chunked(int file, const std::vector<std::uint64_t>& offsets)
  {
    this->HaveFile(file);
    this->Add(Encoding::Chunked, this->ChunkedArrays.size(), 1);
    ChunkedArray array;
    array.File = file;
    array.FirstChunk = this->Chunks.size();
    array.ChunkCount = offsets.size();
    for (const std::uint64_t offset : offsets) {
      this->Chunks.push_back({offset, this->Chunks.size(), offset > 0 ? 100u : 0u, 0});
    }
    this->ChunkedArrays.push_back(array);
    return *this;
  }
  Table& Sparse(int file, std::uint64_t offset)
  {
    this->HaveFile(file);
    this->Add(Encoding::SparseMaterials, this->ByteRanges.size(), 1);
    this->ByteRanges.push_back({offset, 4, file, ElementType::Int32, false});
    return *this;
  }
  Table& Without(Encoding kind)
  {
    this->Add(kind, 0, 0);
    return *this;
  }

private:
  void HaveFile(int file) { this->Files.resize(std::max<std::size_t>(this->Files.size(), file + 1)); }
  void Add(Encoding kind, std::size_t first, std::uint32_t count)
  {
    this->Locations.push_back({kind, static_cast<std::uint32_t>(first), count, 0, 0});
  }
};

/// Returns the tasks of the segments for each request.
std::vector<std::vector<int>> TasksOf(const ReadPlan& plan)
{
  std::vector<std::vector<int>> tasks;
  for (const StorageRequest& request : plan.Requests) {
    tasks.emplace_back();
    for (std::size_t i = request.FirstSegment; i < request.FirstSegment + request.SegmentCount; ++i) {
      tasks.back().push_back(static_cast<int>(plan.Segments[i].Task));
    }
  }
  return tasks;
}

/// Returns the number of all tasks of a plan.
std::size_t TaskCountOf(const ReadPlan& plan)
{
  std::set<std::uint32_t> ofSegments;
  for (const Segment& segment : plan.Segments) {
    ofSegments.insert(segment.Task);
  }
  return ofSegments.size() + plan.WholeTasks.size() + plan.ConstantTasks.size() + plan.LibraryTasks.size();
}

using Tasks = std::vector<std::vector<int>>;
using Numbers = std::vector<std::uint32_t>;

}  // namespace

TEST(ReadPlan, GoesThroughFilesByOffset)
{
  struct Case
  {
    const char* Name;
    LocationTable Locations;
    StorageModel Storage;
    Tasks Expected;
  };
  const std::vector<Case> cases{{"nothing", Table(), Model, {}},
      {"two files", Table().Raw(1, 0).Raw(0, 9000).Raw(0, 100).Raw(1, 5000).Raw(0, 5'000'000'000), Model,
          {{2}, {1}, {4}, {0}, {3}}},
      {"requests that cost nothing", Table().Raw(0, 0).Raw(0, 5), {0, 1e9}, {{0}, {1}}},
      {"the same bytes", Table().Raw(0, 64).Raw(0, 64).Raw(0, 64), Model, {{0}, {1}, {2}}},
      {"without values", Table().Without(Encoding::Absent).Raw(0, 8000).Without(Encoding::Missing).Raw(0, 4),
          Model, {{3}, {1}}}};
  for (const Case& one : cases) {
    const ReadPlan plan = PlanReads(one.Locations, {}, one.Storage, 1);
    EXPECT_EQ(TasksOf(plan), one.Expected) << one.Name;
    EXPECT_EQ(TaskCountOf(plan), one.Expected.size()) << one.Name;
  }
}

TEST(ReadPlan, MergesNeighboursAcrossSmallGaps)
{
  const auto table = Table().Raw(0, 0).Raw(0, 4).Raw(0, 1008).Raw(0, 2013).Raw(1, 2017);
  const ReadPlan plan = PlanReads(table, {}, Model, 1);
  EXPECT_EQ(TasksOf(plan), (Tasks{{0, 1, 2}, {3}, {4}}));
  EXPECT_EQ(plan.Requests[0].Offset, 0u);
  EXPECT_EQ(plan.Requests[0].Bytes, 1012u);
  EXPECT_EQ(TaskCountOf(plan), 5u);
}

TEST(ReadPlan, KeepsRequestsOfMergedNeighboursSmall)
{
  Table table;
  for (int i = 0; i < 64; ++i) {
    table.Raw(0, i * 300 * KiB, 300 * KiB);
  }
  const ReadPlan plan = PlanReads(table, {}, Model, 1);
  EXPECT_EQ(plan.Requests.size(), 22u) << "three of them make 900 KiB, and four would be more than 1 MiB";
}

TEST(ReadPlan, CutsLargeByteRanges)
{
  const std::uint64_t bytes = 10 * MiB + 12;
  const ReadPlan plan = PlanReads(Table().Raw(0, 24, bytes), {}, Model, 1);
  EXPECT_EQ(plan.Requests.size(), 11u);
  std::uint64_t position = 0;
  for (std::size_t i = 0; i < plan.Segments.size(); ++i) {
    const Segment& segment = plan.Segments[i];
    EXPECT_EQ(segment.Begin, position);
    EXPECT_EQ(segment.Offset, 24 + position);
    EXPECT_LE(segment.Bytes, MiB);
    EXPECT_GE(segment.Bytes, 800 * KiB) << "no tiny rest";
    EXPECT_EQ(segment.Begin % (64 * KiB), 0u);
    position += segment.Bytes;
  }
  EXPECT_EQ(position, bytes);
  EXPECT_EQ(TaskCountOf(plan), 1u);
}

TEST(ReadPlan, ReadsOnlyTheWantedPart)
{
  const auto table = Table().Raw(0, 100, 50).Raw(0, 5000, 50);
  const ReadPlan plan = PlanReads(table, {{8, 20}, {}}, Model, 1);
  ASSERT_EQ(plan.Segments.size(), 2u);
  EXPECT_EQ(plan.Segments[0].Offset, 108u);
  EXPECT_EQ(plan.Segments[0].Begin, 8u);
  EXPECT_EQ(plan.Segments[0].Bytes, 12u);
  EXPECT_EQ(plan.Segments[1].Bytes, 50u);
}

TEST(ReadPlan, MakesAPieceOfEachChunk)
{
  const auto table = Table().Chunked(0, {700, 600, 0, 5000}).Raw(0, 702);
  const ReadPlan plan = PlanReads(table, {}, Model, 1);
  EXPECT_EQ(TasksOf(plan), (Tasks{{0}, {0, 0}, {1}, {0}})) << "bytes that two tasks share are read twice";
  EXPECT_EQ(plan.Requests[0].Bytes, 0u) << "the chunk that was never written";
  EXPECT_EQ(plan.Segments[0].Begin, 2u);
  EXPECT_EQ(plan.Segments[1].Begin, 1u);
  EXPECT_EQ(plan.Segments[2].Begin, 0u);
  EXPECT_EQ(TaskCountOf(plan), 2u);
}

TEST(ReadPlan, PutsOtherKindsApart)
{
  const auto table = Table()
                         .Without(Encoding::Constant)
                         .Sparse(1, 7)
                         .Raw(1000, 7)
                         .Without(Encoding::Library)
                         .Sparse(0, 9)
                         .Without(Encoding::Constant);
  const ReadPlan plan = PlanReads(table, {}, Model, 1);
  EXPECT_EQ(TasksOf(plan), (Tasks{{2}}));
  EXPECT_EQ(plan.WholeTasks, (Numbers{4, 1})) << "in file order";
  EXPECT_EQ(plan.ConstantTasks, (Numbers{0, 5}));
  EXPECT_EQ(plan.LibraryTasks, Numbers{3});
  EXPECT_EQ(TaskCountOf(plan), 6u);
}

TEST(ReadPlan, KnowsFilesOfWhichMostIsWanted)
{
  auto table = Table().Raw(0, 0, 100).Raw(0, 198, 100).Raw(2, 0, 100).Raw(2, 500, 100).Raw(2, 50, 10);
  EXPECT_EQ(PlanReads(table, {}, Model, 1).SequentialFiles, (std::vector<bool>{true, false, false}));
}

/// For random locations, each wanted byte of each task is read once, in requests within the limits.
TEST(ReadPlan, CoversEveryByteOnce)
{
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Table table;
    const int tasks = 1 + static_cast<int>(random() % 60);
    for (int i = 0; i < tasks; ++i) {
      const std::uint64_t scale = std::uint64_t(1) << (random() % 23);
      table.Raw(random() % 3, random() % (20 * MiB), 4 * (random() % scale) + 4);
    }
    const int threads = 1 + static_cast<int>(random() % 70);
    const StorageModel storage{1e-6 * (random() % 3000), 1e9};
    const ReadPlan plan = PlanReads(table, {}, storage, threads);

    std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> parts;  // task -> begin -> bytes
    for (const StorageRequest& request : plan.Requests) {
      ASSERT_LE(request.SegmentCount, MaximumSegments);
      ASSERT_LE(request.Bytes, 16 * MiB);
      std::uint64_t position = request.Offset;
      for (std::size_t i = request.FirstSegment; i < request.FirstSegment + request.SegmentCount; ++i) {
        const Segment& segment = plan.Segments[i];
        ASSERT_GE(segment.Offset, position) << "segments of a request do not overlap";
        position = segment.Offset + segment.Bytes;
        ASSERT_EQ(table.ByteRanges[segment.Task].File, request.File);
        ASSERT_EQ(table.ByteRanges[segment.Task].Offset + segment.Begin, segment.Offset);
        parts[segment.Task][segment.Begin] = segment.Bytes;
      }
      ASSERT_EQ(position, request.Offset + request.Bytes);
    }
    for (int i = 0; i < tasks; ++i) {
      std::uint64_t position = 0;
      for (const auto& [begin, bytes] : parts[i]) {
        ASSERT_EQ(begin, position);
        position += bytes;
      }
      ASSERT_EQ(position, table.ByteRanges[i].Bytes);
    }
  }
}

}  // namespace patchio
