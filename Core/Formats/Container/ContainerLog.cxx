#include "Formats/Container/ContainerLog.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Catalog/CheckCatalog.h"
#include "Formats/Container/StepLayout.h"
#include "Hdf5/Structure.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <utility>

namespace fs = std::filesystem;

namespace patchio::container {

namespace {

/// The type of a fragment; see RecordLog.
enum FragmentType : unsigned char
{
  Whole = 1,
  First,
  Middle,
  Last
};

std::string FragmentHeader(std::string_view data, FragmentType type)
{
  std::string checked(1, static_cast<char>(type));
  checked += data;
  const std::uint32_t sum = Crc32(0, checked.data(), checked.size());
  std::string head;
  for (int i = 0; i < 4; ++i) {
    head += static_cast<char>(sum >> 8 * i);
  }
  head += static_cast<char>(data.size() & 0xff);
  head += static_cast<char>(data.size() >> 8);
  return head + static_cast<char>(type);
}

/// Splits the bytes of a log into fragments, and collects the records.
class Scanner
{
public:
  explicit Scanner(std::string_view bytes) : Bytes(bytes) {}

  RecordLog Run()
  {
    while (this->Position + RecordLog::HeaderBytes <= this->Bytes.size()) {
      this->ScanFragment();
    }
    const std::uint64_t end = std::max(this->Log.End, this->DamageEnd);
    this->Log.DamagedBytes += end - this->Log.End;
    this->Log.TrailingBytes = this->Bytes.size() - end;
    return std::move(this->Log);
  }

private:
  void ScanFragment();
  void Skip(std::size_t length, bool cut);
  void AddFragment(FragmentType type, std::string_view data);
  std::uint64_t NextBlock() const
  {
    return (this->Position / RecordLog::BlockBytes + 1) * RecordLog::BlockBytes;
  }
  unsigned ByteAt(std::uint64_t offset) const { return static_cast<unsigned char>(this->Bytes[offset]); }

  std::string_view Bytes;
  std::uint64_t Position = 0;
  std::uint64_t Begin = 0;      ///< offset of the current record
  std::string RecordData;       ///< data of the current record so far
  bool InRecord = false;        ///< the current record is not complete
  bool Searching = false;       ///< searching for an undamaged fragment behind a damaged one
  std::uint64_t DamageEnd = 0;  ///< end of the last fragment that has its full length but is damaged
  /// Bytes that searches may still check. The total is limited, so that a forged log cannot take hours.
  std::uint64_t Budget = std::uint64_t(1) << 26;
  RecordLog Log;
};

void Scanner::ScanFragment()
{
  const std::uint64_t left = this->NextBlock() - this->Position;
  if (left < RecordLog::HeaderBytes) {
    this->Position += left;
    return;
  }
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    sum |= this->ByteAt(this->Position + i) << 8 * i;
  }
  const std::size_t length = this->ByteAt(this->Position + 4) | this->ByteAt(this->Position + 5) << 8;
  const std::uint64_t behind = this->Position + RecordLog::HeaderBytes + length;
  const bool cut = RecordLog::HeaderBytes + length > left || behind > this->Bytes.size();
  if (cut || Crc32(0, this->Bytes.data() + this->Position + 6, length + 1) != sum) {
    this->Skip(length, cut);
    return;
  }
  this->Searching = false;
  const auto type = static_cast<FragmentType>(this->ByteAt(this->Position + 6));
  const std::string_view data = this->Bytes.substr(this->Position + RecordLog::HeaderBytes, length);
  this->Position = behind;
  this->AddFragment(type, data);
}

/// Goes to the second byte of a damaged fragment, because the stated length may be wrong, or to the next
/// block if Budget is spent. `cut`: true if the block or the log ends before the fragment does, as happens
/// while a record is being written.
void Scanner::Skip(std::size_t length, bool cut)
{
  this->InRecord = false;
  const unsigned type = this->ByteAt(this->Position + 6);
  const bool plausible = !cut && type >= Whole && type <= Last;
  if (plausible && !this->Searching) {
    this->DamageEnd = this->Position + RecordLog::HeaderBytes + length;
  }
  this->Searching = true;
  const std::uint64_t checked = plausible ? length : 0;
  this->Position = checked < this->Budget ? this->Position + 1 : this->NextBlock();
  this->Budget -= std::min(this->Budget, checked);
}

void Scanner::AddFragment(FragmentType type, std::string_view data)
{
  const bool begins = type == Whole || type == First;
  if (begins) {
    this->RecordData.clear();
    this->Begin = this->Position - RecordLog::HeaderBytes - data.size();
  }
  const bool fits = (begins || this->InRecord) && type >= Whole && type <= Last;
  this->InRecord = fits && type != Whole && type != Last;
  if (fits) {
    this->RecordData += data;
  }
  if (!fits || this->InRecord) {
    return;
  }
  // Without damage, only the zeros at the end of a block lie between records.
  const std::uint64_t gap = this->Begin - this->Log.End;
  this->Log.DamagedBytes += gap < RecordLog::HeaderBytes ? 0 : gap;
  this->Log.End = this->Position;
  this->Log.Records.push_back(std::move(this->RecordData));
  this->RecordData.clear();
}

}  // namespace

std::string RecordLog::Frame(std::string_view record, std::uint64_t end)
{
  std::string framed;
  bool first = true;
  do {
    std::size_t left = BlockBytes - (end + framed.size()) % BlockBytes;
    if (left < HeaderBytes) {
      framed.append(left, '\0');
      left = BlockBytes;
    }
    const std::string_view part = record.substr(0, left - HeaderBytes);
    record.remove_prefix(part.size());
    const bool last = record.empty();
    framed += FragmentHeader(part, first ? (last ? Whole : First) : last ? Last : Middle);
    framed += part;
    first = false;
  } while (!record.empty());
  return framed;
}

RecordLog ReadRecords(std::string_view bytes)
{
  return Scanner(bytes).Run();
}

namespace {

constexpr const char* Advice = "Write this step again. The fault concerns only this step";
/// Limit on the size of a log, above that of any real one.
constexpr std::uint64_t MostBytes = std::uint64_t(1) << 32;

std::string ReadBytes(const PlainFile& file)
{
  const std::uint64_t size = file.Size();
  if (size > MostBytes) {
    throw FileError(file.Path(), "a log of at most 4 GB", fmt::format("{} bytes", size));
  }
  std::string bytes(size, '\0');
  bytes.resize(file.ReadUpTo(0, bytes.data(), bytes.size()));
  return bytes;
}

/// The attributes that show whether a log has changed since it was read.
using LogState = std::array<std::int64_t, 5>;

LogState StateOf(const std::string& folder)
{
  struct stat status;
  if (::stat(LogPathOf(folder).c_str(), &status) != 0) {
    return {};
  }
  return {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino), status.st_size,
      status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// A cache of the log that was read last, for FindStep(). Thread-safe.
class LogCache
{
public:
  static LogCache& Instance()
  {
    static LogCache instance;
    return instance;
  }

  void Store(const std::string& folder, const LogState& state, std::shared_ptr<const ContainerLog> log)
  {
    const std::lock_guard<std::mutex> lock(this->Mutex);
    this->Folder = folder;
    this->State = state;
    this->Log = std::move(log);
  }

  /// Returns the log of `folder`, or null if another log is cached or the log has changed.
  std::shared_ptr<const ContainerLog> Find(const std::string& folder)
  {
    const LogState state = StateOf(folder);
    const std::lock_guard<std::mutex> lock(this->Mutex);
    return folder == this->Folder && state == this->State ? this->Log : nullptr;
  }

private:
  std::mutex Mutex;
  std::string Folder;
  LogState State{};
  std::shared_ptr<const ContainerLog> Log;
};

/// Sorts the steps by number, and keeps the last record of each number.
void RemoveOlderRecords(std::vector<LoggedStep>& steps)
{
  std::stable_sort(steps.begin(), steps.end(),
      [](const LoggedStep& a, const LoggedStep& b) { return a.Head.Step < b.Head.Step; });
  const auto kept = std::unique(steps.rbegin(), steps.rend(),
      [](const LoggedStep& a, const LoggedStep& b) { return a.Head.Step == b.Head.Step; });
  steps.erase(steps.begin(), kept.base());
}

/// Reads tables of one step.
class TableReader
{
public:
  TableReader(const std::string& folder, const StepRecord& record)
      : Record(record), File(folder + "/" + record.Files[0])
  {
  }

  bool Has(const std::string& name) const { return this->Record.Tables.count(name) > 0; }

  /// Reads a table. `count`: expected number of values; 0: any. Throws Error for a missing or damaged table.
  template <typename T>
  std::vector<T> Read(const std::string& name, std::uint64_t count = 0) const
  {
    const Table& table = this->Find(name, count, sizeof(T));
    std::vector<T> values(table.Bytes / sizeof(T));
    this->File.Read(table.Offset, values.data(), table.Bytes);
    if (Crc32(0, values.data(), table.Bytes) != table.Checksum) {
      this->Fail(fmt::format("the table '{}' with its recorded checksum", name), "another checksum");
    }
    return values;
  }

  /// Reads the values of one variable from a table with `count` values for each of `variables` variables. The
  /// checksum cannot be compared, because it covers the whole table.
  template <typename T>
  std::vector<T> ReadVariable(
      const std::string& name, std::uint64_t variables, std::uint64_t variable, std::size_t count) const
  {
    const Table& table = this->Find(name, variables * count, sizeof(T));
    std::vector<T> values(count);
    this->File.Read(table.Offset + variable * count * sizeof(T), values.data(), count * sizeof(T));
    return values;
  }

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const
  {
    throw FileError(this->File.Path(), expected, found, Advice);
  }

private:
  const Table& Find(const std::string& name, std::uint64_t count, std::size_t elementBytes) const
  {
    const auto found = this->Record.Tables.find(name);
    if (found == this->Record.Tables.end()) {
      this->Fail(fmt::format("a table '{}'", name), "no such table in the record of the step");
    }
    const Table& table = found->second;
    const std::uint64_t size = this->File.Size();
    if (table.Offset > size || table.Bytes > size - table.Offset || table.Bytes % elementBytes != 0 ||
        (count > 0 && table.Bytes / elementBytes != count)) {
      hdf5::CheckComplete(this->File.Path());
      this->Fail(fmt::format("{} values of the table '{}' in the file",
                     count > 0 ? std::to_string(count) : "all", name),
          fmt::format("{} bytes at offset {}, in a file of {} bytes", table.Bytes, table.Offset, size));
    }
    return table;
  }

  const StepRecord& Record;
  PlainFile File;
};

/// Makes a step's catalog from its record and its tables.
class StepReader
{
public:
  StepReader(const std::string& folder, const LoggedStep& step) : Folder(folder)
  {
    this->Step.Record = RecordOf(folder, step);
    this->Step.Data = this->Step.Record.Data;
  }

  RecordedStep Run()
  {
    const TableReader tables(this->Folder, this->Step.Record);
    this->Step.Data.Path = this->Folder + "/" + this->Step.Record.Files[0];
    this->ReadPatches(tables);
    this->ReadMeshes(tables);
    this->ReadAxes(tables);
    this->ReadPresence(tables);
    const std::string fault = CatchError([this] { CheckCatalog(this->Step.Data); });
    if (!fault.empty()) {
      throw Error(fmt::format("{}: {} {}.", this->Step.Data.Path, fault, Advice));
    }
    return std::move(this->Step);
  }

private:
  void ReadPatches(const TableReader& tables);
  void ReadPatch(const TableReader& tables, std::size_t row, int level, int file, const int* box, int number);
  void ReadMeshes(const TableReader& tables);
  void ReadAxes(const TableReader& tables);
  void ReadPresence(const TableReader& tables);

  const std::string Folder;
  RecordedStep Step;
};

void StepReader::ReadPatches(const TableReader& tables)
{
  Catalog& data = this->Step.Data;
  std::size_t count = 0;
  for (const Level& level : data.Levels) {
    count += level.PatchCount;
  }
  const auto boxes = tables.Read<std::int32_t>(tables::Boxes, 6 * count);
  const auto numbers = tables.Read<std::int32_t>(tables::Numbers, count);
  if (boxes.size() != 6 * count || numbers.size() != count) {  // a count of 0 accepts any number
    tables.Fail(fmt::format("tables of {} patches", count), fmt::format("tables of {}", numbers.size()));
  }
  data.Patches.resize(count);
  for (Patch& patch : data.Patches) {
    patch.Level = -1;
  }
  std::vector<std::int32_t> marks;
  if (tables.Has(tables::Marks)) {
    marks = tables.Read<std::int32_t>(tables::Marks, count);
  }
  std::size_t row = 0;
  this->Step.Rows.resize(count);
  for (std::size_t l = 0; l < data.Levels.size(); ++l) {
    const std::vector<int>& ofFiles = this->Step.Record.PatchCounts[l];
    for (std::size_t f = 0; f < ofFiles.size(); ++f) {
      for (int i = 0; i < ofFiles[f]; ++i, ++row) {
        this->ReadPatch(tables, row, static_cast<int>(l), static_cast<int>(f), &boxes[6 * row], numbers[row]);
        if (!marks.empty()) {
          data.Patches[this->Step.Rows[row]].Number = marks[row];
        }
      }
    }
  }
}

void StepReader::ReadPatch(
    const TableReader& tables, std::size_t row, int level, int file, const int* box, int number)
{
  const Level& of = this->Step.Data.Levels[level];
  if (number < 0 || number >= of.PatchCount || this->Step.Data.Patches[of.FirstPatch + number].Level >= 0) {
    tables.Fail(fmt::format("each patch number below {} once on level {}", of.PatchCount, level),
        fmt::format("{} in row {}", number, row));
  }
  this->Step.Rows[row] = of.FirstPatch + number;
  Patch& patch = this->Step.Data.Patches[of.FirstPatch + number];
  for (int axis = 0; axis < 3; ++axis) {
    patch.Cells.Lower[axis] = box[2 * axis];
    patch.Cells.Upper[axis] = box[2 * axis + 1];
  }
  patch.Level = level;
  patch.Number = number;
  patch.File = patch.Writer = file;
}

void StepReader::ReadMeshes(const TableReader& tables)
{
  if (!this->Step.Data.IsMesh()) {
    return;
  }
  constexpr std::size_t numbers = 1 + 2 * MeshSize::MostLists;
  const std::size_t patches = this->Step.Rows.size();
  const auto all = tables.Read<std::int64_t>(tables::Meshes, numbers * patches);
  this->Step.Data.Meshes.resize(patches);
  for (std::size_t row = 0; row < patches && !all.empty(); ++row) {
    MeshSize& mesh = this->Step.Data.Meshes[this->Step.Rows[row]];
    const std::int64_t* const entry = &all[numbers * row];
    mesh.Points = entry[0];
    std::copy_n(entry + 1, MeshSize::MostLists, mesh.Cells.begin());
    std::copy_n(entry + 1 + MeshSize::MostLists, MeshSize::MostLists, mesh.Connectivity.begin());
  }
}

void StepReader::ReadAxes(const TableReader& tables)
{
  for (int a = 0; a < 3 && this->Step.Data.Grid == GridType::Rectilinear; ++a) {
    Axis& axis = this->Step.Data.Axes[a];
    axis.Positions = tables.Read<double>(tables::Positions(a));
    if (tables.Has(tables::Labels(a))) {
      axis.Labels = tables.Read<double>(tables::Labels(a));
    }
  }
}

void StepReader::ReadPresence(const TableReader& tables)
{
  Catalog& data = this->Step.Data;
  const std::size_t patches = data.Patches.size();
  std::vector<std::uint8_t> present;
  if (tables.Has(tables::Present)) {
    present = tables.Read<std::uint8_t>(tables::Present, data.Variables.size() * patches);
  }
  data.ResetPresence();
  for (std::size_t v = 0; v < data.Variables.size(); ++v) {
    for (std::size_t row = 0; row < patches; ++row) {
      const bool there = present.empty() || present[v * patches + row] != 0;
      data.SetPresence(
          static_cast<int>(v), this->Step.Rows[row], there ? Presence::Stored : Presence::Absent);
    }
  }
}

}  // namespace

std::string LogPathOf(const std::string& folder)
{
  return folder + "/index";
}

std::string ContainerFolderOf(const std::string& path)
{
  std::error_code ignored;
  fs::path folder = fs::absolute(path, ignored).lexically_normal();
  if (!folder.has_filename()) {
    folder = folder.parent_path();
  }
  return fs::is_directory(folder, ignored) ? folder.string() : folder.parent_path().string();
}

bool IsContainer(const std::string& folder)
{
  try {
    return FirstBytes(LogPathOf(folder), RecordLog::BlockBytes).find("\"PatchIO container\"") < 64;
  } catch (const Error&) {
    return false;
  }
}

std::shared_ptr<const ContainerLog> ReadLog(const std::string& folder)
{
  const LogState state = StateOf(folder);
  const PlainFile file(LogPathOf(folder));
  RecordLog log = ReadRecords(ReadBytes(file));
  if (log.Records.empty()) {
    throw FileError(file.Path(), "the log of a PatchIO container", "no complete record",
        "The log is damaged or was never written");
  }
  try {
    CheckLogHead(log.Records[0]);
  } catch (const Error& error) {
    throw FileError(file.Path(), fmt::format("the log of a PatchIO container, version {}", FormatVersion),
        error.what(), "If a newer version of PatchIO has written the log, use that version");
  }
  const auto result = std::make_shared<ContainerLog>();
  result->End = log.End;
  result->DamagedBytes = log.DamagedBytes;
  result->TrailingBytes = log.TrailingBytes;
  result->Steps.reserve(log.Records.size());
  for (std::size_t i = 1; i < log.Records.size(); ++i) {
    StepHead head;
    const std::string fault = CatchError([&] { head = DecodeStepHead(log.Records[i]); });
    if (!fault.empty()) {
      throw Error(fmt::format("{}: record {}: {} Write the container again.", file.Path(), i, fault));
    }
    result->Steps.push_back({std::move(head), std::move(log.Records[i])});
  }
  RemoveOlderRecords(result->Steps);
  LogCache::Instance().Store(folder, state, result);
  return result;
}

LoggedStep FindStep(const std::string& path)
{
  const std::string name = fs::path(path).filename().string(), folder = ContainerFolderOf(path);
  std::shared_ptr<const ContainerLog> log = LogCache::Instance().Find(folder);
  if (!log) {
    log = ReadLog(folder);
  }
  for (const LoggedStep& step : log->Steps) {
    if (step.Head.File == name) {
      return step;
    }
  }
  throw FileError(
      path, "a record of this step in the log of the container", "none", "The step is incomplete");
}

StepRecord RecordOf(const std::string& folder, const LoggedStep& step)
{
  StepRecord record;
  const std::string fault = CatchError([&] { record = Decode(step.Bytes); });
  if (!fault.empty()) {
    throw Error(fmt::format("{}: step {}: {} {}.", LogPathOf(folder), step.Head.Step, fault, Advice));
  }
  return record;
}

RecordedStep ReadStep(const std::string& folder, const LoggedStep& step)
{
  return StepReader(folder, step).Run();
}

std::vector<ValueRange> ReadRanges(
    const std::string& folder, const StepRecord& record, const std::vector<int>& rows, int variable)
{
  const TableReader tables(folder, record);
  if (!tables.Has(tables::Least) || !tables.Has(tables::Greatest)) {
    return {};
  }
  const std::size_t variables = record.Data.Variables.size();
  const auto least = tables.ReadVariable<double>(tables::Least, variables, variable, rows.size());
  const auto greatest = tables.ReadVariable<double>(tables::Greatest, variables, variable, rows.size());
  std::vector<ValueRange> ranges(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    ranges[rows[row]] = {least[row], greatest[row]};
  }
  return ranges;
}

std::vector<std::uint32_t> ReadChecksums(const std::string& folder, const StepRecord& record,
    const std::vector<int>& rows, const std::vector<PatchVariable>& requests)
{
  if (requests.empty()) {
    return {};  // a step without variables does not have this table
  }
  std::vector<std::size_t> rowOf(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rowOf[rows[row]] = row;
  }
  const std::uint64_t all = record.Data.Variables.size() * rows.size();
  const auto table = TableReader(folder, record).Read<std::uint32_t>(tables::Checksums, all);
  std::vector<std::uint32_t> sums(requests.size());
  std::transform(requests.begin(), requests.end(), sums.begin(), [&](const PatchVariable& request) {
    return table[request.Variable * rows.size() + rowOf[request.Patch]];
  });
  return sums;
}

void CheckTables(const std::string& folder, const StepRecord& record)
{
  const TableReader tables(folder, record);
  for (const auto& [name, table] : record.Tables) {
    tables.Read<std::byte>(name);
  }
}

}  // namespace patchio::container
