// From loaded arrays to VTK's data sets.
#ifndef PatchAssembler_h
#define PatchAssembler_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Read/PatchLoader.h"

#include <vtkSmartPointer.h>

#include <string>
#include <vector>

class vtkDataSet;
class vtkMultiBlockDataSet;
class vtkUnsignedCharArray;

namespace patchio {

/// The form in which VTK wants a variable: vectors of 2-D data get a third component, 2-D tensors (four
/// components, row by row) become 3 x 3; everything else stays as it is.
VariableRequest RequestForVtk(const Catalog& catalog, int variable, const Int3& ghosts);

/// Makes the output of one time step.
class PatchAssembler
{
public:
  /// shown: one flag per patch, true where the patch is in the output of some rank.
  /// ghosts: layers by which all grids grow beyond their boxes.
  /// rank: written into the field data. Keeps a reference to `catalog`.
  PatchAssembler(const Catalog& catalog, const std::vector<bool>& shown, const Int3& ghosts,
      bool blankRefined, int rank);

  /// The tree that is the same on all ranks: a block per level, in it a piece per patch, all empty.
  /// Levels outside firstLevel .. lastLevel have no pieces.
  void BuildTree(vtkMultiBlockDataSet* output, int firstLevel, int lastLevel) const;

  /// Turns the arrays of request.Patches[position] into a grid and puts it in its place in the tree.
  void AddPatch(vtkMultiBlockDataSet* output, const LoadRequest& request, LoadResult& loaded,
      std::size_t position) const;

private:
  vtkSmartPointer<vtkDataSet> MakeGrid(int patch, LoadedArray* coordinates) const;
  void GridExtent(int patch, int extent[6]) const;
  void AddGhostArray(int patch, vtkDataSet* grid) const;
  void MarkLayers(int patch, vtkUnsignedCharArray* flags) const;
  void AddFieldData(int patch, vtkDataSet* grid) const;

  const Catalog& Data;
  Int3 Ghosts;
  bool BlankRefined;
  int Rank;
  Nesting Nests;
};

}  // namespace patchio

#endif
