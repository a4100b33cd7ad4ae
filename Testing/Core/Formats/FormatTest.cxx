#include "Formats/Format.h"

#include "TestTools.h"

#include <limits>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using testing::TempFolder;
using testing::WriteText;
using Values = std::vector<double>;

Series MakeSeries(const Values& times, const std::vector<std::int64_t>& steps)
{
  Series series;
  for (std::size_t i = 0; i < times.size(); ++i) {
    series.Steps.push_back({"", times[i], steps[i]});
  }
  return series;
}

}  // namespace

TEST(TimeValues, AreTheTimesWhereTheyIncrease)
{
  EXPECT_EQ(TimeValues(MakeSeries({0, 0.5, 2}, {0, 10, 20})), (Values{0, 0.5, 2}));
}

TEST(TimeValues, AreTheStepsWhereTimesRepeat)
{
  EXPECT_EQ(TimeValues(MakeSeries({0, 0.5, 0.5}, {0, 10, 20})), (Values{0, 10, 20}));
}

TEST(TimeValues, AreTheStepsWhereAllTimesAreZero)
{
  EXPECT_EQ(TimeValues(MakeSeries({0, 0, 0}, {3, 4, 99840})), (Values{3, 4, 99840}));
}

TEST(TimeValues, AreTheStepsWhereTimesDecrease)
{
  EXPECT_EQ(TimeValues(MakeSeries({0, 2, 1}, {0, 1, 2})), (Values{0, 1, 2}));
}

TEST(TimeValues, AreTheStepsWhereATimeIsNotANumber)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(TimeValues(MakeSeries({0, nan, 1}, {5, 6, 7})), (Values{5, 6, 7}));
}

TEST(TimeValues, AreCountedWhereStepsRepeatToo)
{
  EXPECT_EQ(TimeValues(MakeSeries({1, 1, 1}, {4, 4, 5})), (Values{0, 1, 2}));
}

TEST(TimeValues, OfOneStepAreItsTime)
{
  EXPECT_EQ(TimeValues(MakeSeries({7}, {3})), Values{7});
}

TEST(TimeValues, OfOneStepAreFinite)
{
  const Values values = TimeValues(MakeSeries({std::numeric_limits<double>::quiet_NaN()}, {3}));
  EXPECT_EQ(values, Values{3});
}

TEST(TimeValues, AreTheStepsWhereATimeIsInfinite)
{
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(TimeValues(MakeSeries({0, infinity}, {5, 6})), (Values{5, 6}));
}

TEST(TimeValues, OfNothingAreNone)
{
  EXPECT_TRUE(TimeValues({}).empty());
}

TEST(FormatOf, KnowsSamraiByName)
{
  EXPECT_STREQ(FormatOf("/some/where/dumps.visit").Name(), "SAMRAI");
  EXPECT_STREQ(FormatOf("/some/where/summary.samrai").Name(), "SAMRAI");
}

TEST(FormatOf, LooksIntoOtherIndexFiles)
{
  const TempFolder folder;
  WriteText(folder / "mine.visit", "visit_dump.00000/summary.samrai \r\n");
  WriteText(folder / "other.visit", "!NBLOCKS 2\nlag_data.cycle_000000/lag_data.visit\n");
  EXPECT_STREQ(FormatOf(folder / "mine.visit").Name(), "SAMRAI");
  EXPECT_THAT(
      MessageOf([&] { FormatOf(folder / "other.visit"); }), HasSubstr("found a file of another format"));
}

TEST(FormatOf, SaysWhenAnHdf5FileIsCutOff)
{
  const TempFolder folder;
  for (const char* name : {"cut.h5", "cut.dat"}) {
    const std::string path = folder / name;
    WriteText(path, std::string("\x89HDF\r\n\x1a\n", 8) + std::string(100, '\0'));
    EXPECT_THAT(MessageOf([&] { FormatOf(path).OpenSeries(path, {}); }),
        ::testing::AllOf(HasSubstr("complete HDF5 file"), HasSubstr("truncated")));
  }
}

TEST(FindFormat, FindsTheFormatOfBrokenFiles)
{
  const TempFolder folder;
  WriteText(folder / "empty.visit", "");
  WriteText(folder / "other.visit", "!NBLOCKS 2\n");
  EXPECT_STREQ(FindFormat(folder / "empty.visit")->Name(), "SAMRAI");
  EXPECT_EQ(FindFormat(folder / "other.visit"), nullptr);
}

TEST(FormatOf, SaysWhenAFileIsMissing)
{
  const TempFolder folder;
  const std::string message = MessageOf([&] { FormatOf(folder / "nowhere.dat"); });
  EXPECT_THAT(message, HasSubstr(folder / "nowhere.dat"));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
}

TEST(FormatOf, SaysThatAFolderIsOne)
{
  const TempFolder folder;
  EXPECT_THAT(MessageOf([&] { FormatOf(folder.Path()); }),
      ::testing::AllOf(
          HasSubstr("or a SAMRAI dumps.visit or summary.samrai"), HasSubstr(", found a folder")));
}

TEST(FormatOf, SaysWhatItCanOpen)
{
  const TempFolder folder;
  WriteText(folder / "notes.txt", "hello");
  EXPECT_THAT(MessageOf([&] { FormatOf(folder / "notes.txt"); }), HasSubstr("dumps.visit or summary.samrai"));
}

TEST(FormatOf, NamesWhatEachFormatOpens)
{
  const TempFolder folder;
  WriteText(folder / "notes.txt", "hello");
  const std::string message = MessageOf([&] { FormatOf(folder / "notes.txt"); });
  for (const Format* format : AllFormats()) {
    EXPECT_THAT(message, HasSubstr(format->SupportedFiles()));
  }
}

}  // namespace patchio
