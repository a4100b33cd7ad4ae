// How many requests others keep in flight, from the rate that we get: F(N) turned around.
#pragma once

#include "Plan/StorageModel.h"

#include <functional>
#include <optional>
#include <vector>

namespace patchio {

/// F(N) of a storage, as a profile knows it.
struct LoadCurve
{
  std::function<double(double)> Rate;  ///< F: bytes a second of all with N > 0 requests in flight, N real
  double Least = 1;                    ///< the range of N that was measured, > 0
  double Most = 1;
  double Best = 1;         ///< N*
  double Residual = 0.05;  ///< how far F lies from what was measured at one N, relative, >= 0
  double Noise = 0.05;     ///< how far measurements at one N lie from each other, relative, >= 0
  std::optional<StorageModel> Requests;  ///< what one request takes on the idle storage, if known
};

/// What we got for some time.
struct LoadWindow
{
  double InFlight = 0;  ///< N: own requests in flight, the mean
  double Rate = 0;      ///< own bytes a second
};

/// The load of others that explains own rates.
struct InvertedLoad
{
  double Load = 0;   ///< the median of what is likely
  double Least = 0;  ///< nine tenths of what is likely lies from here
  double Most = 0;   ///< to here
  double Sureness =
      0;  ///< 0..1: 2 P - 1 for the probability P that the load is within 2 or 25 % of Load; never below 0
  int Windows = 0;    ///< of how many windows, the newest ones
  bool Fits = false;  ///< false: no load explains the rates; the curve is of another storage or another time
};

/// With own N in flight beside C of others, all alike, we get r = N / (N + C) F(N + C). Every C >= 0 is
/// judged by how well it explains the rates of all windows together, given the noise of the rates and how
/// wrong the curve may be as a whole and from one N to another. The answer is thus broad where the rate says
/// little (as long as N + C stays where F is proportional to N, C makes no difference), and narrow where
/// windows of different N agree. Older windows that contradict the newest ones are left out: the load has
/// changed. Windows that make no sense (N or rate not above 0) are ignored. windows: oldest first; the newest
/// 8 are used.
InvertedLoad InvertLoad(const LoadCurve& curve, const std::vector<LoadWindow>& windows);

}  // namespace patchio
