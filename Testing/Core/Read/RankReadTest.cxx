#include "Read/RankRead.h"

#include "Formats/SAMRAI/SamraiFormat.h"
#include "HangingSource.h"
#include "Io/FileSource.h"
#include "LoadPatches.h"
#include "SamraiDraft.h"
#include "TestTools.h"

#include <thread>

namespace patchio {
namespace {

using testing::DraftValue;
using testing::HangingSource;
using ::testing::HasSubstr;

class RankReading : public ::testing::Test
{
protected:
  RankReading() { this->Data.Path = testing::WriteDump(this->Folder.Path(), this->Data); }

  LocationTable Locate(const std::vector<PatchVariable>& requests, int threads) const
  {
    LocationTable table = this->Format.Locate(this->Data, requests, {threads, false});
    if (this->Change) {
      this->Change(requests, table);
    }
    return table;
  }

  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress = {}) const
  {
    const auto locate = [&](const std::vector<PatchVariable>& requests) {
      return this->Locate(requests, request.Threads);
    };
    return RankRead(locate, this->Data, request).Read(progress);
  }

  /// Leaves the density of patches 0 and 1 to the HDF5 library.
  void LeaveToLibrary(const std::vector<PatchVariable>& requests, LocationTable& table) const
  {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto [patch, variable] = requests[i];
      if (variable == 0 && patch < 2) {
        const int file = table.ByteRanges[table.Locations[i].First].File;
        table.Locations[i] = {
            Encoding::Library, static_cast<std::uint32_t>(table.LibraryArrays.size()), 1, 0, 0};
        table.LibraryArrays.push_back({file, ElementType::Float32,
            testing::PatchGroup(this->Data.Patches[patch]) + this->Data.Variables[0].StoredName, 0,
            static_cast<std::uint64_t>(this->Data.StoredTuples(0, patch)), "a test"});
      }
    }
  }

  /// Locates the values of patch 0 in a file that does not exist.
  static void LoseFile(const std::vector<PatchVariable>&, LocationTable& table) { table.Files[0] += ".gone"; }

  /// Returns a request for all patches and all variables as stored.
  LoadRequest Everything(int threads) const
  {
    LoadRequest request;
    request.Blocks = BlocksOfPatches(this->Data, {0, 1, 2});
    request.Threads = threads;
    for (int v = 0; v < 4; ++v) {
      request.Variables.push_back(RequestAsStored(this->Data, v));
    }
    return request;
  }

  static std::vector<float> ValuesOf(const LoadedArray& array)
  {
    const auto* begin = static_cast<const float*>(array.Values.get());
    return std::vector<float>(begin, begin + array.Tuples * array.Components);
  }

  /// Returns the stored values with interleaved components.
  std::vector<float> Expected(int patch, int variable) const
  {
    std::vector<float> values;
    for (std::int64_t i = 0; i < this->Data.StoredTuples(variable, patch); ++i) {
      for (int c = 0; c < this->Data.Variables[variable].Components; ++c) {
        values.push_back(DraftValue(patch, variable, c, i));
      }
    }
    return values;
  }

  void BreakSecondCluster() const { testing::WriteText(testing::ClusterPath(this->Data.Path, 1), "broken"); }

  testing::TempFolder Folder;
  Catalog Data = testing::SmallCatalog();
  samrai::SamraiFormat Format;
  std::function<void(const std::vector<PatchVariable>&, LocationTable&)> Change;
};

}  // namespace

TEST_F(RankReading, ReadsEverythingWithAnyNumberOfThreads)
{
  for (const int threads : {1, 2, 16}) {
    LoadResult result = this->Load(this->Everything(threads));
    EXPECT_TRUE(result.Faults.empty());
    EXPECT_FALSE(result.Cancelled);
    ASSERT_EQ(result.Arrays.size(), 12u);
    for (int p = 0; p < 3; ++p) {
      for (int v = 0; v < 4; ++v) {
        const bool absent = v == 3 && p < 2;
        const LoadedArray& array = result.At(p, v);
        ASSERT_EQ(array.Status, absent ? ArrayStatus::Absent : ArrayStatus::Read);
        EXPECT_EQ(bool(array.Values), !absent);
        if (!absent) {
          EXPECT_EQ(this->ValuesOf(array), this->Expected(p, v)) << "variable " << v << " on patch " << p;
        }
      }
    }
  }
}

TEST_F(RankReading, ReportsWhatItDid)
{
  const IoReport report = this->Load(this->Everything(2)).Report;
  std::uint64_t bytes = 0;
  for (int p = 0; p < 3; ++p) {
    for (int v = 0; v < (p == 2 ? 4 : 3); ++v) {
      bytes += 4 * this->Expected(p, v).size();
    }
  }
  EXPECT_EQ(report.Patches, 3u);
  EXPECT_EQ(report.Tasks, 10u);
  EXPECT_EQ(report.Requests, 2u) << "one a file, where all components touch";
  EXPECT_EQ(report.Bytes, bytes);
  EXPECT_EQ(report.ThreadsMin, 2);
  EXPECT_EQ(report.ThreadsMax, 2);
  EXPECT_GE(report.PeakInFlight, 1);
  EXPECT_LE(report.PeakInFlight, 2);
  EXPECT_EQ(report.ArenaWidth, 2);
}

TEST_F(RankReading, BridgesGapsWhereRequestsAreDear)
{
  LoadRequest request = this->Everything(2);
  request.Variables.erase(request.Variables.begin() + 1);  // leaves a gap
  for (const double latency : {0.0, 1e-3}) {
    request.Storage.Latency = latency;
    LoadResult result = this->Load(request);
    EXPECT_TRUE(result.Faults.empty());
    EXPECT_EQ(result.Report.Tasks, 7u);
    EXPECT_EQ(result.Report.Requests, latency > 0 ? 2u : 3u) << "velocity lies last on each patch";
    EXPECT_EQ(this->ValuesOf(result.At(0, 0)), this->Expected(0, 0));
    EXPECT_EQ(this->ValuesOf(result.At(2, 1)), this->Expected(2, 2));
  }
}

TEST_F(RankReading, UsesTheMemoryOfTheReadBefore)
{
  LoadRequest request = this->Everything(2);
  request.Memory = std::make_shared<MemoryPool>();
  std::uint64_t total = 0;
  for (int i = 0; i < 3; ++i) {
    LoadResult result = this->Load(request);
    EXPECT_EQ(this->ValuesOf(result.At(2, 1)), this->Expected(2, 1));
    total = i == 0 ? request.Memory->TotalBytes() : total;
    EXPECT_GT(total, 0u);
    EXPECT_EQ(request.Memory->TotalBytes(), total);
  }
  EXPECT_EQ(request.Memory->KeptBytes(), total);
}

TEST_F(RankReading, StaysWithinTheMemoryLimit)
{
  LoadRequest request = this->Everything(2);
  request.Memory = std::make_shared<MemoryPool>();
  request.Memory->SetLimit(1000);
  EXPECT_THAT(testing::MessageOf([&] { this->Load(request); }), HasSubstr("memory limit"));
}

TEST_F(RankReading, AFaultInAMergedRequestCostsOnlyItsOwnArray)
{
  this->Change = [](const auto&, LocationTable& table) {
    table.ByteRanges[table.Locations[1].First].Offset = std::uint64_t(1) << 40;
  };
  LoadRequest request = this->Everything(2);
  request.Storage = {1e6, 1e9};
  LoadResult result = this->Load(request);
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Variable, 1);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("the end of the file"));
  EXPECT_EQ(this->ValuesOf(result.At(0, 0)), this->Expected(0, 0));
  EXPECT_EQ(this->ValuesOf(result.At(0, 2)), this->Expected(0, 2));
}

TEST_F(RankReading, MissesWhatNothingBrings)
{
  this->Change = [](const auto&, LocationTable& table) { table.Locations[1].Count = 0; };
  LoadResult result = this->Load(this->Everything(2));
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Variable, 1);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("values of 'velocity' on patch 0"));
  EXPECT_EQ(result.At(0, 1).Status, ArrayStatus::Failed);
}

TEST_F(RankReading, ReadsWhatIsSoundBesideWhatIsBroken)
{
  this->BreakSecondCluster();
  LoadResult result = this->Load(this->Everything(4));
  EXPECT_EQ(this->ValuesOf(result.At(0, 1)), this->Expected(0, 1));
  EXPECT_EQ(result.At(1, 0).Status, ArrayStatus::Failed);
  EXPECT_FALSE(result.At(1, 0).Values);
  ASSERT_EQ(result.Faults.size(), 7u);
  EXPECT_EQ(result.Faults[0].Patch, 1);
  EXPECT_EQ(result.Faults[0].Variable, 0);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("processor_cluster.00001.samrai"));
}

TEST_F(RankReading, ReadsNothingAfterAFaultWhenToldToStop)
{
  this->BreakSecondCluster();
  LoadRequest request = this->Everything(4);
  request.StopAtFault = true;
  LoadResult result = this->Load(request);
  EXPECT_FALSE(result.Faults.empty());
  EXPECT_EQ(result.Report.Requests, 0u);
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::NotRead);
}

TEST_F(RankReading, CollectsFaultsThatHappenWhileReading)
{
  this->Change = LoseFile;
  LoadResult result = this->Load(this->Everything(3));
  EXPECT_EQ(result.Faults.size(), 3u) << "the variables of patch 0";
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Failed);
  EXPECT_FALSE(result.At(0, 0).Values);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr(".gone"));
  EXPECT_EQ(this->ValuesOf(result.At(2, 3)), this->Expected(2, 3));
}

TEST_F(RankReading, TellsOfProgressInTheLibraryToo)
{
  this->Change = [this](
                     const auto& requests, LocationTable& table) { this->LeaveToLibrary(requests, table); };
  std::vector<double> fractions;
  LoadResult result = this->Load(this->Everything(1), [&](const ReadProgress& now) {
    fractions.push_back(now.Fraction);
    return true;
  });
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_FALSE(result.Cancelled);
  EXPECT_EQ(this->ValuesOf(result.At(0, 0)), this->Expected(0, 0));
  EXPECT_EQ(this->ValuesOf(result.At(1, 0)), this->Expected(1, 0));
  const std::size_t steps = 2 + result.Report.Requests;
  ASSERT_EQ(fractions.size(), steps);
  for (std::size_t i = 0; i < steps; ++i) {
    EXPECT_NEAR(fractions[i], double(i + 1) / double(steps), 1e-12);
  }
}

TEST_F(RankReading, CanBeCancelledWhileTheLibraryReads)
{
  this->Change = [this](
                     const auto& requests, LocationTable& table) { this->LeaveToLibrary(requests, table); };
  LoadResult result = this->Load(this->Everything(2), [](const ReadProgress&) { return false; });
  EXPECT_TRUE(result.Cancelled);
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Read);
  EXPECT_EQ(result.At(1, 0).Status, ArrayStatus::NotRead);
  EXPECT_EQ(result.At(0, 1).Status, ArrayStatus::NotRead);
  EXPECT_EQ(result.Report.Tasks, 1u);
  EXPECT_EQ(result.Report.Requests, 0u);
}

TEST_F(RankReading, StopsAtAFaultWhileReading)
{
  LoadRequest request = this->Everything(1);
  request.StopAtFault = true;
  this->Change = LoseFile;
  LoadResult result = this->Load(request);
  EXPECT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Report.Requests, 0u);
  EXPECT_EQ(result.Report.Tasks, 0u);
  EXPECT_EQ(result.At(2, 3).Status, ArrayStatus::NotRead);
}

TEST_F(RankReading, LeavesArraysUnreadWhenCancelled)
{
  LoadResult result =
      this->Load(this->Everything(1), [](const ReadProgress& now) { return now.Fraction < 0.25; });
  EXPECT_TRUE(result.Cancelled);
  EXPECT_EQ(result.Report.Tasks, 3u);
  const auto count = [&](ArrayStatus status) {
    return std::count_if(result.Arrays.begin(), result.Arrays.end(),
        [status](const LoadedArray& array) { return array.Status == status; });
  };
  EXPECT_EQ(count(ArrayStatus::Read), 3);
  EXPECT_EQ(count(ArrayStatus::NotRead), 7);
  EXPECT_EQ(count(ArrayStatus::Absent), 2);
}

TEST_F(RankReading, ReturnsWhenCancelledThoughRequestsHang)
{
  const auto gate = std::make_shared<testing::Gate>();
  const auto pool = std::make_shared<MemoryPool>();
  LoadRequest request = this->Everything(3);
  request.Memory = pool;
  int sources = 0;
  request.MakeSource = [gate, &sources](const LocationTable& table) {
    ++sources;
    return std::make_unique<HangingSource>(MakeFileSource(table.Files), gate);
  };
  // All arguments of the read are destroyed before the requests continue.
  auto catalog = std::make_unique<Catalog>(this->Data);
  LoadResult result = testing::LoadPatches(this->Format, *catalog, request, [&](const ReadProgress& now) {
    EXPECT_EQ(now.Bytes, 0u);
    EXPECT_GT(now.BytesToRead, 0u);
    return gate->Waiting() < 1;
  });
  const int begun = gate->Waiting();
  EXPECT_EQ(sources, 1) << "all threads share the open files";
  EXPECT_TRUE(result.Cancelled);
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_EQ(result.Report.Tasks, 0u);
  ASSERT_EQ(result.Arrays.size(), 12u);
  EXPECT_EQ(result.At(2, 3).Status, ArrayStatus::NotRead);
  catalog.reset();
  request = LoadRequest();
  result = LoadResult();
  EXPECT_GT(pool.use_count(), 1) << "the tasks have memory to write to";
  gate->Open();
  while (pool.use_count() > 1) {  // the time limit of the test ends this loop if tasks never end
    std::this_thread::yield();
  }
  EXPECT_EQ(pool->TotalBytes(), pool->KeptBytes()) << "memory of arrays that nobody gets";
  EXPECT_EQ(gate->Waiting(), begun) << "no request is begun after the end";
}

TEST_F(RankReading, BeginsAheadAndIsCompletedLater)
{
  const auto locate = [this](
                          const std::vector<PatchVariable>& requests) { return this->Locate(requests, 1); };
  RankRead loader(locate, this->Data, this->Everything(2));
  loader.Allocate();
  loader.Start();
  while (loader.Fraction() < 1) {  // without calls that show the progress
    std::this_thread::yield();
  }
  LoadResult result = loader.Read();
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_GT(result.Report.Bytes, 0u);
  EXPECT_EQ(result.Report.PrefetchedBytes, result.Report.Bytes);
  for (int patch = 0; patch < 3; ++patch) {
    EXPECT_EQ(this->ValuesOf(result.At(patch, 0)), this->Expected(patch, 0));
  }
}

TEST_F(RankReading, HasNothingToDoWithoutPatchesOrVariables)
{
  LoadRequest request = this->Everything(4);
  request.Blocks.clear();
  EXPECT_TRUE(this->Load(request).Arrays.empty());
  request = this->Everything(4);
  request.Variables.clear();
  EXPECT_TRUE(this->Load(request).Arrays.empty());
}

}  // namespace patchio
