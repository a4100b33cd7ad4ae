#include "Formats/SAMRAI/SamraiRecords.h"

#include <cstddef>

namespace patchio::samrai {

using hdf5::RecordMember;

std::vector<RecordMember> MembersOfMinMax(Members members)
{
  std::vector<RecordMember> list{{"data_is_defined", ElementType::Int8, 1, offsetof(MinMax, Defined)},
      {"material_composition_flag", ElementType::Int32, 1, offsetof(MinMax, MaterialFlag)},
      {"species_composition_flag", ElementType::Int32, 1, offsetof(MinMax, SpeciesFlag)}};
  if (members == Members::All) {
    list.push_back({"min", ElementType::Float64, 1, offsetof(MinMax, Min)});
    list.push_back({"max", ElementType::Float64, 1, offsetof(MinMax, Max)});
  }
  return list;
}

std::vector<RecordMember> MembersOfPatchMap()
{
  return {{"processor_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Processor)},
      {"file_cluster_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Cluster)},
      {"level_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Level)},
      {"patch_number", ElementType::Int32, 1, offsetof(PatchMapEntry, Patch)}};
}

std::vector<RecordMember> MembersOfExtent(Members members)
{
  std::vector<RecordMember> list{{"lower", ElementType::Int32, 3, offsetof(PatchExtent, Lower)},
      {"upper", ElementType::Int32, 3, offsetof(PatchExtent, Upper)}};
  if (members == Members::All) {
    list.push_back({"xlo", ElementType::Float64, 3, offsetof(PatchExtent, LowerCorner)});
    list.push_back({"xup", ElementType::Float64, 3, offsetof(PatchExtent, UpperCorner)});
  }
  return list;
}

std::vector<RecordMember> MembersOfPointer(const char* countName)
{
  return {{"offset", ElementType::Int32, 1, offsetof(PointerEntry, Offset)},
      {countName, ElementType::Int32, 1, offsetof(PointerEntry, Count)}};
}

}  // namespace patchio::samrai
