#include "Probe/Quick.h"

#include "Probe/Interrupt.h"
#include "Probe/Progress.h"
#include "Probe/Result.h"
#include "Probe/Statistics.h"
#include "Probe/Study.h"
#include "Session.h"
#include "Storage/QuickProbe.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/Together.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace patchio::probe {
namespace {

constexpr std::uint64_t FunctionsBytes = 64u << 20;     // of the file that functions are compared on
constexpr std::uint64_t UsualBlock = 1u << 20;          // where none was found best
constexpr std::uint64_t MostFunctionsBlock = 4u << 20;  // many ranks with large blocks need large files
constexpr double PartOfTime = 0.3;                      // that the comparison may take beside the rest

const std::vector<std::string> FunctionsToCompare{"read_at", "read_at_all", "read", "read_all", "pread"};

QuickProbeResult ProbeConcurrency(const Settings& settings, tools::Session& session)
{
  QuickProbeOptions options;
  options.Seconds = settings.QuickSeconds;
  options.TestBytes = settings.QuickBytes;
  options.ExistingFiles = settings.Existing;
  options.Seed = static_cast<unsigned>(settings.Seed);
  options.Cancel = &Interrupt::Flag();
  Progress bar(session.Root());
  return RunQuickProbe(session.Ranks(), settings.Directory, options, [&bar](const ProbeProgress& now) {
    bar.Show(now.Fraction, now.SecondsLeft, now.Doing);
    return true;
  });
}

/// The study's measurements of the reading functions that are there for a rank's own part.
Result CompareFunctions(
    const Settings& settings, std::uint64_t block, const std::string& output, tools::Session& session)
{
  Settings few = settings;
  few.Quick = false;
  few.Functions = FunctionsToCompare;
  few.Views = {NameOf(View::Own)};
  few.Blocks = {std::clamp<std::uint64_t>(block / 8 * 8, 8, MostFunctionsBlock)};
  few.Sizes = {std::max(FunctionsBytes, 2 * few.Blocks[0] * session.Ranks().Size())};
  few.Budget = PartOfTime * settings.QuickSeconds;
  few.Repetitions = 3;
  few.InfluenceSeconds = 0;
  few.Features = 0;
  return RunStudy(session, few, output);
}

/// Empty where not all were measured.
std::string FastestFunction(const Result& result)
{
  if (result.Points.size() < FunctionsToCompare.size()) {
    return {};
  }
  std::string name;
  double best = 0;
  for (const auto& [key, point] : result.Points) {
    const double rate = SpreadOf(point.Rates).Mean;
    if (rate > best) {
      best = rate;
      name = key.Function;
    }
  }
  return name;
}

std::string TextFor(const QuickProbeResult& found)
{
  const StorageProfile& profile = found.Profile;
  std::map<int, std::vector<double>> rates;
  for (const RateSample& sample : profile.Samples) {
    rates[sample.Concurrency].push_back(sample.Rate);
  }
  std::string text = "requests in flight    measured        fitted\n";
  for (const auto& [concurrency, values] : rates) {
    text += fmt::format("{:>18}  {:>8}/s  {:>10}/s\n", concurrency, ByteText(SpreadOf(values).Mean),
        profile.Fit.Known() ? ByteText(profile.Fit.At(concurrency)) : "?");
  }
  text += fmt::format("best: {} requests in flight on the whole system", profile.Concurrency);
  text += profile.BlockBytes > 0 ? fmt::format(", of {} or more\n", SizeText(profile.BlockBytes)) : "\n";
  if (profile.Fit.Known()) {
    text += profile.Fit.Text() + "\n";
  }
  if (found.AtBest.Known) {
    text += fmt::format("a request takes {:.3g} ms and 1 s for {}, with these in flight\n",
        1000 * found.AtBest.Requests.Latency, ByteText(found.AtBest.Requests.Bandwidth));
  }
  text += profile.BestFunction.empty() ? "" : "fastest function: " + profile.BestFunction + "\n";
  return text;
}

}  // namespace

void RunQuick(const Settings& settings, const std::string& output, tools::Session& session)
{
  const Interrupt interrupt;
  QuickProbeResult found = ProbeConcurrency(settings, session);
  if (!found.Cancelled && settings.Existing.empty()) {
    const std::uint64_t block = found.Profile.BlockBytes > 0 ? found.Profile.BlockBytes : UsualBlock;
    const Result functions = CompareFunctions(settings, block, output, session);
    found.Profile.BestFunction = FastestFunction(functions);
    found.Cancelled = functions.WhyIncomplete == Interruption;
  }
  Together(session.Ranks(), [&] {
    if (found.Cancelled) {
      throw Error("Interrupted. No profile was kept.");
    }
    if (found.Profile.Concurrency < 1) {
      throw Error("The time was too short to tell how many requests the storage bears; give more --seconds.");
    }
    if (!session.Root()) {
      return;
    }
    session.Print(TextFor(found));
    for (const std::string& note : found.Profile.Notes) {
      session.Print("note: " + note);
    }
    ReplaceFile(output + "/profile.json", TextOf(found.Profile));
    session.Print("profile: " + output + "/profile.json");
    if (!settings.NoSave) {
      session.Print("kept for the reader: " + SaveProfile(found.Profile));
    }
  });
}

}  // namespace patchio::probe
