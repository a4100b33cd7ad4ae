// One FAB in a data file: what stands before its numbers.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Formats/AMReX/AmrexText.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::amrex {

/// How numbers are stored.
struct RealKind
{
  ElementType Type = ElementType::Float64;
  bool BigEndian = false;
};

/// Takes "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))": the bits of IEEE numbers, and the order of
/// their bytes. False for anything else than 4 or 8 bytes in one of the two usual orders.
bool TakeRealKind(TextScanner& words, RealKind& kind);

/// The line before the numbers: "FAB", real kind, box, number of components.
struct FabHeader
{
  RealKind Kind;
  TypedBox Box;
  int Components = 0;
  std::size_t Bytes = 0;        ///< of the line with its end: the numbers follow
  std::size_t PrefixBytes = 0;  ///< of "FAB" and real kind, the same in all FABs that one program wrote
};

/// The longest line that is taken for a header.
constexpr std::size_t MostFabHeaderBytes = 512;

/// `text` begins with the header and may go on. False when it is none.
bool ParseFabHeader(std::string_view text, int dimension, FabHeader& header);

/// Bytes of the header that AMReX writes for this box, after a prefix of `prefixBytes`.
std::size_t FabHeaderBytes(std::size_t prefixBytes, const TypedBox& box, int dimension, int components);

/// "((0,0,0) (7,7,7) (0,0,0))"
std::string BoxText(const TypedBox& box, int dimension);

/// Where the FAB of one patch is.
struct FabLocation
{
  std::uint64_t Offset = 0;  ///< of its header or, without headers, of its numbers
  std::uint64_t Next = 0;    ///< where the FAB behind it in the file begins; 0: it is the last
};

/// How the FABs of a level are stored.
struct FabStyle
{
  RealKind Kind;  ///< without headers only
  bool Headers = true;
  bool Nodes = false;  ///< at nodes, not in cells
};

struct FabLocations
{
  std::vector<std::string> Files;  ///< by Patch::File, from the plotfile's folder
  std::vector<FabStyle> Levels;
  std::vector<FabLocation> Fabs;  ///< by patch
};

std::vector<std::byte> Pack(const FabLocations& locations);

/// Throws Error when they are none of this catalog.
FabLocations FabLocationsOf(const Catalog& catalog);

}  // namespace patchio::amrex
