// The HDF5 file of a step. The file is laid out in memory, so that values are written without HDF5.
#pragma once

#include "Base/File.h"
#include "Catalog/Catalog.h"
#include "Formats/Container/StepRecord.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchio::container {

/// Space for a table.
struct PlannedTable
{
  std::string Name;
  ElementType Type = ElementType::Float64;
  std::uint64_t Values = 0;
};

/// The contents of one of a step's files.
struct StepFilePlan
{
  const Catalog* Data = nullptr;
  const std::vector<ElementType>* Types = nullptr;  ///< of each variable
  const std::vector<int>* Rows = nullptr;           ///< see RowsOf()
  int Files = 1;                                    ///< number of files of the step
  std::vector<DataSet> DataSets;                    ///< data sets in this file
  std::vector<PlannedTable> Tables;
};

/// The size of a compressed chunk.
struct ChunkSize
{
  std::uint64_t Bytes = 0;
  std::uint32_t SkippedFilters = 0;  ///< see Chunk
};

/// A file of a step while it is written. HDF5 libraries do not recognize the file before GiveSignature(), so
/// that readers cannot mistake unwritten space for values. Methods throw Error. Several threads may call
/// methods that use HDF5, each for its own file.
class StepFile
{
public:
  /// Lays the file out in memory, with HDF5. If no data set is compressed, the other methods do not use HDF5.
  StepFile(const std::string& path, const StepFilePlan& plan);
  ~StepFile();
  /// Makes the file, which must not exist, with space for all values that are not compressed.
  void Create();
  bool IsCreated() const { return this->File != nullptr; }

  /// Offsets of the data sets and then the tables of the plan, in their order; 0 for compressed data sets.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }

  /// Makes space for the chunks of all compressed data sets, one set after another in the plan's order.
  /// Returns the offsets of the chunks. Does nothing if there are no such chunks.
  std::vector<std::uint64_t> Place(const std::vector<ChunkSize>& chunks);
  /// Writes everything except values and tables, which may be written already. Only GiveSignature() may
  /// follow.
  void WriteDescription();
  /// Writes the signature of HDF5, which makes the file readable.
  void GiveSignature() const;

private:
  class Description;
  void TakeImage();

  const std::string Path;
  std::unique_ptr<Description> Described;  ///< null when the layout is final
  const std::vector<std::uint64_t> Begins;
  std::vector<std::byte> Image;                                ///< bytes of the description
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Rooms;  ///< spaces for values; see hdf5::FileImage
  std::uint64_t Size = 0;                                      ///< size of the file
  std::unique_ptr<PlainFile> File;
};

}  // namespace patchio::container
