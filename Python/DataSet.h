// A series and its steps, read by a single process, for the Python module. The classes do not depend on
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
  std::unique_ptr<Communicator> SelfCommunicator = MakeSelfCommunicator();
  AutomaticThreads Threads;
  std::shared_ptr<MemoryPool> Memory = std::make_shared<MemoryPool>();
};

/// The form of blocks that are made from patches.
enum class BlockForm
{
  Patches,  ///< one block per patch, in the order of the patches
  Merged,   ///< few boxes without gaps, with none or few of the cells that a finer patch covers
  Fewest,   ///< fewer boxes, with hidden cells: gaps, and cells that a finer patch covers
  Filled    ///< few boxes without gaps, with all cells of the patches
};

/// Blocks of a step, made from its patches. Immutable.
class BlockPlan
{
public:
  /// Makes blocks of `patches`. `patches`: indices in Catalog::Patches, each once. `shown`: one flag per
  /// patch of the catalog; a patch with the flag hides coarser cells, even if `patches` lacks the patch.
  /// `variables`: indices in Catalog::Variables; only patches that have the same variables among `variables`
  /// are merged.
  BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches,
      const std::vector<bool>& shown, const std::vector<int>& variables, BlockForm form);

  /// Makes one block with the cells `box`, in which the cells without a patch are hidden. Makes no block if
  /// `box` and the patches share no cells. All patches are on one level, and `box` is in cells of this level.
  BlockPlan(std::shared_ptr<const Catalog> catalog, const std::vector<int>& patches, const Box& box);

  /// Returns the blocks, which have no ghost layers.
  const std::vector<Block>& Blocks() const { return this->PlannedBlocks; }
  const Catalog& Data() const { return *this->SharedCatalog; }
  /// Returns VTK's flags, one byte per cell of a block, axis 0 fastest: HIDDENCELL (no patch has the cell),
  /// REFINEDCELL with DUPLICATECELL (finer patches cover the cell), DUPLICATECELL (the cell belongs to
  /// another patch of the level). Returns an empty list if all cells are visible. Requires block <
  /// Blocks().size().
  std::vector<std::uint8_t> Flags(std::size_t block) const;

private:
  std::shared_ptr<const Catalog> SharedCatalog;
  Nesting PatchNesting;
  std::vector<Block> PlannedBlocks;
};

/// The values to read, and how to read them.
struct ReadOptions
{
  std::vector<Block> Blocks;
  std::vector<int> Variables;  ///< indices in Catalog::Variables
  bool Ghosts = false;         ///< true: also read the stored ghost layers; every block must be a patch
  /// Number of reader threads; 0: AutomaticThreads chooses the number.
  int Threads = 0;
  bool StopAtFault = true;  ///< false: skip arrays that cannot be read
  bool Verify = false;      ///< true: check values and headers in the files, see LocateOptions::Verify
};

/// One time step. A step may outlive its data set. Not thread-safe: only one thread at a time may use the
/// steps and data sets of the process, because HDF5 is not thread-safe.
class Step
{
public:
  /// `opened`: the step's file, which the steps of one file may share. `entry`: the entry of the step in
  /// Series::Steps. `openSeconds`: time of opening the file, for the first report.
  Step(std::shared_ptr<OpenedStep> opened, TimeStep entry, double openSeconds,
      std::shared_ptr<ReaderState> state);

  /// Returns the catalog of the file, which the steps of one file may share. The catalog's current step is
  /// the step of the file that was last opened, read or located.
  const Catalog& Data() const { return this->Opened->Data(); }
  /// Returns a warning about index files that are damaged or cannot be read, see WarningAbout(). Empty: there
  /// is no warning.
  const std::string& Warning() const { return this->Opened->Warning(); }

  /// Reads values. The arguments of LoadResult::At() are indices in options.Blocks and options.Variables.
  /// LoadResult::Faults has the errors in files. Calls `progress` during the read; the read ends if
  /// `progress` returns false. Throws Error if a variable does not exist, the file has changed, no values can
  /// be located, or the memory is insufficient.
  LoadResult Read(const ReadOptions& options, const ReadProgressCallback& progress);

  /// Returns the locations of a variable's values in the files, one per patch of `patches`.
  /// LocationTable::Problems has the reasons why values cannot be located. Throws Error if the variable or a
  /// patch does not exist, or the file has changed.
  LocationTable Locate(int variable, const std::vector<int>& patches);
  /// Returns the type that a variable's values have after a read; nullopt if no patch has the variable.
  /// Throws Error if the variable does not exist or its values cannot be located.
  std::optional<ElementType> TypeOfVariable(int variable);
  /// Returns one flag per cell of the patch, axis 0 fastest: 1 if a finer level or another patch of the level
  /// covers the cell (see Nesting::CellsShownElsewhere()). Returns an empty list if no cell is covered.
  /// Throws Error if the patch does not exist.
  std::vector<std::uint8_t> CoveredCells(int patch);
  /// Returns one block per patch. Throws Error if a patch does not exist.
  std::vector<Block> BlocksOf(const std::vector<int>& patches) const;
  /// Returns blocks of patches, see BlockPlan. `levels`: one flag per level; patches of levels with the flag
  /// hide cells of coarser levels. Throws Error if a patch or a variable does not exist.
  BlockPlan PlanBlocks(const std::vector<int>& patches, const std::vector<bool>& levels,
      const std::vector<int>& variables, BlockForm form) const;
  /// Returns one block with the cells `box`, or no block, see BlockPlan. Throws Error if a patch does not
  /// exist.
  BlockPlan PlanBox(const std::vector<int>& patches, const Box& box) const;
  /// Returns the patches for process `part` of `parts` processes. The patches of a part are close together,
  /// and all parts have about the same number of stored values. Throws Error unless 0 <= part < parts.
  std::vector<int> PatchesOfPart(int part, int parts) const;

private:
  void CheckPatches(const std::vector<int>& patches) const;
  void CheckVariable(int variable) const;
  LoadRequest RequestOf(const ReadOptions& options) const;
  void ChooseThreads(LoadRequest& request, int threads);
  LoadResult Load(const LoadRequest& request, const ReadProgressCallback& progress);

  std::shared_ptr<OpenedStep> Opened;
  TimeStep Entry;
  double OpenSeconds;  ///< time of opening, in seconds; 0 after the first report, which includes this time
  std::shared_ptr<ReaderState> State;
  std::unique_ptr<Nesting> PatchNesting;
};

/// The time steps of one or several paths.
class DataSet
{
public:
  /// Opens the series of all paths. `mode`: use of index files. `listedOnly`: see SeriesOptions::ListedOnly.
  /// Throws Error if a path has no step that can be opened, or if the paths have several formats.
  DataSet(const std::vector<std::string>& paths, IndexMode mode, bool listedOnly);

  const Series& Contents() const { return this->AllSteps; }
  const char* FormatName() const { return this->Name; }
  /// Opens a step, with step < Contents().Steps.size(). Throws Error if the step cannot be read.
  std::shared_ptr<Step> Open(std::size_t step);

private:
  IndexMode Mode;
  Series AllSteps;
  const char* Name;  ///< name of the format, from the first path, because the files of steps may be missing
  std::shared_ptr<ReaderState> State = std::make_shared<ReaderState>();
  /// The step that was opened last, if its file has several steps with the same patches.
  std::shared_ptr<OpenedStep> LastOpened;
  std::string LastPath;  ///< path of the step that was opened last
};

}  // namespace patchio
