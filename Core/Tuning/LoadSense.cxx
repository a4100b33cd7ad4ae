#include "Tuning/LoadSense.h"

#include "Base/Text.h"
#include "Tuning/Counters.h"

#include <fmt/format.h>
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace patchio {

namespace {

// The values were chosen on the emulated parallel file system with 0, 4 and 16 requests by other programs,
// where the errors of NC are 0.5, 0 and 0.1 (`./dev bench tuning`), and on laws with errors of known size
// (LoadInversionTest).

/// Greatest number of windows for one estimate: about 3 s, within which the load seldom changes.
constexpr std::size_t MostWindows = 8;
/// Least relative standard deviation of a window's rate; LoadCurve::Noise may be greater.
constexpr double LeastProfileNoise = 0.03;
/// Least relative standard deviation of the curve at one N against another N; see LoadCurve::Residual.
constexpr double LeastResidual = 0.02;
/// Relative standard deviation of the entire curve: a storage differs from day to day.
constexpr double Scale = 0.04;
/// Correlation length of the curve's errors in ln N: half an octave.
constexpr double ShapeReach = 0.35;
/// Degrees of freedom of Student's t distribution, because the size of the errors is known only roughly.
constexpr double Freedom = 4;

/// A load that represents a range of loads. Weight is the prior probability of that range, up to a factor.
struct Candidate
{
  double Load;
  double Weight;
};

/// Returns candidates up to four times the greatest N measured. Small loads are more likely: the prior
/// density is 1 / (load + 4).
std::vector<Candidate> CandidateLoads(double mostMeasured)
{
  const double end = 4 * std::clamp(mostMeasured, 1.0, 1e5);
  std::vector<Candidate> all;
  for (double load = 0; load <= end;) {
    const double step = std::max(0.125, 0.01 * load);
    all.push_back({load, step / (load + 4)});
    load += step;
  }
  return all;
}

/// Returns the covariance of the windows' errors. The errors are correlated, because the curve has a common
/// error for all windows, and a further one for windows with similar N.
Eigen::MatrixXd CovarianceOf(const LoadCurve& curve, const std::vector<LoadWindow>& windows)
{
  const double own = std::max(curve.Noise, LeastProfileNoise);
  const double shape = std::max(curve.Residual, LeastResidual);
  const auto size = static_cast<Eigen::Index>(windows.size());
  return Eigen::MatrixXd::NullaryExpr(size, size, [&](Eigen::Index row, Eigen::Index column) {
    const double apart = std::log(windows[row].InFlight / windows[column].InFlight) / ShapeReach;
    return Scale * Scale + shape * shape * std::exp(-0.5 * apart * apart) + (row == column ? own * own : 0);
  });
}

/// Returns, for each candidate, the squared deviation of the windows in units of their errors, or infinity if
/// the curve has no value for this candidate.
std::vector<double> SquaredDeviations(
    const LoadCurve& curve, const std::vector<LoadWindow>& windows, const std::vector<Candidate>& candidates)
{
  const Eigen::LLT<Eigen::MatrixXd> errors(CovarianceOf(curve, windows));
  std::vector<double> squares(candidates.size(), INFINITY);
  Eigen::VectorXd deviations(windows.size());
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    bool sensible = true;
    for (std::size_t window = 0; window < windows.size(); ++window) {
      const double own = windows[window].InFlight;
      const double all = own + candidates[index].Load;
      const double expected = own / all * curve.Rate(all);
      sensible = sensible && std::isfinite(expected) && expected > 0;
      deviations[window] = sensible ? std::log(windows[window].Rate / expected) : 0;
    }
    if (sensible) {
      // The expected value is the number of windows if the deviations are errors only.
      squares[index] = errors.matrixL().solve(deviations).squaredNorm();
    }
  }
  return squares;
}

double LeastOf(const std::vector<double>& squares)
{
  return *std::min_element(squares.begin(), squares.end());
}

/// Returns whether the squared deviation is at most four standard deviations above what errors alone cause.
bool IsExplained(double square, std::size_t windows)
{
  return square <= windows + 4 * std::sqrt(2.0 * windows);
}

/// Returns the posterior probabilities of the candidates, which sum up to 1. Errors follow Student's t
/// distribution, which makes large errors more likely than a normal distribution does, because the size of
/// the errors is known only roughly.
std::vector<double> PosteriorProbabilities(
    const std::vector<Candidate>& candidates, const std::vector<double>& squares, std::size_t windows)
{
  const double least = LeastOf(squares);
  std::vector<double> weights(candidates.size());
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const double likelihood = std::pow(
        (Freedom + squares[index]) / (Freedom + least), -0.5 * (Freedom + static_cast<double>(windows)));
    weights[index] = candidates[index].Weight * likelihood;
    sum += weights[index];
  }
  for (double& weight : weights) {
    weight /= sum;
  }
  return weights;
}

double Quantile(
    const std::vector<Candidate>& candidates, const std::vector<double>& weights, double probability)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    sum += weights[index];
    if (sum >= probability) {
      return candidates[index].Load;
    }
  }
  return candidates.back().Load;
}

/// Returns the probability that the true load differs from `load` by at most 2 requests or 25 %.
double ProbabilityNear(
    const std::vector<Candidate>& candidates, const std::vector<double>& weights, double load)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const double truth = candidates[index].Load;
    sum += std::abs(load - truth) <= std::max(2.0, 0.25 * truth) ? weights[index] : 0;
  }
  return sum;
}

bool IsValid(const LoadWindow& window)
{
  return std::isfinite(window.InFlight) && window.InFlight > 0 && std::isfinite(window.Rate) &&
         window.Rate > 0;
}

/// Returns the factor of the confidence: below 1 if all windows have about the same N, because a loaded
/// storage then looks like a slower storage.
double ConfidenceFactor(const std::vector<LoadWindow>& windows)
{
  const auto [least, most] = std::minmax_element(windows.begin(), windows.end(),
      [](const LoadWindow& left, const LoadWindow& right) { return left.InFlight < right.InFlight; });
  return most->InFlight > 1.4 * least->InFlight ? 1 : 0.8;
}

}  // namespace

InvertedLoad InvertLoad(const LoadCurve& curve, const std::vector<LoadWindow>& windows)
{
  InvertedLoad result;
  if (!curve.Rate || !std::isfinite(curve.Noise + curve.Residual) || !std::isfinite(curve.Most)) {
    return result;
  }
  const std::vector<Candidate> candidates = CandidateLoads(curve.Most);
  std::vector<LoadWindow> used;
  std::vector<double> squares;
  for (auto window = windows.rbegin(); window != windows.rend() && used.size() < MostWindows; ++window) {
    if (!IsValid(*window)) {
      continue;
    }
    used.push_back(*window);
    const std::vector<double> longer = SquaredDeviations(curve, used, candidates);
    if (!IsExplained(LeastOf(longer), used.size())) {
      used.pop_back();
      break;
    }
    squares = longer;
  }
  if (used.empty()) {
    return result;
  }
  const std::vector<double> weights = PosteriorProbabilities(candidates, squares, used.size());
  result.Fits = true;
  result.Windows = static_cast<int>(used.size());
  result.Load = Quantile(candidates, weights, 0.5);
  result.Least = Quantile(candidates, weights, 0.05);
  result.Most = Quantile(candidates, weights, 0.95);
  result.Confidence =
      ConfidenceFactor(used) * std::max(0.0, 2 * ProbabilityNear(candidates, weights, result.Load) - 1);
  return result;
}

namespace {

using CounterValues = LoadSensor::CounterValues;

constexpr double ShortestWindow = 0.02;  ///< seconds: the kernel counts in steps of 1 to 10 ms
/// With fewer bytes in a window, the readers' shares of the rate are unknown.
constexpr double FewBytes = 1e6;
constexpr double MostBytesPerSecond = 1e13;  ///< a greater rate means that a counter was reset
constexpr double PlausibleInFlight = 1e5;    ///< a greater number means that a counter was reset
constexpr double WindowLifetime = 30;        ///< seconds for which windows count
constexpr double LeastConfidence = 0.2;      ///< a load with less confidence is a guess

LoadEstimate UnknownLoad(std::string reason)
{
  return {0, 0, std::move(reason)};
}

std::string RateText(double bytesPerSecond)
{
  return ByteText(bytesPerSecond) + "/s";
}

/// Returns the increase per second of a counter that counts in steps of `unit`, or nothing if the counter was
/// reset or the result is not below `limit`.
std::optional<double> IncreasePerSecond(
    std::uint64_t before, std::uint64_t after, double unit, double seconds, double limit)
{
  const auto passed = CounterIncrease(before, after);
  const double rate = passed ? static_cast<double>(*passed) * unit / seconds : limit;
  return rate < limit ? std::optional(rate) : std::nullopt;
}

/// Rates of a disk: bytes read and written per second, requests in flight, mean bytes of a read request.
struct DeviceRates
{
  double Read, Written, InFlight, RequestBytes;
};

std::optional<DeviceRates> RatesOf(const DiskCounters& before, const DiskCounters& after, double seconds)
{
  const auto read =
      IncreasePerSecond(before.SectorsRead, after.SectorsRead, 512, seconds, MostBytesPerSecond);
  const auto written =
      IncreasePerSecond(before.SectorsWritten, after.SectorsWritten, 512, seconds, MostBytesPerSecond);
  // The total duration of all requests divided by the elapsed time is the number of requests in flight.
  const auto reading =
      IncreasePerSecond(before.ReadMilliseconds, after.ReadMilliseconds, 1e-3, seconds, PlausibleInFlight);
  const auto writing =
      IncreasePerSecond(before.WriteMilliseconds, after.WriteMilliseconds, 1e-3, seconds, PlausibleInFlight);
  const auto reads = CounterIncrease(before.Reads, after.Reads);
  if (!read || !written || !reading || !writing || !reads) {
    return {};
  }
  return DeviceRates{
      *read, *written, *reading + *writing, *read * seconds / std::max(1.0, static_cast<double>(*reads))};
}

/// The rate in bytes per second at which a disk delivered to PatchIO, and its confidence, 0 to 1.
struct OwnRate
{
  double Rate = 0;
  double Confidence = 0;
};

OwnRate FetchedRate(
    const CounterValues& before, const CounterValues& after, const OwnReads& own, double seconds)
{
  if (own.Fetched) {
    return {*own.Fetched / seconds, 0.9};
  }
  const auto fetched =
      before.Fetched && after.Fetched ? CounterIncrease(*before.Fetched, *after.Fetched) : std::nullopt;
  if (fetched) {
    return {*fetched / seconds, own.ThisMachine ? 0.5 : 0.9};
  }
  return {own.ThisMachine.value_or(own.AllRanks).Bytes / seconds, 0.5};
}

/// Returns the load if PatchIO read almost nothing from the disk: all requests in the disk count as those of
/// other programs. name: the device, for the text.
LoadEstimate LoadOfQueue(const DeviceRates& device, const std::string& name, double confidence)
{
  return {device.InFlight, confidence,
      fmt::format("{}: {:.1f} requests of other programs in flight", name, device.InFlight)};
}

/// The least and the greatest number of requests by other programs in a disk.
struct ForeignRequests
{
  double Least, Most;
  double Middle() const { return 0.5 * (this->Least + this->Most); }
};

/// Returns bounds for the number of requests in the disk's queue that are not PatchIO's. inDisk: PatchIO's
/// requests in the disk; foreignRate: bytes per second of other programs. The kernel may split a request of
/// PatchIO; the number of parts is uncertain if other programs use requests of another size.
ForeignRequests ForeignRequestsIn(const DeviceRates& device, const OwnReadTotals& localReads, double inDisk,
    double foreignRate, const Disk& disk)
{
  const double request =
      localReads.Requests > 0 ? static_cast<double>(localReads.Bytes) / localReads.Requests : 0;
  const double byMean = std::max(1.0, request / std::max(1.0, device.RequestBytes));
  const double byLimit = std::max(1.0, request / disk.LargestRequest);
  ForeignRequests range{
      std::max(0.0, device.InFlight - inDisk * byMean), std::max(0.0, device.InFlight - inDisk * byLimit)};
  // If other programs get almost nothing, the mean size is the size of PatchIO's requests.
  range.Most =
      foreignRate < 0.02 * (device.Read + device.Written) ? range.Least : std::max(range.Least, range.Most);
  return range;
}

bool AreNear(double a, double b)
{
  return std::abs(a - b) <= std::max(2.0, 0.25 * std::max(a, b));
}

LoadEstimate LoadOfDevice(
    const CounterValues& before, const CounterValues& after, const OwnReads& own, const Disk& disk)
{
  const double seconds = after.Seconds - before.Seconds;
  const std::string name = "device " + after.Device->Name;
  const auto device = RatesOf(*before.Device, *after.Device, seconds);
  if (!device) {
    return UnknownLoad(name + ": its counters were reset");
  }
  const OwnReadTotals localReads = own.ThisMachine.value_or(own.AllRanks);
  const OwnRate ownRate = FetchedRate(before, after, own, seconds);
  const double part = disk.MaySpanDisks ? 0.6 : 1;
  if (!(localReads.InFlight > 0) || ownRate.Rate * seconds < FewBytes) {
    // Reads from the page cache do not reach the disk.
    return LoadOfQueue(*device, name, part * (localReads.InFlight > 0 ? 0.5 : 0.7));
  }
  if (device->Read < 0.5 * ownRate.Rate) {
    return UnknownLoad(fmt::format(
        "{} counts reads of {}, but PatchIO reads {}: the files are on another device or in the page cache",
        name, RateText(device->Read), RateText(ownRate.Rate)));
  }
  const double all = device->Read + device->Written;
  const double foreignRate = std::max(0.0, all - ownRate.Rate);
  // Requests that the page cache answers do not reach the disk.
  const double fetched = localReads.Bytes > 0 ? std::min(1.0, ownRate.Rate * seconds / localReads.Bytes) : 1;
  const double inDisk = localReads.InFlight * fetched;
  const ForeignRequests range = ForeignRequestsIn(*device, localReads, inDisk, foreignRate, disk);
  LoadEstimate estimate;
  estimate.Load = range.Middle();
  estimate.Confidence = part * ownRate.Confidence * (fetched < 0.8 ? 0.5 : 1) *
                        (AreNear(range.Least, range.Most) ? 1 : 0.7) *
                        (AreNear(estimate.Load, inDisk * foreignRate / ownRate.Rate) ? 1 : 0.8);
  const double foreignRead = std::clamp(device->Read - ownRate.Rate, 0.0, foreignRate);
  const double foreignWrite = foreignRate - foreignRead;
  estimate.Source =
      fmt::format("{}: other programs read {}{} of {}, with {:.0f} of {:.0f} requests in flight", name,
          RateText(foreignRead), foreignWrite > 0.02 * all ? " and write " + RateText(foreignWrite) : "",
          RateText(all), estimate.Load, device->InFlight);
  return estimate;
}

/// The rates of a network file system's client in a window.
struct ClientRates
{
  double BytesRequested = 0, BytesDelivered = 0;  ///< bytes per second
  double InFlight = 0;                            ///< requests at the servers
  double Requests = 0;                            ///< requests per second
};

std::optional<ClientRates> RatesOf(const ClientCounters& before, const ClientCounters& after, double seconds)
{
  const auto requested =
      IncreasePerSecond(before.BytesRequested, after.BytesRequested, 1, seconds, MostBytesPerSecond);
  const auto delivered =
      IncreasePerSecond(before.BytesDelivered, after.BytesDelivered, 1, seconds, MostBytesPerSecond);
  const auto requests = IncreasePerSecond(before.Requests, after.Requests, 1, seconds, MostBytesPerSecond);
  const double inFlight = (after.Seconds - before.Seconds) / seconds;
  if (!requested || !delivered || !requests || !(inFlight >= 0 && inFlight < PlausibleInFlight)) {
    return {};
  }
  return ClientRates{*requested, *delivered, inFlight, *requests};
}

/// Returns the load by other processes of this machine.
LoadEstimate LoadOfMachine(
    const ClientRates& client, const OwnReadTotals& localReads, double seconds, const std::string& name)
{
  const double ownRate = localReads.Bytes / seconds;
  if (!(localReads.InFlight > 0) || ownRate * seconds < FewBytes) {
    return {client.InFlight, 0.5,
        fmt::format(
            "{}: {:.1f} requests of other programs on this machine in flight", name, client.InFlight)};
  }
  // Lustre may hide the statistics of the mount and still show the statistics of the targets.
  const double all = client.BytesRequested > 0 ? client.BytesRequested : client.BytesDelivered;
  if (all < 0.8 * ownRate) {
    return UnknownLoad(name + ": its counters show fewer bytes than PatchIO has read");
  }
  const double foreignRate = std::max(0.0, all - ownRate);
  const bool cached = client.BytesDelivered < 0.8 * all;
  return {localReads.InFlight * foreignRate / ownRate, cached ? 0.3 : 0.7,
      fmt::format(
          "{}: other programs on this machine read {} of {}", name, RateText(foreignRate), RateText(all))};
}

/// Returns whether the servers answer about as fast as when idle, or nothing if no request was answered or
/// the speed of the idle servers is unknown.
std::optional<bool> RespondsAsIdle(const ClientRates& client, const std::optional<LoadCurve>& curve)
{
  if (!curve || !curve->CostOfRequest || client.Requests <= 0) {
    return {};
  }
  const double time = client.InFlight / client.Requests;
  const double bytes = client.BytesDelivered / client.Requests;
  return time <= 1.25 * (curve->CostOfRequest->Latency + bytes / curve->CostOfRequest->Bandwidth);
}

/// Combines the load by other processes of this machine (`machine`) with the load by other machines
/// (`elsewhere`), which is inferred from the rate.
LoadEstimate LoadOfClient(const ClientRates& client, const LoadEstimate& machine,
    const LoadEstimate& elsewhere, const OwnReads& own, const std::optional<LoadCurve>& curve)
{
  const auto respondsAsIdle = RespondsAsIdle(client, curve);
  const double all = own.AllRanks.InFlight + machine.Load;
  if (elsewhere.Confidence > 0 && respondsAsIdle == true &&
      all + elsewhere.Load > 1.5 * std::max(1.0, curve->Best)) {
    return UnknownLoad(
        machine.Source + "; the server responds as fast as when idle, but the read rate indicates load");
  }
  if (elsewhere.Confidence > 0) {
    return {machine.Load + elsewhere.Load, std::min(machine.Confidence + 0.2, elsewhere.Confidence),
        machine.Source + "; other machines: " + elsewhere.Source};
  }
  if (respondsAsIdle == true) {
    return {machine.Load, std::min(0.5, machine.Confidence),
        machine.Source + "; the server responds as fast as when idle"};
  }
  // The load by this machine is a lower bound of NC. Without such a load, nothing is known about NC.
  return machine.Load >= 1 ? LoadEstimate{machine.Load, std::min(0.4, machine.Confidence),
                                 machine.Source + "; the load of other machines is unknown"}
                           : UnknownLoad(machine.Source + "; the load of other machines is unknown");
}

bool IsNfs(const std::string& type)
{
  return type == "nfs" || type == "nfs4";
}

DeviceNumber NumberOf(const Mount& mount)
{
  return {static_cast<unsigned>(std::max(0, mount.Major)), static_cast<unsigned>(std::max(0, mount.Minor))};
}

}  // namespace

std::optional<LoadCurve> CurveOf(const StorageProfile& profile)
{
  if (!profile.Fit.Known()) {
    return {};
  }
  LoadCurve curve;
  curve.Rate = [fit = profile.Fit](double concurrency) { return fit.At(concurrency); };
  curve.Most = profile.Fit.Most();
  curve.Best = profile.Fit.Best();
  curve.Residual = profile.Fit.Residual();
  curve.Noise = profile.Fit.Noise();
  curve.CostOfRequest = profile.CostOfRequest;
  return curve;
}

LoadSensor::LoadSensor(Mount mount, std::optional<LoadCurve> curve, const std::string& root)
    : StorageMount(std::move(mount)),
      Curve(std::move(curve)),
      Root(root),
      Device(FindDisk(NumberOf(this->StorageMount), this->StorageMount.Source, this->StorageMount.Type, root))
{
}

LoadSensor::CounterValues LoadSensor::ReadCounters(double seconds) const
{
  CounterValues reading;
  reading.Seconds = seconds;
  if (this->Device) {
    reading.Device = ReadDiskCounters(this->Device->Number, this->Root);
    reading.Fetched = FetchedBytes(this->Root);
  } else if (IsNfs(this->StorageMount.Type)) {
    reading.Client = ReadNfsCounters(this->StorageMount.Point, this->Root);
  } else if (this->StorageMount.Type == "lustre") {
    reading.Client = ReadLustreCounters(this->StorageMount.Source, this->Root);
  }
  return reading;
}

LoadEstimate LoadSensor::InferLoad(const LoadWindow& window, double seconds)
{
  if (!this->Curve) {
    return UnknownLoad("the rates of the idle storage are unknown");
  }
  this->Windows.push_back(window);
  this->WindowEnds.push_back(seconds);
  while (this->Windows.size() > MostWindows || this->WindowEnds.front() < seconds - WindowLifetime) {
    this->Windows.erase(this->Windows.begin());
    this->WindowEnds.erase(this->WindowEnds.begin());
  }
  const double alone = this->Curve->Rate ? this->Curve->Rate(window.InFlight) : 0;
  const std::string rates = fmt::format("{:.0f} requests in flight read at {}, and at {} on the idle storage",
      window.InFlight, RateText(window.Rate), RateText(std::max(0.0, alone)));
  const InvertedLoad found = InvertLoad(*this->Curve, this->Windows);
  if (!found.Fits) {
    return UnknownLoad(rates + ": the storage does not match its profile");
  }
  if (found.Confidence < LeastConfidence) {
    return UnknownLoad(fmt::format(
        "{}: the load is between {:.0f} and {:.0f}, too uncertain to use", rates, found.Least, found.Most));
  }
  return {
      found.Load, found.Confidence, fmt::format("{}: load {:.0f} to {:.0f}", rates, found.Least, found.Most)};
}

LoadEstimate LoadSensor::Sample(const OwnReads& own, double seconds)
{
  const std::optional<CounterValues> before = std::exchange(this->Last, this->ReadCounters(seconds));
  const CounterValues& after = *this->Last;
  if (!before) {
    return UnknownLoad("this is the first read on this storage");
  }
  const double passed = seconds - before->Seconds;
  if (!(passed >= ShortestWindow)) {
    return UnknownLoad("the observation was too short");
  }
  const bool counts = own.Steady && own.AllRanks.InFlight > 0 && own.AllRanks.Bytes >= FewBytes;
  LoadWindow window{own.AllRanks.InFlight, own.AllRanks.Bytes / passed};

  if (before->Client && after.Client) {
    const std::string name = IsNfs(this->StorageMount.Type) ? "NFS" : "Lustre";
    const auto client = RatesOf(*before->Client, *after.Client, passed);
    if (!client) {
      return UnknownLoad(name + ": its counters were reset");
    }
    const LoadEstimate machine = LoadOfMachine(*client, own.ThisMachine.value_or(own.AllRanks), passed, name);
    // All processes of this machine count as one reader, which only other machines slow down.
    const double factor = counts ? 1 + machine.Load / own.AllRanks.InFlight : 1;
    window.InFlight *= factor;
    window.Rate *= factor;
    const LoadEstimate elsewhere = counts ? this->InferLoad(window, seconds) : UnknownLoad("");
    return LoadOfClient(*client, machine, elsewhere, own, this->Curve);
  }
  const LoadEstimate counted = before->Device && after.Device
                                   ? LoadOfDevice(*before, after, own, *this->Device)
                                   : UnknownLoad(this->Device ? "the device no longer exists" : "");
  // If the disk did not deliver everything that PatchIO read, the rate says nothing about the load.
  const bool cached =
      this->Device && FetchedRate(*before, after, own, passed).Rate * passed < 0.9 * own.AllRanks.Bytes;
  const LoadEstimate inferred = !counts  ? UnknownLoad("")
                                : cached ? UnknownLoad("most of the data came from the page cache")
                                         : this->InferLoad(window, seconds);
  return CombineLoads(counted, inferred);
}

LoadEstimate LoadSensor::Sample(const OwnReads& own)
{
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return this->Sample(own, std::chrono::duration<double>(now).count());
}

LoadEstimate CombineLoads(const LoadEstimate& counted, const LoadEstimate& inferred)
{
  const auto joined = [&](const char* between) {
    return counted.Source.empty() || inferred.Source.empty() ? counted.Source + inferred.Source
                                                             : counted.Source + between + inferred.Source;
  };
  if (counted.Confidence <= 0 && inferred.Confidence <= 0) {
    return UnknownLoad(counted.Source.empty() && inferred.Source.empty()
                           ? "this system offers no information about other readers"
                           : joined("; "));
  }
  if (inferred.Confidence <= 0) {
    return counted;
  }
  if (counted.Confidence <= 0) {
    return {inferred.Load, inferred.Confidence, joined("; ")};
  }
  const double sum = counted.Confidence + inferred.Confidence;
  if (AreNear(counted.Load, inferred.Load)) {
    return {(counted.Load * counted.Confidence + inferred.Load * inferred.Confidence) / sum,
        1 - (1 - counted.Confidence) * (1 - inferred.Confidence), joined("; confirmed by the read rate: ")};
  }
  if (counted.Confidence >= 0.5) {
    return {counted.Load, 0.7 * counted.Confidence, joined("; the read rate disagrees: ")};
  }
  return UnknownLoad(joined("; contradicted by the read rate: "));
}

}  // namespace patchio
