// While a long read runs: how many reads to keep in flight, learnt from what each number brought.
#pragma once

#include <vector>

namespace patchio {

struct ControllerOptions
{
  int Start = 8;  ///< N to begin with, all ranks together; the profile's where there is one
  int Least = 1;
  int Most = 256;           ///< N stays within Least .. Most, as far as Granularity lets it
  double Tolerance = 0.01;  ///< a smaller N whose rate is lower by no more than this share is as good
  int Granularity = 1;      ///< N is a multiple of this: NP, where all ranks have the same NT
};

/// What was seen of one N while nothing else changed.
struct ThreadsTried
{
  int Threads = 0;  ///< N
  double Rate = 0;  ///< mean, bytes a second
  int Samples = 0;  ///< windows
  int Epoch = 0;    ///< 0 at first, and one more after each change of the storage that was noticed
};

/// Decides on N, the reads in flight of all ranks together, from window to window of a read. What nobody can
/// control, noise and other people's load, is in the rates, so each decision weighs what trying a number
/// costs against what it may show.
///
/// Knowledge is a probability for each of many shapes that the rate may have over N: it rises like N up to a
/// knee and falls like a power of N beyond, more or less sharply. The level is free: only ratios count. From
/// that follow, for each N of a geometric grid, the rate that is expected to be lost with it, and how much
/// trying it would tell. Rates that contradict all this, one after another, mean that the storage has changed
/// (others have come or gone): then most of what was learnt is forgotten.
///
/// Deterministic, without clocks and threads: in the same state on all ranks that observe the same. A
/// decision takes some hundred microseconds.
class ThreadController
{
public:
  explicit ThreadController(const ControllerOptions& options);

  /// N for the next window.
  int Threads() const { return this->Numbers[this->Current]; }
  /// How long a window should be. Requests that were begun with another N must have ended before it begins.
  double WindowSeconds() const;
  /// What a window brought: bytes a second with `threads` in flight, which need not be what was asked for.
  /// Numbers that make no sense are passed over; a rate of 0 counts with the next one.
  void Observe(double rate, int threads);

  /// The N that is thought best now.
  int BestSoFar() const { return this->Numbers[this->Leader]; }
  const std::vector<ThreadsTried>& History() const { return this->Tried; }

private:
  using Vector = std::vector<double>;

  /// A way in which log F may depend on log2 N, up to its level.
  struct Shape
  {
    const float* Curve;  ///< over log2 N - Knee
    double Knee;         ///< log2 N
    double Prior;        ///< log of its probability before anything was seen, up to a constant
    double Top;          ///< greatest value on the grid
  };
  struct Sample
  {
    double Place;  ///< log2 N
    double Value;  ///< log rate
    double Weight;
  };
  /// Evidence that rates have moved in one direction (a CUSUM).
  struct Drift
  {
    double Sum = 0;
    int Length = 0;
    bool Add(double surprise);
  };
  /// For each number of the grid.
  struct Outlook
  {
    Vector Loss;      ///< share of the best rate that is expected to be lost
    Vector Regret;    ///< the same, what lies within the tolerance not counted
    Vector Variance;  ///< of the log rate that is expected
  };

  void MakeNumbers(const ControllerOptions& options);
  void MakeShapes();
  void Forget();
  void StartOver(int samples);
  void MeasureNoise(const Sample& sample, int threads);
  double SurpriseOf(const Sample& sample) const;
  void Learn(const Sample& sample);
  bool NothingFits() const;
  Vector LogProbabilities() const;
  void Weigh();
  void Record(double rate, int threads);
  Outlook LookAhead() const;
  void Choose();
  void TryFewer(const Outlook& outlook);

  std::vector<int> Numbers;  ///< the grid of N, ascending
  Vector Places;             ///< log2 of them
  std::vector<Shape> Shapes;
  double Tolerance;
  int Current = 0, Leader = 0;  ///< in Numbers
  Vector Belief;                ///< log of each shape's probability when this epoch began
  Vector Probability;           ///< of each shape
  // Weighted sums over what was learnt: of 1, and of what is left of each sample by each shape and its
  // square.
  double Total = 0;
  Vector Rest, RestSquared;
  double Noise;  ///< variance of a log rate, learnt from windows of the same N one after another
  int LastThreads = 0;
  double LastValue = 0;
  int Zeros = 0;
  Drift Up, Down;
  bool Doubtful = false;       ///< the last sample was far off, and is not learnt yet
  std::vector<Sample> Recent;  ///< newest last
  int Stay = 0;                ///< windows that the leader was kept
  int Epoch = 0;
  std::vector<ThreadsTried> Tried;
};

}  // namespace patchio
