// Where the bytes of a variable on a patch lie and how they are encoded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace patchio {

enum class ElementType : std::uint8_t
{
  Int32,
  Float32,
  Float64
};

constexpr std::size_t SizeOf(ElementType type)
{
  return type == ElementType::Float64 ? 8 : 4;
}

/// Stored bytes of one run of equal values: one component of one variable on one patch.
struct Extent
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;
  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  bool BigEndian = false;
};

/// How the extents of a location make up the variable's values.
enum class Encoding : std::uint8_t
{
  Missing,         ///< could not be located; LocationTable::Problems says why
  Absent,          ///< the variable does not exist on this patch
  Constant,        ///< no bytes: every value is Location::Value
  Raw,             ///< one extent per component, values in VTK's order
  SparseMaterials  ///< volume fraction of one material in Silo's sparse form, see Exec/Decode.h
};

/// Where one variable of one patch lies. Extents are FirstExtent .. FirstExtent + ExtentCount - 1.
struct Location
{
  Encoding Kind = Encoding::Absent;
  std::uint32_t FirstExtent = 0;
  std::uint32_t ExtentCount = 0;
  float Value = 0;   ///< Constant
  int Material = 0;  ///< SparseMaterials: number of the material
};

/// Why one location is Missing.
struct LocationProblem
{
  std::size_t Request;  ///< index into the requests
  std::string Message;
};

/// The answer of Format::Locate: one location per request, in the order of the requests.
struct LocationTable
{
  std::vector<std::string> Files;
  std::vector<Location> Locations;
  std::vector<Extent> Extents;
  std::vector<LocationProblem> Problems;
};

}  // namespace patchio
