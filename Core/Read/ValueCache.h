// Values that were read, kept so that they need not be read again, and what a read takes from them.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/MemoryPool.h"
#include "Plan/BlockLayout.h"
#include "Read/FilesSeen.h"
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

/// Which values: those of a variable, in the form in which it was wanted, at a step. Time-invariant variables
/// are the same at all steps of their file.
struct ValueKey
{
  std::string Path;  ///< Catalog::Path
  int StepInFile = 0;
  VariableRequest Variable;
  Centering Center = Centering::Cell;

  bool operator==(const ValueKey& other) const;
};

ValueKey KeyOfValues(const Catalog& catalog, const VariableRequest& variable);

/// The arrays of one variable that were shown together. They share the memory with the arrays on display, and
/// nobody changes the values.
struct KeptValues
{
  std::shared_ptr<const BlockLayout> Layout;
  std::vector<LoadedArray> Arrays;  ///< one a block; Read, Absent, or NotRead where there is none
  /// Per source of the layout: its values are a constant that is in no file and has taken the array's type.
  /// Empty: there are none such.
  std::vector<bool> Constants;
  std::shared_ptr<const FilesSeen> Files;  ///< what the values are from
};

using SharedValues = std::shared_ptr<const KeptValues>;

/// Keeps the values of one rank by variable and step. What is dropped is what was shown least recently; the
/// memory goes back to its pool unless it is on display. Thread-safe.
class ValueCache
{
public:
  /// bytes: most memory that values may take besides those on display; less than 0: a quarter of what the
  /// machine would have free without them, divided by the ranks on it.
  void SetLimit(std::int64_t bytes, int ranksOnMachine);

  /// What is kept of these values, the latest first; none from files that are not as they were.
  std::vector<std::vector<SharedValues>> Find(const std::vector<ValueKey>& keys, int threads);

  /// Makes room for `bytes` more from `pool`: drops values until the others stay within the limit and the
  /// memory suffices. `used` stay. ahead: what is shown stays too, and a tenth of the pool's limit shall be
  /// left. False when the memory does not suffice nevertheless.
  bool MakeRoom(const MemoryPool& pool, double bytes, const std::vector<std::vector<SharedValues>>& used,
      bool ahead = false);

  /// What is kept from now on is what is shown.
  void BeginShowing();
  /// Keeps what has just been read. What the new arrays have of what was kept before is kept once.
  void Keep(const ValueKey& key, KeptValues values);

  /// The layout that arrays were kept with, if it is of these blocks; else null.
  std::shared_ptr<const BlockLayout> FindLayout(const std::vector<Block>& blocks, bool nodes) const;

  /// Memory that is kept in use, what is on display too.
  std::uint64_t Bytes() const;
  void Clear();

private:
  struct Entry
  {
    ValueKey Key;
    SharedValues Values;
    std::uint64_t Bytes = 0;  ///< of the segments that the arrays lie in
    bool Shown = false;
  };

  void DropChanged(const std::vector<ValueKey>& keys, int threads);
  double Limit(const MemoryPool& pool, double others, double bytes) const;

  mutable std::mutex Lock;
  std::list<Entry> Entries;  ///< the least recently used first
  std::int64_t GivenLimit = -1;
  int RanksOnMachine = 1;
};

/// Values of an array that is there that also belong to an array to be made.
struct ValueCopy
{
  std::uint32_t Block = 0;  ///< whose array it is to be
  const LoadedArray* From = nullptr;
  Box FromValues;       ///< indices of the values of From
  Box Region;           ///< indices of the values wanted, in the level of Block
  Int3 Ratio{1, 1, 1};  ///< of that level to From's
};

/// What is reused of one variable.
struct Reuse
{
  std::vector<const LoadedArray*> Same;  ///< per block: the very array; null: there is none
  std::vector<ValueCopy> Copies;         ///< for the other blocks, in their order
  std::vector<std::size_t> First;        ///< of each source of the layout in Rest, and the end
  std::vector<Placement> Rest;           ///< what must be read
};

/// Finds equal blocks; remembers what it has found.
class BlockMatcher
{
public:
  explicit BlockMatcher(const BlockLayout& layout) : Layout(layout) {}
  /// For each block of the layout its number in the other one, or -1.
  const std::vector<int>& NumbersIn(const BlockLayout& other);

private:
  const BlockLayout& Layout;
  std::map<const BlockLayout*, std::vector<int>> Known;
};

/// sameOnly: parts of arrays do not help, as these have layers of their own.
Reuse FindReuse(const BlockLayout& layout, Centering centering, bool sameOnly,
    const std::vector<SharedValues>& kept, BlockMatcher& matcher);

/// Brings the values to `array`, the one of copy.Block, whose values have the indices `values`.
void CopyValues(const ValueCopy& copy, const Box& values, const LoadedArray& array);

/// Per array of `old`: whether `now` has all its values that are from files.
std::vector<bool> ArraysIn(const KeptValues& now, const KeptValues& old, Centering centering);

/// Belongs to one rank's read. Without a cache it finds nothing and keeps nothing.
class ReusedArrays
{
public:
  /// An array with values from others: copies First .. End - 1 of its variable.
  struct CopiedArray
  {
    std::size_t Block = 0, Variable = 0;
    std::size_t First = 0, End = 0;
  };

  /// Keeps references to catalog and `wanted`. cache: may be null. reuse: looks into the cache, with
  /// `threads` that look at files.
  ReusedArrays(const Catalog& catalog, const WantedArrays& wanted, std::shared_ptr<ValueCache> cache,
      int threads, bool reuse);

  const std::shared_ptr<const BlockLayout>& Layout() const { return this->SharedLayout; }
  /// Per variable; empty where nothing of it is kept.
  const std::vector<Reuse>& OfVariables() const { return this->Reused; }
  /// Arrays that get some of their values from others.
  const std::vector<CopiedArray>& Copied() const { return this->CopiedArrays; }
  /// The cached values that are used.
  const std::vector<std::vector<SharedValues>>& Used() const { return this->Kept; }
  /// `seen` with the files that reused values are from, as they were then.
  std::shared_ptr<const FilesSeen> JoinFiles(const FilesSeen& seen) const;
  /// Bytes and number of the arrays that the cache has, or has a part of.
  void Count(IoReport& report) const;

  /// Puts the arrays of a read into the cache, which there is. arrays: block by block, variable by variable.
  /// seen: the files that were read. constants: per variable, per source, whether the values that were read
  /// are in no file; empty: none are.
  void Keep(const std::vector<LoadedArray>& arrays, const FilesSeen& seen,
      std::vector<std::vector<bool>> constants) const;

private:
  void Find(int threads);
  void ListCopies(std::size_t variable);
  void AddKeptConstants(std::size_t variable, std::vector<bool>& constants) const;

  const Catalog& Data;
  const WantedArrays& Wanted;
  const std::shared_ptr<ValueCache> Cache;
  std::shared_ptr<const BlockLayout> SharedLayout;
  std::vector<std::vector<SharedValues>> Kept;  ///< per variable; empty: there is no cache
  std::vector<Reuse> Reused;
  std::vector<CopiedArray> CopiedArrays;
};

}  // namespace patchio
