// One rank's shard of the index: its layout, and how it is made.
#pragma once

#include "Base/Error.h"
#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

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

/// Throws errors that begin with "The index has".
constexpr Requirement RequireOfIndex("The index file");

/// Bytes of a shard; they must stay alive.
struct ShardView
{
  const std::byte* Data = nullptr;
  std::size_t Size = 0;
};

/// Appends values; each array begins at a multiple of 8 bytes.
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

/// Takes the arrays of a shard where they lie. Throws Error when its bytes end too early.
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

struct ShardHead
{
  std::uint64_t FirstRow = 0;
  std::uint64_t Rows = 0;
  std::uint64_t Variables = 0;
  std::uint64_t RunTables = 0;
};

struct ColumnHead
{
  std::uint32_t Present = 0;
  std::uint32_t Type = 0;
  std::uint32_t BigEndian = 0;
  std::uint32_t Components = 0;
  std::uint32_t RunTable = 0;
  std::uint32_t Unused = 0;
};

/// Order of the patches by Patch::File, then by number; found again from the catalog at any time. Takes
/// memory only where patches do not have that order already.
class RowOrder
{
public:
  explicit RowOrder(const Catalog& catalog);

  std::uint32_t RowOf(int patch) const
  {
    return this->Rows.empty() ? static_cast<std::uint32_t>(patch) : this->Rows[patch];
  }
  /// Patches of `count` rows from `first`.
  std::vector<int> PatchesOf(std::uint64_t first, std::uint64_t count) const;

private:
  std::vector<std::uint32_t> Rows;  ///< per patch; empty: each patch is the row of its number
};

/// Makes one shard out of located requests.
class IndexShardBuilder
{
public:
  /// For the rows firstRow .. firstRow + rows - 1. Keeps a reference to `catalog`.
  IndexShardBuilder(
      const Catalog& catalog, const RowOrder& order, std::uint64_t firstRow, std::uint64_t rows);

  std::uint64_t Rows() const { return this->Patches.size(); }
  /// All variables of `count` rows of the shard from `first`, in the order that Add() wants.
  std::vector<PatchVariable> Requests(std::uint64_t first, std::uint64_t count) const;
  /// The answer to Requests(first, ...). Rows must come in ascending order.
  void Add(std::uint64_t first, const LocationTable& table);

  /// How many entries could not be located. Such a shard answers for the others only.
  std::uint64_t Missing() const { return this->MissingCount; }
  /// Files of all entries; positions are the numbers that Finish() translates.
  const std::vector<std::string>& Files() const { return this->FileNames; }
  /// The shard. `numbers[i]`: number that Files()[i] has in the whole index.
  std::vector<std::byte> Finish(const std::vector<std::uint32_t>& numbers) const;

private:
  struct Column
  {
    bool Present = false;
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::vector<std::uint64_t> Offsets;  ///< rows x components
    std::vector<std::uint32_t> Files;    ///< per row
  };
  struct Runs;
  std::uint32_t FileNumber(const std::string& name);
  void AddOne(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool AddRegular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  void AddIrregular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool SameExtentsAsBefore(const LocationTable& table, const Location& location) const;
  std::vector<std::uint32_t> FilesOfRows() const;
  std::vector<ColumnHead> MakeHeads(
      const std::vector<std::uint32_t>& numbers, std::vector<Runs>& tables) const;

  const Catalog& Data;
  std::uint64_t FirstRow;
  std::vector<int> Patches;  ///< per row of the shard
  std::vector<Column> Columns;
  std::vector<std::uint64_t> IrregularKeys;  ///< row x variables + variable, ascending
  LocationTable Irregular;
  std::vector<std::string> FileNames;
  std::vector<std::uint32_t> Numbers;                    ///< of the files of the table at hand
  std::unordered_map<std::string, std::uint32_t> Known;  ///< positions in FileNames
  std::uint64_t MissingCount = 0;
};

}  // namespace patchio
