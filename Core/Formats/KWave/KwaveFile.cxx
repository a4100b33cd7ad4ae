#include "Formats/KWave/KwaveFile.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <set>
#include <string_view>

namespace patchio::kwave {

namespace {

bool EndsWithAny(std::string_view name, std::initializer_list<std::string_view> ends)
{
  return std::any_of(ends.begin(), ends.end(), [name](std::string_view end) { return EndsWith(name, end); });
}

bool BeginsWithAny(std::string_view name, std::initializer_list<std::string_view> begins)
{
  return std::any_of(
      begins.begin(), begins.end(), [name](std::string_view begin) { return BeginsWith(name, begin); });
}

}  // namespace

bool IsOfDomain(const std::string& name)
{
  return EndsWithAny(name, {"_all", "_final"});
}

bool IsOfSensor(const std::string& name)
{
  static const std::set<std::string_view> quantities{"p", "ux", "uy", "uz", "ux_non_staggered",
      "uy_non_staggered", "uz_non_staggered", "Ix_avg", "Iy_avg", "Iz_avg", "Q_term"};
  constexpr std::string_view ends[] = {"", "_max", "_min", "_rms", "_c"};
  return std::any_of(std::begin(ends), std::end(ends), [&name](std::string_view end) {
    return EndsWith(name, end) &&
           quantities.count(std::string_view(name).substr(0, name.size() - end.size())) > 0;
  });
}

bool IsAggregate(const std::string& name)
{
  return EndsWithAny(name, {"_max", "_min", "_rms", "_avg", "_avg_c", "_all", "_final"}) ||
         name == "Q_term" || name == "Q_term_c";
}

bool IsHeader(const std::string& name)
{
  static const std::set<std::string_view> names{"Nx", "Ny", "Nz", "Nt", "dx", "dy", "dz", "dt", "t_index"};
  return names.count(name) > 0;
}

std::string FaultOfName(const std::string& name)
{
  if (name.find('/') != std::string::npos || name == ".") {
    return "'/' and '.' stand for groups in HDF5 files";
  }
  if (IsHeader(name) || IsSetting(name)) {
    return "k-Wave files use this name themselves";
  }
  if (name == PositionsOf("sensor")) {
    return "readers give this name to the positions of the sensor's points";
  }
  return IsAggregate(name) ? "k-Wave files use this name for one value of all steps" : "";
}

bool IsSetting(const std::string& name)
{
  const bool setting =
      EndsWithAny(name, {"_source_input", "_source_index", "_flag", "_signal_index", "_delay"}) ||
      BeginsWithAny(name, {"sensor_mask", "pml_", "dd", "dxudxn", "dyudyn", "dzudzn"}) ||
      name == "delay_mask" || name == TimesName;
  return setting && name != "p0_source_input";
}

namespace {

constexpr std::int64_t LargestCount = (std::int64_t(1) << 30) - 1;

FileType TypeNamed(const std::string& name)
{
  return name == "input"        ? FileType::Input
         : name == "output"     ? FileType::Output
         : name == "checkpoint" ? FileType::Checkpoint
                                : FileType::None;
}

bool MentionsKwave(const std::string& text)
{
  return text.find("k-Wave") != std::string::npos || text.find("kspaceFirstOrder") != std::string::npos;
}

}  // namespace

FileType TypeOfFile(const std::string& path)
{
  if (!hdf5::HasSignature(path)) {
    return FileType::None;
  }
  try {
    const KwaveFile file(path);
    const FileType type = TypeNamed(file.Attribute("file_type"));
    const bool named =
        MentionsKwave(file.Attribute("created_by")) || MentionsKwave(file.Attribute("file_description"));
    const bool alike = !file.Attribute("major_version").empty() && !file.Attribute("created_by").empty() &&
                       file.Has("Nx") && file.Has("Ny") && file.Has("Nz");
    return named || alike ? type : FileType::None;
  } catch (const std::exception&) {
    std::string beginning;  // empty if the file cannot be read
    const std::string ignored = CatchError([&] { beginning = FirstBytes(path, 64 * 1024); });
    const bool kwaves = beginning.find("file_type") != std::string::npos && MentionsKwave(beginning);
    return kwaves ? FileType::Output : FileType::None;
  }
}

std::int64_t KwaveFile::Count(const std::string& name) const
{
  const double value = this->Double(name);
  if (!(value >= 1 && value <= static_cast<double>(LargestCount)) || value != std::floor(value)) {
    throw FileError(this->Path(), fmt::format("a whole number, 1 to {}, in '{}'", LargestCount, name),
        fmt::format("{}", value), "The file is damaged");
  }
  return static_cast<std::int64_t>(value);
}

DatasetInfo KwaveFile::InfoOf(const std::string& name) const
{
  DatasetInfo info;
  if (!this->Has(name) || this->IsGroup(name)) {
    return info;
  }
  const hdf5::Dataset dataset = this->Describe(name);
  info.Dims = hdf5::DimsOf(dataset);
  info.Values = info.Dims.empty() ? 0 : dataset.Values;
  if (dataset.ChunkDims[0] != 0) {
    info.Chunks.assign(dataset.ChunkDims.begin(), dataset.ChunkDims.begin() + dataset.Rank);
  }
  const std::optional<ElementType> type = hdf5::ElementTypeOf(dataset);
  info.IsNumeric = type && (SizeOf(*type) == 4 || SizeOf(*type) == 8);
  info.IsComplex = this->Text(name, "domain_type") == "complex";
  return info;
}

std::vector<std::int64_t> KwaveFile::Integers(const std::string& name, std::uint64_t most) const
{
  const std::uint64_t count = this->InfoOf(name).Values;
  if (count == 0 || count > most) {
    throw FileError(this->Path(), fmt::format("1 to {} values in '{}'", most, name), fmt::format("{}", count),
        "The file is damaged");
  }
  return this->Range<std::int64_t>(name, 0, count);
}

}  // namespace patchio::kwave
