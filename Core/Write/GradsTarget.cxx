#include "Write/Target.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Formats/Container/StepLayout.h"
#include "Io/IoScheduler.h"
#include "Write/FloatFile.h"
#include "Write/LineExchange.h"
#include "Write/Sensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

/// The value that the descriptor declares as undefined.
constexpr float Undefined = -9.99e33F;
constexpr const char* UndefinedText = "-9.99e33";
/// TurnBytes: bytes of the planes that a rank assembles at a time. RequestBytes: bytes of one write request.
constexpr std::uint64_t TurnBytes = 8 << 20, RequestBytes = 1 << 20;

/// Returns the name in lower case. Throws Error if GrADS does not accept it.
std::string NameForGrads(const std::string& name)
{
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool fits =
      lower.size() <= 15 && std::isalpha(static_cast<unsigned char>(lower[0])) &&
      std::all_of(lower.begin(), lower.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!fits || lower == "endvars") {
    throw Error(
        fmt::format("The name '{}' is invalid in GrADS. Use at most 15 letters and digits, beginning "
                    "with a letter, and not ENDVARS, which ends the list of variables.",
            PlainText(name)));
  }
  return lower;
}

/// The horizontal planes of a step in the order of the file, by variable and then by height.
class Planes
{
public:
  Planes(const container::StepToWrite& step, const Box& cells) : Step(step), Cells(cells) {}

  std::size_t Count() const { return this->Step.Data.Variables.size() * this->Cells.Width(2); }
  std::uint64_t BytesOfPlane() const { return this->Cells.Width(0) * this->Cells.Width(1) * sizeof(float); }
  std::uint64_t Bytes() const { return this->Count() * this->BytesOfPlane(); }

  /// Adds this rank's rows of the planes begin .. end - 1 to `line`, which has the bytes of these planes.
  void Give(std::size_t begin, std::size_t end, const std::vector<container::PatchValues>& ofThisRank,
      Shuffle& line) const;

private:
  const container::StepToWrite& Step;
  const Box Cells;
};

void Planes::Give(std::size_t begin, std::size_t end, const std::vector<container::PatchValues>& ofThisRank,
    Shuffle& line) const
{
  const auto layers = static_cast<std::size_t>(this->Cells.Width(2));
  std::vector<float> floats;
  for (const container::PatchValues& one : ofThisRank) {
    const Box& patch = this->Step.Data.Patches[one.Patch].Cells;
    const std::int64_t row = patch.Width(0), count = row * patch.Width(1);
    floats.resize(count);
    for (int z = patch.Lower[2]; z <= patch.Upper[2]; ++z) {
      const std::size_t plane = one.Variable * layers + (z - this->Cells.Lower[2]);
      if (plane < begin || plane >= end) {
        continue;
      }
      CopyFloats(
          this->Step.Types[one.Variable], one.Values, (z - patch.Lower[2]) * count, count, floats.data());
      for (int y = patch.Lower[1]; y <= patch.Upper[1]; ++y) {
        const std::size_t place = IndexIn(this->Cells, {patch.Lower[0], y, this->Cells.Lower[2]});
        line.Add(plane * this->BytesOfPlane() + place * sizeof(float), &floats[(y - patch.Lower[1]) * row],
            row * sizeof(float));
      }
    }
  }
}

class GradsTarget : public Target
{
public:
  GradsTarget(Communicator& ranks, const Channel& channel)
      : Ranks(ranks),
        Config(channel),
        Descriptor(channel.Path),
        DataPath(fs::path(channel.Path).replace_extension(".dat").string()),
        Uniform(channel.Path)
  {
  }

  PendingStep Prepare(container::StepToWrite step, const GivenArrays&) override
  {
    return [this, what = std::move(step)](const container::HeldValues& values, int threads) {
      this->WriteStep(what, values.Arrays, threads);
    };
  }
  void Lose(std::int64_t step) override { this->Lost.Add(step); }

private:
  void Open();
  void WriteStep(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& ofThisRank, int threads);
  void TryToWrite(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& ofThisRank, int threads);
  void FillLost(std::size_t steps, std::uint64_t bytes, int threads);
  void MakeFile(bool overwrite) const;
  bool IsDescribed() const;
  std::string DataLine() const { return "DSET ^" + fs::path(this->DataPath).filename().string(); }
  void Check(const container::StepToWrite& step);
  void WriteValues(const Planes& planes, std::size_t index,
      const std::vector<container::PatchValues>& ofThisRank, int threads);
  void WriteBytes(std::uint64_t begin, std::uint64_t bytes, int threads,
      const std::function<const void*(std::uint64_t offset)>& from) const;
  void CheckKept(std::uint64_t bytes);
  void Describe(const Catalog& data, std::size_t steps) const;

  Communicator& Ranks;
  const Channel& Config;
  const std::string Descriptor, DataPath;
  std::unique_ptr<PlainFile> File;  ///< null before the first step
  std::size_t Steps = 0;            ///< steps in the file, including lost ones
  UniformSteps Uniform;
  LostSteps Lost;
  Box Cells;
  std::vector<std::string> Names;
};

/// Makes the files on rank 0, and opens the data file on all ranks. Collective: every writing rank calls it.
void GradsTarget::Open()
{
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      this->MakeFile(this->Config.Overwrite);
    }
  });
  RunOnAllRanks(this->Ranks,
      [&] { this->File = std::make_unique<PlainFile>(this->DataPath, PlainFile::Purpose::Update); });
}

void GradsTarget::WriteStep(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& ofThisRank, int threads)
{
  this->Uniform.Check(step.Data);
  const std::string fault = CatchError([&] { this->TryToWrite(step, ofThisRank, threads); });
  if (!fault.empty()) {
    this->Lose(step.Data.Step);
    throw Error(fault);
  }
  this->Uniform.Add(step.Data);
}

void GradsTarget::TryToWrite(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& ofThisRank, int threads)
{
  this->Check(step);
  if (!this->File) {
    this->Open();
  }
  const Planes planes(step, this->Cells);
  const std::uint64_t bytes = planes.Bytes();
  this->CheckKept(this->Steps * bytes);
  const std::size_t lost = this->Lost.Before(step.Data.Step).size();
  this->FillLost(lost, bytes, threads);
  const std::size_t place = this->Steps + lost;
  this->WriteValues(planes, place, ofThisRank, threads);
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      this->Describe(step.Data, place + 1);
    }
  });
  this->Steps = place + 1;
  this->Lost.Forget(step.Data.Step);
}

/// Throws Error unless the data file still has `bytes` bytes: those of all steps so far. Collective: every
/// writing rank calls it.
void GradsTarget::CheckKept(std::uint64_t bytes)
{
  RunOnAllRanks(this->Ranks, [&] {
    const std::uint64_t found = this->Ranks.Rank() == 0 ? this->File->Size() : bytes;
    if (found < bytes) {
      throw FileError(this->DataPath, fmt::format("{} bytes, as this run has written", bytes),
          fmt::format("{}", found), "Do not change a file before the run that writes it has ended");
    }
  });
}

/// Writes undefined values for `steps` lost steps, so that later steps keep their dates. `bytes`: size of a
/// step. Collective: every writing rank calls it.
void GradsTarget::FillLost(std::size_t steps, std::uint64_t bytes, int threads)
{
  RunOnAllRanks(this->Ranks, [&] {
    const std::vector<float> none(RequestBytes / sizeof(float), Undefined);
    this->WriteBytes(this->Steps * bytes, this->Ranks.Rank() == 0 ? steps * bytes : 0, threads,
        [&](std::uint64_t) { return none.data(); });
  });
}

/// Writes `bytes` bytes at offset `begin` of the file. `from` returns the bytes of a request at an offset
/// from `begin`.
void GradsTarget::WriteBytes(std::uint64_t begin, std::uint64_t bytes, int threads,
    const std::function<const void*(std::uint64_t offset)>& from) const
{
  RunTasksOrThrow((bytes + RequestBytes - 1) / RequestBytes, threads, [&](std::size_t task) {
    const std::uint64_t offset = task * RequestBytes;
    this->File->Write(begin + offset, from(offset), std::min(RequestBytes, bytes - offset));
  });
}

/// Returns whether the descriptor names the data file, as all descriptors of this class do.
bool GradsTarget::IsDescribed() const
{
  std::error_code ignored;
  if (!fs::is_regular_file(this->Descriptor, ignored)) {
    return false;
  }
  const std::string line = this->DataLine() + "\n";
  std::string begin(line.size(), '\0');
  std::ifstream file(this->Descriptor, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == line;
}

void GradsTarget::MakeFile(bool overwrite) const
{
  const bool isOurs = this->IsDescribed();
  // PreparePath() throws for the data file before the descriptor is removed.
  PreparePath(this->DataPath, overwrite, "the data file of " + this->Descriptor, [&] { return isOurs; });
  PreparePath(
      this->Descriptor, overwrite, "a descriptor with the line " + this->DataLine(), [&] { return isOurs; });
  // A run that ends within its first step leaves files that the next run may replace.
  ReplaceFile(this->Descriptor, this->DataLine() + "\n");
  PlainFile(this->DataPath, PlainFile::Purpose::Create);
}

/// Throws Error if the format grads does not support the step.
void GradsTarget::Check(const container::StepToWrite& step)
{
  const Catalog& data = step.Data;
  const auto require = [&](bool holds, const std::string& expected, const std::string& found) {
    if (!holds) {
      throw FileError(this->Descriptor, expected, found, "Write this channel as a container");
    }
  };
  require(data.Levels.size() == 1, "a grid with one level", fmt::format("{} levels", data.Levels.size()));
  const Box cells = GridOf(data);
  std::int64_t all = 0;
  for (const Patch& patch : data.Patches) {
    all += patch.Cells.Cells();
  }
  require(all == cells.Cells(), fmt::format("patches that fill a box of {} cells", cells.Cells()),
      fmt::format("patches of {} cells", all));
  std::vector<std::string> names;
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    const Variable& variable = data.Variables[v];
    const std::string name = NameForGrads(variable.Name);
    require(variable.Components == 1 && variable.Center == Centering::Cell, "scalars at the centres of cells",
        fmt::format("variable '{}'", PlainText(variable.Name)));
    require(step.Types[v] != ElementType::Int64, "values of float, double or int32",
        fmt::format("int64 for '{}'", name));
    require(std::count(names.begin(), names.end(), name) == 0, "names that differ not only in case", name);
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      require(data.PresenceOf(static_cast<int>(v), static_cast<int>(p)) == Presence::Stored,
          fmt::format("values of '{}' on all patches", name), fmt::format("no values on patch {}", p));
    }
    names.push_back(name);
  }
  this->Names = names;
  this->Cells = cells;
}

/// Exchanges values so that each rank gets some consecutive whole planes, and writes these planes. Repeats
/// both for the next planes, because the memory must stay bounded. `index`: number of the step in the file.
/// Collective: every writing rank calls it.
void GradsTarget::WriteValues(const Planes& planes, std::size_t index,
    const std::vector<container::PatchValues>& ofThisRank, int threads)
{
  const std::size_t some = std::max<std::size_t>(1, TurnBytes / planes.BytesOfPlane());
  Shuffle line(this->Ranks);
  std::string fault;
  for (std::size_t first = 0; first < planes.Count(); first += some * this->Ranks.Size()) {
    const auto planeOf = [&](int rank) { return std::min(planes.Count(), first + some * rank); };
    std::vector<std::uint64_t> begins;
    for (int rank = 0; rank <= this->Ranks.Size(); ++rank) {
      begins.push_back(planeOf(rank) * planes.BytesOfPlane());
    }
    line.Begin(begins);
    const std::string missing =
        CatchError([&] { planes.Give(first, planeOf(this->Ranks.Size()), ofThisRank, line); });
    if (!missing.empty()) {
      line.Fail(missing);
    }
    line.Exchange();
    const std::string problem = CatchError([&] {
      const Shuffle::Range range = line.OwnRange();
      this->WriteBytes(index * planes.Bytes() + begins[this->Ranks.Rank()], range.Count, threads,
          [&](std::uint64_t offset) { return range.Bytes + offset; });
    });
    fault = fault.empty() ? problem : fault;
  }
  RunOnAllRanks(this->Ranks, [&] {
    if (!fault.empty()) {
      throw Error(fault);
    }
    this->File->Flush();
  });
}

/// Writes the descriptor with the number of complete steps, so that readers see only complete steps.
void GradsTarget::Describe(const Catalog& data, std::size_t steps) const
{
  const char axes[] = {'x', 'y', 'z'};
  const Level& level = data.Levels[0];
  std::string text =
      this->DataLine() + fmt::format("\nTITLE PatchIO\nOPTIONS little_endian\nUNDEF {}\n", UndefinedText);
  for (int axis = 0; axis < 3; ++axis) {
    const double first = data.Origin[axis] + (this->Cells.Lower[axis] + 0.5) * level.Spacing[axis];
    text += fmt::format("{}DEF {} LINEAR {} {}\n", static_cast<char>(std::toupper(axes[axis])),
        this->Cells.Width(axis), axis < data.Dimension ? first : 0.0,
        axis < data.Dimension ? level.Spacing[axis] : 1.0);
  }
  text += fmt::format("TDEF {} LINEAR {} {}\nVARS {}\n", steps, this->Config.Start, this->Config.Interval,
      this->Names.size());
  for (std::size_t v = 0; v < this->Names.size(); ++v) {
    const std::string& words = data.Variables[v].LongName;
    text += fmt::format("{} {} 99 {}\n", this->Names[v], this->Cells.Width(2),
        PlainText(words.empty() ? data.Variables[v].Name : words));
  }
  text += "ENDVARS\n";
  ReplaceFile(this->Descriptor, text);
}

}  // namespace

std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel)
{
  return std::make_unique<GradsTarget>(ranks, channel);
}

}  // namespace patchio::output
