// The declarations of a simulation (the grid, the patches of all ranks, the variables), the arrays of a step
// on each rank, and the messages in which the ranks list their arrays.
#pragma once

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Catalog/Catalog.h"
#include "Catalog/Location.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchio::output {

/// A patch that a rank declares: a box of cells in the index space of a level.
struct DeclaredPatch
{
  std::int32_t Level = 0;
  std::array<std::int32_t, 3> Lower{};  ///< the first cell along each axis
  std::array<std::int32_t, 3> Upper{};  ///< the last cell along each axis
};

/// A variable of the simulation, with an array on each patch that has the variable.
struct DeclaredVariable
{
  std::string Name;
  std::string LongName{};  ///< meaning and unit, for users; may be empty
  ElementType Type = ElementType::Float64;
  int Components = 1;
  Centering Center = Centering::Cell;
  Int3 Ghosts{0, 0, 0};  ///< ghost layers around each patch in the simulation's arrays, by axis
};

/// The grid, the patches and the variables of a simulation.
class Declaration
{
public:
  /// Sets a grid of ratios.size() levels, and removes all patches. The finest levels may have no patches.
  /// `origin`: position of the lower corner of cell (0, 0, 0). `spacing`: size of the cells of level 0.
  /// ratios[l]: refinement ratio from level l - 1 to level l; ratios[0] is ignored. Throws Error for invalid
  /// values.
  void SetGrid(int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios);
  /// Replaces the patches of all ranks. `patches`: patches of this rank. Throws Error, the same on all ranks,
  /// for invalid patches, for overlaps, and if no rank has a patch. Collective: every rank of the
  /// communicator calls it.
  void SetPatches(Communicator& ranks, const std::vector<DeclaredPatch>& patches);
  /// Adds a variable. Variables have the numbers 0, 1, ... in the order of the calls. Throws Error for an
  /// invalid variable, or if the name is in use.
  void AddVariable(const DeclaredVariable& variable);

  /// Returns the catalog: the variables, and the patches of all ranks, sorted by level and then by rank.
  const Catalog& Data() const { return this->Contents; }
  const std::vector<DeclaredVariable>& Variables() const { return this->DeclaredVariables; }
  std::vector<std::string> Names() const;
  /// Returns a description of the grid, the number of patches and the variables, one property per line.
  /// CheckSameOnAllRanks() compares the lines of the ranks, and quotes a line in its message.
  std::vector<std::string> Lines() const;
  /// Throws Error if no grid is set.
  void CheckGrid() const;
  /// Returns the indices of this rank's patches in the catalog, in the order of SetPatches().
  const std::vector<int>& LocalPatches() const { return this->OwnPatches; }
  /// Returns the indices of a rank's patches in the catalog, ascending.
  const std::vector<int>& PatchesOf(int rank) const;

  bool HasGhosts(int variable) const { return this->DeclaredVariables[variable].Ghosts != Int3{0, 0, 0}; }
  /// Returns the size, in bytes, of a variable's values on a patch in a buffer of several arrays: BytesOf(),
  /// rounded up so that the next array is aligned for all types.
  std::uint64_t AlignedBytesOf(int variable, int patch) const
  {
    return RoundUp(this->BytesOf(variable, patch), sizeof(double));
  }
  /// Returns the size, in bytes, of a variable's values on a patch, without ghosts.
  std::uint64_t BytesOf(int variable, int patch) const;
  /// Copies the values of a variable on a patch, without ghosts. `from`: the simulation's array, with ghosts.
  /// `to`: memory for BytesOf() bytes. In both arrays, axis 0 is the fastest, and the components of a value
  /// are adjacent.
  void CopyWithoutGhosts(int variable, int patch, const void* from, void* to) const;

  /// Encodes the declaration for I/O ranks. In the result of Decode(), LocalPatches() is empty, the variables
  /// have no ghosts, and CheckGrid() throws.
  std::vector<std::byte> Encode() const;
  static Declaration Decode(const std::vector<std::byte>& bytes);

private:
  void SortByRank(int rankCount);
  std::array<std::int64_t, 3> DimsOf(int variable, int patch, bool ghosts) const;

  Catalog Contents;
  std::vector<Level> Levels;  ///< all declared levels; the finest levels may have no patches
  std::vector<DeclaredVariable> DeclaredVariables;
  std::vector<int> OwnPatches;
  std::vector<std::vector<int>> PatchesByRank;
};

/// Throws Error, the same on all ranks, if a rank differs from rank 0 in `steps` (number and time of each
/// step; at least one step) or in Declaration::Lines(). The Error describes the difference of the first
/// differing rank. Collective: every rank of the communicator calls it.
void CheckSameOnAllRanks(Communicator& ranks, const std::vector<std::pair<std::int64_t, double>>& steps,
    const Declaration& declared);

/// An array of a step: the values of a variable on a patch.
struct ArrayOfStep
{
  int Variable = 0;
  int Patch = 0;                   ///< index in the catalog
  const void* Values = nullptr;    ///< values without ghosts, or Original if the array has no copy
  bool IsNeededWhole = true;       ///< true: a target needs the whole array; see Target::CopiesParts()
  const void* Original = nullptr;  ///< the simulation's array, with ghosts; null on an I/O rank
};

/// Encodes the list of a rank's arrays. `arrays`: sorted by variable and then by patch. `hasAll`: true if
/// each patch of the rank has each variable that a channel of the step writes; the result then has one byte.
std::string EncodeArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll);
/// Encodes the reason `fault` why a rank cannot provide its arrays, in place of the result of EncodeArrays().
std::string EncodeFault(const std::string& fault);

/// Throws Error with the reason if `message` is a result of EncodeFault().
void ThrowIfFault(const std::string& message);

/// Decodes the list that rank `rank` has encoded with EncodeArrays(). `message` must not be a fault.
/// `selected`: one flag per variable, whether a channel writes the variable. Returns the arrays in the order
/// of the list, without values.
std::vector<ArrayOfStep> DecodeArrays(
    const std::string& message, int rank, const Declaration& declared, const std::vector<bool>& selected);

}  // namespace patchio::output
