// The layout and the builder of a shard, the part of the index that one rank makes.
#pragma once

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchio {

/// The Requirement of data from index files. Throws Error("The index file has FAULT.").
constexpr Requirement RequireInIndex("The index file");

/// A file number that stands for no file.
constexpr std::uint32_t NoFile = std::numeric_limits<std::uint32_t>::max();

/// A view of the bytes of a shard, which must outlive the view.
struct ShardView
{
  const std::byte* Data = nullptr;
  std::size_t Size = 0;
};

/// Writes the arrays of a shard one after another. Each array begins at a multiple of 8 bytes.
class ShardWriter
{
public:
  /// Appends an array of `count` values.
  template <typename T>
  void Append(const T* values, std::size_t count)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::byte*>(values);
    this->Bytes.insert(this->Bytes.end(), begin, begin + count * sizeof(T));
    this->Bytes.resize(RoundUp(this->Bytes.size(), 8));
  }
  /// Returns the bytes of the shard. Call Finish() once, after all arrays.
  std::vector<std::byte> Finish() { return std::move(this->Bytes); }
  /// Allocates memory for a shard of `bytes` bytes in advance.
  void Reserve(std::size_t bytes) { this->Bytes.reserve(bytes); }

private:
  std::vector<std::byte> Bytes;
};

/// Reads the arrays of a shard one after another, in place, without copies.
class ShardReader
{
public:
  explicit ShardReader(const ShardView& view) : View(view) {}

  /// Returns the next array, which has `count` values. Throws Error if the shard ends too early.
  template <typename T>
  const T* Read(std::uint64_t count)
  {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    const std::size_t left = this->View.Size - this->Position;
    RequireInIndex(count <= left / sizeof(T), "a shard that ends too early");
    const std::byte* begin = this->View.Data + this->Position;
    this->Position = std::min<std::size_t>(this->View.Size, RoundUp(this->Position + count * sizeof(T), 8));
    return reinterpret_cast<const T*>(begin);
  }

private:
  ShardView View;
  std::size_t Position = 0;
};

/// The offset of a value without a regular location (see ColumnHead).
constexpr std::uint64_t NoOffset = std::numeric_limits<std::uint64_t>::max();

/// The beginning of a shard, as stored. A ColumnHead for each variable, the run tables, the offsets of all
/// columns and the irregular locations follow.
struct ShardHead
{
  std::uint64_t FirstRow = 0;   ///< first row of the shard in the index
  std::uint64_t Rows = 0;       ///< number of rows: one for each patch
  std::uint64_t Variables = 0;  ///< number of variables
  std::uint64_t RunTables = 0;  ///< number of run tables, which state the file of each row
};

/// The properties of the regular locations of one variable in a shard, as stored. A regular location has one
/// byte range per stored array, all in one file, with the column's type and byte order and the size that the
/// catalog states.
struct ColumnHead
{
  std::uint32_t Present = 0;     ///< 0: the variable has no regular locations
  std::uint32_t Type = 0;        ///< ElementType of the values
  std::uint32_t BigEndian = 0;   ///< 1: the values are big-endian
  std::uint32_t Components = 0;  ///< number of byte ranges of a patch
  std::uint32_t RunTable = 0;    ///< index of the run table of the variable
  std::uint32_t Unused = 0;
};

/// The order of the rows of the index, one for each patch: sorted by Patch::File, then by the index of the
/// patch. The order can be computed from the catalog at any time, and takes memory only if the patches have
/// another order.
class RowOrder
{
public:
  explicit RowOrder(const Catalog& catalog);

  /// Returns the row of the index that describes the patch with the global number `patch`.
  std::uint32_t RowOf(int patch) const
  {
    return this->Rows.empty() ? static_cast<std::uint32_t>(patch) : this->Rows[patch];
  }
  /// Returns the patches of `count` rows, from row `first` on.
  std::vector<int> PatchesOf(std::uint64_t first, std::uint64_t count) const;

private:
  std::vector<std::uint32_t> Rows;  ///< row of each patch; empty if row and patch numbers are equal
};

/// Builds a shard from the locations of values: call Add() for the locations of all Requests(), then
/// Finish().
class IndexShardBuilder
{
public:
  /// Begins the shard of the rows `firstRow` to `firstRow` + `rows` - 1. `catalog` must outlive this object.
  IndexShardBuilder(
      const Catalog& catalog, const RowOrder& order, std::uint64_t firstRow, std::uint64_t rows);

  std::uint64_t Rows() const { return this->Patches.size(); }
  /// Returns all variables of the patches of `count` rows, from row `first` of the shard on, in the order
  /// that Add() expects.
  std::vector<PatchVariable> Requests(std::uint64_t first, std::uint64_t count) const;
  /// Adds locations. `table`: locations of Requests(first, ...). The calls must be in ascending order of
  /// `first`.
  void Add(std::uint64_t first, const LocationTable& table);

  /// Returns the number of values (patch, variable) that could not be located. The shard lacks these values.
  std::uint64_t MissingCount() const { return this->MissingValues; }
  /// Returns the names of the files of all added tables, each once.
  const std::vector<std::string>& Files() const { return this->FileNames; }
  /// Returns the bytes of the shard. `numbers[i]`: number of Files()[i] in the index of all ranks.
  std::vector<std::byte> Finish(const std::vector<std::uint32_t>& numbers) const;

private:
  struct Column
  {
    bool Present = false;
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::vector<std::uint64_t> Offsets;  ///< rows x components; NoOffset: no regular location
    std::vector<std::uint32_t> Files;    ///< file of each row, as a position in FileNames
  };
  struct Runs;
  std::uint32_t FilePosition(const std::string& name);
  void AddLocation(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool AddRegular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  void AddIrregular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool RepeatsByteRanges(const LocationTable& table, const Location& location) const;
  std::vector<std::uint32_t> FilesOfRows() const;
  std::vector<ColumnHead> MakeColumnHeads(
      const std::vector<std::uint32_t>& numbers, std::vector<Runs>& tables) const;

  const Catalog& Data;
  std::uint64_t FirstRow;
  std::vector<int> Patches;  ///< patch of each row of the shard
  std::vector<Column> Columns;
  std::vector<std::uint64_t> IrregularKeys;  ///< keys, row x variables + variable, ascending
  LocationTable Irregular;
  std::vector<std::string> FileNames;
  std::vector<std::uint32_t> TableFiles;  ///< position in FileNames of each file of the current table
  std::unordered_map<std::string, std::uint32_t> FilePositions;  ///< position of each name in FileNames
  std::uint64_t MissingValues = 0;
};

}  // namespace patchio
