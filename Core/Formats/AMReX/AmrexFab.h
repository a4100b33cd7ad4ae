// The header and the location of a FAB in a data file. A FAB is AMReX's array of the values on one box.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"
#include "Formats/AMReX/AmrexText.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::amrex {

/// The type and the byte order of the numbers in a file.
struct RealKind
{
  ElementType Type = ElementType::Float64;
  bool BigEndian = false;
};

/// Parses a number format such as "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))": the bit fields of
/// IEEE numbers, and their byte order. Returns false unless the numbers have 4 or 8 bytes in big-endian or
/// little-endian order.
bool ParseRealKind(TextScanner& words, RealKind& kind);

/// The line before the numbers of a FAB: "FAB", number format, box, number of components.
struct FabHeader
{
  RealKind Kind;
  TypedBox Box;
  int Components = 0;
  std::size_t Bytes = 0;        ///< length of the line with its end; the numbers follow
  std::size_t PrefixBytes = 0;  ///< length of "FAB" and the number format, equal in all FABs of one program
};

/// Limit on the length of a header line, in bytes.
constexpr std::size_t MostFabHeaderBytes = 512;

/// Parses the header at the beginning of `text`. Returns false if `text` does not begin with a valid header.
bool ParseFabHeader(std::string_view text, int dimension, FabHeader& header);

/// Returns the length of the header line that AMReX writes for this box, with its end. `prefixBytes`: see
/// FabHeader.
std::size_t FabHeaderBytes(std::size_t prefixBytes, const TypedBox& box, int dimension, int components);

/// Returns the box as text: "((0,0,0) (7,7,7) (0,0,0))".
std::string BoxText(const TypedBox& box, int dimension);

/// The location of the FAB of one patch.
struct FabLocation
{
  std::uint64_t Offset = 0;  ///< offset of the FAB's header or, without headers, of the numbers
  std::uint64_t Next = 0;    ///< offset of the next FAB in the file; 0: no FAB follows
};

/// The format of the FABs of a level.
struct FabStyle
{
  RealKind Kind;  ///< set only if the FABs have no headers
  bool HasHeaders = true;
  bool AtNodes = false;  ///< values at nodes instead of cells
};

/// The locations of all FABs of a plotfile.
struct FabLocations
{
  std::vector<std::string> Files;  ///< by Patch::File; paths relative to the plotfile's folder
  std::vector<FabStyle> Levels;
  std::vector<FabLocation> Fabs;  ///< by patch
};

/// Returns the locations as bytes for Catalog::FormatData.
std::vector<std::byte> Pack(const FabLocations& locations);

/// Returns the locations in the catalog's FormatData. Throws Error if the locations do not match the catalog.
FabLocations FabLocationsOf(const Catalog& catalog);

}  // namespace patchio::amrex
