// Compressed data sets: who completes which chunk, where chunks go, and who writes them.
#include "Base/RunOnAllRanks.h"
#include "Formats/Container/StepLayout.h"
#include "Write/StepWriter.h"

#include <cstddef>
#include <iterator>

namespace patchio::container {
namespace {

/// Neighbours in the file are written together, up to about so many bytes.
constexpr std::uint64_t RunBytes = 4 << 20;

/// What the rank that leads a file must know of a chunk.
struct Packing
{
  int File;
  std::uint32_t SkippedFilters;
  std::uint64_t Chunk, Bytes;
};

}  // namespace

/// The compressed data sets of this rank's file.
void StepWriter::MakePacker()
{
  std::vector<ChunkedSet> sets;
  for (const DataSet& set : this->PlanOfFile().DataSets) {
    if (set.Compression != FilterKind::None) {
      const int files = static_cast<int>(this->Record.Files.size());
      ChunkedSet chunked;
      chunked.Filter = set.Compression;
      chunked.ElementBytes = SizeOf(this->Record.Types[set.Variable]);
      chunked.Bytes = set.Values * chunked.ElementBytes;
      chunked.ChunkBytes = chunked.ElementBytes;
      for (const std::uint64_t along : ChunkShapeOf(this->Record.Data, files, set)) {
        chunked.ChunkBytes *= along;
      }
      chunked.FirstChunk = this->Chunks;
      this->Chunks += chunked.Chunks();
      this->Packed[{set.Level, set.Variable}] = sets.size();
      sets.push_back(chunked);
    }
  }
  this->Packer = std::make_unique<ChunkPacker>(std::move(sets));
}

/// Chunks that have values of several ranks are completed by the one that has their first ones.
void StepWriter::ExchangeParts()
{
  std::vector<std::string> texts;
  RunOnAllRanks(this->Ranks, [&] {
    std::vector<std::map<std::uint64_t, int>> writers(this->Packed.size());
    for (const auto& [where, set] : this->Packed) {
      writers[set] = this->WritersOf(where[0], where[1]);
    }
    texts = this->Packer->TakeOthers(
        this->Ranks.Size(), this->Ranks.Rank(), [&](std::size_t set, std::uint64_t begin) {
          return std::prev(writers[set].upper_bound(begin))->second;
        });
  });
  texts = this->Ranks.Exchange(std::move(texts));
  RunOnAllRanks(this->Ranks, [&] { this->Packer->AddTexts(texts, this->Threads); });
}

/// The ranks that write parts of a data set in this rank's file, by the byte where the part begins.
std::map<std::uint64_t, int> StepWriter::WritersOf(int level, int variable) const
{
  const Catalog& data = this->Record.Data;
  std::map<std::uint64_t, int> writers;
  for (const int patch : this->Rows) {
    if (data.Patches[patch].Level == level && data.Patches[patch].File == this->FileOfRank() &&
        ValuesOf(data, variable, patch) > 0) {
      writers[this->Before[variable][patch] * SizeOf(this->Record.Types[variable])] =
          data.Patches[patch].Writer;
    }
  }
  return writers;
}

/// The ranks that lead files find room for the chunks of all; then each writes its own.
void StepWriter::PlaceChunks()
{
  std::vector<Packing> packings;
  for (const auto& [number, chunk] : this->Packer->Chunks()) {
    packings.push_back({this->FileOfRank(), chunk.SkippedFilters, number, chunk.Bytes.size()});
  }
  packings = GatherValues(this->Ranks, packings);
  std::vector<std::uint64_t> offsets;
  RunOnAllRanks(this->Ranks, [&] {
    std::vector<ChunkSize> sizes(this->Chunks);
    for (const Packing& packing : packings) {
      if (packing.File == this->FileOfRank()) {
        sizes.at(packing.Chunk) = {packing.Bytes, packing.SkippedFilters};
      }
    }
    offsets = this->Leads() ? this->Part->File.Place(sizes) : offsets;
  });
  offsets = GatherValues(this->Ranks, offsets);  // of one file after another
  std::uint64_t before = 0;
  for (const DataSet& set : this->Record.DataSets) {
    if (set.File < this->FileOfRank() && set.Compression != FilterKind::None) {
      before += ChunksOf(this->Record.Data, static_cast<int>(this->Record.Files.size()), set);
    }
  }
  RunOnAllRanks(this->Ranks, [&] {
    this->WriteChunks({offsets.begin() + static_cast<std::ptrdiff_t>(before),
        offsets.begin() + static_cast<std::ptrdiff_t>(before + this->Chunks)});
  });
}

/// offsets: of all chunks of this rank's file.
void StepWriter::WriteChunks(const std::vector<std::uint64_t>& offsets) const
{
  std::vector<iovec> buffers;
  std::uint64_t begin = 0, end = 0;
  const auto flush = [&] {
    if (!buffers.empty()) {
      this->File->Write(begin, buffers);
    }
    buffers.clear();
  };
  for (const auto& [number, chunk] : this->Packer->Chunks()) {
    if (offsets[number] != end || end - begin >= RunBytes) {
      flush();
      begin = end = offsets[number];
    }
    buffers.push_back({const_cast<std::byte*>(chunk.Bytes.data()), chunk.Bytes.size()});
    end += chunk.Bytes.size();
  }
  flush();
}

}  // namespace patchio::container
