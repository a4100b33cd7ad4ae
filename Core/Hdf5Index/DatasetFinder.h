// Finds data sets of one file by their names, with their chunks: by the index reader, and where that does not
// know the file, by the HDF5 library.
#pragma once

#include "Hdf5Index/IndexReader.h"
#include "Support/Hdf5.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace patchio::hdf5index {

/// A data set with its chunks, in the order of their numbers.
struct FoundDataset
{
  Dataset Info;
  std::vector<Chunk> Chunks;
};

/// For the thread that calls HDF5.
class DatasetFinder
{
public:
  /// storage: has the file as number 0; null: ask the library only. Throws Error when the file cannot be
  /// read.
  DatasetFinder(const std::string& path, std::unique_ptr<Source> storage);

  /// By its name, with the groups on the way to it. Throws Error when it is not there or damaged.
  FoundDataset Find(const std::string& name);

  const std::string& Path() const { return this->PathName; }
  std::uint64_t FileBytes() const { return this->Bytes; }
  /// Why the library was asked; empty when it was not.
  const std::string& WhyLibrary() const { return this->Reason; }

private:
  void OpenIndex();
  const Group& GroupOf(const std::string& path);
  FoundDataset FindByIndex(const std::string& name);
  FoundDataset FindByLibrary(const std::string& name);
  bool MayList(Dataset& info);

  const std::string PathName;
  std::uint64_t Bytes = 0;
  std::uint64_t Listed = 0;  ///< chunks so far
  std::string Reason;
  std::unique_ptr<Source> Storage;
  std::unique_ptr<IndexReader> Index;
  std::map<std::string, Group> Groups;  ///< those that were opened, by their paths
  std::unique_ptr<hdf5::File> Library;
};

/// Values of a data set that follow each other in it.
struct DatasetPart
{
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  std::uint64_t StepValues = 0;  ///< see ChunkedArray::StepValues
  int Steps = 1;                 ///< that the part has, each StepValues after the one before
};

/// Throws Error unless the data set has values, all in the file, where these lie in one run.
void CheckInFile(
    const FoundDataset& found, ElementType type, const std::string& name, const DatasetFinder& file);

/// Appends one component to the table: an extent, or a chunked or library array. `file`: its number in the
/// table.
Location AppendPart(const FoundDataset& found, ElementType type, const std::string& name,
    const DatasetPart& part, int file, LocationTable& table);

}  // namespace patchio::hdf5index
