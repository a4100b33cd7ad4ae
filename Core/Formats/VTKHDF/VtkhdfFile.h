// The contents of a VTKHDF file, from its attributes and data sets.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"
#include "Formats/VTKHDF/VtkhdfAccess.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

/// An array on a level. StoredName is the data set in the level's group: "CellData/density".
struct LevelArray : Variable
{
  std::vector<std::uint64_t> First;  ///< by step: tuples in the data set before the first one of the level
};

/// The description of one level.
struct LevelFacts
{
  Double3 Spacing{1, 1, 1};
  std::vector<Box> Boxes;        ///< for images and AMR
  std::vector<MeshSize> Meshes;  ///< for meshes: the partitions
  std::vector<LevelArray> Arrays;
  std::int64_t Grain = 1;  ///< for images: planes of the thickest chunks, which are decoded as a whole
};

/// The description of a file. An image is one level with one box, a mesh one level of partitions. Boxes and
/// partitions belong to one step. LevelArray::First has entries for all steps, or only for that one step if
/// other steps have other patches.
struct FileFacts
{
  std::string Path;
  FileType Type = FileType::None;
  int Dimension = 3;
  Double3 Origin{0, 0, 0};     ///< position of the lower corner of cell (0, 0, 0)
  std::uint64_t FlatAxes = 0;  ///< see Level::FlatAxes
  std::optional<double> Time;
  int Step = 0;
  std::vector<double> Times;   ///< times of all steps in the file; empty if the file has no steps
  bool PatchesChange = false;  ///< see Catalog::PatchesChange
  std::vector<LevelFacts> Levels;
  std::vector<std::string> LeftOut;  ///< for each array that cannot be shown: a text with the reason
};

/// Reads the description of a file at a step. Throws Error when the file is broken, contains something
/// unsupported, or does not have the step.
FileFacts ReadFacts(const std::string& path, int step = 0);

}  // namespace patchio::vtkhdf
