// The HDF5 file of a step, laid out: who writes the values needs no HDF5 any more.
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

/// Room for a table.
struct PlannedTable
{
  std::string Name;
  ElementType Type = ElementType::Float64;
  std::uint64_t Values = 0;
};

/// What one of a step's files will hold.
struct StepFilePlan
{
  const Catalog* Data = nullptr;
  const std::vector<ElementType>* Types = nullptr;  ///< of the variables
  const std::vector<int>* Rows = nullptr;           ///< see RowsOf()
  int Files = 1;                                    ///< of the step
  std::vector<DataSet> DataSets;                    ///< of this file
  std::vector<PlannedTable> Tables;
};

/// A compressed chunk that will be in the file.
struct ChunkSize
{
  std::uint64_t Bytes = 0;
  std::uint32_t SkippedFilters = 0;  ///< see Chunk
};

/// A file of a step while it is written. It is none for any HDF5 library until GiveSignature(), so that
/// nobody takes room for values. Methods throw Error. Those that call HDF5 may be called by several threads,
/// each for another file.
class StepFile
{
public:
  /// Lays the file out in memory; needs HDF5, and nobody needs it after that unless data sets are compressed.
  StepFile(const std::string& path, const StepFilePlan& plan);
  ~StepFile();
  /// Makes the file, which must not exist, with room for all values but compressed ones.
  void Create();
  bool IsCreated() const { return this->File != nullptr; }

  /// Where the data sets and then the tables of the plan begin, in their order; 0 for compressed ones.
  const std::vector<std::uint64_t>& Offsets() const { return this->Begins; }

  /// Makes room for the chunks of all compressed data sets, one set after another in the plan's order.
  /// Returns where they begin. Does nothing where there are none.
  std::vector<std::uint64_t> Place(const std::vector<ChunkSize>& chunks);
  /// Writes all but values and tables, which may be there already; last before the signature.
  void WriteDescription();
  void GiveSignature() const;

private:
  class Description;
  void TakeImage();

  const std::string Path;
  std::unique_ptr<Description> Described;  ///< as long as it may change
  const std::vector<std::uint64_t> Begins;
  std::vector<std::byte> Image;                                ///< of the description
  std::vector<std::pair<std::uint64_t, std::uint64_t>> Rooms;  ///< for values, see hdf5::FileImage
  std::uint64_t Size = 0;                                      ///< of the file
  std::unique_ptr<PlainFile> File;
};

}  // namespace patchio::container
