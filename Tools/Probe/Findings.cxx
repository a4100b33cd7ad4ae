#include "Probe/Findings.h"

#include "Probe/Functions.h"
#include "Probe/Progress.h"
#include "Probe/Statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace patchio::probe {
namespace {

/// Differences below are of no use, however sure.
constexpr double Slight = 0.9;
/// Sizes matter when the rate changes by more than this from the smallest file to the largest.
constexpr double SizeMatters = 1.25;
/// The rate "scales well" when it grows by at least this part of the growth of ranks.
constexpr double GoodScaling = 0.5;
/// A block is large enough when it gives this part of the best rate.
constexpr double Enough = 0.9;

using Name = std::string;

bool Writes(const Name& function)
{
  return function.find("write") != Name::npos;
}

double MeanRate(const PointResult& point)
{
  return SpreadOf(point.Rates).Mean;
}

/// Whether a ratio is below 1, above, or neither can be said.
Verdict JudgeBelow(const Ratio& ratio)
{
  if (ratio.Count < 2) {
    return ratio.Count == 0 ? Verdict::Unmeasured : Verdict::Unclear;
  }
  if (ratio.High < 1 && ratio.Value < Slight) {
    return Verdict::Confirmed;
  }
  return ratio.Low > Slight ? Verdict::Refuted : Verdict::Unclear;
}

/// That of a claim which has several parts.
Verdict JudgeAll(const std::vector<Verdict>& parts)
{
  const auto all = [&parts](Verdict verdict) {
    return std::all_of(parts.begin(), parts.end(), [verdict](Verdict part) { return part == verdict; });
  };
  if (all(Verdict::Unmeasured)) {
    return Verdict::Unmeasured;
  }
  const auto says = [](Verdict part) { return part != Verdict::Unclear && part != Verdict::Unmeasured; };
  if (!std::all_of(parts.begin(), parts.end(), says)) {
    return Verdict::Unclear;
  }
  return all(Verdict::Confirmed) ? Verdict::Confirmed
                                 : (all(Verdict::Refuted) ? Verdict::Refuted : Verdict::Divided);
}

std::string TextOf(const Ratio& ratio, Verdict verdict)
{
  if (ratio.Count == 0) {
    return NameOf(Verdict::Unmeasured);
  }
  const std::string sure = ratio.Low > 0 && std::isfinite(ratio.High)
                               ? fmt::format(" ({:.2f} to {:.2f})", ratio.Low, ratio.High)
                               : std::string();
  return fmt::format("{:.2f}{}, {} ratio{}: {}", ratio.Value, sure, ratio.Count, ratio.Count == 1 ? "" : "s",
      NameOf(verdict));
}

void AddPart(Finding& finding, std::vector<Verdict>& parts, const std::string& what, const Ratio& ratio,
    Verdict verdict)
{
  finding.Numbers.push_back(fmt::format("{}: {}", what, TextOf(ratio, verdict)));
  parts.push_back(verdict);
}

/// Of all results, one after another: what `rate of first` / `rate of second` is where both have one.
std::vector<double> RatiosOfPairs(const std::vector<Result>& results, View view,
    const std::vector<std::pair<Name, Name>>& pairs, int leastRanks)
{
  std::vector<double> ratios;
  for (const Result& result : results) {
    for (const auto& [key, point] : result.Points) {
      for (const auto& [first, second] : pairs) {
        if (result.Ranks < leastRanks || key.Shape != view || key.Function != first || point.Rates.empty()) {
          continue;
        }
        const auto other = result.Points.find({second, view, key.FileBytes, key.Block});
        if (other != result.Points.end() && !other->second.Rates.empty()) {
          ratios.push_back(MeanRate(point) / MeanRate(other->second));
        }
      }
    }
  }
  return ratios;
}

// ---- 1: small blocks
// -----------------------------------------------------------------------------------------

/// The curves of reading or of writing, of the view where each rank has its own part.
std::vector<std::vector<CurvePoint>> Curves(const std::vector<Result>& results, bool write)
{
  std::vector<std::vector<CurvePoint>> curves;
  for (const Result& result : results) {
    std::set<std::pair<Name, std::uint64_t>> seen;
    for (const auto& [key, point] : result.Points) {
      if (key.Shape == View::Own && Writes(key.Function) == write &&
          seen.insert({key.Function, key.FileBytes}).second) {
        curves.push_back(CurveOf(result, key.Function, View::Own, key.FileBytes));
      }
    }
  }
  return curves;
}

double CurveMean(const CurvePoint& point)
{
  return SpreadOf(point.Rates).Mean;
}

/// The median over curves of the smallest block that is large enough; 0 where there are no curves.
std::uint64_t EnoughBlock(const std::vector<std::vector<CurvePoint>>& curves)
{
  std::vector<std::uint64_t> blocks;
  for (const auto& curve : curves) {
    double best = 0;
    for (const CurvePoint& point : curve) {
      best = std::max(best, CurveMean(point));
    }
    const auto enough = std::find_if(
        curve.begin(), curve.end(), [best](const CurvePoint& p) { return CurveMean(p) >= Enough * best; });
    if (enough != curve.end()) {
      blocks.push_back(enough->Block);
    }
  }
  std::sort(blocks.begin(), blocks.end());
  return blocks.empty() ? 0 : blocks[blocks.size() / 2];
}

Finding JudgeSmallBlocks(const std::vector<Result>& results)
{
  Finding finding{"Small blocks are slow.", Verdict::Unmeasured, {}};
  std::vector<Verdict> parts;
  for (const bool write : {false, true}) {
    const auto curves = Curves(results, write);
    std::vector<double> ratios;
    for (const auto& curve : curves) {
      if (curve.size() >= 2) {
        // Not against the best one, which noise makes out of any.
        const std::size_t half = curve.size() / 2;
        std::vector<double> large;
        std::transform(curve.begin() + half, curve.end(), std::back_inserter(large), CurveMean);
        ratios.push_back(CurveMean(curve.front()) / SpreadOf(large).Mean);
      }
    }
    const Ratio ratio = MeanRatio(ratios);
    const char* what = write ? "writing" : "reading";
    AddPart(finding, parts, fmt::format("{}, smallest block / mean of the larger half", what), ratio,
        JudgeBelow(ratio));
    if (const std::uint64_t block = EnoughBlock(curves)) {
      finding.Numbers.push_back(
          fmt::format("{}: {:.0f} % of the best rate from blocks of {} on (median of {} curves)", what,
              100 * Enough, SizeText(block), curves.size()));
    }
  }
  finding.Judged = JudgeAll(parts);
  return finding;
}

// ---- 2: collective against individual
// ------------------------------------------------------------------------

Finding JudgeCollective(const std::vector<Result>& results)
{
  Finding finding{
      "Collective functions lose where each rank has its own part, and win where parts are interleaved.",
      Verdict::Unmeasured, {}};
  std::vector<Verdict> parts;
  for (const View view : {View::Own, View::Interleaved}) {
    for (const bool write : {false, true}) {
      const std::vector<std::pair<Name, Name>> pairs =
          write ? std::vector<std::pair<Name, Name>>{{"write_at_all", "write_at"}, {"write_all", "write"}}
                : std::vector<std::pair<Name, Name>>{{"read_at_all", "read_at"}, {"read_all", "read"}};
      const Ratio ratio = MeanRatio(RatiosOfPairs(results, view, pairs, 2));
      const bool wins = view == View::Interleaved;
      Ratio turned = ratio;
      if (wins && ratio.Count > 0) {
        turned = {1 / ratio.Value, 1 / ratio.High, ratio.Low > 0 ? 1 / ratio.Low : HUGE_VAL, ratio.Count};
      }
      AddPart(finding, parts,
          fmt::format("{}, {}: collective / individual", NameOf(view), write ? "writing" : "reading"), ratio,
          JudgeBelow(turned));
    }
  }
  finding.Judged = JudgeAll(parts);
  return finding;
}

// ---- 3: shared pointers
// --------------------------------------------------------------------------------------

Finding JudgeShared(const std::vector<Result>& results)
{
  Finding finding{"Shared file pointers are bad.", Verdict::Unmeasured, {}};
  std::vector<Verdict> parts;
  for (const auto& [shared, own] : std::vector<std::pair<Name, Name>>{{"read_shared", "read"},
           {"read_ordered", "read_all"}, {"write_shared", "write"}, {"write_ordered", "write_all"}}) {
    const Ratio ratio = MeanRatio(RatiosOfPairs(results, View::Own, {{shared, own}}, 2));
    AddPart(finding, parts, fmt::format("{} / {}", shared, own), ratio, JudgeBelow(ratio));
  }
  finding.Judged = JudgeAll(parts);
  std::map<Name, Name> errors;
  for (const Result& result : results) {
    for (const auto& [key, point] : result.Points) {
      const bool bySharedPointer =
          key.Function.find("_shared") != Name::npos || key.Function.find("_ordered") != Name::npos;
      if (bySharedPointer && !point.Error.empty()) {
        errors.emplace(key.Function, point.Error);
      }
    }
  }
  for (const auto& [function, error] : errors) {
    finding.Numbers.push_back(fmt::format("{} fails: {}", function, error));
  }
  return finding;
}

// ---- 4: file size
// --------------------------------------------------------------------------------------------

/// Rates with the largest file / those with the smallest, at the same block.
std::vector<double> RatiosOfSizes(const std::vector<Result>& results, bool write)
{
  std::vector<double> ratios;
  for (const Result& result : results) {
    std::uint64_t least = UINT64_MAX, most = 0;
    for (const auto& [key, point] : result.Points) {
      least = std::min(least, key.FileBytes);
      most = std::max(most, key.FileBytes);
    }
    for (const auto& [key, point] : result.Points) {
      const auto large = result.Points.find({key.Function, key.Shape, most, key.Block});
      if (key.FileBytes == least && most > least && Writes(key.Function) == write && !point.Rates.empty() &&
          large != result.Points.end() && !large->second.Rates.empty()) {
        ratios.push_back(MeanRate(large->second) / MeanRate(point));
      }
    }
  }
  return ratios;
}

Finding JudgeFileSize(const std::vector<Result>& results)
{
  Finding finding{"The size of the file does not matter.", Verdict::Unmeasured, {}};
  std::vector<Verdict> parts;
  for (const bool write : {false, true}) {
    const Ratio ratio = MeanRatio(RatiosOfSizes(results, write));
    Verdict verdict = ratio.Count == 0 ? Verdict::Unmeasured : Verdict::Unclear;
    if (ratio.Count >= 2 && ratio.Low > 1 / SizeMatters && ratio.High < SizeMatters) {
      verdict = Verdict::Confirmed;
    } else if (ratio.Count >= 2 && (ratio.Low > SizeMatters || ratio.High < 1 / SizeMatters)) {
      verdict = Verdict::Refuted;
    }
    AddPart(finding, parts, fmt::format("{}, largest file / smallest", write ? "writing" : "reading"), ratio,
        verdict);
  }
  finding.Judged = JudgeAll(parts);
  return finding;
}

// ---- 5: ranks
// ------------------------------------------------------------------------------------------------

Finding JudgeScaling(const std::vector<Result>& results)
{
  Finding finding{"The rate scales well with the number of ranks.", Verdict::Unmeasured, {}};
  const auto fewer = [](const Result& a, const Result& b) { return a.Ranks < b.Ranks; };
  const auto [few, many] = std::minmax_element(results.begin(), results.end(), fewer);
  if (results.empty() || few->Ranks == many->Ranks) {
    finding.Numbers.push_back("results of two numbers of ranks are needed");
    return finding;
  }
  const double growth = static_cast<double>(many->Ranks) / few->Ranks;
  std::vector<Verdict> parts;
  for (const bool write : {false, true}) {
    std::vector<double> ratios;
    for (const auto& [key, point] : few->Points) {
      const auto other = many->Points.find(key);
      if (key.Shape == View::Own && Writes(key.Function) == write && !point.Rates.empty() &&
          other != many->Points.end() && !other->second.Rates.empty()) {
        ratios.push_back(MeanRate(other->second) / MeanRate(point));
      }
    }
    const Ratio ratio = MeanRatio(ratios);
    const double good = std::max(1.1, GoodScaling * growth);
    Verdict verdict = ratio.Count == 0 ? Verdict::Unmeasured : Verdict::Unclear;
    if (ratio.Count >= 2) {
      verdict =
          ratio.Low >= good ? Verdict::Confirmed : (ratio.High < good ? Verdict::Refuted : Verdict::Unclear);
    }
    AddPart(finding, parts,
        fmt::format("{}, {} ranks / {} (good: {:.2g} or more)", write ? "writing" : "reading", many->Ranks,
            few->Ranks, good),
        ratio, verdict);
  }
  finding.Judged = JudgeAll(parts);
  return finding;
}

}  // namespace

const char* NameOf(Verdict verdict)
{
  switch (verdict) {
    case Verdict::Confirmed:
      return "confirmed";
    case Verdict::Refuted:
      return "refuted";
    case Verdict::Divided:
      return "confirmed in part";
    case Verdict::Unmeasured:
      return "not measured";
    case Verdict::Unclear:
      break;
  }
  return "unclear";
}

std::vector<Finding> JudgeFindings(const std::vector<Result>& results)
{
  return {JudgeSmallBlocks(results), JudgeCollective(results), JudgeShared(results), JudgeFileSize(results),
      JudgeScaling(results)};
}

std::string FindingsAsText(const std::vector<Finding>& findings)
{
  std::string text;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    text += fmt::format("{}. {} {}\n", i + 1, findings[i].Claim, NameOf(findings[i].Judged));
    for (const std::string& number : findings[i].Numbers) {
      text += "   " + number + "\n";
    }
  }
  return text;
}

}  // namespace patchio::probe
