#include "Formats/SAMRAI/SamraiDatabase.h"

#include <algorithm>
#include <cstddef>

namespace patchio::samrai {

/// SAMRAI's codes in the attribute `Type`.
enum class DatabaseFile::TypeCode : signed char
{
  Double = 5,
  Float = 6,
  Int = 7,
  String = 8
};

void DatabaseFile::Write(hid_t group, const std::string& name, int value) const
{
  this->Write(group, name, std::vector<int>{value});
}

void DatabaseFile::Write(hid_t group, const std::string& name, const std::vector<int>& values) const
{
  this->WriteTagged(group, name, H5T_STD_I32BE, H5T_NATIVE_INT, TypeCode::Int, values.size(), values.data());
}

void DatabaseFile::Write(hid_t group, const std::string& name, const std::vector<float>& values) const
{
  this->WriteTagged(
      group, name, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, TypeCode::Float, values.size(), values.data());
}

void DatabaseFile::Write(hid_t group, const std::string& name, const std::vector<double>& values) const
{
  this->WriteTagged(
      group, name, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, TypeCode::Double, values.size(), values.data());
}

void DatabaseFile::Write(hid_t group, const std::string& name, const std::vector<std::string>& texts) const
{
  std::size_t width = 1;
  for (const std::string& text : texts) {
    width = std::max(width, text.size() + 1);
  }
  std::vector<char> bytes(width * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::copy(texts[i].begin(), texts[i].end(), bytes.begin() + i * width);
  }
  const hdf5::Handle type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, width);
  this->WriteTagged(group, name, type, type, TypeCode::String, texts.size(), bytes.data());
}

void DatabaseFile::WriteNative(hid_t group, const std::string& name, hid_t type,
    const std::vector<hsize_t>& shape, const void* values) const
{
  this->File.Write(group, name, type, type, shape, values);
}

void DatabaseFile::WriteTagged(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType,
    TypeCode code, std::size_t count, const void* values) const
{
  const hdf5::Handle dataset = this->File.Write(group, name, fileType, memoryType, {count}, values);
  this->File.WriteAttribute(dataset, "Type", H5T_STD_I8BE, H5T_NATIVE_SCHAR, &code);
}

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
