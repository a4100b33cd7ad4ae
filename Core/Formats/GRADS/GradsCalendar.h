// Dates as GrADS writes them, and times counted in minutes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace patchio::grads {

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

}  // namespace patchio::grads
