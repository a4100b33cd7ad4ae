#include "Write/StepWriter.h"

#include "Base/Checksum.h"
#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Formats/Container/StepLayout.h"
#include "Io/ArrayRange.h"
#include "Io/RunTasksOrThrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>

namespace fs = std::filesystem;

namespace patchio::container {
namespace {

/// Values are looked at and written in pieces that stay in the processor's cache in between.
constexpr std::uint64_t PieceBytes = 1 << 20;
/// Neighbours in the file are one task, up to about so many bytes.
constexpr std::uint64_t RunBytes = 4 << 20;

/// Checksum and range of values, piece by piece.
class Examiner
{
public:
  Examiner(ElementType type, std::uint64_t index) : Type(type) { this->Result.Index = index; }

  void Add(const std::byte* values, std::size_t bytes)
  {
    this->Result.Checksum = Crc32(this->Result.Checksum, values, bytes);
    this->Range.Add(this->Type, 1, values, bytes / SizeOf(this->Type));
  }

  WrittenValues Take()
  {
    this->Result.Range = this->Range.OfComponent(0);
    return this->Result;
  }

private:
  const ElementType Type;
  ArrayRange Range;
  WrittenValues Result;
};

/// Where runs of neighbours begin, and the end of the last.
std::vector<std::size_t> RunsOf(const std::vector<PlacedValues>& placed)
{
  std::vector<std::size_t> runs;
  std::uint64_t begin = 0, end = 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (i == 0 || placed[i].Offset != end || end - begin >= RunBytes) {
      runs.push_back(i);
      begin = placed[i].Offset;
    }
    end = placed[i].Offset + placed[i].Bytes;
  }
  runs.push_back(placed.size());
  return runs;
}

/// True where patches go by other numbers than those of their places in their levels.
bool HasMarks(const Catalog& data)
{
  for (std::size_t p = 0; p < data.Patches.size(); ++p) {
    const Patch& patch = data.Patches[p];
    if (patch.Number != static_cast<int>(p) - data.Levels[patch.Level].FirstPatch) {
      return true;
    }
  }
  return false;
}

std::string NameOfFile(std::int64_t step, int file, int files)
{
  return files == 1 ? fmt::format("step.{:06}", step) : fmt::format("step.{:06}.{:05}", step, file);
}

void Rename(const std::string& from, const std::string& to)
{
  std::error_code fault;
  fs::rename(from, to, fault);
  if (fault) {
    throw SystemError(to, "a file that can be renamed", fault.value());
  }
}

}  // namespace

std::string RenamedFile(const std::string& name, FileNames names)
{
  const std::string stem = name.substr(0, name.rfind(".hdf")), mark = ".new";
  const bool isNew =
      stem.size() > mark.size() && stem.compare(stem.size() - mark.size(), mark.size(), mark) == 0;
  const std::string usual = isNew ? stem.substr(0, stem.size() - mark.size()) : stem;
  return usual + (names == FileNames::New ? mark : "") + ".hdf";
}

StepWriter::StepWriter(Communicator& ranks, const std::string& folder, StepToWrite step, int ranksAFile)
    : Ranks(ranks),
      Folder(folder),
      RanksAFile(ranksAFile > 0 ? std::min(ranksAFile, ranks.Size()) : ranks.Size())
{
  this->Record.Data = std::move(step.Data);
  this->Record.Types = std::move(step.Types);
  Catalog& data = this->Record.Data;
  MakeReadable(data);
  const int files = (ranks.Size() - 1) / this->RanksAFile + 1;
  for (Patch& patch : data.Patches) {
    patch.File = patch.Writer / this->RanksAFile;
  }
  for (int file = 0; file < files; ++file) {
    this->Record.Files.push_back(NameOfFile(data.Step, file, files) + ".hdf");
  }
  for (const Level& level : data.Levels) {
    std::vector<int>& counts = this->Record.PatchCounts.emplace_back(files, 0);
    for (int p = level.FirstPatch; p < level.FirstPatch + level.PatchCount; ++p) {
      ++counts[data.Patches[p].File];
    }
  }
  this->Rows = RowsOf(data);
  this->Record.DataSets = DataSetsOf(data, files);
  for (DataSet& set : this->Record.DataSets) {
    set.Compression = step.Compression.empty() ? FilterKind::None : step.Compression[set.Variable];
  }
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    this->Before.push_back(ValuesBefore(data, this->Rows, static_cast<int>(v)));
  }
  if (this->Leads()) {
    this->Part = std::make_unique<PartFile>(this->PartPath(), this->PlanOfFile());
  }
  this->MakePacker();
}

void StepWriter::NameFiles(FileNames names)
{
  for (std::string& file : this->Record.Files) {
    file = RenamedFile(file, names);
  }
}

void StepWriter::Create(FileNames names)
{
  this->NameFiles(names);
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Leads()) {
      this->Part->File.Create();
      offsets = this->Part->File.Offsets();
    }
  });
  this->TakeOffsets(GatherValues(this->Ranks, offsets));
  RunOnAllRanks(this->Ranks,
      [&] { this->File = std::make_unique<PlainFile>(this->PartPath(), PlainFile::Purpose::Update); });
}

StepWriter::PartFile::~PartFile()
{
  std::error_code ignored;
  if (this->File.IsCreated()) {
    fs::remove(this->Path, ignored);
  }
}

std::string StepWriter::PartPath() const
{
  const auto files = static_cast<int>(this->Record.Files.size());
  return this->Folder + "/" + NameOfFile(this->Record.Data.Step, this->FileOfRank(), files) + ".part";
}

StepFilePlan StepWriter::PlanOfFile() const
{
  const Catalog& data = this->Record.Data;
  StepFilePlan plan;
  plan.Data = &data;
  plan.Types = &this->Record.Types;
  plan.Rows = &this->Rows;
  plan.Files = static_cast<int>(this->Record.Files.size());
  for (const DataSet& set : this->Record.DataSets) {
    if (set.File == this->FileOfRank()) {
      plan.DataSets.push_back(set);
    }
  }
  if (this->FileOfRank() == 0) {
    plan.Tables = this->PlannedTables();
  }
  return plan;
}

std::vector<PlannedTable> StepWriter::PlannedTables() const
{
  const Catalog& data = this->Record.Data;
  const std::uint64_t patches = data.Patches.size(), arrays = data.Variables.size() * patches;
  std::vector<PlannedTable> all{{tables::Boxes, ElementType::Int32, 6 * patches},
      {tables::Numbers, ElementType::Int32, patches},
      {tables::Marks, ElementType::Int32, HasMarks(data) ? patches : 0},
      {tables::Present, ElementType::UInt8, arrays}, {tables::Least, ElementType::Float64, arrays},
      {tables::Greatest, ElementType::Float64, arrays}, {tables::Checksums, ElementType::UInt32, arrays},
      {tables::Meshes, ElementType::Int64, data.Meshes.size() * (1 + 2 * MeshSize::MostLists)}};
  for (int axis = 0; axis < 3 && data.Grid == GridKind::Rectilinear; ++axis) {
    all.push_back({tables::Positions(axis), ElementType::Float64, data.Axes[axis].Positions.size()});
    all.push_back({tables::Labels(axis), ElementType::Float64, data.Axes[axis].Labels.size()});
  }
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const PlannedTable& table) { return table.Values == 0; }),
      all.end());
  return all;
}

/// offsets: of the data sets of the first file and of its tables, of the data sets of the second, and so on.
void StepWriter::TakeOffsets(const std::vector<std::uint64_t>& offsets)
{
  std::size_t next = 0;
  for (int file = 0; file < static_cast<int>(this->Record.Files.size()); ++file) {
    for (DataSet& set : this->Record.DataSets) {
      if (set.File == file) {
        set.Offset = offsets[next++];
      }
      if (set.File == file && file == this->FileOfRank()) {
        this->OffsetsOfSets[{set.Level, set.Variable}] = set.Offset;
      }
    }
    for (const PlannedTable& table : file == 0 ? this->PlannedTables() : std::vector<PlannedTable>()) {
      this->Record.Tables[table.Name] = {offsets[next++], table.Values * SizeOf(table.Type), 0};
    }
  }
}

std::uint64_t StepWriter::BytesOf(const PatchValues& values) const
{
  return ValuesOf(this->Record.Data, values.Variable, values.Patch) *
         SizeOf(this->Record.Types[values.Variable]);
}

std::uint64_t StepWriter::OffsetOf(const PatchValues& values) const
{
  const int level = this->Record.Data.Patches[values.Patch].Level;
  return this->OffsetsOfSets.at({level, values.Variable}) +
         this->Before[values.Variable][values.Patch] * SizeOf(this->Record.Types[values.Variable]);
}

void StepWriter::Write(const std::vector<PatchValues>& values, int threads)
{
  if (this->Fault.empty()) {
    this->Fault = CatchError([&] { this->WriteAll(values, threads); });
  }
}

void StepWriter::WriteAll(const std::vector<PatchValues>& values, int threads)
{
  std::vector<PatchValues> plain, packed;
  for (const PatchValues& one : values) {
    (this->IsPacked(one) ? packed : plain).push_back(one);
  }
  this->Threads = threads;
  this->WritePlain(plain, threads);
  this->Pack(packed, threads);
}

void StepWriter::Pack(const std::vector<PatchValues>& values, int threads)
{
  std::vector<SetPart> parts;
  for (const PatchValues& one : values) {
    const std::uint64_t begin =
        this->Before[one.Variable][one.Patch] * SizeOf(this->Record.Types[one.Variable]);
    parts.push_back({this->Packed.at(this->SetOf(one)), begin, this->BytesOf(one),
        static_cast<const std::byte*>(one.Values)});
  }
  const std::size_t before = this->Written.size();
  this->Written.resize(before + values.size());
  RunTasks(values.size(), threads, [&](std::size_t i) {
    Examiner examiner(
        this->Record.Types[values[i].Variable], this->IndexOf(values[i].Variable, values[i].Patch));
    examiner.Add(parts[i].Values, parts[i].Bytes);
    this->Written[before + i] = examiner.Take();
  });
  this->Packer->Add(parts, threads);
}

void StepWriter::WritePlain(const std::vector<PatchValues>& values, int threads)
{
  std::vector<PlacedValues> placed;
  for (const PatchValues& one : values) {
    placed.push_back({this->OffsetOf(one), this->BytesOf(one), &one});
  }
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.Offset < b.Offset; });
  const std::vector<std::size_t> runs = RunsOf(placed);
  const std::size_t before = this->Written.size();
  this->Written.resize(before + placed.size());
  RunTasksOrThrow(runs.size() - 1, threads, [&](std::size_t run) {
    this->WriteRun(&placed[runs[run]], runs[run + 1] - runs[run], &this->Written[before + runs[run]]);
  });
}

/// Neighbours in the file: a piece is looked at, and goes to the storage while the processor's cache has it.
void StepWriter::WriteRun(const PlacedValues* values, std::size_t count, WrittenValues* written) const
{
  std::vector<iovec> buffers;
  std::uint64_t offset = values[0].Offset, waiting = 0;
  const auto flush = [&] {
    this->File->Write(offset, buffers);
    offset += waiting;
    waiting = 0;
    buffers.clear();
  };
  for (std::size_t i = 0; i < count; ++i) {
    const PatchValues& one = *values[i].Which;
    Examiner examiner(this->Record.Types[one.Variable], this->IndexOf(one.Variable, one.Patch));
    const auto* from = static_cast<const std::byte*>(one.Values);
    const std::uint64_t element = SizeOf(this->Record.Types[one.Variable]);
    for (std::uint64_t done = 0; done < values[i].Bytes;) {
      // Whole values: neighbours may be shorter ones.
      const std::uint64_t room = (PieceBytes - waiting) / element * element;
      const std::uint64_t piece = std::min(values[i].Bytes - done, room);
      examiner.Add(from + done, piece);
      buffers.push_back({const_cast<std::byte*>(from + done), piece});
      done += piece;
      waiting += piece;
      if (PieceBytes - waiting < sizeof(double)) {
        flush();
      }
    }
    written[i] = examiner.Take();
  }
  flush();
}

std::string StepWriter::Finish()
{
  RunOnAllRanks(this->Ranks, [&] {
    if (!this->Fault.empty()) {
      throw Error(this->Fault);
    }
  });
  const auto all = ValuesInTexts<WrittenValues>(this->Ranks.Gather(TextOfValues(this->Written)));
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      this->WriteTables(all);
    }
  });
  if (this->Record.HasCompression()) {
    this->ExchangeParts();
    this->PlaceChunks();
  }
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Leads()) {
      this->Part->File.WriteDescription();
    }
    this->File->Flush();
  });
  // All files have all that they shall have: now they may be read.
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Leads()) {
      Rename(this->PartPath(), this->Folder + "/" + this->Record.Files[this->FileOfRank()]);
      this->Part->File.GiveSignature();
    }
  });
  return this->Ranks.Rank() == 0 ? Encode(this->Record) : std::string();
}

void StepWriter::WriteTables(const std::vector<WrittenValues>& all)
{
  const Catalog& data = this->Record.Data;
  const std::size_t patches = data.Patches.size(), arrays = patches * data.Variables.size();
  std::vector<std::size_t> rowOf(patches);
  std::vector<std::int32_t> boxes, numbers, marks;
  for (std::size_t row = 0; row < patches; ++row) {
    const Patch& patch = data.Patches[this->Rows[row]];
    rowOf[this->Rows[row]] = row;
    numbers.push_back(this->Rows[row] - data.Levels[patch.Level].FirstPatch);
    marks.push_back(patch.Number);
    for (int axis = 0; axis < 3; ++axis) {
      boxes.insert(boxes.end(), {patch.Cells.Lower[axis], patch.Cells.Upper[axis]});
    }
  }
  std::vector<std::uint8_t> present(arrays, 0);
  std::vector<double> least(arrays, ValueRange::None().Least), greatest(arrays, ValueRange::None().Greatest);
  std::vector<std::uint32_t> checksums(arrays, 0);
  for (const WrittenValues& one : all) {
    const std::size_t at = one.Index / patches * patches + rowOf[one.Index % patches];
    present[at] = 1;
    least[at] = one.Range.Least;
    greatest[at] = one.Range.Greatest;
    checksums[at] = one.Checksum;
  }
  this->CheckComplete(present);
  this->WriteTable(tables::Boxes, boxes);
  this->WriteTable(tables::Numbers, numbers);
  this->WriteTable(tables::Marks, marks);
  this->WriteTable(tables::Present, present);
  this->WriteTable(tables::Least, least);
  this->WriteTable(tables::Greatest, greatest);
  this->WriteTable(tables::Checksums, checksums);
  this->WriteTable(tables::Meshes, this->SizesOfMeshes());
  for (int axis = 0; axis < 3 && data.Grid == GridKind::Rectilinear; ++axis) {
    this->WriteTable(tables::Positions(axis), data.Axes[axis].Positions);
    this->WriteTable(tables::Labels(axis), data.Axes[axis].Labels);
  }
}

std::vector<std::int64_t> StepWriter::SizesOfMeshes() const
{
  std::vector<std::int64_t> sizes;
  for (std::size_t row = 0; row < this->Record.Data.Meshes.size(); ++row) {
    const MeshSize& mesh = this->Record.Data.Meshes[this->Rows[row]];
    sizes.push_back(mesh.Points);
    sizes.insert(sizes.end(), mesh.Cells.begin(), mesh.Cells.end());
    sizes.insert(sizes.end(), mesh.Connectivity.begin(), mesh.Connectivity.end());
  }
  return sizes;
}

template <typename T>
void StepWriter::WriteTable(const std::string& name, const std::vector<T>& values)
{
  const auto found = this->Record.Tables.find(name);
  if (found != this->Record.Tables.end()) {
    const std::size_t bytes = values.size() * sizeof(T);
    found->second.Checksum = Crc32(0, values.data(), bytes);
    this->File->Write(found->second.Offset, values.data(), bytes);
  }
}

/// Room that nobody has written to must not be taken for values.
void StepWriter::CheckComplete(const std::vector<std::uint8_t>& written) const
{
  const Catalog& data = this->Record.Data;
  for (int v = 0; v < static_cast<int>(data.Variables.size()); ++v) {
    for (std::size_t row = 0; row < this->Rows.size(); ++row) {
      const int patch = this->Rows[row];
      if (ValuesOf(data, v, patch) > 0 && written[this->IndexOf(v, static_cast<int>(row))] == 0) {
        throw Error(fmt::format("{}: step {} is incomplete, because no rank has written '{}' on patch {}.",
            this->Folder, data.Step, PlainText(data.Variables[v].Name), patch));
      }
    }
  }
}

}  // namespace patchio::container
