// One update of the reader: from the wanted variables to the output.
#ifndef PatchUpdate_h
#define PatchUpdate_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "MetadataChannel/Fingerprint.h"
#include "PatchAssembler.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "Read/OpenedStep.h"
#include "Read/PatchLoader.h"
#include "Support/Communicator.h"

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

class vtkMultiBlockDataSet;

namespace patchio {

/// What the user wants to see.
struct UpdateOptions
{
  int FirstLevel = 0, LastLevel = 0;
  Int3 Ghosts{0, 0, 0};        ///< layers to keep of those in the files; patches stay as they are then
  bool HideRefined = true;     ///< hide cells under finer patches
  bool SkipBroken = false;     ///< leave out what cannot be read
  bool GhostLayer = false;     ///< one layer of cells from neighbours around each block
  bool PointsAsImage = false;  ///< see AssemblyOptions
  bool HideUndefined = true;   ///< see AssemblyOptions
  bool Sphere = false;         ///< see AssemblyOptions
  bool PatchIds = false;       ///< cell arrays that say which patch a cell is from
  RegionOfInterest Region;
  std::vector<bool> WithValues;  ///< per patch: see PatchesWithValues(); empty: all of them
  BlockOptions Blocks;
  int Piece = 0, Pieces = 1;  ///< which part of all blocks this rank reads

  bool operator==(const UpdateOptions& other) const
  {
    const auto tie = [](const UpdateOptions& o) {
      return std::tie(o.FirstLevel, o.LastLevel, o.Ghosts, o.HideRefined, o.SkipBroken, o.GhostLayer,
          o.PointsAsImage, o.HideUndefined, o.Sphere, o.PatchIds, o.Region.Kind, o.Region.Lower,
          o.Region.Upper, o.Region.Origin, o.Region.Normal, o.WithValues, o.Blocks.Merge,
          o.Blocks.Cover.MostCells, o.Blocks.Cover.CellsWorthABox, o.Piece, o.Pieces);
    };
    return tie(*this) == tie(other);
  }
};

/// Carries out one update, step by step in the order of the methods.
class PatchUpdate
{
public:
  /// Keeps references to `ranks`, `step` and `kept`. The latter are frames of an update before; where they
  /// are of the same blocks of the same file, they are used, and steady variables are not read again.
  PatchUpdate(Communicator& ranks, const OpenedStep& step, const UpdateOptions& options, KeptFrames& kept);

  /// True when there are patches, but none on the levels that are shown.
  bool Empty() const;

  /// Level one of two-level reading: makes blocks of the shown patches, and `request` (all but its Blocks)
  /// for the blocks of this piece. Of patches that cannot be read nothing remains, so to be called again
  /// while Outdated().
  void Plan(const LoadRequest& request);
  /// True when patches are known to be broken that the blocks were made with.
  bool Outdated() const { return this->NewlyBroken; }

  /// Finds out where the bytes lie. Like Read(), keeps what goes wrong on this rank, so that all ranks go on
  /// to agree on it.
  void Locate();

  /// Collective: throws Error on all ranks when some machine has too little memory for what was located.
  void CheckMemory();

  /// Collective, after AgreeOnFaults(): takes memory, so that the lanes can begin. Throws Error, the same on
  /// all ranks, when the arrays would take memory above the water mark, at which nothing is read that nobody
  /// asked for yet.
  void PrepareAhead();
  /// After PrepareAhead(), whose PatchLoader::Start() any thread may call then.
  std::shared_ptr<PatchLoader> SharedLoader() const { return this->Loader; }
  /// No more is read; waits for nobody.
  void CancelAhead() { this->Loader->Cancel(); }
  /// Whether this rank's part of an update that was read ahead is what it would be if it began now: the same
  /// options and request, files that have not changed since, frames that it relies on.
  bool StillHolds(const UpdateOptions& options, const LoadRequest& request) const;
  /// Collective: true when nothing went wrong in Read() on any rank.
  bool SoundEverywhere() const;

  /// Level two: NT threads. Collective: no rank is done before all are, or some was told to stop by its
  /// `progress`, which is called about every 10 ms with how far all ranks together are. Then all stop at
  /// once, and Stopped() is true on all.
  void Read(const ReadProgressCallback& progress);
  bool Stopped() const { return this->WasStopped; }
  /// Read() was called, for the blocks at hand.
  bool IsRead() const { return this->WasRead; }

  /// Collective: agrees on what went wrong anywhere so far. Throws Error, the same on all ranks, when nothing
  /// may be shown.
  void AgreeOnFaults();
  /// What is left out, and why; empty when all is well.
  std::string Warning() const;

  /// How many patches are left out because they are not of interest; empty when there are none.
  std::string LeftOutText() const;

  /// Makes the output.
  void Assemble(vtkMultiBlockDataSet* output);

  /// Cells of a block of this piece, on the average; 0 where there are none.
  double CellsOfBlock() const;

  /// This rank's report.
  IoReport& Report() { return this->Loaded.Report; }

private:
  std::vector<std::optional<FileState>> StatesOfFiles() const;
  std::string KeyOfFrames(const LoadRequest& request) const;
  void LeaveOutSteady();
  std::int64_t StoredValues(const std::vector<VariableRequest>& variables, int patch) const;
  std::vector<std::int64_t> Weights(const std::vector<VariableRequest>& variables) const;
  BlockOptions OptionsForPieces() const;
  bool HasPlainBoxes() const;
  void LeaveOutIdleLevels(const std::vector<int>& variables);
  std::vector<bool> ShownAndNear() const;
  bool Merges() const;
  bool AddsGhostLayer() const;
  AssemblyOptions OptionsOfAssembly() const;
  void CheckCoordinates();
  std::uint64_t PatchesOfPiece() const;

  Communicator& Ranks;
  const OpenedStep& Step;
  const Catalog& Data;
  const UpdateOptions Options;
  KeptFrames& Kept;
  std::string FramesKey;           ///< of the blocks at hand; empty: their frames are not worth keeping
  std::vector<bool> Idle;          ///< per level: see IdleLevels()
  std::vector<bool> Shown;         ///< per patch: of the levels that are shown, and sound
  std::vector<bool> Near;          ///< per patch: of interest, by its place and its values
  std::unique_ptr<Nesting> Nests;  ///< of the shown patches
  std::vector<Block> Blocks;       ///< of all pieces
  std::vector<int> PieceOfBlock;
  std::vector<std::size_t> Mine;         ///< the blocks of this piece
  std::shared_ptr<LoadRequest> Request;  ///< lanes that a stopped read leaves behind keep it
  std::shared_ptr<PatchLoader> Loader;
  LoadResult Loaded;
  std::vector<LoadFault> Faults;  ///< of this rank
  std::string Fatal;              ///< what ended this rank's read as a whole
  /// When the update was prepared to be read ahead:
  std::vector<VariableRequest> AskedFor;
  std::vector<std::optional<FileState>> FilesThen;

  bool NewlyBroken = false;
  bool WasStopped = false, WasRead = false;
  double PlanSeconds = 0;
  std::vector<std::string> BrokenTexts;  ///< why patches are left out
};

/// Collective: whether it holds on every rank.
bool AllOf(Communicator& ranks, bool holds);

/// The texts, one a line.
std::string JoinLines(const std::vector<std::string>& texts);

}  // namespace patchio

#endif
