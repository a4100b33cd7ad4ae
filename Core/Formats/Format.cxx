#include "Formats/Format.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Hdf5/File.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace patchio {

namespace {

/// Returns a phrase that lists the files of all formats.
std::string AllSupportedFiles()
{
  std::string phrase;
  for (const Format* format : AllFormats()) {
    phrase += (phrase.empty() ? "" : ", or ") + std::string(format->SupportedFiles());
  }
  return phrase;
}

}  // namespace

const Format* FindFormat(const std::string& path)
{
  for (const auto asks : {&Format::Claims, &Format::SeemsBroken}) {
    for (const Format* format : AllFormats()) {
      if ((format->*asks)(path)) {
        return format;
      }
    }
  }
  return nullptr;
}

const Format& FormatOf(const std::string& path)
{
  if (const Format* format = FindFormat(path)) {
    return *format;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw FileError(path, AllSupportedFiles(), "a folder of another kind",
        "Give the name of a file in the folder, or check that the folder is complete");
  }
  char first = 0;
  PlainFile(path).ReadUpTo(0, &first, 1);  // throws if the file cannot be read
  if (const Format* format = FindFormat(path)) {
    return *format;  // the first check failed temporarily
  }
  if (hdf5::HasSignature(path)) {
    hdf5::File file(path);  // throws for a truncated file, whose format cannot be determined
  }
  for (const Format* format : AllFormats()) {
    const std::string other = format->UnsupportedContents(path);
    if (!other.empty()) {
      throw Error(
          fmt::format("{}: not supported: {}. Open the file with ParaView's own reader.", path, other));
    }
  }
  throw FileError(
      path, AllSupportedFiles(), "a file of another format", "PatchIO does not support this format");
}

Catalog Format::ReadStep(const TimeStep& step) const
{
  Catalog catalog = this->ReadCatalog(step.Path);
  SetStep(catalog, step);
  return catalog;
}

void SetStep(Catalog& catalog, const TimeStep& step)
{
  catalog.Time = step.Time;
  catalog.Step = step.Step;
  catalog.Date = step.Date;
  catalog.StepInFile = step.StepInFile;
}

std::vector<double> TimeValues(const Series& series)
{
  std::vector<double> times, steps, positions;
  for (const TimeStep& step : series.Steps) {
    times.push_back(step.Time);
    steps.push_back(static_cast<double>(step.Step));
    positions.push_back(static_cast<double>(positions.size()));
  }
  const auto increases = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }) &&
           std::adjacent_find(values.begin(), values.end(), [](double a, double b) { return a >= b; }) ==
               values.end();
  };
  if (increases(times)) {
    return times;
  }
  return increases(steps) ? steps : positions;
}

std::vector<std::string> NotesOf(const Series& series)
{
  std::vector<std::string> notes = series.Notes;
  const std::vector<double> values = TimeValues(series);
  bool times = true, numbers = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    times = times && values[i] == series.Steps[i].Time;
    numbers = numbers && values[i] == static_cast<double>(series.Steps[i].Step);
  }
  if (!times) {
    notes.push_back(fmt::format(
        "The times in the files do not increase. ParaView and Python use {} instead, {:g} to {:g}.",
        numbers ? "the step numbers" : "the positions of the steps", values.front(), values.back()));
  }
  return notes;
}

}  // namespace patchio
