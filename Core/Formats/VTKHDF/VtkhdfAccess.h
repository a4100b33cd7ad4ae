// Types of VTKHDF files, and the names of groups.
#pragma once

#include "Catalog/Box.h"
#include "Hdf5/File.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

constexpr const char* Root = "VTKHDF";

enum class FileType : std::uint8_t
{
  None,  ///< no VTKHDF file, or of a type that is not read
  Image,
  Amr,
  Unstructured,
  Polygons
};

/// The type that a VTKHDF file says it has, whether that is read or not; empty for other files. Does not
/// throw.
std::string NameOfType(const std::string& path);
FileType TypeNamed(const std::string& name);

/// The group of a level: "VTKHDF/Level0" and so on of AMR, else "VTKHDF".
std::string GroupOfLevel(FileType type, int level);

/// All methods throw Error when what they look for is not there or makes no sense.
class Access
{
public:
  explicit Access(const std::string& path) : Name(path), Opened(path) {}
  const std::string& Path() const { return this->Name; }
  const hdf5::File& File() const { return this->Opened; }

  bool Has(const std::string& object) const { return this->Opened.Has(object); }
  void RequireGroup(const std::string& group) const;
  /// Why PatchIO does not read a sound data set, as a phrase: "virtual data set", "filter 32000 (lzf)", "type
  /// float16". Empty where it reads the data set. Opening, listing, verifying and reading all ask this
  /// function.
  static std::string WhyUnsupported(const hdf5::Dataset& dataset);
  /// An attribute of so many finite numbers.
  std::vector<double> Numbers(const std::string& object, const std::string& name, std::size_t count) const;
  Double3 Triple(const std::string& object, const std::string& name) const;

  /// Values per axis, slowest first; none where there is no such data set. Throws Error where it is not
  /// supported.
  std::vector<std::uint64_t> DimsOf(const std::string& dataset) const;
  /// Rows of `columns` whole numbers, none below 0 or beyond what files can hold. A single column may be a
  /// list.
  std::vector<std::int64_t> Counts(const std::string& dataset, std::uint64_t columns = 1) const;
  /// Rows of lowest and highest cell, x, x, y, y, z, z. No box is empty.
  std::vector<Box> Boxes(const std::string& dataset) const;
  /// The cells of an image, and which axes have one layer of nodes (see Level::FlatAxes).
  Box WholeExtent(const std::string& image, std::uint64_t& flatAxes) const;
  /// More entries than a list of the file may have, however well it is compressed.
  std::uint64_t MostEntries() const;

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const;
  /// For what is sound but not supported: "virtual data set", "VTKHDF/Points".
  [[noreturn]] void FailUnsupported(const std::string& what, const std::string& where) const;

private:
  std::string Name;
  hdf5::File Opened;
};

/// a + b for places in files; throws Error where that is beyond any file.
std::uint64_t AddPlaces(const Access& file, std::uint64_t a, std::uint64_t b);

/// The steps of a file. A file without the group has one step, at which everything begins at 0.
class StepsGroup
{
public:
  /// Keeps a reference. Throws Error when the group is damaged.
  explicit StepsGroup(const Access& file);

  bool IsThere() const { return this->There; }
  std::size_t Count() const { return this->Steps; }
  const std::vector<double>& Times() const { return this->Values; }

  /// Steps x columns numbers of a list of the group. Throws Error when it is not there or short.
  std::vector<std::int64_t> List(const std::string& name, std::uint64_t columns = 1) const;
  /// The same, or nothing where it is not there.
  std::optional<std::vector<std::int64_t>> MaybeList(const std::string& name) const;

private:
  const Access& File;
  bool There = false;
  std::size_t Steps = 1;
  std::vector<double> Values;
};

}  // namespace patchio::vtkhdf
