#include "Tuning/Counters.h"

#include "KernelFiles.h"

namespace patchio {
namespace {

using testing::LustreMount;
using testing::LustreTarget;
using testing::NfsMount;
using testing::TempFolder;
using testing::WriteDeepText;

const char* const Local =
    "device rootfs mounted on / with fstype ext4\ndevice proc mounted on /proc with fstype proc\n";

}  // namespace

TEST(NfsCounters, AreThoseOfTheMount)
{
  TempFolder root;
  WriteDeepText(root / "proc/self/mountstats", Local + NfsMount("/home", "nfs", 1, 2, 3, 4) +
                                                   NfsMount("/data", "nfs4", 5000000, 4000000, 40, 1500) +
                                                   NfsMount("/work", "nfs", 6, 7, 8, 9));
  const auto counters = ReadNfsCounters("/data", root.Path());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->BytesRequested, 5000000u);
  EXPECT_EQ(counters->BytesDelivered, 4000000u);
  EXPECT_EQ(counters->Requests, 40u);
  EXPECT_DOUBLE_EQ(counters->Seconds, 1.5);
  EXPECT_FALSE(ReadNfsCounters("/proc", root.Path()));
  EXPECT_FALSE(ReadNfsCounters("/dat", root.Path()));
}

TEST(NfsCounters, TakeTheUpperOfTwoMountsAndEscapedNames)
{
  TempFolder root;
  WriteDeepText(root / "proc/self/mountstats",
      NfsMount("/my\\040data", "nfs", 1, 2, 3, 4) + NfsMount("/my\\040data", "nfs", 10, 20, 30, 40));
  EXPECT_EQ(ReadNfsCounters("/my data", root.Path())->BytesRequested, 10u);
}

TEST(NfsCounters, AreNoneWhereTheTextMakesNoSense)
{
  TempFolder root;
  EXPECT_FALSE(ReadNfsCounters("/data", root.Path()));
  const std::string begin = "device server:/export mounted on /data with fstype nfs4 statvers=1.1\n";
  for (const std::string& text :
      {std::string(), begin, begin + "bytes: 1 2 3 4\nREAD: 1 2 3 4 5 6 7 8\n",
          begin + "bytes: 1 2 3 4 5\nREAD: 1 2 3 4 5 6 7\n", begin + "bytes: 1 2 3 4 5\n",
          begin + "READ: 1 2 3 4 5 6 7 8\n", begin + "bytes: -1 2 3 4 5\nREAD: 1 2 3 4 5 6 7 8\n",
          std::string("device x mounted on"), std::string("bytes: 1 2 3 4 5\nREAD: 1 2 3 4 5 6 7 8\n"),
          std::string("device x mounted on \\0\\04\\ with fstype nfs x\n"), std::string(200000, 'd'),
          std::string(5000, '\0'),
          begin + "device other mounted on /x with fstype ext4\nbytes: 1 2 3 4 5\nREAD: 1 2 3 4 5 6 7 8\n"}) {
    WriteDeepText(root / "proc/self/mountstats", text);
    EXPECT_FALSE(ReadNfsCounters("/data", root.Path())) << text.substr(0, 100);
  }
}

TEST(LustreCounters, AreAddedUpOverTheTargetsOfTheFileSystem)
{
  for (const char* const place : {"proc/fs/lustre/", "sys/kernel/debug/lustre/"}) {
    TempFolder root;
    const std::string folder = root / place;
    WriteDeepText(folder + "osc/scratch-OST0000-osc-ffff8800/stats", LustreTarget(1000, 10, 3000000));
    WriteDeepText(folder + "osc/scratch-OST0001-osc-ffff8800/stats", LustreTarget(2000, 20, 500000));
    WriteDeepText(folder + "osc/home-OST0000-osc-ffff8801/stats", LustreTarget(70000, 7, 7));
    WriteDeepText(folder + "llite/scratch-ffff8800/stats", LustreMount(5000));
    WriteDeepText(folder + "llite/home-ffff8801/stats", LustreMount(9));
    const auto counters = ReadLustreCounters("10.0.0.1@tcp:10.0.0.2@tcp:/scratch/users", root.Path());
    ASSERT_TRUE(counters);
    EXPECT_EQ(counters->BytesDelivered, 3000u);
    EXPECT_EQ(counters->BytesRequested, 5000u);
    EXPECT_EQ(counters->Requests, 30u);
    EXPECT_DOUBLE_EQ(counters->Seconds, 3.5);
    EXPECT_FALSE(ReadLustreCounters("10.0.0.1@tcp:/other", root.Path()));
    EXPECT_FALSE(ReadLustreCounters("10.0.0.1@tcp:/", root.Path()));
    EXPECT_FALSE(ReadLustreCounters("", root.Path()));
  }
}

TEST(LustreCounters, AreNoneWhereTheTextMakesNoSense)
{
  TempFolder root;
  const std::string file = root / "proc/fs/lustre/osc/scratch-OST0000-osc-1/stats";
  for (const std::string& text :
      {std::string(), std::string("read_bytes\n"), std::string("read_bytes 1 samples\n"),
          std::string("read_bytes 1 samples [bytes] 1 2 x\n"), std::string("read_bytes 1 of [bytes] 1 2 3\n"),
          std::string(300000, 'r'), std::string(999, '\0')}) {
    WriteDeepText(file, text);
    EXPECT_FALSE(ReadLustreCounters("1@tcp:/scratch", root.Path())) << text.substr(0, 60);
  }
}

}  // namespace patchio
