// A container that is written: its folder, its log, and who may write it.
#pragma once

#include "Support/Communicator.h"
#include "Write/StepWriter.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace patchio::container {

struct ContainerOptions
{
  bool Overwrite =
      false;           ///< remove the steps of a container that is there; else they stay, others are added
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

  /// Whether the step is in the container.
  bool Has(std::int64_t step) const { return this->Steps.count(step) > 0; }
  /// The time of a step that is.
  double TimeOf(std::int64_t step) const { return this->Steps.at(step); }

  /// A step that is not there yet; one at a time.
  std::unique_ptr<StepWriter> Begin(StepToWrite step);
  /// The same for one that was laid out already, with the same ranks for each file.
  void Begin(StepWriter& step);
  /// From now on the step is in the container.
  void Commit(StepWriter& step);

private:
  class Lock;

  void OpenLog(bool overwrite);

  Communicator& Ranks;
  const std::string Folder;
  const ContainerOptions Options;
  std::map<std::int64_t, double> Steps;  ///< those in the container, with their times
  std::unique_ptr<Lock> Locked;          ///< on rank 0
  std::unique_ptr<PlainFile> Log;        ///< on rank 0
  std::uint64_t LogEnd = 0;
};

}  // namespace patchio::container
