// Values that were read, kept so that they need not be read again.
#pragma once

#include "Catalog/Catalog.h"
#include "Io/MemoryPool.h"
#include "Plan/BlockLayout.h"
#include "Read/FilesSeen.h"
#include "Read/LoadRequest.h"

#include <cstddef>
#include <cstdint>
#include <list>
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

}  // namespace patchio
