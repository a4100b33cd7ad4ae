// patchio_quick_probe: prints the results of RunQuickProbe for the storage of a folder as JSON. Runs under
// MPI.
#include "Driver.h"

#include "Probe/QuickProbe.h"

namespace patchio::bench {
namespace {

using nlohmann::json;

json JsonOf(const probe::QuickProbeResult& result)
{
  const probe::RequestCost& alone = result.CostAlone;
  return {{"best", result.Profile.Concurrency}, {"cache_answered", result.CacheAnswered},
      {"alone", {{"known", alone.Known}, {"latency", alone.Requests.Latency},
                    {"bandwidth", alone.Requests.Bandwidth}}}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  struct Options
  {
    std::string Folder;
    probe::QuickProbeOptions How;
  };
  const auto options = std::make_shared<Options>();
  probe::QuickProbeOptions& how = options->How;
  program.description("Measures a storage and says what it found, as JSON");
  program.add_option("folder", options->Folder, "where to write test files")->required();
  program.add_option("--seconds", how.Seconds, "how long it should take")->check(CLI::Range(1.0, 3600.0));
  program.add_option("--bytes", how.TestBytes, "of test files");
  program.add_option("--request", how.RequestBytes, "bytes of the requests that N is tried with");
  program.add_option("--most", how.MostConcurrency, "greatest N")->check(CLI::Range(1, 4096));
  program.add_option("--seed", how.Seed, "of the random order");
  return [options] { return JsonOf(probe::RunQuickProbe(Ranks(), options->Folder, options->How)); };
}

}  // namespace patchio::bench
