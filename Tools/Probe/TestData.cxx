#include "Probe/TestData.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

namespace patchio::probe {
namespace {

/// Returns the inverse of the odd number `factor` modulo 2^64, by Newton's method. Each round doubles the
/// number of correct bits.
constexpr std::uint64_t Inverse(std::uint64_t factor)
{
  std::uint64_t inverse = factor;
  for (int round = 0; round < 6; ++round) {
    inverse *= 2 - factor * inverse;
  }
  return inverse;
}

constexpr std::uint64_t ReadBytes = 4u << 20;  // bytes read at once

/// Throws Error unless the `bytes` bytes at `offset` of the file are the bytes at `patternOffset` of the
/// pattern.
void CheckValues(const PlainFile& file, const Pattern& values, std::uint64_t patternOffset,
    std::uint64_t offset, std::uint64_t bytes)
{
  std::vector<std::byte> buffer(std::min(ReadBytes, bytes));
  for (std::uint64_t done = 0; done < bytes; done += buffer.size()) {
    const std::size_t count = std::min<std::uint64_t>(buffer.size(), bytes - done);
    file.Read(offset + done, buffer.data(), count);
    if (const auto wrong = values.FindWrongByte(patternOffset + done, buffer.data(), count)) {
      throw Error(fmt::format("the file contains a wrong value at byte {}", offset + done + *wrong));
    }
  }
}

}  // namespace

const char* NameOf(View view)
{
  switch (view) {
    case View::Own:
      return "own";
    case View::Whole:
      return "whole";
    case View::Interleaved:
      break;
  }
  return "interleaved";
}

View ViewNamed(const std::string& name)
{
  if (const std::optional<View> view = ValueNamed(name, View::Interleaved)) {
    return *view;
  }
  throw Error("Unknown view '" + name + "'. Use own, whole or interleaved.");
}

void Layout::ForEachRun(
    std::uint64_t offset, std::uint64_t bytes, const std::function<void(const Run&)>& visit) const
{
  if (this->FileView != View::Interleaved) {
    const std::uint64_t first = this->FileView == View::Own ? this->Rank * this->PartBytes() : 0;
    visit({first + offset, 0, bytes});
    return;
  }
  for (std::uint64_t begin = 0; begin < bytes;) {
    const std::uint64_t piece = (offset + begin) / this->PieceBytes;
    const std::uint64_t within = (offset + begin) % this->PieceBytes;
    const std::uint64_t length = std::min(bytes - begin, this->PieceBytes - within);
    visit({(piece * this->Ranks + this->Rank) * this->PieceBytes + within, begin, length});
    begin += length;
  }
}

std::uint64_t DivisibleSize(std::uint64_t size, int rankCount, std::uint64_t piece)
{
  const std::uint64_t unit = std::lcm(piece, std::uint64_t{8}) * rankCount;
  return size / unit * unit;
}

std::byte Pattern::Byte(std::uint64_t offset) const
{
  const std::uint64_t word = this->Word(offset / 8);
  std::byte bytes[8];
  std::memcpy(bytes, &word, 8);
  return bytes[offset % 8];
}

void Pattern::Fill(std::uint64_t offset, std::byte* bytes, std::size_t count) const
{
  std::size_t done = 0;
  for (; done < count && (offset + done) % 8 != 0; ++done) {
    bytes[done] = this->Byte(offset + done);
  }
  for (; done + 8 <= count; done += 8) {
    const std::uint64_t word = this->Word((offset + done) / 8);
    std::memcpy(bytes + done, &word, 8);
  }
  for (; done < count; ++done) {
    bytes[done] = this->Byte(offset + done);
  }
}

std::optional<std::size_t> Pattern::FindWrongByte(
    std::uint64_t offset, const std::byte* bytes, std::size_t count) const
{
  for (std::size_t done = 0; done < count;) {
    if ((offset + done) % 8 == 0 && done + 8 <= count) {
      const std::uint64_t word = this->Word((offset + done) / 8);
      if (std::memcmp(bytes + done, &word, 8) == 0) {
        done += 8;
        continue;
      }
    }
    if (bytes[done] != this->Byte(offset + done)) {
      return done;
    }
    ++done;
  }
  return std::nullopt;
}

std::uint64_t Pattern::OffsetOf(const std::byte* bytes) const
{
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  return 8 * ((word * Inverse(Factor)) ^ this->Seed);
}

bool AreContiguousFromZero(std::vector<FileRange> ranges)
{
  std::sort(ranges.begin(), ranges.end(),
      [](const FileRange& a, const FileRange& b) { return a.Offset < b.Offset; });
  std::uint64_t end = 0;
  for (const FileRange& range : ranges) {
    if (range.Offset != end) {
      return false;
    }
    end += range.Bytes;
  }
  return true;
}

void CheckRange(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes)
{
  CheckValues(PlainFile(path), Pattern(seed), offset, offset, bytes);
}

void CheckShuffledBlocks(
    const std::string& path, std::uint64_t seed, const PatternBlocks& blocks, std::uint64_t bytes)
{
  const PlainFile file(path);
  const Pattern values(seed);
  std::set<std::uint64_t> seen;
  for (std::uint64_t offset = 0; offset < bytes;) {
    std::byte first[8];
    file.Read(offset, first, 8);
    const std::uint64_t patternOffset = values.OffsetOf(first);
    const std::uint64_t within = patternOffset % blocks.PartBytes;
    if (patternOffset >= blocks.FileBytes || within % blocks.BlockBytes != 0) {
      throw Error(fmt::format("no written block begins at byte {} of the file", offset));
    }
    if (!seen.insert(patternOffset).second) {
      throw Error(fmt::format("the file contains the block at byte {} twice", offset));
    }
    const std::uint64_t length = std::min(blocks.BlockBytes, blocks.PartBytes - within);
    CheckValues(file, values, patternOffset, offset, length);
    offset += length;
  }
}

}  // namespace patchio::probe
