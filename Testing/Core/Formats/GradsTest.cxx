// GrADS descriptors: their contents, messages about their faults, and the locations of values.
#include "Catalog/CheckCatalog.h"
#include "Formats/GRADS/GradsCatalog.h"
#include "Formats/GRADS/GradsDescriptor.h"
#include "Formats/GRADS/GradsFiles.h"
#include "Formats/GRADS/GradsFormat.h"
#include "LoadPatches.h"
#include "NaivePlace.h"
#include "Read/CollectiveCalls.h"
#include "StoppedLocate.h"
#include "TestTools.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace patchio::grads {
namespace {

using patchio::testing::Dice;
using patchio::testing::MessageOf;
using patchio::testing::Replaced;
using patchio::testing::TempFolder;
using patchio::testing::WriteText;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A descriptor of 3 x 2 points, 2 levels and 2 times, with variables with and without levels.
const std::string Plain =
    "dset ^data.bin\noptions little_endian\nundef -999\nxdef 3 linear 100 0.5\nydef 2 linear 20 0.25\n"
    "zdef 2 levels 1000 500\ntdef 2 linear 12z28feb2016 12hr\nvars 2\nu 2 99 wind\nps 0 99 "
    "pressure\nendvars\n";

class Grads : public ::testing::Test
{
protected:
  Descriptor Read(const std::string& text) const
  {
    WriteText(this->Folder / "a.ctl", text);
    return ReadDescriptor(this->Folder / "a.ctl");
  }
  std::string FaultIn(const std::string& text) const
  {
    return MessageOf([&] { this->Read(text); });
  }
  /// Writes little-endian numbers.
  void WriteValues(const std::string& name, const std::vector<float>& values) const
  {
    WriteText(
        this->Folder / name, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  }
  /// Writes the little-endian numbers 0, 1, 2, ...
  void WriteNumbers(const std::string& name, int count) const
  {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0f);
    this->WriteValues(name, values);
  }
  Series Open(const std::string& text) const
  {
    WriteText(this->Folder / "a.ctl", text);
    return this->Format.OpenSeries(this->Folder / "a.ctl", {});
  }
  /// Returns the message about a variable that cannot be read at a step of the file.
  std::string FaultOf(const std::string& name, int step) const
  {
    return MessageOf([&] {
      Catalog catalog = this->Format.ReadCatalog(this->Folder / "a.ctl");
      CheckCatalog(catalog);
      catalog.StepInFile = step;
      LoadRequest request;
      for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
        request.Blocks.push_back(BlockOfPatch(catalog, static_cast<int>(p)));
      }
      request.Variables = {RequestAsStored(catalog, catalog.FindVariable(name))};
      const LoadResult result = testing::LoadPatches(this->Format, catalog, request);
      if (!result.Faults.empty()) {
        throw Error(result.Faults[0].Message);
      }
    });
  }

  TempFolder Folder;
  GradsFormat Format;
};

}  // namespace

TEST(GradsCalendar, CountsMinutesSince1970)
{
  const auto minutes = [](int year, int month, int day, int hour) {
    return MinutesOf({year, month, day, hour, 0}, Calendar::Gregorian);
  };
  EXPECT_EQ(minutes(1970, 1, 1, 0), 0);
  EXPECT_EQ(minutes(1969, 12, 31, 23), -60);
  EXPECT_EQ(minutes(2000, 3, 1, 0), 951868800 / 60);  // date -d 2000-03-01Z +%s
  EXPECT_EQ(minutes(2017, 2, 27, 18), 1488218400 / 60);
  EXPECT_EQ(MinutesOf({1971, 1, 1, 0, 0}, Calendar::Days365), 365 * 1440);
  EXPECT_EQ(MinutesOf({2016, 3, 1, 0, 0}, Calendar::Days365), ((2016 - 1970) * 365 + 59) * 1440);
}

TEST(GradsCalendar, TurnsMinutesBackIntoDates)
{
  Dice dice(7);
  for (const Calendar calendar : {Calendar::Gregorian, Calendar::Days365}) {
    for (int round = 0; round < 20000; ++round) {
      const std::int64_t minutes = dice.Between(-1'000'000'000, 10'000'000'000);
      const Date date = DateOf(minutes, calendar);
      ASSERT_EQ(MinutesOf(date, calendar), minutes);
      ASSERT_LE(date.Day, DaysOfMonth(date.Year, date.Month, calendar));
      ASSERT_TRUE(date.Month >= 1 && date.Month <= 12 && date.Day >= 1 && date.Hour < 24 && date.Minute < 60);
    }
  }
  EXPECT_EQ(TextOf(DateOf(1488218400 / 60, Calendar::Gregorian)), "2017-02-27 18:00");
}

TEST(GradsCalendar, ReadsDates)
{
  const auto text = [](const std::string& date) {
    const auto parsed = ParseDate(date, Calendar::Gregorian);
    return parsed ? TextOf(*parsed) : "none";
  };
  EXPECT_EQ(text("00:30Z02JAN1987"), "1987-01-02 00:30");
  EXPECT_EQ(text("6z2jan1987"), "1987-01-02 06:00");
  EXPECT_EQ(text("feb1950"), "1950-02-01 00:00");
  EXPECT_EQ(text("29feb00"), "2000-02-29 00:00");
  EXPECT_EQ(text("1dec49"), "2049-12-01 00:00");
  EXPECT_EQ(text("1dec50"), "1950-12-01 00:00");
  for (const char* wrong : {"", "z", "24z1jan2000", "1:60z1jan2000", "30feb2000", "29feb1999", "0jan2000",
           "1xyz2000", "1jan200", "1jan20000", "1jan0000", "jan", "00z", ":z1jan2000", "1jan2000x"}) {
    EXPECT_EQ(text(wrong), "none") << wrong;
  }
}

TEST(GradsCalendar, ReadsIncrements)
{
  EXPECT_EQ(ParseIncrement("30MN")->Count, 30);
  EXPECT_EQ(ParseIncrement("6hr")->Count, 360);
  EXPECT_EQ(ParseIncrement("2dy")->Count, 2880);
  EXPECT_EQ(ParseIncrement("3mo")->Count, 3);
  EXPECT_EQ(ParseIncrement("1yr")->Count, 12);
  EXPECT_TRUE(ParseIncrement("1yr")->Months);
  for (const char* wrong : {"", "hr", "0hr", "6", "6h", "-6hr", "99999999hr"}) {
    EXPECT_FALSE(ParseIncrement(wrong)) << wrong;
  }
}

TEST(GradsCalendar, StepsByMonths)
{
  const auto text = [](int index) {
    return TextOf(DateOf(
        MinutesOfStep({2016, 1, 31, 0, 0}, {1, true}, index, Calendar::Gregorian), Calendar::Gregorian));
  };
  EXPECT_EQ(text(1), "2016-03-02 00:00");  // GrADS also has no 31st of February
  EXPECT_EQ(text(2), "2016-03-31 00:00");
  EXPECT_EQ(text(12), "2017-01-31 00:00");
}

TEST_F(Grads, DescriptorSaysEverything)
{
  const Descriptor d = this->Read(Replaced(Plain, "options little_endian",
      "* comment\n@ u String long_name wind\nOPTIONS  Yrev big_endian  whatever\nTITLE a title"));
  EXPECT_EQ(FileName(d, 0, 0), this->Folder / "data.bin");
  EXPECT_TRUE(d.BigEndian && d.RowsReversed && !d.LevelsReversed && !d.Sequential && !d.Template);
  ASSERT_EQ(d.Variables.size(), 2u);
  EXPECT_EQ(d.Variables[0].LongName, "wind");
  const Descriptor wordy = this->Read(Replaced(Plain, "99 wind", "99 zonal  Wind (m/s)"));
  EXPECT_EQ(wordy.Variables[0].LongName, "zonal Wind (m/s)");
  EXPECT_EQ(this->Read(Replaced(Plain, "99 wind", "99")).Variables[0].LongName, "");
}

TEST_F(Grads, LocatingCanBeStopped)
{
  this->WriteNumbers("data.bin", 1000);
  this->Open(Plain);
  testing::ExpectToStop(this->Format, this->Format.ReadCatalog(this->Folder / "a.ctl"), {}, true);
}

TEST_F(Grads, DescriptorMayBeWrittenInManyWays)
{
  EXPECT_THAT(this->Read(Replaced(Plain, "zdef 2 levels 1000 500", "ZDEF 2 LEVELS\n* comment\n 1000\n500")).Z,
      ElementsAre(1000, 500));
  EXPECT_THAT(this->Read(Replaced(Plain, "ydef 2 linear 20 0.25", "YDEF 2 LEVELS\n-20.5\n   -10")).Y,
      ElementsAre(-20.5, -10));
  EXPECT_THAT(this->Read(Replaced(Plain, "zdef 2 levels 1000 500", "zdef 2 linear 1000 -500")).Z,
      ElementsAre(1000, 500));
  EXPECT_EQ(this->Read(Replaced(Plain, "\n", "\r\n")).Variables.size(), 2u);
  EXPECT_EQ(
      FileName(this->Read(Replaced(Plain, "^data.bin", "/elsewhere/data.bin")), 0, 0), "/elsewhere/data.bin");
  EXPECT_EQ(this->Read(Replaced(Plain, "u 2 99", "WIND=>u 2,100 33")).Variables[0].Name, "u");
}

TEST_F(Grads, DescriptorFaultsNameTheirLine)
{
  const std::vector<std::array<std::string, 3>> faults{
      {"xdef 3 linear 100 0.5", "xdef three linear 100 0.5", "line 4"},
      {"xdef 3 linear 100 0.5", "xdef 0 linear 100 0.5", "'0'"},
      {"xdef 3 linear 100 0.5", "xdef 99999999999999999999 linear 100 0.5", "line 4"},
      {"xdef 3 linear 100 0.5", "xdef 2000000000 linear 100 0.5", "line 4"},
      {"xdef 3 linear 100 0.5", "xdef 3 linear 100", "end of the line"},
      {"xdef 3 linear 100 0.5", "xdef 3 linear 100 nan", "'nan'"},
      {"xdef 3 linear 100 0.5", "xdef 3 linear 100 -0.5", "increasing"},
      {"xdef 3 linear 100 0.5", "xdef 3 cubic 100 0.5", "'cubic'"},
      {"xdef 3 linear 100 0.5", "xdef 3 linear 100 1e308", "positions that are numbers"},
      {"ydef 2 linear 20 0.25", "ydef 2 levels 20 10", "yrev"},
      {"ydef 2 linear 20 0.25", "ydef 2 mom32 1", "LEVELS"},
      {"ydef 2 linear 20 0.25", "ydef 90 gaust62 10", "85"},
      {"zdef 2 levels 1000 500", "zdef 3 levels 1000 500", "2, then 'tdef'"},
      {"12z28feb2016", "12z30feb2016", "date"},
      {"12hr", "12hours", "increment"},
      {"tdef 2 linear", "tdef 99999999 linear", "line 7"},
      {"vars 2", "vars 3", "3 variables"},
      {"vars 2", "vars 1", "1 variables"},
      {"endvars", "", "end of the file"},
      {"u 2 99", "u two 99", "'two'"},
      {"u 2 99", "u 2 -1,30", "set gxout fwrite"},
      {"u 2 99", "u 2 -1,20", "codes"},
      {"undef -999", "undef", "the value for missing data"},
      {"undef -999", "dtype station\nundef -999", "Convert station data"},
      {"undef -999", "dtype netcdf\nundef -999", "ParaView's reader"},
      {"undef -999", "dtype grib2\nundef -999", "cdo"},
      {"undef -999", "stnmap ^a.map\nundef -999", "station"},
      {"undef -999", "pdef 3\nundef -999", "rows"},
      {"undef -999", "chsub 1\nundef -999", "last step"},
      {"undef -999", "fileheader -5\nundef -999", "bytes"},
      {"undef -999", "fileheader 999999999999999999\nundef -999", "bytes"},
      {"undef -999", "edef 2 names a", "2 names"},
      {"undef -999", "edef 2\na\nundef -999", "2 members"},
      {"dset ^data.bin\n", "", "no DSET"},
      {"dset ^data.bin", "dset", "nothing"},
  };
  for (const auto& [from, to, expected] : faults) {
    EXPECT_THAT(this->FaultIn(Replaced(Plain, from, to)), AllOf(HasSubstr("a.ctl"), HasSubstr(expected)))
        << to;
  }
  EXPECT_THAT(this->FaultIn(std::string("dset a\0b", 8)), HasSubstr("binary data"));
  EXPECT_THAT(this->FaultIn(std::string(5 << 20, 'x')), HasSubstr("larger file"));
}

TEST_F(Grads, AbsurdSizesAreRefused)
{
  std::string text = Replaced(Plain, "xdef 3 linear", "xdef 1000000 linear");
  text = Replaced(text, "ydef 2 linear", "ydef 1000000 linear");
  text = Replaced(text, "u 2 99", "u 1000000 99");
  EXPECT_THAT(this->FaultIn(text), HasSubstr("sizes that a file can have"));
}

// The time must not grow with the square of the size.
TEST_F(Grads, ManyLevelsAndVariablesTakeLittleTime)
{
  std::string text = Replaced(Plain, "zdef 2 levels 1000 500", "zdef 1000000 linear 2000000 -1");
  std::string many = "vars 50000\n";
  for (int v = 0; v < 50000; ++v) {
    many += "u 2 99 same name\n";
  }
  text = Replaced(text, "vars 2\nu 2 99 wind\nps 0 99 pressure\n", many);
  this->Read(text);
  const Catalog catalog = this->Format.ReadCatalog(this->Folder / "a.ctl");
  EXPECT_EQ(catalog.Variables.size(), 50000u);
  EXPECT_EQ(catalog.Variables.back().Name, "u_50000");
  EXPECT_EQ(catalog.Axes[2].Positions.size(), 1000000u);
}

TEST_F(Grads, TemplatesGiveNames)
{
  const auto name = [this](const std::string& part, int step) {
    const Descriptor d =
        this->Read(Replaced(Replaced(Plain, "^data.bin", "^" + part), "little_endian", "template"));
    return std::filesystem::path(FileName(d, step, 0)).filename().string();
  };
  EXPECT_EQ(name("postvar%iy4%im2%id2%ih2%f3%n2", 1), "postvar201602281201200");
  EXPECT_EQ(name("%y2%mc%d1_%h1_%h3_%j3", 1), "16feb29_0_000_060");
  EXPECT_EQ(name("%m1_%d2_%t1_%t3_%tm2_%x1_%x3", 1), "2_29_2_002_01_1_201");
  EXPECT_EQ(name("%fhn_%fdhn_%fn2_%f2", 1), "1200_001200_720_12");
  EXPECT_THAT(MessageOf([&] { name("%zz", 0); }), HasSubstr("'%zz'"));
  EXPECT_THAT(MessageOf([&] { name("a%", 0); }), HasSubstr("substitutions that GrADS knows"));
  EXPECT_THAT(MessageOf([&] { name("%ch", 0); }), HasSubstr("CHSUB for step 1"));
  EXPECT_EQ(name("%ch\nchsub 1 1 a\nchsub 2 2 %y4b", 1), "2016b");
  // A substitution by itself must end.
  EXPECT_THAT(MessageOf([&] { name("%ch\nchsub 1 2 %ch%ch", 0); }), HasSubstr("'%ch%'"));
}

TEST_F(Grads, StepsAreThoseThatTheFileHolds)
{
  this->WriteNumbers("data.bin", 36);
  const Series series = this->Open(Plain);
  ASSERT_EQ(series.Steps.size(), 2u);
  EXPECT_THAT(series.Warnings, IsEmpty());

  this->WriteNumbers("data.bin", 35);
  const Series shorter = this->Open(Plain);
  EXPECT_EQ(shorter.Steps.size(), 1u);
  ASSERT_EQ(shorter.Warnings.size(), 1u);
  EXPECT_THAT(shorter.Warnings[0], AllOf(HasSubstr("144 bytes"), HasSubstr("140, enough for 1")));
  EXPECT_THAT(this->FaultOf("ps", 1), AllOf(HasSubstr("at least 144"), HasSubstr("140")));

  this->WriteNumbers("data.bin", 17);
  EXPECT_THAT(MessageOf([&] { this->Open(Plain); }), HasSubstr("enough for 0"));
  std::filesystem::remove(this->Folder / "data.bin");
  EXPECT_THAT(MessageOf([&] { this->Open(Plain); }), HasSubstr("data.bin"));
  EXPECT_THAT(this->FaultOf("u", 0), HasSubstr("data.bin"));
}

TEST_F(Grads, FilesWithRecordsAreToldFromPlainOnes)
{
  this->WriteNumbers("data.bin", 36 + 12);  // two markers for each of six fields
  EXPECT_THAT(MessageOf([&] { this->Open(Plain); }),
      AllOf(HasSubstr("144 bytes"), HasSubstr("192, the size of a file with OPTIONS sequential")));
  this->WriteNumbers("data.bin", 36 + 13);
  const Series longer = this->Open(Plain);
  EXPECT_EQ(longer.Steps.size(), 2u);
  EXPECT_THAT(longer.Notes, ::testing::Contains(HasSubstr("1 file is longer than")));
  this->WriteNumbers("data.bin", 36);
  const std::string sequential = Replaced(Plain, "little_endian", "little_endian sequential");
  EXPECT_THAT(MessageOf([&] { this->Open(sequential); }), HasSubstr("without OPTIONS sequential"));
  this->WriteNumbers("data.bin", 35);
  EXPECT_EQ(this->Open(sequential).Steps.size(), 1u);
  EXPECT_THAT(this->FaultOf("u", 0), HasSubstr("little-endian record of 24 bytes"));
  std::string record("\0\0\0\x18", 4);
  record += std::string(24, 'v') + record;
  WriteText(this->Folder / "data.bin", record + record + record + record + record + record);
  EXPECT_EQ(this->Open(sequential).Steps.size(), 2u);
  EXPECT_THAT(this->FaultOf("u", 0), HasSubstr("Write OPTIONS big_endian"));
}

TEST_F(Grads, WrongByteOrderIsSaid)
{
  const std::string little =
      Replaced(Replaced(Plain, "xdef 3", "xdef 12"), "ydef 2 linear 20 0.25", "ydef 10 linear 20 0.25");
  const std::string big = Replaced(little, "little_endian", "big_endian");
  constexpr int all = 2 * 3 * 120;  // times, fields, points
  Dice dice(3);
  const auto warnings = [&](const std::string& descriptor, float (*value)(Dice & dice, int i)) {
    std::vector<float> values;
    for (int i = 0; i < all; ++i) {
      values.push_back(value(dice, i));
    }
    this->WriteValues("data.bin", values);
    return this->Open(descriptor).Warnings;
  };
  const auto isSaid = ElementsAre(AllOf(HasSubstr("data.bin"), HasSubstr("make sense as big-endian numbers"),
      HasSubstr("write OPTIONS little_endian into"), HasSubstr("a.ctl")));
  const auto temperature = [](Dice& d, int) {
    return 200 + 0.001f * static_cast<float>(d.Between(0, 100000));
  };
  const auto counted = [](Dice&, int i) { return static_cast<float>(i % 100); };
  const auto tiny = [](Dice& d, int) { return 1e-25f * static_cast<float>(d.Between(1, 100000)); };
  const auto huge = [](Dice& d, int) { return -1e25f * static_cast<float>(d.Between(1, 100000)); };
  const auto few = [](Dice&, int i) { return 273.15f + static_cast<float>(i % 7); };
  const auto undefined = [](Dice& d, int i) {
    return i % 8 == 0 ? 200 + 0.001f * static_cast<float>(d.Between(0, 100000)) : -999;
  };
  const auto nothing = [](Dice&, int i) { return i % 2 == 0 ? std::nanf("") : 0; };
  EXPECT_THAT(warnings(big, temperature), isSaid);
  EXPECT_THAT(warnings(big, counted), isSaid);
  EXPECT_THAT(warnings(big, undefined), isSaid);
  for (auto* const value : {+temperature, +counted, +undefined, +tiny, +huge, +few, +nothing}) {
    EXPECT_THAT(warnings(little, value), IsEmpty());
  }
  // The byte order cannot be detected from these values.
  EXPECT_THAT(warnings(big, few), IsEmpty());
  EXPECT_THAT(warnings(big, nothing), IsEmpty());
}

TEST_F(Grads, ByteOrderOfAMemberThatIsNotThereIsNoFault)
{
  this->WriteNumbers("b", 36);
  const std::string text = Replaced(
      Replaced(Plain, "little_endian", "little_endian template"), "vars 2", "edef 2 names a b\nvars 2");
  const Series series = this->Open(Replaced(text, "^data.bin", "^%e"));
  EXPECT_EQ(series.Steps.size(), 2u);
  EXPECT_THAT(series.Warnings, ElementsAre(HasSubstr("files of ensemble members")));
}

TEST_F(Grads, LatitudesBeyondThePolesAreNoted)
{
  this->WriteNumbers("data.bin", 36);
  const auto note = ::testing::Contains(HasSubstr("latitudes exceed the poles"));
  EXPECT_THAT(this->Open(Replaced(Plain, "linear 20 0.25", "linear 89.9 0.2")).Notes, note);
  EXPECT_THAT(this->Open(Replaced(Plain, "linear 20 0.25", "linear -90.1 1")).Notes, note);
  EXPECT_THAT(this->Open(Replaced(Plain, "linear 20 0.25", "linear -90 180")).Notes, ::testing::Not(note));
}

TEST_F(Grads, FilesOfATemplateMayLack)
{
  const std::string text =
      Replaced(Replaced(Plain, "^data.bin", "^data%t1"), "little_endian", "little_endian template");
  this->WriteNumbers("data2", 18);
  const Series series = this->Open(text);
  EXPECT_EQ(series.Steps.size(), 1u);
  EXPECT_THAT(series.Warnings, ElementsAre(AllOf(HasSubstr("1 data file is missing"), HasSubstr("data1"))));
}

TEST_F(Grads, FilesMustHaveAllMembersOfAnEnsemble)
{
  const std::string text = Replaced(Plain, "vars 2", "edef 2 names a b\nvars 2");
  this->WriteNumbers("data.bin", 71);
  EXPECT_THAT(MessageOf([&] { this->Open(text); }), HasSubstr("288 bytes"));
  const std::string byTime = Replaced(Replaced(text, "little_endian", "template"), "^data.bin", "^data%t1");
  EXPECT_THAT(MessageOf([&] { this->Open(byTime); }), HasSubstr("%e"));
}

TEST_F(Grads, NamesOfVariablesAreUnique)
{
  const auto namesIn = [this](const std::string& text) {
    this->Read(text);
    std::vector<std::string> names;
    for (const Variable& variable : this->Format.ReadCatalog(this->Folder / "a.ctl").Variables) {
      names.push_back(variable.Name);
    }
    return names;
  };
  EXPECT_THAT(namesIn(Replaced(Plain, "ps 0 99", "u 0")), ElementsAre("u", "u_2"));
  const std::string members = Replaced(Plain, "vars 2\nu 2", "edef 2 names a_b b\nvars 2\nps_a 2");
  EXPECT_THAT(namesIn(members), ElementsAre("ps_a_a_b", "ps_a_b", "ps_a_b_2", "ps_b"));
}

TEST_F(Grads, ClaimsItsDescriptorsOnly)
{
  const auto claims = [this](const std::string& name, const std::string& text) {
    WriteText(this->Folder / name, text);
    return this->Format.Claims(this->Folder / name);
  };
  EXPECT_TRUE(claims("a.ctl", Plain));
  EXPECT_TRUE(claims("post.ctl_2017022718", Plain));
  EXPECT_TRUE(claims("A.CTL", "* a comment\n\n  XDEF broken"));
  EXPECT_FALSE(claims("a.txt", Plain));
  EXPECT_FALSE(claims("a.ctlx", Plain));
  EXPECT_FALSE(claims("control.ctl", "set this = that\n"));
  EXPECT_FALSE(claims("binary.ctl", std::string("dset a\0\1\2", 9)));
  EXPECT_FALSE(claims("empty.ctl", ""));
  EXPECT_TRUE(this->Format.SeemsBroken(this->Folder / "empty.ctl"));
  EXPECT_TRUE(this->Format.SeemsBroken(this->Folder / "binary.ctl"));
  EXPECT_FALSE(this->Format.SeemsBroken(this->Folder / "control.ctl"));
  EXPECT_FALSE(this->Format.Claims(this->Folder / "none.ctl"));
  EXPECT_FALSE(this->Format.Claims(this->Folder.Path()));
}

TEST_F(Grads, DescriptorsOpenedTogetherAreOneSeries)
{
  this->WriteNumbers("data.bin", 36);
  WriteText(this->Folder / "post.ctl_2016022812", Plain);
  WriteText(this->Folder / "post.ctl_2016022712", Replaced(Plain, "12z28feb2016", "12z27feb2016"));
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const Series series = OpenSeries(*alone,
      {this->Folder / "post.ctl_2016022812", this->Folder / "post.ctl_2016022712"}, {}, IndexMode::Off);
  std::vector<std::string> dates;
  for (const TimeStep& step : series.Steps) {
    dates.push_back(step.Date);
  }
  EXPECT_THAT(
      dates, ElementsAre("2016-02-27 12:00", "2016-02-28 00:00", "2016-02-28 12:00", "2016-02-29 00:00"));
  EXPECT_THAT(series.Steps[0].Path, HasSubstr("post.ctl_2016022712"));
  EXPECT_THAT(series.Warnings, IsEmpty());
  EXPECT_EQ(TimeValues(series)[3] - TimeValues(series)[0], 36);
}

// Neighbours share a row of nodes, which merged blocks read only once.
TEST_F(Grads, MergedPatchesReadNothingTwice)
{
  constexpr int nx = 1001, ny = 1201;
  this->WriteNumbers("data.bin", 2 * nx * ny);
  WriteText(this->Folder / "a.ctl",
      "dset ^data.bin\noptions little_endian\nundef -9\nxdef 1001 linear 0 0.1\n"
      "ydef 1201 linear 0 0.1\nzdef 2 levels 1000 500\ntdef 1 linear 1jan2000 1hr\n"
      "vars 1\nu 2 99 u\nendvars\n");
  const Catalog catalog = this->Format.ReadCatalog(this->Folder / "a.ctl");
  ASSERT_GE(catalog.Patches.size(), 3u);
  const std::vector<bool> shown(catalog.Patches.size(), true);
  BlockOptions options;
  options.Merge = true;
  LoadRequest request;
  request.Blocks =
      MakeBlocks(catalog, shown, PatchTypes(catalog, {0}), Nesting(catalog, shown), true, options);
  ASSERT_EQ(request.Blocks.size(), 1u);
  request.Variables = {RequestAsStored(catalog, 0)};
  request.Threads = 2;
  LoadResult result = testing::LoadPatches(this->Format, catalog, request);
  ASSERT_TRUE(result.Faults.empty());
  EXPECT_EQ(result.At(0, 0).Tuples, 2 * nx * ny);
  EXPECT_LE(result.Report.Bytes, 4u * 2 * nx * ny);
}

}  // namespace patchio::grads
