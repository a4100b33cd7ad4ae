// Where all stored <patch, variable> of a time step lie, found in the shards of the index (see IndexShard.h)
// where these lie: in a file's buffer, in shared memory.
#pragma once

#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"
#include "Store/IndexShard.h"
#include "Store/IrregularLocations.h"
#include "Store/ShardBytes.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace patchio {

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
