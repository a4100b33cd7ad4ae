// The compressed chunks of one rank while a step is written: put together from the values of patches, and
// kept in memory, as their places are known only when all ranks have compressed theirs.
#pragma once

#include "Write/ChunkEncoder.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace patchio::container {

/// A data set as chunks; in bytes. Its chunks have the numbers from FirstChunk on.
struct ChunkedSet
{
  FilterKind Filter = FilterKind::None;
  std::size_t ElementBytes = 0;
  std::uint64_t Bytes = 0;
  std::uint64_t ChunkBytes = 0;
  std::uint64_t FirstChunk = 0;

  std::uint64_t Chunks() const { return (this->Bytes + this->ChunkBytes - 1) / this->ChunkBytes; }
};

/// Values that follow each other in a data set.
struct SetPart
{
  std::size_t Set = 0;
  std::uint64_t Begin = 0;  ///< byte of the data set
  std::uint64_t Bytes = 0;
  const std::byte* Values = nullptr;
};

/// Not for several threads.
class ChunkPacker
{
public:
  explicit ChunkPacker(std::vector<ChunkedSet> sets) : Sets(std::move(sets)) {}

  /// Copies values, and compresses the chunks that are complete then, `threads` at once. Throws Error.
  void Add(const std::vector<SetPart>& parts, int threads);

  /// Parts of chunks that are not complete yet, as texts by the rank that ownerOf(set, byte of the chunk's
  /// begin) says; they are given away, but for those of `mine`. AddTexts() takes them there.
  template <typename OwnerOf>
  std::vector<std::string> TakeOthers(int ranks, int mine, const OwnerOf& ownerOf);
  void AddTexts(const std::vector<std::string>& texts, int threads);

  /// Complete ones, by their numbers.
  const std::map<std::uint64_t, EncodedChunk>& Chunks() const { return this->Complete; }
  /// No chunk has begun that is not complete.
  bool IsComplete() const { return this->Open.empty(); }

private:
  struct Part
  {
    std::uint64_t Begin, Bytes;  ///< in the chunk
    const std::byte* Values;
  };
  struct OpenChunk
  {
    std::size_t Set = 0;
    std::uint64_t Used = 0;  ///< bytes of it that the data set has
    std::vector<std::byte> Values;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> There;  ///< begin and number of bytes
    std::vector<Part> Coming;
    bool Done = false;
    EncodedChunk Encoded;
  };

  void Begin(const SetPart& part);
  void Take(OpenChunk& chunk, ChunkEncoder& encoder) const;
  std::string TextOf(std::uint64_t number, const OpenChunk& chunk) const;

  const std::vector<ChunkedSet> Sets;
  std::map<std::uint64_t, OpenChunk> Open;
  std::map<std::uint64_t, EncodedChunk> Complete;
};

template <typename OwnerOf>
std::vector<std::string> ChunkPacker::TakeOthers(int ranks, int mine, const OwnerOf& ownerOf)
{
  std::vector<std::string> texts(ranks);
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    const std::size_t set = chunk->second.Set;
    const int owner = ownerOf(set, (chunk->first - this->Sets[set].FirstChunk) * this->Sets[set].ChunkBytes);
    if (owner != mine) {
      texts[owner] += this->TextOf(chunk->first, chunk->second);
    }
    chunk = owner != mine ? this->Open.erase(chunk) : std::next(chunk);
  }
  return texts;
}

}  // namespace patchio::container
