#include "Support/Hdf5Output.h"

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
  const hdf5::Handle dataset = file.OpenDataset(file.Id(), "/outer/inner/ints");
  EXPECT_NE(H5Dget_offset(dataset), HADDR_UNDEF) << "contiguous";
  const hdf5::Handle attribute(H5Aopen(dataset, "answer", H5P_DEFAULT));
  int answer = 0;
  H5Aread(attribute, H5T_NATIVE_INT, &answer);
  EXPECT_EQ(answer, 42);
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
