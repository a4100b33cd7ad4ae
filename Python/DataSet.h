// A series and its steps as one process reads them, for the Python module. Nothing here depends on Python.
#pragma once

#include "Catalog/Nesting.h"
#include "Formats/Format.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "Store/StepIndexFile.h"
#include "Tuning/AutomaticThreads.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// The state that the steps of a data set share.
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
  bool Ghosts = false;         ///< true: with the stored layers of ghosts
  int Threads = 0;             ///< NT; 0: as the storage's profile and the read itself suggest
  bool StopAtFault = true;     ///< false: arrays that cannot be read are left out
  bool Verify = false;         ///< compare values with their checksums, if there are any
};

/// One time step, which may outlive its data set. Not thread-safe: one thread at a time may call any step or
/// data set of the process, because HDF5 is not thread-safe.
class Step
{
public:
  /// `opened` may be shared by the steps of one file.
  Step(std::shared_ptr<OpenedStep> opened, TimeStep which, double openSeconds,
      std::shared_ptr<ReaderState> state);

  const TimeStep& Head() const { return this->Which; }
  /// Returns the catalog, whose time is that of the step of the file that was read last.
  const Catalog& Data() const { return this->Opened->Data(); }
  /// Returns a warning about damaged index files; empty if there are none.
  const std::string& Warning() const { return this->Opened->Warning(); }

  /// Reads values. The result is indexed by positions in options.Patches and options.Variables. Throws Error
  /// for numbers that do not exist and if memory does not suffice; faults of files are in the result.
  LoadResult Read(const ReadOptions& options, const ReadProgressCallback& progress);

  /// Returns the type in which the values of a variable arrive; none if no patch has the variable. Throws
  /// Error.
  std::optional<ElementType> TypeOfVariable(int variable);
  /// Returns one flag per cell of the patch, axis 0 fastest: 1 if a finer level or another patch of the level
  /// has the place, see Nesting::CellsShownElsewhere(). Empty if this is nowhere so.
  std::vector<std::uint8_t> CoveredCells(int patch);
  /// Returns the patches for process `part` of `parts`: compact in space, and alike in bytes. Throws Error.
  std::vector<int> PatchesOfPart(int part, int parts) const;

private:
  void CheckPatch(int patch) const;
  void CheckVariable(int variable) const;
  LoadRequest RequestOf(const ReadOptions& options) const;
  void ChooseThreads(LoadRequest& request, int threads);
  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress);

  std::shared_ptr<OpenedStep> Opened;
  TimeStep Which;
  double OpenSeconds;  ///< time of opening; 0 once a report has had it
  std::shared_ptr<ReaderState> State;
  std::unique_ptr<Nesting> Nests;
};

/// The time steps that some paths lead to.
class DataSet
{
public:
  /// Throws Error if no step can be opened.
  DataSet(const std::vector<std::string>& paths, ChannelMode mode, bool listedOnly);

  const Series& Steps() const { return this->All; }
  /// Returns the name of the format.
  const char* FormatName() const { return this->Name; }
  /// Opens a step, with step < Steps().Steps.size(). Throws Error if the step cannot be read.
  std::shared_ptr<Step> Open(std::size_t step);

private:
  ChannelMode Mode;
  Series All;
  const char* Name;  ///< name of the first path's format: the file of a step may be missing
  std::shared_ptr<ReaderState> State = std::make_shared<ReaderState>();
  std::shared_ptr<OpenedStep> Last;  ///< the step that was opened last, if its file has several steps
  std::string LastPath;
};

}  // namespace patchio
