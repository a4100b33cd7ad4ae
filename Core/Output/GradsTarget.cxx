#include "Output/Target.h"

#include "Container/StepLayout.h"
#include "Io/IoScheduler.h"
#include "Support/Error.h"
#include "Support/MachineName.h"
#include "Support/PlainFile.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <mutex>

namespace fs = std::filesystem;

namespace patchio::output {
namespace {

/// GrADS takes this number for no value.
constexpr const char* Undefined = "-9.99e33";

Box BoundsOf(const Catalog& data)
{
  Box bounds = data.Patches.front().Cells;
  for (const Patch& patch : data.Patches) {
    for (int axis = 0; axis < 3; ++axis) {
      bounds.Lower[axis] = std::min(bounds.Lower[axis], patch.Cells.Lower[axis]);
      bounds.Upper[axis] = std::max(bounds.Upper[axis], patch.Cells.Upper[axis]);
    }
  }
  return bounds;
}

/// The same in lower case, as GrADS takes it.
std::string NameForGrads(const std::string& name)
{
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool fits =
      lower.size() <= 15 && std::isalpha(static_cast<unsigned char>(lower[0])) &&
      std::all_of(lower.begin(), lower.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!fits) {
    throw Error(fmt::format(
        "GrADS has names of at most 15 letters and digits, which begin with a letter, unlike '{}'.",
        PlainText(name)));
  }
  return lower;
}

template <typename T>
void ToFloats(const void* from, std::vector<float>& to)
{
  const T* values = static_cast<const T*>(from);
  std::transform(values, values + to.size(), to.begin(), [](T value) { return static_cast<float>(value); });
}

std::vector<float> FloatsOf(const void* values, std::size_t count, ElementType type)
{
  std::vector<float> floats(count);
  switch (type) {
    case ElementType::Float32:
      ToFloats<float>(values, floats);
      break;
    case ElementType::Float64:
      ToFloats<double>(values, floats);
      break;
    case ElementType::Int32:
      ToFloats<std::int32_t>(values, floats);
      break;
    default:
      throw Error(
          fmt::format("GrADS files hold floats, which PatchIO makes of float, double and int32, not of {}.",
              NameOf(type)));
  }
  return floats;
}

class GradsTarget : public Target
{
public:
  GradsTarget(Communicator& ranks, const Channel& channel)
      : Ranks(ranks),
        Overwrite(channel.Overwrite),
        Descriptor(channel.Path),
        DataPath(fs::path(channel.Path).replace_extension(".dat").string())
  {
  }

  std::unique_ptr<StepOnItsWay> Prepare(container::StepToWrite step) override
  {
    return std::make_unique<Step>(*this, std::move(step));
  }

private:
  class Step : public StepOnItsWay
  {
  public:
    Step(GradsTarget& into, container::StepToWrite step) : Into(into), What(std::move(step)) {}
    void Write(const std::vector<container::PatchValues>& mine, int threads) override
    {
      this->Into.WriteStep(this->What, mine, threads);
    }

  private:
    GradsTarget& Into;
    const container::StepToWrite What;
  };

  void Open();
  void WriteStep(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& mine, int threads);
  void MakeFile(bool overwrite) const;
  void Check(const Catalog& data);
  void WriteValues(
      const container::StepToWrite& step, const std::vector<container::PatchValues>& mine, int threads) const;
  void WritePatch(const container::StepToWrite& step, const container::PatchValues& values) const;
  void Describe(const Catalog& data, int steps) const;

  Communicator& Ranks;
  const bool Overwrite;
  const std::string Descriptor, DataPath;
  std::unique_ptr<PlainFile> File;  ///< from the first step on
  int Steps = 0;                    ///< that are in the file
  Box Cells;                        ///< of the first step
  std::vector<std::string> Names;
};

/// Collective.
void GradsTarget::Open()
{
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      this->MakeFile(this->Overwrite);
    }
  });
  RunOnAllRanks(this->Ranks,
      [&] { this->File = std::make_unique<PlainFile>(this->DataPath, PlainFile::Purpose::Update); });
}

void GradsTarget::WriteStep(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& mine, int threads)
{
  this->Check(step.Data);
  if (!this->File) {
    this->Open();
  }
  RunOnAllRanks(this->Ranks, [&] {
    this->WriteValues(step, mine, threads);
    this->File->Flush();
  });
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      this->Describe(step.Data, this->Steps + 1);
    }
  });
  ++this->Steps;
}

void GradsTarget::MakeFile(bool overwrite) const
{
  std::error_code ignored;
  for (const std::string& path : {this->Descriptor, this->DataPath}) {
    if (overwrite) {
      fs::remove(path, ignored);
    } else if (fs::exists(path, ignored)) {
      throw FileError(path, "no such file yet", "one",
          "Choose another path, or set \"overwrite\" in the output configuration");
    }
  }
  if (fs::path(this->Descriptor).has_parent_path()) {
    fs::create_directories(fs::path(this->Descriptor).parent_path(), ignored);
  }
  PlainFile(this->DataPath, PlainFile::Purpose::Create);
}

/// Steps of a GrADS file are all alike.
void GradsTarget::Check(const Catalog& data)
{
  const auto require = [&](bool holds, const std::string& expected, const std::string& found) {
    if (!holds) {
      throw FileError(this->Descriptor, expected, found, "Write this channel as a container");
    }
  };
  require(data.Levels.size() == 1, "a grid with one level", fmt::format("{}", data.Levels.size()));
  const Box cells = BoundsOf(data);
  std::int64_t all = 0;
  for (const Patch& patch : data.Patches) {
    all += patch.Cells.Cells();
  }
  require(all == cells.Cells(), fmt::format("patches that fill a box of {} cells", cells.Cells()),
      fmt::format("patches of {}", all));
  std::vector<std::string> names;
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    const Variable& variable = data.Variables[v];
    const std::string name = NameForGrads(variable.Name);
    require(variable.Components == 1 && variable.Center == Centering::Cell, "scalars at the centres of cells",
        fmt::format("variable '{}'", PlainText(variable.Name)));
    require(
        std::count(names.begin(), names.end(), name) == 0, "names that differ in more than the case", name);
    for (std::size_t p = 0; p < data.Patches.size(); ++p) {
      require(data.PresenceOf(static_cast<int>(v), static_cast<int>(p)) == Presence::Stored,
          fmt::format("values of '{}' on all patches", name), fmt::format("none on patch {}", p));
    }
    names.push_back(name);
  }
  require(this->Steps == 0 ||
              (names == this->Names && cells.Lower == this->Cells.Lower && cells.Upper == this->Cells.Upper),
      "the same variables and box at all steps", fmt::format("others at step {}", data.Step));
  this->Names = names;
  this->Cells = cells;
}

void GradsTarget::WriteValues(
    const container::StepToWrite& step, const std::vector<container::PatchValues>& mine, int threads) const
{
  std::mutex lock;
  std::string fault;
  RunTasks(mine.size(), threads, [&](std::size_t task) {
    const std::string problem = CatchError([&] { this->WritePatch(step, mine[task]); });
    const std::lock_guard<std::mutex> guard(lock);
    fault = fault.empty() ? problem : fault;
  });
  if (!fault.empty()) {
    throw Error(fault);
  }
}

/// Row by row, or in longer runs where the patch is as wide as the grid.
void GradsTarget::WritePatch(const container::StepToWrite& step, const container::PatchValues& values) const
{
  const Box& patch = step.Data.Patches[values.Patch].Cells;
  const std::vector<float> floats =
      FloatsOf(values.Values, static_cast<std::size_t>(patch.Cells()), step.Types[values.Variable]);
  const std::int64_t before =
      (this->Steps * std::int64_t(this->Names.size()) + values.Variable) * this->Cells.Cells();
  const bool wide = patch.Width(0) == this->Cells.Width(0);
  const bool whole = wide && patch.Width(1) == this->Cells.Width(1);
  const std::int64_t run = patch.Width(0) * (wide ? patch.Width(1) : 1) * (whole ? patch.Width(2) : 1);
  for (std::int64_t done = 0; done < patch.Cells(); done += run) {
    const std::int64_t j = done / patch.Width(0) % patch.Width(1) + patch.Lower[1] - this->Cells.Lower[1];
    const std::int64_t k = done / patch.Width(0) / patch.Width(1) + patch.Lower[2] - this->Cells.Lower[2];
    const std::int64_t cell =
        (k * this->Cells.Width(1) + j) * this->Cells.Width(0) + patch.Lower[0] - this->Cells.Lower[0];
    this->File->Write((before + cell) * sizeof(float), &floats[done], run * sizeof(float));
  }
}

/// Whoever opens the descriptor sees the steps that are complete.
void GradsTarget::Describe(const Catalog& data, int steps) const
{
  const char axes[] = {'x', 'y', 'z'};
  const Level& level = data.Levels[0];
  std::string text = fmt::format("DSET ^{}\nTITLE PatchIO\nOPTIONS little_endian\nUNDEF {}\n",
      fs::path(this->DataPath).filename().string(), Undefined);
  for (int axis = 0; axis < 3; ++axis) {
    const double first = data.Origin[axis] + (this->Cells.Lower[axis] + 0.5) * level.Spacing[axis];
    text += fmt::format("{}DEF {} LINEAR {} {}\n", static_cast<char>(std::toupper(axes[axis])),
        this->Cells.Width(axis), axis < data.Dimension ? first : 0.0,
        axis < data.Dimension ? level.Spacing[axis] : 1.0);
  }
  text += fmt::format("TDEF {} LINEAR 00:00Z01jan2000 1hr\nVARS {}\n", steps, this->Names.size());
  for (std::size_t v = 0; v < this->Names.size(); ++v) {
    const std::string& words = data.Variables[v].LongName;
    text += fmt::format("{} {} 99 {}\n", this->Names[v], this->Cells.Width(2),
        PlainText(words.empty() ? data.Variables[v].Name : words));
  }
  text += "ENDVARS\n";
  const std::string fresh = TemporaryName(this->Descriptor);
  {
    const PlainFile file(fresh, PlainFile::Purpose::Create);
    file.Write(0, text.data(), text.size());
    file.Flush();
  }
  fs::rename(fresh, this->Descriptor);
}

}  // namespace

std::unique_ptr<Target> MakeGradsTarget(Communicator& ranks, const Channel& channel)
{
  return std::make_unique<GradsTarget>(ranks, channel);
}

}  // namespace patchio::output
