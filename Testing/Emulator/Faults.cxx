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

}  // namespace

void Faults::Add(const FaultRule& rule)
{
  if (!(rule.Seconds >= 0 && rule.Seconds <= 1e6)) {
    throw Error("The seconds of a stall must be between 0 and 1000000.");
  }
  const std::lock_guard<std::mutex> lock(this->Mutex);
  this->Active.push_back({rule});
}

void Faults::Remove(const std::string& pattern)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  const auto kept = std::remove_if(this->Active.begin(), this->Active.end(),
      [&](const ActiveRule& active) { return pattern == "*" || active.Rule.Pattern == pattern; });
  this->Active.erase(kept, this->Active.end());
}

FaultOutcome Faults::OnRead(const std::string& path)
{
  const std::lock_guard<std::mutex> lock(this->Mutex);
  FaultOutcome outcome;
  for (ActiveRule& active : this->Active) {
    if (!Matches(active.Rule.Pattern, path) || active.Seen++ < active.Rule.After) {
      continue;
    }
    if (active.Rule.Kind == FaultKind::Eio) {
      outcome.Fails = true;
    } else {
      outcome.StallSeconds += active.Rule.Seconds;
    }
  }
  return outcome;
}

}  // namespace patchio::emulator
