// The findings of A. Putilin and A. Salnikov about MPI-IO, judged from results.
#pragma once

#include "Probe/Result.h"

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

struct Finding
{
  std::string Claim;
  Verdict Judged = Verdict::Unmeasured;
  std::vector<std::string> Numbers;  ///< what it is judged by, as phrases
};

/// All five. Results of different numbers of ranks tell how the rate grows with them; the other findings are
/// judged from all results together. A part of a claim is confirmed, or refuted, when it points that way with
/// 99 % probability, and by more than a tenth.
std::vector<Finding> JudgeFindings(const std::vector<Result>& results);

std::string FindingsAsText(const std::vector<Finding>& findings);

}  // namespace patchio::probe
