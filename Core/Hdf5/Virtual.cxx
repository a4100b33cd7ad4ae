#include "Hdf5/Virtual.h"

#include <fmt/format.h>

namespace patchio::hdf5 {
namespace {

[[noreturn]] void FailSelection()
{
  throw Unsupported("virtual data set of parts that are not blocks");
}

std::uint64_t ParseRank(Cursor& cursor)
{
  const auto rank = cursor.Read<std::uint32_t>();
  Require(rank >= 1 && rank <= MostAxes, "a selection with an impossible number of axes");
  return rank;
}

/// Parses a regular hyperslab: begin, stride, number of blocks, and length of a block for each axis.
/// `numberBytes`: size of a stored number. Throws Unsupported unless the blocks form one block.
Selection ParseRegular(Cursor& cursor, std::uint64_t rank, std::size_t numberBytes)
{
  const std::uint64_t unlimited = ~std::uint64_t(0) >> (64 - 8 * numberBytes);
  Selection selection{Selection::SelectionType::Block, {}, {}};
  for (std::uint64_t axis = 0; axis < rank; ++axis) {
    selection.Begin.push_back(cursor.ReadNumber(numberBytes));
    const std::uint64_t stride = cursor.ReadNumber(numberBytes), blocks = cursor.ReadNumber(numberBytes);
    const std::uint64_t length = cursor.ReadNumber(numberBytes);
    if (blocks == unlimited || length == unlimited) {
      throw Unsupported("virtual data set of unlimited size");
    }
    if (blocks != 1 && stride != length) {
      FailSelection();
    }
    selection.Count.push_back(CheckedProduct(blocks, length));
  }
  return selection;
}

/// Parses a list of blocks: number of blocks, and first and last indices of each block. `numberBytes`: size
/// of a stored number. Throws Unsupported unless the list has exactly one block.
Selection ParseOneBlock(Cursor& cursor, std::uint64_t rank, std::size_t numberBytes)
{
  if (cursor.ReadNumber(numberBytes) != 1) {
    FailSelection();
  }
  Selection selection{Selection::SelectionType::Block, {}, {}};
  for (std::uint64_t axis = 0; axis < rank; ++axis) {
    selection.Begin.push_back(cursor.ReadNumber(numberBytes));
  }
  for (std::uint64_t axis = 0; axis < rank; ++axis) {
    const std::uint64_t last = cursor.ReadNumber(numberBytes);
    Require(last >= selection.Begin[axis], "a selection without values");
    selection.Count.push_back(last - selection.Begin[axis] + 1);
  }
  return selection;
}

Selection ParseHyperslab(Cursor& cursor)
{
  constexpr unsigned regular = 1;
  const auto version = cursor.Read<std::uint32_t>();
  std::size_t numberBytes = version == 1 ? 4 : 8;
  bool isRegular = false;
  if (version == 1) {
    cursor.Skip(8);  // reserved, and the size of the rest
  } else if (version == 2 || version == 3) {
    isRegular = (cursor.Read<std::uint8_t>() & regular) != 0;
    if (version == 2) {
      cursor.Skip(4);  // size of the rest
    } else {
      numberBytes = cursor.Read<std::uint8_t>();
      Require(numberBytes == 2 || numberBytes == 4 || numberBytes == 8,
          "a selection with numbers of a wrong size");
    }
  } else {
    throw Unsupported("selection of an unknown version");
  }
  const std::uint64_t rank = ParseRank(cursor);
  return isRegular ? ParseRegular(cursor, rank, numberBytes) : ParseOneBlock(cursor, rank, numberBytes);
}

Selection ParseSelection(Cursor& cursor)
{
  constexpr unsigned none = 0, hyperslab = 2, all = 3;
  const auto type = cursor.Read<std::uint32_t>();
  if (type == hyperslab) {
    return ParseHyperslab(cursor);
  }
  if (type != none && type != all) {
    FailSelection();
  }
  cursor.Skip(12);  // version, reserved
  return {type == none ? Selection::SelectionType::None : Selection::SelectionType::All, {}, {}};
}

}  // namespace

std::vector<VirtualMapping> ParseMappings(const std::vector<std::byte>& bytes)
{
  constexpr unsigned sharedFile = 1, sharedName = 2, sameFile = 4;  // flags from version 1 on
  constexpr std::size_t leastBytes = 16, mostNameBytes = std::size_t(256) << 20;
  Cursor cursor(bytes.data(), bytes.size());
  const unsigned version = cursor.Read<std::uint8_t>();
  const auto count = cursor.Read<std::uint64_t>();
  if (version > 1) {
    throw Unsupported("virtual data set of an unknown version");
  }
  Require(count <= bytes.size() / leastBytes, "more mappings than fit into their object");
  std::vector<VirtualMapping> mappings;
  std::size_t nameBytes = 0;  // of all mappings; each copies a shared name
  const auto before = [&]() -> const VirtualMapping& {
    const auto number = cursor.Read<std::uint64_t>();
    Require(number < mappings.size(), "a mapping that refers to a missing mapping");
    return mappings[number];
  };
  for (std::uint64_t i = 0; i < count; ++i) {
    VirtualMapping mapping;
    const unsigned flags = version == 0 ? 0 : cursor.Read<std::uint8_t>();
    mapping.File = (flags & sameFile) != 0     ? "."
                   : (flags & sharedFile) != 0 ? before().File
                                               : cursor.ReadText(1);
    mapping.Dataset = (flags & sharedName) != 0 ? before().Dataset : cursor.ReadText(1);
    nameBytes += mapping.File.size() + mapping.Dataset.size();
    if (nameBytes > mostNameBytes) {
      throw Unsupported("virtual data set of too many parts");
    }
    mapping.Source = ParseSelection(cursor);
    mapping.Virtual = ParseSelection(cursor);
    if (mapping.File.find('%') != std::string::npos || mapping.Dataset.find('%') != std::string::npos) {
      throw Unsupported("virtual data set with a printf-style name");
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::optional<ValueRun> RunOf(const Selection& selection, const Dataset& dataset)
{
  if (selection.Type != Selection::SelectionType::Block) {
    return ValueRun{0, selection.Type == Selection::SelectionType::All ? dataset.Values : 0};
  }
  const std::vector<std::uint64_t> dims = DimsOf(dataset);
  Require(selection.Begin.size() == dims.size(), "a selection with another number of axes than its array");
  if (dims.size() > ChunkedArray::MaximumRank) {
    throw Unsupported(fmt::format("virtual data set of blocks of {} axes", dims.size()));
  }
  ValueRun run{0, 1};
  bool isOneRow = true;  // true while each axis so far has a single index
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::uint64_t begin = selection.Begin[axis], count = selection.Count[axis];
    Require(begin <= dims[axis] && count <= dims[axis] - begin, "a selection outside its array");
    if (!isOneRow && count != dims[axis]) {
      return std::nullopt;
    }
    isOneRow = isOneRow && count == 1;
    run.First = CheckedProduct(run.First, dims[axis]) + begin;
    run.Count = CheckedProduct(run.Count, count);
  }
  return run;
}

}  // namespace patchio::hdf5
