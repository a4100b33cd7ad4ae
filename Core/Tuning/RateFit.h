// F(N): how fast a storage is as a function of the requests in flight, from noisy samples.
#pragma once

#include <string>
#include <vector>

namespace patchio {

/// One measured point of F(N).
struct RateSample
{
  int Concurrency = 1;  ///< N: requests in flight on the whole system, all the time; 1 .. MostConcurrency
  double Rate = 0;      ///< bytes a second of all of them together, > 0
  int Pass = 0;         ///< repetitions of the same N differ in it; only for people
};

/// A larger N is no sample but a mistake.
constexpr int MostConcurrency = 1 << 20;

/// The shapes that F(N) is fitted with. N0 is the least N sampled, and all exponents are >= 0.
enum class RateLaw
{
  Unknown,
  Constant,  ///< F = c
  /// The Universal Scalability Law F = lambda N / (1 + sigma (N-1) + kappa N (N-1)): N. J. Gunther, Guerrilla
  /// Capacity Planning, Springer 2007.
  Scalability,
  Parabola,  ///< log F = a + b log2 N + c (log2 N)^2, c <= 0
  Knee,      ///< F = top (N/K)^rise up to K, top (N/K)^-fall beyond
  Plateau,   ///< F = top (N/K)^rise up to K, top up to E, top (N/E)^-fall beyond
  Joined     ///< none of these: straight lines of log F over log N from each N sampled to the next
};

/// "Universal Scalability Law" and the like.
const char* NameOf(RateLaw law);

/// A number of a fitted law, with its name.
struct RateCoefficient
{
  const char* Name;
  double Value;
};

/// F(N) as fitted. The default knows nothing.
class RateFit
{
public:
  /// Whether the samples were enough for a law: three different N.
  bool Known() const { return this->LawValue != RateLaw::Unknown; }
  /// F in bytes a second for any N > 0; 0 when not known. Below the sampled range F goes to 0 like N; beyond
  /// it F goes on falling as at its end, though never faster than 1/N, and never rises, as nobody has seen
  /// that.
  double At(double concurrency) const;
  /// N*: the smallest N in the sampled range whose F is at least 0.98 of the greatest there; 1 when not
  /// known. Where the samples are only joined, one of those N.
  int Best() const { return this->BestValue; }

  RateLaw Law() const { return this->LawValue; }
  /// In the order of the formula at RateLaw; none where the samples are only joined.
  std::vector<RateCoefficient> Coefficients() const;
  /// How far the mean samples lie from the law, relative, root mean square. Where they are only joined: from
  /// the law that comes nearest, so how rough they are.
  double Residual() const { return this->ResidualValue; }
  /// How far samples of one N usually lie from each other, relative standard deviation; where no N was
  /// sampled twice, an assumption.
  double Noise() const { return this->NoiseValue; }
  /// The sampled range; 0 when not known.
  int Least() const { return this->LeastValue; }
  int Most() const { return this->MostValue; }
  /// One line for people: the law, its coefficients, N*, residual and noise.
  std::string Text() const;

private:
  friend RateFit FitRates(const std::vector<RateSample>& samples);
  double InRange(double concurrency) const;
  double SlopeAtEnd() const;

  RateLaw LawValue = RateLaw::Unknown;
  std::vector<double> Values;  ///< of the law, in the order of its formula
  int LeastValue = 0;
  int MostValue = 0;
  int BestValue = 1;
  double ResidualValue = 0;
  double NoiseValue = 0;
};

/// Fits the laws with relative errors. The Universal Scalability Law (coefficients >= 0) is taken if what it
/// leaves is noise, judged by samples of one N among each other, and no other law is clearly likelier; a
/// constant if that explains as much. Else the law that is likeliest for its number of coefficients
/// (Akaike's criterion with the correction for few samples: Hurvich and Tsai, Biometrika 76, 1989). Samples
/// that are none (N < 1, rates that are not positive numbers) are passed over. Where one N has three samples
/// or more, their median counts. Takes some milliseconds.
RateFit FitRates(const std::vector<RateSample>& samples);

/// Where N* would lie in 9 of 10 measurements alike.
struct ConcurrencyRange
{
  int Least = 1;
  int Most = 1;
};

/// How sure N* is: the same number of samples drawn around those of each N many times, with their noise, and
/// fitted again; where that gives a constant, joined. Always the same for the same samples; 1 to 1 where
/// FitRates knows nothing. Takes some tenths of a second.
ConcurrencyRange RangeOfBest(const std::vector<RateSample>& samples);

/// F(N) of a storage as far as it is known.
struct StorageCurve
{
  std::vector<RateSample> Samples;  ///< that were measured
  RateFit Fit;                      ///< of them
  int Concurrency = 0;              ///< N*; 0: not known
  double Load = 0;                  ///< NC; 0 where not known
  std::string Source;               ///< where N* is from; empty: not known
};

}  // namespace patchio
