// Progress and cancellation of Format::Locate().
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

/// The progress and cancellation of one call of Format::Locate(). The thread of that call makes the object.
/// Without LocateOptions::Progress, this class costs nothing.
class LocateTask
{
public:
  /// Keeps a reference to `options`.
  explicit LocateTask(const LocateOptions& options) : Options(options) {}
  LocateTask(const LocateTask&) = delete;
  LocateTask& operator=(const LocateTask&) = delete;

  /// Reports the fraction of the work that is done, 0..1. Call ReportProgress() on the thread that made this
  /// object. Throws Error if the caller of Locate() stops the work.
  void ReportProgress(double fraction);
  /// Calls patchio::RunTasks() with the number of threads in the options, and reports the fraction of tasks
  /// done. Throws Error if the caller stops the work, after all running tasks have ended. Rethrows the first
  /// exception of a task.
  void RunTasks(std::size_t tasks, const TaskBody& body);
  /// Appends the location of each request to the table: the result of `locate`, or ImpliedLocation() if
  /// the catalog has no stored values for the request. If `locate` throws, the request becomes Missing, with
  /// the error as the reason. Reports progress. Throws Error if the caller stops the work.
  void LocateEach(const Catalog& catalog, const std::vector<PatchVariable>& requests, LocationTable& table,
      const std::function<Location(const PatchVariable&)>& locate);
  /// Returns a source like MakeFileSource(). Requests to the source throw Error after the caller has stopped
  /// the work. The source must not outlive this object.
  std::unique_ptr<Source> MakeSource(const std::vector<std::string>& paths);

  /// Throws Error if the caller has stopped the work. On the thread that made this object, this method first
  /// repeats the last progress report, so that the caller can stop the work. Thread-safe.
  void CheckNotStopped();

private:
  /// Reports the progress. Returns whether the work continues. Call this method on the thread that
  /// made this object.
  bool UpdateProgress(double fraction);
  void ThrowIfStopped() const;

  const LocateOptions& Options;
  const std::thread::id Caller = std::this_thread::get_id();
  double Fraction = 0;  ///< the last reported fraction
  std::atomic<bool> Stopped{false};
};

}  // namespace patchio
