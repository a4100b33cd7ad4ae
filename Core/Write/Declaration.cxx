#include "Write/Declaration.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Text.h"
#include "Catalog/CheckCatalog.h"
#include "Catalog/Nesting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

namespace patchio::output {
namespace {

constexpr int LargestRatio = 1 << 10, LargestIndex = 1 << 30, MostComponents = 1 << 20;

/// Returns the beginning of a message, such as "Rank 3 declared its patch 0, on level 1,". `patches`: patches
/// of all ranks, by rank. `owners`: rank of each patch. `index`: index of the patch in `patches`.
std::string TextOfPatch(const std::vector<DeclaredPatch>& patches, const std::vector<int>& owners, int index)
{
  const auto first = std::lower_bound(owners.begin(), owners.end(), owners[index]) - owners.begin();
  return fmt::format(
      "Rank {} declared its patch {}, on level {},", owners[index], index - first, patches[index].Level);
}

/// Throws Error if the box of patch `index` has no cells, too many cells or too large indices, or extends
/// along an axis that the grid lacks.
void CheckBox(
    const std::vector<DeclaredPatch>& patches, const std::vector<int>& owners, int index, int dimension)
{
  const DeclaredPatch& patch = patches[index];
  for (int axis = 0; axis < 3; ++axis) {
    const std::int32_t lower = patch.Lower[axis], upper = patch.Upper[axis];
    if (axis < dimension ? lower > upper : lower != 0 || upper != 0) {
      throw Error(fmt::format("{} with cells {} to {} along axis {}: expected {}.",
          TextOfPatch(patches, owners, index), lower, upper, axis,
          axis < dimension ? "a last cell that is not before the first"
                           : "0 to 0, because the grid does not have this axis"));
    }
    if (lower < -LargestIndex || upper > LargestIndex) {
      throw Error(fmt::format("{} with cells {} to {} along axis {}: expected cells between {} and {}.",
          TextOfPatch(patches, owners, index), lower, upper, axis, -LargestIndex, LargestIndex));
    }
  }
  const Box box{patch.Lower, patch.Upper};
  if (const char* const fault = FaultOfBox(dimension, box)) {
    throw Error(fmt::format("{} with {}, {}. Divide the patch into several patches.",
        TextOfPatch(patches, owners, index), fault, TextOf(box)));
  }
}

/// Throws Error if two patches of a level share a cell.
void CheckOverlaps(const Catalog& data)
{
  if (const auto overlap = FindOverlap(data)) {
    const Patch &one = data.Patches[overlap->first], &two = data.Patches[overlap->second];
    throw Error(
        fmt::format("Patches of a level must not overlap, but on level {} rank {} has the cells {}, and "
                    "rank {} the cells {}.",
            one.Level, one.Writer, TextOf(one.Cells), two.Writer, TextOf(two.Cells)));
  }
}

}  // namespace

void Declaration::SetGrid(
    int dimension, const Double3& origin, const Double3& spacing, const std::vector<Int3>& ratios)
{
  if (dimension < 2 || dimension > 3) {
    throw Error(fmt::format(
        "The dimension of a grid must be 2 or 3 (an axis may be a single cell wide), not {}.", dimension));
  }
  if (ratios.empty()) {
    throw Error("A grid must have at least 1 level, not 0.");
  }
  for (int axis = 0; axis < dimension; ++axis) {
    if (!std::isfinite(origin[axis]) || !std::isfinite(spacing[axis]) || spacing[axis] <= 0) {
      throw Error(fmt::format(
          "The grid has the origin {} and the spacing {} along axis {}: expected a finite origin, and a "
          "finite spacing above 0.",
          origin[axis], spacing[axis], axis));
    }
  }
  this->Contents.Dimension = dimension;
  this->Contents.Origin = origin;
  this->Contents.Patches.clear();
  this->Contents.Levels.clear();
  this->OwnPatches.clear();
  this->PatchesByRank.clear();
  this->Levels.clear();
  Double3 size = spacing;
  for (const Int3& ratio : ratios) {
    Level level;
    level.Ratio = this->Levels.empty() ? Int3{1, 1, 1} : ratio;
    for (int axis = 0; axis < 3; ++axis) {
      if (level.Ratio[axis] < 1 || level.Ratio[axis] > (axis < dimension ? LargestRatio : 1)) {
        throw Error(fmt::format("Level {} has the ratio {} to the coarser level along axis {}: expected {}.",
            this->Levels.size(), level.Ratio[axis], axis,
            axis < dimension ? fmt::format("1 to {}", LargestRatio)
                             : "1, because the grid does not have this axis"));
      }
      size[axis] /= level.Ratio[axis];
    }
    level.Spacing = size;
    this->Levels.push_back(level);
  }
}

void Declaration::SetPatches(Communicator& ranks, const std::vector<DeclaredPatch>& patches)
{
  const std::vector<int> counts = ranks.AllGather(std::vector<int>{static_cast<int>(patches.size())});
  const std::vector<DeclaredPatch> all = GatherValues(ranks, patches);
  if (all.empty()) {
    throw Error("No rank has declared a patch. Declare at least one patch.");
  }
  std::vector<int> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return all[a].Level < all[b].Level; });
  std::vector<int> owners;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    owners.insert(owners.end(), counts[rank], static_cast<int>(rank));
  }
  Catalog data = this->Contents;
  data.Patches.clear();
  data.Levels.clear();
  std::vector<int> positions(all.size());
  for (const int i : order) {
    const DeclaredPatch& declared = all[i];
    if (declared.Level < 0 || declared.Level >= static_cast<int>(this->Levels.size())) {
      throw Error(fmt::format("{} but the grid has {} levels, which are counted from 0.",
          TextOfPatch(all, owners, i), this->Levels.size()));
    }
    CheckBox(all, owners, i, data.Dimension);
    while (static_cast<int>(data.Levels.size()) <= declared.Level) {
      data.Levels.push_back(this->Levels[data.Levels.size()]);
      data.Levels.back().FirstPatch = static_cast<int>(data.Patches.size());
    }
    positions[i] = static_cast<int>(data.Patches.size());
    Patch& patch = data.Patches.emplace_back();
    patch.Cells = {declared.Lower, declared.Upper};
    patch.Level = declared.Level;
    patch.Number = data.Levels.back().PatchCount++;
    patch.Writer = owners[i];
  }
  data.ResetPresence();
  const std::string fault = CatchError([&] { CheckCatalog(data); });
  if (!fault.empty()) {
    throw Error("The declared patches cannot be written. " + fault);
  }
  CheckOverlaps(data);
  const auto first = std::find(owners.begin(), owners.end(), ranks.Rank()) - owners.begin();
  this->OwnPatches.assign(
      positions.begin() + first, positions.begin() + first + static_cast<std::ptrdiff_t>(patches.size()));
  this->Contents = std::move(data);
  this->SortByRank(ranks.Size());
}

std::vector<std::string> Declaration::Names() const
{
  std::vector<std::string> names;
  for (const DeclaredVariable& variable : this->DeclaredVariables) {
    names.push_back(variable.Name);
  }
  return names;
}

const std::vector<int>& Declaration::PatchesOf(int rank) const
{
  static const std::vector<int> none;  // for ranks without patches, and before SetPatches()
  return rank < static_cast<int>(this->PatchesByRank.size()) ? this->PatchesByRank[rank] : none;
}

void Declaration::SortByRank(int rankCount)
{
  this->PatchesByRank.assign(rankCount, {});
  for (std::size_t p = 0; p < this->Contents.Patches.size(); ++p) {
    this->PatchesByRank[this->Contents.Patches[p].Writer].push_back(static_cast<int>(p));
  }
}

void Declaration::AddVariable(const DeclaredVariable& variable)
{
  if (variable.Name.empty()) {
    throw Error(fmt::format(
        "Variable {} has an empty name. Give each variable a unique name.", this->DeclaredVariables.size()));
  }
  if (this->Contents.FindVariable(variable.Name) >= 0) {
    throw Error(fmt::format(
        "Two variables have the name '{}'. Give each variable a unique name.", PlainText(variable.Name)));
  }
  const int least = *std::min_element(variable.Ghosts.begin(), variable.Ghosts.end());
  const std::string name = PlainText(variable.Name);
  if (variable.Components < 1 || variable.Components > MostComponents) {
    throw Error(fmt::format(
        "Variable '{}' has {} components: expected 1 to {}.", name, variable.Components, MostComponents));
  }
  const int most = *std::max_element(variable.Ghosts.begin(), variable.Ghosts.end());
  if (least < 0 || most > MostGhosts) {
    throw Error(fmt::format(
        "Variable '{}' has {} ghost layers: expected 0 to {}.", name, least < 0 ? least : most, MostGhosts));
  }
  Variable& entry = this->Contents.Variables.emplace_back();
  entry.Name = variable.Name;
  entry.LongName = variable.LongName;
  entry.Components = variable.Components;
  entry.Center = variable.Center;
  this->DeclaredVariables.push_back(variable);
}

std::vector<std::string> Declaration::Lines() const
{
  const auto three = [](const auto& values) { return fmt::format("({})", fmt::join(values, ", ")); };
  std::vector<std::string> lines{fmt::format("a grid with {} dimensions", this->Contents.Dimension),
      "the origin " + three(this->Contents.Origin), fmt::format("{} levels", this->Levels.size()),
      fmt::format("{} patches on all ranks", this->Contents.Patches.size())};
  for (const Level& level : this->Levels) {
    lines.push_back(fmt::format("level {} with cells of {} and the ratio {}", &level - this->Levels.data(),
        three(level.Spacing), three(level.Ratio)));
  }
  for (const DeclaredVariable& variable : this->DeclaredVariables) {
    lines.push_back(fmt::format("variable {} '{}' of type {} with {} at {}",
        &variable - this->DeclaredVariables.data(), PlainText(variable.Name), NameOf(variable.Type),
        CountText(variable.Components, "component"), variable.Center == Centering::Node ? "nodes" : "cells"));
  }
  return lines;
}

void Declaration::CheckGrid() const
{
  if (this->Levels.empty()) {
    throw Error("patchio_patches() needs a grid. Call patchio_grid() before patchio_patches().");
  }
}

std::array<std::int64_t, 3> Declaration::DimsOf(int variable, int patch, bool ghosts) const
{
  const DeclaredVariable& info = this->DeclaredVariables[variable];
  return this->Contents.ArrayDims(patch, info.Center, ghosts ? info.Ghosts : Int3{0, 0, 0});
}

std::uint64_t Declaration::BytesOf(int variable, int patch) const
{
  const auto dims = this->DimsOf(variable, patch, false);
  const DeclaredVariable& info = this->DeclaredVariables[variable];
  return static_cast<std::uint64_t>(dims[0] * dims[1] * dims[2]) * info.Components * SizeOf(info.Type);
}

void Declaration::CopyWithoutGhosts(int variable, int patch, const void* from, void* to) const
{
  const auto inner = this->DimsOf(variable, patch, false), outer = this->DimsOf(variable, patch, true);
  if (inner == outer) {
    std::memcpy(to, from, this->BytesOf(variable, patch));
    return;
  }
  const DeclaredVariable& info = this->DeclaredVariables[variable];
  const std::size_t value = info.Components * SizeOf(info.Type);
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  std::array<std::int64_t, 3> layers;  // 0 along axes that the grid lacks
  for (int axis = 0; axis < 3; ++axis) {
    layers[axis] = (outer[axis] - inner[axis]) / 2;
  }
  for (std::int64_t k = 0; k < inner[2]; ++k) {
    for (std::int64_t j = 0; j < inner[1]; ++j) {
      const std::int64_t row = ((k + layers[2]) * outer[1] + j + layers[1]) * outer[0] + layers[0];
      std::memcpy(target, source + row * value, inner[0] * value);
      target += inner[0] * value;
    }
  }
}

namespace {

/// Return references to the transferred members, in the order in which Encode() writes the members.
template <typename Data>
auto MembersOfGrid(Data& data)
{
  return std::tie(data.Dimension, data.Origin, data.Levels, data.Patches);
}
template <typename Declared>
auto MembersOfVariable(Declared& variable)
{
  return std::tie(variable.Name, variable.LongName, variable.Type, variable.Components, variable.Center);
}

}  // namespace

std::vector<std::byte> Declaration::Encode() const
{
  ByteWriter out;
  out.Append(MembersOfGrid(this->Contents));
  out.Append(this->PatchesByRank.size());
  out.Append(this->DeclaredVariables.size());
  for (const DeclaredVariable& variable : this->DeclaredVariables) {
    out.Append(MembersOfVariable(variable));
  }
  return out.Release();
}

Declaration Declaration::Decode(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  Declaration result;
  in.Get(MembersOfGrid(result.Contents));
  const auto rankCount = in.Get<std::size_t>();
  for (auto left = in.Get<std::size_t>(); left > 0; --left) {
    DeclaredVariable variable;
    in.Get(MembersOfVariable(variable));
    result.AddVariable(variable);
  }
  result.Contents.ResetPresence();
  result.SortByRank(static_cast<int>(rankCount));
  return result;
}

void CheckSameOnAllRanks(Communicator& ranks, const std::vector<std::pair<std::int64_t, double>>& steps,
    const Declaration& declared)
{
  std::vector<std::string> lines;
  for (const auto& [number, time] : steps) {
    lines.insert(lines.end(), {fmt::format("step {}", number), fmt::format("the time {}", time)});
  }
  const std::vector<std::string> more = declared.Lines();
  lines.insert(lines.end(), more.begin(), more.end());
  const auto difference = CompareLines(ranks, lines);
  if (!difference) {
    return;
  }
  const std::vector<std::string>& first = difference->First;
  std::size_t step = std::min(difference->Line, first.size() - 1);
  while (step > 0 && first[step].rfind("step ", 0) != 0) {
    --step;
  }
  const auto textOf = [line = difference->Line](const std::vector<std::string>& all) {
    return line < all.size() ? all[line] : std::string("no further variable");
  };
  throw Error(fmt::format("Step {} differs between ranks: rank 0 has {}, but rank {} has {}.",
      first[step].substr(5), textOf(first), difference->Rank, textOf(difference->Other)));
}

namespace {

enum MessageType : char
{
  Fault = 'f',
  All = 'a',
  Some = 's'
};

}  // namespace

std::string EncodeArrays(const std::vector<ArrayOfStep>& arrays, bool hasAll)
{
  if (hasAll) {
    return std::string(1, MessageType::All);
  }
  std::vector<std::array<int, 2>> there;
  for (const ArrayOfStep& array : arrays) {
    there.push_back({array.Variable, array.Patch});
  }
  return char(MessageType::Some) + PackValues(there);
}

std::string EncodeFault(const std::string& fault)
{
  return char(MessageType::Fault) + fault;
}

void ThrowIfFault(const std::string& message)
{
  if (message[0] == MessageType::Fault) {
    throw Error(message.substr(1));
  }
}

std::vector<ArrayOfStep> DecodeArrays(
    const std::string& message, int rank, const Declaration& declared, const std::vector<bool>& selected)
{
  std::vector<ArrayOfStep> arrays;
  for (const auto& [variable, patch] : UnpackValues<std::array<int, 2>>({message.substr(1)})) {
    arrays.push_back({variable, patch});
  }
  for (std::size_t variable = 0; variable < selected.size() && message[0] == MessageType::All; ++variable) {
    for (const int patch : selected[variable] ? declared.PatchesOf(rank) : std::vector<int>()) {
      arrays.push_back({static_cast<int>(variable), patch});
    }
  }
  return arrays;
}

}  // namespace patchio::output
