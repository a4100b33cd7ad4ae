// The writer of a container: its folder, its log, and the lock that excludes other writers.
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

/// The handling of an existing container, and the number of its files.
struct ContainerOptions
{
  /// True: replace an existing container, whose steps stay until the first new step is written. False: add
  /// steps to the existing container.
  bool Overwrite = false;
  int RanksPerFile = 0;  ///< see StepWriter
};

/// Writes steps to a container, and locks the container until destruction. Readers need not wait: they see a
/// step as soon as Commit() has returned. All methods except Has(), TimeOf() and Replace() are collective
/// (every rank of the communicator calls them) and throw Error, the same on all ranks.
class ContainerWriter
{
public:
  /// Makes the container, or opens an existing one to add steps. `folder`: NAME.pio.
  ContainerWriter(Communicator& ranks, const std::string& folder, const ContainerOptions& options = {});
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  /// Returns whether the step is in the container and is not marked by Replace(). Not collective.
  bool Has(std::int64_t step) const
  {
    const auto found = this->Steps.find(step);
    return found != this->Steps.end() && !found->second.Replaced;
  }
  /// Returns the time of a step that is in the container. Not collective.
  double TimeOf(std::int64_t step) const { return this->Steps.at(step).Time; }
  /// Lets Begin() accept the step again. The existing step stays until Commit(). Not collective, but all
  /// ranks must call it.
  void Replace(std::int64_t step) { this->Steps.at(step).Replaced = true; }

  /// Begins a step that is not in the container. Only one step at a time may be in progress.
  std::unique_ptr<StepWriter> Begin(StepToWrite step);
  /// Begins a step that was laid out before, with the same ranks for each file.
  void Begin(StepWriter& step);
  /// Adds the written step to the container.
  void Commit(StepWriter& step);

private:
  class Lock;
  struct KnownStep
  {
    double Time = 0;
    FileNames Names = FileNames::Usual;
    bool Replaced = false;  ///< the step will be replaced as soon as the new one is committed
  };

  std::map<std::int64_t, KnownStep> Open();
  std::map<std::int64_t, KnownStep> TakeLog(const ContainerLog& log);
  void CheckNothingIsLost(const ContainerLog& log, const std::map<std::int64_t, KnownStep>& steps);
  void BeginLog(const std::string& firstRecord);
  void Append(const std::string& record);
  void RemoveOthers(const std::vector<std::string>& endings) const;
  void GiveUsualNames(StepWriter& step);

  Communicator& Ranks;
  const std::string Folder;
  const ContainerOptions Options;
  std::map<std::int64_t, KnownStep> Steps;  ///< the steps in the container
  // On rank 0:
  std::unique_ptr<Lock> Locked;
  std::unique_ptr<PlainFile> Log;  ///< null until a replaced container has a log of its own
  std::uint64_t LogEnd = 0;
  bool HasLostSteps = false;  ///< true: several steps have files but no record; keep these files
  std::map<std::int64_t, std::vector<std::string>> Files;  ///< files of the steps in the log
};

}  // namespace patchio::container
