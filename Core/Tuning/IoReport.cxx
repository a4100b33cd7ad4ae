#include "Tuning/IoReport.h"

#include "Base/ByteText.h"

#include <fmt/format.h>

#include <algorithm>

namespace patchio {
namespace {

std::string Range(int from, int to)
{
  return from == to ? fmt::format("{}", from) : fmt::format("{} to {}", from, to);
}

}  // namespace

double IoReport::MegabytesPerSecond() const
{
  return this->ReadSeconds > 0 ? this->Bytes * 1e-6 / this->ReadSeconds : 0;
}

double IoReport::DecodePart() const
{
  const double all = this->StorageSeconds + this->DecodeSeconds;
  return all > 0 ? this->ReadSeconds * this->DecodeSeconds / all : 0;
}

std::string IoReport::Text() const
{
  std::string text;
  text += fmt::format("Ranks: {}\n", this->Ranks);
  text += fmt::format("Threads per rank (NT): {}\n", Range(this->ThreadsMin, this->ThreadsMax));
  text += this->Threads;
  text += fmt::format("Patches: {}\n", this->Patches);
  if (this->Blocks > 0) {
    text += fmt::format("Blocks: {}\n", this->Blocks);
  }
  text += fmt::format("Read tasks: {}{}\n", this->Tasks,
      this->ArenaWidth > 0 ? fmt::format(", in TBB arenas with {} slots", this->ArenaWidth) : "");
  text += fmt::format("Bytes read: {} in {} requests\n", ByteText(this->Bytes), this->Requests);
  if (this->CachedArrays > 0) {
    text += fmt::format(
        "From the cache: {} in {}\n", ByteText(this->CachedBytes), CountText(this->CachedArrays, "array"));
  }
  text += fmt::format("Maximum reads in flight: {}\n", this->PeakInFlight);
  text += fmt::format("Seconds: open {:.3f}, locate {:.3f}, read {:.3f}, assemble {:.3f}\n",
      this->OpenSeconds, this->LocateSeconds, this->ReadSeconds, this->AssembleSeconds);
  if (this->Bytes > 0) {
    text += fmt::format("Read rate: {:.0f} MB/s\n", this->MegabytesPerSecond());
  }
  if (!this->FilterThreads.empty()) {
    text += "Filter threads per rank: " + this->FilterThreads + "\n";
  }
  if (this->Ahead > 0 && this->Bytes > 0) {
    text += fmt::format("Read ahead: {} of {}, then waited {:.3f} s for the rest\n",
        ByteText(this->BytesAhead), ByteText(this->Bytes), this->WaitSeconds);
  }
  if (!this->Metadata.empty()) {
    text += "Metadata: " + this->Metadata + "\n";
  }
  for (const std::string& note : this->Notes) {
    text += "Note: " + note + "\n";
  }
  return text;
}

IoReport Combine(const IoReport& mine, Communicator& comm)
{
  std::vector<double> values{double(mine.ThreadsMin), double(mine.ThreadsMax), double(mine.Patches),
      double(mine.Tasks), double(mine.Requests), double(mine.Bytes), double(mine.PeakInFlight),
      mine.OpenSeconds, mine.LocateSeconds, mine.ReadSeconds, mine.AssembleSeconds, double(mine.Blocks),
      mine.StorageSeconds, mine.DecodeSeconds, double(mine.Ahead), double(mine.BytesAhead), mine.WaitSeconds,
      double(mine.CachedArrays), double(mine.CachedBytes), double(mine.ArenaWidth)};
  const std::vector<double> sum = comm.Sum(values);
  values[0] = -values[0];  // so that its least is found, too
  const std::vector<double> most = comm.Largest(values);

  IoReport total = mine;
  total.Ranks = comm.Size();
  total.ThreadsMin = static_cast<int>(-most[0]);
  total.ThreadsMax = static_cast<int>(most[1]);
  total.Patches = static_cast<std::uint64_t>(sum[2]);
  total.Tasks = static_cast<std::uint64_t>(sum[3]);
  total.Requests = static_cast<std::uint64_t>(sum[4]);
  total.Bytes = static_cast<std::uint64_t>(sum[5]);
  total.PeakInFlight = static_cast<int>(sum[6]);
  total.OpenSeconds = most[7];
  total.LocateSeconds = most[8];
  total.ReadSeconds = most[9];
  total.AssembleSeconds = most[10];
  total.Blocks = static_cast<std::uint64_t>(sum[11]);
  total.StorageSeconds = sum[12];
  total.DecodeSeconds = sum[13];
  total.Ahead = static_cast<int>(sum[14]);
  total.BytesAhead = static_cast<std::uint64_t>(sum[15]);
  total.WaitSeconds = most[16];
  total.CachedArrays = static_cast<std::uint64_t>(sum[17]);
  total.CachedBytes = static_cast<std::uint64_t>(sum[18]);
  total.ArenaWidth = static_cast<int>(sum[19]);
  total.Moments = SumOverRanks(mine.Moments, comm);
  return total;
}

}  // namespace patchio
