// Texts about the answers of formats and indexes, which compare them field by field.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace patchio::testing {

inline std::string Describe(const LocationTable& table, const ByteRange& byteRange)
{
  return fmt::format("{} {}+{} type {} big {}; ", table.Files.at(byteRange.File), byteRange.Offset,
      byteRange.Bytes, static_cast<int>(byteRange.Type), byteRange.BigEndian);
}

inline std::string Describe(const LocationTable& table, const ChunkedArray& array)
{
  std::string text =
      fmt::format("{} type {} big {} rank {} first {} count {} fill {}:", table.Files.at(array.File),
          static_cast<int>(array.Type), array.BigEndian, array.Rank, array.First, array.Count, array.Fill);
  for (int i = 0; i < ChunkedArray::MaximumRank; ++i) {
    text += fmt::format(" {} {}", array.Dims[i], array.ChunkDims[i]);
  }
  for (const FilterType filter : array.Filters) {
    text += fmt::format(" {}", static_cast<int>(filter));
  }
  for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
    const Chunk& chunk = table.Chunks.at(c);
    text += fmt::format(" [{} {} {} {}]", chunk.Offset, chunk.Number, chunk.Bytes, chunk.SkippedFilters);
  }
  return text + "; ";
}

inline std::string Describe(const LocationTable& table, const LibraryArray& array)
{
  return fmt::format("{} {} type {} first {} count {} {}; ", table.Files.at(array.File), array.Dataset,
      static_cast<int>(array.Type), array.First, array.Count, array.Reason);
}

/// Returns all fields of a location as text, with names in place of numbers.
inline std::string Describe(const LocationTable& table, const Location& location)
{
  std::string text = fmt::format(
      "kind {} value {} material {}: ", static_cast<int>(location.Kind), location.Value, location.Material);
  for (std::uint32_t i = location.First; i < location.First + location.Count; ++i) {
    switch (location.Kind) {
      case Encoding::Raw:
      case Encoding::SparseMaterials:
        text += Describe(table, table.ByteRanges.at(i));
        break;
      case Encoding::Chunked:
        text += Describe(table, table.ChunkedArrays.at(i));
        break;
      case Encoding::Library:
        text += Describe(table, table.LibraryArrays.at(i));
        break;
      default:
        break;
    }
  }
  return text;
}

inline std::vector<PatchVariable> AllRequests(const Catalog& catalog)
{
  std::vector<PatchVariable> requests;
  for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
    for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
      requests.push_back({p, v});
    }
  }
  return requests;
}

/// Returns the first location in which two answers to the same requests differ; empty if there is none.
inline std::string Difference(const LocationTable& a, const LocationTable& b)
{
  if (a.Locations.size() != b.Locations.size()) {
    return fmt::format("{} and {} locations", a.Locations.size(), b.Locations.size());
  }
  for (std::size_t i = 0; i < a.Locations.size(); ++i) {
    const std::string first = Describe(a, a.Locations[i]), second = Describe(b, b.Locations[i]);
    if (first != second) {
      return fmt::format("request {}: {} | {}", i, first, second);
    }
  }
  return {};
}

}  // namespace patchio::testing
