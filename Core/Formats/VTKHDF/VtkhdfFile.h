// What a VTKHDF file holds, as its attributes and data sets say.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"
#include "Hdf5Index/Dataset.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

enum class FileType
{
  None,  ///< no VTKHDF file, or of a type that is not read
  Image,
  Amr
};

/// What a path leads to. Does not throw.
FileType TypeOfFile(const std::string& path);

/// An array of a level.
struct LevelArray
{
  std::string Name;
  Centering Center = Centering::Cell;
  int Components = 1;
};

struct LevelFacts
{
  Double3 Spacing{1, 1, 1};
  std::vector<Box> Boxes;
  std::vector<LevelArray> Arrays;
};

/// An image is one level of one box.
struct FileFacts
{
  std::string Path;
  FileType Type = FileType::None;
  int Dimension = 3;
  Double3 Origin{0, 0, 0};     ///< position of the lower corner of cell (0, 0, 0)
  std::uint64_t FlatAxes = 0;  ///< see Level::FlatAxes
  std::optional<double> Time;
  std::vector<LevelFacts> Levels;
  std::vector<std::string> Notes;  ///< what is left out, and why
};

/// Throws Error when the file is broken or has something that is not read.
FileFacts ReadFacts(const std::string& path);

/// The group of a level: "VTKHDF" of an image, "VTKHDF/Level0" and so on.
std::string GroupOfLevel(FileType type, int level);
/// The data set of an array below that group: "CellData/density".
std::string DatasetOf(Centering center, const std::string& name);
/// The type that values are read as; none where they are no numbers or PatchIO has no such type.
std::optional<ElementType> TypeOfValues(const hdf5index::Dataset& info);

}  // namespace patchio::vtkhdf
