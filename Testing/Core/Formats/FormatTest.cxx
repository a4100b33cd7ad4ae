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

}  // namespace

TEST(TimeValues, AreTimesThatIncreaseOrElseSteps)
{
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  struct Case
  {
    const char* Name;
    Values Times;
    std::vector<std::int64_t> Steps;
    Values Expected;
  };
  const std::vector<Case> cases{{"times that increase", {0, 0.5, 2}, {0, 10, 20}, {0, 0.5, 2}},
      {"times that repeat", {0, 0.5, 0.5}, {0, 10, 20}, {0, 10, 20}},
      {"times of zero", {0, 0, 0}, {3, 4, 99840}, {3, 4, 99840}},
      {"times that decrease", {0, 2, 1}, {0, 1, 2}, {0, 1, 2}},
      {"a time that is not a number", {0, nan, 1}, {5, 6, 7}, {5, 6, 7}},
      {"an infinite time", {0, infinity}, {5, 6}, {5, 6}},
      {"steps that repeat, too", {1, 1, 1}, {4, 4, 5}, {0, 1, 2}}, {"one step", {7}, {3}, {7}},
      {"one step without a time", {nan}, {3}, {3}}, {"no step", {}, {}, {}}};
  for (const Case& one : cases) {
    Series series;
    for (std::size_t i = 0; i < one.Times.size(); ++i) {
      series.Steps.push_back({"", one.Times[i], one.Steps[i]});
    }
    EXPECT_EQ(TimeValues(series), one.Expected) << one.Name;
  }
}

TEST(FormatOf, KnowsSamraiByNameAndOtherIndexFilesByText)
{
  const TempFolder folder;
  WriteText(folder / "mine.visit", "visit_dump.00000/summary.samrai \r\n");
  WriteText(folder / "empty.visit", "");
  WriteText(folder / "other.visit", "!NBLOCKS 2\nlag_data.cycle_000000/lag_data.visit\n");
  for (const std::string& path : {std::string("/some/where/dumps.visit"),
           std::string("/some/where/summary.samrai"), folder / "mine.visit", folder / "empty.visit"}) {
    EXPECT_STREQ(FormatOf(path).Name(), "SAMRAI") << path;
  }
  EXPECT_EQ(FindFormat(folder / "other.visit"), nullptr);
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

TEST(FormatOf, SaysWhenAFileIsMissing)
{
  const TempFolder folder;
  const std::string message = MessageOf([&] { FormatOf(folder / "nowhere.dat"); });
  EXPECT_THAT(message, HasSubstr(folder / "nowhere.dat"));
  EXPECT_THAT(message, HasSubstr("No such file or directory"));
}

TEST(FormatOf, NamesWhatEachFormatOpens)
{
  const TempFolder folder;
  WriteText(folder / "notes.txt", "hello");
  const std::string ofFile = MessageOf([&] { FormatOf(folder / "notes.txt"); });
  const std::string ofFolder = MessageOf([&] { FormatOf(folder.Path()); });
  EXPECT_THAT(ofFolder, HasSubstr(", found a folder"));
  EXPECT_THAT(ofFolder, HasSubstr("or a SAMRAI dumps.visit or summary.samrai"));
  for (const Format* format : AllFormats()) {
    EXPECT_THAT(ofFile, HasSubstr(format->SupportedFiles()));
  }
}

}  // namespace patchio
