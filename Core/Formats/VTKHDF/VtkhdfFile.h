// What a VTKHDF file holds, as its attributes and data sets say.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"
#include "Formats/VTKHDF/VtkhdfAccess.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

/// An array of a level.
struct LevelArray
{
  std::string Name;
  std::string Stored;  ///< the data set below the level's group: "CellData/density"
  Centering Center = Centering::Cell;
  int Components = 1;
  MeshRole Role = MeshRole::Values;
  int CellList = 0;
  std::vector<std::uint64_t> First;  ///< by step: tuples in the data set before the level's first
};

struct LevelFacts
{
  Double3 Spacing{1, 1, 1};
  std::vector<Box> Boxes;        ///< images and AMR
  std::vector<MeshSize> Meshes;  ///< the partitions of meshes
  std::vector<LevelArray> Arrays;
  std::int64_t Grain = 1;  ///< of images: planes in the thickest chunks, which are decoded as a whole
};

/// An image is one level of one box, a mesh one level of partitions. Boxes and partitions are those of one
/// step; LevelArray::First is of all steps, or, where these have others, of that one.
struct FileFacts
{
  std::string Path;
  FileType Type = FileType::None;
  int Dimension = 3;
  Double3 Origin{0, 0, 0};     ///< position of the lower corner of cell (0, 0, 0)
  std::uint64_t FlatAxes = 0;  ///< see Level::FlatAxes
  std::optional<double> Time;
  int Step = 0;
  std::vector<double> Times;   ///< of all steps in the file; empty where it is not made of steps
  bool PatchesChange = false;  ///< see Catalog::PatchesChange
  std::vector<LevelFacts> Levels;
  std::vector<std::string> LeftOut;  ///< a text for each array that cannot be shown, and why
};

/// Throws Error when the file is broken, has something that is not read, or does not have the step.
FileFacts ReadFacts(const std::string& path, int step = 0);

}  // namespace patchio::vtkhdf
