#include "Write/ContainerWriter.h"

#include "Container/ContainerLog.h"
#include "Container/RecordLog.h"
#include "Support/Error.h"
#include "Support/MachineName.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace patchio::container {
namespace {

constexpr const char* LockName = "writer";

/// What a container may consist of.
bool IsOurs(const fs::path& file)
{
  const std::string name = file.filename().string();
  return name == "index" || name == LockName ||
         (name.rfind("step.", 0) == 0 && (file.extension() == ".hdf" || file.extension() == ".part"));
}

/// Brings names in a folder to the storage.
void FlushFolder(const std::string& folder)
{
  const int number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (number >= 0) {
    ::fsync(number);  // some file systems cannot do this, and need not
    ::close(number);
  }
}

void MakeFolder(const std::string& folder)
{
  std::error_code fault, ignored;
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) {
    throw FileError(
        folder, "a container of PatchIO, or nothing of this name", "a file", "Choose another name");
  }
  if (IsContainer(fs::absolute(folder).parent_path().string())) {
    throw FileError(folder, "a container beside others", "one within another", "Choose another folder");
  }
  fs::create_directory(folder, fault);
  if (fault) {
    throw FileError(folder, "a folder that can be made", fault.message(),
        "Check that the folder above is there and may be written to");
  }
  const bool hasLog = fs::exists(LogPathOf(folder), ignored);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, fault)) {
    // Steps without a log are somebody's, such as those of `patchio export`.
    if (!IsOurs(entry.path()) || (!hasLog && entry.path().extension() == ".hdf")) {
      throw FileError(folder, "a container of PatchIO, or no folder of this name",
          "a folder with " + entry.path().filename().string() + (hasLog ? "" : " and without a log"),
          "Choose another name");
    }
  }
  if (fault) {
    throw FileError(folder, "a folder that can be read", fault.message());
  }
}

}  // namespace

/// The right to write, by a lock that ends with its process.
class ContainerWriter::Lock
{
public:
  explicit Lock(const std::string& folder) : Path(folder + "/" + LockName)
  {
    // The writer before takes the file away: then the lock is one of a file that nobody else will find.
    do {
      this->File = std::make_unique<PlainFile>(
          this->Path, fs::exists(this->Path) ? PlainFile::Purpose::Update : PlainFile::Purpose::Create);
      this->Take(folder);
    } while (!this->IsInPlace());
    const std::string who = fmt::format("process {} on {}, which writes it", ::getpid(), MachineName());
    this->File->Write(0, who.data(), who.size());
    fs::resize_file(this->Path, who.size());
  }
  ~Lock()
  {
    std::error_code ignored;
    fs::remove(this->Path, ignored);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

private:
  void Take(const std::string& folder) const
  {
    struct flock range = {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    // A file system that has no locks at all is no reason not to write.
    if (::fcntl(this->File->Descriptor(), F_OFD_SETLK, &range) != 0 && (errno == EACCES || errno == EAGAIN)) {
      std::string other(256, '\0');
      other.resize(this->File->ReadSome(0, other.data(), other.size()));
      throw FileError(folder, "a container that nobody writes",
          other.empty() ? "another program, which writes it" : PlainText(other),
          "Wait for it, or choose another name");
    }
  }
  bool IsInPlace() const
  {
    struct stat mine = {}, there = {};
    return ::fstat(this->File->Descriptor(), &mine) == 0 && ::stat(this->Path.c_str(), &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
  }

  const std::string Path;
  std::unique_ptr<PlainFile> File;
};

ContainerWriter::ContainerWriter(
    Communicator& ranks, const std::string& folder, const ContainerOptions& options)
    : Ranks(ranks), Folder(folder), Options(options)
{
  std::vector<std::int64_t> numbers;
  std::vector<double> times;
  RunOnAllRanks(ranks, [&] {
    if (ranks.Rank() == 0) {
      MakeFolder(folder);
      this->Locked = std::make_unique<Lock>(folder);
      this->OpenLog(options.Overwrite);
      for (const auto& [number, time] : this->Steps) {
        numbers.push_back(number);
        times.push_back(time);
      }
    }
  });
  numbers = GatherValues(ranks, numbers);
  times = GatherValues(ranks, times);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    this->Steps[numbers[i]] = times[i];
  }
}

/// A container to which nothing was written is none.
ContainerWriter::~ContainerWriter()
{
  if (this->Locked && this->Steps.empty()) {
    std::error_code ignored;
    fs::remove(LogPathOf(this->Folder), ignored);
    this->Locked.reset();
    fs::remove(this->Folder, ignored);  // unless there is something in it
  }
}

/// Rank 0 only. Files of steps without a record are of a program that was killed.
void ContainerWriter::OpenLog(bool overwrite)
{
  const std::string path = LogPathOf(this->Folder);
  std::error_code ignored;
  if (overwrite) {
    fs::remove(path, ignored);  // first, so that no record is left without its files
  }
  std::set<std::string> recorded;
  const bool isNew = !fs::exists(path, ignored) || fs::file_size(path, ignored) == 0;
  if (!isNew) {
    const auto log = ReadLog(this->Folder);
    this->LogEnd = log->End;
    for (const LoggedStep& step : log->Steps) {
      this->Steps[step.Head.Step] = step.Head.Time;
      const std::vector<std::string> files = Decode(step.Bytes).Files;
      recorded.insert(files.begin(), files.end());
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(this->Folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("step.", 0) == 0 && recorded.count(name) == 0) {
      fs::remove(entry.path(), ignored);
    }
  }
  this->Log = std::make_unique<PlainFile>(
      path, fs::exists(path, ignored) ? PlainFile::Purpose::Update : PlainFile::Purpose::Create);
  if (isNew) {
    const std::string head = RecordLog::Framed(EncodeLogHead(), 0);
    this->Log->Write(0, head.data(), head.size());
    this->LogEnd = head.size();
  }
  fs::resize_file(path, this->LogEnd);  // what is behind was not written to its end
  this->Log->Flush();
  FlushFolder(this->Folder);
}

std::unique_ptr<StepWriter> ContainerWriter::Begin(StepToWrite data)
{
  std::unique_ptr<StepWriter> step;
  RunOnAllRanks(this->Ranks, [&] {
    step = std::make_unique<StepWriter>(this->Ranks, this->Folder, std::move(data), this->Options.RanksAFile);
  });
  this->Begin(*step);
  return step;
}

void ContainerWriter::Begin(StepWriter& step)
{
  if (this->Has(step.Data().Step)) {
    throw FileError(this->Folder, fmt::format("no step {} in the container", step.Data().Step), "one",
        "Give each step a number of its own, overwrite the container, or choose another name");
  }
  step.Create();
}

void ContainerWriter::Commit(StepWriter& step)
{
  const std::string record = step.Finish();
  RunOnAllRanks(this->Ranks, [&] {
    if (this->Ranks.Rank() == 0) {
      FlushFolder(this->Folder);
      const std::string framed = RecordLog::Framed(record, this->LogEnd);
      this->Log->Write(this->LogEnd, framed.data(), framed.size());
      this->Log->Flush();
      this->LogEnd += framed.size();
    }
  });
  this->Steps[step.Data().Step] = step.Data().Time;
}

}  // namespace patchio::container
