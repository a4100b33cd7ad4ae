// What the user wants to see.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"
#include "Plan/Interest.h"

#include <tuple>
#include <vector>

namespace patchio {

struct UpdateOptions
{
  int FirstLevel = 0, LastLevel = 0;
  Int3 Ghosts{0, 0, 0};        ///< layers to keep of those in the files; patches stay as they are then
  bool HideRefined = true;     ///< hide cells under finer patches
  bool SkipBroken = false;     ///< leave out what cannot be read
  bool GhostLayer = false;     ///< one layer of cells from neighbours around each block
  bool PointsAsImage = false;  ///< lists of points become images
  bool HideUndefined = true;   ///< hide points that are undefined in all arrays of their block
  bool Sphere = false;         ///< put geographic grids on a sphere
  bool PatchIds = false;       ///< cell arrays that say which patch a cell is from
  RegionOfInterest Region;
  std::vector<bool> WithValues;  ///< per patch: see PatchesWithValues(); empty: all of them
  BlockOptions Blocks;
  int Piece = 0, Pieces = 1;  ///< which part of all blocks this rank reads

  bool operator==(const UpdateOptions& other) const
  {
    const auto tie = [](const UpdateOptions& o) {
      return std::tie(o.FirstLevel, o.LastLevel, o.Ghosts, o.HideRefined, o.SkipBroken, o.GhostLayer,
          o.PointsAsImage, o.HideUndefined, o.Sphere, o.PatchIds, o.Region.Kind, o.Region.Lower,
          o.Region.Upper, o.Region.Origin, o.Region.Normal, o.WithValues, o.Blocks.Merge,
          o.Blocks.Cover.MostCells, o.Blocks.Cover.CellsWorthABox, o.Piece, o.Pieces);
    };
    return tie(*this) == tie(other);
  }
};

}  // namespace patchio
