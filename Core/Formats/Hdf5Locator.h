// The search for values in HDF5 files: the base class of the locators of formats whose data sets have the
// values of many patches one after another.
#pragma once

#include "Formats/LocateTask.h"
#include "Hdf5/File.h"

#include <map>
#include <string>
#include <vector>

namespace patchio {

/// A data set that was found in a file and checked.
struct LocatedDataset : hdf5::FoundDataset
{
  ElementType Type = ElementType::Float32;
  int File = 0;          ///< number in the table of files
  bool Checked = false;  ///< the format has checked it
  std::string Problem;   ///< reason why the data set cannot be used; empty: it can
};

/// The values of one variable on one patch in a file.
struct DatasetPlace
{
  std::string Path;     ///< path of the file
  std::string Dataset;  ///< name of the data set
  hdf5::DatasetPart Part;
};

/// Reason why a patch cannot be read; see hdf5::UnsupportedError().
constexpr const char* SeveralParts = "virtual data set that has the values of a patch from several others";

/// One call of Format::Locate(), made on the thread of that call. Opens each file once, through the task's
/// source, and finds each data set once. A format derives its locator from this class.
class Hdf5Locator
{
public:
  /// Keeps references to `catalog` and `options`.
  Hdf5Locator(const Catalog& catalog, const LocateOptions& options) : Data(catalog), Options(options) {}
  virtual ~Hdf5Locator() = default;
  Hdf5Locator(const Hdf5Locator&) = delete;
  Hdf5Locator& operator=(const Hdf5Locator&) = delete;

  /// Returns the locations of the requests; see Format::Locate().
  LocationTable Run(const std::vector<PatchVariable>& requests);

protected:
  /// Returns the location of a request whose values are stored. Most formats call LocateAt(). Throws Error.
  virtual Location LocateOne(const PatchVariable& request) = 0;
  /// Checks a data set, and may change its description. LocateAt() calls this method for the first request
  /// that needs the data set. An Error from this method becomes the error of all requests for the data set.
  virtual void Check(
      LocatedDataset& /*found*/, const DatasetPlace& /*place*/, const PatchVariable& /*request*/)
  {
  }
  /// Returns the location of values at a place: a byte range, or a chunked or library array. Throws Error
  /// when the file cannot be opened, when the data set does not exist, is damaged, is not supported, fails
  /// the check or has too few values, and for values that a virtual data set takes from several others.
  Location LocateAt(const DatasetPlace& place, const PatchVariable& request);

  const Catalog& Data;
  const LocateOptions& Options;
  LocateTask Task{this->Options};
  LocationTable Table;

private:
  LocatedDataset& Find(const std::string& path, const std::string& name);
  const hdf5::File& Open(const std::string& path);
  int NumberOf(const std::string& path);
  Location AppendVirtual(const LocatedDataset& found, const DatasetPlace& place, std::uint64_t end);
  Location AppendFill(const LocatedDataset& found, std::uint64_t count);

  std::map<std::string, hdf5::File> Files;
  std::map<std::string, int> Numbers;                                  ///< number of each file in the table
  std::map<std::string, std::map<std::string, LocatedDataset>> Found;  ///< by file and name
};

}  // namespace patchio
