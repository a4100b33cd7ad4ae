// A GrADS descriptor file, and the calendar of its times.
#pragma once

#include "Catalog/Extent.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::grads {

/// Dates as GrADS writes them, and times counted in minutes.
struct Date
{
  int Year = 1, Month = 1, Day = 1, Hour = 0, Minute = 0;
};

/// Days of real years, or 365 in each.
enum class Calendar
{
  Gregorian,
  Days365
};

/// Minutes from the beginning of 1970 in this calendar; less than 0 before.
std::int64_t MinutesOf(const Date& date, Calendar calendar);
Date DateOf(std::int64_t minutes, Calendar calendar);
int DaysOfMonth(int year, int month, Calendar calendar);
/// 1 on the first of January.
int DayOfYear(const Date& date, Calendar calendar);

/// "1987-01-02 06:00".
std::string TextOf(const Date& date);
/// "jan".
const char* MonthName(int month);

/// [hh[:mm]Z][dd]mmmyyyy, such as 06:30Z02jan1987 or feb87 (years of two digits lie in 1950 .. 2049). Nothing
/// when the text is no such date.
std::optional<Date> ParseDate(const std::string& text, Calendar calendar);

/// Time between two steps.
struct Increment
{
  std::int64_t Count = 1;
  bool Months = false;  ///< of calendar months; else of minutes
};

/// A count and one of mn, hr, dy, mo and yr: 6hr. Nothing when the text is none.
std::optional<Increment> ParseIncrement(const std::string& text);

/// Minutes of step `index`, 0 the first. The 31st of a month of 30 days is the 1st of the
/// next, as in GrADS.
std::int64_t MinutesOfStep(
    const Date& start, const Increment& increment, std::int64_t index, Calendar calendar);

/// What a GrADS descriptor (.ctl) says: grid, times, variables, and how the data files are laid out.
struct GradsVariable
{
  std::string Name;      ///< different from all others
  std::string LongName;  ///< the description
  int Levels = 0;        ///< 0: a field without a level
  /// Horizontal fields, one after another.
  std::int64_t Fields() const { return this->Levels > 0 ? this->Levels : 1; }
};

/// A part of CHSUB: `Text` stands for %ch from step First to Last, 1 the first.
struct Substitution
{
  std::int64_t First = 1, Last = 1;
  std::string Text;
};

struct TimeAxis
{
  std::int64_t Count = 1;
  Date Start;
  Increment Step;
  Calendar Days = Calendar::Gregorian;

  std::int64_t Minutes(std::int64_t index) const
  {
    return MinutesOfStep(this->Start, this->Step, index, this->Days);
  }
  Date DateAt(std::int64_t index) const { return DateOf(this->Minutes(index), this->Days); }
};

/// Bytes beside the values.
struct Headers
{
  std::int64_t File = 0;         ///< FILEHEADER, once
  std::int64_t Time = 0;         ///< THEADER, before each time
  std::int64_t TimeTrailer = 0;  ///< TRAILERBYTES, after each time
  std::int64_t Field = 0;        ///< XYHEADER, before each horizontal field
  std::int64_t FieldTrailer = 0;
};

/// A descriptor whose parts fit each other. All sizes are such that products of them do not overflow.
struct Descriptor
{
  std::string Path;  ///< absolute
  std::string Text;  ///< all of it
  std::string Data;  ///< name of the data file, or template for it; from the descriptor's folder on
  bool Template = false;
  bool Sequential = false;  ///< each horizontal field is a record of Fortran
  bool BigEndian = false;
  bool RowsReversed = false;    ///< north to south
  bool LevelsReversed = false;  ///< last level first, in each variable
  bool VariablesOutsideTimes = false;
  ElementType Type = ElementType::Float32;
  std::optional<double> Undefined;
  Headers Extra;
  std::vector<double> X, Y;  ///< of the file's grid; increasing
  std::vector<double> Z;     ///< levels as they are listed
  bool Pascals = false;      ///< unit of Z, if it is a pressure
  TimeAxis Times;
  std::vector<std::string> Members;  ///< of the ensemble; empty: there is none
  std::vector<GradsVariable> Variables;
  std::vector<Substitution> Substitutions;
  std::string Projection;  ///< PDEF's word; empty: X and Y are longitudes and latitudes
  std::vector<std::string> Notes;

  std::int64_t FieldBytes() const
  {
    return static_cast<std::int64_t>(this->X.size() * this->Y.size() * SizeOf(this->Type));
  }
  /// Members of the ensemble, 1 where there is none.
  std::int64_t MemberCount() const
  {
    return this->Members.empty() ? 1 : static_cast<std::int64_t>(this->Members.size());
  }
};

/// Throws Error, with the number of the line, when the file is no descriptor of gridded binary data or
/// contradicts itself.
Descriptor ReadDescriptor(const std::string& path);
/// The same of a file that was read before.
Descriptor ParseDescriptor(const std::string& path, const std::string& text);

}  // namespace patchio::grads
