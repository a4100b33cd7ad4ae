// The file Cell_H of a level: its boxes, and where each one's values begin.
#pragma once

#include "Catalog/ValueRange.h"
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/AMReX/AmrexText.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchio::amrex {

struct MultiFabHeader
{
  bool FabHeaders = true;  ///< false: the values begin where the FAB does
  RealKind Kind;           ///< without FAB headers only; with them each one says
  int Components = 0;
  Int3 Ghosts{0, 0, 0};
  Int3 NodeCentred{0, 0, 0};           ///< of all boxes
  std::vector<Box> Boxes;              ///< of cells or nodes, without ghosts
  std::vector<std::string> Files;      ///< names beside Cell_H, each once
  std::vector<int> FileOfBox;          ///< index into Files
  std::vector<std::uint64_t> Offsets;  ///< of each box's FAB in its file
};

/// `prefix` is the path of the file without "_H". Throws Error when something in it cannot be, or when there
/// are not `boxes` boxes. What it allocates is bounded by the size of the file.
MultiFabHeader ReadMultiFabHeader(const std::string& prefix, int dimension, std::int64_t boxes);

/// Least and greatest value of a component on each box, where the file says; else empty. The file must be one
/// that ReadMultiFabHeader() accepts.
std::vector<ValueRange> ReadMultiFabRanges(
    const std::string& prefix, int dimension, std::int64_t boxes, int component);

}  // namespace patchio::amrex
