// What a plotfile has that PatchIO does not show, or shows in another way.
#pragma once

#include <string>
#include <vector>

namespace patchio::amrex {

/// A note each on coordinates other than Cartesian ones, a mapped grid, raw fields and particles, the same
/// for plotfiles that have the same. Looks at the Header's beginning and end, and at the names in its folder.
/// Throws Error when the Header is damaged.
std::vector<std::string> NotesOnLeftOut(const std::string& header);

}  // namespace patchio::amrex
