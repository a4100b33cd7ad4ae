// The search for the best number of requests in flight during a long read, from the rates of the numbers
// tried.
#pragma once

#include <optional>
#include <vector>

namespace patchio {

struct ControllerOptions
{
  int Start = 8;  ///< initial N, all ranks together; from the profile, if any
  int Least = 1;
  int Most = 256;           ///< N stays within Least .. Most, as far as Granularity allows
  double Tolerance = 0.01;  ///< a smaller N is as good if its rate is lower by at most this fraction
  int Granularity = 1;      ///< N is a multiple of this number: NP, because all ranks have the same NT
};

/// The observations of one N between two changes of the storage.
struct ThreadObservations
{
  int Threads = 0;  ///< N
  double Rate = 0;  ///< mean rate in bytes per second
  int WindowCount = 0;
  int Epoch = 0;  ///< number of changes of the storage that the controller had noticed before
};

/// Decides on N, the requests in flight of all ranks together, from window to window of a read. The rates
/// vary with noise and with the load by other programs, so each decision weighs the cost of trying a number
/// against the information that the trial may give.
///
/// The knowledge is a probability for each of many shapes of the rate over N (RateShape): rising like N up to
/// a knee and falling like a power of N beyond the knee, more or less sharply. Only ratios of rates count.
/// The shapes give, for each candidate N, the expected loss of rate and the information that trying this N
/// would give. Several contradicting rates in a row mean that the storage has changed (other readers have
/// come or gone); the controller then forgets its knowledge.
///
/// The controller is deterministic and uses no clocks or threads: ranks with the same observations are in the
/// same state. A decision takes a few hundred microseconds. Not thread-safe.
class ThreadController
{
public:
  explicit ThreadController(const ControllerOptions& options);

  /// Returns N for the next window.
  int Threads() const { return this->Candidates[this->Current]; }
  /// Returns the recommended length of a window in seconds. Requests that began with another N must end
  /// before the window begins.
  double WindowSeconds() const;
  /// Adds a window and chooses N for the next window. rate: bytes per second; threads: the requests in
  /// flight, which may differ from Threads(). Ignores negative and infinite rates, NaN, and `threads` < 1.
  /// Averages a rate of 0 with the next rate.
  void Observe(double rate, int threads);

  /// Returns the N that is currently considered the best.
  int BestSoFar() const { return this->Candidates[this->Best]; }
  const std::vector<ThreadObservations>& History() const { return this->Observations; }

private:
  using Vector = std::vector<double>;

  /// A possible shape of log F over log2 N, up to its level.
  struct Shape
  {
    const float* Curve;  ///< values of ln F over log2 N - Knee
    double Knee;         ///< in log2 N
    double Prior;        ///< ln of the prior probability, up to a constant
    double Top;          ///< greatest value of all candidates
  };
  struct Sample
  {
    double LogThreads;  ///< log2 N
    double Value;       ///< ln(rate)
    double Weight;
  };
  /// Evidence that rates have moved in one direction: a CUSUM chart (E. S. Page, "Continuous inspection
  /// schemes", 1954).
  struct Drift
  {
    double Sum = 0;
    bool Add(double score);
  };
  /// The expected loss for each candidate number of threads.
  struct CandidateLoss
  {
    Vector Loss;      ///< expected loss, as a fraction of the best rate
    Vector Regret;    ///< expected loss beyond the tolerance
    Vector Variance;  ///< variance of the expected ln(rate) among the shapes
  };

  void MakeCandidates(const ControllerOptions& options);
  void MakeShapes();
  void ResetSums();
  void BeginEpoch(const Sample& newest);
  void UpdateNoise(const Sample& sample, int threads);
  double StandardScore(const Sample& sample) const;
  void AddSample(const Sample& sample);
  void ComputeProbabilities();
  void AddToHistory(double rate, int threads);
  CandidateLoss ComputeLoss() const;
  void ChooseCandidate();
  void TryFewerThreads(const CandidateLoss& expected);

  std::vector<int> Candidates;  ///< the N to choose from: a geometric grid, ascending
  Vector LogCandidates;         ///< log2 of Candidates
  std::vector<Shape> Shapes;
  double Tolerance;
  int Current = 0, Best = 0;  ///< indices into Candidates
  Vector Probability;         ///< probability of each shape
  // Sums over the observations: the weights, and for each shape the weighted deviations and squared
  // deviations.
  double TotalWeight = 0;
  Vector Deviation, DeviationSquared;
  double NoiseVariance;  ///< variance of ln(rate), from successive windows with the same N
  int LastThreads = 0;
  double LastValue = 0;
  int EmptyWindows = 0;  ///< number of windows with a rate of 0 since the last other rate
  Drift UpwardDrift, DownwardDrift;
  /// The last sample, if the sample is an outlier that is not added yet.
  std::optional<Sample> PendingOutlier;
  int WindowsAtBest = 0;  ///< windows with the best N since a change of N or a trial of fewer threads
  int Epoch = 0;
  std::vector<ThreadObservations> Observations;
};

}  // namespace patchio
