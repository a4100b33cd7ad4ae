// Cell and point arrays of several blocks in one.
#ifndef Filters_OutputArrays_h
#define Filters_OutputArrays_h

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

#endif
