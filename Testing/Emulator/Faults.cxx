#include "Faults.h"

#include "Base/Error.h"

#include <fnmatch.h>
#include <algorithm>

namespace patchio::emulator {

namespace {

bool Matches(const std::string& pattern, const std::string& path)
{
  const std::string last = path.substr(path.rfind('/') + 1);
  return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0 || ::fnmatch(pattern.c_str(), last.c_str(), 0) == 0;
}

void Apply(const FaultRule& rule, FaultOutcome& outcome)
{
  switch (rule.Kind) {
    case FaultKind::Eio:
    case FaultKind::Open:
      outcome.Fails = true;
      break;
    case FaultKind::Short:
      outcome.End = std::min(outcome.End, rule.Bytes);
      break;
    case FaultKind::Stall:
      outcome.StallSeconds += rule.Seconds;
      break;
  }
}

}  // namespace

void Faults::Add(const FaultRule& rule)
{
  if (!(rule.Probability >= 0 && rule.Probability <= 1)) {
    throw Error("The probability of a fault must be between 0 and 1.");
  }
  if (!(rule.Seconds >= 0 && rule.Seconds <= 1e6)) {
    throw Error("The seconds of a stall must be between 0 and 1000000.");
  }
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Active.push_back({rule, std::mt19937_64(this->Seed)});
}

int Faults::Remove(const std::string& pattern)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  const auto kept = std::remove_if(this->Active.begin(), this->Active.end(),
      [&](const ActiveRule& active) { return pattern == "*" || active.Rule.Pattern == pattern; });
  const int removed = static_cast<int>(this->Active.end() - kept);
  this->Active.erase(kept, this->Active.end());
  return removed;
}

std::vector<FaultRule> Faults::Rules()
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  std::vector<FaultRule> rules;
  for (const ActiveRule& active : this->Active) {
    rules.push_back(active.Rule);
  }
  return rules;
}

FaultOutcome Faults::Judge(const std::string& path, bool opening)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  FaultOutcome outcome;
  for (ActiveRule& active : this->Active) {
    const FaultRule& rule = active.Rule;
    if ((rule.Kind == FaultKind::Open) != opening || !Matches(rule.Pattern, path)) {
      continue;
    }
    if (active.Seen++ < rule.After) {
      continue;
    }
    // Uses 53 bits of the generator, because the distributions of standard libraries differ.
    const double drawn = static_cast<double>(active.Random() >> 11) * 0x1p-53;
    if (drawn < rule.Probability) {
      Apply(rule, outcome);
    }
  }
  return outcome;
}

}  // namespace patchio::emulator
