// The declarations of a simulation (its grid, the patches of all ranks, its variables), the arrays of a step
// on each rank, and the messages by which ranks inform each other of these arrays.
#pragma once

#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchio::output {

/// A patch of one rank: its cells in the index space of its level.
struct DeclaredPatch
{
  std::int32_t Level = 0;
  std::array<std::int32_t, 3> Lower{};  ///< the first cell along each axis
  std::array<std::int32_t, 3> Upper{};  ///< the last cell along each axis
};

/// A variable of the simulation.
struct DeclaredVariable
{
  std::string Name;
  std::string LongName{};  ///< meaning and unit, for the user; may be empty
  ElementType Type = ElementType::Float64;
  int Components = 1;
  Centering Center = Centering::Cell;
  Int3 Ghosts{0, 0, 0};  ///< layers around each patch in the simulation's memory
};

/// The grid, the patches and the variables of a simulation.
class Declaration
{
public:
  /// Sets a grid of ratios.size() levels, and removes all patches. The finest levels may have no patches.
  /// `origin`: position of the lower corner of cell (0, 0, 0). `spacing`: size of the cells of level 0.
  /// ratios[l]: refinement from level l - 1 to l; ratios[0] is not used. Throws Error for invalid values.
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Replaces the patches of this rank by `patches`. Throws Error, the same on all ranks. Collective: every
  /// rank of the communicator calls it.
  void SetPatches(Communicator& ranks, const std::vector<DeclaredPatch>& patches);
  /// Adds a variable. Variables have the numbers 0, 1, ... in the order of the calls. Throws Error.
  void AddVariable(const DeclaredVariable& variable);

  /// The catalog of the patches of all ranks, by level and then by rank, and of the variables.
  const Catalog& Data() const { return this->All; }
  const std::vector<DeclaredVariable>& Variables() const { return this->Declared; }
  /// Returns the names of the variables.
  std::vector<std::string> Names() const;
  /// Returns the declared grid and variables as lines of text. The ranks compare these lines, and messages
  /// quote them.
  std::vector<std::string> Lines() const;
  /// Throws Error if no grid is set.
  void CheckGrid() const;
  /// Numbers of this rank's patches, in the order of their declaration.
  const std::vector<int>& LocalPatches() const { return this->Own; }
  /// Numbers of a rank's patches, ascending.
  const std::vector<int>& PatchesOf(int rank) const;

  bool HasGhosts(int variable) const { return this->Declared[variable].Ghosts != Int3{0, 0, 0}; }
  /// Returns the bytes that a copy of an array takes in a buffer of several arrays. Rounds the number up, so
  /// that the next array is aligned for all types.
  std::uint64_t RoomFor(int variable, int patch) const
  {
    constexpr std::uint64_t unit = sizeof(double);
    return (this->BytesOf(variable, patch) + unit - 1) / unit * unit;
  }
  /// Returns the bytes of a variable on a patch, without ghosts.
  std::uint64_t BytesOf(int variable, int patch) const;
  /// Copies a variable on a patch from the simulation's array `from`, without its ghosts, to `to`. Both
  /// arrays have axis 0 fastest, and the components of a value follow each other.
  void CopyInside(int variable, int patch, const void* from, void* to) const;

  /// Encodes the declaration for other ranks, such as I/O ranks. In the result of Decode(), LocalPatches() is
  /// empty.
  std::vector<std::byte> Encode() const;
  static Declaration Decode(const std::vector<std::byte>& bytes);

private:
  void SortByRank(int ranks);
  std::array<std::int64_t, 3> DimsOf(int variable, int patch, bool ghosts) const;

  Catalog All;
  std::vector<Level> Levels;  ///< all declared levels
  std::vector<DeclaredVariable> Declared;
  std::vector<int> Own;
  std::vector<std::vector<int>> ByRank;
};

/// Throws Error if a rank differs from rank 0 in the numbers or times of `steps` (at least one step), or in
/// the declarations. The Error describes the difference of the first differing rank. Collective: every rank
/// of the communicator calls it.
void CheckSameOnAllRanks(Communicator& ranks, const std::vector<std::pair<std::int64_t, double>>& steps,
    const Declaration& declared);

/// An array of a step: the values of a variable on a patch.
struct ArrayOfStep
{
  int Variable = 0;
  int Patch = 0;  ///< index in the catalog
  const void* Values = nullptr;
  bool Whole = true;            ///< a target needs the whole array; see Target::TakesParts()
  const void* Given = nullptr;  ///< the simulation's array, with ghosts
};

/// Encodes the list of a rank's arrays, sorted by variable and then by patch. `hasAll`: true if each patch
/// has each variable. In this usual case, the result has one byte.
std::string EncodeArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll);
/// Encodes the message that this rank cannot provide its arrays. `fault`: the reason.
std::string EncodeFault(const std::string& fault);

/// Throws Error if `message` is a message of EncodeFault().
void ThrowFaultIn(const std::string& message);

/// Decodes the list that `rank` encoded with EncodeArrays(): its arrays in the same order, without values.
std::vector<ArrayOfStep> DecodeArrays(
    const std::string& message, int rank, const Declaration& declared, const std::vector<bool>& wanted);

}  // namespace patchio::output
