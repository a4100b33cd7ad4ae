// Where all stored <patch, variable> of a time step lie, in few bytes: what the metadata channel keeps.
//
// Patches are put into the order of their files (RowOrder); a patch is a row. Each rank that builds the index
// makes one shard: an unbroken run of rows with, for each variable, a column of offsets, one number a
// component. Everything else about an ordinary extent follows from the catalog (its size), from the column
// (type and byte order) or from a short table (its file). Entries that are not ordinary (sparse materials,
// chunks, arrays that the library must decode, irregular sizes) stand in IrregularLocations of the shard.
// Entries without bytes follow from Catalog::PresenceOf.
//
// A shard is one block of plain values that is used where it lies: in a file's buffer, in shared memory.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Catalog/IrregularLocations.h"
#include "Catalog/ShardBytes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace patchio {

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
  std::uint32_t FileNumber(const std::string& name);
  void AddOne(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool AddRegular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  void AddIrregular(std::uint64_t row, int variable, const LocationTable& table, const Location& location);
  bool SameExtentsAsBefore(const LocationTable& table, const Location& location) const;
  std::vector<std::uint32_t> FilesOfRows() const;

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

/// Answer to a list of requests.
struct IndexAnswer
{
  LocationTable Table;               ///< as Format::Locate gives it
  std::vector<std::uint32_t> Files;  ///< per file of the table, its number in the index
  bool Complete = true;  ///< false: the index does not know all of the requests; use nothing of it
};

/// All shards together.
class LocationIndex
{
public:
  LocationIndex() = default;
  /// `shards` follow each other in row order, begin at multiples of 8 bytes, and stay valid as long as
  /// `memory` is held. Throws Error when they are not shards of this catalog; Check() then says whether they
  /// can be right.
  LocationIndex(const Catalog& catalog, std::vector<std::string> files, const std::vector<ShardView>& shards,
      std::shared_ptr<const void> memory);

  const std::vector<std::string>& Files() const { return this->FileNames; }

  /// Throws Error unless every entry is there, lies inside its file and has the size that the catalog asks
  /// for. `fileBytes`: size of each file.
  void Check(const Catalog& catalog, const std::vector<std::uint64_t>& fileBytes) const;

  /// Where the requests lie at Catalog::StepInFile; but for the step, `catalog` is the one given before. Safe
  /// from several threads at once.
  IndexAnswer Find(const Catalog& catalog, const std::vector<PatchVariable>& requests) const;

  /// Bytes of all stored values, as they lie in the files.
  std::uint64_t StoredBytes(const Catalog& catalog) const;

private:
  struct RunTable
  {
    std::uint64_t Count = 0;
    const std::uint32_t* Begins = nullptr;  ///< first row of each run
    const std::uint32_t* Files = nullptr;
  };
  struct Column
  {
    const std::uint64_t* Offsets = nullptr;  ///< null: nothing ordinary here
    ElementType Type = ElementType::Float32;
    bool BigEndian = false;
    std::uint32_t Components = 1;
    RunTable Runs;
  };
  struct Shard
  {
    std::uint64_t FirstRow = 0, Rows = 0;
    std::vector<Column> Columns;
    IrregularLocations Irregular;  ///< by row of the shard x variables + variable
  };
  class Finder;
  Shard Parse(const Catalog& catalog, const ShardView& view) const;
  RunTable ParseRuns(ShardReader& in, std::uint64_t rows) const;
  const Shard& ShardOf(std::uint64_t row) const;
  void CheckShard(
      const Catalog& catalog, const Shard& shard, const std::vector<std::uint64_t>& fileBytes) const;

  std::vector<std::string> FileNames;
  std::vector<Shard> Shards;
  std::shared_ptr<const void> Memory;
  std::shared_ptr<const RowOrder> Order;
};

}  // namespace patchio
