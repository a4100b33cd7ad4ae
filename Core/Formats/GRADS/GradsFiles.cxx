#include "Formats/GRADS/GradsFiles.h"

#include "Base/Error.h"
#include "Formats/GRADS/GradsText.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace patchio::grads {
namespace {

/// Makes a file name from a template.
class FileNameTemplate
{
public:
  FileNameTemplate(const Descriptor& descriptor, std::int64_t step, std::int64_t member)
      : Description(descriptor), Step(step), Member(member)
  {
    const TimeAxis& times = descriptor.Times;
    this->StepDate = times.DateAt(step);
    this->Forecast = times.Minutes(step) - times.Minutes(0);
  }

  std::string MakeName() const { return this->ExpandAll(this->ReplaceChsub(this->Description.DataFile)); }

private:
  std::string ReplaceChsub(const std::string& text) const;
  std::string ExpandAll(const std::string& text) const;
  bool Expand(const std::string& text, std::size_t& at, std::string& out) const;
  static bool ExpandDate(
      const std::string& substitution, const Date& date, Calendar calendar, std::string& out);
  bool ExpandForecast(const std::string& text, std::size_t& at, std::string& out) const;
  bool ExpandIndex(const std::string& text, std::size_t& at, std::string& out) const;

  const Descriptor& Description;
  std::int64_t Step, Member, Forecast = 0;
  Date StepDate;
};

/// Replaces the first %ch by the text for the step. Throws Error if CHSUB has no text for the step.
std::string FileNameTemplate::ReplaceChsub(const std::string& text) const
{
  const std::size_t at = text.find("%ch");
  if (at == std::string::npos) {
    return text;
  }
  for (const Substitution& part : this->Description.Substitutions) {
    if (this->Step + 1 >= part.First && this->Step + 1 <= part.Last) {
      return text.substr(0, at) + part.Text + text.substr(at + 3);
    }
  }
  throw FileError(this->Description.Path, fmt::format("a CHSUB for step {}", this->Step + 1), "none",
      "Extend the ranges of CHSUB to all times of TDEF");
}

std::string FileNameTemplate::ExpandAll(const std::string& text) const
{
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '%') {
      out += text[at++];
    } else if (!this->Expand(text, at, out)) {
      throw FileError(this->Description.Path, "a template with substitutions that GrADS knows",
          "'" + PlainText(text.substr(at, 4)) + "'", "Correct DSET");
    }
  }
  return out;
}

/// Expands the substitution, such as %y4, at `at`: appends its text to `out`, and moves `at` behind it. Tries
/// longer names first. Returns false if the substitution is unknown.
bool FileNameTemplate::Expand(const std::string& text, std::size_t& at, std::string& out) const
{
  const Calendar calendar = this->Description.Times.DateCalendar;
  if (text.compare(at, 2, "%i") == 0 &&
      ExpandDate(text.substr(at + 2, 2), this->Description.Times.Start, calendar, out)) {
    at += 4;
    return true;
  }
  if (ExpandDate(text.substr(at + 1, 2), this->StepDate, calendar, out)) {
    at += 3;
    return true;
  }
  if (this->ExpandForecast(text, at, out) || this->ExpandIndex(text, at, out)) {
    return true;
  }
  if (text.compare(at, 2, "%e") == 0) {
    out += this->Description.Members.empty() ? std::string("1") : this->Description.Members[this->Member];
    at += 2;
    return true;
  }
  return false;
}

bool FileNameTemplate::ExpandDate(
    const std::string& substitution, const Date& date, Calendar calendar, std::string& out)
{
  const auto is = [&substitution](const char* name) { return substitution == name; };
  std::string text = is("x1")   ? fmt::format("{}", date.Year / 10 % 10)
                     : is("x3") ? fmt::format("{:03}", date.Year / 10)
                     : is("y2") ? fmt::format("{:02}", date.Year % 100)
                     : is("y4") ? fmt::format("{:04}", date.Year)
                     : is("m1") ? fmt::format("{}", date.Month)
                     : is("m2") ? fmt::format("{:02}", date.Month)
                     : is("mc") ? std::string(MonthName(date.Month))
                     : is("d1") ? fmt::format("{}", date.Day)
                     : is("d2") ? fmt::format("{:02}", date.Day)
                     : is("h1") ? fmt::format("{}", date.Hour)
                     : is("h2") ? fmt::format("{:02}", date.Hour)
                     : is("h3") ? fmt::format("{:03}", date.Hour)
                     : is("n2") ? fmt::format("{:02}", date.Minute)
                     : is("j3") ? fmt::format("{:03}", DayOfYear(date, calendar))
                                : std::string();
  out += text;
  return !text.empty();
}

bool FileNameTemplate::ExpandForecast(const std::string& text, std::size_t& at, std::string& out) const
{
  const std::int64_t minutes = this->Forecast;
  const auto expand = [&](const char* name, const std::string& value) {
    const std::size_t length = std::string(name).size();
    if (text.compare(at, length, name) != 0) {
      return false;
    }
    out += value;
    at += length;
    return true;
  };
  return expand("%fdhn", fmt::format("{:02}{:02}{:02}", minutes / 1440, minutes / 60 % 24, minutes % 60)) ||
         expand("%fhn", fmt::format("{:02}{:02}", minutes / 60, minutes % 60)) ||
         expand("%fn2", fmt::format("{:02}", minutes)) || expand("%f2", fmt::format("{:02}", minutes / 60)) ||
         expand("%f3", fmt::format("{:03}", minutes / 60));
}

/// Expands %t1 .. %t6, which count from 1, or %tm1 .. %tm6, which count from 0.
bool FileNameTemplate::ExpandIndex(const std::string& text, std::size_t& at, std::string& out) const
{
  const bool fromZero = text.compare(at, 3, "%tm") == 0;
  const std::size_t digit = at + (fromZero ? 3 : 2);
  if (text.compare(at, 2, "%t") != 0 || digit >= text.size() || text[digit] < '1' || text[digit] > '6') {
    return false;
  }
  out += fmt::format("{:0{}}", this->Step + (fromZero ? 0 : 1), text[digit] - '0');
  at = digit + 1;
  return true;
}

}  // namespace

std::string FileName(const Descriptor& descriptor, std::int64_t step, std::int64_t member)
{
  const std::filesystem::path name =
      descriptor.Template ? FileNameTemplate(descriptor, step, member).MakeName() : descriptor.DataFile;
  return (std::filesystem::path(descriptor.Path).parent_path() / name).lexically_normal().string();
}

bool HasFilePerMember(const Descriptor& descriptor)
{
  return descriptor.Template && descriptor.DataFile.find("%e") != std::string::npos;
}

StepPosition StepPositionOf(const Descriptor& descriptor, std::int64_t step)
{
  const std::int64_t count = descriptor.Times.Count;
  if (!descriptor.Template || descriptor.DataFile.find('%') == std::string::npos) {
    return {step, count};
  }
  const std::string name = FileName(descriptor, step, 0);
  std::int64_t first = step, end = step + 1;
  while (first > 0 && FileName(descriptor, first - 1, 0) == name) {
    --first;
  }
  while (end < count && FileName(descriptor, end, 0) == name) {
    ++end;
  }
  return {step - first, end - first};
}

FileLayout::FileLayout(const Descriptor& descriptor) : Description(descriptor)
{
  const HeaderSizes& extra = descriptor.Headers;
  const std::int64_t markers = descriptor.Sequential ? 8 : 0;
  this->Stride = descriptor.FieldBytes() + extra.Field + extra.FieldTrailer + markers;
  this->Members = HasFilePerMember(descriptor) ? 1 : descriptor.MemberCount();
  this->TimeHeaderBytes = extra.Time + (extra.Time > 0 ? markers : 0);
  this->FieldsBefore.push_back(0);
  for (const GradsVariable& variable : descriptor.Variables) {
    this->FieldsBefore.push_back(this->FieldsBefore.back() + variable.Fields());
  }
  this->TimeBytes = this->TimeHeaderBytes + extra.TimeTrailer + this->Stride * this->FieldsBefore.back();
}

std::int64_t FileLayout::Offset(
    const StepPosition& step, std::int64_t member, int variable, std::int64_t level) const
{
  const Descriptor& d = this->Description;
  const std::int64_t before = d.Headers.File + (d.Sequential ? 4 : 0) + d.Headers.Field;
  if (d.VariablesOutsideTimes) {
    const std::int64_t fields =
        d.Times.Count * this->FieldsBefore[variable] + step.Index * d.Variables[variable].Fields() + level;
    return before + this->Stride * fields;
  }
  const std::int64_t inFile = HasFilePerMember(d) ? 0 : member;
  return before + (inFile * step.Count + step.Index) * this->TimeBytes + this->TimeHeaderBytes +
         this->Stride * (this->FieldsBefore[variable] + level);
}

std::int64_t FileLayout::FileBytes(std::int64_t steps) const
{
  return this->Description.Headers.File + this->Members * steps * this->TimeBytes;
}

std::int64_t FileLayout::CompleteSteps(std::int64_t steps, std::int64_t fileBytes) const
{
  // With several members per file, or variables outside times, the end of the file holds values of all steps.
  if (this->Description.VariablesOutsideTimes || this->Members > 1) {
    return fileBytes >= this->FileBytes(steps) ? steps : 0;
  }
  const std::int64_t whole = fileBytes - this->Description.Headers.File;
  // The trailer behind the last time may be missing.
  return std::clamp<std::int64_t>(
      (whole + this->Description.Headers.TimeTrailer) / this->TimeBytes, 0, steps);
}

}  // namespace patchio::grads
