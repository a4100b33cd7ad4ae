// Data sets as SAMRAI's database class writes them.
#pragma once

#include "Hdf5/Output.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// SAMRAI's dumps hold two families of data sets: those that its database class writes, Write() here, are big
/// endian, one-dimensional (single values too) and have an attribute that tells their type; the others,
/// WriteNative(), are in the writing machine's byte order and have none.
class DatabaseFile
{
public:
  explicit DatabaseFile(const std::string& path) : File(path) {}

  hdf5::Handle MakeGroup(const std::string& name) const { return this->File.MakeGroup(name); }
  hdf5::Handle MakeGroup(hid_t parent, const std::string& name) const
  {
    return this->File.MakeGroup(parent, name);
  }

  void Write(hid_t group, const std::string& name, int value) const;
  void Write(hid_t group, const std::string& name, const std::vector<int>& values) const;
  void Write(hid_t group, const std::string& name, const std::vector<float>& values) const;
  void Write(hid_t group, const std::string& name, const std::vector<double>& values) const;
  void Write(hid_t group, const std::string& name, const std::vector<std::string>& texts) const;

  void WriteNative(hid_t group, const std::string& name, hid_t type, const std::vector<hsize_t>& shape,
      const void* values) const;

  /// Must be called last.
  void Finish() const { this->File.Finish(); }

private:
  enum class TypeCode : signed char;
  void WriteTagged(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType, TypeCode code,
      std::size_t count, const void* values) const;

  hdf5::OutputFile File;
};

}  // namespace patchio::samrai
