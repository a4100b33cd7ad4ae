// F(N), the rate of a storage as a function of the requests in flight, fitted to noisy samples.
#pragma once

#include "Tuning/RateShape.h"

#include <string>
#include <utility>
#include <vector>

namespace patchio {

/// One measured point of F(N).
struct RateSample
{
  int Concurrency = 1;  ///< N: constant number of requests in flight, in total; 1 .. MostConcurrency
  double Rate = 0;      ///< total rate in bytes per second, > 0
  int Pass = 0;         ///< number of the repetition, for the user only
};

/// Returns whether a sample has a number of requests from 1 to MostConcurrency and a positive finite rate.
bool IsValidSample(const RateSample& sample);

/// Greatest N of a valid sample.
constexpr int MostConcurrency = 1 << 20;

/// The formulas for a fitted F(N).
enum class RateLaw
{
  Unknown,
  Constant,        ///< F = top
  BrokenPowerLaw,  ///< the formula at RateShape
  Interpolated     ///< no shape fits: log F is interpolated linearly in log N between the sampled N
};

/// Returns the name of the law, such as "broken power law".
const char* NameOf(RateLaw law);

/// A coefficient of a fitted law, with its name.
struct RateCoefficient
{
  const char* Name;
  double Value;
};

/// The fitted F(N). A default-constructed object is unknown.
class RateFit
{
public:
  /// Returns whether the samples were enough for a law: at least three different N.
  bool Known() const { return this->LawValue != RateLaw::Unknown; }
  /// Returns F in bytes per second for any N > 0, or 0 if unknown. Below the sampled range, F is proportional
  /// to N. Beyond the range, F falls with the slope at the end of the range, but not faster than 1/N, and
  /// never rises, because no measurement would support a rise.
  double At(double concurrency) const;
  /// Returns N*: the smallest N in the sampled range with at least 0.98 of the greatest F there; 1 if
  /// unknown. If the samples are only interpolated, N* is one of the sampled N.
  int Best() const { return this->BestValue; }

  RateLaw Law() const { return this->LawValue; }
  /// Returns the coefficients top, rise, K, E, fall and s of RateShape; only top for a constant; nothing if
  /// the samples are only interpolated, or the fit is unknown.
  std::vector<RateCoefficient> Coefficients() const;
  /// Returns the relative deviation of the mean or median rates of each N from the law (root mean square); 0
  /// if unknown. If the samples are only interpolated, the deviation is from the best law, and shows how
  /// rough the samples are.
  double Residual() const { return this->ResidualValue; }
  /// Returns the relative standard deviation of samples of one N, at least 1 %, or an assumption if no N has
  /// two samples; 0 if unknown.
  double Noise() const { return this->NoiseValue; }
  /// Returns the least N sampled; 0 if unknown.
  int Least() const { return this->LeastValue; }
  /// Returns the greatest N sampled; 0 if unknown.
  int Most() const { return this->MostValue; }
  /// Returns one line for the user, without line end: the law, its coefficients, N*, residual and noise; or
  /// "unknown".
  std::string Text() const;

private:
  friend RateFit FitRates(const std::vector<RateSample>& samples);
  double LogAt(double x) const;

  RateLaw LawValue = RateLaw::Unknown;
  RateShape Shape;
  double LogTop = 0;                              ///< ln(top)
  std::vector<std::pair<double, double>> Points;  ///< ln N and ln F, if the samples are interpolated
  int LeastValue = 0;
  int MostValue = 0;
  int BestValue = 1;
  double ResidualValue = 0;
  double NoiseValue = 0;
};

/// Fits the constant and the shapes of RateShape with relative errors. Among the shapes whose Akaike
/// criterion is close to the least criterion, the shape with the fewest parameters is chosen. The criterion
/// is corrected for few samples (C. M. Hurvich and C.-L. Tsai, "Regression and time series model selection in
/// small samples", 1989). Interpolates the samples if no shape fits. The fit is unknown if the samples have
/// fewer than three different N. Ignores samples that are not valid, see IsValidSample(). Uses the median if
/// there are three or more samples of one N. Takes some milliseconds.
RateFit FitRates(const std::vector<RateSample>& samples);

/// The range that contains N* in 9 of 10 similar measurements.
struct ConcurrencyRange
{
  int Least = 1;
  int Most = 1;
};

/// Estimates the uncertainty of N* by 60 simulations. Each simulation draws as many samples of each N as were
/// measured, with the estimated noise, and fits them. If the fit is a constant, interpolates the drawn
/// samples instead. The result is deterministic. Returns 1 to 1 if FitRates() gives no law. Takes some tenths
/// of a second.
ConcurrencyRange EstimateBestRange(const std::vector<RateSample>& samples);

/// The known facts about F(N) of a storage.
struct StorageCurve
{
  std::vector<RateSample> Samples;  ///< measured samples
  RateFit Fit;                      ///< law fitted to the samples
  int Concurrency = 0;              ///< N*; 0: unknown
  double Load = 0;                  ///< NC; 0 if unknown
  std::string Source;               ///< origin of N*; empty: unknown
};

/// Returns the median; the mean of the two middle values if their number is even. `values` must not be empty.
double MedianOf(std::vector<double> values);

}  // namespace patchio
