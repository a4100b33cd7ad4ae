// Records of a summary as SAMRAI lays them out in its memory, and so in the file. One place for writing and
// reading; a reader takes only the members that it needs, by name.
#pragma once

#include "Hdf5/File.h"

#include <vector>

namespace patchio::samrai {

/// Range of one component on one patch, and how it is present there.
struct MinMax
{
  double Min = 0.0;
  double Max = 0.0;
  int MaterialFlag = 0;  ///< 0: none of it, 1: nothing else, 2: mixed, and what ordinary variables have
  int SpeciesFlag = 0;
  char Defined = 0;
  char Padding[7] = {};  ///< named, so that no chance bytes reach the file
};

/// Where one patch lies.
struct PatchMapEntry
{
  int Cluster = 0;
  int Processor = 0;
  int Level = 0;
  int Patch = 0;
};

/// Cells of one patch, and its corners in space.
struct PatchExtent
{
  int Lower[3] = {}, Upper[3] = {};
  double LowerCorner[3] = {}, UpperCorner[3] = {};
};

/// The children, or the parents, of one patch: a part of one array of global patch numbers.
struct PointerEntry
{
  int Offset = -1;  ///< -1 without any
  int Count = 0;
};

/// Which members of a record are read or written; the others stay as they are when a record is read.
enum class Members
{
  All,
  Needed  ///< no ranges and no corners, which may be missing or wrong
};

std::vector<hdf5::RecordMember> MembersOfMinMax(Members members);
std::vector<hdf5::RecordMember> MembersOfPatchMap();
std::vector<hdf5::RecordMember> MembersOfExtent(Members members);
/// `countName`: "number_children" or "number_parents".
std::vector<hdf5::RecordMember> MembersOfPointer(const char* countName);

}  // namespace patchio::samrai
