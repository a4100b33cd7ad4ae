#include "SimulatedReads.h"

#include "../../Emulator/Schedule.h"

#include <algorithm>

namespace patchio::atscale {

using emulator::Schedule;

double SimulateRead(const emulator::Model& storage, int load, const std::vector<RankReads>& ranks)
{
  Schedule schedule(storage);
  schedule.SetLoad(0, load);
  double now = 0;
  std::vector<std::size_t> next(ranks.size(), 0);  // the next request of each rank
  std::vector<std::uint32_t> rankOf;               // by ticket
  const auto begin = [&](std::size_t rank) {
    if (next[rank] < ranks[rank].Requests.size()) {
      schedule.Arrive(now, ranks[rank].Requests[next[rank]++]);
      rankOf.push_back(static_cast<std::uint32_t>(rank));
    }
  };
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (int thread = 0; thread < ranks[rank].Threads; ++thread) {
      begin(rank);
    }
  }
  while (!schedule.Idle()) {
    schedule.AdvanceTo(schedule.NextFinish());
    for (const Schedule::Finish& finish : schedule.TakeFinished()) {
      now = finish.Time;
      begin(rankOf[finish.Request]);
    }
  }
  return now;
}

AdaptedOutcome SimulateAdaptedRead(const emulator::Model& storage, int load, std::uint64_t requestBytes,
    double seconds, ThreadController& controller)
{
  constexpr int leastOfWindow = 8;  // requests, as in ReadControl
  Schedule schedule(storage);
  schedule.SetLoad(0, load);
  int wanted = controller.Threads(), settling = wanted, inWindow = 0;
  double opened = 0, lateBytes = 0;
  AdaptedOutcome outcome;
  for (int i = 0; i < wanted; ++i) {
    schedule.Arrive(0, requestBytes);
  }
  for (double now = 0; now < seconds;) {
    schedule.AdvanceTo(schedule.NextFinish());
    for (const Schedule::Finish& finish : schedule.TakeFinished()) {
      now = finish.Time;
      lateBytes += now > seconds / 2 && now <= seconds ? static_cast<double>(requestBytes) : 0;
      if (settling > 0) {
        opened = --settling == 0 ? now : opened;
      } else if (++inWindow >= std::max(wanted / 2, leastOfWindow) &&
                 now - opened >= controller.WindowSeconds()) {
        controller.Observe(inWindow * static_cast<double>(requestBytes) / (now - opened), wanted);
        const int before = wanted;
        wanted = std::min(controller.Threads(), 2 * before);
        settling = wanted == before ? 0 : std::max(wanted, before);
        opened = now;
        inWindow = 0;
      }
    }
    while (schedule.InFlight() < wanted) {
      schedule.Arrive(now, requestBytes);
    }
  }
  outcome.Rate = lateBytes / (seconds / 2);
  outcome.Threads = controller.BestSoFar();
  return outcome;
}

}  // namespace patchio::atscale
