// The flags (vtkGhostType) of a block's cells and points that are not visible.
#ifndef CellFlags_h
#define CellFlags_h

#include "Catalog/Catalog.h"
#include "Catalog/Nesting.h"
#include "Plan/Blocks.h"

#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>

#include <vector>

class vtkDataArray;
class vtkDataSet;

namespace patchio {

/// The flags of cells that follow from the places of blocks and patches.
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

  /// Returns one flag for each of `cells`, the cells of the block's grid; null if all of them are visible.
  /// Thread-safe.
  vtkSmartPointer<vtkUnsignedCharArray> Of(const Block& block, const Box& cells) const;

private:
  bool IsWholeBlockVisible(const Block& block) const;
  void MarkLayers(const Block& block, const Box& cells, unsigned char* flags) const;
  bool MarkCellsOfOthers(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  bool MarkRefined(const OwnedBox& part, const Box& grid, unsigned char* flags) const;
  void HideRefined(const Block& block, const Box& grid, unsigned char* flags) const;
  void MakeBorderOfRefined(const Box& grid, unsigned char* flags) const;

  const Catalog& Data;
  const Nesting& Nests;
  const Int3 Ghosts;
  const bool BlankRefined, GhostLayer;
};

/// Hides the points of a rectilinear or structured grid that are NaN in all of these point arrays, and the
/// cells around them: NaN has no color, and filters give arbitrary results for it. Adds the flags even if
/// nothing is hidden, because all blocks should have the same arrays. Without arrays nothing is hidden.
void HideUndefined(vtkDataSet* grid, const std::vector<vtkDataArray*>& arrays);

}  // namespace patchio

#endif
