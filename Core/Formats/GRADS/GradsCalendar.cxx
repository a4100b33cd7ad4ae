#include "Formats/GRADS/GradsCalendar.h"

#include "Formats/GRADS/GradsText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace patchio::grads {
namespace {

constexpr std::array<const char*, 12> MonthNames{
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<int, 12> MonthDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
constexpr std::int64_t MinutesOfDay = 24 * 60;

bool IsLeap(int year, Calendar calendar)
{
  return calendar == Calendar::Gregorian && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/// Days of all years before this one, counted from year 1.
std::int64_t DaysBefore(int year, Calendar calendar)
{
  const std::int64_t years = year - 1;
  return years * 365 + (calendar == Calendar::Gregorian ? years / 4 - years / 100 + years / 400 : 0);
}

int TakeNumber(const std::string& text, std::size_t& at, std::size_t most)
{
  int number = -1;
  for (std::size_t end = at + most; at < end && at < text.size() && IsDigit(text[at]); ++at) {
    number = std::max(number, 0) * 10 + (text[at] - '0');
  }
  return number;
}

/// The part before Z; 0 where it says nothing.
bool TakeHour(const std::string& text, std::size_t& at, Date& date)
{
  if (text.find('z') == std::string::npos) {
    return true;
  }
  date.Hour = TakeNumber(text, at, 2);
  if (at < text.size() && text[at] == ':') {
    ++at;
    date.Minute = TakeNumber(text, at, 2);
  }
  const bool sound = at < text.size() && text[at] == 'z' && date.Hour >= 0 && date.Hour <= 23 &&
                     date.Minute >= 0 && date.Minute <= 59;
  ++at;
  return sound;
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
  date.Year = static_cast<int>(days * 400 / cycle) + 1;  // of the right one or a neighbour
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
  const std::string text = LowerCase(mixed);
  std::size_t at = 0;
  Date date;
  if (!TakeHour(text, at, date)) {
    return std::nullopt;
  }
  const int day = TakeNumber(text, at, 2);
  const auto month =
      std::find(MonthNames.begin(), MonthNames.end(), at <= text.size() ? text.substr(at, 3) : std::string());
  if (month == MonthNames.end()) {
    return std::nullopt;
  }
  at += 3;
  const std::size_t digits = text.size() - at;
  const int year = TakeNumber(text, at, 4);
  date.Month = static_cast<int>(month - MonthNames.begin()) + 1;
  date.Year = digits == 2 ? (year >= 50 ? 1900 : 2000) + year : year;
  date.Day = day < 0 ? 1 : day;
  const bool sound = at == text.size() && (digits == 2 || digits == 4) && date.Year >= 1 && date.Day >= 1 &&
                     date.Day <= DaysOfMonth(date.Year, date.Month, calendar);
  return sound ? std::optional<Date>(date) : std::nullopt;
}

std::optional<Increment> ParseIncrement(const std::string& mixed)
{
  const std::string text = LowerCase(mixed);
  std::size_t at = 0;
  Increment increment;
  increment.Count = TakeNumber(text, at, 7);
  const std::string unit = text.substr(at);
  increment.Months = unit == "mo" || unit == "yr";
  increment.Count *= unit == "yr" ? 12 : unit == "hr" ? 60 : unit == "dy" ? MinutesOfDay : 1;
  const bool known = increment.Months || unit == "mn" || unit == "hr" || unit == "dy";
  return known && increment.Count > 0 ? std::optional<Increment>(increment) : std::nullopt;
}

std::int64_t MinutesOfStep(
    const Date& start, const Increment& increment, std::int64_t index, Calendar calendar)
{
  if (!increment.Months) {
    return MinutesOf(start, calendar) + increment.Count * index;
  }
  const std::int64_t month = start.Year * std::int64_t(12) + start.Month - 1 + increment.Count * index;
  Date date = start;  // the 31st of a shorter month is the first of the next, or later
  date.Year = static_cast<int>(month / 12);
  date.Month = static_cast<int>(month % 12) + 1;
  return MinutesOf(date, calendar);
}

}  // namespace patchio::grads
