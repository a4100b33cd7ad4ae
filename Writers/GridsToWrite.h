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

/// A grid becomes one piece, several, or none: see FindKeptCells(). flags: used
/// instead of the flags of the grid's cells, unless empty. Throws Error when a container cannot hold it;
/// `notes` gets a sentence for everything that is left out.
std::vector<PieceForm> PiecesOf(const InputGrid& input, const std::vector<unsigned char>& flags,
    const ArrayChoice& isWanted, std::set<std::string>& notes);

/// Adds UncoveredCell to the flags of a piece's refined cells that finer pieces do not cover. covered: 1 for
/// each cell of the piece that finer pieces cover; empty: they cover no cell. flags: see PiecesOf(). Returns
/// whether a flag has changed.
bool MarkUncovered(vtkDataSet* grid, const PieceForm& piece, const std::vector<std::uint8_t>& covered,
    std::vector<unsigned char>& flags);

}  // namespace patchio

#endif
