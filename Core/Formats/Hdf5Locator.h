// The search for values in HDF5 files: the base class of the locators of formats whose data sets have the
// values of many patches one after another.
#pragma once

#include "Formats/LocateTask.h"
#include "Hdf5/File.h"

#include <map>
#include <string>
#include <vector>

namespace patchio {

/// A data set that was found in a file.
struct LocatedDataset : hdf5::FoundDataset
{
  ElementType Type = ElementType::Float32;
  int File = 0;          ///< index into LocationTable::Files
  bool Checked = false;  ///< the format has checked the data set, see Hdf5Locator::Check()
  std::string Problem;   ///< reason why the data set cannot be used; empty: no problem
};

/// The location of the values of one variable on one patch: file, data set and range.
struct DatasetLocation
{
  std::string Path;     ///< path of the file
  std::string Dataset;  ///< name of the data set
  hdf5::DatasetRange Range;
};

/// Reason why values of a virtual data set cannot be read, for hdf5::UnsupportedError().
constexpr const char* SeveralSources =
    "virtual data set that takes the values of a patch from several data sets";

/// Base class of the locators of HDF5 formats. An object serves one call of Format::Locate(), on the thread
/// of that call. The object opens files through the task's source, and finds each data set once.
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
  /// Returns the location of a request whose values are stored, usually through LocateAt(). Throws Error if
  /// the values cannot be located.
  virtual Location LocateOne(const PatchVariable& request) = 0;
  /// Checks a data set, and may change its description. LocateAt() calls this method at the first request for
  /// the data set. An Error from this method becomes the error of all requests for the data set.
  virtual void Check(
      LocatedDataset& /*found*/, const DatasetLocation& /*location*/, const PatchVariable& /*request*/)
  {
  }
  /// Adds the values at `location` to Table, as a byte range, or a chunked or library array, and returns
  /// their location. Throws Error when the file cannot be opened, when the data set does not exist, is
  /// damaged or unsupported, fails Check() or has too few values, and when a virtual data set takes the
  /// values from several data sets.
  Location LocateAt(const DatasetLocation& location, const PatchVariable& request);

  const Catalog& Data;
  const LocateOptions& Options;
  LocateTask Task{this->Options};
  LocationTable Table;

private:
  LocatedDataset& FindDataset(const std::string& path, const std::string& name);
  const hdf5::File& Open(const std::string& path);
  int AddFile(const std::string& path);
  Location AppendVirtual(const LocatedDataset& found, const DatasetLocation& location, std::uint64_t end);
  Location AppendFill(const LocatedDataset& found, std::uint64_t count);

  std::map<std::string, hdf5::File> OpenFiles;
  std::map<std::string, int> FileNumbers;  ///< index of each path in LocationTable::Files
  std::map<std::string, std::map<std::string, LocatedDataset>> FoundDatasets;  ///< by file and name
};

}  // namespace patchio
