// Makes VTK's data sets from loaded arrays.
#ifndef PatchAssembler_h
#define PatchAssembler_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "DataArrays.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"
#include "Read/LoadRequest.h"
#include "Read/StepRead.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>
#include <vtkUnsignedCharArray.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

class vtkDataSetAttributes;
class vtkIntArray;
class vtkMultiBlockDataSet;

class vtkDataArray;

class vtkDataSet;

namespace patchio {

/// Computes the flags of cells from the positions of blocks and patches.
class CellFlags
{
public:
  /// ghosts: numbers of layers from the files by which grids extend beyond their patches. blankRefined: hides
  /// cells under finer patches. ghostLayer: true if blocks have a layer of neighbours' cells. Keeps
  /// references to `catalog` and `nesting`.
  CellFlags(
      const Catalog& catalog, const Nesting& nesting, const Int3& ghosts, bool blankRefined, bool ghostLayer)
      : Data(catalog), Nests(nesting), Ghosts(ghosts), BlankRefined(blankRefined), GhostLayer(ghostLayer)
  {
  }

  /// Returns one flag for each of `cells`, the cells of the block's grid; null if all cells are visible.
  /// Thread-safe.
  vtkSmartPointer<vtkUnsignedCharArray> Of(const Block& block, const Box& cells) const;

private:
  bool IsWholeBlockVisible(const Block& block) const;
  void MarkLayers(const Block& block, const Box& cells, unsigned char* flags) const;
  bool MarkCellsOfOthers(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  bool MarkRefined(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  void HideRefined(const Block& block, const Box& grid, unsigned char* flags) const;
  void ConvertBorderToGhosts(const Box& grid, unsigned char* flags) const;

  const Catalog& Data;
  const Nesting& Nests;
  const Int3 Ghosts;
  const bool BlankRefined, GhostLayer;
};

/// Hides the points of a rectilinear or structured grid that are NaN in all of these point arrays, and the
/// cells around them: NaN has no color, and filters give arbitrary results for it. Adds the flags even if
/// nothing is hidden, because all blocks should have the same arrays. Without arrays nothing is hidden.
void HideUndefined(vtkDataSet* grid, const std::vector<vtkDataArray*>& arrays);

struct AssemblyOptions
{
  bool BlankRefined = true;
  bool PatchIds = false;
  bool Vectors = true;  ///< see VectorsAmong(); not on a sphere, where the directions of components differ
  bool PointsAsImage = false;  ///< lists of points become images
  bool HideUndefined = true;   ///< hide points that are undefined in all arrays of their block
  bool Sphere = false;         ///< put geographic grids on a sphere
  bool HidesCells = false;     ///< true if any block of any rank has hidden cells
  bool GhostLayer = false;     ///< blocks have a layer of neighbours' cells
  int Rank = 0;                ///< number of this rank, for the field data
  /// See LoadedStep::Blanks.
  std::vector<std::optional<BlankArray>> Blanks;
};

/// The part of a block that stays the same for all steps of a file: the grid, its flags, and the arrays of
/// time-invariant variables.
struct BlockFrame
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;  ///< for points in an image; see PointImage
};

/// Makes the output of one time step. MakeFrame() and MakeBlock() may be called by several threads at once,
/// for different blocks.
class PatchAssembler
{
public:
  /// nesting: describes the patches in the output of all ranks. variables: in the order of each block's
  /// arrays. ghosts: numbers of layers by which all grids extend beyond their patches. memory: pool for the
  /// arrays that this class makes. Keeps references to all arguments except `ghosts` and `options`.
  PatchAssembler(const Catalog& catalog, const Nesting& nesting,
      const std::vector<VariableRequest>& variables, const Int3& ghosts, const AssemblyOptions& options,
      MemoryPool& memory);
  ~PatchAssembler();

  /// Makes the tree, which is the same on all ranks: a block per level, with an empty piece per block of
  /// patches. Levels outside firstLevel .. lastLevel have no pieces. `blocks` are in the order of their
  /// levels.
  void BuildTree(
      vtkMultiBlockDataSet* output, const std::vector<Block>& blocks, int firstLevel, int lastLevel) const;

  /// Makes the grid of a block, with the arrays that are equal at all steps of the file.
  BlockFrame MakeFrame(const Block& block, const std::vector<LoadedArray*>& arrays);

  /// Returns the grid of a frame with the arrays that change from step to step. If the file has other steps,
  /// the frame itself stays unchanged.
  vtkSmartPointer<vtkDataSet> MakeBlock(
      const Block& block, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays);

private:
  bool IsPoints(const Block& block) const { return this->Data.RoleOf(block.Level) == LevelRole::Points; }
  bool IsTimeInvariant(std::size_t variable) const;
  bool IsGeometry(std::size_t variable) const;
  void AddArrays(const Block& block, const BlockFrame& frame, const std::vector<LoadedArray*>& arrays,
      bool timeInvariant, vtkDataSet* grid);
  std::vector<ComposedVector> ComposedVectors() const;
  void AddVectors(const std::vector<LoadedArray*>& arrays, bool timeInvariant, vtkDataSet* grid) const;
  void AddBlank(std::size_t variable, vtkDataSet* grid);
  bool BecomesPoints(const Block& block) const
  {
    return this->IsPoints(block) && !this->Options.PointsAsImage;
  }
  vtkDataSetAttributes* AttributesOf(std::size_t variable, bool ofPoints, vtkDataSet* grid) const;
  BlockFrame MakePoints(const Block& block, const LoadedArray* positions) const;
  vtkSmartPointer<vtkDataSet> MakeMeshOf(const Block& block, const std::vector<LoadedArray*>& arrays) const;
  std::vector<vtkDataArray*> UndefinedArrays(vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const;
  void AddGhostArray(const Block& block, vtkDataSet* grid);
  std::string FreeName(std::string name) const;
  void AddPatchIds(const Block& block, vtkDataSet* grid) const;
  void AddOriginArrays(const Block& block, bool boxed, vtkDataSet* grid);
  void InvalidateDuplicateIds(vtkDataSet* grid, const std::array<vtkIntArray*, 2>& arrays) const;
  void AddFieldData(const Block& block, vtkDataSet* grid) const;
  Box CellsOf(const Block& block) const;

  const Catalog& Data;
  const std::vector<VariableRequest>& Variables;
  Int3 Ghosts;
  AssemblyOptions Options;
  CellFlags Flags;
  MemoryPool& Memory;
  ConstantArrays Constants;
  std::vector<ComposedVector> Vectors;     ///< with indices into Variables
  vtkSmartPointer<vtkIntArray> RankValue;  ///< many blocks share these values
  std::vector<vtkSmartPointer<vtkIntArray>> LevelValues;
};

}  // namespace patchio

#endif
