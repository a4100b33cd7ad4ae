#include "Tuning/LoadSense.h"

#include "KernelFiles.h"

#include <cmath>
#include <functional>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::LustreMount;
using testing::LustreTarget;
using testing::NfsMount;
using testing::TempFolder;
using testing::WriteDeepText;

constexpr std::uint64_t MB = 1000000;

Mount MountAs(const char* point, const char* type, const char* source, int major, int minor)
{
  Mount mount;
  mount.Point = point;
  mount.Type = type;
  mount.Source = source;
  mount.Major = major;
  mount.Minor = minor;
  return mount;
}

/// The counters of a disk after some time.
struct DiskState
{
  std::uint64_t BytesRead = 0, ReadMilliseconds = 0, BytesWritten = 0, WriteMilliseconds = 0, Reads = 0;
};

OwnReads Own(std::uint64_t bytes, double inFlight)
{
  OwnReads own;
  own.AllRanks = {bytes, inFlight};
  return own;
}

/// Returns a curve with 45 MB/s per request, up to 16 requests.
LoadCurve Kinked()
{
  LoadCurve curve;
  curve.Rate = [](double n) { return 45e6 * (n <= 16 ? n : 16 * std::sqrt(16 / n)); };
  curve.Most = 128;
  curve.Best = 16;
  curve.Noise = curve.Residual = 0.02;
  return curve;
}

std::uint64_t BytesOf(double own, double others)
{
  return static_cast<std::uint64_t>(own / (own + others) * Kinked().Rate(own + others));
}

/// An idle disk and a sensor that has taken its first sample, at 0 s.
class LoadOfDisk : public ::testing::Test
{
protected:
  LoadOfDisk() { this->Sensor.Sample(Own(0, 0), 0); }
  void Set(const DiskState& state)
  {
    WriteDeepText(this->Folder / "proc/diskstats",
        fmt::format("   8       0 sda {} 5 {} {} 200 6 {} {} 0 957876 22416307 0 0 0 0 0 0\n", state.Reads,
            state.BytesRead / 512, state.ReadMilliseconds, state.BytesWritten / 512,
            state.WriteMilliseconds));
  }
  void Fetched(std::uint64_t bytes)
  {
    WriteDeepText(
        this->Folder / "proc/self/io", fmt::format("rchar: 1\nread_bytes: {}\nwrite_bytes: 0\n", bytes));
  }
  LoadSensor SensorOf(std::optional<LoadCurve> curve) const
  {
    return LoadSensor(MountAs("/data", "ext4", "/dev/sda", 8, 0), std::move(curve), this->Folder.Path());
  }

  LoadSensor SensorOfIdleDisk()
  {
    this->Set({});
    this->Fetched(0);
    return this->SensorOf({});
  }

  TempFolder Folder;
  LoadSensor Sensor = SensorOfIdleDisk();
};

}  // namespace

TEST_F(LoadOfDisk, IsWhatIsInItsQueueAndNotOurs)
{
  this->Set({1000 * MB, 5000, 0, 0, 1000});
  this->Fetched(500 * MB);
  LoadSensor sensor = this->SensorOf({});
  const LoadEstimate first = sensor.Sample(Own(0, 0), 100);
  EXPECT_EQ(first.Load, 0);
  EXPECT_EQ(first.Confidence, 0);
  // Own reads: 280 of 400 MB/s with 7 requests in flight; others: 120 MB/s with 3.
  this->Set({1800 * MB, 25000, 0, 0, 1800});
  this->Fetched(1060 * MB);
  OwnReads own = Own(560 * MB, 7);
  own.AllRanks.Requests = 560;
  const LoadEstimate estimate = sensor.Sample(own, 102);
  EXPECT_NEAR(estimate.Load, 3, 0.01);
  EXPECT_GT(estimate.Confidence, 0.8);
  EXPECT_EQ(estimate.Source,
      "device sda: other programs read 120 MB/s of 400 MB/s, with 3 of 10 requests in flight");
}

TEST_F(LoadOfDisk, SeesThoseThatGetLittle)
{
  // 12 requests of others get 40 MB/s, and 4 own requests get 360 MB/s.
  this->Set({400 * MB, 16000, 0, 0, 400});
  this->Fetched(360 * MB);
  OwnReads own = Own(360 * MB, 4);
  own.AllRanks.Requests = 360;
  const LoadEstimate estimate = this->Sensor.Sample(own, 1);
  EXPECT_NEAR(estimate.Load, 12, 0.01);
  EXPECT_LT(estimate.Confidence, 0.8);
  EXPECT_GT(estimate.Confidence, 0.5);
}

TEST_F(LoadOfDisk, KnowsThatLongRequestsAreSplit)
{
  WriteDeepText(this->Folder / "sys/dev/block/8:0/queue/max_sectors_kb", "512\n");
  LoadSensor sensor = this->SensorOf({});
  sensor.Sample(Own(0, 0), 0);
  // Each own request of 2 MB is split into four, so 4 x 4 = 16 of the requests in flight are own ones.
  this->Set({800 * MB, 24000, 0, 0, 1600});
  this->Fetched(400 * MB);
  OwnReads own = Own(400 * MB, 4);
  own.AllRanks.Requests = 200;
  EXPECT_NEAR(sensor.Sample(own, 1).Load, 8, 0.5);
  // The disk may split requests further, which shows when no other program reads.
  this->Set({1200 * MB, 24000 + 32000, 0, 0, 1600 + 1600});
  this->Fetched(800 * MB);
  EXPECT_NEAR(sensor.Sample(own, 2).Load, 0, 0.01);
}

TEST_F(LoadOfDisk, CountsWritingToo)
{
  this->Set({100 * MB, 4000, 200 * MB, 9000, 100});
  this->Fetched(100 * MB);
  const LoadEstimate estimate = this->Sensor.Sample(Own(100 * MB, 4), 1);
  EXPECT_NEAR(estimate.Load, 9, 0.01);
  EXPECT_THAT(estimate.Source, HasSubstr("write 200 MB/s"));
}

TEST_F(LoadOfDisk, IsNoneWhenItIsAllOurs)
{
  this->Set({400 * MB, 8000, 0, 0});
  this->Fetched(401 * MB);
  const LoadEstimate estimate = this->Sensor.Sample(Own(400 * MB, 8), 1);
  EXPECT_EQ(estimate.Load, 0);
  EXPECT_GT(estimate.Confidence, 0.8);
}

TEST_F(LoadOfDisk, IsItsQueueWhenWeReadNothingFromIt)
{
  this->Set({400 * MB, 10000, 0, 2000});
  const LoadEstimate idle = this->Sensor.Sample(Own(0, 0), 2);
  EXPECT_NEAR(idle.Load, 6, 0.01);
  EXPECT_GT(idle.Confidence, 0.6);
  // All bytes came from the page cache.
  this->Set({800 * MB, 20000, 0, 4000});
  const LoadEstimate cached = this->Sensor.Sample(Own(5000 * MB, 8), 4);
  EXPECT_NEAR(cached.Load, 6, 0.01);
  EXPECT_LT(cached.Confidence, idle.Confidence);
}

TEST_F(LoadOfDisk, IsUnknownWhenTheDeviceDoesNotCountOrVanishes)
{
  this->Set({1000 * MB, 1, 0, 0});
  this->Sensor.Sample(Own(0, 0), 0.5);
  this->Fetched(500 * MB);
  EXPECT_EQ(this->Sensor.Sample(Own(500 * MB, 8), 1).Confidence, 0);  // statistics are switched off
  this->Fetched(900 * MB);
  this->Set({3 * MB, 1, 0, 0});
  EXPECT_EQ(this->Sensor.Sample(Own(400 * MB, 8), 2).Confidence, 0);  // another device has the number now
  WriteDeepText(this->Folder / "proc/diskstats", "");
  const LoadEstimate gone = this->Sensor.Sample(Own(400 * MB, 8), 3);
  EXPECT_EQ(gone.Confidence, 0);
  EXPECT_THAT(gone.Source, HasSubstr("no longer exists"));
  this->Set({10 * MB, 1, 0, 0});
  EXPECT_EQ(this->Sensor.Sample(Own(400 * MB, 8), 4).Confidence, 0);
}

TEST_F(LoadOfDisk, GoesOnWhenCountersPassThroughZero)
{
  constexpr std::uint64_t width = std::uint64_t(1) << 32;
  this->Set({512 * (width - 100000), width - 1000, 0, 0});
  LoadSensor sensor = this->SensorOf({});
  sensor.Sample(Own(0, 0), 0);
  this->Set({512 * 100000, 7000, 0, 0});  // 102.4 MB more
  this->Fetched(51200000);
  const LoadEstimate estimate = sensor.Sample(Own(51200000, 4), 1);
  EXPECT_NEAR(estimate.Load, 4, 0.01);
}

TEST_F(LoadOfDisk, IsLessSureWhereTheKernelDoesNotSayWhatWeFetched)
{
  std::filesystem::remove(this->Folder / "proc/self/io");
  LoadSensor sensor = this->SensorOf({});
  sensor.Sample(Own(0, 0), 0);
  this->Set({400 * MB, 8000, 0, 0});
  const LoadEstimate estimate = sensor.Sample(Own(100 * MB, 2), 1);
  EXPECT_NEAR(estimate.Load, 6, 0.01);
  EXPECT_GT(estimate.Confidence, 0.2);
  EXPECT_LE(estimate.Confidence, 0.5);
}

TEST_F(LoadOfDisk, TakesTheRanksOfThisMachineForIt)
{
  this->Set({400 * MB, 16000, 0, 0});
  this->Fetched(50 * MB);
  OwnReads own = Own(900 * MB, 40);
  own.ThisMachine = OwnReadTotals{200 * MB, 8};
  own.Fetched = 200 * MB;
  EXPECT_NEAR(this->Sensor.Sample(own, 1).Load, 8, 0.01);
}

TEST_F(LoadOfDisk, IsCheckedAgainstTheRate)
{
  const std::uint64_t mine = BytesOf(16, 16);
  LoadSensor agreed = this->SensorOf(Kinked()), contradicted = this->SensorOf(Kinked());
  agreed.Sample(Own(0, 0), 0);
  contradicted.Sample(Own(0, 0), 0);
  this->Fetched(mine);
  this->Set({2 * mine, 32000, 0, 0});
  const LoadEstimate both = agreed.Sample(Own(mine, 16), 1);
  EXPECT_NEAR(both.Load, 16, 1);
  EXPECT_GT(both.Confidence, 0.95);
  this->Set({mine, 16000, 0, 0});  // no other program read, but the disk was slow
  const LoadEstimate one = contradicted.Sample(Own(mine, 16), 1);
  EXPECT_EQ(one.Load, 0);
  EXPECT_LT(one.Confidence, 0.8);
  EXPECT_THAT(one.Source, HasSubstr("disagrees"));
}

namespace {

/// Returns a sensor that knows nothing but rates, after its first sample, at 0 s.
LoadSensor SensorOfRates(std::optional<LoadCurve> curve)
{
  const TempFolder root;
  LoadSensor sensor(MountAs("/mnt", "fuse.slow", "slow", 0, 55), std::move(curve), root.Path());
  EXPECT_EQ(sensor.Sample(Own(0, 0), 0).Confidence, 0);
  return sensor;
}

}  // namespace

TEST(LoadByRate, IsAllThatVirtualFileSystemsHave)
{
  LoadSensor sensor = SensorOfRates(Kinked());
  sensor.Sample(Own(BytesOf(16, 16), 16), 1);
  const LoadEstimate loaded = sensor.Sample(Own(BytesOf(32, 16), 32), 2);
  EXPECT_NEAR(loaded.Load, 16, 1);
  EXPECT_GT(loaded.Confidence, 0.8);
  EXPECT_THAT(loaded.Source, HasSubstr("32 requests in flight read at"));
  // Windows in which N changes give no estimate, and do not disturb other windows.
  OwnReads changing = Own(BytesOf(4, 0), 60);
  changing.Steady = false;
  EXPECT_EQ(sensor.Sample(changing, 2.5).Confidence, 0);
  EXPECT_NEAR(sensor.Sample(Own(BytesOf(16, 16) / 2, 16), 3).Load, 16, 1);
  // The other programs end, so the previous windows do not count any more.
  const LoadEstimate alone = sensor.Sample(Own(BytesOf(32, 0), 32), 4);
  EXPECT_NEAR(alone.Load, 0, 1);
  // Own reads are missing, too small, or too short.
  EXPECT_EQ(sensor.Sample(Own(0, 0), 5).Confidence, 0);
  EXPECT_EQ(sensor.Sample(Own(100, 16), 6).Confidence, 0);
  EXPECT_EQ(sensor.Sample(Own(500 * MB, 16), 6.001).Confidence, 0);
  EXPECT_EQ(sensor.Sample(Own(500 * MB, 16), 2).Confidence, 0);  // a clock that jumped
  EXPECT_EQ(sensor.Sample(Own(500 * MB, NAN), 8).Confidence, 0);
}

TEST(LoadByRate, ForgetsWhatIsLongAgo)
{
  LoadSensor sensor = SensorOfRates(Kinked());
  sensor.Sample(Own(BytesOf(32, 8), 32), 1);
  sensor.Sample(Own(0, 0), 100);
  // A window with 4 requests alone does not show the load.
  EXPECT_EQ(sensor.Sample(Own(BytesOf(4, 0), 4), 101).Confidence, 0);
}

TEST(LoadByRate, TakesItsCurveFromAProfile)
{
  StorageProfile profile;
  EXPECT_FALSE(CurveOf(profile));
  std::vector<RateSample> samples;
  for (int n = 1; n <= 128; n *= 2) {
    samples.push_back({n, Kinked().Rate(n), 0});
  }
  profile.Fit = FitRates(samples);
  const auto curve = CurveOf(profile);
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->Most, 128);
  EXPECT_NEAR(curve->Best, 16, 3);
  EXPECT_NEAR(curve->Rate(32), Kinked().Rate(32), 0.1 * Kinked().Rate(32));
  EXPECT_NEAR(InvertLoad(*curve, {{16, 1.0 * BytesOf(16, 16)}, {32, 1.0 * BytesOf(32, 16)}}).Load, 16, 4);
}

TEST(LoadByRate, IsUnknownWithoutACurve)
{
  LoadSensor sensor = SensorOfRates({});
  const LoadEstimate estimate = sensor.Sample(Own(500 * MB, 16), 1);
  EXPECT_EQ(estimate.Load, 0);
  EXPECT_EQ(estimate.Confidence, 0);
  EXPECT_FALSE(estimate.Source.empty());
}

namespace {

/// Returns the estimate for a window of one second on an NFS mount.
LoadEstimate OfNfs(std::optional<LoadCurve> curve, const OwnReads& own, std::uint64_t wanted,
    std::uint64_t requests, std::uint64_t milliseconds)
{
  TempFolder root;
  WriteDeepText(root / "proc/self/mountstats", NfsMount("/nfs", "nfs4", 77, 66, 55, 44));
  LoadSensor sensor(MountAs("/nfs", "nfs4", "server:/export", 0, 50), std::move(curve), root.Path());
  sensor.Sample(Own(0, 0), 0);
  WriteDeepText(root / "proc/self/mountstats",
      NfsMount("/nfs", "nfs4", 77 + wanted, 66 + wanted, 55 + requests, 44 + milliseconds));
  return sensor.Sample(own, 1);
}

}  // namespace

TEST(LoadOfNfs, SeesOtherProcessesOfTheMachine)
{
  const LoadEstimate estimate = OfNfs({}, Own(100 * MB, 8), 250 * MB, 250, 20000);
  EXPECT_NEAR(estimate.Load, 12, 0.1);
  EXPECT_GT(estimate.Confidence, 0.2);
  EXPECT_LE(estimate.Confidence, 0.5);  // other machines
  EXPECT_THAT(estimate.Source, HasSubstr("other programs on this machine read 150 MB/s of 250 MB/s"));
}

TEST(LoadOfNfs, DoesNotKnowOtherMachinesWithoutACurve)
{
  const LoadEstimate estimate = OfNfs({}, Own(100 * MB, 8), 100 * MB, 100, 8000);
  EXPECT_EQ(estimate.Confidence, 0);
  EXPECT_THAT(estimate.Source, HasSubstr("other machines is unknown"));
}

TEST(LoadOfNfs, AddsOtherMachinesByTheRateOfThisOne)
{
  // 16 own requests, 16 of another process on this machine, and 16 of another machine.
  const std::uint64_t mine = BytesOf(16, 32);
  const LoadEstimate estimate = OfNfs(Kinked(), Own(mine, 16), 2 * mine, 2 * mine / MB, 32000);
  EXPECT_NEAR(estimate.Load, 32, 2);
  EXPECT_GT(estimate.Confidence, 0.5);
  EXPECT_THAT(estimate.Source, HasSubstr("other machines"));
}

TEST(LoadOfNfs, BelievesAServerThatAnswersAtOnce)
{
  LoadCurve curve = Kinked();
  curve.CostOfRequest = StorageModel{0.002, 100e6};  // 1 MB in 12 ms
  const LoadEstimate quick = OfNfs(curve, Own(BytesOf(4, 0), 4), BytesOf(4, 0), 180, 180 * 12);
  EXPECT_EQ(quick.Load, 0);
  EXPECT_NEAR(quick.Confidence, 0.5, 1e-9);
  // According to the rate there were 32 requests of others, but the server was not busy.
  const std::uint64_t mine = BytesOf(16, 32);
  const LoadEstimate odd = OfNfs(curve, Own(mine, 16), mine, mine / MB, 12 * (mine / MB));
  EXPECT_EQ(odd.Load, 0);
  EXPECT_EQ(odd.Confidence, 0);
}

TEST(LoadOfLustre, SeesOtherProcessesOfTheMachine)
{
  TempFolder root;
  const std::string folder = root / "proc/fs/lustre/";
  const auto write = [&](std::uint64_t bytes, std::uint64_t requests, std::uint64_t microseconds) {
    WriteDeepText(
        folder + "osc/scratch-OST0000-osc-ffff8800/stats", LustreTarget(bytes, requests, microseconds));
    WriteDeepText(folder + "llite/scratch-ffff8800/stats", LustreMount(bytes));
  };
  write(0, 0, 0);
  LoadSensor sensor(MountAs("/scratch", "lustre", "10.0.0.1@tcp:/scratch", 0, 51), {}, root.Path());
  sensor.Sample(Own(0, 0), 0);
  write(400 * MB, 100, 16000000);
  const LoadEstimate estimate = sensor.Sample(Own(100 * MB, 4), 1);
  EXPECT_NEAR(estimate.Load, 12, 0.1);
  EXPECT_THAT(estimate.Source, HasSubstr("Lustre"));
  // There are no own reads, but 5 requests are in flight.
  write(800 * MB, 200, 21000000);
  EXPECT_NEAR(sensor.Sample(Own(0, 0), 2).Load, 5, 0.1);
  // The statistics were cleared.
  write(0, 0, 0);
  EXPECT_EQ(sensor.Sample(Own(100 * MB, 4), 3).Confidence, 0);
}

TEST(CombineLoads, PrefersWhatWasCountedAndKnowsNothingFromContradictions)
{
  const LoadEstimate nothing, counted{10, 0.9, "counted"}, weak{10, 0.4, "weak"}, near{11, 0.8, "near"},
      far{40, 0.8, "far"};
  EXPECT_EQ(CombineLoads(nothing, nothing).Confidence, 0);
  EXPECT_FALSE(CombineLoads(nothing, nothing).Source.empty());
  EXPECT_EQ(CombineLoads(counted, nothing).Load, 10);
  EXPECT_EQ(CombineLoads(nothing, far).Load, 40);
  EXPECT_GT(CombineLoads(counted, near).Confidence, 0.95);
  EXPECT_GT(CombineLoads(counted, near).Load, 10);
  EXPECT_LT(CombineLoads(counted, near).Load, 11);
  EXPECT_EQ(CombineLoads(counted, far).Load, 10);
  EXPECT_LT(CombineLoads(counted, far).Confidence, 0.9);
  EXPECT_EQ(CombineLoads(weak, far).Load, 0);
  EXPECT_EQ(CombineLoads(weak, far).Confidence, 0);
}

}  // namespace patchio
