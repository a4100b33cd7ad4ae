// Looking into a VTKHDF file, with messages for what is missing or makes no sense.
#pragma once

#include "Catalog/Box.h"
#include "Hdf5/File.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::vtkhdf {

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

}  // namespace patchio::vtkhdf
