#include "Io/SparseMaterials.h"

#include <cassert>

namespace patchio {
namespace {

struct MixArrays
{
  const std::int32_t* Material;
  const std::int32_t* Next;
  const float* Fraction;
  std::int64_t Count;
};

/// Follows one cell's chain of materials, taking its length off `steps`; false when that runs out.
bool FractionInChain(
    const MixArrays& mix, std::int64_t entry, int material, std::int64_t& steps, float& fraction)
{
  fraction = 0;
  while (steps-- > 0) {
    if (entry < 0 || entry >= mix.Count) {
      return false;
    }
    if (mix.Material[entry] == material) {
      fraction += mix.Fraction[entry];
    }
    if (mix.Next[entry] == 0) {
      return true;
    }
    entry = std::int64_t(mix.Next[entry]) - 1;
  }
  return false;
}

}  // namespace

bool DecodeSparseFractions(const std::int32_t* materials, std::int64_t materialCount,
    const std::int32_t* mixMaterial, const std::int32_t* mixNext, const float* mixFraction,
    std::int64_t mixCount, int material, std::int64_t cells, float* output)
{
  assert(materialCount == cells || materialCount == 1);
  const MixArrays mix{mixMaterial, mixNext, mixFraction, mixCount};
  // Chains in a sound file are short; a circle, or long chains shared by many cells, must not cost much.
  std::int64_t steps = mixCount + 16 * cells;
  for (std::int64_t cell = 0; cell < cells; ++cell) {
    const std::int32_t number = materials[materialCount == 1 ? 0 : cell];
    if (number >= 0) {
      output[cell] = number == material ? 1.0f : 0.0f;
    } else if (!FractionInChain(mix, -(std::int64_t(number) + 1), material, steps, output[cell])) {
      return false;
    }
  }
  return true;
}

}  // namespace patchio
