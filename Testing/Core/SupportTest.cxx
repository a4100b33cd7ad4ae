#include "Support/ByteText.h"
#include "Support/Bytes.h"
#include "Support/Checksum.h"
#include "Support/Communicator.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"
#include "Support/RegularFile.h"
#include "Support/TextScanner.h"

#include "Hdf5Draft.h"
#include "TestTools.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <limits>
#include <string_view>
#include <tuple>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using testing::TempFolder;

}  // namespace

TEST(FileError, SaysWhichFileWhatWasExpectedWhatWasFoundAndWhatToDo)
{
  EXPECT_STREQ(FileError("a.h5", "a box", "a ball", "Try again").what(),
      "a.h5: expected a box, found a ball. Try again.");
  EXPECT_STREQ(FileError("a.h5", "a box", "a ball").what(), "a.h5: expected a box, found a ball.");
}

TEST(ByteText, HasThreeDigitsAndTheUnitThatFits)
{
  const std::pair<double, const char*> texts[] = {{0, "0 bytes"}, {1, "1 byte"}, {999, "999 bytes"},
      {1000, "1.00 kB"}, {9994, "9.99 kB"}, {9996, "10.0 kB"}, {99940, "99.9 kB"}, {99960, "100 kB"},
      {999400, "999 kB"}, {999600, "1.00 MB"}, {45e6, "45.0 MB"}, {2.254e9, "2.25 GB"}, {5.63e15, "5.63 PB"},
      {1e21, "1000000 PB"}};
  for (const auto& [bytes, text] : texts) {
    EXPECT_EQ(ByteText(bytes), text) << bytes;
  }
}

TEST(TidyPath, HasNothingAtItsEndThatNamesNothing)
{
  for (const auto& [typed, tidy] : std::vector<std::pair<std::string, std::string>>{{"", ""}, {"/", "/"},
           {"a", "a"}, {"a/", "a"}, {"a//", "a"}, {"a/.", "a"}, {"a/./", "a"}, {"a/./b", "a/./b"},
           {"/.", "/"}, {"a.", "a."}, {"...", "..."}}) {
    EXPECT_EQ(TidyPath(typed), tidy) << typed;
  }
  const TempFolder folder;
  const std::string real = std::filesystem::canonical(folder.Path()).string();
  std::filesystem::create_directory(folder / "below");
  EXPECT_EQ(TidyPath(folder / "below/.."), real);
  EXPECT_EQ(TidyPath(folder / "below/../"), real);
  EXPECT_EQ(TidyPath("."), std::filesystem::current_path().string());
  EXPECT_EQ(TidyPath(folder / "gone/.."), folder / "gone/..");
}

TEST(RegularFile, IsNoFolderAndNoPipe)
{
  const TempFolder folder;
  testing::WriteText(folder / "file", "text");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_NO_THROW(CheckRegularFile(folder / "file"));
  EXPECT_THAT(MessageOf([&] { CheckRegularFile(folder / "pipe"); }),
      HasSubstr(folder / "pipe: expected a file, found a pipe or a device"));
  EXPECT_THAT(MessageOf([&] { CheckRegularFile(folder.Path()); }), HasSubstr("found a folder"));
  EXPECT_THAT(MessageOf([&] { CheckRegularFile("/dev/zero"); }), HasSubstr("a pipe or a device"));
  EXPECT_THAT(MessageOf([&] { CheckRegularFile(folder / "none"); }), HasSubstr("No such file"));
  EXPECT_EQ(OpenRegularFile(folder / "none"), -1);
  EXPECT_EQ(errno, ENOENT);
  const int descriptor = OpenRegularFile(folder / "file");
  char text[4] = {};
  EXPECT_EQ(::read(descriptor, text, 4), 4);
  EXPECT_EQ(std::string(text, 4), "text");
  ::close(descriptor);
}

TEST(Bytes, ComeBackInTheOrderInWhichTheyWent)
{
  ByteWriter out;
  out.Put(42);
  out.Put(std::string("text with\0zero", 14));
  out.Put(std::vector<double>{1.5, 2.5});
  out.Put(std::vector<int>{});
  out.Put('x');
  const std::vector<std::byte> bytes = out.Take();
  ByteReader in(bytes);
  EXPECT_EQ(in.Get<int>(), 42);
  std::string text;
  in.Get(text);
  EXPECT_EQ(text, std::string("text with\0zero", 14));
  std::vector<double> doubles;
  in.Get(doubles);
  EXPECT_EQ(doubles, (std::vector<double>{1.5, 2.5}));
  std::vector<int> none{1};
  in.Get(none);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(in.Get<char>(), 'x');
  EXPECT_THROW(in.Get<char>(), Error);
}

TEST(Bytes, TakeARecordByOneList)
{
  struct Record
  {
    std::string Name;
    int Number = 0;
    std::vector<double> Values;
  };
  const auto members = [](auto& record) { return std::tie(record.Name, record.Number, record.Values); };
  const Record before{"a", 7, {1, 2}};
  ByteWriter out, single;
  out.Put(members(before));
  single.Put(before.Name);
  single.Put(before.Number);
  single.Put(before.Values);
  const std::vector<std::byte> bytes = out.Take();
  EXPECT_EQ(bytes, single.Take());
  Record after;
  ByteReader in(bytes);
  in.Get(members(after));
  EXPECT_EQ(after.Name, "a");
  EXPECT_EQ(after.Number, 7);
  EXPECT_EQ(after.Values, before.Values);
  EXPECT_THROW(in.Get(members(after)), Error);
}

TEST(Texts, JoinedAreSplitAgain)
{
  const std::vector<std::string> texts{"one", "", std::string("th\0ree", 6)};
  EXPECT_EQ(SplitTexts(JoinTexts(texts)), texts);
  EXPECT_EQ(SplitTexts(JoinTexts({})), std::vector<std::string>{});
}

TEST(Texts, OthersAreRefused)
{
  const std::string joined = JoinTexts({"one", "two"});
  EXPECT_THROW(SplitTexts(joined.substr(0, joined.size() - 1)), Error);
}

TEST(Bytes, RefuseAnArrayLongerThanWhatIsLeft)
{
  ByteWriter out;
  out.Put<std::uint64_t>(std::numeric_limits<std::uint64_t>::max() / 4);
  const std::vector<std::byte> bytes = out.Take();
  ByteReader in(bytes);
  std::vector<double> values;
  EXPECT_THROW(in.Get(values), Error);
}

TEST(Bytes, AreGivenWhereTheyLie)
{
  ByteWriter out;
  out.Put(7);
  out.Put(std::vector<std::byte>{std::byte{1}, std::byte{2}});
  std::vector<std::byte> bytes = out.Take();
  ByteReader in(bytes);
  in.Get<int>();
  const auto [data, size] = in.GetBytes();
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(data, bytes.data() + bytes.size() - 2);
  bytes.pop_back();
  ByteReader shorter(bytes);
  shorter.Get<int>();
  EXPECT_THROW(shorter.GetBytes(), Error);
}

TEST(Checksum, IsThatOfXxh3)
{
  // From the reference implementation's own tests: nothing, and no seed.
  EXPECT_EQ(Checksum(nullptr, 0), 0x2D06800538D394C2u);
  const char a = 'a', b = 'b';
  EXPECT_NE(Checksum(&a, 1), Checksum(&b, 1));
}

TEST(SelfCommunicator, IsAloneAndGivesBackWhatItGets)
{
  const auto comm = MakeSelfCommunicator();
  EXPECT_EQ(comm->Rank(), 0);
  EXPECT_EQ(comm->Size(), 1);
  std::vector<std::byte> bytes{std::byte{7}};
  comm->Broadcast(bytes);
  EXPECT_EQ(bytes, std::vector<std::byte>{std::byte{7}});
  EXPECT_EQ(comm->AllGather(std::string("a")), std::vector<std::string>{"a"});
  EXPECT_EQ(comm->AllGather(std::vector<double>{1, 2}), (std::vector<double>{1, 2}));
  EXPECT_EQ(comm->AllGather(std::vector<int>{3}), std::vector<int>{3});
  EXPECT_EQ(comm->OnMachine().Size(), 1);
}

namespace {

/// A file with one of everything.
class Hdf5File : public ::testing::Test
{
protected:
  Hdf5File()
  {
    testing::WriteHdf5(
        this->Path, {{"/group/ints", testing::Ints({1, -2, 3})}, {"/group/doubles", testing::Doubles({0.5})},
                        {"/group/texts", testing::Texts({"a", "longer", ""})},
                        {"/group/inner/floats", testing::Floats({1.5f, 2.5f})}});
  }

  TempFolder Folder;
  std::string Path = Folder / "a.h5";
};

}  // namespace

TEST_F(Hdf5File, GivesValuesInNativeTypes)
{
  const hdf5::File file(this->Path);
  EXPECT_EQ(file.Ints("/group/ints", 3), (std::vector<int>{1, -2, 3}));
  EXPECT_EQ(file.Doubles("/group/inner/floats", -1), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(file.Double("/group/doubles"), 0.5);
  EXPECT_EQ(file.Strings("/group/texts", 3), (std::vector<std::string>{"a", "longer", ""}));
}

TEST_F(Hdf5File, KnowsWhatItHas)
{
  const hdf5::File file(this->Path);
  EXPECT_TRUE(file.Has("/group"));
  EXPECT_TRUE(file.Has("/group/inner/floats"));
  EXPECT_FALSE(file.Has("/group/inner/ints"));
  EXPECT_FALSE(file.Has("/nothing/inner/floats"));
  EXPECT_EQ(hdf5::LinkNames(file, "/group"), (std::vector<std::string>{"doubles", "inner", "ints", "texts"}));
  EXPECT_TRUE(hdf5::LinkNames(file, "/nothing").empty());
}

TEST_F(Hdf5File, RefusesAnUnexpectedCount)
{
  const hdf5::File file(this->Path);
  EXPECT_THAT(MessageOf([&] { file.Ints("/group/ints", 4); }),
      HasSubstr("expected 4 values in '/group/ints', found 3"));
}

TEST_F(Hdf5File, RefusesNumbersForTextsAndTextsForNumbers)
{
  const hdf5::File file(this->Path);
  EXPECT_THAT(MessageOf([&] { file.Strings("/group/ints", 3); }), HasSubstr("strings of fixed length"));
  EXPECT_THAT(MessageOf([&] { file.Ints("/group/texts", 3); }), HasSubstr("'/group/texts'"));
}

TEST_F(Hdf5File, NamesADataSetThatIsMissing)
{
  const hdf5::File file(this->Path);
  const std::string message = MessageOf([&] { file.Int("/group/more"); });
  EXPECT_THAT(message, HasSubstr(this->Path));
  EXPECT_THAT(message, HasSubstr("expected a data set '/group/more', found none. The file is damaged or of "
                                 "another format."));
}

TEST_F(Hdf5File, MayBeOpenWithLocksInThisProcess)
{
  const hdf5::Handle other(H5Fopen(this->Path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  ASSERT_TRUE(other.Valid());
  EXPECT_NO_THROW(hdf5::File(this->Path));
}

TEST_F(Hdf5File, FollowsNoExternalLink)
{
  const std::string path = this->Folder / "links.h5";
  testing::WriteHdf5(
      path, {{"/direct", testing::ExternalLink(this->Path, "/group/ints")},
                {"/soft", testing::SoftLink("/direct")}, {"/inside", testing::SoftLink("/own")},
                {"/own", testing::Ints({1, 2, 3})}, {"/group", testing::ExternalLink(this->Path, "/group")}});
  const hdf5::File file(path);
  EXPECT_EQ(file.Ints("/inside", 3), (std::vector<int>{1, 2, 3}));
  for (const char* name : {"/direct", "/soft", "/group/ints"}) {
    EXPECT_THAT(MessageOf([&] { file.Ints(name, 3); }),
        HasSubstr("found an unreadable data set (external links are not supported)"));
    EXPECT_FALSE(file.OpenDataset(file.Id(), name).Valid());
    EXPECT_EQ(hdf5::LastMessage(), "external links are not supported");
  }
  EXPECT_FALSE(file.OpenGroup(file.Id(), "/group").Valid());
  EXPECT_FALSE(file.Has("/group/ints"));
  EXPECT_TRUE(hdf5::LinkNames(file, "/group").empty());
}

TEST_F(Hdf5File, TakesNoValuesFromOtherFiles)
{
  // A pipe would keep the library waiting for ever.
  ASSERT_EQ(::mkfifo((this->Folder / "pipe").c_str(), 0600), 0);
  const std::string path = this->Folder / "b.h5", pipe = this->Folder / "pipe";
  const auto outside = [&](hid_t creation) { H5Pset_external(creation, pipe.c_str(), 0, 64); };
  const auto gathered = [&](hid_t creation) {
    const hsize_t now = 16, most = H5S_UNLIMITED;
    const hdf5::Handle space(H5Screate_simple(1, &now, &most));
    const hsize_t start = 0, stride = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &most, nullptr);
    H5Pset_virtual(creation, space, pipe.c_str(), "values", space);
  };
  testing::WriteHdf5(path, {{"/outside", testing::FloatsStoredAs({}, {16}, outside)},
                               {"/gathered", testing::FloatsStoredAs({}, {16}, gathered)}});
  const hdf5::File file(path);
  for (const auto& [name, reason] :
      {std::pair("/outside", hdf5::ValuesElsewhere), std::pair("/gathered", hdf5::VirtualDataset)}) {
    EXPECT_THAT(MessageOf([&, name = name] { file.Doubles(name, 16); }),
        HasSubstr(fmt::format("found an unreadable data set ({}). PatchIO does not support this", reason)));
    EXPECT_FALSE(file.OpenDataset(file.Id(), name).Valid());
  }
}

TEST_F(Hdf5File, TellsApartMissingForeignAndTruncatedFiles)
{
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Folder / "b.h5"); }),
      AllOf(HasSubstr("No such file"), HasSubstr("that the file was not moved")));
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Path + "/b.h5"); }),
      AllOf(HasSubstr("Not a directory"), HasSubstr("Check the name")));
  testing::WriteText(this->Folder / "c.h5", "not at all");
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Folder / "c.h5"); }), HasSubstr("a file that is not HDF5"));
}

namespace {

/// Compares what is said of a file that is cut off at several places.
void ExpectTruncated(const std::string& path, H5F_libver_t from, std::uintmax_t userBlock)
{
  {
    const hdf5::Handle creation(H5Pcreate(H5P_FILE_CREATE)), access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_userblock(creation, userBlock);
    H5Pset_libver_bounds(access, from, H5F_LIBVER_LATEST);
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
    ASSERT_TRUE(file.Valid());
    const hdf5::Handle group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  EXPECT_NO_THROW(hdf5::File file(path));
  const std::uintmax_t all = std::filesystem::file_size(path);
  for (const std::uintmax_t bytes : {all - 1, userBlock + 100}) {
    std::filesystem::resize_file(path, bytes);
    EXPECT_THAT(MessageOf([&] { hdf5::File file(path); }),
        HasSubstr(fmt::format("found the file truncated: {} of {} bytes. Copy it again", bytes, all)));
  }
  std::filesystem::resize_file(path, userBlock + 40);
  EXPECT_THAT(MessageOf([&] { hdf5::File file(path); }),
      HasSubstr(fmt::format("truncated: {} bytes, less than the head", userBlock + 40)));
}

}  // namespace

TEST_F(Hdf5File, SaysHowMuchOfATruncatedFileIsThere)
{
  for (const H5F_libver_t from : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110}) {
    for (const std::uintmax_t userBlock : {0, 512, 4096}) {
      ExpectTruncated(this->Folder / "cut.h5", from, userBlock);
    }
  }
}

namespace {

/// Files, groups, data sets, types and attributes that are open in the HDF5 library.
ssize_t OpenObjects()
{
  return H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL);
}

TEST(PlainText, KeepsWhatATerminalCanShow)
{
  EXPECT_EQ(PlainText("last read: '\xdd\x81\n'"), "last read: '" + std::string(3, '?') + "'");
  EXPECT_EQ(PlainText("a ~ b"), "a ~ b");
}

}  // namespace

TEST_F(Hdf5File, LeavesNothingOpen)
{
  const ssize_t before = OpenObjects();
  {
    const hdf5::File file(this->Path);
    file.Ints("/group/ints", 3);
    file.Strings("/group/texts", 3);
    EXPECT_THROW(file.Ints("/group/more", 1), Error);
    EXPECT_THROW(file.Ints("/group/ints", 1), Error);
    hdf5::LinkNames(file, "/group");
    EXPECT_EQ(OpenObjects(), before + 1) << "the file itself";
  }
  EXPECT_EQ(OpenObjects(), before);
}

TEST(TextScanner, TakesWhatIsThereAndNothingElse)
{
  TextScanner text(" FAB ((8, (-3 +4)) 1.5e3x\tend \r");
  int a = 0, b = 0, c = 0;
  double d = 0;
  EXPECT_TRUE(text.Take("FAB") && text.Take("((") && text.Take(a) && text.Take(",") && text.Take("("));
  EXPECT_TRUE(text.Take(b) && text.Take(c) && text.Take("))") && text.Take(d));
  EXPECT_EQ(std::make_tuple(a, b, c, d), std::make_tuple(8, -3, 4, 1500.0));
  EXPECT_FALSE(text.Take(a) || text.Take("y") || text.Done());
  EXPECT_EQ(text.Left(), "x\tend \r");
  std::string_view word;
  EXPECT_TRUE(text.TakeWord(word) && word == "x" && text.TakeWord(word) && word == "end");
  EXPECT_TRUE(text.Done() && !text.TakeWord(word));
}

TEST(TextScanner, TakesAsManyDigitsAsAreWanted)
{
  TextScanner text("0613z");
  int hour = -1, minute = -1, none = 7;
  EXPECT_TRUE(text.TakeDigits(2, hour) && text.TakeDigits(4, minute));
  EXPECT_FALSE(text.TakeDigits(2, none));
  EXPECT_EQ(std::make_tuple(hour, minute, none), std::make_tuple(6, 13, 7));
}

TEST(TextScanner, KnowsWholeNumbersOnly)
{
  EXPECT_EQ(NumberIn<int>("+5"), 5);
  EXPECT_EQ(NumberIn<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(NumberIn<double>("9.999E+20"), 9.999e20);
  for (const char* text : {"", " 5", "5 ", "+-5", "--5", "5x", "0x10", "2147483648", "1,5"}) {
    EXPECT_FALSE(NumberIn<int>(text)) << text;
  }
  for (const char* text : {"", "inf", "nan", "1e999", "1.5.2", "e5"}) {
    EXPECT_FALSE(NumberIn<double>(text)) << text;
  }
}

TEST(SystemAdvice, SaysWhatToDo)
{
  EXPECT_THAT(SystemAdvice(EIO), HasSubstr("storage"));
  EXPECT_THAT(SystemAdvice(ESTALE), HasSubstr("Try again"));
  EXPECT_THAT(SystemAdvice(EMFILE), HasSubstr("ulimit"));
  EXPECT_THAT(SystemAdvice(ENOSPC), HasSubstr("Free some space"));
  EXPECT_EQ(SystemAdvice(EDOM), "");
}

}  // namespace patchio
