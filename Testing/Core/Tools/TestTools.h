// Small helpers of many tests.
#pragma once

#include "Base/Error.h"
#include "Catalog/Catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace patchio::testing {

/// A temporary folder of a test, removed at the end.
class TempFolder
{
public:
  TempFolder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "patchio_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) {
      throw std::runtime_error("no temporary folder");
    }
    this->Name = name;
  }
  ~TempFolder()
  {
    std::error_code ignored;
    std::filesystem::remove_all(this->Name, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string operator/(const std::string& name) const { return this->Name + "/" + name; }
  const std::string& Path() const { return this->Name; }

private:
  std::string Name;
};

/// Returns the path of the index file beside a file.
inline std::string IndexFileOf(const std::string& path)
{
  const std::filesystem::path file(path);
  return (file.parent_path() / ("." + file.filename().string() + ".patchio")).string();
}

inline void WriteText(const std::string& path, const std::string& text)
{
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string ReadBytes(const std::string& path)
{
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns a text in which `to` replaces the first `from`; the test fails if there is none.
inline std::string Replaced(std::string text, const std::string& from, const std::string& to)
{
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Returns the message of the Error that `work` throws; the test fails if it throws none.
template <typename Work>
std::string MessageOf(Work work)
{
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return {};
}

template <typename T>
std::vector<std::byte> BytesOf(const std::vector<T>& values)
{
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Appends a level with these boxes; the global numbers of patches continue.
inline void AddLevel(Catalog& catalog, const std::vector<Box>& boxes, const Int3& ratio = {1, 1, 1})
{
  Level level;
  level.FirstPatch = static_cast<int>(catalog.Patches.size());
  level.PatchCount = static_cast<int>(boxes.size());
  level.Ratio = ratio;
  for (int number = 0; number < level.PatchCount; ++number) {
    Patch patch;
    patch.Cells = boxes[number];
    patch.Level = static_cast<int>(catalog.Levels.size());
    patch.Number = number;
    catalog.Patches.push_back(patch);
  }
  catalog.Levels.push_back(level);
}

/// Returns a mesh of two patches, the second one empty, with a variable "value" of nodes. The first patch has
/// 5 points and, unstructured, 3 cells in a connectivity of 10; polygonal, a line of 3 points and two
/// polygons of 7.
inline Catalog MeshCatalog(GridType grid)
{
  Catalog catalog;
  catalog.Path = "/data/mesh.vtkhdf";
  catalog.Grid = grid;
  AddLevel(catalog, {{{0, 0, 0}, {2, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}});
  const bool lists = grid == GridType::Polygonal;
  catalog.Meshes.resize(2);
  catalog.Meshes[0].Points = 5;
  catalog.Meshes[0].Cells = lists ? std::array<std::int64_t, 4>{0, 1, 2, 0} : std::array<std::int64_t, 4>{3};
  catalog.Meshes[0].Connectivity =
      lists ? std::array<std::int64_t, 4>{0, 3, 7, 0} : std::array<std::int64_t, 4>{10};
  const auto add = [&catalog](const std::string& name, Centering center, MeshRole role, int list) {
    Variable& variable = catalog.Variables.emplace_back();
    variable.Name = name;
    variable.Center = center;
    variable.Role = role;
    variable.CellList = list;
  };
  add("points", Centering::Node, MeshRole::Points, 0);
  catalog.Variables[0].Components = 3;
  catalog.Variables[0].Interleaved = true;
  for (int list = 0; list < (lists ? 4 : 1); ++list) {
    add("connectivity " + std::to_string(list), Centering::Cell, MeshRole::Connectivity, list);
    add("offsets " + std::to_string(list), Centering::Cell, MeshRole::Offsets, list);
  }
  if (!lists) {
    add("types", Centering::Cell, MeshRole::Types, 0);
  }
  add("value", Centering::Node, MeshRole::Values, 0);
  catalog.ResetPresence();
  return catalog;
}

}  // namespace patchio::testing
