// From loaded arrays to VTK's data sets.
#ifndef PatchAssembler_h
#define PatchAssembler_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "CellFlags.h"
#include "DataArrays.h"
#include "Plan/Blocks.h"
#include "Plan/Vectors.h"
#include "Session/LoadRequest.h"
#include "Session/StepRead.h"

#include <vtkDataSet.h>
#include <vtkSmartPointer.h>
#include <vtkType.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

class vtkDataSetAttributes;
class vtkIntArray;
class vtkMultiBlockDataSet;

namespace patchio {

struct AssemblyOptions
{
  bool BlankRefined = true;
  bool PatchIds = false;
  bool Vectors = true;  ///< see VectorsAmong(); not of geographic grids on a sphere, where directions differ
  bool PointsAsImage = false;  ///< lists of points become images
  bool HideUndefined =
      true;             ///< some points are undefined: hide those that are so in all arrays of their block
  bool Sphere = false;  ///< put geographic grids on a sphere
  bool HidesCells = false;  ///< some block of any rank has cells that are not to be seen
  bool GhostLayer = false;  ///< blocks have been asked to have one, whether they need it or not
  int Rank = 0;             ///< written into the field data
  /// See LoadedStep.
  std::vector<std::optional<BlankArray>> Blanks;
};

/// What of a block stays the same from step to step of a file: the grid, its flags, the arrays of
/// time-invariant variables.
struct BlockFrame
{
  vtkSmartPointer<vtkDataSet> Grid;
  std::vector<vtkIdType> CellOfPoint;  ///< of points in an image; see PointImage
};

/// Makes the output of one time step.
class PatchAssembler
{
public:
  /// nesting: of the patches that are in the output of some rank.
  /// variables: in the order of the arrays of each block.
  /// ghosts: layers by which all grids grow beyond their patches. memory: for arrays that are made here.
  /// Keeps references to all but the ghosts and the options.
  PatchAssembler(const Catalog& catalog, const Nesting& nesting,
      const std::vector<VariableRequest>& variables, const Int3& ghosts, const AssemblyOptions& options,
      MemoryPool& memory);
  ~PatchAssembler();

  /// The tree that is the same on all ranks: a block per level, in it a piece per block of patches, all
  /// empty. Levels outside firstLevel .. lastLevel have no pieces. `blocks` are in the order of their levels.
  void BuildTree(
      vtkMultiBlockDataSet* output, const std::vector<Block>& blocks, int firstLevel, int lastLevel) const;

  /// Turns the arrays of a block into a grid, but for those that change from step to step.
  BlockFrame MakeFrame(const Block& block, const std::vector<LoadedArray*>& arrays);

  /// Adds the arrays that change to the frame of a block and puts it in its place in the tree. Where
  /// the file has other steps, the frame stays as it is.
  void AddBlock(vtkMultiBlockDataSet* output, const std::vector<Block>& blocks, std::size_t number,
      const BlockFrame& frame, const std::vector<LoadedArray*>& arrays);

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
  std::vector<vtkDataArray*> UndefinedArrays(vtkDataSet* grid, const std::vector<LoadedArray*>& arrays) const;
  void AddGhostArray(const Block& block, vtkDataSet* grid);
  std::string FreeName(std::string name) const;
  void AddPatchIds(const Block& block, vtkDataSet* grid) const;
  void AddOrigin(const Block& block, bool image, vtkDataSet* grid);
  void TakeDuplicates(vtkDataSet* grid, const std::array<vtkIntArray*, 2>& arrays) const;
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
  vtkSmartPointer<vtkIntArray> RankValue;  ///< these are the same in many blocks, which share them
  std::vector<vtkSmartPointer<vtkIntArray>> LevelValues;
};

}  // namespace patchio

#endif
