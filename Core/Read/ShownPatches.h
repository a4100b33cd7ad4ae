// Which patches of a time step a read shows, and which of them it reads.
#pragma once

#include "Catalog/Catalog.h"
#include "Read/ReadRequest.h"

#include <cstddef>
#include <string>
#include <vector>

namespace patchio {

/// Those of the levels that are wanted, until they are known to be idle or broken. The same on all ranks that
/// are told the same.
class ShownPatches
{
public:
  /// Keeps a reference to `catalog`.
  ShownPatches(const Catalog& catalog, const StepOptions& options);

  /// Levels that are no part of the wanted grids are not shown; see LevelsLeftOut(). Throws Error where there
  /// is no such grid.
  void LeaveOutGrids(const std::vector<int>& variables);
  /// These cannot be read. True when any of them was shown until now.
  bool LeaveOutBroken(const std::vector<int>& patches);

  /// One flag per patch.
  const std::vector<bool>& Flags() const { return this->Shown; }
  /// One flag per patch: shown, and of interest by its place and its values. What is not still hides what it
  /// covers: coarse values in place of finer ones that were not asked for would be another picture.
  std::vector<bool> ToRead() const;
  /// The same, whatever values a patch has.
  std::vector<bool> InRegion() const;

  /// What to say where there are patches, but none is shown; else empty.
  std::string EmptyText() const;
  /// How many were shown before they were known to be broken.
  std::size_t Broken() const { return this->BrokenCount; }
  /// How many are shown and not read, in words; empty when there are none.
  std::string LeftOutText() const;

private:
  const Catalog* Data;
  int FirstLevel, LastLevel;
  std::string Grids;
  std::vector<bool> Shown;
  std::vector<bool> Near;        ///< of interest by its place
  std::vector<bool> WithValues;  ///< of interest by its values; empty: all of them
  std::size_t BrokenCount = 0;
};

}  // namespace patchio
