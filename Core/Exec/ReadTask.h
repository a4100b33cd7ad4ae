// One read task <patch, variable>: fetch its bytes and turn them into values in place.
#pragma once

#include "Catalog/Extent.h"
#include "Exec/Decode.h"
#include "Source/Source.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace patchio {

/// Counts what all lanes of a rank really do.
class ReadMeter
{
public:
  /// Marks one request in flight for its lifetime.
  class Request
  {
  public:
    explicit Request(ReadMeter& meter, std::uint64_t bytes);
    ~Request() { --this->Meter.InFlight; }
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

  private:
    ReadMeter& Meter;
  };

  int PeakInFlight() const { return this->Peak; }
  std::uint64_t Requests() const { return this->RequestCount; }
  std::uint64_t Bytes() const { return this->ByteCount; }

private:
  std::atomic<int> InFlight{0};
  std::atomic<int> Peak{0};
  std::atomic<std::uint64_t> RequestCount{0};
  std::atomic<std::uint64_t> ByteCount{0};
};

/// What one lane keeps from task to task: its scratch memory and the file it read last.
class Lane
{
public:
  Lane(Source& source, ReadMeter& meter) : Storage(source), Meter(meter) {}
  /// Fills `into` with part of an extent, in this machine's byte order.
  void Read(const Extent& extent, std::uint64_t begin, std::uint64_t bytes, void* into);
  /// At least `bytes` of memory, contents undefined, valid until the next call.
  void* Scratch(std::size_t bytes);

private:
  Source& Storage;
  ReadMeter& Meter;
  std::shared_ptr<Source::File> Current;
  int CurrentNumber = -1;
  std::vector<std::byte> Memory;
};

/// Where the values of a task go.
struct ReadTarget
{
  void* Data = nullptr;  ///< OutputTuples() x OutputComponents elements of the extents' type
  ArrayShape Shape;
  const std::vector<int>* Slots = nullptr;  ///< output component of each stored component; the rest become 0
};

/// Carries out one task. Throws Error when the storage fails or the stored values make no sense.
void ExecuteReadTask(
    Lane& lane, const LocationTable& table, const Location& location, const ReadTarget& target);

/// Element type of the values a location delivers.
ElementType TypeOf(const LocationTable& table, const Location& location);

}  // namespace patchio
