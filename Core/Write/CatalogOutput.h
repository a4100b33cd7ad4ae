// Steps that catalogs describe, as ParaView has them, on their way to the channels of a configuration.
#pragma once

#include "Base/Communicator.h"
#include "Write/OutputConfig.h"
#include "Write/Target.h"
#include "Write/WritingThread.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace patchio::output {

/// A rank's values of a step, and what keeps them.
struct HeldValues
{
  std::vector<container::PatchValues> Mine;
  std::shared_ptr<const void> Holder;
};

/// It takes those of the simulation's formats that need no declarations: containers and GrADS files, in the
/// modes direct and thread. In the latter a thread of each rank writes, without MPI. Methods are called by
/// one thread.
class CatalogOutput
{
public:
  /// Collective; ranks must outlive it. Throws Error, the same on all ranks.
  CatalogOutput(OutputConfig config, Communicator& ranks);
  ~CatalogOutput();
  CatalogOutput(const CatalogOutput&) = delete;
  CatalogOutput& operator=(const CatalogOutput&) = delete;

  const std::vector<Channel>& Channels() const { return this->Config.Channels; }

  /// Collective: a step for a channel. bytes: of this rank's values. take: gives them, and copies of them if
  /// `copies`; others must stay until this has returned. Throws Error, the same on all ranks: what went wrong
  /// with this step, or with earlier ones, unless that was thrown before; this one is taken all the same
  /// then.
  void Write(std::size_t channel, container::StepToWrite step, std::uint64_t bytes,
      const std::function<HeldValues(bool copies)>& take);
  /// Collective: returns when all steps are on the storage. Throws like Write().
  void Finish();
  /// The same for this rank alone, and without MPI, which may have ended. Gives what Write() would throw.
  std::string FinishHere();

  /// For those who will read: returns when all that this process writes into the folder or file has been
  /// tried. path: it, or something in it.
  static void Await(const std::string& path);

private:
  struct Sink
  {
    std::unique_ptr<Target> To;
    int Threads = 1;
  };

  void ThrowFaults();

  const OutputConfig Config;
  Communicator& Ranks;
  std::unique_ptr<Communicator> Aside;  ///< of the threads that write; null: the caller's thread writes
  std::vector<Sink> Sinks;              ///< one a channel
  WritingThread Writer;
};

}  // namespace patchio::output
