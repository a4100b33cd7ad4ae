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

/// Number of candidates N per octave (given: neighbours are 9 % apart in N, and less in their rates).
constexpr double StepsOfOctave = 8;
/// Length of a window in seconds.
constexpr double WindowLength = 0.35;
/// Initial variance of ln(rate) (given: 8 %, as in the simulated reads).
constexpr double InitialNoiseVariance = 0.0064;
/// Least accepted variance (given: 2 %).
constexpr double LeastNoiseVariance = 4e-4;
/// Weight of the newest difference in the estimate of the noise.
constexpr double NoisePace = 0.01;
/// Standard deviation of log2 of the error of the initial N.
constexpr double PriorOctaves = 2;
/// Factor of the weight of earlier windows, per window: half the weight after 35 s.
constexpr double ForgettingFactor = 0.993;
/// Weight of a window; below 1, because noise comes in bursts and outliers are frequent.
constexpr double SampleWeight = 0.7;
/// Standard score of a window's rate that does not count as drift.
constexpr double DriftSlack = 0.6;
/// Sum of standard scores beyond DriftSlack that indicates a changed storage.
constexpr double DriftLimit = 6;
/// Standard score beyond which a single window is an outlier.
constexpr double FarOff = 4;
/// Number of windows that profit from better knowledge.
constexpr double Horizon = 26;
/// Number of windows needed to learn the rate of a candidate.
constexpr double WindowsToLearn = 4;
/// Number of windows with the best N before TryFewerThreads() tries fewer threads.
constexpr int Patience = 8;

// Shapes of RateShape with rise = 1, K = E and s = Sharpness x (1 + fall).
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

double LogRateAt(const float* curve, double octavesFromKnee)
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
    : Tolerance(options.Tolerance), NoiseVariance(InitialNoiseVariance)
{
  this->MakeCandidates(options);
  this->MakeShapes();
  this->Probability.resize(this->Shapes.size());
  this->ResetSums();
  this->ComputeProbabilities();
}

/// Makes the candidates, a geometric grid through the initial number, and begins with the initial number.
void ThreadController::MakeCandidates(const ControllerOptions& options)
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
    this->Candidates.push_back(number * unit);
    this->LogCandidates.push_back(std::log2(static_cast<double>(number) * unit));
  }
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), start);
  assert(found != numbers.end());
  this->Current = this->Best = static_cast<int>(found - numbers.begin());
}

/// Makes all shapes, with knees from one octave below the candidates to one octave above. Shapes whose best
/// number is the initial number are most likely.
void ThreadController::MakeShapes()
{
  const double last = this->LogCandidates.back() + 1;
  for (double knee = this->LogCandidates.front() - 1; knee <= last; knee += 1 / StepsOfOctave) {
    for (const Curve& curve : AllCurves()) {
      Vector values;
      for (const double logThreads : this->LogCandidates) {
        values.push_back(LogRateAt(curve.data(), logThreads - knee));
      }
      const double top = *std::max_element(values.begin(), values.end());
      const auto best = std::find_if(
          values.begin(), values.end(), [&](double value) { return value >= top - this->Tolerance; });
      const double off = this->LogCandidates[best - values.begin()] - this->LogCandidates[this->Current];
      this->Shapes.push_back({curve.data(), knee, -off * off / (2 * PriorOctaves * PriorOctaves), top});
    }
  }
}

void ThreadController::ResetSums()
{
  this->TotalWeight = 0;
  this->Deviation.assign(this->Shapes.size(), 0);
  this->DeviationSquared.assign(this->Shapes.size(), 0);
}

double ThreadController::WindowSeconds() const
{
  return WindowLength;
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
  this->UpdateNoise(sample, threads);
  const double score = this->StandardScore(sample);
  this->TotalWeight *= ForgettingFactor;
  std::for_each(this->Deviation.begin(), this->Deviation.end(), [](double& sum) { sum *= ForgettingFactor; });
  std::for_each(this->DeviationSquared.begin(), this->DeviationSquared.end(),
      [](double& sum) { sum *= ForgettingFactor; });
  const bool up = this->UpwardDrift.Add(score);
  const bool down = this->DownwardDrift.Add(-score);
  if (up || down) {
    this->BeginEpoch(sample);
  } else if (std::abs(score) > FarOff && !this->PendingOutlier) {
    // An outlier, or the first window of a new state: the next window decides.
    this->PendingOutlier = sample;
  } else {
    if (this->PendingOutlier) {
      this->AddSample(*std::exchange(this->PendingOutlier, std::nullopt));
    }
    this->AddSample(sample);
  }
  this->AddToHistory(rate, threads);
  this->ComputeProbabilities();
  this->ChooseCandidate();
}

void ThreadController::UpdateNoise(const Sample& sample, int threads)
{
  if (threads == this->LastThreads) {
    const double difference = sample.Value - this->LastValue;
    // The limit excludes outliers and changes from the noise.
    const double seen = std::min(difference * difference / 2, 9 * this->NoiseVariance);
    this->NoiseVariance =
        std::max(this->NoiseVariance + NoisePace * (seen - this->NoiseVariance), LeastNoiseVariance);
  }
  this->LastThreads = threads;
  this->LastValue = sample.Value;
}

/// Returns the difference between ln(rate) and its expected value, in standard deviations; 0 before the first
/// sample of an epoch.
double ThreadController::StandardScore(const Sample& sample) const
{
  if (this->TotalWeight <= 0) {
    return 0;
  }
  double mean = 0, square = 0;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    if (this->Probability[s] > 0) {
      const Shape& shape = this->Shapes[s];
      const double expected =
          this->Deviation[s] / this->TotalWeight + LogRateAt(shape.Curve, sample.LogThreads - shape.Knee);
      const double off = sample.Value - expected;
      mean += this->Probability[s] * off;
      square += this->Probability[s] * off * off;
    }
  }
  const double variance =
      std::max(0.0, square - mean * mean) + this->NoiseVariance * (1 / sample.Weight + 1 / this->TotalWeight);
  return mean / std::sqrt(variance);
}

bool ThreadController::Drift::Add(double score)
{
  this->Sum += std::clamp(score, -3.0, 3.0) - DriftSlack;
  if (this->Sum <= 0) {
    *this = Drift();
  }
  return this->Sum > DriftLimit;
}

/// Begins a new epoch: the storage has changed. Only the newest sample, and a pending outlier before this
/// sample, belong to the new state.
void ThreadController::BeginEpoch(const Sample& newest)
{
  ++this->Epoch;
  this->ResetSums();
  this->UpwardDrift = this->DownwardDrift = Drift();
  this->AddSample(newest);
}

void ThreadController::AddSample(const Sample& sample)
{
  this->TotalWeight += sample.Weight;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    const Shape& shape = this->Shapes[s];
    const double deviation = sample.Value - LogRateAt(shape.Curve, sample.LogThreads - shape.Knee);
    this->Deviation[s] += sample.Weight * deviation;
    this->DeviationSquared[s] += sample.Weight * deviation * deviation;
  }
}

/// Computes the probabilities of the shapes, given the observations of this epoch.
void ThreadController::ComputeProbabilities()
{
  constexpr double negligible = -14;
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    this->Probability[s] = this->Shapes[s].Prior;
    if (this->TotalWeight > 0) {
      const double squares =
          this->DeviationSquared[s] - this->Deviation[s] * this->Deviation[s] / this->TotalWeight;
      this->Probability[s] -= squares / (2 * this->NoiseVariance);
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

void ThreadController::AddToHistory(double rate, int threads)
{
  const auto same = [&](const ThreadObservations& tried) {
    return tried.Threads == threads && tried.Epoch == this->Epoch;
  };
  auto tried = std::find_if(this->Observations.begin(), this->Observations.end(), same);
  if (tried == this->Observations.end()) {
    tried = this->Observations.insert(tried, {threads, 0, 0, this->Epoch});
  }
  ++tried->WindowCount;
  tried->Rate += (rate - tried->Rate) / tried->WindowCount;
}

ThreadController::CandidateLoss ThreadController::ComputeLoss() const
{
  const std::size_t numbers = this->Candidates.size();
  CandidateLoss expected{Vector(numbers, 0), Vector(numbers, 0), Vector(numbers, 0)};
  Vector mean(numbers, 0);
  for (std::size_t s = 0; s < this->Shapes.size(); ++s) {
    const double probability = this->Probability[s];
    if (probability < 1e-5) {
      continue;
    }
    const Shape& shape = this->Shapes[s];
    const double level = this->TotalWeight > 0 ? this->Deviation[s] / this->TotalWeight - this->LastValue : 0;
    for (std::size_t n = 0; n < numbers; ++n) {
      const double value = LogRateAt(shape.Curve, this->LogCandidates[n] - shape.Knee);
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

/// Chooses the number for the next window. The best number is the smallest candidate whose regret is close to
/// the least regret. Tries another number if the expected information is worth its cost.
void ThreadController::ChooseCandidate()
{
  const CandidateLoss expected = this->ComputeLoss();
  const double least = *std::min_element(expected.Regret.begin(), expected.Regret.end());
  const auto best = std::find_if(expected.Regret.begin(), expected.Regret.end(),
      [&](double regret) { return regret <= least + this->Tolerance; });
  this->Best = static_cast<int>(best - expected.Regret.begin());
  const double gain = expected.Loss[this->Best];
  const int now = this->Current;
  double most = -std::numeric_limits<double>::infinity();
  for (int n = 0; n < static_cast<int>(this->Candidates.size()); ++n) {
    const double variance = expected.Variance[n];
    const double resolved = variance / (variance + this->NoiseVariance / WindowsToLearn);
    const double loss = std::max(0.0, expected.Loss[n] - expected.Loss[this->Best]);
    // More threads than the best number burden other users of the storage.
    const double burden =
        2 * this->Tolerance * std::max(0.0, this->LogCandidates[n] - this->LogCandidates[this->Best]);
    const double value =
        Horizon * gain * resolved - loss * WindowsToLearn - burden + (n == this->Best ? 1e-9 : 0);
    if (value > most) {
      most = value;
      this->Current = n;
    }
  }
  if (this->Current == now && now == this->Best) {
    this->TryFewerThreads(expected);
  } else {
    this->WindowsAtBest = 0;
  }
}

/// Tries half an octave fewer threads from time to time, because fewer threads may give the same rate. Does
/// not try if the expected loss is too great, or if the controller has tried so few threads twice in the
/// epoch.
void ThreadController::TryFewerThreads(const CandidateLoss& expected)
{
  constexpr double half = 0.5;
  constexpr double bearable = 0.15;  // loss
  const auto above = std::upper_bound(
      this->LogCandidates.begin(), this->LogCandidates.end(), this->LogCandidates[this->Best] - half);
  if (++this->WindowsAtBest < Patience || above == this->LogCandidates.begin()) {
    return;
  }
  this->WindowsAtBest = 0;
  const auto number = static_cast<int>(above - this->LogCandidates.begin()) - 1;
  const auto known = [&](const ThreadObservations& tried) {
    return tried.Epoch == this->Epoch && tried.WindowCount >= 2 && tried.Threads <= this->Candidates[number];
  };
  if (expected.Loss[number] < bearable &&
      std::none_of(this->Observations.begin(), this->Observations.end(), known)) {
    this->Current = number;
  }
}

}  // namespace patchio
