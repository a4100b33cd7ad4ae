#include "Formats/GRADS/GradsDescriptor.h"

#include "Formats/GRADS/GradsGaussian.h"
#include "Formats/GRADS/GradsText.h"
#include "Support/ByteOrder.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::grads {
namespace {

constexpr std::int64_t LongestAxis = std::int64_t(1) << 20;
constexpr std::int64_t MostTimes = 1'000'000;
constexpr std::int64_t MostVariables = 100'000;  ///< of all members of the ensemble
constexpr std::int64_t LargestHeader = std::int64_t(1) << 40;
constexpr double MostBytes = 4e18;  ///< of all times; offsets are exact below

/// A word that a user wrote, as it may be shown.
std::string Quoted(const std::string& word)
{
  constexpr std::size_t longest = 60;
  return "'" + PlainText(word.size() > longest ? word.substr(0, longest) + "..." : word) + "'";
}

/// One descriptor from its first to its last line.
class Parser
{
public:
  Parser(const std::string& path, const std::string& text) : Path(path), Lines(LinesOf(text))
  {
    this->Result.Text = text;
  }
  Descriptor Run();

private:
  using Handler = void (Parser::*)();
  static const std::map<std::string, Handler>& Handlers();

  const Line& Current() const { return this->Lines[this->At]; }
  const std::vector<std::string>& Words() const { return this->Current().Words; }
  /// Word `index` of the line, in lower case; empty where there is none.
  std::string Word(std::size_t index) const
  {
    return this->At < this->Lines.size() && index < this->Words().size() ? LowerCase(this->Words()[index])
                                                                         : std::string();
  }
  [[noreturn]] void Fail(
      const std::string& expected, const std::string& found, const std::string& advice = {}) const;
  std::int64_t Integer(std::size_t index, const char* what, std::int64_t least, std::int64_t most) const;
  double Number(std::size_t index, const char* what) const;
  bool NextLine();
  bool AtKeyword() const { return Handlers().count(this->Word(0)) > 0; }

  void ParseData();
  void ParseOptions();
  void ParseByteSwapped() { this->SetByteOrder("byteswapped"); }
  void ParseUndefined();
  void ParseX() { this->ParseAxis(this->Result.X, "longitudes"); }
  void ParseY() { this->ParseAxis(this->Result.Y, "latitudes"); }
  void ParseZ() { this->ParseAxis(this->Result.Z, "levels"); }
  void ParseAxis(std::vector<double>& axis, const char* what);
  std::vector<double> Linear(std::int64_t count);
  std::vector<double> Listed(std::int64_t count, const char* what);
  std::vector<double> Gaussian(std::int64_t count);
  void ParseTimes();
  void ParseMembers();
  void ParseMember();
  void ParseVariables();
  void ParseVariable();
  void ParseCodes(const std::string& codes);
  void ParseFileHeader() { this->Result.Extra.File = this->Integer(1, "bytes", 0, LargestHeader); }
  void ParseTimeHeader() { this->Result.Extra.Time = this->Integer(1, "bytes", 0, LargestHeader); }
  void ParseTimeTrailer() { this->Result.Extra.TimeTrailer = this->Integer(1, "bytes", 0, LargestHeader); }
  void ParseFieldHeader() { this->Result.Extra.Field = this->Integer(1, "bytes", 0, LargestHeader); }
  void ParseFieldTrailer() { this->Result.Extra.FieldTrailer = this->Integer(1, "bytes", 0, LargestHeader); }
  void ParseType();
  void ParseProjection();
  void ParseSubstitution();
  void ParseOtherFormat();

  void SetByteOrder(const std::string& word);
  void UseFileGrid();
  void CheckComplete() const;
  void CheckAxes() const;
  void CheckSizes() const;
  void CheckLayout() const;
  void NameVariables();

  std::string Path;
  std::vector<Line> Lines;
  std::size_t At = 0;
  Descriptor Result;
  std::set<std::string> Seen;
  std::int64_t FileX = 0, FileY = 0;  ///< of PDEF
  std::optional<int> TypeCode;        ///< of all variables
};

const std::map<std::string, Parser::Handler>& Parser::Handlers()
{
  static const std::map<std::string, Handler> handlers{{"dset", &Parser::ParseData},
      {"options", &Parser::ParseOptions}, {"format", &Parser::ParseOptions},
      {"byteswapped", &Parser::ParseByteSwapped}, {"undef", &Parser::ParseUndefined},
      {"xdef", &Parser::ParseX}, {"ydef", &Parser::ParseY}, {"zdef", &Parser::ParseZ},
      {"tdef", &Parser::ParseTimes}, {"edef", &Parser::ParseMembers}, {"vars", &Parser::ParseVariables},
      {"fileheader", &Parser::ParseFileHeader}, {"theader", &Parser::ParseTimeHeader},
      {"headerbytes", &Parser::ParseTimeHeader}, {"trailerbytes", &Parser::ParseTimeTrailer},
      {"xyheader", &Parser::ParseFieldHeader}, {"xytrailer", &Parser::ParseFieldTrailer},
      {"dtype", &Parser::ParseType}, {"pdef", &Parser::ParseProjection},
      {"chsub", &Parser::ParseSubstitution}, {"index", &Parser::ParseOtherFormat},
      {"stnmap", &Parser::ParseOtherFormat}};
  return handlers;
}

void Parser::Fail(const std::string& expected, const std::string& found, const std::string& advice) const
{
  const std::size_t number = this->At < this->Lines.size() ? this->Current().Number : 0;
  throw FileError(this->Path + (number > 0 ? fmt::format(", line {}", number) : ""), expected, found, advice);
}

std::int64_t Parser::Integer(std::size_t index, const char* what, std::int64_t least, std::int64_t most) const
{
  const auto number =
      index < this->Words().size() ? IntegerOf(this->Words()[index]) : std::optional<std::int64_t>();
  if (!number || *number < least || *number > most) {
    this->Fail(fmt::format("a number of {} from {} to {} as word {}", what, least, most, index + 1),
        index < this->Words().size() ? Quoted(this->Words()[index]) : "the end of the line");
  }
  return *number;
}

double Parser::Number(std::size_t index, const char* what) const
{
  const auto number = index < this->Words().size() ? NumberOf(this->Words()[index]) : std::optional<double>();
  if (!number) {
    this->Fail(fmt::format("a number, {}, as word {}", what, index + 1),
        index < this->Words().size() ? Quoted(this->Words()[index]) : "the end of the line");
  }
  return *number;
}

/// Goes on to the next line that is no comment; false at the end.
bool Parser::NextLine()
{
  do {
    ++this->At;
  } while (this->At < this->Lines.size() && this->Current().Comment);
  return this->At < this->Lines.size();
}

Descriptor Parser::Run()
{
  this->Result.Path = this->Path;
  this->Result.BigEndian = !HostIsLittleEndian();
  while (this->At < this->Lines.size()) {
    const auto handler = Handlers().find(this->Word(0));
    if (!this->Current().Comment && handler != Handlers().end()) {
      this->Seen.insert(handler->first);
      (this->*handler->second)();
    }
    ++this->At;
  }
  this->CheckComplete();
  if (!this->Result.Projection.empty()) {
    this->UseFileGrid();
  }
  this->CheckAxes();
  this->CheckLayout();
  this->CheckSizes();
  this->NameVariables();
  return std::move(this->Result);
}

void Parser::ParseData()
{
  constexpr std::size_t longest = 4096;
  const std::string& name = this->Current().Rest;
  if (name.empty() || name.size() > longest) {
    this->Fail("the name of the data file behind DSET", name.empty() ? "nothing" : "a text without end");
  }
  this->Result.Data = name[0] == '^' || name[0] == '$' ? name.substr(1) : name;
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
      result.Times.Days = Calendar::Days365;
    } else if (word == "big_endian" || word == "little_endian" || word == "byteswapped") {
      this->SetByteOrder(word);
    }
  }
}

void Parser::ParseUndefined()
{
  this->Result.Undefined = this->Number(1, "the value that stands for none");
}

void Parser::ParseAxis(std::vector<double>& axis, const char* what)
{
  const std::int64_t count = this->Integer(1, what, 1, LongestAxis);
  const std::string mapping = this->Word(2);
  if (mapping == "linear") {
    axis = this->Linear(count);
  } else if (mapping == "levels") {
    axis = this->Listed(count, what);
  } else if (mapping.rfind("gaus", 0) == 0) {
    axis = this->Gaussian(count);
  } else {
    this->Fail("LINEAR, LEVELS, or the name of a Gaussian grid (GAUST62, GAUSR15, GAUSR20, GAUSR30, GAUSR40)",
        mapping.empty() ? "the end of the line" : Quoted(mapping),
        mapping == "mom32" ? "Write the latitudes as LEVELS" : "");
  }
}

std::vector<double> Parser::Linear(std::int64_t count)
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

/// Numbers may go on over many lines, which may begin with a minus sign.
std::vector<double> Parser::Listed(std::int64_t count, const char* what)
{
  std::vector<double> axis;
  std::size_t word = 3;
  const std::size_t first = this->At;
  while (static_cast<std::int64_t>(axis.size()) < count) {
    if (word < this->Words().size()) {
      const auto number = NumberOf(this->Words()[word]);
      if (!number) {
        this->Fail(fmt::format("{} {} from line {} on", count, what, this->Lines[first].Number),
            fmt::format("{}, then {}", axis.size(), Quoted(this->Words()[word])));
      }
      axis.push_back(*number);
      ++word;
      continue;
    }
    word = 0;
    do {
      ++this->At;
    } while (
        this->At < this->Lines.size() && this->Current().Comment && !NumberOf(this->Words()[0]).has_value());
    if (this->At >= this->Lines.size()) {
      this->Fail(fmt::format("{} {} from line {} on", count, what, this->Lines[first].Number),
          fmt::format("{}, then the end of the file", axis.size()));
    }
  }
  return axis;
}

std::vector<double> Parser::Gaussian(std::int64_t count)
{
  constexpr std::array<std::pair<const char*, int>, 5> grids{
      {{"gaust62", 94}, {"gausr15", 40}, {"gausr20", 52}, {"gausr30", 80}, {"gausr40", 102}}};
  const auto grid =
      std::find_if(grids.begin(), grids.end(), [&](const auto& g) { return this->Word(2) == g.first; });
  if (grid == grids.end()) {
    this->Fail("GAUST62, GAUSR15, GAUSR20, GAUSR30 or GAUSR40", Quoted(this->Words()[2]),
        "Write the latitudes as LEVELS");
  }
  const std::int64_t start = this->Integer(3, "the first latitude", 1, grid->second);
  if (start - 1 + count > grid->second) {
    this->Fail(fmt::format("at most {} latitudes, which the grid has from number {} on",
                   grid->second - start + 1, start),
        std::to_string(count));
  }
  const std::vector<double> all = GaussianLatitudes(grid->second);
  return {all.begin() + start - 1, all.begin() + start - 1 + count};
}

void Parser::ParseTimes()
{
  TimeAxis& times = this->Result.Times;
  times.Count = this->Integer(1, "times", 1, MostTimes);
  if (this->Word(2) != "linear") {
    this->Fail("LINEAR, the only kind of TDEF", Quoted(this->Word(2)));
  }
  // OPTIONS may follow: days of leap years are judged once all is read.
  const auto start = ParseDate(this->Word(3), Calendar::Gregorian);
  if (!start) {
    this->Fail("a date like 00:00Z02JAN1987 as word 4", Quoted(this->Word(3)));
  }
  const auto step = ParseIncrement(this->Word(4));
  if (!step && times.Count > 1) {
    this->Fail("an increment like 6hr (mn, hr, dy, mo or yr) as word 5", Quoted(this->Word(4)));
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

/// Name, number of times, first time. All members must have the times of TDEF.
void Parser::ParseMember()
{
  this->Result.Members.push_back(this->Words()[0]);
  if (this->Words().size() > 1) {
    const std::int64_t count = this->Integer(1, "times", 1, MostTimes);
    const auto start = ParseDate(this->Word(2), Calendar::Gregorian);
    const TimeAxis& times = this->Result.Times;
    const bool same = this->Seen.count("tdef") > 0 && count == times.Count && start &&
                      MinutesOf(*start, Calendar::Gregorian) == MinutesOf(times.Start, Calendar::Gregorian);
    if (!same) {
      this->Fail("a member with the times of a TDEF before it", Quoted(this->Current().Rest),
          "Members with times of their own cannot be read; make a descriptor for each");
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
  if (this->At >= this->Lines.size() || found != count) {
    this->Fail(fmt::format("{} variables, then ENDVARS", count),
        fmt::format("{}{}", found, this->At >= this->Lines.size() ? ", then the end of the file" : ""));
  }
}

/// Name, number of levels, codes, description.
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
  const auto count = IntegerOf(levels);
  if (!count || *count < 0 || *count > LongestAxis) {
    this->Fail(fmt::format("the number of levels of {}, 0 for none", Quoted(variable.Name)),
        this->Word(1).empty() ? "the end of the line" : Quoted(this->Word(1)));
  }
  variable.Levels = static_cast<int>(*count);
  this->ParseCodes(this->Word(2));
  for (std::size_t word = 3; word < this->Words().size(); ++word) {
    variable.LongName += (word > 3 ? " " : "") + PlainText(this->Words()[word]);
  }
  this->Result.Variables.push_back(variable);
}

/// 99, or -1 with what is unusual about the variable.
void Parser::ParseCodes(const std::string& codes)
{
  constexpr const char* advice =
      "Convert the data with GrADS (set gxout fwrite) to the usual order of plain numbers";
  if (codes.rfind("-1,", 0) != 0) {
    if (!this->Result.VariablesOutsideTimes && this->TypeCode.value_or(0) == 0) {
      this->TypeCode = 0;
      return;
    }
    this->Fail("codes like those of the variables before", Quoted(codes), advice);
  }
  static const std::map<std::string, ElementType> types{{"1", ElementType::UInt8}, {"2", ElementType::UInt16},
      {"2,-1", ElementType::Int16}, {"4", ElementType::Int32}};
  const std::string kind = codes.substr(3);
  const bool first = this->Result.Variables.empty();
  if (kind == "20") {
    if (!first && !this->Result.VariablesOutsideTimes) {
      this->Fail("the same order (-1,20) in all variables", "variables of both", advice);
    }
    this->Result.VariablesOutsideTimes = true;
    return;
  }
  const auto type = kind.rfind("40,", 0) == 0 ? types.find(kind.substr(3)) : types.end();
  if (type == types.end() || this->Result.VariablesOutsideTimes) {
    this->Fail("99, -1,20 or -1,40 with 1, 2, 2,-1 or 4", Quoted(codes), advice);
  }
  const int code = static_cast<int>(type->second) + 1;
  if (!first && this->TypeCode != code) {
    this->Fail("the same type of numbers in all variables", Quoted(codes), advice);
  }
  this->TypeCode = code;
  this->Result.Type = type->second;
}

void Parser::ParseType()
{
  const std::string type = this->Word(1);
  const bool byOthers = type == "netcdf" || type == "hdfsds" || type == "hdf5_grid";
  this->Fail("gridded binary data, without DTYPE", "DTYPE " + Quoted(type),
      type == "station" || type == "bufr" ? "Station data cannot be read; grid them with GrADS (oacres) first"
      : byOthers                          ? "Open the data files themselves, with ParaView's reader for them"
                                          : "Convert the data with GrADS (set gxout fwrite) or with cdo");
}

void Parser::ParseOtherFormat()
{
  this->Fail("gridded binary data", Quoted(this->Words()[0]) + ", which is for station and GRIB data",
      "Convert the data with GrADS (set gxout fwrite) or with cdo");
}

void Parser::ParseProjection()
{
  this->FileX = this->Integer(1, "columns", 1, LongestAxis);
  this->FileY = this->Integer(2, "rows", 1, LongestAxis);
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

/// The data lie on the grid of the projection; XDEF and YDEF are only what GrADS interpolates them to.
void Parser::UseFileGrid()
{
  const auto indices = [](std::int64_t count) {
    std::vector<double> axis(count);
    for (std::int64_t i = 0; i < count; ++i) {
      axis[i] = static_cast<double>(i);
    }
    return axis;
  };
  this->Result.X = indices(this->FileX);
  this->Result.Y = indices(this->FileY);
  this->Result.Notes.push_back(
      fmt::format("{}: the data lie on a grid of {} x {} points of their own (PDEF {}), "
                  "which is shown by its indices, not by longitude and latitude",
          this->Path, this->FileX, this->FileY, this->Result.Projection));
}

void Parser::CheckComplete() const
{
  std::string missing;
  for (const char* keyword : {"dset", "xdef", "ydef", "zdef", "tdef", "vars"}) {
    missing += this->Seen.count(keyword) > 0 ? "" : (missing.empty() ? "" : ", ") + std::string(keyword);
  }
  if (!missing.empty()) {
    throw FileError(this->Path, "a GrADS descriptor with DSET, XDEF, YDEF, ZDEF, TDEF and VARS",
        "none of " + missing, "Check whether the file is complete");
  }
  const TimeAxis& times = this->Result.Times;
  if (times.Start.Day > DaysOfMonth(times.Start.Year, times.Start.Month, times.Days)) {
    throw FileError(
        this->Path, "a first time in a calendar of 365 days", "the 29th of February", "Correct TDEF");
  }
  const std::int64_t months = times.Step.Months ? times.Step.Count : 0;
  const double years =
      (static_cast<double>(months) / 12 +
          static_cast<double>(times.Step.Months ? 0 : times.Step.Count) / (365.0 * 24 * 60)) *
      static_cast<double>(times.Count);
  if (times.Start.Year + years > 99'999) {
    throw FileError(this->Path, "times before the year 100,000", "later ones", "Correct TDEF");
  }
}

void Parser::CheckAxes() const
{
  const auto check = [this](const std::vector<double>& axis, const char* keyword, const char* advice) {
    const auto bad = std::adjacent_find(axis.begin(), axis.end(), std::greater_equal<>());
    if (bad != axis.end()) {
      throw FileError(this->Path, fmt::format("increasing positions in {}", keyword),
          fmt::format("{} before {}", *bad, *(bad + 1)), advice);
    }
  };
  check(this->Result.X, "XDEF", "Write longitudes from west to east, beyond 360 if need be");
  check(this->Result.Y, "YDEF",
      "Write latitudes from south to north; where the file holds them otherwise, OPTIONS yrev says so");
}

void Parser::CheckLayout() const
{
  const Descriptor& d = this->Result;
  const std::string advice = "Convert the data with GrADS (set gxout fwrite)";
  if (d.VariablesOutsideTimes &&
      (d.Template || d.MemberCount() > 1 || d.Extra.Time > 0 || d.Extra.TimeTrailer > 0)) {
    throw FileError(this->Path, "all times of a variable (-1,20) in one file without headers of times",
        "a template, an ensemble or such headers", advice);
  }
  const bool byMember = d.Template && d.Data.find("%e") != std::string::npos;
  if (d.Template && d.MemberCount() > 1 && !byMember) {
    throw FileError(this->Path, "%e in the template, as an ensemble is over files of one member each",
        Quoted(d.Data), "GrADS cannot read such binary data either: write EDEF's names into DSET with %e");
  }
}

void Parser::CheckSizes() const
{
  const Descriptor& d = this->Result;
  double fields = 0;
  for (const GradsVariable& variable : d.Variables) {
    fields += static_cast<double>(variable.Fields());
  }
  const Headers& extra = d.Extra;
  const double field = static_cast<double>(d.X.size()) * static_cast<double>(d.Y.size()) * 8 + 16 +
                       static_cast<double>(extra.Field + extra.FieldTrailer);
  const double time = field * fields + static_cast<double>(extra.Time + extra.TimeTrailer) + 16;
  const double all = (time * static_cast<double>(d.Times.Count)) * static_cast<double>(d.MemberCount());
  if (all > MostBytes) {
    throw FileError(this->Path, "sizes that a file can have",
        fmt::format("{} x {} points, {:.0f} fields, {} times", d.X.size(), d.Y.size(), fields, d.Times.Count),
        "Check XDEF, YDEF, TDEF, VARS and the headers");
  }
  const std::int64_t variables = static_cast<std::int64_t>(d.Variables.size()) * d.MemberCount();
  if (variables > MostVariables) {
    throw FileError(this->Path,
        fmt::format("at most {} variables, times members of the ensemble", MostVariables),
        std::to_string(variables), "Check VARS and EDEF");
  }
}

/// Each name once: ParaView knows arrays by their names alone.
void Parser::NameVariables()
{
  std::set<std::string> taken;
  std::map<std::string, int> numbers;  // so that many of one name take no time that grows with their square
  for (GradsVariable& variable : this->Result.Variables) {
    const std::string stem = variable.Name;
    while (!taken.insert(variable.Name).second) {
      variable.Name = fmt::format("{}_{}", stem, ++numbers.try_emplace(stem, 1).first->second);
    }
  }
}

}  // namespace

std::int64_t TimeAxis::IndexOf(std::int64_t minutes) const
{
  std::int64_t low = 0, high = this->Count;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    this->Minutes(middle) < minutes ? low = middle + 1 : high = middle;
  }
  return low < this->Count && this->Minutes(low) == minutes ? low : -1;
}

Descriptor ReadDescriptor(const std::string& path)
{
  return ParseDescriptor(path, ReadText(path));
}

Descriptor ParseDescriptor(const std::string& path, const std::string& text)
{
  return Parser(fs::absolute(path).lexically_normal().string(), text).Run();
}

}  // namespace patchio::grads
