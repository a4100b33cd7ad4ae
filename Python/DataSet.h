// A series and its steps, read by a single process, for the Python module. This file does not depend on
// Python.
#pragma once

#include "Catalog/Nesting.h"
#include "Formats/Format.h"
#include "Plan/Blocks.h"
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

/// The form of blocks that are made from patches.
enum class BlockForm
{
  Patches,  ///< one block per patch, in the given order
  Merged,   ///< few boxes without gaps, cut so that they leave out cells that a finer patch covers
  Fewest,   ///< boxes with hidden cells where that saves boxes: gaps, and cells that a finer patch covers
  Filled    ///< few boxes without gaps, with all cells of the patches
};

/// Blocks of a step, made from its patches. Immutable.
class BlockPlan
{
public:
  /// patches: global numbers, each once. shown: one flag per patch; patches with the flag hide coarser cells,
  /// whether or not `patches` has them. variables: numbers in the catalog; only patches that have the same
  /// ones of these variables are merged. Throws Error if a patch does not exist.
  BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches,
      const std::vector<bool>& shown, const std::vector<int>& variables, BlockForm form);

  /// Makes one block of the cells that `box`, on the patches' level, shares with the patches; no block if
  /// they share no cells. Throws Error as above.
  BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches, const Box& box);

  /// The blocks. They have no ghost layers.
  const std::vector<Block>& Blocks() const { return this->All; }
  const Catalog& Data() const { return *this->Described; }
  /// Returns one flag per cell of a block, axis 0 fastest, as VTK defines the flags: hidden (no patch has the
  /// cell), refined (finer patches cover the cell), duplicate (another patch of the level has the cell).
  /// Returns an empty list if all cells are visible. Requires block < Blocks().size().
  std::vector<std::uint8_t> Flags(std::size_t block) const;

private:
  std::shared_ptr<const Catalog> Described;
  Nesting Nests;
  std::vector<Block> All;
};

struct ReadOptions
{
  std::vector<Block> Blocks;
  std::vector<int> Variables;  ///< numbers in the catalog
  bool Ghosts = false;         ///< true: also read the stored ghost layers; every block must be a patch
  int Threads = 0;             ///< NT; 0: from the storage's profile, adapted during the read
  bool StopAtFault = true;     ///< false: skip arrays that cannot be read
  bool Verify = false;         ///< true: compare values with their checksums, if the files have checksums
};

/// One time step. A step may outlive its data set. Not thread-safe: only one thread at a time may use the
/// steps and data sets of the process, because HDF5 is not thread-safe.
class Step
{
public:
  /// `opened` may be shared by the steps of one file.
  Step(std::shared_ptr<OpenedStep> opened, TimeStep which, double openSeconds,
      std::shared_ptr<ReaderState> state);

  const TimeStep& Head() const { return this->Which; }
  /// Returns the catalog of the file. Its current step is the step of the file that was read last.
  const Catalog& Data() const { return this->Opened->Data(); }
  /// Returns a warning about damaged index files; empty if no index file is damaged.
  const std::string& Warning() const { return this->Opened->Warning(); }

  /// Reads values. The arguments of LoadResult::At() are positions in options.Blocks and options.Variables.
  /// Throws Error for numbers that do not exist, and if the memory is insufficient. The result has the faults
  /// of files.
  LoadResult Read(const ReadOptions& options, const ReadProgressCallback& progress);

  /// Returns the locations of a variable, one per patch of `patches`. Throws Error for numbers that do not
  /// exist.
  LocationTable Locate(int variable, const std::vector<int>& patches);
  /// Returns the type of a variable's values after a read; nullopt if no patch has the variable. Throws
  /// Error.
  std::optional<ElementType> TypeOfVariable(int variable);
  /// Returns one flag per cell of the patch, axis 0 fastest: 1 if a finer level or another patch of the level
  /// covers the cell (see Nesting::CellsShownElsewhere()). Returns an empty list if no cell is covered.
  std::vector<std::uint8_t> CoveredCells(int patch);
  /// Returns one block per patch. Throws Error if a patch does not exist.
  std::vector<Block> BlocksOf(const std::vector<int>& patches) const;
  /// Returns blocks of patches, see BlockPlan. Patches of the levels with levels[level] hide cells of coarser
  /// levels. Throws Error.
  BlockPlan PlanBlocks(const std::vector<int>& patches, const std::vector<bool>& levels,
      const std::vector<int>& variables, BlockForm form) const;
  /// Returns one block with the cells of a box, see BlockPlan. Throws Error.
  BlockPlan PlanBox(const std::vector<int>& patches, const Box& box) const;
  /// Returns the patches for process `part` of `parts` processes. The patches of a part are close together,
  /// and all parts have about the same number of bytes. Throws Error unless 0 <= part < parts.
  std::vector<int> PatchesOfPart(int part, int parts) const;

private:
  void CheckPatch(int patch) const;
  void CheckVariable(int variable) const;
  LoadRequest RequestOf(const ReadOptions& options) const;
  void ChooseThreads(LoadRequest& request, int threads);
  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress);

  std::shared_ptr<OpenedStep> Opened;
  TimeStep Which;
  double OpenSeconds;  ///< time of opening, in seconds; 0 after the first report, which includes this time
  std::shared_ptr<ReaderState> State;
  std::unique_ptr<Nesting> Nests;
};

/// The time steps behind some paths.
class DataSet
{
public:
  /// Opens the series of all paths. Throws Error if no step can be opened.
  DataSet(const std::vector<std::string>& paths, IndexMode mode, bool listedOnly);

  const Series& Steps() const { return this->All; }
  /// Returns the name of the format.
  const char* FormatName() const { return this->Name; }
  /// Opens a step, with step < Steps().Steps.size(). Throws Error if the step cannot be read.
  std::shared_ptr<Step> Open(std::size_t step);

private:
  IndexMode Mode;
  Series All;
  const char* Name;  ///< name of the format of the first path; the files of steps may be missing
  std::shared_ptr<ReaderState> State = std::make_shared<ReaderState>();
  std::shared_ptr<OpenedStep> Last;  ///< the step that was opened last, if its file has several steps
  std::string LastPath;
};

}  // namespace patchio
