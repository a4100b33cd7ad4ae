// Which cells and points of a block are not to be seen: vtkGhostType.
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

/// The flags of cells that come from where blocks and patches lie.
class CellFlags
{
public:
  /// ghosts: layers of the files by which grids grow beyond their patches. blankRefined: cells under finer
  /// patches are not to be seen. ghostLayer: blocks have been asked to have one, whether they need it or not.
  /// Keeps references to the first two.
  CellFlags(
      const Catalog& catalog, const Nesting& nesting, const Int3& ghosts, bool blankRefined, bool ghostLayer)
      : Data(catalog), Nests(nesting), Ghosts(ghosts), BlankRefined(blankRefined), GhostLayer(ghostLayer)
  {
  }

  /// One flag for each of the cells that the block's grid has; null where all of them are to be seen.
  vtkSmartPointer<vtkUnsignedCharArray> Of(const Block& block, const Box& cells) const;

private:
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
/// cells that would need them: NaN has no color, and filters make anything of it. Adds the flags where
/// nothing is hidden, too, as all blocks should have the same arrays. No arrays: nothing is hidden.
void HideUndefined(vtkDataSet* grid, const std::vector<vtkDataArray*>& arrays);

}  // namespace patchio

#endif
