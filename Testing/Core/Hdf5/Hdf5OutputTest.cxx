#include "Hdf5/Output.h"

#include "Hdf5/File.h"
#include "TestTools.h"

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;

/// Makes a file with objects of each kind. Sets `room` to the place of values that are written separately.
std::string MakeFile(std::uint64_t& room)
{
  hdf5::OutputFile file("a.h5", 4096, 10, 10000);
  {
    const hdf5::Handle outer = file.CreateGroup("outer");
    const hdf5::Handle inner = file.CreateGroup(outer, "inner");
    const std::vector<int> values{1, 2, 3, 4, 5, 6};
    const hdf5::Handle dataset =
        file.Write(inner, "ints", H5T_STD_I32BE, H5T_NATIVE_INT, {3, 2}, values.data());
    file.WriteNumbers(dataset, "answers", {42, 0.5});
    file.WriteIntegers(dataset, "integer", {7});
    file.WriteText(dataset, "text", "words");
  }
  room = file.Reserve("/group/plain", H5T_NATIVE_FLOAT, {100});
  file.CreateChunked("/group/packed", H5T_NATIVE_FLOAT, {100}, {10}, {H5Z_FILTER_DEFLATE, 1});
  for (int i = 0; i < 20; ++i) {
    file.WriteNumbers(file.Id(), "attribute " + std::to_string(i), {1, 2});
  }
  const hdf5::FileImage image = file.CloseAndGetImage();
  std::string bytes(reinterpret_cast<const char*>(image.Bytes.data()), image.Bytes.size());
  bytes.resize(std::max<std::size_t>(bytes.size(), image.Size));
  return bytes;
}

}  // namespace

TEST(Hdf5Output, ComesBack)
{
  const testing::TempFolder folder;
  std::uint64_t room = 0;
  testing::WriteText(folder / "a.h5", MakeFile(room));
  const hdf5::File file(folder / "a.h5");
  EXPECT_EQ(file.Ints("/outer/inner/ints", 6), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.Describe("/outer/inner/ints").Layout, hdf5::StorageLayout::Contiguous);
  EXPECT_EQ(file.Numbers("/outer/inner/ints", "answers"), (std::vector<double>{42, 0.5}));
  EXPECT_EQ(file.Numbers("/outer/inner/ints", "integer"), std::vector<double>{7});
  EXPECT_EQ(file.Describe("/group/plain").Offset, room);
}

/// The style must not depend on the library's defaults, which differ between HDF5 1 and HDF5 2.
TEST(Hdf5Output, IsOfTheOldStyle)
{
  std::uint64_t room = 0;
  const std::string bytes = MakeFile(room);
  ASSERT_GT(bytes.size(), 100u);
  EXPECT_EQ(bytes[8], 0) << "version of the superblock";
  for (const char* const signature : {"OHDR", "FRHP", "BTHD", "FAHD", "EAHD"}) {
    EXPECT_EQ(bytes.find(signature), std::string::npos) << signature;
  }
  EXPECT_NE(bytes.find("SNOD"), std::string::npos) << "a group as a symbol table";
}

TEST(Hdf5Output, IsTheSameEveryTime)
{
  std::uint64_t room = 0;
  EXPECT_EQ(MakeFile(room), MakeFile(room));
}

TEST(Hdf5Output, SaysWhatItCannotWrite)
{
  const hdf5::OutputFile file("a.h5", 4096, 10, 10000);
  const hdf5::Handle group = file.CreateGroup("group");
  EXPECT_THAT(MessageOf([&] { file.CreateGroup("group"); }), HasSubstr("space for group group"));
}

}  // namespace patchio
