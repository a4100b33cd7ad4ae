// The record of one time step in a container's log. The record describes everything except the data of
// patches, which are in tables in the step's first file. Documentation/Container.md describes the format.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::container {

/// The version of the format that this code writes, and the latest version that this code reads.
constexpr int FormatVersion = 1;

/// The location of a table with numbers of patches or axes, a data set in the first file of a step.
struct Table
{
  std::uint64_t Offset = 0;  ///< in the file, in bytes
  std::uint64_t Bytes = 0;
  std::uint32_t Checksum = 0;  ///< CRC-32 of the bytes
};

/// The values of a variable on all patches of a level that lie in one file, in the order of RowsOf().
struct DataSet
{
  int Level = 0;
  int Variable = 0;
  int File = 0;              ///< index into StepRecord::Files
  std::string Name;          ///< path in the HDF5 file
  std::uint64_t Offset = 0;  ///< in the file, in bytes; unused for compressed data sets
  std::uint64_t Values = 0;
  /// None, Deflate or Zstd, after Shuffle. Compressed values are in chunks, which the HDF5 file lists.
  FilterType Compression = FilterType::None;
};

/// Returns the name of a compression in records and in the option --compress: "off", "deflate" or "zstd".
const char* NameOfCompression(FilterType filter);

/// The record of a step.
struct StepRecord
{
  /// The catalog without its patches, the presence of variables on them, and the positions of axes.
  Catalog Data;
  std::vector<ElementType> Types;             ///< type of each variable
  std::vector<std::string> Files;             ///< names without a folder; the first file has the tables
  std::vector<std::vector<int>> PatchCounts;  ///< by level and file
  std::vector<DataSet> DataSets;
  std::map<std::string, Table> Tables;  ///< by name

  bool HasCompression() const
  {
    return std::any_of(this->DataSets.begin(), this->DataSets.end(),
        [](const DataSet& set) { return set.Compression != FilterType::None; });
  }
};

/// Prepares the names of a catalog's variables for writing. Records require UTF-8, but names from files may
/// contain other bytes. Replaces such bytes by U+FFFD, and appends _2, _3, ... to names that are then equal.
/// Throws Error for catalogs that no reader would accept, and for catalogs without patches.
void MakeEncodable(Catalog& data);

/// Encodes a record for the log.
std::string Encode(const StepRecord& record);
/// Decodes a record. Throws Error with the reason for bytes that do not come from Encode().
StepRecord Decode(std::string_view bytes);

/// The beginning of a step's record.
struct StepHead
{
  std::int64_t Step = 0;
  double Time = 0;
  std::string File;  ///< name of the first file
  std::string Date;  ///< see TimeStep
};
/// Reads the beginning of a record. Throws Error when the bytes are not a step's record.
StepHead DecodeStepHead(std::string_view bytes);

/// Returns the first record of a log, which identifies the format and its version.
std::string EncodeLogHead();
/// Throws Error when the bytes are not the first record of a log, or have an unknown version. The text of the
/// error is a phrase for FileError().
void CheckLogHead(std::string_view bytes);

}  // namespace patchio::container
