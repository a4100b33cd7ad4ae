// Two results side by side: two MPI libraries, two machines, two days.
#pragma once

#include "Probe/Result.h"
#include "Probe/Statistics.h"

#include <string>
#include <vector>

namespace patchio::probe {

/// A point that both results have.
struct ComparedPoint
{
  PointKey Key;
  Spread RateA, RateB;   ///< bytes/s
  Ratio BToA;            ///< judged so that 1 % of whole comparisons of equal things finds any difference
  bool Differs = false;  ///< beyond noise, and by more than 5 %
};

/// All points of a function and view that both results have.
struct ComparedSeries
{
  std::string Function;
  View Shape = View::Own;
  Ratio BToA;  ///< geometric mean over points, judged like those
  bool Differs = false;
  int Points = 0, Faster = 0, Slower = 0;  ///< B beyond noise
};

struct Comparison
{
  std::vector<ComparedPoint> Points;
  std::vector<ComparedSeries> Series;
  /// Points where one has a rate and the other an error, as phrases.
  std::vector<std::string> OnlyOne;
  /// What else is different between the two, as phrases: ranks, hosts, settings.
  std::vector<std::string> Circumstances;
};

Comparison Compare(const Result& a, const Result& b);

/// As a table of functions and views for people, with the points that differ most.
std::string ComparisonAsText(
    const Comparison& comparison, const std::string& nameA, const std::string& nameB);
/// All points; rates in KB/s.
std::string ComparisonAsCsv(const Comparison& comparison);

}  // namespace patchio::probe
