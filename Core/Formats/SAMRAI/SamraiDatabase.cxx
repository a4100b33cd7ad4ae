#include "Formats/SAMRAI/SamraiDatabase.h"

#include <algorithm>

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

}  // namespace patchio::samrai
