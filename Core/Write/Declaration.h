// What a simulation has declared: its grid, the patches of all ranks, its variables.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Extent.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchio::output {

/// A rank's patch: its cells in the index space of its level.
struct DeclaredPatch
{
  std::int32_t Level = 0;
  std::array<std::int32_t, 3> Lower{};  ///< the first cell along each axis
  std::array<std::int32_t, 3> Upper{};  ///< the last one
};

struct DeclaredVariable
{
  std::string Name;
  std::string LongName{};  ///< what it is and its unit, for people; may be empty
  ElementType Type = ElementType::Float64;
  int Components = 1;
  Centering Center = Centering::Cell;
  Int3 Ghosts{0, 0, 0};  ///< layers around each patch in the simulation's memory
};

class Declaration
{
public:
  /// A grid of `levels` levels, of which the finest may be without patches. Level l has cells of `spacing`
  /// divided by the ratios of the levels up to l. Forgets patches. Throws Error.
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Collective: the patches of this rank, in place of those before. Throws Error, the same on all ranks.
  void SetPatches(Communicator& ranks, const std::vector<DeclaredPatch>& mine);
  /// Variables have the numbers 0, 1, ... in the order in which they are added. Throws Error.
  void AddVariable(const DeclaredVariable& variable);

  /// All ranks' patches by level and then by rank, and the variables; nothing has values.
  const Catalog& Data() const { return this->All; }
  const std::vector<DeclaredVariable>& Variables() const { return this->Declared; }
  /// Those of the variables.
  std::vector<std::string> Names() const;
  /// The grid and the variables, which must be alike on all ranks, as messages show them.
  std::vector<std::string> Lines() const;
  /// Throws Error when there is no grid yet.
  void CheckGrid() const;
  /// This rank's patches, in the order in which it declared them.
  const std::vector<int>& Mine() const { return this->Own; }
  /// Any rank's, ascending.
  const std::vector<int>& PatchesOf(int rank) const;

  bool HasGhosts(int variable) const { return this->Declared[variable].Ghosts != Int3{0, 0, 0}; }
  /// Bytes that a copy of an array takes among others: the next one begins where numbers of all types may.
  std::uint64_t RoomFor(int variable, int patch) const
  {
    constexpr std::uint64_t unit = sizeof(double);
    return (this->BytesOf(variable, patch) + unit - 1) / unit * unit;
  }
  /// Bytes of a variable on a patch, without ghosts.
  std::uint64_t BytesOf(int variable, int patch) const;
  /// Copies a variable of a patch out of the simulation's array: both have axis 0 fastest and components side
  /// by side, and the target has no ghosts.
  void CopyInside(int variable, int patch, const void* from, void* to) const;

  /// For ranks that have no part in it: what Decode() gives has no patches of its own.
  std::vector<std::byte> Encode() const;
  static Declaration Decode(const std::vector<std::byte>& bytes);

private:
  void SortByRank(int ranks);
  std::array<std::int64_t, 3> DimsOf(int variable, int patch, bool ghosts) const;

  Catalog All;
  std::vector<Level> Levels;  ///< all that were declared
  std::vector<DeclaredVariable> Declared;
  std::vector<int> Own;
  std::vector<std::vector<int>> ByRank;
};

/// Collective: throws Error that says in what the first rank that differs from rank 0 does so: in the numbers
/// or times of these steps, at least one, or in what was declared before them. Returns if none differs.
void CheckSameOnAllRanks(Communicator& ranks, const std::vector<std::pair<std::int64_t, double>>& steps,
    const Declaration& declared);

}  // namespace patchio::output
