#include "Formats/GRADS/GradsCalendar.h"

#include "Base/TextScanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

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

/// The part before Z; 0 where it says nothing.
bool TakeHour(TextScanner& text, Date& date)
{
  if (text.Left().find('z') == std::string_view::npos) {
    return true;
  }
  return text.TakeDigits(2, date.Hour) && (!text.Take(":") || text.TakeDigits(2, date.Minute)) &&
         text.Take("z") && date.Hour <= 23 && date.Minute <= 59;
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
  const std::string lower = LowerCase(mixed);
  TextScanner text(lower);
  Date date;
  if (!TakeHour(text, date)) {
    return std::nullopt;
  }
  date.Day = 1;
  text.TakeDigits(2, date.Day);
  const auto month = std::find_if(
      MonthNames.begin(), MonthNames.end(), [&text](const char* name) { return text.Take(name); });
  const std::size_t digits = text.Left().size();
  if (month == MonthNames.end() || (digits != 2 && digits != 4) || !text.TakeDigits(digits, date.Year)) {
    return std::nullopt;
  }
  date.Month = static_cast<int>(month - MonthNames.begin()) + 1;
  date.Year += digits == 4 ? 0 : date.Year >= 50 ? 1900 : 2000;
  const bool sound = text.Left().empty() && date.Year >= 1 && date.Day >= 1 &&
                     date.Day <= DaysOfMonth(date.Year, date.Month, calendar);
  return sound ? std::optional<Date>(date) : std::nullopt;
}

std::optional<Increment> ParseIncrement(const std::string& mixed)
{
  const std::string lower = LowerCase(mixed);
  TextScanner text(lower);
  int count = 0;
  if (!text.TakeDigits(7, count) || count == 0) {
    return std::nullopt;
  }
  static const std::map<std::string_view, Increment> units{{"mn", {1, false}}, {"hr", {60, false}},
      {"dy", {MinutesOfDay, false}}, {"mo", {1, true}}, {"yr", {12, true}}};
  const auto unit = units.find(text.Left());
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
  Date date = start;  // the 31st of a shorter month is the first of the next, or later
  date.Year = static_cast<int>(month / 12);
  date.Month = static_cast<int>(month % 12) + 1;
  return MinutesOf(date, calendar);
}

}  // namespace patchio::grads
