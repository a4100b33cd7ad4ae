#include "Emulator.h"

#include "Base/Error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>
#include <sstream>

namespace patchio::emulator {

namespace {

const std::map<std::string, FaultKind> FaultNames{{"eio", FaultKind::Eio}, {"open", FaultKind::Open},
    {"short", FaultKind::Short}, {"stall", FaultKind::Stall}};

std::string NameOf(FaultKind kind)
{
  for (const auto& [name, named] : FaultNames) {
    if (named == kind) {
      return name;
    }
  }
  return {};
}

/// Returns the number that the whole text represents. Throws Error for other texts.
template <typename Number>
Number NumberIn(const std::string& text)
{
  std::istringstream stream(text);
  Number number{};
  if (!(stream >> number) || !stream.eof()) {
    throw Error("'" + text + "' is not a number.");
  }
  return number;
}

nlohmann::json Describe(const FaultRule& rule)
{
  return {{"pattern", rule.Pattern}, {"kind", NameOf(rule.Kind)}, {"after", rule.After},
      {"probability", rule.Probability}, {"seconds", rule.Seconds}, {"bytes", rule.Bytes}};
}

CLI::App* AddFaultCommand(CLI::App& commands, FaultRule& rule)
{
  CLI::App* fault = commands.add_subcommand("fault");
  fault->add_option("pattern", rule.Pattern)->required();
  fault->add_option("kind", rule.Kind)->required()->transform(CLI::CheckedTransformer(FaultNames));
  fault->add_option("--after", rule.After);
  fault->add_option("--probability", rule.Probability);
  fault->add_option("--seconds", rule.Seconds);
  fault->add_option("--bytes", rule.Bytes);
  return fault;
}

}  // namespace

std::vector<std::pair<double, int>> ParseLoadPlan(const std::string& text)
{
  std::vector<std::pair<double, int>> plan;
  for (const std::string& step : CLI::detail::split(text, ',')) {
    const std::size_t colon = step.find(':');
    if (colon == std::string::npos) {
      throw Error("A plan of the load is SECONDS:NC,SECONDS:NC,..., not '" + text + "'.");
    }
    plan.emplace_back(NumberIn<double>(step.substr(0, colon)), NumberIn<int>(step.substr(colon + 1)));
    const double before = plan.size() > 1 ? plan[plan.size() - 2].first : 0;
    if (plan.back().first < before || plan.back().second < 0) {
      throw Error(
          "In a plan of the load, seconds rise from 0 and NC is not negative, unlike '" + text + "'.");
    }
  }
  return plan;
}

Emulator::Emulator(const Settings& settings)
    : Behaviour(settings),
      Storage(settings.Storage),
      Broken(settings.Seed),
      MetadataLatency(settings.MetadataLatency)
{
  CheckModel(settings.Storage);
  if (!settings.LoadPlan.empty()) {
    this->Storage.SetLoadPlan(settings.LoadPlan);
  }
}

FaultOutcome Emulator::OpenFile(const std::string& path)
{
  ++this->Opens;
  const FaultOutcome outcome = this->Broken.OnOpen(path);
  this->FaultsGiven += outcome.Faulty() ? 1 : 0;
  this->Metadata();
  return outcome;
}

FaultOutcome Emulator::PrepareRead(const std::string& path)
{
  const FaultOutcome outcome = this->Broken.OnRead(path);
  this->FaultsGiven += outcome.Faulty() ? 1 : 0;
  if (outcome.StallSeconds > 0) {
    this->Storage.Sleep(outcome.StallSeconds);
  }
  return outcome;
}

Gate::Request Emulator::Read(std::size_t bytes)
{
  ++this->Reads;
  this->ReadBytes += bytes;
  return Gate::Request(this->Storage, bytes);
}

void Emulator::Written(std::size_t bytes)
{
  ++this->Writes;
  this->WrittenBytes += bytes;
  if (this->Behaviour.SlowWrites) {
    Gate::Request(this->Storage, bytes).Await();
  }
}

void Emulator::Metadata()
{
  ++this->MetadataRequests;
  this->Storage.Sleep(this->MetadataLatency);
}

void Emulator::Command(const std::string& line)
{
  const std::lock_guard<std::mutex> lock(this->Commanding);
  this->LastError.clear();
  try {
    this->Execute(line);
  } catch (const Error& error) {
    this->LastError = error.what();
    throw;
  }
}

void Emulator::Execute(const std::string& line)
{
  CLI::App commands;
  commands.require_subcommand(1);
  CLI::App* reset = commands.add_subcommand("reset");
  CLI::App* load = commands.add_subcommand("load");
  std::string plan;
  load->add_option("plan", plan)->required();
  FaultRule rule;
  CLI::App* fault = AddFaultCommand(commands, rule);
  CLI::App* heal = commands.add_subcommand("heal");
  std::string healed = "*";
  heal->add_option("pattern", healed);
  CLI::App* set = commands.add_subcommand("set");
  std::string name;
  double value = 0;
  set->add_option("name", name)->required();
  set->add_option("value", value)->required();
  try {
    commands.parse(line);
  } catch (const CLI::ParseError& error) {
    throw Error("The emulator does not understand '" + line + "': " + error.what() + ".");
  }
  if (reset->parsed()) {
    this->Reset();
  } else if (load->parsed()) {
    this->Storage.SetLoadPlan(ParseLoadPlan(plan.find(':') == std::string::npos ? "0:" + plan : plan));
  } else if (fault->parsed()) {
    this->Broken.Add(rule);
  } else if (heal->parsed()) {
    this->Broken.Remove(healed);
  } else if (set->parsed()) {
    this->SetNumber(name, value);
  }
}

std::string Emulator::Report()
{
  const Gate::State state = this->Storage.Look();
  nlohmann::json report;
  report["reads"] = this->Reads.load();
  report["read_bytes"] = this->ReadBytes.load();
  report["writes"] = this->Writes.load();
  report["written_bytes"] = this->WrittenBytes.load();
  report["opens"] = this->Opens.load();
  report["metadata_requests"] = this->MetadataRequests.load();
  report["faults_given"] = this->FaultsGiven.load();
  report["in_flight"] = state.InFlight;
  report["most_in_flight"] = state.MostInFlight;
  report["busy_seconds"] = state.BusySeconds;
  report["load"] = state.Load;
  report["settings"] = {{"latency", state.Storage.Latency * 1e3}, {"stream", state.Storage.Stream / 1e6},
      {"concurrency", state.Storage.Concurrency}, {"total", state.Storage.Total / 1e6},
      {"contention", state.Storage.Contention}, {"metadata_latency", this->MetadataLatency * 1e3},
      {"cached", this->Behaviour.Cached}, {"metadata_cache", this->Behaviour.MetadataCache},
      {"slow_writes", this->Behaviour.SlowWrites}, {"seed", this->Behaviour.Seed}};
  report["faults"] = nlohmann::json::array();
  for (const FaultRule& rule : this->Broken.Rules()) {
    report["faults"].push_back(Describe(rule));
  }
  {
    const std::lock_guard<std::mutex> lock(this->Commanding);
    report["last_error"] = this->LastError;
  }
  // Patterns may hold any bytes.
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void Emulator::Reset()
{
  this->Storage.ResetCounters();
  for (auto* counter : {&this->Reads, &this->ReadBytes, &this->Writes, &this->WrittenBytes, &this->Opens,
           &this->MetadataRequests, &this->FaultsGiven}) {
    *counter = 0;
  }
}

void Emulator::SetNumber(const std::string& name, double value)
{
  Model model = this->Storage.Look().Storage;
  if (name == "latency") {
    model.Latency = value / 1e3;
  } else if (name == "stream") {
    model.Stream = value * 1e6;
  } else if (name == "concurrency") {
    model.Concurrency = value >= 1 && value <= 1e6 ? static_cast<int>(value) : 0;
  } else if (name == "total") {
    model.Total = value * 1e6;
  } else if (name == "contention") {
    model.Contention = value;
  } else if (name == "metadata_latency" && value >= 0) {
    this->MetadataLatency = value / 1e3;
  } else {
    throw Error("The emulator cannot set '" + name + "' to " + std::to_string(value) + ".");
  }
  CheckModel(model);
  this->Storage.SetModel(model);
}

}  // namespace patchio::emulator
