// A container that is written: its folder, its log, and who may write it.
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

struct ContainerOptions
{
  /// Replace a container that is there: its steps stay until the first new one is written. False: steps are
  /// added to it.
  bool Overwrite = false;
  int RanksAFile = 0;  ///< see StepWriter
};

/// Until it is destroyed nobody else can write to the container. Readers need not wait: they see a step when
/// Commit() has returned. All methods but Has() and TimeOf() are collective and throw Error, the same on all
/// ranks.
class ContainerWriter
{
public:
  /// folder: NAME.pio. Makes it, or opens it to add steps.
  ContainerWriter(Communicator& ranks, const std::string& folder, const ContainerOptions& options = {});
  ~ContainerWriter();
  ContainerWriter(const ContainerWriter&) = delete;
  ContainerWriter& operator=(const ContainerWriter&) = delete;

  /// Whether the step is in the container, and stays.
  bool Has(std::int64_t step) const
  {
    const auto found = this->Steps.find(step);
    return found != this->Steps.end() && !found->second.Replaced;
  }
  /// The time of a step that is.
  double TimeOf(std::int64_t step) const { return this->Steps.at(step).Time; }
  /// Lets Begin() take the step once more; until Commit() the one that is there stays. Not collective, though
  /// all ranks do it.
  void Replace(std::int64_t step) { this->Steps.at(step).Replaced = true; }

  /// A step that is not there yet; one at a time.
  std::unique_ptr<StepWriter> Begin(StepToWrite step);
  /// The same for one that was laid out already, with the same ranks for each file.
  void Begin(StepWriter& step);
  /// From now on the step is in the container.
  void Commit(StepWriter& step);

private:
  class Lock;
  struct KnownStep
  {
    double Time = 0;
    FileNames Names = FileNames::Usual;
    bool Replaced = false;  ///< as soon as there is another
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
  std::map<std::int64_t, KnownStep> Steps;  ///< those in the container
  // On rank 0:
  std::unique_ptr<Lock> Locked;
  std::unique_ptr<PlainFile> Log;  ///< null until a container that is replaced has a log of its own
  std::uint64_t LogEnd = 0;
  bool HasLostSteps = false;  ///< several steps have files, but no record: the files stay
  std::map<std::int64_t, std::vector<std::string>> Files;  ///< of the steps that the log has
};

}  // namespace patchio::container
