// Read rates by ranks and threads: PatchIO's partition, request plans and thread rules on a simulated
// storage.
#include "Commands.h"
#include "MadeUpStep.h"
#include "SimulatedReads.h"

#include "Plan/Partition.h"
#include "Plan/ReadPlan.h"
#include "Plan/ThreadBudget.h"
#include "Tuning/ThreadPolicy.h"

#include <cmath>
#include <memory>
#include <numeric>

namespace patchio::atscale {
namespace {

struct ReadOptions
{
  std::vector<int> Ranks{8}, Threads{1, 2, 4, 8};
  int Patches = 1274;
  std::uint64_t ArrayBytes = 1 << 20;
  emulator::Model Storage;
  double ConcurrencyOfRank = 0;
  double AdaptedSeconds = 0;
};

/// The reads of one step with a given number of ranks.
class Reading
{
public:
  Reading(const ReadOptions& options, const Catalog& catalog, int rankCount)
      : Options(options), Step(catalog), PatchesOf(rankCount), Storage(options.Storage)
  {
    if (options.ConcurrencyOfRank > 0) {
      this->Storage.Concurrency =
          std::max(1, static_cast<int>(std::lround(options.ConcurrencyOfRank * rankCount)));
    }
    std::vector<int> all(catalog.Patches.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<std::int64_t> weights(all.size(), static_cast<std::int64_t>(options.ArrayBytes));
    const std::vector<int> parts = PartitionPatches(catalog, all, weights, rankCount);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      this->PatchesOf[parts[p]].push_back({static_cast<int>(p), 0});
    }
  }

  nlohmann::json Run()
  {
    const int rankCount = static_cast<int>(this->PatchesOf.size());
    nlohmann::json found{{"one_level", this->Rate(false, [](int) { return 1; })}};
    for (const int threads : this->Options.Threads) {
      const auto same = [threads](int) { return threads; };
      found["arrays"][std::to_string(threads)] = this->Rate(false, same);
      found["planned"][std::to_string(threads)] = this->Rate(true, same);
    }
    const auto rule = [&](int rank) {
      return ThreadsFromStorage(this->Storage.Concurrency, 0, rankCount, rank);
    };
    found["rule"] = {{"arrays", this->Rate(false, rule)}};
    if (this->Options.AdaptedSeconds > 0) {
      found["adapted"] = this->Adapted(rankCount);
    }
    return found;
  }

private:
  /// planned: uses PatchIO's requests; otherwise each request is the array of a patch.
  template <typename ThreadsOf>
  double Rate(bool planned, ThreadsOf threadsOf) const
  {
    std::vector<RankReads> ranks;
    for (std::size_t rank = 0; rank < this->PatchesOf.size(); ++rank) {
      RankReads& reads = ranks.emplace_back();
      reads.Threads = threadsOf(static_cast<int>(rank));
      if (planned) {
        const LocationTable table =
            bench::LocationsOf(this->Step, this->PatchesOf[rank], this->Options.ArrayBytes);
        const StorageModel model{this->Storage.Latency, this->Storage.Stream};
        for (const StorageRequest& request : PlanReads(table, {}, model, reads.Threads).Requests) {
          reads.Requests.push_back(request.Bytes);
        }
      } else {
        reads.Requests.assign(this->PatchesOf[rank].size(), this->Options.ArrayBytes);
      }
    }
    const double seconds = SimulateRead(this->Storage, 0, ranks);
    return static_cast<double>(this->Step.Patches.size() * this->Options.ArrayBytes) / seconds;
  }

  /// Returns the results of the mode Automatic on a storage without a profile.
  nlohmann::json Adapted(int rankCount) const
  {
    StorageKnowledge nothing;
    nothing.Class = MountClass::Parallel;
    ThreadController controller(ControllerOptionsFor(nothing, ThreadPolicy::Balanced, {rankCount, 1, 64}));
    const AdaptedOutcome outcome = SimulateAdaptedRead(
        this->Storage, 0, this->Options.ArrayBytes, this->Options.AdaptedSeconds, controller);
    double best = 0;
    for (int threads = 1; threads <= 64; ++threads) {
      best = std::max(best, this->Storage.Rate(rankCount * threads, 0, this->Options.ArrayBytes));
    }
    return {{"of_best", outcome.Rate / best}};
  }

  const ReadOptions& Options;
  const Catalog& Step;
  std::vector<std::vector<PatchVariable>> PatchesOf;  ///< the arrays of each rank
  emulator::Model Storage;
};

struct QueueOptions
{
  int Ranks = 1;
  std::vector<std::string> Requests;
  emulator::Model Storage;
};

nlohmann::json RunQueue(const QueueOptions& options)
{
  RankReads reads;
  for (const std::string& text : options.Requests) {
    const std::size_t colon = text.find(':');
    reads.Requests.insert(
        reads.Requests.end(), std::stoul(text.substr(0, colon)), std::stoull(text.substr(colon + 1)));
  }
  const std::vector<RankReads> ranks(options.Ranks, reads);
  return {{"seconds", SimulateRead(options.Storage, 0, ranks)}};
}

}  // namespace

void AddStorage(CLI::App& command, emulator::Model& storage)
{
  command.add_option("--latency", storage.Latency, "seconds of a request besides its bytes");
  command.add_option("--stream", storage.Stream, "bytes a second of one request");
  command.add_option("--concurrency", storage.Concurrency, "N*");
  command.add_option("--contention", storage.Contention, "past N* the rate falls as (N*/N)^this");
  command.add_option("--total", storage.Total, "bytes a second of the storage; 0: no such limit");
}

void AddReading(CLI::App& program, const Answer& answer)
{
  const auto options = std::make_shared<ReadOptions>();
  CLI::App* command = program.add_subcommand("read", "rates by ranks and threads");
  command->add_option("--ranks", options->Ranks)->delimiter(',');
  command->add_option("--threads", options->Threads)->delimiter(',');
  command->add_option("--patches", options->Patches)->check(CLI::Range(1, 10'000'000));
  command->add_option("--array-bytes", options->ArrayBytes);
  AddStorage(*command, options->Storage);
  command->add_option("--concurrency-of-rank", options->ConcurrencyOfRank, "N* is this times the ranks");
  command->add_option(
      "--adapted", options->AdaptedSeconds, "seconds of a read with the mode Automatic; 0: none");
  command->callback([options, answer] {
    emulator::CheckModel(options->Storage);
    const Catalog catalog = bench::CubeOfPatches(options->Patches, 16);
    nlohmann::json found;
    for (const int rankCount : options->Ranks) {
      found[std::to_string(rankCount)] = Reading(*options, catalog, rankCount).Run();
    }
    answer(found);
  });

  const auto queue = std::make_shared<QueueOptions>();
  command = program.add_subcommand("queue", "ranks that all make the same requests");
  command->add_option("--ranks", queue->Ranks);
  command->add_option("--requests", queue->Requests, "NUMBER:BYTES, one after another")->delimiter(',');
  AddStorage(*command, queue->Storage);
  command->callback([queue, answer] { answer(RunQueue(*queue)); });
}

}  // namespace patchio::atscale
