// Makes VTK's data sets from loaded arrays.
#ifndef PatchAssembler_h
#define PatchAssembler_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "DataArrays.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "Read/LoadRequest.h"
#include "Read/ReadRequest.h"
#include "Read/StepRead.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>
#include <vtkUnsignedCharArray.h>

#include <array>
#include <string>
#include <vector>

class vtkDataSetAttributes;
class vtkIntArray;
class vtkMultiBlockDataSet;

namespace patchio {

/// Computes the ghost flags of cells from the positions of blocks and patches.
class CellFlags
{
public:
  /// Keeps references to the catalog, the nesting and the options of `loaded`.
  explicit CellFlags(const LoadedStep& loaded)
      : Data(loaded.Data()),
        PatchNesting(*loaded.Plan.Nests),
        Options(loaded.Options),
        GhostLayer(AddsGhostLayer(loaded.Data(), loaded.Options))
  {
  }

  /// Returns the flags of the cells in the box `cells`, the cells of the block's grid; null if all cells are
  /// visible. Thread-safe.
  vtkSmartPointer<vtkUnsignedCharArray> FlagsOf(const Block& block, const Box& cells) const;
  /// Returns whether any of the blocks may have hidden cells.
  bool MayHideCells(const std::vector<Block>& blocks) const;

private:
  bool IsWholeBlockVisible(const Block& block) const;
  void MarkGhostLayers(const Block& block, const Box& cells, unsigned char* flags) const;
  bool MarkDuplicateCells(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  bool MarkRefined(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  void HideRefined(const Block& block, const Box& grid, unsigned char* flags) const;
  void ConvertBorderToGhosts(const Box& grid, unsigned char* flags) const;

  const Catalog& Data;
  const Nesting& PatchNesting;
  const StepOptions& Options;
  const bool GhostLayer;  ///< true if blocks have a layer of neighbours' cells
};

/// Hides the points of a rectilinear or structured grid that are NaN in all of the point arrays `arrays`, and
/// the cells around these points, because NaN has no colour, and filters have arbitrary results for NaN.
/// Hides nothing if `arrays` is empty. Adds the flags even if no point is hidden, because all blocks should
/// have the same arrays.
void HideUndefinedPoints(vtkDataSet* grid, const std::vector<vtkDataArray*>& arrays);

/// The part of a block that is the same at all steps of a file: the grid, the flags, and the arrays of
/// time-invariant variables.
struct BlockFrame
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;  ///< for images of points, see PointImage; otherwise empty
};

/// Makes the output of one time step. Several threads may call MakeFrame() and MakeBlock() at once, for
/// different blocks.
class PatchAssembler
{
public:
  /// Keeps a reference to `loaded`. `rank`: number of this rank, for the arrays and field data "rank".
  /// `pointsAsImages`: true makes images of lists of points.
  PatchAssembler(const LoadedStep& loaded, int rank, bool pointsAsImages);
  ~PatchAssembler();

  /// Makes the tree of the output, which is the same on all ranks: a multipiece data set for each level, with
  /// an empty piece for each block of the level. Levels outside firstLevel .. lastLevel have no pieces. Adds
  /// the field data of the root. `blocks`: the blocks of all ranks, sorted by level.
  void BuildTree(
      vtkMultiBlockDataSet* output, const std::vector<Block>& blocks, int firstLevel, int lastLevel) const;

  /// Returns the frame of a block: its grid, with the arrays that are the same at all steps of the file.
  /// Moves the values of these arrays from `arrays` (by variable) to the grid. Throws Error.
  BlockFrame MakeFrame(const Block& block, const std::vector<LoadedArray*>& arrays);

  /// Returns the grid of a block with all arrays. Moves the values of the arrays that change from step to
  /// step from `arrays` (by variable) to the grid. If the file has several steps, returns a shallow copy of
  /// frame.Grid, which stays unchanged; otherwise frame.Grid. Throws Error.
  vtkSmartPointer<vtkDataSet> MakeBlock(
      const Block& block, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays);

private:
  bool IsPointList(const Block& block) const { return this->Data.RoleOf(block.Level) == LevelRole::Points; }
  bool IsTimeInvariant(std::size_t variable) const;
  void AddArrays(const Block& block, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays,
      bool timeInvariant, vtkDataSet* grid);
  std::vector<ComposedVector> RequestedVectors() const;
  void AddVectors(const std::vector<LoadedArray*>& arrays, bool timeInvariant, vtkDataSet* grid) const;
  void AddSubstitute(std::size_t variable, vtkDataSet* grid);
  bool BecomesPolyData(const Block& block) const { return this->IsPointList(block) && !this->PointsAsImages; }
  vtkDataSetAttributes* AttributesOf(std::size_t variable, bool isPointData, vtkDataSet* grid) const;
  LoadedArray* ArrayOf(int variable, const std::vector<LoadedArray*>& arrays) const;
  BlockFrame MakePointFrame(const Block& block, const LoadedArray* positions) const;
  vtkSmartPointer<vtkDataSet> MakeMeshGrid(const Block& block, const std::vector<LoadedArray*>& arrays) const;
  std::vector<vtkDataArray*> UndefinedArrays(vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const;
  void AddGhostArray(const Block& block, vtkDataSet* grid);
  std::string UnusedName(std::string name) const;
  void AddPatchIds(const Block& block, vtkDataSet* grid) const;
  void AddOriginArrays(const Block& block, bool hasBlockCells, vtkDataSet* grid);
  void InvalidateDuplicateIds(vtkDataSet* grid, const std::array<vtkIntArray*, 2>& arrays) const;
  void AddFieldData(const Block& block, vtkDataSet* grid) const;
  Box CellsOf(const Block& block) const;

  const LoadedStep& Loaded;
  const Catalog& Data;
  const std::vector<VariableRequest>& Variables;
  const StepOptions& Options;
  const int Rank;
  const bool PointsAsImages;
  CellFlags Flags;
  const bool HidesCells;  ///< true if a block of any rank may have hidden cells
  ConstantArrays Constants;
  std::vector<ComposedVector> Vectors;     ///< the components are indices in Variables
  vtkSmartPointer<vtkIntArray> RankValue;  ///< array "rank" of the field data, which many blocks share
  std::vector<vtkSmartPointer<vtkIntArray>> LevelValues;  ///< by level: array "level" of the field data
};

}  // namespace patchio

#endif
