// What the user wants to see.
#pragma once

#include "Catalog/Catalog.h"
#include "Plan/Blocks.h"
#include "Plan/Grids.h"
#include "Plan/Interest.h"

#include <string>
#include <tuple>
#include <vector>

namespace patchio {

/// What becomes of lists of points.
enum class PointForm
{
  Points,
  Image,
  Automatic  ///< an image where that is not much larger than the list
};

struct UpdateOptions
{
  int FirstLevel = 0, LastLevel = 0;
  std::string Grids = AutomaticGrid;  ///< see LevelsLeftOut()
  Int3 Ghosts{0, 0, 0};               ///< layers to keep of those in the files; patches stay as they are then
  bool HideRefined = true;            ///< hide cells under finer patches
  bool SkipBroken = false;            ///< leave out what cannot be read
  bool GhostLayer = false;            ///< one layer of cells from neighbours around each block
  PointForm PointLists = PointForm::Automatic;
  bool HideUndefined = true;  ///< hide points that are undefined in all arrays of their block
  bool Sphere = false;        ///< put geographic grids on a sphere
  bool PatchIds = false;      ///< cell arrays that say which patch a cell is from
  bool Vectors = true;        ///< arrays of the vectors of VectorsAmong(), too
  bool Partial = false;       ///< blocks lack arrays of variables that their patches lack
  RegionOfInterest Region;
  std::vector<bool> WithValues;  ///< per patch: see PatchesWithValues(); empty: all of them
  BlockOptions Blocks;
  int Piece = 0, Pieces = 1;  ///< which part of all blocks this rank reads

  bool operator==(const UpdateOptions& other) const
  {
    const auto tie = [](const UpdateOptions& o) {
      return std::tie(o.FirstLevel, o.LastLevel, o.Grids, o.Ghosts, o.HideRefined, o.SkipBroken, o.GhostLayer,
          o.PointLists, o.HideUndefined, o.Sphere, o.PatchIds, o.Vectors, o.Partial, o.Region.Kind,
          o.Region.Lower, o.Region.Upper, o.Region.Origin, o.Region.Normal, o.WithValues, o.Blocks.Merge,
          o.Blocks.Cover.MostCells, o.Blocks.Cover.CellsWorthABox, o.Piece, o.Pieces);
    };
    return tie(*this) == tie(other);
  }
};

}  // namespace patchio
