#include "Hdf5/Output.h"

#include "Hdf5/File.h"
#include "TestTools.h"

#include <cstdlib>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;

class Hdf5Output : public ::testing::Test
{
protected:
  ~Hdf5Output() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  void Write(const std::string& path) const
  {
    const hdf5::OutputFile file(path);
    const hdf5::Handle outer = file.MakeGroup("outer");
    const hdf5::Handle inner = file.MakeGroup(outer, "inner");
    const std::vector<int> values{1, 2, 3, 4, 5, 6};
    const hdf5::Handle dataset =
        file.Write(inner, "ints", H5T_STD_I32BE, H5T_NATIVE_INT, {3, 2}, values.data());
    const int answer = 42;
    file.WriteAttribute(dataset, "answer", H5T_STD_I32BE, H5T_NATIVE_INT, &answer);
    file.Finish();
  }

  testing::TempFolder Folder;
  std::string Path = Folder / "a.h5";
};

}  // namespace

TEST_F(Hdf5Output, ComesBack)
{
  this->Write(this->Path);
  const hdf5::File file(this->Path);
  EXPECT_EQ(file.Ints("/outer/inner/ints", 6), (std::vector<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(file.Describe("/outer/inner/ints").Layout, hdf5::StorageLayout::Contiguous);
  EXPECT_EQ(file.Numbers("/outer/inner/ints", "answer"), std::vector<double>{42});
}

/// Whatever the library's defaults are: those of HDF5 2 are others than those of HDF5 1.
TEST_F(Hdf5Output, IsOfTheOldStyle)
{
  this->Write(this->Path);
  hdf5::OutputFile inMemory("b.h5", 4096, 10, 10000);
  inMemory.Reserve("/group/plain", H5T_NATIVE_FLOAT, {100});
  inMemory.MakeChunked("/group/packed", H5T_NATIVE_FLOAT, {100}, {10}, {H5Z_FILTER_DEFLATE, 1});
  for (int i = 0; i < 20; ++i) {
    inMemory.WriteNumbers(inMemory.Id(), "attribute " + std::to_string(i), {1, 2});
  }
  const std::vector<std::byte> image = inMemory.TakeImage().Bytes;
  for (const std::string& bytes : {testing::ReadBytes(this->Path),
           std::string(reinterpret_cast<const char*>(image.data()), image.size())}) {
    ASSERT_GT(bytes.size(), 100u);
    EXPECT_EQ(bytes[8], 0) << "version of the superblock";
    for (const char* const signature : {"OHDR", "FRHP", "BTHD", "FAHD", "EAHD"}) {
      EXPECT_EQ(bytes.find(signature), std::string::npos) << signature;
    }
    EXPECT_NE(bytes.find("SNOD"), std::string::npos) << "a group as a symbol table";
  }
}

TEST_F(Hdf5Output, ReplacesAFileThatIsThere)
{
  testing::WriteText(this->Path, "something else");
  this->Write(this->Path);
  EXPECT_TRUE(hdf5::File(this->Path).Has("/outer/inner/ints"));
}

TEST_F(Hdf5Output, IsTheSameEveryTimeWhenAskedTo)
{
  ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
  this->Write(this->Path);
  const std::string first = testing::ReadBytes(this->Path);
  this->Write(this->Path);
  EXPECT_EQ(testing::ReadBytes(this->Path), first);
  ::unsetenv("SOURCE_DATE_EPOCH");
  this->Write(this->Path);
  EXPECT_NE(testing::ReadBytes(this->Path), first) << "times are stored otherwise";
}

TEST_F(Hdf5Output, SaysWhereItCannotWrite)
{
  const std::string message = MessageOf([this] { hdf5::OutputFile(this->Folder / "none/a.h5"); });
  EXPECT_THAT(
      message, HasSubstr("none/a.h5: No such file or directory; expected a file that can be created"));
}

TEST_F(Hdf5Output, SaysWhatItCannotWrite)
{
  const hdf5::OutputFile file(this->Path);
  const hdf5::Handle group = file.MakeGroup("group");
  EXPECT_THAT(MessageOf([&] { file.MakeGroup("group"); }), HasSubstr("space for group group"));
}

}  // namespace patchio
