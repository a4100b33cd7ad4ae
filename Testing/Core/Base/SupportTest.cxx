#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include "TestTools.h"

#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
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
    EXPECT_EQ(NormalizedPath(typed), tidy) << typed;
  }
  const TempFolder folder;
  const std::string real = std::filesystem::canonical(folder.Path()).string();
  std::filesystem::create_directory(folder / "below");
  EXPECT_EQ(NormalizedPath(folder / "below/.."), real);
  EXPECT_EQ(NormalizedPath(folder / "below/../"), real);
  EXPECT_EQ(NormalizedPath("."), std::filesystem::current_path().string());
  EXPECT_EQ(NormalizedPath(folder / "gone/.."), folder / "gone/..");
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

TEST(PlainFile, IsNotWrittenThroughALink)
{
  const TempFolder folder;
  testing::WriteText(folder / "real", "text");
  std::filesystem::create_symlink("real", folder / "link");
  EXPECT_THAT(MessageOf([&] { const PlainFile file(folder / "link", PlainFile::Purpose::Update); }),
      ::testing::AllOf(HasSubstr(folder / "link"), HasSubstr("Name the file itself, not a symbolic link")));
}

/// In older kernels, each signal interrupts an allocation in a memory file system.
TEST(PlainFile, ReservesSpaceWhileSignalsArrive)
{
  const std::string name = fmt::format("/dev/shm/patchio_test_{}", ::getpid());
  if (::access("/dev/shm", W_OK) != 0) {
    GTEST_SKIP() << "no memory file system";
  }
  const PlainFile file(name, PlainFile::Purpose::Create);
  ::unlink(name.c_str());
  std::signal(SIGALRM, [](int) {});
  const itimerval often{{0, 200}, {0, 200}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_EQ(CatchError([&] { file.Reserve(16 << 20); }), "");
  ::setitimer(ITIMER_REAL, &never, nullptr);
  EXPECT_EQ(file.Size(), 16u << 20);
}

TEST(Bytes, ComeBackInTheOrderInWhichTheyWent)
{
  ByteWriter out;
  out.Append(42);
  out.Append(std::string("text with\0zero", 14));
  out.Append(std::vector<double>{1.5, 2.5});
  out.Append(std::vector<int>{});
  out.Append('x');
  const std::vector<std::byte> bytes = out.Release();
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

TEST(Texts, JoinedAreSplitAgain)
{
  const std::vector<std::string> texts{"one", "", std::string("th\0ree", 6)};
  EXPECT_EQ(SplitTexts(JoinTexts(texts)), texts);
  EXPECT_EQ(SplitTexts(JoinTexts({})), std::vector<std::string>{});
  const std::string joined = JoinTexts(texts);
  EXPECT_THROW(SplitTexts(joined.substr(0, joined.size() - 1)), Error);
}

TEST(Bytes, RefuseAnArrayLongerThanWhatIsLeft)
{
  ByteWriter out;
  out.Append<std::uint64_t>(std::numeric_limits<std::uint64_t>::max() / 4);
  const std::vector<std::byte> bytes = out.Release();
  ByteReader in(bytes);
  std::vector<double> values;
  EXPECT_THROW(in.Get(values), Error);
}

TEST(Bytes, AreGivenWhereTheyLie)
{
  ByteWriter out;
  out.Append(7);
  out.Append(std::vector<std::byte>{std::byte{1}, std::byte{2}});
  std::vector<std::byte> bytes = out.Release();
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
  // From the tests of the reference implementation: empty input, seed 0.
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
  EXPECT_EQ(comm->MachineCommunicator().Size(), 1);
}

TEST(PlainText, KeepsWhatATerminalCanShow)
{
  EXPECT_EQ(PlainText("last read: '\xdd\x81\n'"), "last read: '" + std::string(3, '?') + "'");
  EXPECT_EQ(PlainText("a ~ b"), "a ~ b");
}

TEST(Trimmed, LosesBlanksAtBothEnds)
{
  EXPECT_EQ(Trimmed(" \t a  b \r"), "a  b");
  EXPECT_EQ(Trimmed("a "), "a");
  EXPECT_EQ(Trimmed(" \n "), "\n");
  EXPECT_EQ(Trimmed(" \t"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(TextScanner, TakesWhatIsThereAndNothingElse)
{
  TextScanner text(" FAB ((8, (-3 +4)) 1.5e3x\tend \r");
  int a = 0, b = 0, c = 0;
  double d = 0;
  EXPECT_TRUE(
      text.Consume("FAB") && text.Consume("((") && text.Consume(a) && text.Consume(",") && text.Consume("("));
  EXPECT_TRUE(text.Consume(b) && text.Consume(c) && text.Consume("))") && text.Consume(d));
  EXPECT_EQ(std::make_tuple(a, b, c, d), std::make_tuple(8, -3, 4, 1500.0));
  EXPECT_FALSE(text.Consume(a) || text.Consume("y") || text.AtEnd());
  EXPECT_EQ(text.Remaining(), "x\tend \r");
  std::string_view word;
  EXPECT_TRUE(text.ConsumeWord(word) && word == "x" && text.ConsumeWord(word) && word == "end");
  EXPECT_TRUE(text.AtEnd() && !text.ConsumeWord(word));
}

TEST(TextScanner, TakesAsManyDigitsAsAreWanted)
{
  TextScanner text("0613z");
  int hour = -1, minute = -1, none = 7;
  EXPECT_TRUE(text.ConsumeDigits(2, hour) && text.ConsumeDigits(4, minute));
  EXPECT_FALSE(text.ConsumeDigits(2, none));
  EXPECT_EQ(std::make_tuple(hour, minute, none), std::make_tuple(6, 13, 7));
}

TEST(TextScanner, KnowsWholeNumbersOnly)
{
  EXPECT_EQ(ParseNumber<int>("+5"), 5);
  EXPECT_EQ(ParseNumber<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(ParseNumber<double>("9.999E+20"), 9.999e20);
  for (const char* text : {"", " 5", "5 ", "+-5", "--5", "5x", "0x10", "2147483648", "1,5"}) {
    EXPECT_FALSE(ParseNumber<int>(text)) << text;
  }
  for (const char* text : {"", "inf", "nan", "1e999", "1.5.2", "e5"}) {
    EXPECT_FALSE(ParseNumber<double>(text)) << text;
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
