// How Format::Locate() tells its caller how far it is, and ends when the caller wants that.
#pragma once

#include "Formats/Format.h"
#include "Io/IoScheduler.h"
#include "Io/Source.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace patchio {

/// One call of Format::Locate(), on the thread that makes this. Where LocateOptions::Progress is null it
/// costs nothing.
class LocateTask
{
public:
  /// Keeps a reference.
  explicit LocateTask(const LocateOptions& options) : Options(options) {}
  LocateTask(const LocateTask&) = delete;
  LocateTask& operator=(const LocateTask&) = delete;

  /// On the calling thread: fraction, 0..1, is done. Throws Error when the rest shall not be.
  void Tell(double fraction);
  /// patchio::RunTasks() with as many threads as there may be. Tells how many of the tasks are done. Throws
  /// Error when the rest shall not be; no task is at work any more then.
  void RunTasks(std::size_t tasks, const TaskBody& body);
  /// Appends to the table where each request lies, as `locate` says; where that throws, the request is
  /// Missing, for that reason. Tells how many are done. Throws Error when the rest shall not be.
  void LocateEach(const std::vector<PatchVariable>& requests, LocationTable& table,
      const std::function<Location(const PatchVariable&)>& locate);
  /// Files, as by MakeFileSource(), whose requests throw Error once the rest shall not be done. Must not
  /// outlive this.
  std::unique_ptr<Source> FilesOf(const std::vector<std::string>& paths);

  /// On any thread: throws Error once the rest shall not be done.
  void CheckGoesOn();

private:
  bool GoesOn(double fraction);  ///< on the calling thread
  void ThrowIfStopped() const;

  const LocateOptions& Options;
  const std::thread::id Caller = std::this_thread::get_id();
  double Fraction = 0;  ///< as last told
  std::atomic<bool> Stopped{false};
};

}  // namespace patchio
