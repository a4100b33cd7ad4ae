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

// Chosen on the emulated parallel file system with 0, 4 and 16 requests of others, where the error of NC is
// 0.5, 0 and 0.1 (`./dev bench tuning`), and on laws with errors of known size (LoadInversionTest).

/// Windows that are judged together: about 3 s, within which a load seldom changes.
constexpr std::size_t MostWindows = 8;
/// The relative standard deviation of a window; the curve may state a greater one.
constexpr double LeastNoise = 0.03;
/// The same of the curve at one N against another N.
constexpr double LeastResidual = 0.02;
/// The same of the whole curve: storages are not the same every day.
constexpr double Scale = 0.04;
/// How far an error of the curve reaches, in ln N: half an octave.
constexpr double ShapeReach = 0.35;
/// The degrees of freedom of Student's t: the size of the errors is itself known only roughly.
constexpr double Freedom = 4;

/// Loads of which each stands for a range of loads; Weight is how likely that range is beforehand.
struct Candidate
{
  double Load;
  double Weight;
};

/// Up to four times what was measured. Small loads are likelier: the density is 1 / (load + 4).
std::vector<Candidate> Candidates(double mostMeasured)
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

/// Errors of windows depend on each other: the curve is wrong for all of them alike, and for those of one N
/// even more so. This is their covariance.
Eigen::MatrixXd CovarianceOf(const LoadCurve& curve, const std::vector<LoadWindow>& windows)
{
  const double own = std::max(curve.Noise, LeastNoise);
  const double shape = std::max(curve.Residual, LeastResidual);
  const auto size = static_cast<Eigen::Index>(windows.size());
  return Eigen::MatrixXd::NullaryExpr(size, size, [&](Eigen::Index row, Eigen::Index column) {
    const double apart = std::log(windows[row].InFlight / windows[column].InFlight) / ShapeReach;
    return Scale * Scale + shape * shape * std::exp(-0.5 * apart * apart) + (row == column ? own * own : 0);
  });
}

/// How badly each candidate explains the windows; infinite where the curve has no value.
std::vector<double> Squares(
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
      // The square of the deviations in units of the errors: about their number where they are just errors.
      squares[index] = errors.matrixL().solve(deviations).squaredNorm();
    }
  }
  return squares;
}

double LeastOf(const std::vector<double>& squares)
{
  return *std::min_element(squares.begin(), squares.end());
}

/// Four standard deviations above what errors alone give.
bool Explained(double square, std::size_t windows)
{
  return square <= windows + 4 * std::sqrt(2.0 * windows);
}

/// What is likely after all: weights that sum up to 1. How great the errors are is itself known only roughly,
/// so great ones are likelier than those of a normal distribution (Student's t with Freedom degrees).
std::vector<double> Likelihoods(
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

double Quantile(const std::vector<Candidate>& candidates, const std::vector<double>& weights, double part)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    sum += weights[index];
    if (sum >= part) {
      return candidates[index].Load;
    }
  }
  return candidates.back().Load;
}

/// How likely `load` is right within 2 or 25 %.
double Probability(const std::vector<Candidate>& candidates, const std::vector<double>& weights, double load)
{
  double sum = 0;
  for (std::size_t index = 0; index < candidates.size(); ++index) {
    const double truth = candidates[index].Load;
    sum += std::abs(load - truth) <= std::max(2.0, 0.25 * truth) ? weights[index] : 0;
  }
  return sum;
}

bool Sensible(const LoadWindow& window)
{
  return std::isfinite(window.InFlight) && window.InFlight > 0 && std::isfinite(window.Rate) &&
         window.Rate > 0;
}

/// One N alone cannot tell a loaded storage from one that has become slower.
double CrossCheck(const std::vector<LoadWindow>& windows)
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
  const std::vector<Candidate> candidates = Candidates(curve.Most);
  std::vector<LoadWindow> used;
  std::vector<double> squares;
  for (auto window = windows.rbegin(); window != windows.rend() && used.size() < MostWindows; ++window) {
    if (!Sensible(*window)) {
      continue;
    }
    used.push_back(*window);
    const std::vector<double> longer = Squares(curve, used, candidates);
    if (!Explained(LeastOf(longer), used.size())) {
      used.pop_back();
      break;
    }
    squares = longer;
  }
  if (used.empty()) {
    return result;
  }
  const std::vector<double> weights = Likelihoods(candidates, squares, used.size());
  result.Fits = true;
  result.Windows = static_cast<int>(used.size());
  result.Load = Quantile(candidates, weights, 0.5);
  result.Least = Quantile(candidates, weights, 0.05);
  result.Most = Quantile(candidates, weights, 0.95);
  result.Sureness = CrossCheck(used) * std::max(0.0, 2 * Probability(candidates, weights, result.Load) - 1);
  return result;
}

namespace {

using Reading = LoadSensor::Reading;

constexpr double ShortestWindow = 0.02;      ///< seconds: the kernel counts in steps of 1 to 10 ms
constexpr double FewBytes = 1e6;             ///< less says nothing about who gets how much
constexpr double MostBytesPerSecond = 1e13;  ///< more is no rate but a counter that was set back
constexpr double MostInFlight = 1e5;         ///< the same
constexpr double Memory = 30;                ///< seconds for which windows count
constexpr double LeastSureness = 0.2;        ///< below that it is a guess

LoadEstimate Unknown(std::string why)
{
  return {0, 0, std::move(why)};
}

std::string RateText(double bytesPerSecond)
{
  return ByteText(bytesPerSecond) + "/s";
}

/// What a counter says for a window: a number a second. None when it was set back.
std::optional<double> PerSecond(
    std::uint64_t before, std::uint64_t after, double unit, double seconds, double most)
{
  const auto passed = Passed(before, after);
  const double rate = passed ? static_cast<double>(*passed) * unit / seconds : most;
  return rate < most ? std::optional(rate) : std::nullopt;
}

/// Bytes a second of a disk, the requests in it, and the mean bytes of one that reads.
struct DeviceRates
{
  double Read, Written, InFlight, Request;
};

std::optional<DeviceRates> RatesOf(const DiskCounters& before, const DiskCounters& after, double seconds)
{
  const auto read = PerSecond(before.SectorsRead, after.SectorsRead, 512, seconds, MostBytesPerSecond);
  const auto written =
      PerSecond(before.SectorsWritten, after.SectorsWritten, 512, seconds, MostBytesPerSecond);
  // The times of all requests over the time that passed are the requests in flight.
  const auto reading =
      PerSecond(before.ReadMilliseconds, after.ReadMilliseconds, 1e-3, seconds, MostInFlight);
  const auto writing =
      PerSecond(before.WriteMilliseconds, after.WriteMilliseconds, 1e-3, seconds, MostInFlight);
  const auto reads = Passed(before.Reads, after.Reads);
  if (!read || !written || !reading || !writing || !reads) {
    return {};
  }
  return DeviceRates{
      *read, *written, *reading + *writing, *read * seconds / std::max(1.0, static_cast<double>(*reads))};
}

/// Bytes a second that a disk delivered to us, and how sure that is.
struct OwnRate
{
  double Rate = 0;
  double Sureness = 0;
};

OwnRate FetchedRate(const Reading& before, const Reading& after, const OwnReads& own, double seconds)
{
  if (own.Fetched) {
    return {*own.Fetched / seconds, 0.9};
  }
  const auto fetched =
      before.Fetched && after.Fetched ? Passed(*before.Fetched, *after.Fetched) : std::nullopt;
  if (fetched) {
    return {*fetched / seconds, own.Here ? 0.5 : 0.9};
  }
  return {own.Here.value_or(own.All).Bytes / seconds, 0.5};
}

/// Others' requests in flight when we read nothing from the disk: all that are in it.
LoadEstimate OfQueue(const DeviceRates& device, const std::string& who, double sureness)
{
  return {device.InFlight, sureness,
      fmt::format("{}: {:.1f} requests in flight by others", who, device.InFlight)};
}

/// The requests of others in a disk, from to.
struct OthersInDisk
{
  double Least, Most;
  double Middle() const { return 0.5 * (this->Least + this->Most); }
};

/// What is in the disk's queue and not ours. One request of ours may be several there; how many is not
/// certain when others' requests are of another size.
OthersInDisk InQueue(
    const DeviceRates& device, const OwnShard& here, double inDisk, double others, const Disk& disk)
{
  const double request = here.Requests > 0 ? static_cast<double>(here.Bytes) / here.Requests : 0;
  const double byMean = std::max(1.0, request / std::max(1.0, device.Request));
  const double byLimit = std::max(1.0, request / disk.LargestRequest);
  OthersInDisk range{
      std::max(0.0, device.InFlight - inDisk * byMean), std::max(0.0, device.InFlight - inDisk * byLimit)};
  // Where nobody else gets anything, the mean size is that of ours.
  range.Most =
      others < 0.02 * (device.Read + device.Written) ? range.Least : std::max(range.Least, range.Most);
  return range;
}

bool Near(double one, double other)
{
  return std::abs(one - other) <= std::max(2.0, 0.25 * std::max(one, other));
}

LoadEstimate OfDevice(const Reading& before, const Reading& after, const OwnReads& own, const Disk& disk)
{
  const double seconds = after.Seconds - before.Seconds;
  const std::string who = "device " + after.Device->Name;
  const auto device = RatesOf(*before.Device, *after.Device, seconds);
  if (!device) {
    return Unknown(who + ": its counters were reset");
  }
  const OwnShard here = own.Here.value_or(own.All);
  const OwnRate mine = FetchedRate(before, after, own, seconds);
  const double part = disk.Several ? 0.6 : 1;
  if (!(here.InFlight > 0) || mine.Rate * seconds < FewBytes) {
    // Reads that the page cache answers are none of the disk's.
    return OfQueue(*device, who, part * (here.InFlight > 0 ? 0.5 : 0.7));
  }
  if (device->Read < 0.5 * mine.Rate) {
    return Unknown(fmt::format(
        "{} counts reads of {}, but PatchIO reads {}: the files are on another device or in the page cache",
        who, RateText(device->Read), RateText(mine.Rate)));
  }
  const double all = device->Read + device->Written;
  const double others = std::max(0.0, all - mine.Rate);
  // Requests that the page cache answers are not in the disk.
  const double fetched = here.Bytes > 0 ? std::min(1.0, mine.Rate * seconds / here.Bytes) : 1;
  const double inDisk = here.InFlight * fetched;
  const OthersInDisk range = InQueue(*device, here, inDisk, others, disk);
  LoadEstimate estimate;
  estimate.Load = range.Middle();
  estimate.Sureness = part * mine.Sureness * (fetched < 0.8 ? 0.5 : 1) *
                      (Near(range.Least, range.Most) ? 1 : 0.7) *
                      (Near(estimate.Load, inDisk * others / mine.Rate) ? 1 : 0.8);
  const double othersRead = std::clamp(device->Read - mine.Rate, 0.0, others);
  const double othersWrite = others - othersRead;
  estimate.Source = fmt::format("{}: others read {}{} of {}, with {:.0f} of {:.0f} requests in flight", who,
      RateText(othersRead), othersWrite > 0.02 * all ? " and write " + RateText(othersWrite) : "",
      RateText(all), estimate.Load, device->InFlight);
  return estimate;
}

/// What a client of a network file system got in a window.
struct ClientRates
{
  double Wanted = 0, Delivered = 0;  ///< bytes a second
  double InFlight = 0;               ///< requests at the servers
  double Requests = 0;               ///< a second
};

std::optional<ClientRates> RatesOf(const ClientCounters& before, const ClientCounters& after, double seconds)
{
  const auto wanted = PerSecond(before.Wanted, after.Wanted, 1, seconds, MostBytesPerSecond);
  const auto delivered = PerSecond(before.Delivered, after.Delivered, 1, seconds, MostBytesPerSecond);
  const auto requests = PerSecond(before.Requests, after.Requests, 1, seconds, MostBytesPerSecond);
  const double inFlight = (after.Seconds - before.Seconds) / seconds;
  if (!wanted || !delivered || !requests || !(inFlight >= 0 && inFlight < MostInFlight)) {
    return {};
  }
  return ClientRates{*wanted, *delivered, inFlight, *requests};
}

/// The load that other processes of this machine make.
LoadEstimate OfMachine(
    const ClientRates& client, const OwnShard& here, double seconds, const std::string& who)
{
  const double mine = here.Bytes / seconds;
  if (!(here.InFlight > 0) || mine * seconds < FewBytes) {
    return {client.InFlight, 0.5,
        fmt::format("{}: {:.1f} requests in flight by others on this machine", who, client.InFlight)};
  }
  // Lustre's mount may hide its statistics while the targets show theirs.
  const double all = client.Wanted > 0 ? client.Wanted : client.Delivered;
  if (all < 0.8 * mine) {
    return Unknown(who + ": it counts less than PatchIO reads");
  }
  const double others = std::max(0.0, all - mine);
  const bool cached = client.Delivered < 0.8 * all;
  return {here.InFlight * others / mine, cached ? 0.3 : 0.7,
      fmt::format("{}: others on this machine read {} of {}", who, RateText(others), RateText(all))};
}

/// Whether the servers answer no slower than when they are idle. None when nobody knows how fast that is.
std::optional<bool> AnswersAtOnce(const ClientRates& client, const std::optional<LoadCurve>& curve)
{
  if (!curve || !curve->Requests || client.Requests <= 0) {
    return {};
  }
  const double time = client.InFlight / client.Requests;
  const double bytes = client.Delivered / client.Requests;
  return time <= 1.25 * (curve->Requests->Latency + bytes / curve->Requests->Bandwidth);
}

/// Other processes of this machine, and what the rate says about other machines.
LoadEstimate OfClient(const ClientRates& client, const LoadEstimate& machine, const LoadEstimate& elsewhere,
    const OwnReads& own, const std::optional<LoadCurve>& curve)
{
  const auto atOnce = AnswersAtOnce(client, curve);
  const double all = own.All.InFlight + machine.Load;
  if (elsewhere.Sureness > 0 && atOnce == true && all + elsewhere.Load > 1.5 * std::max(1.0, curve->Best)) {
    return Unknown(
        machine.Source + "; the server responds as fast as when idle, but the read rate indicates load");
  }
  if (elsewhere.Sureness > 0) {
    return {machine.Load + elsewhere.Load, std::min(machine.Sureness + 0.2, elsewhere.Sureness),
        machine.Source + "; other machines: " + elsewhere.Source};
  }
  if (atOnce == true) {
    return {machine.Load, std::min(0.5, machine.Sureness),
        machine.Source + "; the server responds as fast as when idle"};
  }
  // What is seen here is the least that it can be; nobody here is no news of the others.
  return machine.Load >= 1 ? LoadEstimate{machine.Load, std::min(0.4, machine.Sureness),
                                 machine.Source + "; the load of other machines is unknown"}
                           : Unknown(machine.Source + "; the load of other machines is unknown");
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
  curve.Least = profile.Fit.Least();
  curve.Most = profile.Fit.Most();
  curve.Best = profile.Fit.Best();
  curve.Residual = profile.Fit.Residual();
  curve.Noise = profile.Fit.Noise();
  curve.Requests = profile.Requests;
  return curve;
}

LoadSensor::LoadSensor(Mount mount, std::optional<LoadCurve> curve, const std::string& root)
    : Where(std::move(mount)),
      Curve(std::move(curve)),
      Root(root),
      Device(FindDisk(NumberOf(this->Where), this->Where.Source, this->Where.Type, root))
{
}

LoadSensor::Reading LoadSensor::ReadCounters(double seconds) const
{
  Reading reading;
  reading.Seconds = seconds;
  if (this->Device) {
    reading.Device = ReadDiskCounters(this->Device->Number, this->Root);
    reading.Fetched = FetchedBytes(this->Root);
  } else if (IsNfs(this->Where.Type)) {
    reading.Client = ReadNfsCounters(this->Where.Point, this->Root);
  } else if (this->Where.Type == "lustre") {
    reading.Client = ReadLustreCounters(this->Where.Source, this->Root);
  }
  return reading;
}

LoadEstimate LoadSensor::Infer(const LoadWindow& window, double seconds)
{
  if (!this->Curve) {
    return Unknown("the rates of the idle storage are unknown");
  }
  this->Windows.push_back(window);
  this->Ends.push_back(seconds);
  while (this->Windows.size() > MostWindows || this->Ends.front() < seconds - Memory) {
    this->Windows.erase(this->Windows.begin());
    this->Ends.erase(this->Ends.begin());
  }
  const double alone = this->Curve->Rate ? this->Curve->Rate(window.InFlight) : 0;
  const std::string rates = fmt::format("{:.0f} requests in flight read at {}, and at {} on the idle storage",
      window.InFlight, RateText(window.Rate), RateText(std::max(0.0, alone)));
  const InvertedLoad found = InvertLoad(*this->Curve, this->Windows);
  if (!found.Fits) {
    return Unknown(rates + ": the storage does not match its profile");
  }
  if (found.Sureness < LeastSureness) {
    return Unknown(fmt::format(
        "{}: the load is between {:.0f} and {:.0f}, too uncertain to use", rates, found.Least, found.Most));
  }
  return {
      found.Load, found.Sureness, fmt::format("{}: load {:.0f} to {:.0f}", rates, found.Least, found.Most)};
}

LoadEstimate LoadSensor::Sample(const OwnReads& own, double seconds)
{
  const std::optional<Reading> before = std::exchange(this->Last, this->ReadCounters(seconds));
  const Reading& after = *this->Last;
  if (!before) {
    return Unknown("this is the first read on this storage");
  }
  const double passed = seconds - before->Seconds;
  if (!(passed >= ShortestWindow)) {
    return Unknown("the observation was too short");
  }
  const bool counts = own.Steady && own.All.InFlight > 0 && own.All.Bytes >= FewBytes;
  LoadWindow window{own.All.InFlight, own.All.Bytes / passed};

  if (before->Client && after.Client) {
    const std::string who = IsNfs(this->Where.Type) ? "NFS" : "Lustre";
    const auto client = RatesOf(*before->Client, *after.Client, passed);
    if (!client) {
      return Unknown(who + ": its counters were reset");
    }
    const LoadEstimate machine = OfMachine(*client, own.Here.value_or(own.All), passed, who);
    // All of this machine together are one reader; what slows it down are other machines.
    const double factor = counts ? 1 + machine.Load / own.All.InFlight : 1;
    window.InFlight *= factor;
    window.Rate *= factor;
    const LoadEstimate elsewhere = counts ? this->Infer(window, seconds) : Unknown("");
    return OfClient(*client, machine, elsewhere, own, this->Curve);
  }
  const LoadEstimate counted = before->Device && after.Device
                                   ? OfDevice(*before, after, own, *this->Device)
                                   : Unknown(this->Device ? "the device no longer exists" : "");
  // A disk that did not deliver all that we read says nothing about its load by our rate.
  const bool cached =
      this->Device && FetchedRate(*before, after, own, passed).Rate * passed < 0.9 * own.All.Bytes;
  const LoadEstimate inferred = !counts  ? Unknown("")
                                : cached ? Unknown("most of the data came from the page cache")
                                         : this->Infer(window, seconds);
  return CrossChecked(counted, inferred);
}

LoadEstimate LoadSensor::Sample(const OwnReads& own)
{
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return this->Sample(own, std::chrono::duration<double>(now).count());
}

LoadEstimate CrossChecked(const LoadEstimate& counted, const LoadEstimate& inferred)
{
  const auto joined = [&](const char* between) {
    return counted.Source.empty() || inferred.Source.empty() ? counted.Source + inferred.Source
                                                             : counted.Source + between + inferred.Source;
  };
  if (counted.Sureness <= 0 && inferred.Sureness <= 0) {
    return Unknown(counted.Source.empty() && inferred.Source.empty()
                       ? "this system offers no information about other readers"
                       : joined("; "));
  }
  if (inferred.Sureness <= 0) {
    return counted;
  }
  if (counted.Sureness <= 0) {
    return {inferred.Load, inferred.Sureness, joined("; ")};
  }
  const double sum = counted.Sureness + inferred.Sureness;
  if (Near(counted.Load, inferred.Load)) {
    return {(counted.Load * counted.Sureness + inferred.Load * inferred.Sureness) / sum,
        1 - (1 - counted.Sureness) * (1 - inferred.Sureness), joined("; confirmed by the read rate: ")};
  }
  if (counted.Sureness >= 0.5) {
    return {counted.Load, 0.7 * counted.Sureness, joined("; the read rate disagrees: ")};
  }
  return Unknown(joined("; contradicted by the read rate: "));
}

}  // namespace patchio
