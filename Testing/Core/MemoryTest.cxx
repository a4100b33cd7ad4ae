#include "Support/Memory.h"

#include "TestTools.h"

#include <limits>

namespace patchio {
namespace {

constexpr std::uint64_t Unknown = std::numeric_limits<std::uint64_t>::max();

/// A machine with 4096 KiB, as its kernel describes it.
class MemoryOfMachine : public ::testing::Test
{
protected:
  MemoryOfMachine() { this->Say("proc/meminfo", "MemTotal: 9999 kB\nMemAvailable: 4096 kB\nShmem: 1 kB\n"); }

  void Say(const std::string& file, const std::string& text) const
  {
    const std::filesystem::path path = this->Root / file;
    std::filesystem::create_directories(path.parent_path());
    testing::WriteText(path.string(), text);
  }

  /// A group of version 2.
  void Limit(const std::string& group, const std::string& limit, int usage) const
  {
    this->Say("sys/fs/cgroup/" + group + "memory.max", limit + "\n");
    this->Say("sys/fs/cgroup/" + group + "memory.current", std::to_string(usage) + "\n");
  }

  std::uint64_t Available() const { return AvailableMemory(this->Root.Path()); }

  testing::TempFolder Root;
};

}  // namespace

TEST(AvailableMemory, IsMoreThanNothing)
{
  EXPECT_GT(AvailableMemory(), std::uint64_t(1) << 20);
}

TEST_F(MemoryOfMachine, IsTheKernelsEstimateWithoutGroups)
{
  EXPECT_EQ(this->Available(), 4096u * 1024);
}

TEST_F(MemoryOfMachine, IsUnknownWithoutAKernelThatTells)
{
  std::filesystem::remove_all(this->Root / "proc");
  EXPECT_EQ(this->Available(), Unknown);
  this->Say("proc/self/cgroup", "0::/mine\nnonsense\n");
  EXPECT_EQ(this->Available(), Unknown);
}

TEST_F(MemoryOfMachine, IsBoundByItsGroup)
{
  this->Say("proc/self/cgroup", "0::/job/mine\n");
  this->Limit("job/mine/", "5000", 1000);
  EXPECT_EQ(this->Available(), 4000u);
  this->Limit("job/mine/", "5000", 7000);
  EXPECT_EQ(this->Available(), 0u);
  this->Limit("job/mine/", "max", 1000);
  EXPECT_EQ(this->Available(), 4096u * 1024);
}

TEST_F(MemoryOfMachine, IsBoundByTheGroupsAboveItsGroup)
{
  this->Say("proc/self/cgroup", "0::/job/mine\n");
  this->Limit("job/mine/", "max", 1000);
  this->Limit("job/", "6000", 1000);
  EXPECT_EQ(this->Available(), 5000u);
}

TEST_F(MemoryOfMachine, IsBoundInAContainerThatDoesNotSeeItsOwnPath)
{
  this->Say("proc/self/cgroup", "0::/elsewhere/container\n");
  this->Limit("", "3000", 1000);
  EXPECT_EQ(this->Available(), 2000u);
}

TEST_F(MemoryOfMachine, CountsCachedFilesAsFree)
{
  this->Say("proc/self/cgroup", "0::/mine\n");
  this->Limit("mine/", "5000", 4900);
  this->Say("sys/fs/cgroup/mine/memory.stat", "anon 900\ninactive_file 1500\nactive_file 2500\n");
  EXPECT_EQ(this->Available(), 4100u);
}

TEST_F(MemoryOfMachine, IsBoundByAGroupOfVersionOne)
{
  this->Say("proc/self/cgroup", "5:cpu:/mine\n4:hugetlb,memory:/mine\n0::/\n");
  this->Say("sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "5000\n");
  this->Say("sys/fs/cgroup/memory/mine/memory.usage_in_bytes", "3000\n");
  this->Say("sys/fs/cgroup/memory/mine/memory.stat", "total_inactive_file 1000\n");
  EXPECT_EQ(this->Available(), 3000u);
  this->Say("sys/fs/cgroup/memory/mine/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(this->Available(), 4096u * 1024) << "what version 1 says when there is no limit";
}

}  // namespace patchio
