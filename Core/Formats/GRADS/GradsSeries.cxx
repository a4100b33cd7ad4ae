// The time steps of a descriptor.
#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/FindSteps.h"
#include "Formats/GRADS/GradsCatalog.h"
#include "Formats/GRADS/GradsDescriptor.h"
#include "Formats/GRADS/GradsFiles.h"
#include "Formats/GRADS/GradsFormat.h"
#include "Formats/GRADS/GradsText.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::grads {
namespace {

constexpr std::int64_t MostExaminedVariables = 8;  ///< greatest number of variables that are examined
constexpr std::int64_t ValuesOfRun = 64;           ///< number of values per read
constexpr int RunsOfField = 2;
constexpr std::size_t FewestWords = 16;  ///< number of different words needed for a decision

float DecodeFloat(std::uint32_t word, bool bigEndian)
{
  word = bigEndian == HostIsLittleEndian() ? __builtin_bswap32(word) : word;
  float value = 0;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

/// Returns whether a physical quantity may have this value. About two thirds of the numbers in the wrong byte
/// order are implausible, and all of them if the mantissas end with zeros.
bool IsPlausible(float value)
{
  constexpr float least = 1e-12f, most = 1e12f;
  return std::abs(value) >= least && std::abs(value) <= most;
}

/// Returns whether the value is zero or undefined, and therefore does not show the byte order.
bool IsUninformative(float value, const std::optional<double>& undefined)
{
  return value == 0 || (undefined && std::abs(value - *undefined) <= std::abs(*undefined) / 1e5);
}

/// Returns a sample of the 4-byte words of a step's fields, as stored, each word once.
std::set<std::uint32_t> SampleOf(const Descriptor& descriptor, std::int64_t step)
{
  const PlainFile file(FileName(descriptor, step, 0));
  const FileLayout layout(descriptor);
  const StepPosition place = StepPositionOf(descriptor, step);
  const auto points = static_cast<std::int64_t>(descriptor.X.size() * descriptor.Y.size());
  const auto variables = static_cast<std::int64_t>(descriptor.Variables.size());
  const std::int64_t looked = std::min(variables, MostExaminedVariables);
  std::set<std::uint32_t> words;
  std::vector<std::uint32_t> run(static_cast<std::size_t>(std::min(points, ValuesOfRun)));
  const auto count = static_cast<std::int64_t>(run.size());
  for (std::int64_t i = 0; i < looked; ++i) {
    const auto variable = static_cast<int>(i * variables / looked);
    const std::int64_t field = layout.Offset(place, 0, variable, descriptor.Variables[variable].Fields() / 2);
    for (int r = 1; r <= RunsOfField; ++r) {
      const std::int64_t first = (points - count) * r / (RunsOfField + 1);
      const std::size_t bytes = run.size() * sizeof(run[0]);
      if (file.ReadUpTo(static_cast<std::uint64_t>(field + first * 4), run.data(), bytes) == bytes) {
        words.insert(run.begin(), run.end());
      }
    }
  }
  return words;
}

/// Examines some values of a step, if they are 4-byte floats outside Fortran records (the markers of records
/// show the byte order). Returns a warning if less than half of the values are plausible, but at least four
/// fifths would be in the other byte order. Otherwise returns an empty text, also if there are too few values
/// or the file cannot be read.
std::string ByteOrderWarning(const Descriptor& descriptor, std::int64_t step)
{
  if (descriptor.Type != ElementType::Float32 || descriptor.Sequential) {
    return {};
  }
  std::set<std::uint32_t> sample;
  // Reading the step reports a file that cannot be opened, or a missing member of the ensemble.
  const std::string ignored = CatchError([&] { sample = SampleOf(descriptor, step); });
  std::size_t words = 0, asDescribed = 0, otherwise = 0;
  for (const std::uint32_t word : sample) {
    const float value = DecodeFloat(word, descriptor.BigEndian);
    const float other = DecodeFloat(word, !descriptor.BigEndian);
    if (!IsUninformative(value, descriptor.UndefinedValue) &&
        !IsUninformative(other, descriptor.UndefinedValue)) {
      ++words;
      asDescribed += IsPlausible(value) ? 1 : 0;
      otherwise += IsPlausible(other) ? 1 : 0;
    }
  }
  const bool doubtful = words >= FewestWords && asDescribed * 2 < words && otherwise * 5 >= words * 4;
  if (!doubtful) {
    return {};
  }
  const char* const orders[] = {"little", "big"};
  const char* const order = orders[descriptor.BigEndian ? 1 : 0];
  const char* const right = orders[descriptor.BigEndian ? 0 : 1];
  return fmt::format(
      "{}: the byte order seems to be wrong. Of {} different values, {} make sense as {}-endian numbers, but "
      "{} as {}-endian numbers. If the values shown are wrong, write OPTIONS {}_endian into {}.",
      FileName(descriptor, step, 0), words, asDescribed, order, otherwise, right, right, descriptor.Path);
}

/// Finds the steps whose files exist.
class StepFinder
{
public:
  explicit StepFinder(const Descriptor& descriptor) : Description(descriptor), Layout(descriptor) {}

  Series Run()
  {
    this->Result.Watched.push_back(this->Description.Path);
    const std::int64_t count = this->Description.Times.Count;
    for (std::int64_t step = 0; step < count;) {
      const std::int64_t first = step;
      const std::string name = FileName(this->Description, step, 0);
      const bool constant =
          !this->Description.Template || this->Description.DataFile.find('%') == std::string::npos;
      while (step < count && (constant || FileName(this->Description, step, 0) == name)) {
        ++step;
      }
      this->AddFile(first, step - first);
    }
    this->AddMessages();
    return std::move(this->Result);
  }

private:
  void AddFile(std::int64_t first, std::int64_t count);
  void WatchFiles(const std::vector<std::string>& names, bool exist, bool incomplete);
  void AddShortFile(const std::string& name, std::int64_t bytes, std::int64_t count, std::int64_t whole);
  void CheckOptions(const std::string& name, std::int64_t bytes, std::int64_t count) const;
  void AddMessages();

  const Descriptor& Description;
  const FileLayout Layout;
  Series Result;
  bool LastFileExists = true;  ///< the file examined last exists
  std::int64_t MissingFiles = 0, MissingMembers = 0, ShortFiles = 0, LongFiles = 0;
  std::string FirstMissing, FirstMissingMember, FirstShort, FirstLong;
};

/// Adds the steps of one file, or of the files of all members.
void StepFinder::AddFile(std::int64_t first, std::int64_t count)
{
  const std::int64_t members = HasFilePerMember(this->Description) ? this->Description.MemberCount() : 1;
  std::int64_t whole = count;
  bool any = false;
  std::vector<std::string> names;
  for (std::int64_t member = 0; member < members; ++member) {
    const std::string& name = names.emplace_back(FileName(this->Description, first, member));
    const std::optional<std::uint64_t> size = SizeOfFile(name);
    if (!size) {
      this->FirstMissingMember = this->MissingMembers++ == 0 ? name : this->FirstMissingMember;
      continue;
    }
    any = true;
    const auto bytes = static_cast<std::int64_t>(*size);
    const std::int64_t here = this->Layout.CompleteSteps(count, bytes);
    if (bytes != this->Layout.FileBytes(count)) {
      this->CheckOptions(name, bytes, count);
    }
    if (here < count) {
      this->AddShortFile(name, bytes, count, here);
    } else if (bytes > this->Layout.FileBytes(count)) {
      this->FirstLong = this->LongFiles++ == 0 ? name : this->FirstLong;
    }
    whole = std::min(whole, here);
  }
  this->WatchFiles(names, any, whole < count);
  if (!any) {
    this->MissingMembers -= members;
    this->FirstMissing =
        this->MissingFiles++ == 0 ? FileName(this->Description, first, 0) : this->FirstMissing;
    return;
  }
  for (std::int64_t step = first; step < first + whole; ++step) {
    this->Result.Steps.push_back(StepOf(this->Description, step));
  }
}

/// Adds to Series::Watched the files in which steps may appear: the first missing files after existing ones,
/// and incomplete files.
void StepFinder::WatchFiles(const std::vector<std::string>& names, bool exist, bool incomplete)
{
  if ((exist && incomplete) || (!exist && this->LastFileExists)) {
    this->Result.Watched.insert(this->Result.Watched.end(), names.begin(), names.end());
  }
  this->LastFileExists = exist;
}

void StepFinder::AddShortFile(
    const std::string& name, std::int64_t bytes, std::int64_t count, std::int64_t whole)
{
  if (this->ShortFiles++ == 0) {
    this->FirstShort = FileError(name,
        fmt::format("{} bytes, for {}", this->Layout.FileBytes(count), CountText(count, "time")),
        fmt::format("{}, enough for {}", bytes, whole),
        fmt::format(
            "The file is truncated or still being written, or does not match {}", this->Description.Path))
                           .what();
  }
}

/// Throws Error if the size of a file, which is not as described, is that of a file with (or without) OPTIONS
/// sequential. In that case, all values would be wrong.
void StepFinder::CheckOptions(const std::string& name, std::int64_t bytes, std::int64_t count) const
{
  Descriptor other = this->Description;
  other.Sequential = !other.Sequential;
  if (FileLayout(other).FileBytes(count) == bytes) {
    throw FileError(name,
        fmt::format("{} bytes, as described in {}", this->Layout.FileBytes(count), this->Description.Path),
        fmt::format(
            "{}, the size of a file {} OPTIONS sequential", bytes, other.Sequential ? "with" : "without"),
        "Correct OPTIONS in the descriptor");
  }
}

/// Adds the warnings and notes. Throws Error if the series has no step.
void StepFinder::AddMessages()
{
  if (this->Result.Steps.empty()) {
    throw this->ShortFiles > 0
        ? Error(this->FirstShort)
        : Error(FileError(this->FirstMissing, fmt::format("the data file of {}", this->Description.Path),
              "none", "Check DSET, and whether the data are in the folder of the descriptor"));
  }
  if (this->MissingFiles > 0) {
    this->Result.Warnings.push_back(
        fmt::format("{}: {} data {} missing; the first is {}. PatchIO skips the times of missing files.",
            this->Description.Path, this->MissingFiles, this->MissingFiles == 1 ? "file is" : "files are",
            this->FirstMissing));
  }
  if (this->MissingMembers > 0) {
    this->Result.Warnings.push_back(
        fmt::format("{}: {} of the files of ensemble members {} missing; the first is {}. PatchIO skips the "
                    "variables of these members at these times.",
            this->Description.Path, this->MissingMembers, this->MissingMembers == 1 ? "is" : "are",
            this->FirstMissingMember));
  }
  if (this->ShortFiles > 0) {
    this->Result.Warnings.push_back(fmt::format(
        "{} file{} shorter than {} describes. PatchIO skips incomplete times. {}", this->ShortFiles,
        this->ShortFiles == 1 ? " is" : "s are", this->Description.Path, this->FirstShort));
  }
  const std::string doubts = ByteOrderWarning(this->Description, this->Result.Steps.front().StepInFile);
  if (!doubts.empty()) {
    this->Result.Warnings.push_back(doubts);
  }
  this->Result.Notes = NotesOnGrid(this->Description);
  if (this->LongFiles > 0) {
    this->Result.Notes.push_back(fmt::format(
        "{} file{} longer than {} describes; the first is {}. PatchIO ignores the rest. If "
        "values look wrong, compare the descriptor with its data.",
        this->LongFiles, this->LongFiles == 1 ? " is" : "s are", this->Description.Path, this->FirstLong));
  }
}

/// Returns whether the name is like model.ctl, post.ctl_2017... or model.ctl.old.
bool HasNameOfDescriptor(const std::string& path)
{
  const std::string name = LowerCase(fs::path(path).filename().string());
  const std::size_t at = name.find(".ctl");
  return at != std::string::npos && (at + 4 == name.size() || name[at + 4] == '_' || name[at + 4] == '.');
}

}  // namespace

bool GradsFormat::Claims(const std::string& path) const
{
  std::error_code ignored;
  return HasNameOfDescriptor(path) && fs::is_regular_file(path, ignored) && LooksLikeDescriptor(path);
}

/// Returns false for a file with other text, because that file belongs to another program.
bool GradsFormat::SeemsBroken(const std::string& path) const
{
  std::error_code ignored;
  if (!HasNameOfDescriptor(path) || !fs::is_regular_file(path, ignored)) {
    return false;
  }
  std::string beginning;
  const std::string ignoredFault = CatchError([&] { beginning = FirstBytes(path, 4096); });
  return beginning.empty() || beginning.find('\0') != std::string::npos;
}

Series GradsFormat::OpenSeries(const std::string& path, const SeriesOptions&) const
{
  const Descriptor descriptor = ReadDescriptor(path);
  return StepFinder(descriptor).Run();
}

}  // namespace patchio::grads
