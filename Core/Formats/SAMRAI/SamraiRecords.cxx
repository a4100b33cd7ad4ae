#include "Formats/SAMRAI/SamraiRecords.h"

namespace patchio::samrai {

using hdf5::Handle;

Handle MakeMinMaxType(Members members)
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(MinMax)));
  H5Tinsert(type, "data_is_defined", HOFFSET(MinMax, Defined), H5T_NATIVE_CHAR);
  H5Tinsert(type, "material_composition_flag", HOFFSET(MinMax, MaterialFlag), H5T_NATIVE_INT);
  H5Tinsert(type, "species_composition_flag", HOFFSET(MinMax, SpeciesFlag), H5T_NATIVE_INT);
  if (members == Members::All) {
    H5Tinsert(type, "min", HOFFSET(MinMax, Min), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "max", HOFFSET(MinMax, Max), H5T_NATIVE_DOUBLE);
  }
  return type;
}

Handle MakePatchMapType()
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PatchMapEntry)));
  H5Tinsert(type, "processor_number", HOFFSET(PatchMapEntry, Processor), H5T_NATIVE_INT);
  H5Tinsert(type, "file_cluster_number", HOFFSET(PatchMapEntry, Cluster), H5T_NATIVE_INT);
  H5Tinsert(type, "level_number", HOFFSET(PatchMapEntry, Level), H5T_NATIVE_INT);
  H5Tinsert(type, "patch_number", HOFFSET(PatchMapEntry, Patch), H5T_NATIVE_INT);
  return type;
}

Handle MakeExtentType(Members members)
{
  const hsize_t three = 3;
  const Handle ints(H5Tarray_create2(H5T_NATIVE_INT, 1, &three));
  const Handle doubles(H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three));
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PatchExtent)));
  H5Tinsert(type, "lower", HOFFSET(PatchExtent, Lower), ints);
  H5Tinsert(type, "upper", HOFFSET(PatchExtent, Upper), ints);
  if (members == Members::All) {
    H5Tinsert(type, "xlo", HOFFSET(PatchExtent, LowerCorner), doubles);
    H5Tinsert(type, "xup", HOFFSET(PatchExtent, UpperCorner), doubles);
  }
  return type;
}

Handle MakePointerType(const char* countName)
{
  Handle type(H5Tcreate(H5T_COMPOUND, sizeof(PointerEntry)));
  H5Tinsert(type, "offset", HOFFSET(PointerEntry, Offset), H5T_NATIVE_INT);
  H5Tinsert(type, countName, HOFFSET(PointerEntry, Count), H5T_NATIVE_INT);
  return type;
}

}  // namespace patchio::samrai
