#include "Emulator.h"

#include "Base/Error.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <map>

namespace patchio::emulator {

namespace {

const std::map<std::string, FaultKind> FaultNames{{"eio", FaultKind::Eio}, {"stall", FaultKind::Stall}};

CLI::App* AddFaultCommand(CLI::App& commands, FaultRule& rule)
{
  CLI::App* fault = commands.add_subcommand("fault");
  fault->add_option("pattern", rule.Pattern)->required();
  fault->add_option("kind", rule.Kind)->required()->transform(CLI::CheckedTransformer(FaultNames));
  fault->add_option("--after", rule.After);
  fault->add_option("--seconds", rule.Seconds);
  return fault;
}

}  // namespace

Emulator::Emulator(const Settings& settings)
    : Behaviour(settings), Storage(settings.Storage), MetadataLatency(settings.MetadataLatency)
{
  CheckModel(settings.Storage);
  this->SetLoad(settings.Load);
}

void Emulator::OpenFile()
{
  ++this->Opens;
  this->Metadata();
}

bool Emulator::PrepareRead(const std::string& path)
{
  const FaultOutcome outcome = this->Broken.OnRead(path);
  this->FaultsGiven += outcome.Fails || outcome.StallSeconds > 0 ? 1 : 0;
  if (outcome.StallSeconds > 0) {
    this->Storage.Sleep(outcome.StallSeconds);
  }
  return outcome.Fails;
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
  int others = 0;
  load->add_option("others", others)->required();
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
    this->SetLoad(others);
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
      {"contention", state.Storage.Contention}, {"metadata_latency", this->MetadataLatency * 1e3}};
  {
    const std::lock_guard<std::mutex> lock(this->Commanding);
    report["last_error"] = this->LastError;
  }
  // Invalid commands may hold any bytes.
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void Emulator::SetLoad(int load)
{
  if (load < 0) {
    throw Error("The load must be 0 or more, not " + std::to_string(load) + ".");
  }
  this->Storage.SetLoad(load);
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
