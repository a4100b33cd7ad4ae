// The records of patches in summary.samrai.
#pragma once

#include "Hdf5/File.h"

#include <vector>

namespace patchio::samrai {

/// The range of one component on one patch, and its presence there.
struct MinMax
{
  double Min = 0.0;
  double Max = 0.0;
  int MaterialFlag = 0;  ///< 0: absent; 1: fills the patch; 2: mixed, also for ordinary variables
  int SpeciesFlag = 0;
  char Defined = 0;
  char Padding[7] = {};  ///< explicit, so that the file contains no random bytes
};

/// The place of one patch: its cluster file, writing processor, level and number in the level.
struct PatchMapEntry
{
  int Cluster = 0;
  int Processor = 0;
  int Level = 0;
  int Patch = 0;
};

/// The cells of one patch, and its corners in space.
struct PatchExtent
{
  int Lower[3] = {}, Upper[3] = {};
  double LowerCorner[3] = {}, UpperCorner[3] = {};
};

/// The children, or the parents, of one patch: a range of an array of global patch numbers.
struct PointerEntry
{
  int Offset = -1;  ///< -1 if there are none
  int Count = 0;
};

/// The members of a record that are read or written. Members that are not read keep their values.
enum class Members
{
  All,
  Needed  ///< without ranges and corners, which may be missing or wrong
};

std::vector<hdf5::RecordMember> MembersOfMinMax(Members members);
std::vector<hdf5::RecordMember> MembersOfPatchMap();
std::vector<hdf5::RecordMember> MembersOfExtent(Members members);
/// `countName`: "number_children" or "number_parents".
std::vector<hdf5::RecordMember> MembersOfPointer(const char* countName);

}  // namespace patchio::samrai
