#include "Base/Error.h"
#include "Base/Text.h"
#include "Formats/Format.h"
#include "Io/ReadTask.h"
#include "Plan/ThreadBudget.h"
#include "PythonScript.h"
#include "Read/CollectiveCalls.h"
#include "Session.h"
#include "Subcommands.h"
#include "Tuning/AutomaticThreads.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

namespace patchio::tools {
namespace {

using nlohmann::json;

constexpr ThreadPolicy Policies[] = {ThreadPolicy::Polite, ThreadPolicy::Balanced, ThreadPolicy::Greedy};

struct TuneOptions
{
  std::string Path;
  int Ranks = 1;
  double Seconds = 2;  ///< time to observe the load of other programs
  bool Json = false;
  std::string Plot;
  std::string Python;
};

/// The storage, its load and the data, which determine the numbers of threads.
struct StorageFacts
{
  std::optional<Mount> StorageMount;
  std::optional<StorageProfile> Profile;
  std::vector<std::string> Notes;
  LoadEstimate Load;
  std::optional<double> StepBytes;  ///< BytesOfLastStep(); nullopt for a folder without readable data
};

/// Returns the size in bytes of one element of each variable, as stored on the first patch that has the
/// variable; the size of a float if no patch has the variable or the arrays cannot be located.
std::vector<std::size_t> ElementSizes(const Catalog& catalog, const Format& format)
{
  std::vector<PatchVariable> requests;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      if (catalog.PresenceOf(v, p) == Presence::Stored) {
        requests.push_back({p, v});
        break;
      }
    }
  }
  std::vector<std::size_t> bytes(catalog.Variables.size(), sizeof(float));
  CatchError([&] {
    const LocationTable table = format.Locate(catalog, requests, {});
    for (std::size_t i = 0; i < requests.size(); ++i) {
      bytes[requests[i].Variable] = SizeOf(TypeOf(table, table.Locations[i]));
    }
  });
  return bytes;
}

/// Returns the number of bytes of all variables of a step of the last file, which often has the largest
/// steps.
double BytesOfLastStep(const std::string& path)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const Series series = OpenSeries(*alone, {path}, SeriesOptions(), IndexMode::ReadOnly);
  const std::string& step = series.Steps.back().Path;
  const Catalog catalog = ReadCatalog(*alone, step);
  const std::vector<std::size_t> elementSizes = ElementSizes(catalog, FormatOf(step));
  double bytes = 0;
  for (int v = 0; v < static_cast<int>(catalog.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(catalog.Patches.size()); ++p) {
      if (catalog.PresenceOf(v, p) == Presence::Stored) {
        bytes += static_cast<double>(catalog.StoredTuples(v, p)) * catalog.Variables[v].Components *
                 static_cast<double>(elementSizes[v]);
      }
    }
  }
  return bytes;
}

/// Returns the load of other programs on the storage, observed for `seconds`. This program reads nothing
/// during that time.
LoadEstimate ObserveLoad(const Mount& mount, double seconds)
{
  LoadSensor sensor(mount);
  sensor.Sample(OwnReads());
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return sensor.Sample(OwnReads());
}

StorageFacts GatherFacts(const TuneOptions& options)
{
  StorageFacts facts;
  std::error_code fault;
  const fs::file_status about = fs::status(options.Path, fault);
  if (!fs::exists(about)) {
    throw FileError(options.Path, "a data set or a folder", "nothing", "Check the path");
  }
  if (!fs::is_directory(about)) {
    facts.StepBytes = BytesOfLastStep(options.Path);
  } else if (FindFormat(options.Path)) {  // the data may be incomplete; the advice needs the storage only
    const std::string fault = CatchError([&] { facts.StepBytes = BytesOfLastStep(options.Path); });
    if (!fault.empty()) {
      facts.Notes.push_back(fault);
    }
  }
  facts.StorageMount = MountOf(options.Path);
  facts.Profile = FindProfile(options.Path, &facts.Notes, options.Ranks);
  if (facts.StorageMount) {
    facts.Load = ObserveLoad(*facts.StorageMount, options.Seconds);
  }
  return facts;
}

StorageKnowledge KnowledgeOf(const StorageFacts& facts, int rankCount)
{
  StorageKnowledge storage;
  storage.Class = facts.StorageMount ? facts.StorageMount->Class : MountClass::Unknown;
  storage.Concurrency = facts.Profile ? ConcurrencyFor(*facts.Profile, rankCount) : 0;
  storage.Load = facts.Load.Load;
  if (facts.Profile && facts.Profile->HasReliableFit()) {
    SetInitialReads(storage, facts.Profile->Fit);
  }
  return storage;
}

json DescribePolicy(const StorageFacts& facts, ThreadPolicy policy, int rankCount)
{
  const ReadingJob job{rankCount, static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  const ControllerOptions controller = ControllerOptionsFor(KnowledgeOf(facts, rankCount), policy, job);
  return {{"start", controller.Start}, {"least", controller.Least}, {"most", controller.Most},
      {"threads_of_rank", ThreadsFromStorage(controller.Start, 0, rankCount, 0)}};
}

json DescribeProfile(const StorageProfile& profile, int rankCount)
{
  const int concurrency = ConcurrencyFor(profile, rankCount);
  json samples = json::array();
  for (const RateSample& sample : profile.Samples) {
    samples.push_back({sample.Concurrency, sample.Rate});
  }
  json curve = json::array();
  for (double n = 1; profile.Fit.Known() && n < profile.Fit.Most(); n *= std::exp2(0.125)) {
    curve.push_back({n, profile.Fit.At(n)});
  }
  json all = {{"source", DescribeSource(profile, rankCount)}, {"concurrency", concurrency},
      {"from_table", !profile.ThreadsOfRanks.empty()}, {"law", profile.Fit.Text()}, {"samples", samples}};
  if (profile.Fit.Known() && profile.ThreadsOfRanks.empty()) {
    const ConcurrencyRange sure = EstimateBestRange(profile.Samples);
    all["concurrency_range"] = {sure.Least, sure.Most};
  }
  if (profile.Fit.Known()) {
    curve.push_back({profile.Fit.Most(), profile.Fit.At(profile.Fit.Most())});
    all["rate"] = profile.Fit.At(concurrency);
  }
  all["curve"] = curve;
  if (profile.CostOfRequest) {
    all["latency"] = profile.CostOfRequest->Latency;
    all["bandwidth"] = profile.CostOfRequest->Bandwidth;
  }
  return all;
}

json DescribeAll(const TuneOptions& options, const StorageFacts& facts)
{
  const Mount where = facts.StorageMount.value_or(Mount());
  json all = {{"path", options.Path}, {"ranks", options.Ranks}, {"notes", facts.Notes},
      {"mount", {{"point", where.Point}, {"type", where.Type}, {"source", where.Source},
                    {"class", NameOf(where.Class)}}},
      {"load",
          {{"others", facts.Load.Load}, {"sureness", facts.Load.Confidence}, {"source", facts.Load.Source}}}};
  if (facts.StepBytes) {
    all["step_bytes"] = *facts.StepBytes;
  }
  if (facts.Profile) {
    all["profile"] = DescribeProfile(*facts.Profile, options.Ranks);
  }
  for (const ThreadPolicy policy : Policies) {
    all["policies"][NameOf(policy)] = DescribePolicy(facts, policy, options.Ranks);
  }
  return all;
}

// ---- as text ----

std::string StorageText(const json& all)
{
  const json& mount = all["mount"];
  std::string text = fmt::format("{}\n  is on {} ({}, {})\n", all["path"].get<std::string>(),
      mount["point"].get<std::string>(), mount["type"].get<std::string>(), mount["class"].get<std::string>());
  if (!all.contains("profile")) {
    return text + (all["notes"].empty()
                          ? "  This storage has no profile yet. Measure the storage with 'patchio probe'.\n"
                          : "  This storage has no usable profile, see the notes. Measure the storage with "
                            "'patchio probe'.\n");
  }
  const json& profile = all["profile"];
  text += fmt::format("  {}\n  N* = {}: {}\n", profile["source"].get<std::string>(),
      profile["concurrency"].get<int>(),
      profile["from_table"].get<bool>()
          ? "concurrent reads from all ranks together, from the table of the profile"
          : "concurrent reads from all ranks together at which the storage is fastest");
  if (profile.contains("concurrency_range")) {
    const json& sure = profile["concurrency_range"];
    text +=
        fmt::format("  90 % confidence interval of N*: {} to {}\n", sure[0].get<int>(), sure[1].get<int>());
  }
  if (profile.contains("rate")) {
    text += fmt::format("  F(N*) = {}/s\n", ByteText(profile["rate"].get<double>()));
  }
  if (profile.contains("latency")) {
    text += fmt::format("  A read takes {:.3g} ms, plus the time of its bytes at {}/s\n",
        profile["latency"].get<double>() * 1e3, ByteText(profile["bandwidth"].get<double>()));
  }
  return text;
}

std::string PolicyText(const std::string& name, const json& policy, int rankCount)
{
  const int start = policy["start"].get<int>();
  return fmt::format("  {:<9} starts with {} in flight ({} {}), then adapts between {} and {}\n", name,
      CountText(start, "read"), CountText(policy["threads_of_rank"].get<int>(), "thread"),
      rankCount == 1 ? "in one rank" : fmt::format("in each of {} ranks", rankCount),
      policy["least"].get<int>(), policy["most"].get<int>());
}

std::string ReportText(const json& all)
{
  std::string text = StorageText(all);
  const json& load = all["load"];
  text += load["sureness"] > 0
              ? fmt::format("  NC = {:.1f} concurrent reads of other programs: {}\n",
                    load["others"].get<double>(), load["source"].get<std::string>())
              : fmt::format("  NC is unknown and counts as 0: {}\n", load["source"].get<std::string>());
  const int rankCount = all["ranks"].get<int>();
  text += fmt::format("With Thread Mode = Automatic and NP = {}, the policy\n", rankCount);
  for (const ThreadPolicy policy : Policies) {
    text += PolicyText(NameOf(policy), all["policies"][NameOf(policy)], rankCount);
  }
  if (all.contains("step_bytes")) {
    text +=
        fmt::format("A time step has {}. Reads of less than a second keep the initial number of threads.\n",
            ByteText(all["step_bytes"].get<double>()));
  }
  for (const json& note : all["notes"]) {
    text += "note: " + note.get<std::string>() + "\n";
  }
  text.pop_back();
  return text;
}

/// Plots F(N) with plot_tune.py, from a temporary JSON file. Without --json, also prints the path of the
/// plot. Throws Error.
void DrawPlot(const json& all, const TuneOptions& options, Session& session)
{
  if (!all.contains("profile") || all["profile"]["curve"].empty()) {
    throw Error(
        "Cannot draw F(N), because this storage has no profile with F(N). Measure the storage with 'patchio "
        "probe'.");
  }
  const std::string picture = fs::path(options.Plot).has_extension() ? options.Plot : options.Plot + ".png";
  const std::string found = picture + ".json";
  {
    std::ofstream out(found);
    out << all.dump(2, ' ', false, json::error_handler_t::replace);
    if (!out.flush()) {
      throw SystemError(found, "a file that can be written", errno, "Choose another folder for the plot");
    }
  }
  // After a failure, the JSON file stays, so that users can plot F(N) elsewhere.
  const std::string fault = CatchError([&] {
    if (RunPythonScript("plot_tune.py", {found, picture}, options.Python, true) != 0) {
      throw Error("plot_tune.py failed.");
    }
  });
  if (!fault.empty()) {
    throw Error("Cannot draw F(N): " + fault);
  }
  std::remove(found.c_str());
  if (!options.Json) {
    session.Print("plot: " + picture);
  }
}

/// Returns an empty text if `text` is a number from 0 to 3600, otherwise an error. CLI11's own range lets
/// "nan" pass.
std::string CheckSeconds(const std::string& text)
{
  double seconds = 0;
  const bool number = CLI::detail::lexical_cast(text, seconds);
  return number && seconds >= 0 && seconds <= 3600 ? "" : "expected 0 to 3600 seconds, found " + text;
}

void Run(const TuneOptions& options, Session& session)
{
  session.OnRoot([&] {
    const json all = DescribeAll(options, GatherFacts(options));
    session.Print(options.Json ? all.dump(2, ' ', false, json::error_handler_t::replace) : ReportText(all));
    if (!options.Plot.empty()) {
      DrawPlot(all, options, session);
    }
  });
}

}  // namespace

void AddTune(CLI::App& program, Session& session)
{
  CLI::App* command =
      program.add_subcommand("tune", "Show how many threads the thread mode Automatic uses, and why");
  const auto options = std::make_shared<TuneOptions>();
  options->Ranks = session.Ranks().Size();
  AddPath(*command, options->Path, "; or any folder on the storage");
  command
      ->add_option(
          "--ranks", options->Ranks, "NP, the number of ranks that read (default: the ranks of this run)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--seconds", options->Seconds, "Time to observe the load of other programs, in seconds")
      ->check(CheckSeconds);
  command->add_flag("--json", options->Json, "Print JSON for programs, including the points of F(N)");
  command->add_option(
      "--plot", options->Plot, "Plot F(N), and the initial concurrency of each policy, into this PNG file");
  command->add_option("--python", options->Python, "Python interpreter for --plot; requires matplotlib");
  command->callback([options, &session] { Run(*options, session); });
}

}  // namespace patchio::tools
