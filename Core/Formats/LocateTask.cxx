#include "Formats/LocateTask.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Io/FileSource.h"

#include <utility>

namespace patchio {
namespace {

// This text is not displayed, because the user who stops a read needs no message.
constexpr const char* StoppedText = "Locating the values was interrupted.";

/// A source that checks before each request whether the caller has stopped the work.
class WatchedSource : public Source
{
public:
  WatchedSource(std::unique_ptr<Source> files, LocateTask& task) : WrappedSource(std::move(files)), Task(task)
  {
  }

  std::shared_ptr<File> Open(int file) override
  {
    this->Task.CheckNotStopped();
    return std::make_shared<WatchedFile>(this->WrappedSource->Open(file), this->Task);
  }

private:
  class WatchedFile : public File
  {
  public:
    WatchedFile(std::shared_ptr<File> file, LocateTask& task) : WrappedFile(std::move(file)), Task(task) {}

    using File::Read;
    void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
    {
      this->Task.CheckNotStopped();
      this->WrappedFile->Read(offset, buffers);
    }

  private:
    const std::shared_ptr<File> WrappedFile;
    LocateTask& Task;
  };

  const std::unique_ptr<Source> WrappedSource;
  LocateTask& Task;
};

}  // namespace

bool LocateTask::UpdateProgress(double fraction)
{
  this->Stopped = this->Stopped || (this->Options.Progress && !this->Options.Progress(fraction));
  return !this->Stopped;
}

void LocateTask::ThrowIfStopped() const
{
  if (this->Stopped) {
    throw Error(StoppedText);
  }
}

void LocateTask::ReportProgress(double fraction)
{
  this->Fraction = fraction;
  this->UpdateProgress(fraction);
  this->ThrowIfStopped();
}

void LocateTask::CheckNotStopped()
{
  if (std::this_thread::get_id() == this->Caller) {
    this->ReportProgress(this->Fraction);
  } else {
    this->ThrowIfStopped();
  }
}

void LocateTask::RunTasks(std::size_t tasks, const TaskBody& body)
{
  if (!this->Options.Progress) {
    patchio::RunTasks(tasks, this->Options.Threads, body);
    return;
  }
  this->ReportProgress(0);
  patchio::RunTasks(
      tasks, this->Options.Threads, body, [this](double fraction) { return this->UpdateProgress(fraction); });
  this->ThrowIfStopped();
}

void LocateTask::LocateEach(const Catalog& catalog, const std::vector<PatchVariable>& requests,
    LocationTable& table, const std::function<Location(const PatchVariable&)>& locate)
{
  for (std::size_t i = 0; i < requests.size(); ++i) {
    this->ReportProgress(static_cast<double>(i) / static_cast<double>(requests.size()));
    const Presence presence = catalog.PresenceOf(requests[i].Variable, requests[i].Patch);
    if (presence != Presence::Stored) {
      table.Locations.push_back(ImpliedLocation(presence));
      continue;
    }
    table.Locations.push_back(MakeLocation(Encoding::Missing, 0, 0));
    const std::string problem = CatchError([&] { table.Locations.back() = locate(requests[i]); });
    if (!problem.empty()) {
      table.Problems.push_back({i, problem});
    }
  }
  this->ReportProgress(1);
}

std::unique_ptr<Source> LocateTask::MakeSource(const std::vector<std::string>& paths)
{
  std::unique_ptr<Source> files = MakeFileSource(paths);
  return this->Options.Progress ? std::make_unique<WatchedSource>(std::move(files), *this) : std::move(files);
}

}  // namespace patchio
