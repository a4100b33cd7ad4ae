// Parts of cuts, joined to VTK's poly data.
#ifndef Filters_PolyDataOfParts_h
#define Filters_PolyDataOfParts_h

#include "Filters/CutPart.h"

#include <vtkSmartPointer.h>

#include <vector>

class vtkPolyData;

namespace patchio::filters {

/// blocks: those whose arrays the output has, also where nothing was cut from them. Parts of a block follow
/// each other in the order of their layers, and share the points between them. originalIds: adds the numbers
/// of cells and points in their block, as VTK's surfaces have them; of one block.
vtkSmartPointer<vtkPolyData> MakePolyData(const std::vector<const Block*>& blocks,
    const std::vector<const CutPart*>& parts, bool originalIds = false);

/// The same for each piece of the input (Blocks::Pieces), of which there are so many.
std::vector<vtkSmartPointer<vtkPolyData>> MakePieces(
    const std::vector<const Block*>& blocks, const std::vector<const CutPart*>& parts, std::size_t pieces);

}  // namespace patchio::filters

#endif
