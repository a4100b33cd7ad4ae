// Threads for VTK's filters, such as contour, gradient and surface, which run in the process that reads.
#ifndef FilterThreads_h
#define FilterThreads_h

#include "Support/Communicator.h"

#include <string>

namespace patchio {

/// Collective. The cores of this machine for each of its ranks; at least 1.
int CoresOfRank(Communicator& ranks);

/// Threads pay from this number of cells in a block, on average. VTK 9.2 starts threads for each loop over a
/// block: with them, slices of blocks of 32^3 cells take longer, but no filter of blocks of 64^3 cells does
/// (`./dev bench filters`).
constexpr double CellsWorthThreads = 100000;

/// Lets all filters of this process use up to `threads` threads from now on, by vtkSMPTools' backend
/// STDThread; 1: one as before. A backend other than "Sequential" that this function has not chosen stays in
/// force. Returns what is in force now, in words.
std::string SetFilterThreads(int threads);

}  // namespace patchio

#endif
