// A format with locations of each kind, which are computed from the numbers of patch and variable.
#pragma once

#include "Formats/Format.h"
#include "TestTools.h"

#include <string>
#include <vector>

namespace patchio::testing {

/// A format for tests, with the name of a real format, so that PatchIO accepts its index files. Its
/// variables:
///   0 scalar  1 vector     ordinary
///   2 stored on odd patches alone, 1 everywhere else
///   3 sparse material 0    4 sparse material 1, in the same lists
///   5 chunked  6 for the library
///   7 ordinary, but each component in another file
///   8 absent everywhere
class IrregularFormat : public Format
{
public:
  static constexpr int PatchCount = 12;
  static constexpr std::uint64_t FileBytes = 1 << 16;

  const char* Name() const override { return "SAMRAI"; }
  const char* SupportedFiles() const override { return "nothing"; }
  bool Claims(const std::string&) const override { return false; }
  Series OpenSeries(const std::string&, const SeriesOptions&) const override { return {}; }
  Catalog ReadCatalog(const std::string& path) const override
  {
    Catalog catalog;
    catalog.Path = path;
    catalog.Dimension = 2;
    std::vector<Box> boxes;
    for (int p = 0; p < PatchCount; ++p) {
      boxes.push_back({{4 * p, 0, 0}, {4 * p + 3, 1 + p % 3, 0}});
    }
    AddLevel(catalog, boxes);
    for (int p = 0; p < PatchCount; ++p) {
      catalog.Patches[p].File = (p * 5) % 4;  // not in the order of the patches
    }
    const auto add = [&catalog](const std::string& name, int components, int material) {
      catalog.Variables.push_back({name, Centering::Cell, components, {0, 0, 0}, name, material});
    };
    add("scalar", 1, -1);
    add("vector", 2, -1);
    add("odd", 1, -1);
    add("first", 1, 0);
    add("second", 1, 1);
    add("chunked", 1, -1);
    add("library", 1, -1);
    add("scattered", 2, -1);
    add("absent", 1, -1);
    catalog.ResetPresence();
    for (int p = 0; p < PatchCount; ++p) {
      for (int v = 0; v < 8; ++v) {
        catalog.SetPresence(v, p, v == 2 && p % 2 == 0 ? Presence::One : Presence::Stored);
      }
    }
    return catalog;
  }

  LocationTable Locate(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions&) const override
  {
    LocationTable table;
    const std::string folder = std::filesystem::path(catalog.Path).parent_path().string();
    // The order of the files depends on the requests.
    const int first = requests.empty() ? 0 : requests[0].Patch;
    for (int file = 0; file < 4; ++file) {
      table.Files.push_back(folder + "/data." + std::to_string((file + first) % 4));
    }
    for (const PatchVariable& request : requests) {
      table.Locations.push_back(this->LocateOne(catalog, request, table));
    }
    const auto renumber = [first](auto& entries) {
      for (auto& entry : entries) {
        entry.File = (entry.File + 4 - first % 4) % 4;
      }
    };
    renumber(table.ByteRanges);
    renumber(table.ChunkedArrays);
    renumber(table.LibraryArrays);
    return table;
  }

  /// Writes the describing file and the data files. Returns the path of the describing file.
  static std::string WriteFiles(const std::string& folder)
  {
    for (int file = 0; file < 4; ++file) {
      WriteText(folder + "/data." + std::to_string(file), std::string(FileBytes, 'x'));
    }
    WriteText(folder + "/summary.samrai", "any text");
    return folder + "/summary.samrai";
  }

private:
  Location LocateOne(const Catalog& catalog, const PatchVariable& request, LocationTable& table) const
  {
    const auto tuples = static_cast<std::uint64_t>(catalog.StoredTuples(request.Variable, request.Patch));
    const int file = catalog.Patches[request.Patch].File;
    const std::uint64_t offset = 1000 * request.Patch + 100 * request.Variable;
    Location location;
    const auto raw = [&](int count, int step) {
      location.Kind = Encoding::Raw;
      location.First = static_cast<std::uint32_t>(table.ByteRanges.size());
      location.Count = static_cast<std::uint32_t>(count);
      for (int c = 0; c < count; ++c) {
        table.ByteRanges.push_back({offset + 50 * c, tuples * 4, (file + c * step) % 4, ElementType::Float32,
            request.Variable == 1});
      }
    };
    switch (request.Variable) {
      case 0:
        raw(1, 0);
        break;
      case 1:
        raw(2, 0);
        break;
      case 2:
        if (request.Patch % 2 == 1) {
          raw(1, 0);
        } else {
          location.Kind = Encoding::Constant;
          location.Value = 1;
        }
        break;
      case 3:
      case 4:
        raw(request.Patch % 3 == 0 ? 1 : 4, 0);
        location.Kind = Encoding::SparseMaterials;
        location.Material = request.Variable - 3;
        for (std::uint32_t i = 0; i < location.Count; ++i) {
          ByteRange& byteRange = table.ByteRanges[location.First + i];
          byteRange.Offset = 1000 * request.Patch + 40 * i;
          byteRange.Bytes = i == 0 ? tuples * 4 : 12;
          byteRange.Type = i == 3 ? ElementType::Float32 : ElementType::Int32;
        }
        break;
      case 5: {
        location = {Encoding::Chunked, static_cast<std::uint32_t>(table.ChunkedArrays.size()), 1, 0, 0};
        ChunkedArray array;
        array.File = file;
        array.Rank = 2;
        array.Filters[0] = FilterType::Shuffle;
        array.Filters[1] = FilterType::Deflate;
        array.Dims = {tuples, 2, 0, 0};
        array.ChunkDims = {4, 2, 0, 0};
        array.First = tuples;
        array.Count = tuples;
        array.Fill = 7;
        array.FirstChunk = table.Chunks.size();
        array.ChunkCount = 2;
        table.Chunks.push_back({offset, 0, 20, 0});
        table.Chunks.push_back({0, 1, 0, 1});
        table.ChunkedArrays.push_back(array);
        break;
      }
      case 6:
        location = {Encoding::Library, static_cast<std::uint32_t>(table.LibraryArrays.size()), 1, 0, 0};
        table.LibraryArrays.push_back(
            {file, ElementType::Float64, "/a/" + std::to_string(request.Patch), 0, tuples, "filter 32015"});
        break;
      case 7:
        raw(2, 1);
        break;
      default:
        break;
    }
    return location;
  }
};

}  // namespace patchio::testing
