// The shard of the index that one rank makes: its layout and its builder.
#pragma once

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

/// Throws Error("The index file has WHAT.") unless a condition holds.
constexpr Requirement RequireOfIndex("The index file");

/// A view of the bytes of a shard, which must outlive the view.
struct ShardView
{
  const std::byte* Data = nullptr;
  std::size_t Size = 0;
};

/// Appends arrays of values to a shard; each array begins at a multiple of 8 bytes.
class ShardWriter
{
public:
  template <typename T>
  void Put(const T* values, std::size_t count)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::byte*>(values);
    this->Bytes.insert(this->Bytes.end(), begin, begin + count * sizeof(T));
    this->Bytes.resize((this->Bytes.size() + 7) / 8 * 8);
  }
  std::vector<std::byte> Take() { return std::move(this->Bytes); }
  void Reserve(std::size_t bytes) { this->Bytes.reserve(bytes); }

private:
  std::vector<std::byte> Bytes;
};

/// Returns the arrays of a shard in place, without copies. Throws Error when the bytes of the shard end too
/// early.
class ShardReader
{
public:
  explicit ShardReader(const ShardView& view) : View(view) {}

  template <typename T>
  const T* Take(std::uint64_t count)
  {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    const std::size_t left = this->View.Size - this->Position;
    RequireOfIndex(count <= left / sizeof(T), "a part that ends too early");
    const std::byte* begin = this->View.Data + this->Position;
    this->Position = std::min(this->View.Size, (this->Position + count * sizeof(T) + 7) / 8 * 8);
    return reinterpret_cast<const T*>(begin);
  }

private:
  ShardView View;
  std::size_t Position = 0;
};

constexpr std::uint64_t NoOffset = std::numeric_limits<std::uint64_t>::max();

/// The beginning of a shard. A ColumnHead for each variable follows.
struct ShardHead
{
  std::uint64_t FirstRow = 0;
  std::uint64_t Rows = 0;
  std::uint64_t Variables = 0;
  std::uint64_t RunTables = 0;
};

/// The properties of the ordinary byte ranges of one variable in a shard.
struct ColumnHead
{
  std::uint32_t Present = 0;
  std::uint32_t Type = 0;
  std::uint32_t BigEndian = 0;
  std::uint32_t Components = 0;
  std::uint32_t RunTable = 0;
  std::uint32_t Unused = 0;
};

/// The order of the rows of the index: patches sorted by Patch::File, then by number. The order can be
/// computed from the catalog at any time, and takes memory only if the patches are not in this order already.
class RowOrder
{
public:
  explicit RowOrder(const Catalog& catalog);

  std::uint32_t RowOf(int patch) const
  {
    return this->Rows.empty() ? static_cast<std::uint32_t>(patch) : this->Rows[patch];
  }
  /// Returns the patches of `count` rows from row `first`.
  std::vector<int> PatchesOf(std::uint64_t first, std::uint64_t count) const;

private:
  std::vector<std::uint32_t> Rows;  ///< row of each patch; empty if row and patch numbers are equal
};

/// Builds one shard from located values.
class IndexShardBuilder
{
public:
  /// Begins the shard of rows firstRow .. firstRow + rows - 1. Keeps a reference to `catalog`.
  IndexShardBuilder(
      const Catalog& catalog, const RowOrder& order, std::uint64_t firstRow, std::uint64_t rows);

  std::uint64_t Rows() const { return this->Patches.size(); }
  /// Returns all variables of `count` rows from row `first` of the shard, in the order that Add() expects.
  std::vector<PatchVariable> Requests(std::uint64_t first, std::uint64_t count) const;
  /// Adds the locations of Requests(first, ...). Calls must come in ascending order of rows.
  void Add(std::uint64_t first, const LocationTable& table);

  /// Returns the number of entries that could not be located. The shard lacks these entries.
  std::uint64_t Missing() const { return this->MissingCount; }
  /// Returns the names of all files that entries refer to. Finish() translates positions in this list.
  const std::vector<std::string>& Files() const { return this->FileNames; }
  /// Returns the bytes of the shard. `numbers[i]` is the number of Files()[i] in the whole index.
  std::vector<std::byte> Finish(const std::vector<std::uint32_t>& numbers) const;

private:
  struct Column
  {
    bool Present = false;
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::vector<std::uint64_t> Offsets;  ///< rows x components
    std::vector<std::uint32_t> Files;    ///< file of each row
  };
  struct Runs;
  std::uint32_t FileNumber(const std::string& name);
  void AddOne(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool AddRegular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  void AddIrregular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool SameByteRangesAsBefore(const LocationTable& table, const Location& location) const;
  std::vector<std::uint32_t> FilesOfRows() const;
  std::vector<ColumnHead> MakeHeads(
      const std::vector<std::uint32_t>& numbers, std::vector<Runs>& tables) const;

  const Catalog& Data;
  std::uint64_t FirstRow;
  std::vector<int> Patches;  ///< patch of each row of the shard
  std::vector<Column> Columns;
  std::vector<std::uint64_t> IrregularKeys;  ///< row x variables + variable, ascending
  LocationTable Irregular;
  std::vector<std::string> FileNames;
  std::vector<std::uint32_t> Numbers;  ///< position in FileNames of each file of the current table
  std::unordered_map<std::string, std::uint32_t> Known;  ///< positions in FileNames
  std::uint64_t MissingCount = 0;
};

}  // namespace patchio
