// Looking into a VTKHDF file, with messages for what is missing or makes no sense.
#pragma once

#include "Catalog/Box.h"
#include "Support/Hdf5.h"

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
  hdf5::Handle Group(const std::string& group) const;
  /// An attribute of so many finite numbers.
  std::vector<double> Numbers(hid_t object, const std::string& name, std::size_t count) const;
  Double3 Triple(hid_t object, const std::string& name) const;

  /// Values per axis, slowest first; none where there is no such data set.
  std::vector<std::uint64_t> DimsOf(const std::string& dataset) const;
  /// Rows of `columns` whole numbers, none below 0 or beyond what files can hold. A single column may be a
  /// list.
  std::vector<std::int64_t> Counts(const std::string& dataset, std::uint64_t columns = 1) const;
  /// More entries than a list of the file may have, however well it is compressed.
  std::uint64_t MostEntries() const;

  [[noreturn]] void Fail(const std::string& expected, const std::string& found) const;

private:
  std::string Name;
  hdf5::File Opened;
};

/// a + b for places in files; throws Error where that is beyond any file.
std::uint64_t AddPlaces(const Access& file, std::uint64_t a, std::uint64_t b);

}  // namespace patchio::vtkhdf
