// Steps that are read ahead on several ranks: mpiexec -n NP patchio_prefetcher_mpi_test DUMP DUMP
//
// A user's click or a script may reach one rank before the others. In each case, all ranks must take the same
// step from their queues, or none. Otherwise a rank waits forever, which shows as the time limit.
#include "Read/Prefetcher.h"

#include "MpiTest.h"

#include <memory>
#include <string>
#include <vector>

namespace patchio {
namespace {

using testing::Expect;
using testing::Rank;
using testing::Ranks;

std::vector<std::string> Paths;  ///< of steps 0 and 1

/// Collective: returns this rank's part of all variables, ready to be prefetched.
PrefetchedStep Prepared(Communicator& ranks, std::size_t step)
{
  auto opened = std::make_shared<OpenedStep>(ranks, Paths[step], IndexMode::Off);
  LoadRequest request;
  for (std::size_t v = 0; v < opened->Data().Variables.size(); ++v) {
    request.Variables.push_back(RequestAsStored(opened->Data(), static_cast<int>(v)));
  }
  request.Memory = std::make_shared<MemoryPool>();
  request.IsPrefetch = true;
  StepOptions options;
  options.LastLevel = 99;
  options.Piece = Rank;
  options.Pieces = Ranks;
  return ReservePrefetch(*LocateStep(PlanStep(ranks, opened, options, request, "")), step);
}

void CheckThatAllTakeIt(Communicator& ranks)
{
  Prefetcher queue;
  queue.Add(Prepared(ranks, 0));
  queue.Add(Prepared(ranks, 1));
  for (const std::size_t step : {0, 1}) {
    std::optional<PrefetchedStep> taken = queue.TakeStep(ranks, step);
    Expect(taken.has_value(), "not taken");
    if (taken) {
      ReadThreads threads(1);
      const LoadedStep loaded = LoadStep(std::move(taken->Located), threads);
      Expect(loaded.Outcome == LoadOutcome::Complete, "not sound");
      Expect(!loaded.Plan.LocalBlocks.empty(), "no blocks");
    }
  }
}

/// differ: changes a part of the queue on the last rank.
template <typename Differ>
void CheckThatNobodyTakesIt(Communicator& ranks, const char* when, std::size_t wanted, Differ differ)
{
  Prefetcher queue;
  queue.Add(Prepared(ranks, 0));
  queue.Add(Prepared(ranks, 1));
  if (Rank == Ranks - 1) {
    differ(queue, wanted);
  }
  Expect(!queue.TakeStep(ranks, wanted), std::string("taken though ") + when);
  Expect(!queue.Contains(0) && !queue.Contains(1), std::string("the queue is not empty though ") + when);
  queue.Add(Prepared(ranks, 1));
  Expect(queue.TakeStep(ranks, 1).has_value(), std::string("of no use any more when ") + when);
}

void CheckAgreement(Communicator& ranks)
{
  const bool odd = Rank == Ranks - 1 && Ranks > 1;  // this rank is different
  Prefetcher queue;
  queue.RecordDisplayed(0);
  queue.RecordDisplayed(1);
  Expect(queue.IsSameOnAllRanks(ranks, 1), "all are alike");
  Expect(queue.IsSameOnAllRanks(ranks, odd ? 0 : 1) == (Ranks == 1), "one is to read nothing ahead");
  queue.RecordDisplayed(odd ? 4 : 2);
  Expect(queue.IsSameOnAllRanks(ranks, 1) == (Ranks == 1), "one has shown another step");
  if (Rank == 0) {
    queue.Stop();
  }
  Expect(!queue.IsSameOnAllRanks(ranks, 1), "one is stopped");
  queue.Clear();
  Expect(queue.IsSameOnAllRanks(ranks, 1), "all are alike again");
}

}  // namespace
}  // namespace patchio

int main(int argc, char** argv)
{
  using namespace patchio;
  Paths.assign(argv + 1, argv + argc);
  return patchio::testing::RunOnRanks(argc, argv, "all ranks take the same", [](Communicator& ranks) {
    CheckThatAllTakeIt(ranks);
    CheckThatNobodyTakesIt(
        ranks, "one rank is stopped", 0, [](Prefetcher& queue, std::size_t&) { queue.Stop(); });
    CheckThatNobodyTakesIt(
        ranks, "one rank has dropped it", 0, [](Prefetcher& queue, std::size_t&) { queue.ClearQueue(); });
    CheckThatNobodyTakesIt(ranks, "it is not the next", 1, [](Prefetcher&, std::size_t&) {});
    if (Ranks > 1) {
      CheckThatNobodyTakesIt(
          ranks, "one rank wants another", 0, [](Prefetcher&, std::size_t& wanted) { wanted = 1; });
    }
    CheckAgreement(ranks);
  });
}
