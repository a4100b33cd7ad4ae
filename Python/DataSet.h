// A series and its steps as one process reads them: what the Python module calls. No Python in here.
#pragma once

#include "Catalog/Nesting.h"
#include "Formats/Format.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "Store/StepSidecar.h"
#include "Tuning/AutomaticThreads.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// What a process does not want to find out again for each step.
struct ReaderState
{
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
  AutomaticThreads Automatic;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
};

struct ReadOptions
{
  std::vector<int> Patches;    ///< global numbers, each once
  std::vector<int> Variables;  ///< numbers in the catalog
  bool Ghosts = false;         ///< true: layers of ghosts as stored; false: without
  int Threads = 0;             ///< NT; 0: as the storage's profile and the read itself suggest
  bool StopAtFault = true;     ///< false: all that is sound is read
  bool Verify = false;         ///< compare values with checksums, where there are some
};

/// One time step. Outlives the data set that it is from. One thread at a time may call any of all data sets,
/// because HDF5 bears no more.
class Step
{
public:
  /// `opened` may be shared by the steps of one file.
  Step(std::shared_ptr<OpenedStep> opened, TimeStep which, double openSeconds,
      std::shared_ptr<ReaderState> state);

  const TimeStep& Head() const { return this->Which; }
  /// All but the time, which is that of the step that was read last.
  const Catalog& Data() const { return this->Opened->Data(); }
  /// What became of damaged sidecars; empty when there are none.
  const std::string& Warning() const { return this->Opened->Warning(); }

  /// Values by positions in options.Patches and options.Variables. Throws Error for numbers that do not exist
  /// and when memory does not suffice; faults of files are in the result.
  LoadResult Read(const ReadOptions& options, const ReadProgressCallback& progress);

  /// In which type the values of a variable arrive; none where no patch has it. Throws Error.
  std::optional<ElementType> TypeOfVariable(int variable);
  /// One flag per cell of the patch, axis 0 fastest: 1 where a finer level or another patch of the
  /// level has the place, see Nesting::CellsShownElsewhere(). Empty: nowhere.
  std::vector<std::uint8_t> CoveredCells(int patch);
  /// The share of process `part` of `parts` in all patches: compact in space, alike in bytes.
  std::vector<int> PatchesOfPart(int part, int parts) const;

private:
  void CheckPatch(int patch) const;
  void CheckVariable(int variable) const;
  LoadRequest RequestOf(const ReadOptions& options) const;
  void ChooseThreads(LoadRequest& request, int threads);
  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress);

  std::shared_ptr<OpenedStep> Opened;
  TimeStep Which;
  double OpenSeconds;  ///< of opening; 0 once a report has told
  std::shared_ptr<ReaderState> State;
  std::unique_ptr<Nesting> Nests;
};

/// The time steps behind some paths.
class DataSet
{
public:
  /// Throws Error where there is not one good step.
  DataSet(const std::vector<std::string>& paths, ChannelMode mode, bool listedOnly);

  const Series& Steps() const { return this->All; }
  /// Returns the name of the format.
  const char* FormatName() const { return this->Name; }
  /// Throws Error when the step cannot be read. step < Steps().Steps.size()
  std::shared_ptr<Step> Open(std::size_t step);

private:
  ChannelMode Mode;
  Series All;
  const char* Name;  ///< of the format of the first path: the file of a step may be missing
  std::shared_ptr<ReaderState> State = std::make_shared<ReaderState>();
  std::shared_ptr<OpenedStep> Last;  ///< the one that was opened last, when its file has several steps
  std::string LastPath;
};

}  // namespace patchio
