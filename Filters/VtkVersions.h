// Functions that hide the differences between the versions of VTK from 9.1 to 9.6 (ParaView 6.1).
#ifndef VtkVersions_h
#define VtkVersions_h

#include <vtkCellArray.h>
#include <vtkDataArray.h>
#include <vtkImageData.h>
#include <vtkOverlappingAMR.h>
#include <vtkUniformGrid.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>
#include <vtkVersionMacros.h>
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
#include <vtkUniformGridAMRDataIterator.h>
#else
#include <vtkUniformGridAMRIterator.h>
#endif

#include <algorithm>
#include <string>
#include <vector>

namespace patchio {

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
/// An iterator over the blocks of AMR data.
using AmrIterator = vtkUniformGridAMRDataIterator;
#else
using AmrIterator = vtkUniformGridAMRIterator;
#endif

/// True if ParaView omits hidden points when ParaView computes the range of a point array.
constexpr bool RangesSkipHiddenPoints = VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0);

/// Returns `text`, with four blanks at the end for ParaView 6.1, whose clients drop the last four characters
/// of a progress text. Adds no blanks to an empty text.
inline std::string AsProgressText(const std::string& text)
{
  return VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0) || text.empty() ? text : text + "    ";
}

/// Sets the number of tuples of an array that owns its memory. The memory has room for at least `room`
/// tuples. Throws std::bad_alloc if the memory does not suffice. Without the call of Allocate(),
/// SetNumberOfTuples() would then end the program in a VTK built without NDEBUG, such as Debian's VTK 9.6.
inline void SetTuples(vtkIdType tuples, vtkDataArray* array, vtkIdType room = 0)
{
  array->Allocate(std::max(tuples, room) * array->GetNumberOfComponents());
  array->SetNumberOfTuples(tuples);
}

/// Makes `amr` empty, with one level for each element of `blocks`, the number of blocks on the level.
inline void SetBlocksPerLevel(const std::vector<unsigned int>& blocks, vtkOverlappingAMR* amr)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  const std::vector<int> counts(blocks.begin(), blocks.end());
  amr->Initialize(static_cast<int>(counts.size()), counts.data());
#else
  amr->Initialize(blocks);
#endif
}

/// Returns the number of blocks on a level, on all ranks together.
inline unsigned int BlockCountOnLevel(vtkUniformGridAMR* amr, unsigned int level)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  return amr->GetNumberOfDataSets(level);
#else
  return amr->GetNumberOfBlocks(level);
#endif
}

/// Returns a block of a level; null if another rank has the block.
inline vtkImageData* BlockOnLevel(vtkUniformGridAMR* amr, unsigned int level, unsigned int block)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  return amr->GetDataSet(level, block);
#else
  return amr->GetDataSetAsImageData(level, block);
#endif
}

/// Returns whether the grid has cells of the type VTK_POLYHEDRON.
inline bool HasPolyhedra(vtkUnstructuredGrid* grid)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 4, 0)
  return grid->GetFaces() != nullptr;
#else
  return grid->GetPolyhedronFaces() != nullptr;
#endif
}

/// Returns the types of the grid's cells; null if the grid has no cells. Since VTK 9.6 the array may be
/// implicit.
inline vtkDataArray* CellTypesOf(vtkUnstructuredGrid* grid)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  return grid->GetCellTypesArray();
#else
  return grid->GetCellTypes();
#endif
}

}  // namespace patchio

#endif
