// The HDF5 files of one call of Format::Locate(), with the data sets that were found in them.
#pragma once

#include "Formats/LocateTask.h"
#include "Hdf5/File.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace patchio {

struct LocatedDataset : hdf5::FoundDataset
{
  ElementType Type = ElementType::Float32;
  int File = 0;         ///< its number in the table
  std::string Problem;  ///< why the data set cannot be used; empty: it can
};

/// Why a patch cannot be read; see hdf5::UnsupportedError().
constexpr const char* SeveralParts = "virtual data set that has the values of a patch from several others";

/// For the thread that has called Locate().
class Hdf5Files
{
public:
  /// Keeps references.
  Hdf5Files(LocateTask& task, LocationTable& table) : Task(task), Table(table) {}

  /// Opens a file through the storage. Throws Error.
  const hdf5::File& Open(const std::string& path);

  /// The caller's check of a data set, which may complete what is known of it. Throws Error.
  using Check = std::function<void(LocatedDataset& found)>;
  /// Finds a data set, and its file in the table of files, at the first call. Throws Error when the file
  /// cannot be opened, or when the data set is not there, is damaged, is not supported, or fails the check.
  const LocatedDataset& Find(const std::string& path, const std::string& name, const Check& check);

  /// Appends values of a data set to the table: an extent, or a chunked or library array. Throws Error for
  /// values that a virtual data set has from several others.
  Location Append(const LocatedDataset& found, const std::string& name, const hdf5::DatasetPart& part);

private:
  int NumberOf(const std::string& path);
  Location AppendFill(const LocatedDataset& found, std::uint64_t count);

  LocateTask& Task;
  LocationTable& Table;
  std::map<std::string, hdf5::File> Files;
  std::map<std::string, int> Numbers;  ///< in the table
  std::map<std::pair<std::string, std::string>, LocatedDataset> Found;
};

}  // namespace patchio
