// Parts joined to poly data, with the values of cells and points.
#pragma once

#include "Filters/CutPart.h"

#include <vtkSmartPointer.h>

#include <string>
#include <vector>

class vtkDataArray;
class vtkDataSetAttributes;

namespace patchio::filters {

/// The arrays that any of the blocks has, but for flags and global ids. Where a block lacks one, or has other
/// components, values are NaN, or 0 of integers.
class OutputArrays
{
public:
  OutputArrays(const std::vector<const Block*>& blocks, bool ofPoints);

  /// Makes arrays of so many tuples and gives them to `to`, with the attributes that they are. points: of the
  /// output; as many tuples can be read, because VTK's Warp By Scalar takes values of cells for those of
  /// points.
  void Allocate(long long tuples, long long points, vtkDataSetAttributes* to);

  /// Fills the tuples from `at` on, for each cell of the part, or for each point but those left out.
  /// Different parts may be filled by several threads at once.
  void TakeCells(const CutPart& part, long long at) const;
  void TakePoints(const CutPart& part, const std::vector<char>& leftOut, long long at) const;

private:
  struct Array
  {
    std::string Name;
    vtkDataArray* Like;  ///< of the first block that has it
    int Attribute;       ///< -1: none
    vtkSmartPointer<vtkDataArray> Made;
  };

  void AddArraysOf(vtkDataSetAttributes* data);
  vtkDataSetAttributes* DataOf(const Block& block) const;
  vtkIdType TuplesOf(const Block& block) const;

  const bool OfPoints;
  std::vector<Array> Arrays;
};

}  // namespace patchio::filters

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
