// A GrADS descriptor file, with the calendar of its times and the latitudes of Gaussian grids.
#pragma once

#include "Catalog/Location.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::grads {

/// A date and time of day.
struct Date
{
  int Year = 1, Month = 1, Day = 1, Hour = 0, Minute = 0;
};

/// The calendar: real years, or years of 365 days.
enum class Calendar
{
  Gregorian,
  Days365
};

/// Returns the minutes since the beginning of 1970 in this calendar; negative before.
std::int64_t MinutesOf(const Date& date, Calendar calendar);
/// Returns the date for a number of minutes from MinutesOf().
Date DateOf(std::int64_t minutes, Calendar calendar);
int DaysOfMonth(int year, int month, Calendar calendar);
/// Returns the day of the year, 1 for the first of January.
int DayOfYear(const Date& date, Calendar calendar);

/// Returns a date as text: "1987-01-02 06:00".
std::string TextOf(const Date& date);
/// Returns the name of a month in GrADS: "jan".
const char* MonthName(int month);

/// Parses [hh[:mm]Z][dd]mmmyyyy, such as 06:30Z02jan1987 or feb87. Years of two digits mean 1950 .. 2049.
/// Returns nothing if the text is not a date.
std::optional<Date> ParseDate(const std::string& text, Calendar calendar);

/// The time between two steps.
struct Increment
{
  std::int64_t Count = 1;
  bool Months = false;  ///< true: Count is in calendar months; false: in minutes
};

/// Parses a number with the unit mn, hr, dy, mo or yr, such as 6hr. Returns nothing for other texts.
std::optional<Increment> ParseIncrement(const std::string& text);

/// Returns the time of step `index`, from 0, in minutes (see MinutesOf()). As in GrADS, day 31 of a month of
/// 30 days is the 1st of the next month.
std::int64_t MinutesOfStep(
    const Date& start, const Increment& increment, std::int64_t index, Calendar calendar);

/// A variable of a descriptor.
struct GradsVariable
{
  std::string Name;
  std::string LongName;  ///< the description
  int Levels = 0;        ///< 0: a field without a level
  /// Returns the number of horizontal fields, which follow each other in the file.
  std::int64_t Fields() const { return this->Levels > 0 ? this->Levels : 1; }
};

/// One line of CHSUB: `Text` replaces %ch for steps First to Last, counted from 1.
struct Substitution
{
  std::int64_t First = 1, Last = 1;
  std::string Text;
};

/// The times of a descriptor's steps, from TDEF.
struct TimeAxis
{
  std::int64_t Count = 1;
  Date Start;
  Increment Step;
  Calendar DateCalendar = Calendar::Gregorian;

  /// Returns the time of step `index`, from 0, in minutes; see MinutesOf().
  std::int64_t Minutes(std::int64_t index) const
  {
    return MinutesOfStep(this->Start, this->Step, index, this->DateCalendar);
  }
  Date DateAt(std::int64_t index) const { return DateOf(this->Minutes(index), this->DateCalendar); }
};

/// The sizes in bytes of the headers and trailers in a data file.
struct HeaderSizes
{
  std::int64_t File = 0;          ///< FILEHEADER, once
  std::int64_t Time = 0;          ///< THEADER, before each time
  std::int64_t TimeTrailer = 0;   ///< TRAILERBYTES, after each time
  std::int64_t Field = 0;         ///< XYHEADER, before each horizontal field
  std::int64_t FieldTrailer = 0;  ///< XYTRAILER, after each horizontal field
};

/// A consistent descriptor. Products of the sizes of a descriptor do not overflow.
struct Descriptor
{
  std::string Path;      ///< absolute
  std::string Text;      ///< the whole descriptor
  std::string DataFile;  ///< name of the data file, or template of names; relative to the descriptor's folder
  bool Template = false;
  bool Sequential = false;  ///< each horizontal field is a Fortran record
  bool BigEndian = false;
  bool RowsReversed = false;           ///< rows from north to south
  bool LevelsReversed = false;         ///< levels of each variable from last to first
  bool VariablesOutsideTimes = false;  ///< all times of a variable come before the next variable (-1,20)
  ElementType Type = ElementType::Float32;
  std::optional<double> UndefinedValue;  ///< from UNDEF
  HeaderSizes Headers;
  std::vector<double> X, Y;  ///< positions along the axes of the file's grid, increasing
  std::vector<double> Z;     ///< levels as listed
  bool Pascals = false;      ///< OPTIONS has pascals: pressures in Z are in Pa
  TimeAxis Times;
  std::vector<std::string> Members;  ///< names of the ensemble's members; empty: no ensemble
  std::vector<GradsVariable> Variables;
  std::vector<Substitution> Substitutions;
  std::string Projection;  ///< the projection in PDEF; empty: X and Y are longitudes and latitudes
  std::vector<std::string> Notes;

  /// Returns the size of one horizontal field in bytes, without header and trailer.
  std::int64_t FieldBytes() const
  {
    return static_cast<std::int64_t>(this->X.size() * this->Y.size() * SizeOf(this->Type));
  }
  /// Returns the number of the ensemble's members; 1 without an ensemble.
  std::int64_t MemberCount() const
  {
    return this->Members.empty() ? 1 : static_cast<std::int64_t>(this->Members.size());
  }
};

/// Reads a descriptor. Throws Error, with the number of a faulty line, when the file is not a descriptor of
/// gridded binary data. Throws Error when the file contradicts itself.
Descriptor ReadDescriptor(const std::string& path);
/// Parses the text of a descriptor that was read before. Throws Error like ReadDescriptor().
Descriptor ParseDescriptor(const std::string& path, const std::string& text);

/// Returns the number of latitudes of a grid that GrADS knows by name, such as gaust62 (in lower case); 0 for
/// other names.
int LatitudesOf(const std::string& grid);

/// Returns the latitudes of a Gaussian grid in degrees, from south to north. `count`: number of
/// latitudes, at least 1.
std::vector<double> GaussianLatitudes(int count);

}  // namespace patchio::grads
