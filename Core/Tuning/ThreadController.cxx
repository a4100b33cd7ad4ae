#include "Tuning/ThreadController.h"

#include "Tuning/RateShape.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace patchio {
namespace {

// The values were found by a search on simulated reads of 60 s with 8 % noise, on storages with many laws
// F(N) (SimulatedStorage.h), with up to 1600 reads in each of three scenarios: the profile is right, it is
// wrong by a factor of 4, other readers come and go. The criterion was the fraction of reads within 5 % of
// the best fixed number; `patchio_controller_shares` prints this fraction, and ThreadControllerTest checks
// it. "Given" marks values that are not from this search.

/// Numbers N of the grid per octave (given: 9 % apart, less than noise).
constexpr double StepsOfOctave = 8;
/// Length of a window in seconds.
constexpr double Window = 0.35;
/// Initial variance of ln(rate) (given: 8 %, as in the simulated reads).
constexpr double NoiseAtFirst = 0.0064;
/// Least accepted variance (given: 2 %).
constexpr double LeastNoise = 4e-4;
/// Weight of the newest difference in the estimate of the noise.
constexpr double NoisePace = 0.01;
/// Standard deviation of log2 of the error of the initial N.
constexpr double PriorOctaves = 2;
/// Factor of the weight of earlier windows, per window: half of it after 35 s.
constexpr double Memory = 0.993;
/// Weight of a window; below 1, because noise comes in bursts and outliers are frequent.
constexpr double SampleWeight = 0.7;
/// Surprise, in standard deviations, that does not count as drift.
constexpr double DriftSlack = 0.6;
/// Sum of surprises beyond DriftSlack that indicates a changed storage.
constexpr double DriftLimit = 6;
/// Surprise, in standard deviations, beyond which a single window is an outlier.
constexpr double FarOff = 4;
/// Number of windows that profit from better knowledge.
constexpr double Horizon = 26;
/// Number of windows needed to learn the rate of a number.
constexpr double WindowsToLearn = 4;
/// Number of windows without potential gain before TryFewer() tries fewer threads.
constexpr int Patience = 8;

// Shapes of RateShape with rise = 1 and K = E. The sharpness of the corner is s (1 + fall).
constexpr std::array<double, 6> Falls{0, 0.125, 0.25, 0.5, 0.75, 1};
constexpr std::array<double, 5> Sharpness{0.5, 1, 2, 6, 40};
constexpr int CurveOctaves = 12;  ///< on both sides of the knee
constexpr int CurveSteps = 48;    ///< per octave

using Curve = std::vector<float>;

const std::vector<Curve>& AllCurves()
{
  static const std::vector<Curve> curves = [] {
    std::vector<Curve> made;
    for (const double fall : Falls) {
      for (const double sharpness : Sharpness) {
        const RateShape shape{1, 0, 0, fall, sharpness * (1 + fall)};
        Curve& curve = made.emplace_back();
        for (int i = -CurveOctaves * CurveSteps; i <= CurveOctaves * CurveSteps; ++i) {
          curve.push_back(
              static_cast<float>(shape.LogRate(static_cast<double>(i) / CurveSteps * std::log(2.0))));
        }
      }
    }
    return made;
  }();
  return curves;
}

double ValueOf(const float* curve, double octavesFromKnee)
{
  constexpr int last = 2 * CurveOctaves * CurveSteps;
  const int at = static_cast<int>(octavesFromKnee * CurveSteps + CurveOctaves * CurveSteps + 0.5);
  return curve[std::clamp(at, 0, last)];
}

/// Returns the fraction of the rate that is lost if its logarithm is lower by `difference`: approximately 1 -
/// exp(-difference).
double LossOf(double difference)
{
  return difference / (1 + difference / 2 + difference * difference / 12);
}

}  // namespace

ThreadController::ThreadController(const ControllerOptions& options)
    : Tolerance(options.Tolerance), Noise(NoiseAtFirst)
{
  this->MakeNumbers(options);
  this->MakeShapes();
  this->Probability.resize(this->Shapes.size());
  this->Forget();
  this->Weigh();
}

/// Makes a geometric grid through the initial number.
void ThreadController::MakeNumbers(const ControllerOptions& options)
{
  const int unit = std::max(1, options.Granularity);
  const int least = std::max(1, (std::max(options.Least, 1) + unit - 1) / unit);
  const int most = std::max(least, options.Most / unit);
  const int start = std::clamp((options.Start + unit / 2) / unit, least, most);
  const int steps = static_cast<int>(StepsOfOctave * 31);
  std::vector<int> numbers;
  for (int step = -steps; step <= steps; ++step) {
    const double number = std::min(start * std::exp2(step / StepsOfOctave), static_cast<double>(most));
    numbers.push_back(std::max(static_cast<int>(std::lround(number)), least));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  for (const int number : numbers) {
    this->Numbers.push_back(number * unit);
    this->Places.push_back(std::log2(static_cast<double>(number) * unit));
  }
  const auto place = std::lower_bound(numbers.begin(), numbers.end(), start);
  assert(place != numbers.end());
  this->Current = this->Best = static_cast<int>(place - numbers.begin());
}

/// Makes the curves of all shapes, with knees all over the grid. Shapes whose best number is the initial one
/// are most likely.
void ThreadController::MakeShapes()
{
  const double last = this->Places.back() + 1;
  for (double knee = this->Places.front() - 1; knee <= last; knee += 1 / StepsOfOctave) {
    for (const Curve& curve : AllCurves()) {
      Vector values;
      for (const double place : this->Places) {
        values.push_back(ValueOf(curve.data(), place - knee));
      }
      const double top = *std::max_element(values.begin(), values.end());
      const auto best = std::find_if(
          values.begin(), values.end(), [&](double value) { return value >= top - this->Tolerance; });
      const double off = this->Places[best - values.begin()] - this->Places[this->Current];
      this->Shapes.push_back({curve.data(), knee, -off * off / (2 * PriorOctaves * PriorOctaves), top});
    }
  }
}

void ThreadController::Forget()
{
  this->Total = 0;
  this->Deviation.assign(this->Shapes.size(), 0);
  this->DeviationSquared.assign(this->Shapes.size(), 0);
}

double ThreadController::WindowSeconds() const
{
  return Window;
}

void ThreadController::Observe(double rate, int threads)
{
  if (!std::isfinite(rate) || rate < 0 || threads < 1) {
    return;
  }
  if (rate == 0) {
    ++this->EmptyWindows;
    return;
  }
  rate /= 1 + this->EmptyWindows;
  this->EmptyWindows = 0;
  const Sample sample{std::log2(threads), std::log(rate), SampleWeight};
  this->MeasureNoise(sample, threads);
  const double surprise = this->SurpriseOf(sample);
  this->Total *= Memory;
  std::for_each(this->Deviation.begin(), this->Deviation.end(), [](double& sum) { sum *= Memory; });
  std::for_each(
      this->DeviationSquared.begin(), this->DeviationSquared.end(), [](double& sum) { sum *= Memory; });
  const bool up = this->Up.Add(surprise);
  const bool down = this->Down.Add(-surprise);
  if (up || down) {
    this->StartOver(sample);
  } else if (std::abs(surprise) > FarOff && !this->Doubtful) {
    // An outlier, or the first window of a new state: the next window decides.
    this->Doubtful = sample;
  } else {
    if (this->Doubtful) {
      this->Learn(*std::exchange(this->Doubtful, std::nullopt));
    }
    this->Learn(sample);
  }
  this->Record(rate, threads);
  this->Weigh();
  this->Choose();
}

void ThreadController::MeasureNoise(const Sample& sample, int threads)
{
  if (threads == this->LastThreads) {
    const double difference = sample.Value - this->LastValue;
    // The limit excludes outliers and changes from the noise.
    const double seen = std::min(difference * difference / 2, 9 * this->Noise);
    this->Noise = std::max(this->Noise + NoisePace * (seen - this->Noise), LeastNoise);
  }
  this->LastThreads = threads;
  this->LastValue = sample.Value;
}

/// Returns how far the rate is above the expected one, in standard deviations.
double ThreadController::SurpriseOf(const Sample& sample) const
{
  if (this->Total <= 0) {
    return 0;
  }
  double mean = 0, square = 0;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    if (this->Probability[s] > 0) {
      const Shape& shape = this->Shapes[s];
      const double expected =
          this->Deviation[s] / this->Total + ValueOf(shape.Curve, sample.Place - shape.Knee);
      const double off = sample.Value - expected;
      mean += this->Probability[s] * off;
      square += this->Probability[s] * off * off;
    }
  }
  const double variance =
      std::max(0.0, square - mean * mean) + this->Noise * (1 / sample.Weight + 1 / this->Total);
  return mean / std::sqrt(variance);
}

bool ThreadController::Drift::Add(double surprise)
{
  this->Sum += std::clamp(surprise, -3.0, 3.0) - DriftSlack;
  if (this->Sum <= 0) {
    *this = Drift();
  }
  return this->Sum > DriftLimit;
}

/// Begins a new epoch: the storage has changed. Only the newest sample, and an outlier before it that is not
/// learnt yet, belong to the new state.
void ThreadController::StartOver(const Sample& newest)
{
  ++this->Epoch;
  this->Forget();
  this->Up = this->Down = Drift();
  this->Learn(newest);
}

void ThreadController::Learn(const Sample& sample)
{
  this->Total += sample.Weight;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    const Shape& shape = this->Shapes[s];
    const double deviation = sample.Value - ValueOf(shape.Curve, sample.Place - shape.Knee);
    this->Deviation[s] += sample.Weight * deviation;
    this->DeviationSquared[s] += sample.Weight * deviation * deviation;
  }
}

/// Computes the probabilities of the shapes, given the observations of this epoch.
void ThreadController::Weigh()
{
  constexpr double negligible = -14;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    this->Probability[s] = this->Shapes[s].Prior;
    if (this->Total > 0) {
      const double squares =
          this->DeviationSquared[s] - this->Deviation[s] * this->Deviation[s] / this->Total;
      this->Probability[s] -= squares / (2 * this->Noise);
    }
  }
  const double most = *std::max_element(this->Probability.begin(), this->Probability.end());
  double sum = 0;
  for (double& probability : this->Probability) {
    probability = probability - most > negligible ? std::exp(probability - most) : 0;
    sum += probability;
  }
  for (double& probability : this->Probability) {
    probability /= sum;
  }
}

void ThreadController::Record(double rate, int threads)
{
  const auto same = [&](const ThreadsTried& tried) {
    return tried.Threads == threads && tried.Epoch == this->Epoch;
  };
  auto tried = std::find_if(this->Tried.begin(), this->Tried.end(), same);
  if (tried == this->Tried.end()) {
    tried = this->Tried.insert(tried, {threads, 0, 0, this->Epoch});
  }
  ++tried->Samples;
  tried->Rate += (rate - tried->Rate) / tried->Samples;
}

ThreadController::Expectation ThreadController::Expect() const
{
  const std::size_t numbers = this->Numbers.size();
  Expectation expected{Vector(numbers, 0), Vector(numbers, 0), Vector(numbers, 0)};
  Vector mean(numbers, 0);
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    const double probability = this->Probability[s];
    if (probability < 1e-5) {
      continue;
    }
    const Shape& shape = this->Shapes[s];
    const double level = this->Total > 0 ? this->Deviation[s] / this->Total - this->LastValue : 0;
    for (std::size_t n = 0; n < numbers; ++n) {
      const double value = ValueOf(shape.Curve, this->Places[n] - shape.Knee);
      const double loss = LossOf(shape.Top - value);
      expected.Loss[n] += probability * loss;
      expected.Regret[n] += probability * std::max(0.0, loss - this->Tolerance);
      mean[n] += probability * (level + value);
      expected.Variance[n] += probability * (level + value) * (level + value);
    }
  }
  for (std::size_t n = 0; n < numbers; ++n) {
    expected.Variance[n] = std::max(0.0, expected.Variance[n] - mean[n] * mean[n]);
  }
  return expected;
}

/// Chooses the number for the next window. The best number is the smallest one whose regret is close to the
/// least one. Tries another number if the expected information is worth its cost.
void ThreadController::Choose()
{
  const Expectation expected = this->Expect();
  const double least = *std::min_element(expected.Regret.begin(), expected.Regret.end());
  const auto best = std::find_if(expected.Regret.begin(), expected.Regret.end(),
      [&](double regret) { return regret <= least + this->Tolerance; });
  this->Best = static_cast<int>(best - expected.Regret.begin());
  const double gain = expected.Loss[this->Best];
  const int now = this->Current;
  double most = -std::numeric_limits<double>::infinity();
  for (int n = 0; n < static_cast<int>(this->Numbers.size()); ++n) {
    const double variance = expected.Variance[n];
    const double resolved = variance / (variance + this->Noise / WindowsToLearn);
    const double loss = std::max(0.0, expected.Loss[n] - expected.Loss[this->Best]);
    // More threads than the best number burden other users of the storage.
    const double burden = 2 * this->Tolerance * std::max(0.0, this->Places[n] - this->Places[this->Best]);
    const double value =
        Horizon * gain * resolved - loss * WindowsToLearn - burden + (n == this->Best ? 1e-9 : 0);
    if (value > most) {
      most = value;
      this->Current = n;
    }
  }
  if (this->Current == now && now == this->Best) {
    this->TryFewer(expected);
  } else {
    this->WindowsAtBest = 0;
  }
}

/// Tries half an octave fewer threads from time to time, because fewer threads may give the same rate. Does
/// nothing if the controller has already tried so few threads in this epoch.
void ThreadController::TryFewer(const Expectation& expected)
{
  constexpr double half = 0.5;
  constexpr double bearable = 0.15;  // loss
  const auto above =
      std::upper_bound(this->Places.begin(), this->Places.end(), this->Places[this->Best] - half);
  if (++this->WindowsAtBest < Patience || above == this->Places.begin()) {
    return;
  }
  this->WindowsAtBest = 0;
  const auto number = static_cast<int>(above - this->Places.begin()) - 1;
  const auto known = [&](const ThreadsTried& tried) {
    return tried.Epoch == this->Epoch && tried.Samples >= 2 && tried.Threads <= this->Numbers[number];
  };
  if (expected.Loss[number] < bearable && std::none_of(this->Tried.begin(), this->Tried.end(), known)) {
    this->Current = number;
  }
}

}  // namespace patchio
