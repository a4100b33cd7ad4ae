// What a thread keeps from request to request: the file it read last, scratch memory, a decoder.
#pragma once

#include "Io/Filters.h"
#include "Io/ReadMeter.h"
#include "Io/Source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace patchio {

/// Reads for one thread at a time.
class TaskReader
{
public:
  TaskReader(Source& source, ReadMeter& meter) : Storage(source), Meter(meter) {}

  /// One request; see Source::File::Read.
  void Read(int file, std::uint64_t offset, const std::vector<iovec>& buffers);
  /// At least `bytes` of memory, contents undefined, valid until the next call.
  std::byte* Scratch(std::size_t bytes);
  /// An empty list to fill, valid until the next call.
  std::vector<iovec>& Buffers();
  ChunkDecoder& Decoder() { return this->Chunks; }

private:
  Source& Storage;
  ReadMeter& Meter;
  std::shared_ptr<Source::File> Current;
  int CurrentNumber = -1;
  std::unique_ptr<std::byte[]> Memory;
  std::size_t MemoryBytes = 0;
  std::vector<iovec> Addresses;
  ChunkDecoder Chunks;
};

/// A TaskReader for each thread that asks. Keeps references.
class TaskReaders
{
public:
  TaskReaders(Source& source, ReadMeter& meter);
  ~TaskReaders();
  TaskReaders(const TaskReaders&) = delete;
  TaskReaders& operator=(const TaskReaders&) = delete;

  TaskReader& OfThisThread();

private:
  struct PerThread;
  const std::unique_ptr<PerThread> All;
};

}  // namespace patchio
