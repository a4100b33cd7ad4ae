// The findings of A. Putilin and A. Salnikov about MPI-IO, judged from results.
#pragma once

#include "Probe/Result.h"
#include "Probe/Statistics.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace patchio::probe {

enum class Verdict
{
  Confirmed,
  Refuted,
  Divided,    ///< confirmed in some of its parts, such as writing, and refuted in all others
  Unclear,    ///< of at least one part, the results do not say
  Unmeasured  ///< there is no result for any part
};

/// "confirmed", "refuted", "confirmed in part", "unclear", "not measured".
const char* NameOf(Verdict verdict);

/// One ratio that a claim is about.
struct FindingPart
{
  std::string What;
  Ratio Found;
  /// What rates alike for all that matters have, Low to High; the claim says that ratios are below it, in it
  /// or above.
  double AlikeLow = 0, AlikeHigh = 0;
  Verdict Judged = Verdict::Unclear;
};

struct Finding
{
  std::string Claim;
  Verdict Judged = Verdict::Unclear;
  std::vector<FindingPart> Parts;
  std::vector<std::string> Remarks;
};

/// All five. Results of different numbers of ranks tell how the rate grows with them; the other findings are
/// judged from all results together. A part of a claim is confirmed, or refuted, when it points that way with
/// 99 % probability, and by more than a fifth.
std::vector<Finding> JudgeFindings(const std::vector<Result>& results);

std::string FindingsAsText(const std::vector<Finding>& findings);
/// [{claim, judged, parts: [{what, ratio, low, high, count, alike: [low, high], judged}], remarks}]; null for
/// what is not known.
nlohmann::json FindingsAsJson(const std::vector<Finding>& findings);

}  // namespace patchio::probe
