// Functions for the differences between VTK 9.2 (ParaView 5.11) and VTK 9.6 (ParaView 6.1).
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

#include <string>
#include <vector>

namespace patchio {

#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
using AmrIterator = vtkUniformGridAMRDataIterator;
#else
using AmrIterator = vtkUniformGridAMRIterator;
#endif

/// True if ParaView computes ranges of point arrays without hidden points.
constexpr bool RangesSkipHiddenPoints = VTK_VERSION_NUMBER >= VTK_VERSION_CHECK(9, 3, 0);

/// Pads a progress text with four blanks for ParaView 6.1, whose clients lose the last four characters.
inline std::string AsProgressText(const std::string& text)
{
  return VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0) || text.empty() ? text : text + "    ";
}

/// Sets the number of tuples of an array. Throws std::bad_alloc if memory is short; SetNumberOfTuples() alone
/// would then end the program in a VTK built without NDEBUG, such as Debian's VTK 9.6.
inline void SetTuples(vtkIdType tuples, vtkDataArray* array)
{
  array->Allocate(tuples * array->GetNumberOfComponents());
  array->SetNumberOfTuples(tuples);
}

/// Creates one level in `amr` for each of these numbers of blocks.
inline void SetBlocksPerLevel(const std::vector<unsigned int>& blocks, vtkOverlappingAMR* amr)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  const std::vector<int> counts(blocks.begin(), blocks.end());
  amr->Initialize(static_cast<int>(counts.size()), counts.data());
#else
  amr->Initialize(blocks);
#endif
}

/// Returns the number of blocks on a level.
inline unsigned int BlocksOnLevel(vtkUniformGridAMR* amr, unsigned int level)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  return amr->GetNumberOfDataSets(level);
#else
  return amr->GetNumberOfBlocks(level);
#endif
}

/// Returns a block, or null if another rank has it.
inline vtkImageData* BlockOnLevel(vtkUniformGridAMR* amr, unsigned int level, unsigned int block)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 6, 0)
  return amr->GetDataSet(level, block);
#else
  return amr->GetDataSetAsImageData(level, block);
#endif
}

/// Returns whether the grid has polyhedra.
inline bool HasPolyhedra(vtkUnstructuredGrid* grid)
{
#if VTK_VERSION_NUMBER < VTK_VERSION_CHECK(9, 4, 0)
  return grid->GetFaces() != nullptr;
#else
  return grid->GetPolyhedronFaces() != nullptr;
#endif
}

/// Returns the types of the grid's cells, or null if there are none. Since VTK 9.6 the array may be implicit.
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
