// Materials in the sparse form of Silo, which SAMRAI writes.
#pragma once

#include <cstdint>

namespace patchio {

/// Volume fraction of one material from Silo's sparse form.
///
/// materials: one number per cell, or a single one for a patch of one material. A number >= 0 is the
/// material that fills the cell; a negative one is -(index+1) into the mix arrays, which all have
/// `mixCount` entries: the material, its fraction, and the 1-based index of the cell's next entry (0 ends the
/// chain). Returns false when an index lies outside, or a chain does not end.
bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output);

}  // namespace patchio
