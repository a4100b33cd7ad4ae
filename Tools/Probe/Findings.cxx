#include "Probe/Findings.h"

#include "Base/Text.h"
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

/// Rates that differ by less are alike for all that a user could do about it, however sure the difference.
constexpr double Alike = 0.8;
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
  if (ratio.High < 1 && ratio.Value < Alike) {
    return Verdict::Confirmed;
  }
  return ratio.Low > Alike ? Verdict::Refuted : Verdict::Unclear;
}

/// That of a claim which has several parts.
Verdict JudgeAll(const std::vector<FindingPart>& parts)
{
  const auto count = [&parts](Verdict verdict) {
    return static_cast<std::size_t>(std::count_if(
        parts.begin(), parts.end(), [verdict](const FindingPart& part) { return part.Judged == verdict; }));
  };
  if (count(Verdict::Unmeasured) == parts.size()) {
    return Verdict::Unmeasured;
  }
  if (count(Verdict::Unclear) + count(Verdict::Unmeasured) > 0) {
    return Verdict::Unclear;
  }
  return count(Verdict::Confirmed) == parts.size()
             ? Verdict::Confirmed
             : (count(Verdict::Refuted) == parts.size() ? Verdict::Refuted : Verdict::Divided);
}

std::string TextOf(const FindingPart& part)
{
  const Ratio& ratio = part.Found;
  if (ratio.Count == 0) {
    return part.What + ": " + NameOf(Verdict::Unmeasured);
  }
  const std::string sure = ratio.Low > 0 && std::isfinite(ratio.High)
                               ? fmt::format(" ({:.2f} to {:.2f})", ratio.Low, ratio.High)
                               : std::string();
  return fmt::format("{}: {:.2f}{}, {}: {}", part.What, ratio.Value, sure, CountText(ratio.Count, "ratio"),
      NameOf(part.Judged));
}

/// `rate of first` / `rate of second` of all results where both have one, one after another.
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
  Finding finding{"Small blocks are slow.", Verdict::Unmeasured, {}, {}};
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
    finding.Parts.push_back({fmt::format("{}, smallest block / mean of the larger half", what), ratio, Alike,
        1 / Alike, JudgeBelow(ratio)});
    if (const std::uint64_t block = EnoughBlock(curves)) {
      finding.Remarks.push_back(
          fmt::format("{}: {:.0f} % of the best rate from blocks of {} on (median of {} curves)", what,
              100 * Enough, SizeText(block), curves.size()));
    }
  }
  finding.Judged = JudgeAll(finding.Parts);
  return finding;
}

// ---- 2: collective against individual
// ------------------------------------------------------------------------

Finding JudgeCollective(const std::vector<Result>& results)
{
  Finding finding{
      "Collective functions are slower if each rank has its own part, and faster if parts are interleaved.",
      Verdict::Unmeasured, {}, {}};
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
      finding.Parts.push_back(
          {fmt::format("{}, {}: collective / individual", NameOf(view), write ? "writing" : "reading"), ratio,
              Alike, 1 / Alike, JudgeBelow(turned)});
    }
  }
  finding.Judged = JudgeAll(finding.Parts);
  return finding;
}

// ---- 3: shared pointers
// --------------------------------------------------------------------------------------

Finding JudgeShared(const std::vector<Result>& results)
{
  Finding finding{"Shared file pointers are slow.", Verdict::Unmeasured, {}, {}};
  for (const Name how : {"read", "write"}) {
    // Those that wait, and those that are begun and ended.
    const Ratio individual = MeanRatio(
        RatiosOfPairs(results, View::Own, {{how + "_shared", how}, {"i" + how + "_shared", "i" + how}}, 2));
    finding.Parts.push_back(
        {fmt::format("{0}_shared / {0}", how), individual, Alike, 1 / Alike, JudgeBelow(individual)});
    const Ratio ordered = MeanRatio(RatiosOfPairs(results, View::Own,
        {{how + "_ordered", how + "_all"}, {how + "_ordered_begin", how + "_all_begin"}}, 2));
    finding.Parts.push_back(
        {fmt::format("{0}_ordered / {0}_all", how), ordered, Alike, 1 / Alike, JudgeBelow(ordered)});
  }
  finding.Judged = JudgeAll(finding.Parts);
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
    finding.Remarks.push_back(fmt::format("{} fails: {}", function, error));
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
  Finding finding{"The size of the file does not matter.", Verdict::Unmeasured, {}, {}};
  for (const bool write : {false, true}) {
    const Ratio ratio = MeanRatio(RatiosOfSizes(results, write));
    Verdict verdict = ratio.Count == 0 ? Verdict::Unmeasured : Verdict::Unclear;
    if (ratio.Count >= 2 && ratio.Low > Alike && ratio.High < 1 / Alike) {
      verdict = Verdict::Confirmed;
    } else if (ratio.Count >= 2 && (ratio.Low > 1 / Alike || ratio.High < Alike)) {
      verdict = Verdict::Refuted;
    }
    finding.Parts.push_back({fmt::format("{}, largest file / smallest", write ? "writing" : "reading"), ratio,
        Alike, 1 / Alike, verdict});
  }
  finding.Judged = JudgeAll(finding.Parts);
  return finding;
}

// ---- 5: ranks
// ------------------------------------------------------------------------------------------------

/// Rates with the most ranks / those with the fewest, of the same function, file and block.
std::vector<double> RatiosOfRanks(const std::vector<Result>& results, int fewest, int most, bool write)
{
  std::vector<double> ratios;
  for (const Result& few : results) {
    for (const Result& many : results) {
      if (few.Ranks != fewest || many.Ranks != most) {
        continue;
      }
      for (const auto& [key, point] : few.Points) {
        const auto other = many.Points.find(key);
        if (key.Shape == View::Own && Writes(key.Function) == write && !point.Rates.empty() &&
            other != many.Points.end() && !other->second.Rates.empty()) {
          ratios.push_back(MeanRate(other->second) / MeanRate(point));
        }
      }
    }
  }
  return ratios;
}

Finding JudgeScaling(const std::vector<Result>& results)
{
  Finding finding{"The rate scales well with the number of ranks.", Verdict::Unmeasured, {}, {}};
  const auto fewer = [](const Result& a, const Result& b) { return a.Ranks < b.Ranks; };
  const auto [fewest, most] = std::minmax_element(results.begin(), results.end(), fewer);
  if (results.empty() || fewest->Ranks == most->Ranks) {
    finding.Remarks.push_back("requires results for two numbers of ranks");
    return finding;
  }
  const double growth = static_cast<double>(most->Ranks) / fewest->Ranks;
  const double good = std::max(1.1, GoodScaling * growth);
  for (const bool write : {false, true}) {
    const Ratio ratio = MeanRatio(RatiosOfRanks(results, fewest->Ranks, most->Ranks, write));
    Verdict verdict = ratio.Count == 0 ? Verdict::Unmeasured : Verdict::Unclear;
    if (ratio.Count >= 2) {
      verdict =
          ratio.Low >= good ? Verdict::Confirmed : (ratio.High < good ? Verdict::Refuted : Verdict::Unclear);
    }
    finding.Parts.push_back({fmt::format("{}, {} ranks / {} (good: {:.2g} or more)",
                                 write ? "writing" : "reading", most->Ranks, fewest->Ranks, good),
        ratio, 1, good, verdict});
  }
  finding.Judged = JudgeAll(finding.Parts);
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
    for (const FindingPart& part : findings[i].Parts) {
      text += "   " + TextOf(part) + "\n";
    }
    for (const std::string& remark : findings[i].Remarks) {
      text += "   " + remark + "\n";
    }
  }
  return text;
}

nlohmann::json FindingsAsJson(const std::vector<Finding>& findings)
{
  using nlohmann::json;
  json all = json::array();
  for (const Finding& finding : findings) {
    json parts = json::array();
    for (const FindingPart& part : finding.Parts) {
      const Ratio& ratio = part.Found;
      const bool bounded = ratio.Low > 0 && std::isfinite(ratio.High);
      parts.push_back({{"what", part.What}, {"ratio", ratio.Count > 0 ? json(ratio.Value) : json()},
          {"low", bounded ? json(ratio.Low) : json()}, {"high", bounded ? json(ratio.High) : json()},
          {"count", ratio.Count}, {"alike", {part.AlikeLow, part.AlikeHigh}},
          {"judged", NameOf(part.Judged)}});
    }
    all.push_back({{"claim", finding.Claim}, {"judged", NameOf(finding.Judged)}, {"parts", parts},
        {"remarks", finding.Remarks}});
  }
  return all;
}

}  // namespace patchio::probe
