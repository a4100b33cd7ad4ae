// Access to VTKHDF files: their types, groups, data sets and steps.
#pragma once

#include "Catalog/Box.h"
#include "Catalog/Catalog.h"
#include "Hdf5/File.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

constexpr const char* Root = "VTKHDF";

enum class FileType : std::uint8_t
{
  None,  ///< not a VTKHDF file, or an unsupported type
  Image,
  Amr,
  Unstructured,
  Polygons
};

/// Returns the type that a VTKHDF file states, supported or not; empty for other files. Does not throw.
std::string NameOfType(const std::string& path);
/// Returns the type with a name from NameOfType(); None for other names.
FileType TypeNamed(const std::string& name);

/// Returns the group of a level: "VTKHDF/Level0" and so on for AMR, otherwise "VTKHDF".
std::string GroupOfLevel(FileType type, int level);

/// A VTKHDF file that is open for reading. Unless stated otherwise, all methods throw Error when the object
/// does not exist or is invalid.
class Access : public hdf5::File
{
public:
  using hdf5::File::File;
  using hdf5::File::Numbers;

  /// Throws Error unless the file has the group.
  void RequireGroup(const std::string& group) const;
  /// Returns the reason why PatchIO does not support a sound data set, as a phrase: "virtual data set",
  /// "filter 32000 (lzf)", "type float16"; empty if PatchIO supports the data set. Opening, listing,
  /// verifying and reading all use this check.
  static std::string UnsupportedReason(const hdf5::Dataset& dataset);
  /// Returns an attribute of `count` finite numbers.
  std::vector<double> Numbers(const std::string& object, const std::string& name, std::size_t count) const;
  /// Returns an attribute of three finite numbers.
  Double3 Triple(const std::string& object, const std::string& name) const;

  /// Returns the number of values per axis, slowest first; empty for a scalar, and if the data set does not
  /// exist. Throws Error if PatchIO does not support the data set.
  std::vector<std::uint64_t> DimsOf(const std::string& dataset) const;
  /// Returns rows of `columns` whole numbers. Throws Error for numbers below 0 or above 2^40, and for more
  /// than MostEntries() numbers. A single column may be stored as a list.
  std::vector<std::int64_t> Counts(const std::string& dataset, std::uint64_t columns = 1) const;
  /// Returns boxes from rows of the lowest and highest cell: x, x, y, y, z, z. Throws Error for an empty box,
  /// and for indices beyond +-2^30.
  std::vector<Box> Boxes(const std::string& dataset) const;
  /// Returns the cells of an image. `image`: group of the image; `flatAxes`: receives the axes with one layer
  /// of nodes, see Level::FlatAxes.
  Box WholeExtent(const std::string& image, std::uint64_t& flatAxes) const;
  /// Returns the greatest number of entries that PatchIO accepts in a list of the file: 2^24, or less for a
  /// small file, because a compressed list may be forged.
  std::uint64_t MostEntries() const;

  /// Throws Error about a damaged or invalid file; see FileError().
  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const;
  /// Throws Error for an object that is sound but not supported, such as "virtual data set" in
  /// "VTKHDF/Points".
  [[noreturn]] void FailUnsupported(const std::string& what, const std::string& where) const;

private:
  template <typename T>
  std::vector<T> Rows(const std::string& dataset, std::uint64_t columns, std::uint64_t most) const;
};

/// Returns a + b, for offsets in data sets. Throws Error if the sum exceeds the size of any file.
std::uint64_t AddOffsets(const Access& file, std::uint64_t a, std::uint64_t b);

/// The group with the steps of a file. A file without the group has one step, whose data begin at 0.
class StepsGroup
{
public:
  /// Keeps a reference to `file`. Throws Error when the group is damaged.
  explicit StepsGroup(const Access& file);

  /// Returns whether the file has the group.
  bool Exists() const { return this->HasGroup; }
  std::size_t Count() const { return this->Steps; }
  const std::vector<double>& Times() const { return this->Values; }

  /// Returns a list of the group: Count() rows of `columns` numbers; a row of zeros if the file lacks the
  /// group. Throws Error when the list does not exist or is too short.
  std::vector<std::int64_t> Read(const std::string& name, std::uint64_t columns = 1) const;
  /// Returns a list of the group, or nothing if the list does not exist.
  std::optional<std::vector<std::int64_t>> Find(const std::string& name) const;

private:
  const Access& File;
  bool HasGroup = false;
  std::size_t Steps = 1;
  std::vector<double> Values;
};

/// An array on a level. StoredName is the data set in the level's group: "CellData/density".
struct LevelArray : Variable
{
  std::vector<std::uint64_t> First;  ///< by step: tuples in the data set before the first one of the level
};

/// The boxes or partitions of one level, and its arrays.
struct LevelDescription
{
  Double3 Spacing{1, 1, 1};
  std::vector<Box> Boxes;        ///< the boxes, for images and AMR
  std::vector<MeshSize> Meshes;  ///< the partitions, for meshes
  std::vector<LevelArray> Arrays;
  std::int64_t PlanesPerCut = 1;  ///< planes of the thickest chunks, which are decoded as a whole; for images
};

/// The levels, arrays and times of a file. An image is one level with one box, a mesh one level of
/// partitions. Boxes and partitions belong to one step. LevelArray::First has entries for all steps, or only
/// for that one step if other steps have other patches.
struct FileDescription
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
  std::vector<LevelDescription> Levels;
  std::vector<std::string> SkipMessages;  ///< a message with the reason for each skipped array
};

/// Reads the description of a file at a step. Skips arrays of data that are unsupported or unreadable, see
/// SkipMessages. Throws Error when the file is broken, has an unsupported grid, or does not have the step.
FileDescription ReadFileDescription(const std::string& path, int step = 0);

}  // namespace patchio::vtkhdf
