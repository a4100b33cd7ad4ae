#include "Formats/GRADS/GradsDescriptorCheck.h"

#include "Formats/GRADS/GradsText.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace patchio::grads {
namespace {

constexpr double MostBytes = 4e18;  ///< of all times; offsets are exact below

void CheckTimes(const Descriptor& d)
{
  const TimeAxis& times = d.Times;
  if (times.Start.Day > DaysOfMonth(times.Start.Year, times.Start.Month, times.Days)) {
    throw FileError(d.Path, "a start date in a calendar of 365 days", "29 February", "Correct TDEF");
  }
  const std::int64_t months = times.Step.Months ? times.Step.Count : 0;
  const double years =
      (static_cast<double>(months) / 12 +
          static_cast<double>(times.Step.Months ? 0 : times.Step.Count) / (365.0 * 24 * 60)) *
      static_cast<double>(times.Count);
  if (times.Start.Year + years > 99'999) {
    throw FileError(d.Path, "times before the year 100,000", "later ones", "Correct TDEF");
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
      (d.Template || d.MemberCount() > 1 || d.Extra.Time > 0 || d.Extra.TimeTrailer > 0)) {
    throw FileError(d.Path, "all times of a variable (-1,20) in one file without headers of times",
        "a template, an ensemble or time headers", advice);
  }
  const bool byMember = d.Template && d.Data.find("%e") != std::string::npos;
  if (d.Template && d.MemberCount() > 1 && !byMember) {
    throw FileError(d.Path, "%e in the template, because an ensemble needs one file per member",
        Quoted(d.Data), "Use %e in DSET for the member names of EDEF");
  }
}

void CheckSizes(const Descriptor& d)
{
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

}  // namespace

void CheckDescriptor(const Descriptor& descriptor)
{
  CheckTimes(descriptor);
  CheckAxes(descriptor);
  CheckLayout(descriptor);
  CheckSizes(descriptor);
}

}  // namespace patchio::grads
