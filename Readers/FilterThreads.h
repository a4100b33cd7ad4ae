// Threads for VTK's filters: contour, gradient, surface and others work in the process that reads.
#ifndef FilterThreads_h
#define FilterThreads_h

#include "Support/Communicator.h"

#include <string>

namespace patchio {

/// Collective. Cores of this machine that this process may use, for each of its ranks; at least 1.
int CoresOfRank(Communicator& ranks);

/// Cells of a block, on the average, from which on threads pay. VTK 9.2 starts threads anew for each loop
/// over a block: slices of blocks of 32^3 cells take longer with them, no filter of blocks of 64^3 does
/// (`./dev bench filters`).
constexpr double CellsWorthThreads = 100000;

/// For all filters of this process from now on: up to `threads` threads by vtkSMPTools' backend STDThread,
/// or, with 1, one as before. A backend that somebody else chose, and any that is not "Sequential", stays as
/// it is. Gives what is in force now, in words.
std::string SetFilterThreads(int threads);

}  // namespace patchio

#endif
