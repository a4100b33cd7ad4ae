#include "Support/Together.h"

#include "Support/Error.h"

#include <new>

namespace patchio {

std::string FaultOf(const std::function<void()>& work)
{
  try {
    work();
  } catch (const std::bad_alloc&) {
    return "Out of memory. Work on less data, or with more ranks on more machines.";
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "Something failed without saying why." : text;
  }
  return {};
}

void Together(Communicator& comm, const std::function<void()>& work)
{
  for (const std::string& fault : comm.AllGather(FaultOf(work))) {
    if (!fault.empty()) {
      throw Error(fault);
    }
  }
}

std::vector<std::byte> BytesOfRankZero(
    Communicator& comm, const std::function<std::vector<std::byte>()>& produce)
{
  std::vector<std::byte> bytes;
  Together(comm, [&] {
    if (comm.Rank() == 0) {
      bytes = produce();
    }
  });
  comm.Broadcast(bytes);
  return bytes;
}

}  // namespace patchio
