// The assembly of cut parts to poly data, with the values of cells and points.
#pragma once

#include "Filters/CutPart.h"

#include <vtkSmartPointer.h>

#include <string>
#include <vector>

class vtkDataArray;
class vtkDataSetAttributes;

namespace patchio::filters {

/// The output's arrays: all arrays that any block has, except flags and global ids. Where a block lacks an
/// array, or has another number of components, values are NaN, or 0 if they are integers.
class OutputArrays
{
public:
  OutputArrays(const std::vector<const Block*>& blocks, bool ofPoints);

  /// Makes arrays of `tuples` tuples and adds them to `to`, with their attribute types. points: number of
  /// points of the output. The arrays' memory holds as many tuples, because VTK's Warp By Scalar takes values
  /// of cells for those of points.
  void Allocate(long long tuples, long long points, vtkDataSetAttributes* to);

  /// Fills the tuples from `at` on: one for each cell of the part, or for each point that is not left out.
  /// Several threads may fill different parts at once.
  void TakeCells(const CutPart& part, long long at) const;
  void TakePoints(const CutPart& part, const std::vector<char>& leftOut, long long at) const;

private:
  struct Array
  {
    std::string Name;
    vtkDataArray* Like;  ///< the array of the first block that has it
    int Attribute;       ///< VTK's attribute type; -1: none
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

/// Joins parts to poly data. blocks: the output has the arrays of all of them, also of those that were not
/// cut. Parts of a block follow each other in the order of their layers, and share the points between them.
/// originalIds: adds the numbers of cells and points in their block as VTK's surface filters do, for parts of
/// a single block.
vtkSmartPointer<vtkPolyData> MakePolyData(const std::vector<const Block*>& blocks,
    const std::vector<const CutPart*>& parts, bool originalIds = false);

/// Calls MakePolyData() for each piece of the input. pieces: the size of Blocks::Pieces.
std::vector<vtkSmartPointer<vtkPolyData>> MakePieces(
    const std::vector<const Block*>& blocks, const std::vector<const CutPart*>& parts, std::size_t pieces);

}  // namespace patchio::filters
