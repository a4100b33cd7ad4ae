#include "Probe/RequestCost.h"

#include "Tuning/LeastSquares.h"
#include "Tuning/Median.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace patchio::probe {
namespace {

constexpr double ShareOfBytes = 0.9;
constexpr double MostBandwidth = 1e13;  ///< bytes a second; where the time does not depend on the size

/// The usual time of one size.
struct SizeTime
{
  double Bytes = 0;
  double Seconds = 0;
};

std::vector<SizeTime> MediansOf(const std::vector<RequestTime>& times)
{
  std::map<std::uint64_t, std::vector<double>> bySize;
  for (const RequestTime& time : times) {
    if (time.Bytes > 0 && std::isfinite(time.Seconds) && time.Seconds > 0) {
      bySize[time.Bytes].push_back(time.Seconds);
    }
  }
  std::vector<SizeTime> medians;
  for (const auto& [bytes, seconds] : bySize) {
    medians.push_back({static_cast<double>(bytes), MedianOf(seconds)});
  }
  return medians;
}

/// T(b) = Latency + b * PerByte.
struct Line
{
  double Latency = 0;
  double PerByte = 0;
  double At(double bytes) const { return this->Latency + bytes * this->PerByte; }
};

double RelativeError(const Line& line, const SizeTime& time)
{
  return line.At(time.Bytes) > 0 ? time.Seconds / line.At(time.Bytes) - 1 : 0;
}

double MedianError(const Line& line, const std::vector<SizeTime>& times)
{
  std::vector<double> errors;
  errors.reserve(times.size());
  for (const SizeTime& time : times) {
    errors.push_back(std::abs(RelativeError(line, time)));
  }
  return MedianOf(errors);
}

std::optional<Line> FitLine(const std::vector<SizeTime>& times, const std::vector<double>& weights)
{
  LeastSquares<2> equations;
  for (std::size_t i = 0; i < times.size(); ++i) {
    equations.Add({1 / times[i].Seconds, times[i].Bytes / times[i].Seconds}, 1, weights[i]);
  }
  const auto solution = equations.SolveNonNegative({true, true});
  return solution ? std::optional(Line{(*solution)[0], (*solution)[1]}) : std::nullopt;
}

/// Fits again and again, each time with less weight on what lay far off the line (Huber's weights).
std::optional<Line> FitLineRobustly(const std::vector<SizeTime>& times)
{
  constexpr int rounds = 30;
  constexpr double leastSpread = 0.01;
  std::vector<double> weights(times.size(), 1.0);
  std::optional<Line> line = FitLine(times, weights);
  for (int round = 0; line && round < rounds; ++round) {
    const double spread = std::max(1.48 * MedianError(*line, times), leastSpread);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double off = std::abs(RelativeError(*line, times[i])) / spread;
      weights[i] = off <= 1.5 ? 1 : 1.5 / off;
    }
    line = FitLine(times, weights);
  }
  return line;
}

}  // namespace

std::uint64_t BlockBytesFor(const StorageModel& requests)
{
  constexpr std::uint64_t unit = 64 << 10;
  const double bytes = requests.Latency * requests.Bandwidth * ShareOfBytes / (1 - ShareOfBytes);
  const auto whole = static_cast<std::uint64_t>(
      std::clamp(bytes, static_cast<double>(LeastBlockBytes), static_cast<double>(MostBlockBytes)));
  return (whole + unit - 1) / unit * unit;
}

RequestCost FitRequestCost(const std::vector<RequestTime>& times)
{
  RequestCost cost;
  cost.BlockBytes = BlockBytesFor(cost.Requests);
  const std::vector<SizeTime> medians = MediansOf(times);
  if (medians.size() < 2 || medians.back().Bytes < 2 * medians.front().Bytes) {
    return cost;
  }
  const std::optional<Line> line = FitLineRobustly(medians);
  if (!line) {
    return cost;
  }
  cost.Known = true;
  cost.Requests.Latency = line->Latency;
  cost.Requests.Bandwidth = 1 / std::max(line->PerByte, 1 / MostBandwidth);
  cost.BlockBytes = BlockBytesFor(cost.Requests);
  cost.Residual = MedianError(*line, medians);
  return cost;
}

}  // namespace patchio::probe
