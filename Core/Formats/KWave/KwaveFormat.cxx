#include "Formats/KWave/KwaveFormat.h"

#include "Base/Error.h"
#include "Formats/KWave/KwaveDescription.h"
#include "Formats/KWave/KwaveFile.h"
#include "Hdf5/File.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::kwave {
namespace {

KwaveDescription Describe(const std::string& path)
{
  const std::string absolute = fs::absolute(path).lexically_normal().string();
  if (TypeOfFile(absolute) == FileType::Checkpoint) {
    throw FileError(absolute, "a k-Wave output or input file", "a checkpoint for restarts",
        "Open the output file of the run, which has all steps up to the checkpoint");
  }
  return ReadDescription(absolute);
}

}  // namespace

bool KwaveFormat::Claims(const std::string& path) const
{
  return TypeOfFile(path) != FileType::None;
}

/// Returns whether HDF5 cannot open a file that has the name of such a file.
bool KwaveFormat::SeemsBroken(const std::string& path) const
{
  const std::string ending = fs::path(path).extension().string();
  std::error_code ignored;
  return (ending == ".h5" || ending == ".hdf5") && fs::is_regular_file(path, ignored) && !hdf5::CanOpen(path);
}

Series KwaveFormat::OpenSeries(const std::string& path, const SeriesOptions&) const
{
  const KwaveDescription description = Describe(path);
  Series series;
  for (std::int64_t n = 0; n < description.Steps; ++n) {
    TimeStep& step = series.Steps.emplace_back();
    step.Path = description.Path;
    step.Step = description.FirstStep + n;
    step.Time = description.TimeOf(step.Step);
    step.InFile = static_cast<int>(n);
  }
  series.Warnings = description.Warnings;
  series.Notes = description.Notes;
  series.Watched = {description.Path};
  return series;
}

Catalog KwaveFormat::ReadCatalog(const std::string& path) const
{
  return MakeCatalog(Describe(path));
}

}  // namespace patchio::kwave
