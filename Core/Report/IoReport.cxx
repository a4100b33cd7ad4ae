#include "Report/IoReport.h"

#include "Support/ByteText.h"

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
      this->ArenaWidth > 0 ? fmt::format(", by TBB in arenas of {} slots", this->ArenaWidth) : "");
  text += fmt::format("Bytes read: {} in {} requests\n", ByteText(this->Bytes), this->Requests);
  if (this->CachedArrays > 0) {
    text += fmt::format(
        "From the cache: {} in {}\n", ByteText(this->CachedBytes), CountText(this->CachedArrays, "array"));
  }
  text += fmt::format("Reads in flight at most: {}\n", this->PeakInFlight);
  text += fmt::format("Seconds: open {:.3f}, locate {:.3f}, read {:.3f}, assemble {:.3f}\n",
      this->OpenSeconds, this->LocateSeconds, this->ReadSeconds, this->AssembleSeconds);
  if (this->Bytes > 0) {
    text += fmt::format("Read rate: {:.0f} MB/s\n", this->MegabytesPerSecond());
  }
  if (!this->FilterThreads.empty()) {
    text += "Threads of filters per rank: " + this->FilterThreads + "\n";
  }
  if (this->Ahead > 0 && this->Bytes > 0) {
    text += fmt::format("Read ahead: {} of {}, then {:.3f} s of waiting for the rest\n",
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
  const std::vector<double> values{double(mine.ThreadsMin), double(mine.ThreadsMax), double(mine.Patches),
      double(mine.Tasks), double(mine.Requests), double(mine.Bytes), double(mine.PeakInFlight),
      mine.OpenSeconds, mine.LocateSeconds, mine.ReadSeconds, mine.AssembleSeconds, double(mine.Blocks),
      mine.StorageSeconds, mine.DecodeSeconds, double(mine.Ahead), double(mine.BytesAhead), mine.WaitSeconds,
      double(mine.CachedArrays), double(mine.CachedBytes), double(mine.ArenaWidth)};
  const std::vector<double> all = comm.AllGather(values);
  const auto over = [&](int field, auto combine) {
    double result = all[field];
    for (std::size_t i = field + values.size(); i < all.size(); i += values.size()) {
      result = combine(result, all[i]);
    }
    return result;
  };
  const auto least = [](double a, double b) { return std::min(a, b); };
  const auto most = [](double a, double b) { return std::max(a, b); };
  const auto sum = [](double a, double b) { return a + b; };

  IoReport total = mine;
  total.Ranks = comm.Size();
  total.ThreadsMin = static_cast<int>(over(0, least));
  total.ThreadsMax = static_cast<int>(over(1, most));
  total.Patches = static_cast<std::uint64_t>(over(2, sum));
  total.Tasks = static_cast<std::uint64_t>(over(3, sum));
  total.Requests = static_cast<std::uint64_t>(over(4, sum));
  total.Bytes = static_cast<std::uint64_t>(over(5, sum));
  total.PeakInFlight = static_cast<int>(over(6, sum));
  total.OpenSeconds = over(7, most);
  total.LocateSeconds = over(8, most);
  total.ReadSeconds = over(9, most);
  total.AssembleSeconds = over(10, most);
  total.Blocks = static_cast<std::uint64_t>(over(11, sum));
  total.StorageSeconds = over(12, sum);
  total.DecodeSeconds = over(13, sum);
  total.Ahead = static_cast<int>(over(14, sum));
  total.BytesAhead = static_cast<std::uint64_t>(over(15, sum));
  total.WaitSeconds = over(16, most);
  total.CachedArrays = static_cast<std::uint64_t>(over(17, sum));
  total.CachedBytes = static_cast<std::uint64_t>(over(18, sum));
  total.ArenaWidth = static_cast<int>(over(19, sum));
  total.Moments = SumOverRanks(mine.Moments, comm);
  return total;
}

}  // namespace patchio
