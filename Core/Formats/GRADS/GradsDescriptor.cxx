#include "Formats/GRADS/GradsDescriptor.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/GRADS/GradsFiles.h"
#include "Formats/GRADS/GradsText.h"

#include <fmt/format.h>
#include <boost/math/special_functions/legendre.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace patchio::grads {

int LatitudesOf(const std::string& grid)
{
  static const std::map<std::string, int> grids{
      {"gaust62", 94}, {"gausr15", 40}, {"gausr20", 52}, {"gausr30", 80}, {"gausr40", 102}};
  const auto known = grids.find(grid);
  return known == grids.end() ? 0 : known->second;
}

std::vector<double> GaussianLatitudes(int count)
{
  constexpr double degrees = 180 / 3.14159265358979323846;
  std::vector<double> latitudes;
  // The sines of the latitudes are the roots of a Legendre polynomial. Boost returns only roots >= 0.
  const std::vector<double> roots = boost::math::legendre_p_zeros<double>(count);
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
    if (*root > 0) {
      latitudes.push_back(-std::asin(*root) * degrees);
    }
  }
  for (const double root : roots) {
    latitudes.push_back(std::asin(root) * degrees);
  }
  return latitudes;
}

namespace {

constexpr std::array<const char*, 12> MonthNames{
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<int, 12> MonthDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr std::int64_t MinutesOfDay = 24 * 60;

bool IsLeap(int year, Calendar calendar)
{
  return calendar == Calendar::Gregorian && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/// Returns the days of all years before `year`, counted from year 1.
std::int64_t DaysBefore(int year, Calendar calendar)
{
  const std::int64_t years = year - 1;
  return years * 365 + (calendar == Calendar::Gregorian ? years / 4 - years / 100 + years / 400 : 0);
}

/// Parses the hour and minute, which precede Z; both are 0 if there is no Z. Returns false for invalid
/// numbers.
bool ParseHour(TextScanner& text, Date& date)
{
  if (text.Remaining().find('z') == std::string_view::npos) {
    return true;
  }
  return text.ConsumeDigits(2, date.Hour) && (!text.Consume(":") || text.ConsumeDigits(2, date.Minute)) &&
         text.Consume("z") && date.Hour <= 23 && date.Minute <= 59;
}

}  // namespace

int DaysOfMonth(int year, int month, Calendar calendar)
{
  return MonthDays[month - 1] + (month == 2 && IsLeap(year, calendar) ? 1 : 0);
}

int DayOfYear(const Date& date, Calendar calendar)
{
  int day = date.Day;
  for (int month = 1; month < date.Month; ++month) {
    day += DaysOfMonth(date.Year, month, calendar);
  }
  return day;
}

std::int64_t MinutesOf(const Date& date, Calendar calendar)
{
  const std::int64_t days =
      DaysBefore(date.Year, calendar) - DaysBefore(1970, calendar) + DayOfYear(date, calendar) - 1;
  return days * MinutesOfDay + date.Hour * 60 + date.Minute;
}

Date DateOf(std::int64_t minutes, Calendar calendar)
{
  const std::int64_t all = minutes + DaysBefore(1970, calendar) * MinutesOfDay;
  const std::int64_t days = all / MinutesOfDay;
  const auto inDay = static_cast<int>(all % MinutesOfDay);
  Date date;
  const std::int64_t cycle = DaysBefore(401, calendar);
  date.Year = static_cast<int>(days * 400 / cycle) + 1;  // the right year or a neighbour of it
  while (date.Year > 1 && DaysBefore(date.Year, calendar) > days) {
    --date.Year;
  }
  while (DaysBefore(date.Year + 1, calendar) <= days) {
    ++date.Year;
  }
  auto rest = static_cast<int>(days - DaysBefore(date.Year, calendar));
  while (rest >= DaysOfMonth(date.Year, date.Month, calendar)) {
    rest -= DaysOfMonth(date.Year, date.Month, calendar);
    ++date.Month;
  }
  date.Day = rest + 1;
  date.Hour = inDay / 60;
  date.Minute = inDay % 60;
  return date;
}

std::string TextOf(const Date& date)
{
  return fmt::format(
      "{:04}-{:02}-{:02} {:02}:{:02}", date.Year, date.Month, date.Day, date.Hour, date.Minute);
}

const char* MonthName(int month)
{
  return MonthNames[month - 1];
}

std::optional<Date> ParseDate(const std::string& mixed, Calendar calendar)
{
  const std::string lower = LowerCase(mixed);
  TextScanner text(lower);
  Date date;
  if (!ParseHour(text, date)) {
    return std::nullopt;
  }
  date.Day = 1;
  text.ConsumeDigits(2, date.Day);
  const auto month = std::find_if(
      MonthNames.begin(), MonthNames.end(), [&text](const char* name) { return text.Consume(name); });
  const std::size_t digits = text.Remaining().size();
  if (month == MonthNames.end() || (digits != 2 && digits != 4) || !text.ConsumeDigits(digits, date.Year)) {
    return std::nullopt;
  }
  date.Month = static_cast<int>(month - MonthNames.begin()) + 1;
  date.Year += digits == 4 ? 0 : date.Year >= 50 ? 1900 : 2000;
  const bool sound = text.Remaining().empty() && date.Year >= 1 && date.Day >= 1 &&
                     date.Day <= DaysOfMonth(date.Year, date.Month, calendar);
  return sound ? std::optional<Date>(date) : std::nullopt;
}

std::optional<Increment> ParseIncrement(const std::string& mixed)
{
  const std::string lower = LowerCase(mixed);
  TextScanner text(lower);
  int count = 0;
  if (!text.ConsumeDigits(7, count) || count == 0) {
    return std::nullopt;
  }
  static const std::map<std::string_view, Increment> units{{"mn", {1, false}}, {"hr", {60, false}},
      {"dy", {MinutesOfDay, false}}, {"mo", {1, true}}, {"yr", {12, true}}};
  const auto unit = units.find(text.Remaining());
  return unit == units.end()
             ? std::nullopt
             : std::optional<Increment>(Increment{count * unit->second.Count, unit->second.Months});
}

std::int64_t MinutesOfStep(
    const Date& start, const Increment& increment, std::int64_t index, Calendar calendar)
{
  if (!increment.Months) {
    return MinutesOf(start, calendar) + increment.Count * index;
  }
  const std::int64_t month = start.Year * std::int64_t(12) + start.Month - 1 + increment.Count * index;
  Date date = start;  // day 31 of a shorter month becomes the first of the next month
  date.Year = static_cast<int>(month / 12);
  date.Month = static_cast<int>(month % 12) + 1;
  return MinutesOf(date, calendar);
}

namespace {

constexpr std::int64_t MostVariables = 100'000;  ///< in all members of the ensemble together

constexpr double MostBytes = 4e18;  ///< of all times together; offsets up to this limit fit into 64 bits

void CheckTimes(const Descriptor& d)
{
  const TimeAxis& times = d.Times;
  if (times.Start.Day > DaysOfMonth(times.Start.Year, times.Start.Month, times.DateCalendar)) {
    throw FileError(d.Path, "a start date in a calendar of 365 days", "29 February", "Correct TDEF");
  }
  const std::int64_t months = times.Step.Months ? times.Step.Count : 0;
  const double years =
      (static_cast<double>(months) / 12 +
          static_cast<double>(times.Step.Months ? 0 : times.Step.Count) / (365.0 * 24 * 60)) *
      static_cast<double>(times.Count);
  if (times.Start.Year + years > 99'999) {
    throw FileError(d.Path, "times before the year 100,000", "later times", "Correct TDEF");
  }
}

void CheckAxes(const Descriptor& d)
{
  const auto check = [&d](const std::vector<double>& axis, const char* keyword, const char* advice) {
    const auto bad = std::adjacent_find(axis.begin(), axis.end(), std::greater_equal<>());
    if (bad != axis.end()) {
      throw FileError(d.Path, fmt::format("increasing positions in {}", keyword),
          fmt::format("{} before {}", *bad, *(bad + 1)), advice);
    }
  };
  check(d.X, "XDEF", "Write longitudes from west to east, above 360 if needed");
  check(d.Y, "YDEF",
      "Write latitudes from south to north, and use OPTIONS yrev if the file stores them from north to "
      "south");
}

void CheckLayout(const Descriptor& d)
{
  const std::string advice = "Convert the data with GrADS (set gxout fwrite)";
  if (d.VariablesOutsideTimes &&
      (d.Template || d.MemberCount() > 1 || d.Headers.Time > 0 || d.Headers.TimeTrailer > 0)) {
    throw FileError(d.Path, "all times of a variable (-1,20) in one file without time headers",
        "a template, an ensemble or time headers", advice);
  }
  if (d.Template && d.MemberCount() > 1 && !HasFilePerMember(d)) {
    throw FileError(d.Path, "%e in the template, because an ensemble needs one file per member",
        Quoted(d.DataFile), "Use %e in DSET for the member names of EDEF");
  }
}

void CheckSizes(const Descriptor& d)
{
  double fields = 0;
  for (const GradsVariable& variable : d.Variables) {
    fields += static_cast<double>(variable.Fields());
  }
  const HeaderSizes& extra = d.Headers;
  const double field = static_cast<double>(d.X.size()) * static_cast<double>(d.Y.size()) * 8 + 16 +
                       static_cast<double>(extra.Field + extra.FieldTrailer);
  const double time = field * fields + static_cast<double>(extra.Time + extra.TimeTrailer) + 16;
  const double all = (time * static_cast<double>(d.Times.Count)) * static_cast<double>(d.MemberCount());
  if (all > MostBytes) {
    throw FileError(d.Path, "sizes that a file can have",
        fmt::format("{} x {} points, {:.0f} fields, {} times", d.X.size(), d.Y.size(), fields, d.Times.Count),
        "Check XDEF, YDEF, TDEF, VARS and the headers");
  }
  const std::int64_t variables = static_cast<std::int64_t>(d.Variables.size()) * d.MemberCount();
  if (variables > MostVariables) {
    throw FileError(d.Path, fmt::format("at most {} variables times ensemble members", MostVariables),
        std::to_string(variables), "Check VARS and EDEF");
  }
}

/// Throws Error when axes do not increase, times are not dates, PatchIO does not support the layout, or sizes
/// exceed those of files.
void CheckDescriptor(const Descriptor& descriptor)
{
  CheckTimes(descriptor);
  CheckAxes(descriptor);
  CheckLayout(descriptor);
  CheckSizes(descriptor);
}

constexpr std::int64_t LongestAxis = std::int64_t(1) << 20;
constexpr std::int64_t MostTimes = 1'000'000;
constexpr std::int64_t LargestHeader = std::int64_t(1) << 40;

/// Parses a descriptor from its first to its last line.
class Parser : private LineReader
{
public:
  Parser(const std::string& path, const std::string& text) : LineReader(path, LinesOf(text))
  {
    this->Result.Text = text;
  }
  Descriptor Run();

private:
  using Handler = void (Parser::*)();
  static const std::map<std::string, Handler>& Handlers();

  bool AtKeyword() const { return Handlers().count(this->Word(0)) > 0; }

  void ParseData();
  void ParseOptions();
  void ParseByteSwapped() { this->SetByteOrder("byteswapped"); }
  void ParseUndefined() { this->Result.UndefinedValue = this->Number(1, "the value for missing data"); }
  void ParseX() { this->ParseAxis(this->Result.X, "longitudes"); }
  void ParseY() { this->ParseAxis(this->Result.Y, "latitudes"); }
  void ParseZ() { this->ParseAxis(this->Result.Z, "levels"); }
  void ParseAxis(std::vector<double>& axis, const char* noun);
  std::vector<double> ParseLinearAxis(std::int64_t count);
  std::vector<double> ParseListedAxis(std::int64_t count, const char* noun);
  std::vector<double> ParseGaussianAxis(std::int64_t count);
  void ParseTimes();
  void ParseMembers();
  void ParseMember();
  void ParseVariables();
  void ParseVariable();
  void ParseCodes(const std::string& codes);
  void ParseHeader();
  void RejectType();
  void ParseProjection();
  void ParseSubstitution();
  void RejectOtherFormat();

  void SetByteOrder(const std::string& word);
  void UseFileGrid();
  void CheckComplete() const;

  Descriptor Result;
  std::set<std::string> SeenKeywords;
  std::int64_t FileColumns = 0, FileRows = 0;  ///< grid of PDEF
};

const std::map<std::string, Parser::Handler>& Parser::Handlers()
{
  static const std::map<std::string, Handler> handlers{{"dset", &Parser::ParseData},
      {"options", &Parser::ParseOptions}, {"format", &Parser::ParseOptions},
      {"byteswapped", &Parser::ParseByteSwapped}, {"undef", &Parser::ParseUndefined},
      {"xdef", &Parser::ParseX}, {"ydef", &Parser::ParseY}, {"zdef", &Parser::ParseZ},
      {"tdef", &Parser::ParseTimes}, {"edef", &Parser::ParseMembers}, {"vars", &Parser::ParseVariables},
      {"fileheader", &Parser::ParseHeader}, {"theader", &Parser::ParseHeader},
      {"headerbytes", &Parser::ParseHeader}, {"trailerbytes", &Parser::ParseHeader},
      {"xyheader", &Parser::ParseHeader}, {"xytrailer", &Parser::ParseHeader}, {"dtype", &Parser::RejectType},
      {"pdef", &Parser::ParseProjection}, {"chsub", &Parser::ParseSubstitution},
      {"index", &Parser::RejectOtherFormat}, {"stnmap", &Parser::RejectOtherFormat}};
  return handlers;
}

Descriptor Parser::Run()
{
  this->Result.Path = this->Path;
  this->Result.BigEndian = !HostIsLittleEndian();
  while (this->LineIndex < this->Lines.size()) {
    const auto handler = Handlers().find(this->Word(0));
    if (!this->Current().Comment && handler != Handlers().end()) {
      this->SeenKeywords.insert(handler->first);
      (this->*handler->second)();
    }
    ++this->LineIndex;
  }
  this->CheckComplete();
  if (!this->Result.Projection.empty()) {
    this->UseFileGrid();
  }
  CheckDescriptor(this->Result);
  return std::move(this->Result);
}

void Parser::ParseData()
{
  constexpr std::size_t longest = 4096;
  const std::string& name = this->Current().Rest;
  if (name.empty() || name.size() > longest) {
    this->Fail("the name of the data file behind DSET",
        name.empty() ? "nothing" : fmt::format("a text of more than {} bytes", longest));
  }
  this->Result.DataFile = name[0] == '^' || name[0] == '$' ? name.substr(1) : name;
}

void Parser::SetByteOrder(const std::string& word)
{
  const bool host = !HostIsLittleEndian();
  this->Result.BigEndian = word == "big_endian" || (word == "byteswapped" && !host);
}

void Parser::ParseOptions()
{
  for (std::size_t i = 1; i < this->Words().size(); ++i) {
    const std::string word = this->Word(i);
    Descriptor& result = this->Result;
    result.Template = result.Template || word == "template";
    result.Sequential = result.Sequential || word == "sequential";
    result.RowsReversed = result.RowsReversed || word == "yrev";
    result.LevelsReversed = result.LevelsReversed || word == "zrev";
    result.Pascals = result.Pascals || word == "pascals";
    if (word == "365_day_calendar") {
      result.Times.DateCalendar = Calendar::Days365;
    } else if (word == "big_endian" || word == "little_endian" || word == "byteswapped") {
      this->SetByteOrder(word);
    }
  }
}

/// Parses the number of bytes of a header or trailer; see HeaderSizes.
void Parser::ParseHeader()
{
  static const std::map<std::string, std::int64_t HeaderSizes::*> headers{{"fileheader", &HeaderSizes::File},
      {"theader", &HeaderSizes::Time}, {"headerbytes", &HeaderSizes::Time},
      {"trailerbytes", &HeaderSizes::TimeTrailer}, {"xyheader", &HeaderSizes::Field},
      {"xytrailer", &HeaderSizes::FieldTrailer}};
  this->Result.Headers.*headers.at(this->Word(0)) = this->Integer(1, "bytes", 0, LargestHeader);
}

void Parser::ParseAxis(std::vector<double>& axis, const char* noun)
{
  const std::int64_t count = this->Integer(1, noun, 1, LongestAxis);
  const std::string mapping = this->Word(2);
  if (mapping == "linear") {
    axis = this->ParseLinearAxis(count);
  } else if (mapping == "levels") {
    axis = this->ParseListedAxis(count, noun);
  } else if (mapping.rfind("gaus", 0) == 0) {
    axis = this->ParseGaussianAxis(count);
  } else {
    this->Fail("LINEAR, LEVELS, or the name of a Gaussian grid (GAUST62, GAUSR15, GAUSR20, GAUSR30, GAUSR40)",
        this->QuotedWord(2), mapping == "mom32" ? "Write the latitudes as LEVELS" : "");
  }
}

std::vector<double> Parser::ParseLinearAxis(std::int64_t count)
{
  const double start = this->Number(3, "the first position");
  const double increment = this->Number(4, "the increment");
  std::vector<double> axis(count);
  for (std::int64_t i = 0; i < count; ++i) {
    axis[i] = start + static_cast<double>(i) * increment;
  }
  if (!std::isfinite(axis.back())) {
    this->Fail("positions that are numbers", Quoted(this->Current().Rest));
  }
  return axis;
}

/// Returns a list of numbers, which may span many lines; lines may begin with a minus sign.
std::vector<double> Parser::ParseListedAxis(std::int64_t count, const char* noun)
{
  std::vector<double> axis;
  std::size_t word = 3;
  const std::size_t first = this->LineIndex;
  while (static_cast<std::int64_t>(axis.size()) < count) {
    if (word < this->Words().size()) {
      const auto number = ParseNumber<double>(this->Words()[word]);
      if (!number) {
        this->Fail(fmt::format("{} {} from line {} on", count, noun, this->Lines[first].Number),
            fmt::format("{}, then {}", axis.size(), Quoted(this->Words()[word])));
      }
      axis.push_back(*number);
      ++word;
      continue;
    }
    word = 0;
    do {
      ++this->LineIndex;
    } while (this->LineIndex < this->Lines.size() && this->Current().Comment &&
             !ParseNumber<double>(this->Words()[0]));
    if (this->LineIndex >= this->Lines.size()) {
      this->Fail(fmt::format("{} {} from line {} on", count, noun, this->Lines[first].Number),
          fmt::format("{}, then the end of the file", axis.size()));
    }
  }
  return axis;
}

std::vector<double> Parser::ParseGaussianAxis(std::int64_t count)
{
  const int latitudes = LatitudesOf(this->Word(2));
  if (latitudes == 0) {
    this->Fail("GAUST62, GAUSR15, GAUSR20, GAUSR30 or GAUSR40", this->QuotedWord(2),
        "Write the latitudes as LEVELS");
  }
  const std::int64_t start = this->Integer(3, "the first latitude", 1, latitudes);
  if (start - 1 + count > latitudes) {
    this->Fail(fmt::format("at most {} latitudes, which the grid has from number {} on",
                   latitudes - start + 1, start),
        std::to_string(count));
  }
  const std::vector<double> all = GaussianLatitudes(latitudes);
  return {all.begin() + start - 1, all.begin() + start - 1 + count};
}

void Parser::ParseTimes()
{
  TimeAxis& times = this->Result.Times;
  times.Count = this->Integer(1, "times", 1, MostTimes);
  if (this->Word(2) != "linear") {
    this->Fail("LINEAR, the only type of TDEF", this->QuotedWord(2));
  }
  // The calendar may be set later, by OPTIONS, so leap days are checked at the end.
  const auto start = ParseDate(this->Word(3), Calendar::Gregorian);
  if (!start) {
    this->Fail("a date like 00:00Z02JAN1987 as word 4", this->QuotedWord(3));
  }
  const auto step = ParseIncrement(this->Word(4));
  if (!step && times.Count > 1) {
    this->Fail("an increment like 6hr (mn, hr, dy, mo or yr) as word 5", this->QuotedWord(4));
  }
  times.Start = *start;
  times.Step = step.value_or(Increment());
}

void Parser::ParseMembers()
{
  const std::int64_t count = this->Integer(1, "members", 1, MostVariables);
  const auto found = [this] { return static_cast<std::int64_t>(this->Result.Members.size()); };
  const bool listed = this->Word(2) != "names";
  for (std::size_t word = 3; !listed && found() < count;) {
    if (word < this->Words().size()) {
      this->Result.Members.push_back(this->Words()[word++]);
    } else if (word = 0; !this->NextLine() || this->AtKeyword()) {
      this->Fail(fmt::format("{} names of members", count), std::to_string(found()));
    }
  }
  while (listed && this->NextLine() && this->Word(0) != "endedef" && !this->AtKeyword()) {
    this->ParseMember();
  }
  if (found() != count || (listed && this->Word(0) != "endedef")) {
    this->Fail(fmt::format("{} members, then ENDEDEF", count), fmt::format("{} members", found()));
  }
}

/// Parses the name, number of times and first time of a member. All members must have the times of TDEF.
void Parser::ParseMember()
{
  this->Result.Members.push_back(this->Words()[0]);
  if (this->Words().size() > 1) {
    const std::int64_t count = this->Integer(1, "times", 1, MostTimes);
    const auto start = ParseDate(this->Word(2), Calendar::Gregorian);
    const TimeAxis& times = this->Result.Times;
    const bool same = this->SeenKeywords.count("tdef") > 0 && count == times.Count && start &&
                      MinutesOf(*start, Calendar::Gregorian) == MinutesOf(times.Start, Calendar::Gregorian);
    if (!same) {
      this->Fail("a member with the times of a TDEF before it", Quoted(this->Current().Rest),
          "Make one descriptor per member, because PatchIO does not support members with different times");
    }
  }
}

void Parser::ParseVariables()
{
  const std::int64_t count = this->Integer(1, "variables", 1, MostVariables);
  while (this->NextLine() && this->Word(0) != "endvars") {
    this->ParseVariable();
  }
  const auto found = static_cast<std::int64_t>(this->Result.Variables.size());
  if (this->LineIndex >= this->Lines.size() || found != count) {
    this->Fail(fmt::format("{} variables, then ENDVARS", count),
        fmt::format(
            "{}{}", found, this->LineIndex >= this->Lines.size() ? ", then the end of the file" : ""));
  }
}

/// Parses the name, number of levels, codes and description of a variable.
void Parser::ParseVariable()
{
  GradsVariable variable;
  const std::string& name = this->Words()[0];
  const std::size_t arrow = name.find("=>");
  variable.Name = PlainText(arrow == std::string::npos ? name : name.substr(arrow + 2));
  if (variable.Name.empty()) {
    this->Fail("the name of a variable", Quoted(name));
  }
  const std::string levels = this->Word(1).substr(0, this->Word(1).find(','));
  const auto count = ParseNumber<std::int64_t>(levels);
  if (!count || *count < 0 || *count > LongestAxis) {
    this->Fail(fmt::format("the number of levels of {}, 0 for a surface variable", Quoted(variable.Name)),
        this->QuotedWord(1));
  }
  variable.Levels = static_cast<int>(*count);
  this->ParseCodes(this->Word(2));
  for (std::size_t word = 3; word < this->Words().size(); ++word) {
    variable.LongName += (word > 3 ? " " : "") + PlainText(this->Words()[word]);
  }
  this->Result.Variables.push_back(variable);
}

/// Parses the codes of a variable: -1 with a special property, or others, such as 99, for plain floats.
void Parser::ParseCodes(const std::string& codes)
{
  static const std::map<std::string, ElementType> types{{"-1,40,1", ElementType::UInt8},
      {"-1,40,2", ElementType::UInt16}, {"-1,40,2,-1", ElementType::Int16}, {"-1,40,4", ElementType::Int32}};
  constexpr const char* advice =
      "Convert the data with GrADS (set gxout fwrite) to the usual order of plain numbers";
  const auto known = types.find(codes);
  const bool outside = codes == "-1,20";
  if (BeginsWith(codes, "-1,") && !outside && known == types.end()) {
    this->Fail("99; -1,20; -1,40,1; -1,40,2; -1,40,2,-1; or -1,40,4", Quoted(codes), advice);
  }
  const ElementType type = known == types.end() ? ElementType::Float32 : known->second;
  Descriptor& result = this->Result;
  if (!result.Variables.empty() && (outside != result.VariablesOutsideTimes || type != result.Type)) {
    this->Fail("the same codes as the variables before", Quoted(codes), advice);
  }
  result.VariablesOutsideTimes = outside;
  result.Type = type;
}

/// Throws Error for data with DTYPE, which PatchIO does not support.
void Parser::RejectType()
{
  const std::string type = this->Word(1);
  const bool byOthers = type == "netcdf" || type == "hdfsds" || type == "hdf5_grid";
  this->Fail("gridded binary data, without DTYPE", "DTYPE " + Quoted(type),
      type == "station" || type == "bufr" ? "Convert station data to a grid with GrADS (oacres) first"
      : byOthers ? "Open the data files themselves, with ParaView's reader for their format"
                 : "Convert the data with GrADS (set gxout fwrite) or with cdo");
}

/// Throws Error for a keyword of station or GRIB data.
void Parser::RejectOtherFormat()
{
  this->Fail("gridded binary data", Quoted(this->Words()[0]) + ", a keyword for station and GRIB data",
      "Convert the data with GrADS (set gxout fwrite) or with cdo");
}

void Parser::ParseProjection()
{
  this->FileColumns = this->Integer(1, "columns", 1, LongestAxis);
  this->FileRows = this->Integer(2, "rows", 1, LongestAxis);
  this->Result.Projection = PlainText(this->Word(3));
  if (this->Result.Projection.empty()) {
    this->Fail("a projection as word 4", "the end of the line");
  }
}

void Parser::ParseSubstitution()
{
  Substitution part;
  part.First = this->Integer(1, "the first step", 1, MostTimes);
  part.Last = this->Integer(2, "the last step", part.First, MostTimes);
  if (this->Words().size() < 4) {
    this->Fail("a text as word 4", "the end of the line");
  }
  part.Text = this->Words()[3];
  this->Result.Substitutions.push_back(part);
}

/// Replaces the axes by numbers: the data lie on the grid of the projection, and XDEF and YDEF describe only
/// the grid to which GrADS interpolates.
void Parser::UseFileGrid()
{
  const auto number = [](std::vector<double>& axis, std::int64_t count) {
    axis.resize(count);
    std::iota(axis.begin(), axis.end(), 0.0);
  };
  number(this->Result.X, this->FileColumns);
  number(this->Result.Y, this->FileRows);
  this->Result.Notes.push_back(
      fmt::format("{}: the data are on a projected grid of {} x {} points (PDEF {}), which PatchIO shows by "
                  "grid indices instead of longitude and latitude",
          this->Path, this->FileColumns, this->FileRows, this->Result.Projection));
}

/// Throws Error if the descriptor lacks a keyword that GrADS requires.
void Parser::CheckComplete() const
{
  std::string missing;
  for (const char* keyword : {"DSET", "XDEF", "YDEF", "ZDEF", "TDEF", "VARS"}) {
    missing += this->SeenKeywords.count(LowerCase(keyword)) > 0
                   ? ""
                   : (missing.empty() ? "" : ", ") + std::string(keyword);
  }
  if (!missing.empty()) {
    throw FileError(this->Path, "a GrADS descriptor with DSET, XDEF, YDEF, ZDEF, TDEF and VARS",
        "no " + missing, "Check whether the file is complete");
  }
}

}  // namespace

Descriptor ReadDescriptor(const std::string& path)
{
  return ParseDescriptor(path, ReadText(path));
}

Descriptor ParseDescriptor(const std::string& path, const std::string& text)
{
  return Parser(AbsolutePath(path), text).Run();
}

}  // namespace patchio::grads
