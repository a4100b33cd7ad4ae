// What a read takes from the value cache, and what it leaves there.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/BlockLayout.h"
#include "Read/FilesSeen.h"
#include "Read/LoadRequest.h"
#include "Read/Reuse.h"
#include "Read/ValueCache.h"
#include "Tuning/IoReport.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace patchio {

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
