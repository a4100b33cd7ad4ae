#include "Probe/Compare.h"

#include "Base/Text.h"
#include "Probe/Progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace patchio::probe {
namespace {

constexpr double LeastDifference = 1.05;
constexpr std::size_t MostShown = 20;

std::string TextOf(const PointKey& key)
{
  return fmt::format("{} {}, {} in blocks of {}", key.Function, NameOf(key.Shape), SizeText(key.FileBytes),
      SizeText(key.Block));
}

template <typename T>
void NoteDifference(std::vector<std::string>& list, const char* what, const T& a, const T& b)
{
  if (a != b) {
    list.push_back(fmt::format("{}: {} and {}", what, a, b));
  }
}

std::vector<std::string> DifferentCircumstances(const Result& a, const Result& b)
{
  std::vector<std::string> list;
  NoteDifference(list, "host", a.Host, b.Host);
  NoteDifference(list, "hosts", a.Hosts, b.Hosts);
  NoteDifference(list, "ranks", a.Ranks, b.Ranks);
  NoteDifference(list, "system", a.System, b.System);
  NoteDifference(list, "directory", a.Directory, b.Directory);
  NoteDifference(list, "file system", a.FileSystem, b.FileSystem);
  NoteDifference(list, "MPI", a.Mpi, b.Mpi);
  NoteDifference(list, "MPI-IO", a.MpiIo, b.MpiIo);
  NoteDifference(list, "bytes per piece", a.Piece, b.Piece);
  NoteDifference(list, "calls in flight", a.InFlight, b.InFlight);
  NoteDifference(list, "writing with sync", a.Sync, b.Sync);
  NoteDifference(list, "complete", a.Complete, b.Complete);
  return list;
}

std::string IntervalText(const Ratio& ratio)
{
  return ratio.Low > 0 && std::isfinite(ratio.High)
             ? fmt::format("{:.2f} ({:.2f} to {:.2f})", ratio.Value, ratio.Low, ratio.High)
             : fmt::format("{:.2f}", ratio.Value);
}

bool IsDifferent(const Ratio& ratio)
{
  return (ratio.Low > 1 && ratio.Value > LeastDifference) ||
         (ratio.High < 1 && ratio.Value < 1 / LeastDifference);
}

std::string SummaryTable(const Comparison& comparison, const std::string& nameA, const std::string& nameB)
{
  std::string text = fmt::format("A: {}\nB: {}\n\n{:<20} {:<12} {:>6}  {:<24} {:>8} {:>8}  mean\n", nameA,
      nameB, "function", "view", "points", "B/A, mean (99 %)", "B faster", "B slower");
  for (const ComparedSeries& series : comparison.Series) {
    const char* verdict = !series.Differs ? "alike" : (series.BToA.Value > 1 ? "B faster" : "B slower");
    text +=
        fmt::format("{:<20} {:<12} {:>6}  {:<24} {:>8} {:>8}  {}\n", series.Function, NameOf(series.Shape),
            series.Points, IntervalText(series.BToA), series.Faster, series.Slower, verdict);
  }
  return text;
}

/// Points of one function and view in both results.
using Pairs = std::vector<std::pair<const PointResult*, const PointResult*>>;

/// Appends to `comparison` what `pairs` say. `points`, `series`: how many are judged in all.
void CompareSeries(const Pairs& pairs, int points, int series, Comparison& comparison)
{
  LogNoise noise;
  for (const auto& [a, b] : pairs) {
    noise.Add(a->Rates);
    noise.Add(b->Rates);
  }
  ComparedSeries all;
  all.Function = pairs.front().first->Key.Function;
  all.Shape = pairs.front().first->Key.Shape;
  all.Points = static_cast<int>(pairs.size());
  std::vector<std::pair<std::vector<double>, std::vector<double>>> rates;
  for (const auto& [a, b] : pairs) {
    ComparedPoint point;
    point.Key = a->Key;
    point.RateA = SpreadOf(a->Rates);
    point.RateB = SpreadOf(b->Rates);
    point.BToA = RatioOf(a->Rates, b->Rates, noise, points);
    point.Differs = IsDifferent(point.BToA);
    all.Faster += point.Differs && point.BToA.Value > 1 ? 1 : 0;
    all.Slower += point.Differs && point.BToA.Value < 1 ? 1 : 0;
    rates.emplace_back(a->Rates, b->Rates);
    comparison.Points.push_back(point);
  }
  all.BToA = MeanRatioOf(rates, noise, series);
  all.Differs = IsDifferent(all.BToA);
  comparison.Series.push_back(all);
}

}  // namespace

Comparison Compare(const Result& a, const Result& b)
{
  Comparison comparison;
  comparison.Circumstances = DifferentCircumstances(a, b);
  std::map<std::pair<std::string, View>, Pairs> both;
  int points = 0;
  for (const auto& [key, point] : a.Points) {
    const auto other = b.Points.find(key);
    if (other == b.Points.end()) {
      continue;
    }
    const bool inA = !point.Rates.empty(), inB = !other->second.Rates.empty();
    if (inA && inB) {
      both[{key.Function, key.Shape}].emplace_back(&point, &other->second);
      ++points;
    } else if (inA != inB) {
      comparison.OnlyOne.push_back(fmt::format("{}: only in {} ({}: {})", TextOf(key), inA ? "A" : "B",
          inA ? "B" : "A", inA ? other->second.Error : point.Error));
    }
  }
  for (const auto& [name, pairs] : both) {
    CompareSeries(pairs, points, static_cast<int>(both.size()), comparison);
  }
  return comparison;
}

std::string ComparisonAsText(const Comparison& comparison, const std::string& nameA, const std::string& nameB)
{
  std::string text = SummaryTable(comparison, nameA, nameB);
  std::vector<ComparedPoint> different;
  std::copy_if(comparison.Points.begin(), comparison.Points.end(), std::back_inserter(different),
      [](const ComparedPoint& point) { return point.Differs; });
  std::sort(different.begin(), different.end(), [](const ComparedPoint& x, const ComparedPoint& y) {
    return std::abs(std::log(x.BToA.Value)) > std::abs(std::log(y.BToA.Value));
  });
  text +=
      fmt::format("\n{} of {} points differ by more than noise", different.size(), comparison.Points.size());
  text += different.size() > MostShown ? fmt::format("; the {} largest differences:\n", MostShown)
                                       : (different.empty() ? ".\n" : ":\n");
  for (std::size_t i = 0; i < std::min(MostShown, different.size()); ++i) {
    const ComparedPoint& point = different[i];
    text += fmt::format("  {}: {}/s and {}/s, B/A {}\n", TextOf(point.Key), ByteText(point.RateA.Mean),
        ByteText(point.RateB.Mean), IntervalText(point.BToA));
  }
  if (!comparison.OnlyOne.empty()) {
    text += fmt::format("\n{} points have a rate in only one result:\n", comparison.OnlyOne.size());
    for (std::size_t i = 0; i < std::min(MostShown, comparison.OnlyOne.size()); ++i) {
      text += "  " + comparison.OnlyOne[i] + "\n";
    }
  }
  for (const std::string& difference : comparison.Circumstances) {
    text += "Different conditions: " + difference + "\n";
  }
  return text;
}

std::string ComparisonAsCsv(const Comparison& comparison)
{
  std::string text =
      "function,view,file_bytes,block_bytes,a_kb_per_s_min,a_kb_per_s_mean,a_kb_per_s_max,b_kb_per_s_min,"
      "b_kb_per_s_mean,b_kb_per_s_max,b_to_a,b_to_a_low,b_to_a_high,differs\n";
  for (const ComparedPoint& point : comparison.Points) {
    text += fmt::format(
        "{},{},{},{}", point.Key.Function, NameOf(point.Key.Shape), point.Key.FileBytes, point.Key.Block);
    for (const Spread& spread : {point.RateA, point.RateB}) {
      text += fmt::format(",{:.6g},{:.6g},{:.6g}", spread.Min / 1000, spread.Mean / 1000, spread.Max / 1000);
    }
    text += fmt::format(",{:.4f},{:.4f},{:.4f},{}\n", point.BToA.Value, point.BToA.Low, point.BToA.High,
        point.Differs ? "yes" : "no");
  }
  return text;
}

}  // namespace patchio::probe
