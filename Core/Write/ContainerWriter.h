// Writes containers: the folder, the log, and the lock that excludes other writers.
#pragma once

#include "Base/Communicator.h"
#include "Write/StepWriter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::container {

struct ContainerLog;

/// The treatment of an existing container, and the division of each step into files.
struct ContainerOptions
{
  /// True: new steps replace an existing container; the existing steps stay until the first new step is
  /// committed. False: new steps are added to an existing container.
  bool Overwrite = false;
  int RanksPerFile = 0;  ///< see StepWriter::StepWriter()
};

/// Writes steps to a container, and locks the container until destruction. Readers see a step as soon as
/// Commit() has returned. Collective: every rank of the communicator calls each method except Has(), TimeOf()
/// and MarkForReplacement(). The collective methods throw Error, the same on all ranks.
class ContainerWriter
{
public:
  /// Makes the container, or opens an existing container. `folder`: path of the container, NAME.pio.
  ContainerWriter(Communicator& ranks, const std::string& folder, const ContainerOptions& options = {});
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  /// Returns whether the container has the step, and neither Overwrite nor MarkForReplacement() replaces the
  /// step. Not collective.
  bool Has(std::int64_t step) const
  {
    const auto found = this->Steps.find(step);
    return found != this->Steps.end() && !found->second.ReplaceAtCommit;
  }
  /// Returns the time of a step that is in the container. Not collective.
  double TimeOf(std::int64_t step) const { return this->Steps.at(step).Time; }
  /// Marks a step of the container, so that Begin() accepts a step with the same number. The existing step
  /// stays until Commit(). Not collective, but all ranks must call it.
  void MarkForReplacement(std::int64_t step) { this->Steps.at(step).ReplaceAtCommit = true; }

  /// Begins a step for which Has() is false, and returns the writer of the step. Only one step at a time may
  /// be in progress.
  std::unique_ptr<StepWriter> Begin(StepToWrite step);
  /// Begins the step of `step`, a StepWriter that was constructed before, with this container's folder and
  /// ContainerOptions::RanksPerFile.
  void Begin(StepWriter& step);
  /// Adds the written step to the container.
  void Commit(StepWriter& step);

private:
  class Lock;
  struct KnownStep
  {
    double Time = 0;
    FileNames Names = FileNames::Usual;
    bool ReplaceAtCommit = false;  ///< see Overwrite and MarkForReplacement()
  };

  std::map<std::int64_t, KnownStep> Open();
  std::map<std::int64_t, KnownStep> LoadLog(const ContainerLog& log);
  void CheckLogIsComplete(const ContainerLog& log, const std::map<std::int64_t, KnownStep>& steps);
  void BeginLog(const std::string& firstRecord);
  void Append(const std::string& record);
  void RemoveUnrecorded(const std::vector<std::string>& endings) const;
  void RenameToUsual(StepWriter& step);

  Communicator& Ranks;
  const std::string Folder;
  const ContainerOptions Options;
  std::map<std::int64_t, KnownStep> Steps;  ///< the steps of the container, by number
  // The members below are used on rank 0 only.
  std::unique_ptr<Lock> WriterLock;
  std::unique_ptr<PlainFile> Log;  ///< null until the first Commit() if Overwrite replaces a container
  std::uint64_t LogEnd = 0;
  bool HasLostSteps = false;  ///< true: several steps have files but no record; the files stay
  std::map<std::int64_t, std::vector<std::string>> Files;  ///< names of the files of each step in the log
};

}  // namespace patchio::container
