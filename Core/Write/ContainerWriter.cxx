#include "Write/ContainerWriter.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Base/Text.h"
#include "Formats/Container/ContainerLog.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>

namespace fs = std::filesystem;

namespace patchio::container {
namespace {

constexpr const char* LockName = "writer";
/// Beginning of the text in the lock file.
constexpr std::string_view LockText = "process ";

/// Returns whether the file has the name of a file of containers.
bool IsContainerFile(const fs::path& file)
{
  const std::string name = file.filename().string();
  if (name.rfind("step.", 0) != 0) {
    return name == "index" || name == LockName ||
           (name.rfind("index.", 0) == 0 && file.extension() == ".tmp");
  }
  fs::path number = file.stem();  // still ends with the number of the file, if the step has several files
  if (file.extension() == ".hdf" && number.extension() == ".new") {
    number = number.stem();
  }
  return (file.extension() == ".hdf" || file.extension() == ".part") && number != "step" &&
         number.string().find_first_not_of("-.0123456789", std::strlen("step")) == std::string::npos;
}

/// Returns whether the file comes from a writer that was killed before the writer made a log. Also returns
/// true if the file no longer exists. All other files in a folder without a log, such as the steps of
/// `patchio export`, belong to other programs.
bool IsFromKilledWriter(const fs::path& file)
{
  const std::string log = RecordLog::Frame(EncodeLogHead(), 0);
  std::string text;
  const std::string fault = CatchError([&] { text = FirstBytes(file.string(), log.size() + 1); });
  if (!fault.empty()) {
    std::error_code ignored;
    return !fs::exists(file, ignored);  // another writer has renamed the file meanwhile
  }
  if (file.filename() == LockName) {
    return text.empty() || text.rfind(LockText, 0) == 0;
  }
  return file.extension() != ".part" && file.extension() != ".hdf" && log.compare(0, text.size(), text) == 0;
}

using FilesOfSteps = std::map<std::int64_t, std::vector<std::string>>;

/// Returns the files of a container that no step of the log refers to.
std::vector<fs::path> UnrecordedFiles(const std::string& folder, const FilesOfSteps& recorded)
{
  std::set<std::string> known;
  for (const auto& [number, files] : recorded) {
    known.insert(files.begin(), files.end());
  }
  return EntriesOf(folder, [&](const fs::directory_entry& entry) {
    return IsContainerFile(entry.path()) && known.count(entry.path().filename().string()) == 0;
  });
}

/// Returns the numbers of the steps that have files but no record.
std::set<std::int64_t> UnrecordedSteps(const std::string& folder, const FilesOfSteps& recorded)
{
  std::set<std::int64_t> numbers;
  for (const fs::path& file : UnrecordedFiles(folder, recorded)) {
    if (file.extension() == ".hdf") {
      numbers.insert(std::strtoll(file.filename().c_str() + std::strlen("step."), nullptr, 10));
    }
  }
  return numbers;
}

/// Throws Error if the folder is not readable, or contains a file that no ContainerWriter has made.
void CheckFiles(const std::string& folder)
{
  std::error_code fault, ignored;
  // This loop lists the files before the search for the log, because another writer makes its log before its
  // steps.
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
    files.push_back(entry.path());
  }
  if (fault) {
    throw SystemError(folder, "a readable folder", fault.value());
  }
  const std::string log = LogPathOf(folder);
  const bool hasLog = fs::exists(log, ignored) && fs::file_size(log, ignored) > 0;
  if (hasLog && !IsContainer(folder) && UnrecordedSteps(folder, {}).empty()) {
    throw FileError(folder, "a PatchIO container, or an unused name", "a file 'index' that is not a log",
        "Choose another name");
  }
  for (const fs::path& file : files) {
    if (!IsContainerFile(file) || (!hasLog && !IsFromKilledWriter(file))) {
      throw FileError(folder, "a PatchIO container, or an unused name",
          "a folder with " + file.filename().string() +
              (hasLog ? ", which is not a file of a container" : ", but without the log of a container"),
          "Choose another name");
    }
  }
}

void MakeFolder(const std::string& folder)
{
  std::error_code fault, ignored;
  if (folder.empty()) {
    throw Error("The path of the container is empty. Give the path of a folder.");
  }
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) {
    throw FileError(folder, "a PatchIO container, or an unused name", "a file", "Choose another name");
  }
  // A path with exactly one slash at the end.
  const fs::path normal = (fs::absolute(folder) / "").lexically_normal();
  if (IsContainer(normal.parent_path().parent_path().string())) {
    throw FileError(
        folder, "a folder outside other containers", "a folder within a container", "Choose another folder");
  }
  const bool isNew = fs::create_directory(folder, fault);
  if (fault) {
    throw SystemError(folder, "a folder that can be created", fault.value(),
        "Check that the parent folder exists and is writable");
  }
  if (isNew) {
    FlushFolder(normal.parent_path().parent_path().string());
  }
  CheckFiles(folder);
}

}  // namespace

/// The exclusive right to write to the container: a file lock, which the system releases when the process
/// ends.
class ContainerWriter::Lock
{
public:
  explicit Lock(const std::string& folder) : Path(folder + "/" + LockName)
  {
    // The previous writer may remove the lock file meanwhile. A lock on a removed file does not exclude other
    // writers, so this writer tries again.
    do {
      this->File = std::make_unique<PlainFile>(this->Path, PlainFile::Purpose::Share);
      this->Acquire(folder);
    } while (!this->File->IsInPlace());
    const std::string owner =
        fmt::format("{}{} on {}, which is writing to it", LockText, ::getpid(), MachineName());
    this->File->Write(0, owner.data(), owner.size());
    this->File->SetSize(owner.size());
  }
  ~Lock()
  {
    std::error_code ignored;
    fs::remove(this->Path, ignored);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  void Acquire(const std::string& folder) const
  {
    struct flock range = {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    // If the file system has no locks, the writer writes without a lock.
    if (::fcntl(this->File->Descriptor(), F_OFD_SETLK, &range) != 0 && (errno == EACCES || errno == EAGAIN)) {
      std::string other(256, '\0');
      other.resize(this->File->ReadUpTo(0, other.data(), other.size()));
      throw FileError(folder, "a container without another writer",
          other.empty() ? "another program, which is writing to it" : PlainText(other),
          "Wait until the other program ends, or choose another name");
    }
  }

  const std::string Path;
  std::unique_ptr<PlainFile> File;
};

ContainerWriter::ContainerWriter(
    Communicator& ranks, const std::string& folder, const ContainerOptions& options)
    : Ranks(ranks), Folder(folder), Options(options)
{
  struct Numbered
  {
    std::int64_t Number;
    KnownStep Step;
  };
  std::vector<Numbered> steps;
  RunOnRankZero(ranks, [&] {
    MakeFolder(folder);
    this->WriterLock = std::make_unique<Lock>(folder);
    for (const auto& [number, step] : this->Open()) {
      steps.push_back({number, step});
    }
  });
  for (const Numbered& known : GatherValues(ranks, steps)) {
    this->Steps[known.Number] = known.Step;
  }
}

/// Removes a container without steps, unless Overwrite would have replaced it.
ContainerWriter::~ContainerWriter()
{
  if (this->Log && this->Files.empty() && !this->HasLostSteps) {
    std::error_code ignored;
    this->RemoveUnrecorded({".part", ".tmp", ".hdf"});
    fs::remove(LogPathOf(this->Folder), ignored);
    this->WriterLock.reset();
    fs::remove(this->Folder, ignored);  // fails if the folder is not empty
  }
}

/// Sets Files and LogEnd from the log, and returns the steps of the log. Throws Error if a record is invalid.
/// Call this method on rank 0.
std::map<std::int64_t, ContainerWriter::KnownStep> ContainerWriter::LoadLog(const ContainerLog& log)
{
  std::map<std::int64_t, KnownStep> steps;
  for (const LoggedStep& step : log.Steps) {
    std::vector<std::string> files = RecordOf(this->Folder, step).Files;
    const FileNames names =
        files[0] == RenamedFile(files[0], FileNames::Usual) ? FileNames::Usual : FileNames::New;
    steps[step.Head.Step] = {step.Head.Time, names, this->Options.Overwrite};
    this->Files[step.Head.Step] = std::move(files);
  }
  this->LogEnd = log.End;
  return steps;
}

/// Sets HasLostSteps, and throws Error if the log has damaged records. A killed writer leaves files without a
/// record for one step only, or for the steps that the writer was replacing. Other files without a record
/// show that an incomplete record at the end is damaged, too.
void ContainerWriter::CheckLogIsComplete(
    const ContainerLog& log, const std::map<std::int64_t, KnownStep>& steps)
{
  const bool replacing = std::any_of(
      steps.begin(), steps.end(), [](const auto& step) { return step.second.Names == FileNames::New; });
  this->HasLostSteps = !replacing && UnrecordedSteps(this->Folder, this->Files).size() > 1;
  if (log.DamagedBytes > 0 || (log.TrailingBytes > 0 && this->HasLostSteps)) {
    throw FileError(LogPathOf(this->Folder), "complete records",
        fmt::format(
            "{} of damaged records", ByteText(static_cast<double>(log.DamagedBytes + log.TrailingBytes))),
        "The steps of the damaged records may be intact: run 'patchio verify'. Write to another container, "
        "or overwrite this container");
  }
}

/// Opens or makes the log, removes the files that a killed writer has left, and returns the steps of the log.
/// With Overwrite, an existing log stays closed. Call this method on rank 0.
std::map<std::int64_t, ContainerWriter::KnownStep> ContainerWriter::Open()
{
  const std::string path = LogPathOf(this->Folder);
  std::error_code ignored;
  std::map<std::int64_t, KnownStep> steps;
  const bool isNew = !fs::exists(path, ignored) || fs::file_size(path, ignored) == 0;
  if (this->Options.Overwrite && !isNew) {
    // The new log also replaces a damaged log, or a log of another version.
    CatchError([&] { steps = this->LoadLog(*ReadLog(this->Folder)); });
    this->RemoveUnrecorded({".part", ".tmp"});
    return steps;
  }
  if (!isNew) {
    const auto log = ReadLog(this->Folder);
    steps = this->LoadLog(*log);
    this->CheckLogIsComplete(*log, steps);
  }
  this->RemoveUnrecorded({".part", ".tmp", ".hdf"});
  if (isNew) {
    this->BeginLog({});
  } else {
    this->Log = std::make_unique<PlainFile>(path, PlainFile::Purpose::Update);
    this->Log->SetSize(this->LogEnd);  // the bytes behind LogEnd belong to an incomplete record
    this->Log->Flush();
    FlushFolder(this->Folder);
  }
  return steps;
}

/// Makes a log with the record `firstRecord`, or without records if `firstRecord` is empty. The new log
/// replaces an existing log atomically: readers find either the old log or the new log.
void ContainerWriter::BeginLog(const std::string& firstRecord)
{
  const std::string path = LogPathOf(this->Folder);
  std::string text = RecordLog::Frame(EncodeLogHead(), 0);
  if (!firstRecord.empty()) {
    text += RecordLog::Frame(firstRecord, text.size());
  }
  ReplaceFile(path, text);
  this->Log = std::make_unique<PlainFile>(path, PlainFile::Purpose::Update);
  this->LogEnd = text.size();
}

/// Removes the files with one of the extensions `endings` that no step of the log refers to. But if
/// HasLostSteps is true, all .hdf files stay. Call this method on rank 0.
void ContainerWriter::RemoveUnrecorded(const std::vector<std::string>& endings) const
{
  std::error_code ignored;
  for (const fs::path& file : UnrecordedFiles(this->Folder, this->Files)) {
    if (!(this->HasLostSteps && file.extension() == ".hdf") &&
        std::find(endings.begin(), endings.end(), file.extension()) != endings.end()) {
      fs::remove(file, ignored);
    }
  }
}

std::unique_ptr<StepWriter> ContainerWriter::Begin(StepToWrite data)
{
  std::unique_ptr<StepWriter> step;
  RunOnAllRanks(this->Ranks, [&] {
    step =
        std::make_unique<StepWriter>(this->Ranks, this->Folder, std::move(data), this->Options.RanksPerFile);
  });
  this->Begin(*step);
  return step;
}

void ContainerWriter::Begin(StepWriter& step)
{
  const std::int64_t number = step.Data().Step;
  if (this->Has(number)) {
    throw FileError(this->Folder, "an unused step number",
        fmt::format("{}, which the container already has", number),
        "Give each step a unique number, overwrite the container, or choose another name");
  }
  RunOnAllRanks(this->Ranks, [this] {
    if (this->Log && !this->Log->IsInPlace()) {
      throw FileError(this->Folder, "the container that this run writes",
          "another container, or no container",
          "Do not move or replace a container while a run writes to the container");
    }
    if (this->Log && this->Log->Size() < this->LogEnd) {
      throw FileError(this->Log->Path(),
          fmt::format("{} bytes, the size that this run has written", this->LogEnd),
          fmt::format("{} bytes", this->Log->Size()),
          "Another program has changed the log. Do not change a container while a run writes to the "
          "container");
    }
  });
  const auto before = this->Steps.find(number);
  const bool taken = before != this->Steps.end() && before->second.Names == FileNames::Usual;
  step.Create(taken ? FileNames::New : FileNames::Usual);
}

void ContainerWriter::Commit(StepWriter& step)
{
  const std::string record = step.Finish();
  const std::int64_t number = step.Data().Step;
  const bool begins =
      this->Options.Overwrite && std::all_of(this->Steps.begin(), this->Steps.end(),
                                     [](const auto& known) { return known.second.ReplaceAtCommit; });
  const bool replaces = begins || this->Steps.count(number) > 0;
  RunOnRankZero(this->Ranks, [&] {
    FlushFolder(this->Folder);
    if (this->Log) {
      this->Append(record);
    } else {
      this->BeginLog(record);
      this->Files.clear();
      this->HasLostSteps = false;
    }
    this->Files[number] = step.GetRecord().Files;
    if (replaces) {
      this->RemoveUnrecorded({".hdf"});
      this->RenameToUsual(step);
    }
  });
  if (begins) {
    this->Steps.clear();
  }
  this->Steps[number] = {step.Data().Time, FileNames::Usual, false};
}

void ContainerWriter::Append(const std::string& record)
{
  const std::string framed = RecordLog::Frame(record, this->LogEnd);
  this->Log->Write(this->LogEnd, framed.data(), framed.size());
  this->Log->Flush();
  this->LogEnd += framed.size();
}

/// Renames the files of a step from FileNames::New to FileNames::Usual if the usual names were in use during
/// the write, and appends a second record with the usual names. The files have both names until the second
/// record is complete, so that the last record is right at any time. On a file system without hard links, the
/// names do not change.
void ContainerWriter::RenameToUsual(StepWriter& step)
{
  const std::vector<std::string> before = step.GetRecord().Files;
  step.SetFileNames(FileNames::Usual);
  const std::vector<std::string>& after = step.GetRecord().Files;
  if (after == before) {
    return;
  }
  std::error_code fault;
  for (std::size_t f = 0; f < after.size() && !fault; ++f) {
    fs::create_hard_link(this->Folder + "/" + before[f], this->Folder + "/" + after[f], fault);
  }
  FlushFolder(this->Folder);
  if (!fault && CatchError([&] { this->Append(Encode(step.GetRecord())); }).empty()) {
    this->Files[step.Data().Step] = after;
  } else {
    step.SetFileNames(FileNames::New);
  }
  this->RemoveUnrecorded({".hdf"});
}

}  // namespace patchio::container
