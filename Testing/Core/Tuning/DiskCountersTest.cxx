#include "Tuning/Counters.h"

#include "TestTools.h"

#include <sys/stat.h>

namespace patchio {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;
using testing::WriteText;

/// A folder with simulated trees proc and sys.
class FakeSystem
{
public:
  FakeSystem() { fs::create_directories(this->Folder / "proc/self"); }

  void Diskstats(const std::string& text) { WriteText(this->Folder / "proc/diskstats", text); }

  /// Makes a device as in sysfs. Returns its folder.
  std::string Device(const std::string& path, const std::string& number)
  {
    const std::string folder = this->Folder / ("sys/devices/" + path);
    fs::create_directories(folder);
    fs::create_directories(this->Folder / "sys/dev/block");
    WriteText(folder + "/dev", number + "\n");
    fs::create_directory_symlink("../../devices/" + path, this->Folder / ("sys/dev/block/" + number));
    return folder;
  }

  /// Makes a virtual device on these devices. Returns its folder.
  std::string Stack(const std::string& name, const std::string& number, const std::vector<std::string>& below)
  {
    const std::string folder = this->Device("virtual/block/" + name, number);
    this->PutOn(folder, below);
    return folder;
  }
  static void PutOn(const std::string& folder, const std::vector<std::string>& below)
  {
    fs::create_directories(folder + "/slaves");
    for (const std::string& device : below) {
      fs::create_directory_symlink(device, folder + "/slaves/" + fs::path(device).filename().string());
    }
  }

  const std::string& Root() const { return this->Folder.Path(); }
  TempFolder Folder;
};

const char* const Long =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    "   8       0 sda 3137297 326807 1965878210 21122583 1254795 468733 196603200 1152246 0 957876 22416307 "
    "963351 "
    "57 269573584 122171 223476 19306\n"
    "   8       1 sda1 11 12 13 14 15 16 17 18 0 20 21 22 23 24 25 26 27\n"
    " 253       0 dm-0 1 0 2 3 4 0 5 6 0 7 8 0 0 0 0 0 0\n";

}  // namespace

TEST(DiskCounters, AreReadFromLinesOfAllKernels)
{
  FakeSystem system;
  system.Diskstats(Long);
  const auto counters = ReadDiskCounters({8, 0}, system.Root());
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->Name, "sda");
  EXPECT_EQ(counters->Reads, 3137297u);
  EXPECT_EQ(counters->SectorsRead, 1965878210u);
  EXPECT_EQ(counters->ReadMilliseconds, 21122583u);
  EXPECT_EQ(counters->Writes, 1254795u);
  EXPECT_EQ(counters->SectorsWritten, 196603200u);
  EXPECT_EQ(counters->WriteMilliseconds, 1152246u);

  // Kernels before 4.18 have 11 columns, those before 5.5 have 15.
  system.Diskstats(
      " 8 0 sda 1 2 3 4 5 6 7 8 9 10 11\n 8 16 sdb 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35");
  EXPECT_EQ(ReadDiskCounters({8, 0}, system.Root())->SectorsWritten, 7u);
  EXPECT_EQ(ReadDiskCounters({8, 16}, system.Root())->SectorsRead, 23u);
  // Partitions had 4 columns in old kernels.
  system.Diskstats("   8    1 sda1 1 2 3 4\n");
  EXPECT_FALSE(ReadDiskCounters({8, 1}, system.Root()));
}

TEST(DiskCounters, AreNoneWhereTheTextMakesNoSense)
{
  FakeSystem system;
  EXPECT_FALSE(ReadDiskCounters({8, 0}, system.Root()));  // the file does not exist
  for (const std::string& text :
      {std::string(), std::string("8 0"), std::string("8 0 sda\n"), std::string("\n\n\n"),
          std::string("8 0 sda 1 2 3 4 5 6 7 8 9 10\n"), std::string("8 0 sda 1 2 3 x 5 6 7 8 9 10 11\n"),
          std::string("8 0 sda -1 2 3 4 5 6 7 8 9 10 11\n"),
          std::string("8 0 sda 99999999999999999999999 2 3 4 5 6 7 8 9 10 11\n"), std::string(300, '\0'),
          std::string(100000, '7'), std::string(50000, ' ') + "8 0 sda",
          std::string("8 1 sda 1 2 3 4 5 6 7 8 9 10 11")}) {
    system.Diskstats(text);
    EXPECT_FALSE(ReadDiskCounters({8, 0}, system.Root())) << text.substr(0, 60);
  }
  fs::remove(system.Folder / "proc/diskstats");
  fs::create_directory(system.Folder / "proc/diskstats");
  EXPECT_FALSE(ReadDiskCounters({8, 0}, system.Root()));
  fs::remove(system.Folder / "proc/diskstats");
  ASSERT_EQ(::mkfifo((system.Folder / "proc/diskstats").c_str(), 0600), 0);
  EXPECT_FALSE(ReadDiskCounters({8, 0}, system.Root()));  // no program writes to it
}

TEST(DiskCounters, AreFoundAmongMany)
{
  FakeSystem system;
  std::string text;
  for (int minor = 0; minor < 5000; ++minor) {
    text += "  65 " + std::to_string(minor) + " sd" + std::to_string(minor) + " 1 0 " +
            std::to_string(minor) + " 1 0 0 0 0 0 1 1\n";
  }
  system.Diskstats(text);
  EXPECT_EQ(ReadDiskCounters({65, 4321}, system.Root())->SectorsRead, 4321u);
}

TEST(FindDisk, GivesTheWholeDiskOfAPartition)
{
  FakeSystem system;
  system.Diskstats(Long);
  system.Device("pci0/ata1/block/sda", "8:0");
  WriteText(system.Device("pci0/ata1/block/sda/sda1", "8:1") + "/partition", "1\n");
  EXPECT_TRUE(FindDisk({8, 1}, "/dev/sda1", "ext4", system.Root())->Number == (DeviceNumber{8, 0}));
  EXPECT_TRUE(FindDisk({8, 0}, "/dev/sda", "ext4", system.Root())->Number == (DeviceNumber{8, 0}));
  // Without sysfs, the line of the partition is used.
  EXPECT_TRUE(FindDisk({8, 7}, "/dev/sda7", "ext4", system.Root())->Number == (DeviceNumber{8, 7}));
}

TEST(FindDisk, GoesDownAStackOfSingleDevices)
{
  FakeSystem system;
  system.Device("pci0/ata1/block/sda", "8:0");
  const std::string partition = system.Device("pci0/ata1/block/sda/sda1", "8:1");
  WriteText(partition + "/partition", "1\n");
  system.Stack("dm-1", "253:1", {system.Stack("dm-0", "253:0", {partition})});
  const auto disk = FindDisk({253, 1}, "/dev/mapper/volume", "xfs", system.Root());
  EXPECT_TRUE(disk->Number == (DeviceNumber{8, 0}));
  EXPECT_FALSE(disk->MaySpanDisks);
}

TEST(FindDisk, StaysWithWhatIsSpreadOverSeveralDisks)
{
  FakeSystem system;
  const std::string first = system.Device("pci0/ata1/block/sda", "8:0");
  const std::string second = system.Device("pci0/ata2/block/sdb", "8:16");
  system.Stack("md0", "9:0", {first, second});
  const auto disk = FindDisk({9, 0}, "/dev/md0", "ext4", system.Root());
  EXPECT_TRUE(disk->Number == (DeviceNumber{9, 0}));
  EXPECT_TRUE(disk->MaySpanDisks);
}

TEST(FindDisk, TakesTheSourceWhereTheNumberIsNone)
{
  FakeSystem system;
  system.Diskstats(Long);
  fs::create_directories(system.Folder / "dev/mapper");
  WriteText(system.Folder / "dev/dm-0", "");
  fs::create_symlink("../dm-0", system.Folder / "dev/mapper/home");
  EXPECT_TRUE(FindDisk({0, 40}, "/dev/sda", "btrfs", system.Root())->Number == (DeviceNumber{8, 0}));
  EXPECT_TRUE(FindDisk({0, 40}, "/dev/sda", "btrfs", system.Root())->MaySpanDisks);
  EXPECT_TRUE(
      FindDisk({0, 40}, "/dev/mapper/home", "btrfs", system.Root())->Number == (DeviceNumber{253, 0}));
  for (const char* const source :
      {"", "overlay", "tmpfs", "/dev/", "/dev/nothing", "sda", "server:/export"}) {
    EXPECT_FALSE(FindDisk({0, 40}, source, "overlay", system.Root())) << source;
  }
  EXPECT_FALSE(FindDisk({0, 40}, "/dev/sda", "fuse.sshfs", system.Root()));
}

TEST(FindDisk, EndsOnStacksInACircle)
{
  FakeSystem system;
  const std::string first = system.Device("virtual/block/dm-0", "253:0");
  FakeSystem::PutOn(first, {system.Stack("dm-1", "253:1", {first})});
  EXPECT_TRUE(FindDisk({253, 0}, "", "ext4", system.Root()));
}

TEST(FetchedBytes, IsWhatTheKernelCountsForTheProcess)
{
  FakeSystem system;
  EXPECT_FALSE(FetchedBytes(system.Root()));
  WriteText(system.Folder / "proc/self/io",
      "rchar: 6976\nwchar: 0\nsyscr: 10\nsyscw: 0\nread_bytes: 81920\nwrite_bytes: 0\ncancelled_write_bytes: "
      "0\n");
  EXPECT_EQ(FetchedBytes(system.Root()), 81920u);
  WriteText(system.Folder / "proc/self/io", "read_bytes: many\n");
  EXPECT_FALSE(FetchedBytes(system.Root()));
}

TEST(KernelText, IsReadNoFurtherThanAsked)
{
  TempFolder folder;
  WriteText(folder / "long", std::string(100000, 'x'));
  EXPECT_EQ(ReadKernelText(folder / "long", 777)->size(), 777u);
  EXPECT_EQ(ReadKernelText(folder / "long", 1 << 20)->size(), 100000u);
  EXPECT_FALSE(ReadKernelText(folder / "none", 777));
  EXPECT_EQ(SplitWords(std::string(1000, 'a') + " b \t c d", 3).size(), 3u);
}

TEST(KernelText, CountersPassThroughZero)
{
  constexpr std::uint64_t width = std::uint64_t(1) << 32;
  EXPECT_EQ(CounterIncrease(5, 12), 7u);
  EXPECT_EQ(CounterIncrease(width - 5, 3), 8u);
  EXPECT_EQ(CounterIncrease(~std::uint64_t(0) - 4, 3), 8u);
  EXPECT_EQ(CounterIncrease(width + 5, 2 * width), width - 5);
  EXPECT_FALSE(CounterIncrease(1000, 3));  // the counter was reset
  EXPECT_FALSE(CounterIncrease(1000 * width, 3));
}

}  // namespace patchio
