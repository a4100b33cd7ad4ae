// Counts what all lanes of a rank really do.
#pragma once

#include <atomic>
#include <cstdint>

namespace patchio {

class ReadMeter
{
public:
  /// Marks one request in flight for its lifetime.
  class Request
  {
  public:
    explicit Request(ReadMeter& meter, std::uint64_t bytes) : Meter(meter)
    {
      const int now = ++meter.InFlight;
      int peak = meter.Peak;
      while (now > peak && !meter.Peak.compare_exchange_weak(peak, now)) {
      }
      ++meter.RequestCount;
      meter.ByteCount += bytes;
    }
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

}  // namespace patchio
