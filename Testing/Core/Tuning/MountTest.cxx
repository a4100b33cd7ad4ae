#include "Tuning/Mount.h"

#include "TestTools.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;
using testing::WriteText;

/// The format is that of proc(5). None of the paths exist, and no device is one of this machine.
constexpr const char* Mounts =
    R"(22 1 4000:1 / /proj rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
23 22 4000:2 / /proj/scratch rw,noatime shared:2 master:5 - lustre 10.0.0.1@tcp:/fs1 rw,flock
24 22 4000:3 / /proj/my\040files rw - nfs4 server:/export/a\011b rw,vers=4.2
25 22 4000:1 /deep/er /proj/bound rw - ext4 /dev/sda1 rw
26 22 4000:4 / /proj/twice rw - ext4 /dev/sdb1 rw
27 26 4000:5 / /proj/twice rw - tmpfs tmpfs rw,size=1k
28 22 4000:6 / /proj/emulated rw,nosuid - fuse.patchio_slow_storage patchio rw,user_id=0
29 22 4000:7 / /proj/back\134slash rw - xfs /dev/sdc1 rw
this line makes no sense
30 22 4000:8 / relative rw - xfs /dev/sdd1 rw
31 22 4000:9 / /proj/nodash rw xfs /dev/sdd1 rw
32 22
)";

class Mounted : public ::testing::Test
{
protected:
  Mounted() { WriteText(this->Folder / "mountinfo", Mounts); }
  std::optional<Mount> Of(const std::string& path) { return MountOf(path, this->Folder / "mountinfo"); }
  std::string PointOf(const std::string& path) { return this->Of(path).value_or(Mount()).Point; }

  TempFolder Folder;
};

TEST_F(Mounted, IsTheOneWithTheLongestPoint)
{
  EXPECT_EQ(this->PointOf("/proj"), "/proj");
  EXPECT_EQ(this->PointOf("/proj/other/file"), "/proj");
  EXPECT_EQ(this->PointOf("/proj/scratch/a/b"), "/proj/scratch");
  EXPECT_EQ(this->PointOf("/proj/scratch"), "/proj/scratch");
  EXPECT_EQ(this->PointOf("/proj/scratch/"), "/proj/scratch");
  EXPECT_EQ(this->PointOf("/proj/scratchy/a"), "/proj");
  EXPECT_EQ(this->PointOf("/proj/scratch/../other"), "/proj");
  EXPECT_EQ(this->PointOf("/proj/nodash/a"), "/proj");
}

TEST_F(Mounted, IsTheRootFolderWhereNoMountIsAbove)
{
  const Mount unknown = this->Of("/project/a").value();
  EXPECT_EQ(unknown.Point, "/");
  EXPECT_EQ(unknown.Type, "unknown");
  EXPECT_EQ(unknown.Class, MountClass::Unknown);
  // Another mount of the same device has the type.
  struct stat state = {};
  ASSERT_EQ(::stat(this->Folder.Path().c_str(), &state), 0);
  std::ofstream(this->Folder / "mountinfo", std::ios::app)
      << "90 1 " << major(state.st_dev) << ":" << minor(state.st_dev)
      << " /sub /elsewhere rw - ext4 /dev/e rw\n";
  const Mount known = this->Of(this->Folder / "file").value();
  EXPECT_EQ(known.Point, "/");
  EXPECT_EQ(known.Root, "/");
  EXPECT_EQ(known.Type, "ext4");
  EXPECT_EQ(known.Source, "/dev/e");
}

TEST_F(Mounted, IsDescribed)
{
  const Mount mount = this->Of("/proj/scratch/a").value();
  EXPECT_EQ(mount.Type, "lustre");
  EXPECT_EQ(mount.Source, "10.0.0.1@tcp:/fs1");
  EXPECT_EQ(mount.Options, "rw,noatime,rw,flock");
  EXPECT_EQ(mount.Major, 4000);
  EXPECT_EQ(mount.Minor, 2);
  EXPECT_EQ(mount.Root, "/");
  EXPECT_EQ(mount.Class, MountClass::Parallel);
  EXPECT_EQ(mount.StripeCount, 0);  // there is no file to query
  const Mount blanks = this->Of("/proj/my files/x").value();
  EXPECT_EQ(blanks.Point, "/proj/my files");
  EXPECT_EQ(blanks.Source, "server:/export/a\tb");
  EXPECT_EQ(this->PointOf("/proj/back\\slash/x"), "/proj/back\\slash");
  EXPECT_EQ(this->Of("/proj/bound/x").value().Root, "/deep/er") << "a folder of its file system";
  EXPECT_EQ(this->Of("/proj/twice/x").value().Type, "tmpfs") << "the last of two";
}

TEST_F(Mounted, IsWhereASymbolicLinkLeads)
{
  const std::string real = std::filesystem::canonical(this->Folder.Path()).string() + "/real";
  std::filesystem::create_directories(real + "/data");
  std::filesystem::create_directory_symlink(real + "/data", this->Folder / "link");
  std::ofstream(this->Folder / "mountinfo", std::ios::app)
      << "40 1 4000:9 / " << real << " rw - ext4 /dev/x rw\n";
  EXPECT_EQ(this->PointOf(this->Folder / "link/run"), real);
  std::filesystem::create_symlink(this->Folder / "loop", this->Folder / "loop");
  EXPECT_EQ(this->PointOf(this->Folder / "loop/a"), "/");  // the list has no mount above this path
}

TEST_F(Mounted, IsTheOneWithThePathsDevice)
{
  struct stat state = {};
  ASSERT_EQ(::stat(this->Folder.Path().c_str(), &state), 0);
  const std::string real = std::filesystem::canonical(this->Folder.Path()).string();
  std::ostringstream lines;
  lines << "1 0 " << major(state.st_dev) << ":" << minor(state.st_dev) << " / / rw - ext4 /dev/a rw\n"
        << "2 1 4000:9 / " << real << " rw - ext4 /dev/hidden rw\n";
  WriteText(this->Folder / "mountinfo", lines.str());
  EXPECT_EQ(this->Of(this->Folder / "file").value().Source, "/dev/a");
}

TEST_F(Mounted, IsUnknownWithoutAList)
{
  EXPECT_FALSE(MountOf("/proj", this->Folder / "missing"));
  WriteText(this->Folder / "mountinfo", std::string(100000, 'x') + "\n\n - - - \n" + std::string(5000, '\0'));
  EXPECT_FALSE(this->Of("/proj"));
}

TEST(Mount, OfThisMachineIsFound)
{
  const Mount proc = MountOf("/proc/self").value();
  EXPECT_EQ(proc.Point, "/proc");
  EXPECT_EQ(proc.Type, "proc");
  EXPECT_EQ(proc.Class, MountClass::Unknown);
}

TEST(Mount, HasAClass)
{
  EXPECT_EQ(ClassOfType("tmpfs"), MountClass::Memory);
  EXPECT_EQ(ClassOfType("ext4"), MountClass::LocalDisk);
  EXPECT_EQ(ClassOfType("nfs4"), MountClass::Network);
  EXPECT_EQ(ClassOfType("fuse.sshfs"), MountClass::Network);
  EXPECT_EQ(ClassOfType("gpfs"), MountClass::Parallel);
  EXPECT_EQ(ClassOfType("fuse.glusterfs"), MountClass::Parallel);
  EXPECT_EQ(ClassOfType("fuse"), MountClass::Fuse);
  EXPECT_EQ(ClassOfType("fuse.patchio_slow_storage"), MountClass::Fuse);
  EXPECT_EQ(ClassOfType("made up"), MountClass::Unknown);
}

/// The bytes of Lustre's lov_user_md_v1 and lov_comp_md_v1, set by their offsets.
class Layout
{
public:
  explicit Layout(std::size_t bytes) : Bytes(bytes) {}
  template <typename T>
  Layout& Put(std::size_t offset, T value)
  {
    std::memcpy(this->Bytes.data() + offset, &value, sizeof(T));
    return *this;
  }
  int Stripes(std::size_t bytes) const { return StripeCountOfLayout(this->Bytes.data(), bytes); }
  int Stripes() const { return this->Stripes(this->Bytes.size()); }

private:
  std::vector<char> Bytes;
};

constexpr std::uint32_t Plain = 0x0BD10BD0;
constexpr std::uint32_t Pool = 0x0BD30BD0;
constexpr std::uint32_t Composite = 0x0BD60BD0;

TEST(LustreLayout, GivesItsStripes)
{
  EXPECT_EQ(Layout(32).Put(0, Plain).Put<std::uint16_t>(28, 4).Stripes(), 4);
  EXPECT_EQ(Layout(48).Put(0, Pool).Put<std::uint16_t>(28, 160).Stripes(), 160);
  EXPECT_EQ(Layout(32).Put(0, Plain).Put<std::uint16_t>(28, 0xffff).Stripes(), 0);
}

Layout TwoParts()
{
  Layout layout(32 + 2 * 48 + 2 * 32);
  layout.Put(0, Composite).Put<std::uint16_t>(14, 2);
  layout.Put<std::uint32_t>(32 + 24, 128).Put<std::uint32_t>(32 + 48 + 24, 160);
  layout.Put(128, Plain).Put<std::uint16_t>(128 + 28, 1);
  layout.Put(160, Pool).Put<std::uint16_t>(160 + 28, 8);
  return layout;
}

TEST(LustreLayout, OfSeveralPartsGivesTheMost)
{
  EXPECT_EQ(TwoParts().Stripes(), 8);
}

TEST(LustreLayout, IsNotReadBeyondItsEnd)
{
  for (std::size_t bytes = 0; bytes < 192; ++bytes) {
    // The memory has exactly this length, so that AddressSanitizer detects reads beyond it.
    const int stripes = TwoParts().Stripes(bytes);
    EXPECT_TRUE(stripes == 0 || stripes == 1 || stripes == 8) << bytes;
    const std::vector<char> exact(bytes, '\xd0');
    EXPECT_EQ(StripeCountOfLayout(exact.data(), bytes), 0);
  }
  EXPECT_EQ(TwoParts().Put<std::uint32_t>(32 + 48 + 24, 0xfffffff0u).Stripes(), 1);
  EXPECT_EQ(TwoParts().Put<std::uint16_t>(14, 0xffff).Stripes(), 8);
  EXPECT_EQ(Layout(0).Stripes(), 0);
}

TEST(NodeClass, HasNoNumbers)
{
  EXPECT_EQ(NodeClassOf("node0123.cluster.org", 64), "node#/64 cores");
  EXPECT_EQ(NodeClassOf("r1i2n3", 16), "r#i#n#/16 cores");
  EXPECT_EQ(NodeClassOf("login", 8), "login/8 cores");
  EXPECT_THAT(NodeClass(), HasSubstr(" cores"));
}

TEST(RankClass, IsAPowerOfTwo)
{
  EXPECT_EQ(RankClass(0), 1);
  EXPECT_EQ(RankClass(1), 1);
  EXPECT_EQ(RankClass(3), 4);
  EXPECT_EQ(RankClass(64), 64);
  EXPECT_EQ(RankClass(65), 128);
}

}  // namespace
}  // namespace patchio
