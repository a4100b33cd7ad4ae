#include "Write/Target.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"
#include "Formats/Container/StepLayout.h"
#include "Io/IoScheduler.h"
#include "Write/FloatFile.h"
#include "Write/Sensor.h"
#include "Write/Shuffle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

/// Value of undefined points, as a float and as a text for the descriptor.
constexpr float Undefined = -9.99e33F;
constexpr const char* UndefinedText = "-9.99e33";
/// RoundBytes: limit on the bytes that a rank receives in one exchange, unless one plane has more.
/// RequestBytes: limit on the bytes of a write request.
constexpr std::uint64_t RoundBytes = 8 << 20, RequestBytes = 1 << 20;

/// Returns `name` in lower case. Throws Error if GrADS does not accept the name.
std::string NameForGrads(const std::string& name)
{
  const std::string lower = LowerCase(name);
  const bool fits =
      lower.size() <= 15 && std::isalpha(static_cast<unsigned char>(lower[0])) &&
      std::all_of(lower.begin(), lower.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!fits || lower == "endvars") {
    throw Error(
        fmt::format("The name '{}' is invalid in GrADS. Use at most 15 letters, digits and underscores, "
                    "beginning with a letter, and not ENDVARS, which ends the list of variables.",
            PlainText(name)));
  }
  return lower;
}

/// The horizontal planes of a step in the order of the file: by variable, and then by height.
class Planes
{
public:
  Planes(const container::StepToWrite& step, const Box& cells) : Step(step), Cells(cells) {}

  std::size_t Count() const { return this->Step.Data.Variables.size() * this->Cells.Width(2); }
  std::uint64_t BytesOfPlane() const { return this->Cells.Width(0) * this->Cells.Width(1) * sizeof(float); }
  std::uint64_t Bytes() const { return this->Count() * this->BytesOfPlane(); }

  /// Adds the rows of this rank's `values` in the planes begin .. end - 1 to `shuffle`. An offset in the
  /// shuffle is an offset from the beginning of the step, in bytes.
  void AddRows(std::size_t begin, std::size_t end, const std::vector<container::PatchValues>& values,
      Shuffle& shuffle) const;

private:
  const container::StepToWrite& Step;
  const Box Cells;
};

void Planes::AddRows(std::size_t begin, std::size_t end, const std::vector<container::PatchValues>& values,
    Shuffle& shuffle) const
{
  const auto layers = static_cast<std::size_t>(this->Cells.Width(2));
  std::vector<float> floats;
  for (const container::PatchValues& array : values) {
    const Box& patch = this->Step.Data.Patches[array.Patch].Cells;
    const std::int64_t row = patch.Width(0), count = row * patch.Width(1);
    floats.resize(count);
    for (int z = patch.Lower[2]; z <= patch.Upper[2]; ++z) {
      const std::size_t plane = array.Variable * layers + (z - this->Cells.Lower[2]);
      if (plane < begin || plane >= end) {
        continue;
      }
      CopyFloats(
          this->Step.Types[array.Variable], array.Values, (z - patch.Lower[2]) * count, count, floats.data());
      for (int y = patch.Lower[1]; y <= patch.Upper[1]; ++y) {
        const std::size_t position = IndexIn(this->Cells, {patch.Lower[0], y, this->Cells.Lower[2]});
        shuffle.Add(plane * this->BytesOfPlane() + position * sizeof(float),
            &floats[(y - patch.Lower[1]) * row], row * sizeof(float));
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

  PendingStep Prepare(container::StepToWrite step, const SimulationArrays&) override
  {
    return [this, stepToWrite = std::move(step)](const container::HeldValues& values, int threads) {
      this->WriteStep(stepToWrite, values.Arrays, threads);
    };
  }
  void MarkLost(std::int64_t step) override { this->Lost.Add(step); }

private:
  void Open();
  void WriteStep(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& values, int threads);
  void TryToWrite(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& values, int threads);
  void FillLost(std::size_t steps, std::uint64_t bytes, int threads);
  void MakeFiles(bool overwrite) const;
  bool IsDescribed() const;
  std::string DataLine() const { return "DSET ^" + fs::path(this->DataPath).filename().string(); }
  void CheckSupported(const container::StepToWrite& step);
  void WriteValues(const Planes& planes, std::size_t index, const std::vector<container::PatchValues>& values,
      int threads);
  void WriteBytes(std::uint64_t begin, std::uint64_t bytes, int threads,
      const std::function<const void*(std::uint64_t offset)>& from) const;
  void CheckFileSize(std::uint64_t bytes);
  void WriteDescriptor(const Catalog& data, std::size_t steps) const;

  Communicator& Ranks;
  const Channel& Config;
  const std::string Descriptor, DataPath;
  std::unique_ptr<PlainFile> File;  ///< data file; null before the first step
  std::size_t Steps = 0;            ///< number of steps in the file, including lost steps
  UniformSteps Uniform;
  LostSteps Lost;
  Box Cells;
  std::vector<std::string> Names;
};

/// Makes the descriptor and the data file on rank 0, and opens the data file on all ranks. Collective: every
/// writing rank calls it.
void GradsTarget::Open()
{
  RunOnRankZero(this->Ranks, [&] { this->MakeFiles(this->Config.Overwrite); });
  RunOnAllRanks(this->Ranks,
      [&] { this->File = std::make_unique<PlainFile>(this->DataPath, PlainFile::Purpose::Update); });
}

void GradsTarget::WriteStep(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& values, int threads)
{
  this->Uniform.CheckNumber(step.Data.Step);
  this->Uniform.CheckDescription(step.Data);
  const std::string fault = CatchError([&] { this->TryToWrite(step, values, threads); });
  if (!fault.empty()) {
    this->MarkLost(step.Data.Step);
    throw Error(fault);
  }
  this->Uniform.Add(step.Data);
}

void GradsTarget::TryToWrite(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& values, int threads)
{
  this->CheckSupported(step);
  if (!this->File) {
    this->Open();
  }
  const Planes planes(step, this->Cells);
  const std::uint64_t bytes = planes.Bytes();
  this->CheckFileSize(this->Steps * bytes);
  const std::size_t lost = this->Lost.Before(step.Data.Step).size();
  this->FillLost(lost, bytes, threads);
  const std::size_t position = this->Steps + lost;
  this->WriteValues(planes, position, values, threads);
  RunOnRankZero(this->Ranks, [&] { this->WriteDescriptor(step.Data, position + 1); });
  this->Steps = position + 1;
  this->Lost.MarkWritten(step.Data.Step);
}

/// Throws Error if the data file has fewer than `bytes` bytes, the size of all written steps. Collective:
/// every writing rank calls it.
void GradsTarget::CheckFileSize(std::uint64_t bytes)
{
  RunOnAllRanks(this->Ranks, [&] {
    const std::uint64_t found = this->Ranks.Rank() == 0 ? this->File->Size() : bytes;
    if (found < bytes) {
      throw FileError(this->DataPath, fmt::format("{} bytes, the size that this run has written", bytes),
          fmt::format("{} bytes", found),
          "Another program has changed the file. Do not change a file while a run writes to the file");
    }
  });
}

/// Writes undefined values for `steps` lost steps, so that later steps have the right dates. `bytes`: size of
/// a step. Collective: every writing rank calls it.
void GradsTarget::FillLost(std::size_t steps, std::uint64_t bytes, int threads)
{
  RunOnAllRanks(this->Ranks, [&] {
    const std::vector<float> none(RequestBytes / sizeof(float), Undefined);
    this->WriteBytes(this->Steps * bytes, this->Ranks.Rank() == 0 ? steps * bytes : 0, threads,
        [&](std::uint64_t) { return none.data(); });
  });
}

/// Writes `bytes` bytes at offset `begin` of the data file, with `threads` requests at a time. from(offset)
/// returns the bytes for begin + offset.
void GradsTarget::WriteBytes(std::uint64_t begin, std::uint64_t bytes, int threads,
    const std::function<const void*(std::uint64_t offset)>& from) const
{
  RunTasksOrThrow((bytes + RequestBytes - 1) / RequestBytes, threads, [&](std::size_t task) {
    const std::uint64_t offset = task * RequestBytes;
    this->File->Write(begin + offset, from(offset), std::min(RequestBytes, bytes - offset));
  });
}

/// Returns whether the descriptor begins with the line that names the data file. All descriptors of this
/// class begin with that line.
bool GradsTarget::IsDescribed() const
{
  const std::string line = this->DataLine() + "\n";
  std::string begin;
  CatchError([&] { begin = FirstBytes(this->Descriptor, line.size()); });
  return begin == line;
}

void GradsTarget::MakeFiles(bool overwrite) const
{
  const bool isOurs = this->IsDescribed();
  // If the data file cannot be replaced, the first call throws, so that the descriptor stays.
  PreparePath(this->DataPath, overwrite, "the data file of " + this->Descriptor, [&] { return isOurs; });
  PreparePath(
      this->Descriptor, overwrite, "a descriptor with the line " + this->DataLine(), [&] { return isOurs; });
  // If a run ends within the first step, the next run may replace the files, because the descriptor names the
  // data file.
  ReplaceFile(this->Descriptor, this->DataLine() + "\n");
  PlainFile(this->DataPath, PlainFile::Purpose::Create);
}

/// Sets Names and Cells. Throws Error if the format grads does not support the step.
void GradsTarget::CheckSupported(const container::StepToWrite& step)
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
    all += patch.Cells.CellCount();
  }
  require(all == cells.CellCount(), fmt::format("patches that fill a box of {} cells", cells.CellCount()),
      fmt::format("patches of {} cells", all));
  std::vector<std::string> names;
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    const Variable& variable = data.Variables[v];
    const std::string name = NameForGrads(variable.Name);
    require(variable.Components == 1 && variable.Center == Centering::Cell, "scalars at the centres of cells",
        fmt::format("'{}' with {} at {}", PlainText(variable.Name),
            CountText(variable.Components, "component"),
            variable.Center == Centering::Node ? "nodes" : "cells"));
    require(step.Types[v] != ElementType::Int64, "values of a type other than int64",
        fmt::format("int64 for '{}'", name));
    require(std::count(names.begin(), names.end(), name) == 0,
        "names that differ in more than upper and lower case",
        fmt::format("two variables with the name '{}'", name));
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      require(data.PresenceOf(static_cast<int>(v), static_cast<int>(p)) == Presence::Stored,
          fmt::format("values of '{}' on all patches", name), fmt::format("no values on patch {}", p));
    }
    names.push_back(name);
  }
  this->Names = names;
  this->Cells = cells;
}

/// Exchanges values so that each rank receives several consecutive planes, and writes these planes. Repeats
/// the exchange and the write until all planes are written, because a single exchange could exceed the
/// memory. `index`: index of the step in the file. Collective: every writing rank calls it.
void GradsTarget::WriteValues(
    const Planes& planes, std::size_t index, const std::vector<container::PatchValues>& values, int threads)
{
  const std::size_t some = std::max<std::size_t>(1, RoundBytes / planes.BytesOfPlane());
  Shuffle shuffle(this->Ranks);
  std::string fault;
  for (std::size_t first = 0; first < planes.Count(); first += some * this->Ranks.Size()) {
    const auto planeOf = [&](int rank) { return std::min(planes.Count(), first + some * rank); };
    std::vector<std::uint64_t> begins;
    for (int rank = 0; rank <= this->Ranks.Size(); ++rank) {
      begins.push_back(planeOf(rank) * planes.BytesOfPlane());
    }
    shuffle.Begin(begins);
    shuffle.Exchange([&] { planes.AddRows(first, planeOf(this->Ranks.Size()), values, shuffle); });
    const std::string problem = CatchError([&] {
      const Shuffle::Part part = shuffle.ReceivedPart();
      this->WriteBytes(index * planes.Bytes() + begins[this->Ranks.Rank()], part.Count, threads,
          [&](std::uint64_t offset) { return part.Bytes + offset; });
    });
    fault = fault.empty() ? problem : fault;
  }
  RunOnAllRanks(this->Ranks, [&] {
    ThrowFault(fault);
    this->File->Flush();
  });
}

/// Writes the descriptor. `steps`: number of complete steps in the data file. Readers see only these steps.
void GradsTarget::WriteDescriptor(const Catalog& data, std::size_t steps) const
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
