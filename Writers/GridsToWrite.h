// The pieces that the grids of this rank become.
#ifndef GridsToWrite_h
#define GridsToWrite_h

#include "ArraysToWrite.h"
#include "InputTree.h"
#include "PieceForm.h"

#include <set>
#include <string>
#include <vector>

namespace patchio {

/// A grid becomes one piece, several, or none: see FindKeptCells(). Throws Error when a container cannot hold
/// it; `notes` gets a sentence for everything that is left out.
std::vector<PieceForm> PiecesOf(
    const InputGrid& input, const ArrayChoice& isWanted, std::set<std::string>& notes);

}  // namespace patchio

#endif
