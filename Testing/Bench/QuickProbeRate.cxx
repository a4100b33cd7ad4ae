// patchio_quick_probe: prints the results of RunQuickProbe for the storage of a folder as JSON. Runs under
// MPI.
#include "Probe/QuickProbe.h"
#include "RunUnderMpi.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace {

using nlohmann::json;

json JsonOf(const patchio::probe::RequestCost& cost)
{
  return {{"known", cost.Known}, {"latency", cost.Requests.Latency}, {"bandwidth", cost.Requests.Bandwidth},
      {"block", cost.BlockBytes}, {"residual", cost.Residual}};
}

json JsonOf(const patchio::probe::QuickProbeResult& result)
{
  json samples = json::array();
  for (const patchio::RateSample& sample : result.Profile.Samples) {
    samples.push_back({sample.Concurrency, sample.Rate / 1e6, sample.Pass});
  }
  return {{"best", result.Profile.Concurrency}, {"fit", result.Profile.Fit.Text()},
      {"alone", JsonOf(result.CostAlone)}, {"at_best", JsonOf(result.CostAtBest)},
      {"cancelled", result.Cancelled}, {"cache_answered", result.CacheAnswered},
      {"out_of_time", result.OutOfTime}, {"seconds", result.Seconds}, {"notes", result.Profile.Notes},
      {"samples_MB_per_s", samples}, {"type", result.Profile.StorageMount.Type}};
}

int Run(int argc, char** argv)
{
  std::string folder;
  patchio::probe::QuickProbeOptions options;
  bool show = false;
  bool save = false;
  CLI::App program("Measures a storage and says what it found, as JSON", "patchio_quick_probe");
  program.add_option("folder", folder, "where to write test files")->required();
  program.add_option("--seconds", options.Seconds, "how long it should take")->check(CLI::Range(1.0, 3600.0));
  program.add_option("--bytes", options.TestBytes, "of test files");
  program.add_option("--request", options.RequestBytes, "bytes of the requests that N is tried with");
  program.add_option("--most", options.MostConcurrency, "greatest N")->check(CLI::Range(1, 4096));
  program.add_option("--seed", options.Seed, "of the random order");
  program.add_option("--existing", options.ExistingFiles, "read these files and write none");
  program.add_flag("--show", show, "progress");
  program.add_flag("--save", save, "keep the profile");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  }
  const auto comm = patchio::MakeMpiCommunicator(MPI_COMM_WORLD);
  const auto progress = [show](const patchio::probe::ProbeProgress& now) {
    if (show) {
      std::fprintf(
          stderr, "%3.0f %%, %.0f s left: %s\n", 100 * now.Fraction, now.SecondsLeft, now.Activity.c_str());
    }
    return true;
  };
  const patchio::probe::QuickProbeResult result =
      patchio::probe::RunQuickProbe(*comm, folder, options, progress);
  if (comm->Rank() == 0) {
    if (save) {
      patchio::SaveProfile(result.Profile);
    }
    std::puts(JsonOf(result).dump().c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv)
{
  return RunUnderMpi(argc, argv, "patchio_quick_probe", Run);
}
