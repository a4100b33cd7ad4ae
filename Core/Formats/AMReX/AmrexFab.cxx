#include "Formats/AMReX/AmrexFab.h"

#include "Base/Bytes.h"
#include "Base/Error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace patchio::amrex {

namespace {

constexpr std::array<int, 8> Double{64, 11, 52, 0, 1, 12, 0, 1023};
constexpr std::array<int, 8> Single{32, 8, 23, 0, 1, 9, 0, 127};

/// Parses a list such as "(8, (64 11 52 0 1 12 0 1023))", of at most 8 numbers. Returns false for other text.
bool ParseList(TextScanner& words, std::array<int, 8>& list, int& count)
{
  if (!words.Consume("(") || !words.Consume(count) || count < 1 || count > 8 || !words.Consume(",") ||
      !words.Consume("(")) {
    return false;
  }
  for (int i = 0; i < count; ++i) {
    if (!words.Consume(list[static_cast<std::size_t>(i)])) {
      return false;
    }
  }
  return words.Consume(")") && words.Consume(")");
}

}  // namespace

bool ParseRealKind(TextScanner& words, RealKind& kind)
{
  std::array<int, 8> bits{}, order{};
  int bitCount = 0, bytes = 0;
  if (!words.Consume("(") || !ParseList(words, bits, bitCount) || !words.Consume(",") ||
      !ParseList(words, order, bytes) || !words.Consume(")") || bitCount != 8) {
    return false;
  }
  if (!(bits == Double && bytes == 8) && !(bits == Single && bytes == 4)) {
    return false;
  }
  kind.Type = bytes == 8 ? ElementType::Float64 : ElementType::Float32;
  std::array<int, 8> ascending{};
  std::iota(ascending.begin(), ascending.begin() + bytes, 1);
  kind.BigEndian = order == ascending;
  return kind.BigEndian || std::equal(order.begin(), order.begin() + bytes, ascending.rend() - bytes);
}

bool ParseFabHeader(std::string_view text, int dimension, FabHeader& header)
{
  const std::size_t end = text.substr(0, MostFabHeaderBytes).find('\n');
  if (end == std::string_view::npos) {
    return false;
  }
  TextScanner words(text.substr(0, end));
  if (!words.Consume("FAB") || !ParseRealKind(words, header.Kind)) {
    return false;
  }
  header.PrefixBytes = end - words.Remaining().size();
  header.Bytes = end + 1;
  return ParseBox(words, header.Box, dimension) && words.Consume(header.Components) && words.AtEnd();
}

namespace {

/// Returns the first `dimension` numbers for fmt, which writes them with commas.
auto TupleOf(const Int3& numbers, int dimension)
{
  return fmt::join(numbers.begin(), numbers.begin() + dimension, ",");
}

}  // namespace

std::size_t FabHeaderBytes(std::size_t prefixBytes, const TypedBox& box, int dimension, int components)
{
  return prefixBytes + fmt::formatted_size("(({}) ({}) ({})) {}\n", TupleOf(box.Indices.Lower, dimension),
                           TupleOf(box.Indices.Upper, dimension), TupleOf(box.NodeCentred, dimension),
                           components);
}

std::string BoxText(const TypedBox& box, int dimension)
{
  return fmt::format("(({}) ({}) ({}))", TupleOf(box.Indices.Lower, dimension),
      TupleOf(box.Indices.Upper, dimension), TupleOf(box.NodeCentred, dimension));
}

std::vector<std::byte> Pack(const FabLocations& locations)
{
  ByteWriter out;
  out.Append(locations.Files);
  for (const FabStyle& style : locations.Levels) {
    out.Append(style.Kind.Type);
    out.Append<std::uint8_t>(style.Kind.BigEndian);
    out.Append<std::uint8_t>(style.HasHeaders);
    out.Append<std::uint8_t>(style.AtNodes);
  }
  out.Append(locations.Fabs);
  return out.Release();
}

FabLocations FabLocationsOf(const Catalog& catalog)
{
  constexpr Requirement Require("The description of the plotfile");
  FabLocations locations;
  ByteReader in(catalog.FormatData);
  in.Get(locations.Files);
  for (std::size_t level = 0; level < catalog.Levels.size(); ++level) {
    FabStyle& style = locations.Levels.emplace_back();
    in.Get(style.Kind.Type);
    style.Kind.BigEndian = in.Get<std::uint8_t>() != 0;
    style.HasHeaders = in.Get<std::uint8_t>() != 0;
    style.AtNodes = in.Get<std::uint8_t>() != 0;
    Require(style.Kind.Type == ElementType::Float32 || style.Kind.Type == ElementType::Float64,
        "an impossible number type");
  }
  in.Get(locations.Fabs);
  Require(locations.Fabs.size() == catalog.Patches.size(), "a wrong number of patches");
  const int fileCount = static_cast<int>(locations.Files.size());
  Require(std::all_of(catalog.Patches.begin(), catalog.Patches.end(),
              [fileCount](const Patch& patch) { return patch.File >= 0 && patch.File < fileCount; }),
      "patches in files without names");
  return locations;
}

}  // namespace patchio::amrex
