// A cache of values that were read, and the values that a later read reuses from it.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/MemoryPool.h"
#include "Plan/BlockLayout.h"
#include "Read/FileFingerprints.h"
#include "Read/LoadRequest.h"
#include "Tuning/IoReport.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// The key of cached values: a variable, in the form in which the variable was read, at a step of a file.
/// Time-invariant variables have the same key at all steps of their file.
struct ValueKey
{
  std::string Path;  ///< Catalog::Path
  int StepInFile = 0;
  VariableRequest Variable;
  Centering Center = Centering::Cell;

  bool operator==(const ValueKey& other) const;
};

ValueKey KeyOfValues(const Catalog& catalog, const VariableRequest& variable);

/// The arrays of one variable that were read together. These arrays share their memory with the displayed
/// arrays, and do not change.
struct KeptValues
{
  std::shared_ptr<const BlockLayout> Layout;
  std::vector<LoadedArray> Arrays;  ///< one per block; NotRead if the cache has no array of the block
  /// Per source of the layout: true if its values are a constant that is not in a file. The constant has the
  /// type of the array. Empty: false for all sources.
  std::vector<bool> Constants;
  std::shared_ptr<const FileFingerprints> Files;  ///< fingerprints of the files of the values
};

using SharedValues = std::shared_ptr<const KeptValues>;

/// Keeps the values of one rank by variable and step. When memory is short, the cache drops the values
/// displayed least recently; their memory returns to its pool unless displayed arrays share it. Thread-safe.
class ValueCache
{
public:
  /// Sets the limit on the bytes of values that a new read does not use; see MakeRoom(). `bytes`: the limit.
  /// If `bytes` is negative, the limit is a quarter of the memory that the machine would have free after the
  /// read and without these values, divided by `ranksOnMachine`.
  void SetLimit(std::int64_t bytes, int ranksOnMachine);

  /// Returns the kept values of each key, the latest first. Drops values of the keys whose files have
  /// changed; examines up to `threads` files at once.
  std::vector<std::vector<SharedValues>> Find(const std::vector<ValueKey>& keys, int threads);

  /// Makes room for `bytes` more bytes from `pool`: drops values until the remaining values are within the
  /// limit and there is enough memory. Keeps the values in `used`, which do not count for the limit. If
  /// `prefetch` is true, treats the displayed values in the same way, and requires a tenth of the pool's
  /// limit in addition. Returns false if there is still not enough memory.
  bool MakeRoom(const MemoryPool& pool, double bytes, const std::vector<std::vector<SharedValues>>& used,
      bool prefetch = false);

  /// Begins a new display: values that are added from now on are the displayed values.
  void BeginDisplay();
  /// Adds values that were just read. Drops the arrays of older values of `key` whose values the new arrays
  /// contain.
  void Add(const ValueKey& key, KeptValues values);

  /// Returns a layout of kept arrays that has the blocks `blocks` and, if `nodes` is true, nodes; null if no
  /// layout does.
  std::shared_ptr<const BlockLayout> FindLayout(const std::vector<Block>& blocks, bool nodes) const;

  /// Returns the bytes of memory of the kept values, including displayed values.
  std::uint64_t Bytes() const;
  void Clear();

private:
  struct Entry
  {
    ValueKey Key;
    SharedValues Values;
    std::uint64_t Bytes = 0;  ///< bytes of the segments in which the arrays lie
    bool IsDisplayed = false;
  };

  void DropChanged(const std::vector<ValueKey>& keys, int threads);
  double Limit(const MemoryPool& pool, double evictable, double bytes) const;

  mutable std::mutex Lock;
  std::list<Entry> Entries;  ///< least recently added first
  std::int64_t UserLimit = -1;
  int RanksOnMachine = 1;
};

/// Values of an existing array that are also values of a new array.
struct ValueCopy
{
  std::uint32_t Block = 0;  ///< block of the new array
  const LoadedArray* From = nullptr;
  Box FromValues;       ///< indices of the values of From
  Box Region;           ///< indices of the values to copy, in the level of Block
  Int3 Ratio{1, 1, 1};  ///< refinement ratio from From's level to Block's
};

/// The reused values of one variable.
struct Reuse
{
  std::vector<const LoadedArray*> Same;  ///< per block: the existing array; null: no array
  std::vector<ValueCopy> Copies;         ///< values for the arrays of other blocks, in the order of blocks
  std::vector<std::size_t> First;        ///< first placement of each source in Rest, and the end
  std::vector<Placement> Rest;           ///< placements of values that must be read
};

/// Finds the blocks that two layouts have in common, and caches the result.
class BlockMatcher
{
public:
  explicit BlockMatcher(const BlockLayout& layout) : Layout(layout) {}
  /// Returns, for each block of the layout, its number in the other layout, or -1.
  const std::vector<int>& NumbersIn(const BlockLayout& other);

private:
  const BlockLayout& Layout;
  std::map<const BlockLayout*, std::vector<int>> Known;
};

/// Finds the values of `kept` that the layout's arrays can use. `sameOnly`: use only whole arrays of the same
/// blocks, because the arrays have ghost layers or belong to a mesh. `matcher`: made for `layout`. The result
/// refers to arrays of `kept`.
Reuse FindReuse(const BlockLayout& layout, Centering centering, bool sameOnly,
    const std::vector<SharedValues>& kept, BlockMatcher& matcher);

/// Copies the values to `array`, the array of copy.Block. `values`: indices of the values of `array`.
void CopyValues(const ValueCopy& copy, const Box& values, const LoadedArray& array);

/// Returns one flag per array of `old`: true if `now` contains all values of the array that come from files.
/// If `now` and `old` have the same Layout, the flag is true if the array has the same status in `now` and in
/// `old`.
std::vector<bool> ContainedArrays(const KeptValues& now, const KeptValues& old, Centering centering);

/// The values that one rank's read takes from the cache.
class ReusedArrays
{
public:
  /// An array that gets values from other arrays, by the entries First to End - 1 in the list of copies of
  /// its variable.
  struct CopiedArray
  {
    std::size_t Block = 0, Variable = 0;
    std::size_t First = 0, End = 0;
  };

  /// Finds values in `cache`; up to `threads` threads examine the files of these values. Reuses no values if
  /// `cache` is null or `reuse` is false. Keeps references to `catalog` and `requested`.
  ReusedArrays(const Catalog& catalog, const RequestedArrays& requested, std::shared_ptr<ValueCache> cache,
      int threads, bool reuse);

  const std::shared_ptr<const BlockLayout>& Layout() const { return this->SharedLayout; }
  /// Reused values, one entry per variable; an entry is empty if the cache has no values of the variable.
  const std::vector<Reuse>& ReusePerVariable() const { return this->Reused; }
  /// Arrays that get some of their values from other arrays.
  const std::vector<CopiedArray>& Copied() const { return this->CopiedArrays; }
  /// Cached values that this read may use, one list per variable; empty if this object reuses no values.
  const std::vector<std::vector<SharedValues>>& UsedValues() const { return this->Kept; }
  /// Returns `fingerprints` together with the fingerprints of the files of reused values, taken when these
  /// values were read.
  std::shared_ptr<const FileFingerprints> JoinFiles(const FileFingerprints& fingerprints) const;
  /// Adds to the report the number of arrays that come wholly or partly from the cache, and the bytes from
  /// the cache.
  void AddToReport(IoReport& report) const;

  /// Adds the arrays of a read to the cache, which must exist. `arrays`: block by block, variable by
  /// variable. `fingerprints`: fingerprints of the files that were read. `constants`: per variable and
  /// source, whether the values that were read are a constant instead of values in a file; an empty entry:
  /// false for all sources.
  void AddToCache(const std::vector<LoadedArray>& arrays, const FileFingerprints& fingerprints,
      std::vector<std::vector<bool>> constants) const;

private:
  void FindValues(int threads);
  void ListCopies(std::size_t variable);
  void AddKeptConstants(std::size_t variable, std::vector<bool>& constants) const;

  const Catalog& Data;
  const RequestedArrays& Requested;
  const std::shared_ptr<ValueCache> Cache;
  std::shared_ptr<const BlockLayout> SharedLayout;
  std::vector<std::vector<SharedValues>> Kept;  ///< see UsedValues()
  std::vector<Reuse> Reused;
  std::vector<CopiedArray> CopiedArrays;
};

}  // namespace patchio
