#include "Write/ChunkPacker.h"

#include "Base/Error.h"
#include "Base/RunOnAllRanks.h"
#include "Io/RunTasksOrThrow.h"

#include <tbb/enumerable_thread_specific.h>

#include <algorithm>
#include <cstring>

namespace patchio::container {
namespace {

/// Precedes its bytes in a text.
struct PartHead
{
  std::uint64_t Set, Begin, Bytes;
};

}  // namespace

/// Cuts it into parts of chunks.
void ChunkPacker::Begin(const SetPart& part)
{
  const ChunkedSet& set = this->Sets[part.Set];
  for (std::uint64_t done = 0; done < part.Bytes;) {
    const std::uint64_t at = part.Begin + done, number = at / set.ChunkBytes, begin = at % set.ChunkBytes;
    OpenChunk& chunk = this->Open[set.FirstChunk + number];
    chunk.Set = part.Set;
    chunk.Used = std::min(set.ChunkBytes, set.Bytes - number * set.ChunkBytes);
    const std::uint64_t bytes = std::min(part.Bytes - done, chunk.Used - begin);
    chunk.Coming.push_back({begin, bytes, part.Values + done});
    chunk.There.emplace_back(begin, bytes);
    done += bytes;
  }
}

void ChunkPacker::Add(const std::vector<SetPart>& parts, int threads)
{
  for (const SetPart& part : parts) {
    this->Begin(part);
  }
  std::vector<OpenChunk*> touched;
  for (auto& [number, chunk] : this->Open) {
    if (!chunk.Coming.empty()) {
      touched.push_back(&chunk);
    }
  }
  tbb::enumerable_thread_specific<ChunkEncoder> encoders;
  RunTasksOrThrow(touched.size(), threads, [&](std::size_t i) { this->Take(*touched[i], encoders.local()); });
  for (auto chunk = this->Open.begin(); chunk != this->Open.end();) {
    if (chunk->second.Done) {
      this->Complete.emplace(chunk->first, std::move(chunk->second.Encoded));
    }
    chunk = chunk->second.Done ? this->Open.erase(chunk) : std::next(chunk);
  }
}

/// One that lies in the values of a patch as a whole is compressed from there.
void ChunkPacker::Take(OpenChunk& chunk, ChunkEncoder& encoder) const
{
  const ChunkedSet& set = this->Sets[chunk.Set];
  const std::byte* values = chunk.Coming[0].Values;
  if (chunk.Coming[0].Bytes < set.ChunkBytes) {
    chunk.Values.resize(set.ChunkBytes);  // zeros behind the end of the data set
    for (const Part& part : chunk.Coming) {
      std::copy_n(part.Values, part.Bytes, chunk.Values.data() + part.Begin);
    }
    values = chunk.Values.data();
  }
  chunk.Coming.clear();
  std::uint64_t there = 0;
  for (const auto& [begin, bytes] : chunk.There) {
    there += bytes;
  }
  if (there == chunk.Used) {
    chunk.Encoded = encoder.Encode(set.Filter, set.ElementBytes, values, set.ChunkBytes);
    chunk.Done = true;
  }
}

std::string ChunkPacker::TextOf(std::uint64_t number, const OpenChunk& chunk) const
{
  const ChunkedSet& set = this->Sets[chunk.Set];
  std::string text;
  for (const auto& [begin, bytes] : chunk.There) {
    const PartHead head{chunk.Set, (number - set.FirstChunk) * set.ChunkBytes + begin, bytes};
    text.append(reinterpret_cast<const char*>(&head), sizeof head);
    text.append(reinterpret_cast<const char*>(chunk.Values.data()) + begin, bytes);
  }
  return text;
}

void ChunkPacker::AddTexts(const std::vector<std::string>& texts, int threads)
{
  std::vector<SetPart> parts;
  for (const std::string& text : texts) {
    for (std::size_t at = 0; at + sizeof(PartHead) <= text.size();) {
      PartHead head;
      std::memcpy(&head, text.data() + at, sizeof head);
      at += sizeof head;
      parts.push_back(
          {head.Set, head.Begin, head.Bytes, reinterpret_cast<const std::byte*>(text.data()) + at});
      at += head.Bytes;
    }
  }
  this->Add(parts, threads);
}

}  // namespace patchio::container
