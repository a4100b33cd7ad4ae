#include "Write/StepWriter.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Formats/Container/StepLayout.h"
#include "Io/ArrayRange.h"
#include "Io/IoScheduler.h"
#include "Write/ChunkEncoder.h"

#include <fmt/format.h>
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace fs = std::filesystem;

namespace patchio::container {

namespace {

/// Number of bytes that the writer examines and then writes while the bytes are in the processor's cache.
constexpr std::uint64_t PieceBytes = 1 << 20;
/// Approximate number of bytes of a run of values that are neighbours in the file. One task writes a run.
constexpr std::uint64_t RunBytes = 4 << 20;

/// Computes the checksum and the range of values that are added one part after another.
class Examiner
{
public:
  Examiner(ElementType type, std::uint64_t index) : Type(type) { this->Result.Index = index; }

  void Add(const std::byte* values, std::size_t bytes)
  {
    this->Result.Checksum = Crc32(this->Result.Checksum, values, bytes);
    this->Range.Add(this->Type, 1, values, bytes / SizeOf(this->Type));
  }

  WrittenValues Finish()
  {
    this->Result.Range = this->Range.RangeOfComponent(0);
    return this->Result;
  }

private:
  const ElementType Type;
  ArrayRange Range;
  WrittenValues Result;
};

/// Divides values, sorted by offset, into runs of about RunBytes bytes that are neighbours in the file.
/// Returns the index of the first values of each run, and then the number of all values.
std::vector<std::size_t> RunBegins(const std::vector<ValuesAtOffset>& placed)
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

/// Returns whether any patch has a number that differs from the position of the patch in its level.
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
    throw SystemError(to, "permission to rename the file " + from, fault.value());
  }
}

}  // namespace

std::string RenamedFile(const std::string& name, FileNames names)
{
  const std::string stem = name.substr(0, name.rfind(".hdf")), mark = ".new";
  const bool isNew = stem.size() > mark.size() && EndsWith(stem, mark);
  const std::string usual = isNew ? stem.substr(0, stem.size() - mark.size()) : stem;
  return usual + (names == FileNames::New ? mark : "") + ".hdf";
}

StepWriter::StepWriter(Communicator& ranks, const std::string& folder, StepToWrite step, int ranksPerFile)
    : Ranks(ranks),
      Folder(folder),
      RanksPerFile(ranksPerFile > 0 ? std::min(ranksPerFile, ranks.Size()) : ranks.Size())
{
  this->Record.Data = std::move(step.Data);
  this->Record.Types = std::move(step.Types);
  Catalog& data = this->Record.Data;
  MakeEncodable(data);
  const int files = (ranks.Size() - 1) / this->RanksPerFile + 1;
  for (Patch& patch : data.Patches) {
    patch.File = patch.Writer / this->RanksPerFile;
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
    set.Compression = step.Compression.empty() ? FilterType::None : step.Compression[set.Variable];
  }
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    this->ValueOffsets.push_back(ValuesBefore(data, this->Rows, static_cast<int>(v)));
  }
  if (this->LeadsFile()) {
    this->Part = std::make_unique<PartFile>(this->PartPath(), this->PlanOfFile());
  }
  this->MakePacker();
}

void StepWriter::SetFileNames(FileNames names)
{
  for (std::string& file : this->Record.Files) {
    file = RenamedFile(file, names);
  }
}

void StepWriter::Create(FileNames names)
{
  this->SetFileNames(names);
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    if (this->LeadsFile()) {
      this->Part->File.Create();
      offsets = this->Part->File.Offsets();
    }
  });
  this->SetOffsets(GatherValues(this->Ranks, offsets));
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
  for (int axis = 0; axis < 3 && data.Grid == GridType::Rectilinear; ++axis) {
    all.push_back({tables::Positions(axis), ElementType::Float64, data.Axes[axis].Positions.size()});
    all.push_back({tables::Labels(axis), ElementType::Float64, data.Axes[axis].Labels.size()});
  }
  all.erase(
      std::remove_if(all.begin(), all.end(), [](const PlannedTable& table) { return table.Values == 0; }),
      all.end());
  return all;
}

/// Sets the offsets of the data sets and tables. `offsets`: offsets of the data sets of the first file, of
/// the tables, of the data sets of the second file, and so on.
void StepWriter::SetOffsets(const std::vector<std::uint64_t>& offsets)
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
         this->ValueOffsets[values.Variable][values.Patch] * SizeOf(this->Record.Types[values.Variable]);
}

void StepWriter::Write(const std::vector<PatchValues>& values, int threads)
{
  if (this->Fault.empty()) {
    this->Fault = CatchError([&] { this->WriteAll(values, threads); });
  }
}

void StepWriter::Write(HeldValues values, int threads)
{
  this->Write(values.Arrays, threads);
  const std::string fault = CatchError([&] {
    while (values.Next && this->Fault.empty()) {
      const auto next = std::move(values.Next);
      values = {};  // frees the memory of these values before the next values are made
      values = next();
      this->Write(values.Arrays, threads);
    }
  });
  this->Fault = this->Fault.empty() ? fault : this->Fault;
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
  std::vector<SetRange> ranges;
  for (const PatchValues& one : values) {
    const std::uint64_t begin =
        this->ValueOffsets[one.Variable][one.Patch] * SizeOf(this->Record.Types[one.Variable]);
    ranges.push_back({this->Packed.at(this->SetOf(one)), begin, this->BytesOf(one),
        static_cast<const std::byte*>(one.Values)});
  }
  const std::size_t before = this->Written.size();
  this->Written.resize(before + values.size());
  RunTasks(values.size(), threads, [&](std::size_t i) {
    Examiner examiner(
        this->Record.Types[values[i].Variable], this->IndexOf(values[i].Variable, values[i].Patch));
    examiner.Add(ranges[i].Values, ranges[i].Bytes);
    this->Written[before + i] = examiner.Finish();
  });
  this->Packer->Add(ranges, threads);
}

void StepWriter::WritePlain(const std::vector<PatchValues>& values, int threads)
{
  std::vector<ValuesAtOffset> placed;
  for (const PatchValues& one : values) {
    placed.push_back({this->OffsetOf(one), this->BytesOf(one), &one});
  }
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.Offset < b.Offset; });
  const std::vector<std::size_t> runs = RunBegins(placed);
  const std::size_t before = this->Written.size();
  this->Written.resize(before + placed.size());
  RunTasksOrThrow(runs.size() - 1, threads, [&](std::size_t run) {
    this->WriteRun(&placed[runs[run]], runs[run + 1] - runs[run], &this->Written[before + runs[run]]);
  });
}

/// Writes values that are neighbours in the file. `values`: the first of `count` entries. `written`: receives
/// the checksums and ranges. Writes about PieceBytes bytes right after examining these bytes, while the bytes
/// are in the processor's cache.
void StepWriter::WriteRun(const ValuesAtOffset* values, std::size_t count, WrittenValues* written) const
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
    const PatchValues& one = *values[i].Source;
    Examiner examiner(this->Record.Types[one.Variable], this->IndexOf(one.Variable, one.Patch));
    const auto* from = static_cast<const std::byte*>(one.Values);
    const std::uint64_t element = SizeOf(this->Record.Types[one.Variable]);
    for (std::uint64_t done = 0; done < values[i].Bytes;) {
      // A piece contains only whole values, because the types of the next values may be shorter.
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
    written[i] = examiner.Finish();
  }
  flush();
}

std::string StepWriter::Finish()
{
  RunOnAllRanks(this->Ranks, [&] { ThrowFault(this->Fault); });
  const auto all = UnpackValues<WrittenValues>(this->Ranks.Gather(PackValues(this->Written)));
  RunOnRankZero(this->Ranks, [&] { this->WriteTables(all); });
  if (this->Record.HasCompression()) {
    this->ExchangeParts();
    this->ReserveAndWriteChunks();
  }
  RunOnAllRanks(this->Ranks, [&] {
    if (this->LeadsFile()) {
      this->Part->File.WriteDescription();
    }
    this->File->Flush();
  });
  // All files are complete, so the files may become readable.
  RunOnAllRanks(this->Ranks, [&] {
    if (this->LeadsFile()) {
      Rename(this->PartPath(), this->Folder + "/" + this->Record.Files[this->FileOfRank()]);
      this->Part->File.WriteSignature();
    }
  });
  return this->Ranks.Rank() == 0 ? Encode(this->Record) : std::string();
}

void StepWriter::WriteTables(const std::vector<WrittenValues>& written)
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
  std::vector<double> least(arrays, ValueRange::EmptyRange().Least),
      greatest(arrays, ValueRange::EmptyRange().Greatest);
  std::vector<std::uint32_t> checksums(arrays, 0);
  for (const WrittenValues& one : written) {
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
  for (int axis = 0; axis < 3 && data.Grid == GridType::Rectilinear; ++axis) {
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

/// Throws Error if values are missing, because readers would mistake the unwritten space for values.
/// `written`: one flag per variable and row, whether values were written.
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

namespace {

/// Compresses the first values of each variable of the sample with Deflate. Returns two numbers per variable:
/// the bytes of these values before and after compression.
std::vector<double> DeflatedSizes(const StepToWrite& step, const std::vector<PatchValues>& sample)
{
  constexpr std::size_t most = 4 << 20,
                        piece = 64 << 10;  // bytes of a variable that are compressed, and bytes of a call
  ChunkEncoder encoder;
  std::vector<double> sizes(2 * step.Types.size(), 0);
  for (const PatchValues& one : sample) {
    const auto* values = static_cast<const std::byte*>(one.Values);
    const std::size_t element = SizeOf(step.Types[one.Variable]);
    const std::size_t bytes = ValuesOf(step.Data, one.Variable, one.Patch) * element;
    double* const of = &sizes[2 * one.Variable];
    for (std::size_t done = 0; done < bytes && of[0] < most; done += piece) {
      const std::size_t part = std::min(piece, bytes - done);
      of[0] += static_cast<double>(part);
      of[1] +=
          static_cast<double>(encoder.Encode(FilterType::Deflate, element, values + done, part).Bytes.size());
    }
  }
  return sizes;
}

}  // namespace

const char* NameOf(CompressionChoice choice)
{
  switch (choice) {
    case CompressionChoice::Deflate:
      return "deflate";
    case CompressionChoice::Zstd:
      return "zstd";
    case CompressionChoice::Auto:
      return "auto";
    case CompressionChoice::Off:
      break;
  }
  return "off";
}

std::vector<FilterType> ChooseCompression(Communicator& ranks, const StepToWrite& step,
    CompressionChoice choice, const std::vector<PatchValues>& sample)
{
  constexpr double worthwhileRatio = 0.9;
  const FilterType filter = choice == CompressionChoice::Zstd      ? FilterType::Zstd
                            : choice == CompressionChoice::Deflate ? FilterType::Deflate
                                                                   : FilterType::None;
  std::vector<FilterType> chosen(step.Types.size(), filter);
  if (choice != CompressionChoice::Auto) {
    return chosen;
  }
  std::vector<double> sizes;
  RunOnAllRanks(ranks, [&] { sizes = DeflatedSizes(step, sample); });
  sizes = ranks.Sum(sizes);
  for (std::size_t v = 0; v < chosen.size(); ++v) {
    chosen[v] = sizes[2 * v + 1] < worthwhileRatio * sizes[2 * v] ? FilterType::Deflate : FilterType::None;
  }
  return chosen;
}

// The methods below write compressed data sets: exchange incomplete chunks, reserve space for chunks, and
// write chunks.

namespace {

/// A compressed chunk, as reported to the rank that makes the file of the chunk.
struct PackedChunk
{
  int File;
  std::uint32_t SkippedFilters;
  std::uint64_t Chunk, Bytes;
};

}  // namespace

/// Makes the packer for the compressed data sets of this rank's file.
void StepWriter::MakePacker()
{
  std::vector<ChunkedSet> sets;
  for (const DataSet& set : this->PlanOfFile().DataSets) {
    if (set.Compression != FilterType::None) {
      const int files = static_cast<int>(this->Record.Files.size());
      ChunkedSet chunked;
      chunked.Filter = set.Compression;
      chunked.ElementBytes = SizeOf(this->Record.Types[set.Variable]);
      chunked.Bytes = set.Values * chunked.ElementBytes;
      chunked.ChunkBytes = chunked.ElementBytes;
      for (const std::uint64_t along : ChunkShapeOf(this->Record.Data, files, set)) {
        chunked.ChunkBytes *= along;
      }
      chunked.FirstChunk = this->Chunks;
      chunked.FirstByte = sets.empty() ? 0 : sets.back().FirstByte + sets.back().Bytes;
      this->Chunks += chunked.ChunkCount();
      this->Packed[{set.Level, set.Variable}] = sets.size();
      sets.push_back(chunked);
    }
  }
  this->Packer = std::make_unique<ChunkPacker>(std::move(sets));
}

/// Completes each chunk with values of several ranks, on the rank that has the first values of the chunk.
/// Collective: every rank of the communicator calls it.
void StepWriter::ExchangeParts()
{
  output::FragmentExchange fragments(this->Ranks);
  fragments.Exchange([&] {
    std::vector<std::map<std::uint64_t, int>> writers(this->Packed.size());
    for (const auto& [where, set] : this->Packed) {
      writers[set] = this->WritersOf(where[0], where[1]);
    }
    this->Packer->SendToOwners(fragments, this->Ranks.Rank(), [&](std::size_t set, std::uint64_t begin) {
      return std::prev(writers[set].upper_bound(begin))->second;
    });
  });
  RunOnAllRanks(this->Ranks, [&] { this->Packer->AddReceived(fragments, this->Threads); });
}

/// Returns the writer of each patch with values in a data set of this rank's file, by the offset of the first
/// value of the patch in the data set, in bytes.
std::map<std::uint64_t, int> StepWriter::WritersOf(int level, int variable) const
{
  const Catalog& data = this->Record.Data;
  std::map<std::uint64_t, int> writers;
  for (const int patch : this->Rows) {
    if (data.Patches[patch].Level == level && data.Patches[patch].File == this->FileOfRank() &&
        ValuesOf(data, variable, patch) > 0) {
      writers[this->ValueOffsets[variable][patch] * SizeOf(this->Record.Types[variable])] =
          data.Patches[patch].Writer;
    }
  }
  return writers;
}

/// Reserves space for all chunks, on the ranks that make files, and writes the chunks of each rank.
/// Collective: every rank of the communicator calls it.
void StepWriter::ReserveAndWriteChunks()
{
  std::vector<PackedChunk> packings;
  for (const auto& [number, chunk] : this->Packer->Chunks()) {
    packings.push_back({this->FileOfRank(), chunk.SkippedFilters, number, chunk.Bytes.size()});
  }
  packings = GatherValues(this->Ranks, packings);
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    std::vector<ChunkSize> sizes(this->Chunks);
    for (const PackedChunk& packing : packings) {
      if (packing.File == this->FileOfRank()) {
        sizes.at(packing.Chunk) = {packing.Bytes, packing.SkippedFilters};
      }
    }
    offsets = this->LeadsFile() ? this->Part->File.ReserveChunks(sizes) : offsets;
  });
  offsets = GatherValues(this->Ranks, offsets);  // file by file
  std::uint64_t before = 0;
  for (const DataSet& set : this->Record.DataSets) {
    if (set.File < this->FileOfRank() && set.Compression != FilterType::None) {
      before += ChunkCountOf(this->Record.Data, static_cast<int>(this->Record.Files.size()), set);
    }
  }
  RunOnAllRanks(this->Ranks, [&] {
    this->WriteChunks({offsets.begin() + static_cast<std::ptrdiff_t>(before),
        offsets.begin() + static_cast<std::ptrdiff_t>(before + this->Chunks)});
  });
}

/// Writes this rank's chunks. `offsets`: offsets of all chunks in this rank's file.
void StepWriter::WriteChunks(const std::vector<std::uint64_t>& offsets) const
{
  std::vector<iovec> buffers;
  std::uint64_t begin = 0, end = 0;
  const auto flush = [&] {
    if (!buffers.empty()) {
      this->File->Write(begin, buffers);
    }
    buffers.clear();
  };
  for (const auto& [number, chunk] : this->Packer->Chunks()) {
    if (offsets[number] != end || end - begin >= RunBytes) {
      flush();
      begin = end = offsets[number];
    }
    buffers.push_back({const_cast<std::byte*>(chunk.Bytes.data()), chunk.Bytes.size()});
    end += chunk.Bytes.size();
  }
  flush();
}

/// Splits `range` at the boundaries of chunks, and adds the ranges to OpenChunk::NewRanges.
void ChunkPacker::Queue(const SetRange& range)
{
  const ChunkedSet& set = this->Sets[range.Set];
  for (std::uint64_t done = 0; done < range.Bytes;) {
    const std::uint64_t at = range.Begin + done, number = at / set.ChunkBytes, begin = at % set.ChunkBytes;
    OpenChunk& chunk = this->Open[set.FirstChunk + number];
    chunk.Set = range.Set;
    chunk.Used = std::min(set.ChunkBytes, set.Bytes - number * set.ChunkBytes);
    const std::uint64_t bytes = std::min(range.Bytes - done, chunk.Used - begin);
    chunk.NewRanges.push_back({begin, bytes, range.Values + done});
    chunk.Ranges.emplace_back(begin, bytes);
    done += bytes;
  }
}

void ChunkPacker::Add(const std::vector<SetRange>& ranges, int threads)
{
  for (const SetRange& range : ranges) {
    this->Queue(range);
  }
  std::vector<OpenChunk*> touched;
  for (auto& [number, chunk] : this->Open) {
    if (!chunk.NewRanges.empty()) {
      touched.push_back(&chunk);
    }
  }
  tbb::enumerable_thread_specific<ChunkEncoder> encoders;
  RunTasksOrThrow(
      touched.size(), threads, [&](std::size_t i) { this->Encode(*touched[i], encoders.local()); });
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    if (chunk->second.Done) {
      this->Complete.emplace(chunk->first, std::move(chunk->second.Encoded));
    }
    chunk = chunk->second.Done ? this->Open.erase(chunk) : std::next(chunk);
  }
}

/// Copies the new ranges of a chunk, and compresses the chunk if the chunk is complete. If one range fills
/// the chunk, compresses the range without a copy.
void ChunkPacker::Encode(OpenChunk& chunk, ChunkEncoder& encoder) const
{
  const ChunkedSet& set = this->Sets[chunk.Set];
  const std::byte* values = chunk.NewRanges[0].Values;
  if (chunk.NewRanges[0].Bytes < set.ChunkBytes) {
    chunk.Values.resize(set.ChunkBytes);  // zeros after the end of the data set
    for (const RangeOfChunk& range : chunk.NewRanges) {
      std::copy_n(range.Values, range.Bytes, chunk.Values.data() + range.Begin);
    }
    values = chunk.Values.data();
  }
  chunk.NewRanges.clear();
  std::uint64_t there = 0;
  for (const auto& [begin, bytes] : chunk.Ranges) {
    there += bytes;
  }
  if (there == chunk.Used) {
    chunk.Encoded = encoder.Encode(set.Filter, set.ElementBytes, values, set.ChunkBytes);
    chunk.Done = true;
  }
}

void ChunkPacker::AddReceived(const output::FragmentExchange& from, int threads)
{
  std::vector<SetRange> ranges;
  from.ForReceived([&](std::uint64_t at, const std::byte* bytes, std::uint64_t count) {
    const auto after = std::upper_bound(this->Sets.begin(), this->Sets.end(), at,
        [](std::uint64_t byte, const ChunkedSet& set) { return byte < set.FirstByte; });
    const auto set = std::prev(after) - this->Sets.begin();
    ranges.push_back({static_cast<std::size_t>(set), at - this->Sets[set].FirstByte, count, bytes});
  });
  this->Add(ranges, threads);
}

}  // namespace patchio::container
