#include "Base/RunOnAllRanks.h"

#include "Base/Bytes.h"
#include "Base/Checksum.h"
#include "Base/Error.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <system_error>

namespace patchio {

std::string CatchError(const std::function<void()>& work)
{
  try {
    work();
  } catch (const std::bad_alloc&) {
    return "Out of memory. Select less data, or use more ranks on more machines.";
  } catch (const std::system_error& error) {
    // std::thread says so; a process with little memory left gets no stack for it.
    return error.code() == std::errc::resource_unavailable_try_again
               ? "Cannot start a thread. Use fewer threads, or raise the limits of memory and threads "
                 "(ulimit -v, ulimit -u)."
               : error.what();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "An unknown error occurred. Please report it." : text;
  }
  return {};
}

void RunOnAllRanks(Communicator& comm, const std::function<void()>& work)
{
  const std::string mine = CatchError(work);
  if (AllOf(comm, mine.empty())) {
    return;
  }
  for (const std::string& fault : comm.AllGather(mine)) {
    if (!fault.empty()) {
      throw Error(fault);
    }
  }
}

bool AllOf(Communicator& comm, bool holds)
{
  return comm.Largest({holds ? 0.0 : 1.0})[0] == 0;
}

std::optional<RankDifference> CompareLines(Communicator& comm, const std::vector<std::string>& lines)
{
  const std::string mine = JoinTexts(lines);
  const std::vector<std::uint64_t> sums =
      GatherValues(comm, std::vector<std::uint64_t>{Checksum(mine.data(), mine.size())});
  const auto other =
      std::find_if(sums.begin(), sums.end(), [&](std::uint64_t sum) { return sum != sums[0]; });
  if (other == sums.end()) {
    return std::nullopt;
  }
  RankDifference found;
  found.Rank = other - sums.begin();
  found.Count = sums.size() - std::count(sums.begin(), sums.end(), sums[0]);
  const bool isShown = comm.Rank() == 0 || comm.Rank() == static_cast<int>(found.Rank);
  const std::vector<std::string> texts = comm.AllGather(isShown ? mine : std::string());
  found.First = SplitTexts(texts[0]);
  found.Other = SplitTexts(texts[found.Rank]);
  found.Line =
      std::mismatch(found.First.begin(), found.First.end(), found.Other.begin(), found.Other.end()).first -
      found.First.begin();
  return found;
}

std::vector<std::byte> BytesOfRankZero(
    Communicator& comm, const std::function<std::vector<std::byte>()>& produce)
{
  // The last byte says what the others are: 0 for what was made, 1 for why it was not.
  std::vector<std::byte> message;
  if (comm.Rank() == 0) {
    const std::string fault = CatchError([&] {
      message = produce();
      message.push_back(std::byte{0});
    });
    if (!fault.empty()) {
      const auto* text = reinterpret_cast<const std::byte*>(fault.data());
      message.assign(text, text + fault.size());
      message.push_back(std::byte{1});
    }
  }
  comm.Broadcast(message);
  assert(!message.empty());
  const bool failed = message.back() != std::byte{0};
  message.pop_back();
  if (failed) {
    throw Error(std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  }
  return message;
}

}  // namespace patchio
