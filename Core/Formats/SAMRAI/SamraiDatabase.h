// The values in summary.samrai: SAMRAI's database in HDF5, and the records of patches in it.
#pragma once

#include "Hdf5/File.h"
#include "Hdf5/Output.h"

#include <string>
#include <vector>

namespace patchio::samrai {

/// Writes a file of SAMRAI's database. SAMRAI's dumps have two families of data sets. Those of its database
/// class, see Write(), are big-endian and one-dimensional (single values, too), with an attribute for their
/// type. The others, see WriteNative(), have the writing machine's byte order and no such attribute.
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

  /// Completes the file. Call it last.
  void Finish() const { this->File.Finish(); }

private:
  enum class TypeCode : signed char;
  void WriteTagged(hid_t group, const std::string& name, hid_t fileType, hid_t memoryType, TypeCode code,
      std::size_t count, const void* values) const;

  hdf5::OutputFile File;
};

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
