// Which pieces of the input are a level of the container.
#ifndef PieceLevels_h
#define PieceLevels_h

#include "PieceForm.h"

#include <string>
#include <vector>

namespace patchio {

struct LevelOfPieces
{
  LevelRole Role = LevelRole::Refinement;
  Int3 Ratio{1, 1, 1};
  std::string Name;          ///< of the block that all its pieces are in; empty where there is none
  std::vector<int> Members;  ///< indices into the pieces; all of one cell size, and flat along the same axes
};

/// See MakeStepCatalog(); at least one piece.
std::vector<LevelOfPieces> LevelsOf(const std::vector<PieceForm>& pieces);

}  // namespace patchio

#endif
