// Values that only the HDF5 library can decode, which it reads in a child process.
#include "Hdf5/LibraryFile.h"

#include "Base/Communicator.h"
#include "Hdf5/File.h"
#include "Hdf5/Library.h"
#include "Hdf5Draft.h"
#include "NaivePlace.h"
#include "TestTools.h"

#include <sys/stat.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <vector>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using FloatVector = std::vector<float>;

std::vector<int> ChildrenOfThisProcess()
{
  std::vector<int> children;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "children");
    for (int child = 0; file >> child;) {
      children.push_back(child);
    }
  }
  return children;
}

/// A file with the float array /values of shape 3 x 4 x 5, whose values are their positions, packed by a
/// filter that only the library undoes.
class Hdf5Library : public ::testing::Test
{
protected:
  ~Hdf5Library() override { ::unsetenv("PATCHIO_HDF5"); }

  void Write(const std::function<void(hid_t, hid_t)>& style = testing::InOldStyle) const
  {
    FloatVector values(60);
    std::iota(values.begin(), values.end(), 0.f);
    const auto scaled = [](hid_t creation) {
      const hsize_t chunk[] = {2, 2, 3};
      H5Pset_chunk(creation, 3, chunk);
      H5Pset_scaleoffset(creation, H5Z_SO_FLOAT_DSCALE, 2);
    };
    testing::WriteHdf5(this->Path,
        {{"/values", testing::FloatsStoredAs(values, {3, 4, 5}, scaled)},
            {"/half",
                [](hid_t file, const std::string& path) {
                  const hdf5::Handle half(H5Tcopy(H5T_IEEE_F32LE));
                  H5Tset_fields(half, 15, 10, 5, 0, 10);
                  H5Tset_precision(half, 16);
                  H5Tset_ebias(half, 15);
                  H5Tset_size(half, 2);
                  testing::FloatsOfType({0.5f, -2}, half)(file, path);
                  testing::FloatsOfType({0.25f}, half, true)(file, "/scalar");
                }}},
        style);
  }

  FloatVector Range(std::uint64_t first, std::uint64_t count) const
  {
    FloatVector values(count, -1.f);
    hdf5::LibraryFile(this->Path).Read("/values", first, count, ElementType::Float32, values.data());
    return values;
  }

  static FloatVector From(int first, int count)
  {
    FloatVector values(count);
    std::iota(values.begin(), values.end(), float(first));
    return values;
  }

  testing::TempFolder Folder;
  const std::string Path = Folder / "data.h5";
};

}  // namespace

TEST_F(Hdf5Library, TakesBlocksOfADataSet)
{
  this->Write();
  EXPECT_EQ(this->Range(0, 60), From(0, 60)) << "all";
  EXPECT_EQ(this->Range(20, 20), From(20, 20)) << "one slab";
  EXPECT_EQ(this->Range(20, 40), From(20, 40)) << "two slabs";
  EXPECT_EQ(this->Range(25, 10), From(25, 10)) << "two rows of a slab";
  EXPECT_EQ(this->Range(41, 3), From(41, 3)) << "part of a row";
}

TEST_F(Hdf5Library, BringsValuesOfTasksToTheirPlaces)
{
  this->Write();
  LocationTable table;
  table.Files = {this->Path};
  table.LibraryArrays = {{0, ElementType::Float32, "/values", 20, 4, "scaleoffset"},
      {0, ElementType::Float32, "/values", 25, 4, "scaleoffset"},
      {0, ElementType::Float32, "/nothing", 0, 4, ""}};
  ArrayShape shape;
  shape.Interior = {2, 1, 1};
  shape.StoredGhosts = {1, 0, 0};
  shape.OutputComponents = 3;
  FloatVector output(6, -1.f);
  const std::vector<int> slots{0, 1};
  const ReadTarget target = testing::TargetIn(output.data(), shape, slots);
  LibraryReader reader;
  reader.Read(table, {Encoding::Library, 0, 2, 0, 0}, target);
  EXPECT_EQ(output, (FloatVector{21, 26, 0, 22, 27, 0}));
  EXPECT_THAT(MessageOf([&] {
    reader.Read(table, {Encoding::Library, 2, 1, 0, 0}, target);
  }),
      HasSubstr("'/nothing'"));
}

TEST_F(Hdf5Library, RefusesWhatIsNoBlock)
{
  this->Write();
  for (const auto& [first, count] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {15, 10}, {4, 2}, {0, 61}, {60, 1}, {0, 0}, {~std::uint64_t(0), 1}}) {
    EXPECT_THAT(MessageOf([&] { this->Range(first, count); }), HasSubstr("another shape"))
        << first << ", " << count;
  }
  hdf5::LibraryFile file(this->Path);
  float value = 0;
  EXPECT_THAT(MessageOf([&] { file.Read("/nothing", 0, 1, ElementType::Float32, &value); }),
      HasSubstr("readable values in '/nothing'"));
  EXPECT_NO_THROW(file.Read("/values", 7, 1, ElementType::Float32, &value)) << "the process goes on";
  EXPECT_EQ(value, 7);
}

TEST_F(Hdf5Library, IsAskedAsTheUserWants)
{
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    this->Write(style);
    for (const char* const wish : {"", "trust"}) {
      ::setenv("PATCHIO_HDF5", wish, 1);
      EXPECT_EQ(hdf5::File(this->Path).Doubles("/values", 60)[59], 59);
      EXPECT_EQ(hdf5::File(this->Path).Doubles("/half", 2), (std::vector<double>{0.5, -2}));
      EXPECT_EQ(hdf5::File(this->Path).Double("/scalar"), 0.25);
    }
    ::setenv("PATCHIO_HDF5", "strict", 1);
    const hdf5::File file(this->Path);
    EXPECT_THAT(MessageOf([&] { file.Doubles("/values", 60); }),
        HasSubstr("not supported: filter 6 (scaleoffset) in '/values'"));
    EXPECT_THAT(MessageOf([&] { file.Doubles("/half", 2); }),
        HasSubstr("not supported: numbers in an unusual format"));
    ::setenv("PATCHIO_HDF5", "STRICT", 1);
    EXPECT_THAT(MessageOf([&] { hdf5::File(this->Path).Doubles("/values", 60); }),
        HasSubstr("PATCHIO_HDF5 is 'STRICT'; expected 'strict' or 'trust'"));
  }
}

/// A plain open would wait for the writer of the pipe.
TEST_F(Hdf5Library, RefusesPipesAndNamesThemPlainly)
{
  this->Write();
  EXPECT_THAT(MessageOf([&] {
    float value = 0;
    hdf5::LibraryFile(this->Path).Read("/\x1b[31m", 0, 1, ElementType::Float32, &value);
  }),
      HasSubstr("readable values in '/?[31m'"));
  ASSERT_EQ(std::remove(this->Path.c_str()), 0);
  ASSERT_EQ(::mkfifo(this->Path.c_str(), 0600), 0);
  EXPECT_THAT(MessageOf([&] { this->Range(0, 60); }), HasSubstr("a pipe"));
}

TEST_F(Hdf5Library, HasItsOwnFiltersAndNoOthers)
{
  for (int i = 0; i < 2; ++i) {  // the second time, both answers are known
    EXPECT_TRUE(hdf5::LibraryHasFilter(H5Z_FILTER_SCALEOFFSET));
    EXPECT_FALSE(hdf5::LibraryHasFilter(32099));
  }
  EXPECT_TRUE(ChildrenOfThisProcess().empty());
}

TEST_F(Hdf5Library, MayBeOpenWithLocksInThisProcess)
{
  this->Write();
  const hdf5::Handle other(H5Fopen(this->Path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  ASSERT_TRUE(other.IsValid());
  EXPECT_EQ(this->Range(0, 60), From(0, 60));
}

/// Damages each byte of the list of chunks and of their contents in turn.
TEST_F(Hdf5Library, DamagedFilesDoNotEndThisProcess)
{
  this->Write();
  const std::string sound = testing::ReadBytes(this->Path);
  int refused = 0;
  const std::size_t tree = sound.rfind("TREE");
  ASSERT_NE(tree, std::string::npos);
  for (std::size_t place = tree; place < tree + 240; place += 3) {
    std::string bytes = sound;
    bytes[place] = static_cast<char>(~bytes[place]);
    testing::WriteText(this->Path, bytes);
    const std::string message = CatchError([&] { this->Range(0, 60); });
    refused += !message.empty();
    EXPECT_THAT(message, ::testing::AnyOf("", HasSubstr(this->Path)));
  }
  EXPECT_GT(refused, 10);
}

/// Kills the child process, which looks like a crash.
TEST_F(Hdf5Library, SaysThatTheChildCrashed)
{
  this->Write();
  hdf5::LibraryFile file(this->Path);
  float value = 0;
  file.Read("/values", 0, 1, ElementType::Float32, &value);
  for (const int child : ChildrenOfThisProcess()) {
    ::kill(child, SIGKILL);
  }
  EXPECT_THAT(MessageOf([&] { file.Read("/values", 0, 1, ElementType::Float32, &value); }),
      HasSubstr("crash or hang"));
  EXPECT_NO_THROW(file.Read("/values", 5, 1, ElementType::Float32, &value)) << "in another child";
  EXPECT_EQ(value, 5);
}

/// More values than a process may have memory for.
TEST_F(Hdf5Library, LimitsMemory)
{
  const auto huge = [](hid_t creation) {
    const hsize_t chunk = hsize_t(1) << 29;
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_scaleoffset(creation, H5Z_SO_FLOAT_DSCALE, 2);
  };
  testing::WriteHdf5(this->Path, {{"/values", [&](hid_t file, const std::string& path) {
                                     testing::FloatsStoredAs({}, {hsize_t(1) << 29}, huge)(file, path);
                                     const hid_t id = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
                                     const hsize_t begin = 0;
                                     const float values[4] = {1, 2, 3, 4};
                                     H5Dwrite_chunk(id, H5P_DEFAULT, 0, &begin, sizeof(values), values);
                                     H5Dclose(id);
                                   }}});
  EXPECT_THAT(MessageOf([&] { this->Range(0, 1); }), HasSubstr("readable values"));
}

TEST_F(Hdf5Library, LeavesNoProcessBehind)
{
  this->Write();
  {
    hdf5::LibraryFile file(this->Path);
    float value = 0;
    file.Read("/values", 0, 1, ElementType::Float32, &value);
    EXPECT_EQ(ChildrenOfThisProcess().size(), 1u);
  }
  EXPECT_TRUE(ChildrenOfThisProcess().empty());
}

}  // namespace patchio
