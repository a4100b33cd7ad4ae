// How a surface cuts a cell, for each choice of corners on its positive side.
#ifndef Filters_CellCases_h
#define Filters_CellCases_h

#include <array>
#include <vector>

namespace patchio::filters {

/// An edge of a cell: from a corner along one of the cell's axes. Bit t of a corner says whether it lies at
/// the upper end of axis t.
struct CellEdge
{
  int Corner, Axis;
};

/// The polygons of a cell with three axes, the lines of one with two, the point of one with one. Positive
/// corners on a face are kept apart, on both sides alike.
using CellCase = std::vector<std::vector<CellEdge>>;

/// For 0 to 3 axes; by the set of positive corners. Polygons turn so that their normal points to the positive
/// side.
const std::vector<CellCase>& CellCases(int axes);

}  // namespace patchio::filters

#endif
