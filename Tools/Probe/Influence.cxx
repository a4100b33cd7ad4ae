#include "Probe/Influence.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Probe/Interrupt.h"
#include "Probe/Pattern.h"
#include "Probe/StudyFiles.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

namespace patchio::probe {
namespace {

/// One that reads or writes its part of a file, over and over.
struct Actor
{
  bool Write = false;
  std::uint64_t Begin = 0, Bytes = 0;
  double Rate = 0;  ///< bytes/s
  std::string Fault;
};

Actor MakeActor(bool write, int index, int count, const InfluenceTrial& trial)
{
  const std::uint64_t part = DivisibleSize(trial.FileBytes, count, trial.Block) / count;
  Actor actor;
  actor.Write = write;
  actor.Begin = index * part;
  actor.Bytes = part;
  return actor;
}

std::vector<Actor> ActorsOf(const Communicator& ranks, const InfluenceTrial& trial)
{
  if (ranks.Size() == 1) {
    return {MakeActor(false, 0, 1, trial), MakeActor(true, 0, 1, trial)};
  }
  const int writers = WritersOf(ranks.Size(), trial.Writers);
  const int readers = ranks.Size() - writers;
  const bool write = ranks.Rank() >= readers;
  return {write ? MakeActor(true, ranks.Rank() - readers, writers, trial)
                : MakeActor(false, ranks.Rank(), readers, trial)};
}

class Acting
{
public:
  Acting(Actor& actor, const InfluenceTrial& trial, std::uint64_t seed)
      : Who(actor), How(trial), Values(seed), Buffer(trial.Block)
  {
    const std::string& path = actor.Write ? trial.WriteFile : trial.ReadFile;
    this->File = ::open(path.c_str(), (actor.Write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if (this->File < 0) {
      throw SystemError(path, "a test file", errno);
    }
  }
  ~Acting() { ::close(this->File); }
  Acting(const Acting&) = delete;
  Acting& operator=(const Acting&) = delete;

  void Run()
  {
    const double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < this->How.Seconds && !Interrupt::Asked()) {
      this->Pass(begin);
    }
    this->Who.Rate = this->Busy > 0 ? static_cast<double>(this->Moved) / this->Busy : 0;
  }

private:
  void Pass(double begin)
  {
    for (std::uint64_t done = 0; done < this->Who.Bytes; done += this->How.Block) {
      this->MoveBlock(this->Who.Begin + done);
      if (MPI_Wtime() - begin >= this->How.Seconds || Interrupt::Asked()) {
        break;
      }
    }
    const double end = MPI_Wtime();
    if (this->Who.Write) {
      ::fdatasync(this->File);
      this->Busy += MPI_Wtime() - end;
    } else {
      ::posix_fadvise(this->File, this->Who.Begin, this->Who.Bytes, POSIX_FADV_DONTNEED);
    }
  }

  void MoveBlock(std::uint64_t offset)
  {
    const std::size_t bytes = this->Buffer.size();
    if (this->Who.Write) {
      this->Values.Fill(offset, this->Buffer.data(), bytes);
    }
    for (std::size_t done = 0; done < bytes;) {
      std::byte* const memory = this->Buffer.data() + done;
      const double begin = MPI_Wtime();
      const ssize_t now = this->Who.Write ? ::pwrite(this->File, memory, bytes - done, offset + done)
                                          : ::pread(this->File, memory, bytes - done, offset + done);
      this->Busy += MPI_Wtime() - begin;
      if (now == 0 || (now < 0 && errno != EINTR)) {
        throw Error(fmt::format("The measurement of simultaneous reads and writes failed: {}.",
            now == 0 ? "a test file ends too early" : SystemMessage(errno)));
      }
      done += std::max<ssize_t>(0, now);
    }
    this->Moved += bytes;
    if (!this->Who.Write && this->Values.FindWrong(offset, this->Buffer.data(), bytes)) {
      throw Error(fmt::format(
          "The measurement of simultaneous reads and writes read a wrong value at byte {} or later.",
          offset));
    }
  }

  Actor& Who;
  const InfluenceTrial& How;
  Pattern Values;
  std::vector<std::byte> Buffer;
  int File = -1;
  std::uint64_t Moved = 0;
  double Busy = 0;
};

struct TwoRates
{
  double Read = 0, Write = 0;
};

/// Collective: those of the actors that are wanted act at once.
TwoRates RunPhase(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed, bool read, bool write)
{
  std::vector<Actor> actors = ActorsOf(ranks, trial);
  RunOnAllRanks(ranks, [&] {
    if (!Interrupt::Asked()) {
      DropFromMemory(trial.ReadFile);
      DropFromMemory(trial.WriteFile);
    }
  });
  double rates[2] = {0, 0};
  RunOnAllRanks(ranks, [&] {
    std::vector<std::thread> threads;
    for (Actor& actor : actors) {
      if ((actor.Write ? write : read) && !Interrupt::Asked()) {
        threads.emplace_back([&] { actor.Fault = CatchError([&] { Acting(actor, trial, seed).Run(); }); });
      }
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    for (const Actor& actor : actors) {
      if (!actor.Fault.empty()) {
        throw Error(actor.Fault);
      }
      rates[actor.Write ? 1 : 0] += actor.Rate;
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, rates, 2, MPI_DOUBLE, MPI_SUM, ranks.Mpi());
  return {rates[0], rates[1]};
}

/// Collective: each rank its share of both files.
void WriteFiles(Communicator& ranks, const InfluenceTrial& trial, std::uint64_t seed)
{
  const std::uint64_t part = (trial.FileBytes / ranks.Size() + 7) / 8 * 8;
  const std::uint64_t begin = std::min(trial.FileBytes, part * ranks.Rank());
  const std::uint64_t bytes = std::min(part, trial.FileBytes - begin);
  RunOnAllRanks(ranks, [&] {
    WritePattern(trial.ReadFile, seed, begin, bytes);
    WritePattern(trial.WriteFile, ~seed, begin, bytes);
  });
}

}  // namespace

int WritersOf(int ranks, int wanted)
{
  return wanted > 0 ? std::min(wanted, std::max(1, ranks - 1)) : std::max(1, ranks / 2);
}

void MeasureInfluence(
    Communicator& ranks, const InfluenceTrial& trial, std::uint64_t number, InfluenceResult& result)
{
  const std::uint64_t seed = SeedOf(number);
  const int writers = WritersOf(ranks.Size(), trial.Writers);
  result.FileBytes = trial.FileBytes;
  result.Block = trial.Block;
  result.Writers = writers;
  result.Readers = std::max(1, ranks.Size() - writers);
  WriteFiles(ranks, trial, seed);
  const TwoRates reading = RunPhase(ranks, trial, seed, true, false);
  const TwoRates writing = RunPhase(ranks, trial, seed, false, true);
  const TwoRates both = RunPhase(ranks, trial, seed, true, true);
  int interrupted = Interrupt::Asked() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &interrupted, 1, MPI_INT, MPI_MAX, ranks.Mpi());
  if (!interrupted && reading.Read > 0 && writing.Write > 0 && both.Read > 0 && both.Write > 0) {
    result.ReadAlone.push_back(reading.Read);
    result.WriteAlone.push_back(writing.Write);
    result.ReadBoth.push_back(both.Read);
    result.WriteBoth.push_back(both.Write);
  }
}

}  // namespace patchio::probe
