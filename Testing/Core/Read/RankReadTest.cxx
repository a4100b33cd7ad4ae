#include "Read/RankRead.h"

#include "Formats/SAMRAI/SamraiFormat.h"
#include "HangingSource.h"
#include "Io/FileSource.h"
#include "LoadPatches.h"
#include "SamraiDraft.h"
#include "TestTools.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <condition_variable>
#include <mutex>
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

  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress = {}) const
  {
    return testing::LoadPatches(this->Format, this->Data, request, progress);
  }

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
  const auto locate = [this](const std::vector<PatchVariable>& requests) {
    LocationTable table = this->Format.Locate(this->Data, requests, {});
    table.ByteRanges[table.Locations[1].First].Offset = std::uint64_t(1) << 40;
    return table;
  };
  LoadRequest request = this->Everything(2);
  request.Storage = {1e6, 1e9};
  LoadResult result = RankRead(locate, this->Data, request).Read();
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Variable, 1);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("the end of the file"));
  EXPECT_EQ(this->ValuesOf(result.At(0, 0)), this->Expected(0, 0));
  EXPECT_EQ(this->ValuesOf(result.At(0, 2)), this->Expected(0, 2));
}

TEST_F(RankReading, MissesWhatNothingBrings)
{
  const auto locate = [this](const std::vector<PatchVariable>& requests) {
    LocationTable table = this->Format.Locate(this->Data, requests, {});
    table.Locations[1].Count = 0;
    return table;
  };
  const LoadRequest request = this->Everything(2);
  LoadResult result = RankRead(locate, this->Data, request).Read();
  ASSERT_EQ(result.Faults.size(), 1u);
  EXPECT_EQ(result.Faults[0].Variable, 1);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr("values of 'velocity' on patch 0"));
  EXPECT_EQ(result.At(0, 1).Status, ArrayStatus::Failed);
}

TEST_F(RankReading, DeliversTheFormThatIsWanted)
{
  LoadRequest request;
  request.Blocks = BlocksOfPatches(this->Data, {2});
  request.Variables = {{1, 3, {0, 1}, {0, 0, 0}}, {2, 1, {0}, {0, 0, 0}}};
  LoadResult result = this->Load(request);
  ASSERT_TRUE(result.Faults.empty());
  const std::vector<float> velocity = this->ValuesOf(result.At(0, 0));
  ASSERT_EQ(velocity.size(), 25u * 3);
  EXPECT_EQ(velocity[3 * 7 + 0], DraftValue(2, 1, 0, 7));
  EXPECT_EQ(velocity[3 * 7 + 1], DraftValue(2, 1, 1, 7));
  EXPECT_EQ(velocity[3 * 7 + 2], 0);
  const std::vector<float> pressure = this->ValuesOf(result.At(0, 1));
  ASSERT_EQ(pressure.size(), 16u) << "without its ghosts";
  EXPECT_EQ(pressure[0], DraftValue(2, 2, 0, 1));
  EXPECT_EQ(pressure[4], DraftValue(2, 2, 0, 7));
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

namespace {

/// A format that locates values in a file that is removed before it is read.
class VanishingFormat : public samrai::SamraiFormat
{
public:
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override
  {
    LocationTable table = SamraiFormat::Locate(catalog, requests, options);
    table.Files[0] += ".gone";
    return table;
  }
};

}  // namespace

TEST_F(RankReading, CollectsFaultsThatHappenWhileReading)
{
  LoadResult result = testing::LoadPatches(VanishingFormat(), this->Data, this->Everything(3));
  EXPECT_EQ(result.Faults.size(), 3u) << "the variables of patch 0";
  EXPECT_EQ(result.At(0, 0).Status, ArrayStatus::Failed);
  EXPECT_FALSE(result.At(0, 0).Values);
  EXPECT_THAT(result.Faults[0].Message, HasSubstr(".gone"));
  EXPECT_EQ(this->ValuesOf(result.At(2, 3)), this->Expected(2, 3));
}

namespace {

/// Counts the opens of a file.
class OpenCounter
{
public:
  explicit OpenCounter(const std::string& path) : Events(::inotify_init1(IN_NONBLOCK))
  {
    // The kernel merges consecutive equal events, but a close event is between two opens.
    EXPECT_GE(::inotify_add_watch(this->Events, path.c_str(), IN_OPEN | IN_CLOSE), 0);
  }
  ~OpenCounter() { ::close(this->Events); }
  OpenCounter(const OpenCounter&) = delete;
  OpenCounter& operator=(const OpenCounter&) = delete;

  int Count()
  {
    alignas(inotify_event) char events[64 * sizeof(inotify_event)];
    for (ssize_t got = 1; (got = ::read(this->Events, events, sizeof(events))) > 0;) {
      for (ssize_t at = 0; at < got; at += static_cast<ssize_t>(sizeof(inotify_event))) {
        this->Opened += reinterpret_cast<const inotify_event*>(events + at)->mask & IN_OPEN ? 1 : 0;
      }
    }
    return this->Opened;
  }

private:
  int Events;
  int Opened = 0;
};

}  // namespace

TEST_F(RankReading, OpensAFileThatCannotBeOpenedOnce)
{
  const std::string path = this->Folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const auto locate = [&](const std::vector<PatchVariable>& requests) {
    LocationTable table = this->Format.Locate(this->Data, requests, {});
    std::fill(table.Files.begin(), table.Files.end(), path);
    table.Files.resize(1);
    for (ByteRange& extent : table.ByteRanges) {
      extent.File = 0;
    }
    return table;
  };
  for (const int threads : {1, 4}) {
    OpenCounter opens(path);
    ::close(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
    ASSERT_EQ(opens.Count(), 1) << "opening is not noticed, so this test shows nothing";
    const LoadRequest request = this->Everything(threads);
    LoadResult result = RankRead(locate, this->Data, request).Read();
    EXPECT_EQ(opens.Count(), 2);
    ASSERT_EQ(result.Faults.size(), 10u) << "each stored array";
    for (const LoadFault& fault : result.Faults) {
      EXPECT_THAT(fault.Message, HasSubstr(path + ": expected a file, found a pipe"));
    }
  }
}

namespace {

/// A format that leaves the density of patches 0 and 1 to the HDF5 library.
class LibraryFormat : public samrai::SamraiFormat
{
public:
  LocationTable Locate(const Catalog& catalog, const std::vector<PatchVariable>& requests,
      const LocateOptions& options) const override
  {
    LocationTable table = SamraiFormat::Locate(catalog, requests, options);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto [patch, variable] = requests[i];
      if (variable == 0 && patch < 2) {
        const int file = table.ByteRanges[table.Locations[i].First].File;
        table.Locations[i] = {
            Encoding::Library, static_cast<std::uint32_t>(table.LibraryArrays.size()), 1, 0, 0};
        table.LibraryArrays.push_back({file, ElementType::Float32,
            testing::PatchGroup(catalog.Patches[patch]) + catalog.Variables[0].StoredName, 0,
            static_cast<std::uint64_t>(catalog.StoredTuples(0, patch)), "a test"});
      }
    }
    return table;
  }
};

}  // namespace

TEST_F(RankReading, TellsOfProgressInTheLibraryToo)
{
  std::vector<double> fractions;
  LoadResult result =
      testing::LoadPatches(LibraryFormat(), this->Data, this->Everything(1), [&](const ReadProgress& now) {
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
  LoadResult result = testing::LoadPatches(
      LibraryFormat(), this->Data, this->Everything(2), [](const ReadProgress&) { return false; });
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
  LoadResult result = testing::LoadPatches(VanishingFormat(), this->Data, request);
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
  const auto gate = std::make_shared<HangingSource::Gate>();
  const auto pool = std::make_shared<MemoryPool>();
  LoadRequest request = this->Everything(3);
  request.Memory = pool;
  request.MakeSource = [gate](const LocationTable& table) {
    return std::make_unique<HangingSource>(MakeFileSource(table.Files), gate);
  };
  // All arguments of the read are destroyed before the requests continue.
  auto catalog = std::make_unique<Catalog>(this->Data);
  LoadResult result = testing::LoadPatches(this->Format, *catalog, request, [&](const ReadProgress& now) {
    EXPECT_EQ(now.Bytes, 0u);
    EXPECT_GT(now.BytesToRead, 0u);
    const std::lock_guard<std::mutex> lock(gate->Mutex);
    return gate->Waiting < 1;
  });
  const int begun = gate->Waiting;
  EXPECT_TRUE(result.Cancelled);
  EXPECT_TRUE(result.Faults.empty());
  EXPECT_EQ(result.Report.Tasks, 0u);
  ASSERT_EQ(result.Arrays.size(), 12u);
  EXPECT_EQ(result.At(2, 3).Status, ArrayStatus::NotRead);
  catalog.reset();
  request = LoadRequest();
  result = LoadResult();
  EXPECT_GT(pool.use_count(), 1) << "the tasks have memory to write to";
  Open(*gate);
  while (pool.use_count() > 1) {  // the time limit of the test ends this loop if tasks never end
    std::this_thread::yield();
  }
  EXPECT_EQ(pool->TotalBytes(), pool->KeptBytes()) << "memory of arrays that nobody gets";
  EXPECT_EQ(gate->Waiting, begun) << "no request is begun after the end";
}

TEST_F(RankReading, BeginsAheadAndIsCompletedLater)
{
  const auto locate = [this](const std::vector<PatchVariable>& requests) {
    return this->Format.Locate(this->Data, requests, {1, false});
  };
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

TEST_F(RankReading, BegunAheadMayBeGivenUp)
{
  const auto gate = std::make_shared<HangingSource::Gate>();
  const auto pool = std::make_shared<MemoryPool>();
  {
    LoadRequest request = this->Everything(2);
    request.Memory = pool;
    request.MakeSource = [gate](const LocationTable& table) {
      return std::make_unique<HangingSource>(MakeFileSource(table.Files), gate);
    };
    const auto locate = [this](const std::vector<PatchVariable>& requests) {
      return this->Format.Locate(this->Data, requests, {1, false});
    };
    RankRead loader(locate, this->Data, request);
    loader.Allocate();
    loader.Start();
    std::unique_lock<std::mutex> lock(gate->Mutex);
    gate->Change.wait(lock, [&] { return gate->Waiting > 0; });
  }
  Open(*gate);
  while (pool.use_count() > 1) {
    std::this_thread::yield();
  }
  const std::lock_guard<std::mutex> lock(gate->Mutex);
  EXPECT_LE(gate->Waiting, 2) << "no request is begun after the end";
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

TEST_F(RankReading, KeepsArraysAliveByThemselves)
{
  Buffer kept;
  {
    LoadResult result = this->Load(this->Everything(2));
    kept = std::move(result.At(0, 0).Values);
  }
  EXPECT_EQ(static_cast<const float*>(kept.get())[5], DraftValue(0, 0, 0, 5));
}

}  // namespace patchio
