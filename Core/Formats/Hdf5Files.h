// The HDF5 files of one call of Format::Locate(), and the data sets found in them.
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
  int File = 0;         ///< number in the table of files
  std::string Problem;  ///< reason why the data set cannot be used; empty: it can
};

/// Reason why a patch cannot be read; see hdf5::UnsupportedError().
constexpr const char* SeveralParts = "virtual data set that has the values of a patch from several others";

/// Finds data sets, and appends their locations to a table. For the thread that called Locate().
class Hdf5Files
{
public:
  /// Keeps references to `task` and `table`.
  Hdf5Files(LocateTask& task, LocationTable& table) : Task(task), Table(table) {}

  /// Opens a file through the task's source. Throws Error.
  const hdf5::File& Open(const std::string& path);

  /// The caller's check of a data set, which may also change its description. Throws Error.
  using Check = std::function<void(LocatedDataset& found)>;
  /// Returns a data set. At its first call for the data set, finds it, and adds its file to the table. Throws
  /// Error when the file cannot be opened, or when the data set does not exist, is damaged, is not supported,
  /// or fails the check.
  const LocatedDataset& Find(const std::string& path, const std::string& name, const Check& check);

  /// Appends the location of a part of a data set to the table: an extent, or a chunked or library array.
  /// Throws Error for values that a virtual data set takes from several others.
  Location Append(const LocatedDataset& found, const std::string& name, const hdf5::DatasetPart& part);

private:
  int NumberOf(const std::string& path);
  Location AppendFill(const LocatedDataset& found, std::uint64_t count);

  LocateTask& Task;
  LocationTable& Table;
  std::map<std::string, hdf5::File> Files;
  std::map<std::string, int> Numbers;  ///< number of each file in the table
  std::map<std::pair<std::string, std::string>, LocatedDataset> Found;
};

}  // namespace patchio
