// The values in summary.samrai: SAMRAI's database in HDF5, and the records of patches in it.
#pragma once

#include "Hdf5/File.h"
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
