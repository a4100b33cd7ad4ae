// One time step of a container, as its record in the log describes it: everything but what there is one of
// for each patch, which lies in tables in the step's first file. Documentation/Container.md has the format.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace patchio::container {

/// The version that this code writes, and the latest that it reads.
constexpr int FormatVersion = 1;

/// Numbers of all patches, in a data set of their own in the first file.
struct Table
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;
  std::uint32_t Checksum = 0;  ///< CRC-32 of them
};

/// The values of a variable on all patches of a level that lie in one file, row after row.
struct DataSet
{
  int Level = 0;
  int Variable = 0;
  int File = 0;              ///< index into StepRecord::Files
  std::string Name;          ///< in the HDF5 file
  std::uint64_t Offset = 0;  ///< in the file, where they are not compressed
  std::uint64_t Values = 0;
  /// None, Deflate or Zstd, after Shuffle; then they are in chunks, which the HDF5 file has a list of.
  FilterKind Compression = FilterKind::None;
};

/// As --compress and records call it: "off", "deflate", "zstd".
const char* NameOfCompression(FilterKind filter);

struct StepRecord
{
  /// All but its patches, where they have variables, and the positions of axes.
  Catalog Data;
  std::vector<ElementType> Types;             ///< of each variable
  std::vector<std::string> Files;             ///< that have values; names without a folder
  std::vector<std::vector<int>> PatchCounts;  ///< by level and file
  std::vector<DataSet> DataSets;
  std::map<std::string, Table> Tables;  ///< by their names

  bool HasCompression() const
  {
    return std::any_of(this->DataSets.begin(), this->DataSets.end(),
        [](const DataSet& set) { return set.Compression != FilterKind::None; });
  }
};

/// Before a step is written: throws Error for what no reader would take. Names from files need not be UTF-8,
/// which those in a record are: what is none becomes U+FFFD, and names that would then be the same get _2 ...
void MakeReadable(Catalog& data);

/// The bytes for the log.
std::string Encode(const StepRecord& record);
/// Throws Error, which says what is wrong, for bytes that Encode() has not made.
StepRecord Decode(std::string_view bytes);

/// What the record of a step begins with.
struct StepHead
{
  std::int64_t Step = 0;
  double Time = 0;
  std::string File;  ///< the first
  std::string Date;  ///< see TimeStep
};
/// Throws Error when the bytes are no record of a step.
StepHead HeadOf(std::string_view bytes);

/// The first record of a log, which says what it is.
std::string EncodeLogHead();
/// Throws Error when the bytes are not that, or of a version from the future; the text follows the name of
/// the file.
void CheckLogHead(std::string_view bytes);

}  // namespace patchio::container
