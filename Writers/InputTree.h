// The grids of VTK data, whatever tree they are in.
#ifndef InputTree_h
#define InputTree_h

#include <vtkDataObject.h>
#include <vtkDataSet.h>

#include <string>
#include <vector>

namespace patchio {

/// A grid of this rank, and where it is in the tree.
struct InputGrid
{
  std::vector<int>
      Group;           ///< positions on the way to the block that its pieces belong to; the same on all ranks
  std::string Name;    ///< of that block, after those above it; empty where it has none
  int Piece = 0;       ///< in its group
  int Level = -1;      ///< of an AMR data set, or by its field data or its name; -1: unknown
  bool IsAmr = false;  ///< finer levels hide what they cover
  vtkDataSet* Grid = nullptr;
};

/// The grids with cells or points. Throws Error when there is something that is no grid.
std::vector<InputGrid> InputGridsOf(vtkDataObject* data);

/// The number in "level 17"; -1 for other names.
int LevelInName(const std::string& name);

/// The value of an array of one number in the field data; `otherwise` where there is none.
double NumberInFieldData(vtkDataObject* data, const char* name, double otherwise);

}  // namespace patchio

#endif
