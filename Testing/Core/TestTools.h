// Small things that many tests need.
#pragma once

#include "Catalog/Catalog.h"
#include "Support/Error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace patchio::testing {

/// A folder of its own for a test, gone afterwards.
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

inline void WriteText(const std::string& path, const std::string& text)
{
  std::ofstream(path, std::ios::binary) << text;
}

/// What the Error says that `work` throws; the test fails when it throws none.
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

/// Appends a level with these boxes, as global numbers follow on.
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

}  // namespace patchio::testing
