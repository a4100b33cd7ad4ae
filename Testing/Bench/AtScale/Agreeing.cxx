// Measures the cost of collective calls for one rank: opens and reads a real dump as rank 0 of a given number
// of ranks.
#include "Commands.h"
#include "CountingCommunicator.h"

#include "Read/ReadSession.h"

#include <algorithm>
#include <memory>

namespace patchio::atscale {
namespace {

/// Returns the counts since the last call.
class Stages
{
public:
  explicit Stages(const CountingCommunicator& ranks) : Ranks(ranks), Then(ranks.Count()) {}

  nlohmann::json Take()
  {
    const CommunicationCount now = this->Ranks.Count();
    nlohmann::json stage{{"calls", now.Calls - this->Then.Calls},
        {"messages", now.Messages - this->Then.Messages}, {"received", now.Received - this->Then.Received}};
    this->Then = now;
    return stage;
  }

private:
  const CountingCommunicator& Ranks;
  CommunicationCount Then;
};

nlohmann::json AgreeAs(int size, const std::string& path)
{
  CountingCommunicator ranks(size);
  ReadRequest request;
  request.Options.LastLevel = 100;
  request.Options.Pieces = size;
  request.Threads.ThreadsPerRank = 1;
  request.CacheMemory = 0;
  ReadObserver observer;
  observer.Progress = [](double, const std::string&) { return true; };
  observer.Warn = [](const std::string&) {};
  ReadSession session(1);
  session.Series.AddFile(path);
  session.Series.SetIndexMode(IndexMode::Off);
  Stages stages(ranks);
  session.Open(ranks, {});
  session.Series.OpenAny(ranks);
  nlohmann::json found{{"open", stages.Take()}};
  for (const char* const name : {"first", "again", "automatic"}) {
    request.Threads.Mode = name == std::string("automatic") ? ThreadMode::Automatic : ThreadMode::Fixed;
    std::optional<LocatedStep> located = session.Locate(ranks, 0, request, observer);
    std::optional<LoadedStep> loaded = session.Load(std::move(*located), request, observer);
    session.Report(*loaded);
    found[name] = stages.Take();
  }
  return found;
}

}  // namespace

void AddAgreeing(CLI::App& program, const Answer& answer)
{
  struct AgreeOptions
  {
    std::string Path;
    std::vector<int> Ranks{128};
  };
  const auto options = std::make_shared<AgreeOptions>();
  CLI::App* command = program.add_subcommand("agree", "messages and memory of agreements");
  command->add_option("FILE", options->Path, "what describes a step")->required();
  command->add_option("--ranks", options->Ranks)->delimiter(',');
  command->callback([options, answer] {
    nlohmann::json found;
    for (const int rankCount : options->Ranks) {
      found[std::to_string(rankCount)] = AgreeAs(rankCount, options->Path);
    }
    answer(found);
  });
}

}  // namespace patchio::atscale
