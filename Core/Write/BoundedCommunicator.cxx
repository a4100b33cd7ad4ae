#include "Write/BoundedCommunicator.h"

#include "Base/Communicator.h"
#include "Base/Error.h"
#include "Base/Stopwatch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

namespace patchio::output {
namespace {

/// Longest time, in seconds, for which a rank that gives up a wait receives the positions of the other ranks.
constexpr double NoticeSeconds = 1;
/// Number of polls without a pause between polls. Most waits need fewer polls.
constexpr int BusyPolls = 200;
/// Largest count that an MPI call accepts.
constexpr std::uint64_t LargestCount = std::numeric_limits<int>::max();

/// Returns the ranks as a text for messages, such as "rank 2" or "ranks 0, 1 and 3". The text of a long list
/// contains only the first ranks.
std::string TextOf(const std::vector<int>& ranks)
{
  constexpr std::size_t most = 8;
  if (ranks.size() == 1) {
    return fmt::format("rank {}", ranks[0]);
  }
  const bool some = ranks.size() > most + 1;
  const auto last = some ? ranks.begin() + most : ranks.end() - 1;
  return fmt::format("ranks {} and {}", fmt::join(ranks.begin(), last, ", "),
      some ? fmt::format("{} others", ranks.size() - most) : fmt::format("{}", *last));
}

}  // namespace

BoundedCommunicator::BoundedCommunicator(MPI_Comm comm, double waitSeconds, const std::string& call)
    : WaitSeconds(waitSeconds), OwnPosition{call, {}, 0, 0}
{
  MPI_Comm_rank(comm, &this->RankValue);
  MPI_Comm_size(comm, &this->SizeValue);
  auto duplicate = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  std::vector<MPI_Request> requests(1);
  MPI_Comm_idup(comm, duplicate.get(), requests.data());
  if (!WaitFor(waitSeconds, [&] { return AreComplete(requests); })) {
    static_cast<void>(duplicate.release());
    throw Error(fmt::format(
        "{}: other ranks did not make this call within {} s, or ended. All ranks of the communicator "
        "must make this call.",
        call, waitSeconds));
  }
  this->Comm = *duplicate;
  MPI_Comm_set_errhandler(this->Comm, MPI_ERRORS_RETURN);
  this->PendingPositions = std::make_unique<PendingSends>(this->Comm);
}

BoundedCommunicator::~BoundedCommunicator()
{
  int finalized = 0;
  MPI_Finalized(&finalized);
  this->PendingPositions.reset();
  if (!finalized && !this->IsBroken()) {
    MPI_Comm_free(&this->Comm);
  }
}

void BoundedCommunicator::ThrowIfBroken() const
{
  if (this->IsBroken()) {
    throw Error(this->Fault);
  }
}

void BoundedCommunicator::Enter(const std::string& call, const std::string& subject)
{
  this->ThrowIfBroken();
  this->OwnPosition.Call = call;
  this->OwnPosition.Subject = subject;
  this->BarrierPassed = false;
}

/// A dissemination barrier (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988):
/// in round k, rank r sends its position to rank r + 2^k. A rank that receives the position of another call
/// gives up instead of continuing, so that no rank leaves the barrier.
void BoundedCommunicator::Barrier()
{
  this->ThrowIfBroken();
  this->OwnPosition.Number += this->BarrierPassed ? 0 : 1;
  for (int distance = 1; distance < this->SizeValue && !this->BarrierPassed; distance *= 2) {
    this->PendingPositions->Add(
        this->OwnPosition, (this->RankValue + distance) % this->SizeValue, ArrivalTag);
    int from = (this->RankValue + this->SizeValue - distance) % this->SizeValue;
    Position there;
    this->WaitUntil([&] { return TryReceive(this->Comm, ArrivalTag, there, from); });
    if (!this->IsBroken() && there.Call != this->OwnPosition.Call) {
      this->GiveUp(0);
    }
    this->ThrowIfBroken();
  }
  this->PendingPositions->Test();
  this->BarrierPassed = true;
}

/// Receives the positions of ranks that have given up a wait. Returns whether a rank has given up this wait
/// or an earlier wait. If a rank has given up only a later wait, this wait ends normally.
bool BoundedCommunicator::ReceiveNotices()
{
  Position there;
  for (int rank = MPI_ANY_SOURCE; TryReceive(this->Comm, NoticeTag, there, rank); rank = MPI_ANY_SOURCE) {
    this->Notices[rank] = there;
  }
  return std::any_of(this->Notices.begin(), this->Notices.end(),
      [this](const auto& other) { return other.second.Number <= this->OwnPosition.Number; });
}

/// Sends this rank's position to all other ranks, receives the positions of the other ranks, and sets Fault.
/// Waiting ranks answer soon. `waited`: seconds of the wait; 0 if this rank gives up for another reason than
/// the time limit.
void BoundedCommunicator::GiveUp(double waited)
{
  this->OwnPosition.Waited = waited;
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    if (rank != this->RankValue) {
      this->PendingPositions->Add(this->OwnPosition, rank, NoticeTag);
    }
  }
  WaitFor(NoticeSeconds, [this] {
    this->ReceiveNotices();
    return static_cast<int>(this->Notices.size()) == this->SizeValue - 1;
  });
  this->Fault = this->FaultText();
}

std::string BoundedCommunicator::FaultText() const
{
  std::map<std::string, std::vector<int>> calls, names;
  std::vector<int> missing, timedOut;
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    const auto other = this->Notices.find(rank);
    if (rank != this->RankValue && other == this->Notices.end()) {
      missing.push_back(rank);
      continue;
    }
    const Position& position = rank == this->RankValue ? this->OwnPosition : other->second;
    names[position.Call].push_back(rank);
    calls[position.Text()].push_back(rank);
    if (position.Waited > 0) {
      timedOut.push_back(rank);
    }
  }
  std::string text;
  if (names.size() > 1) {
    std::vector<std::string> parts;
    for (const auto& [call, ranks] : calls) {
      parts.push_back(fmt::format("{} in {}", TextOf(ranks), call));
    }
    text = fmt::format(
        "The ranks make different calls: {}. All ranks must make the same calls in the same order.",
        fmt::join(parts, ", "));
  } else if (!missing.empty()) {
    text = fmt::format(
        "{}: {} did not make this call within {} s (\"wait seconds\"), or ended. All ranks must make the "
        "same calls in the same order.",
        this->OwnPosition.Text(), TextOf(missing), this->WaitSeconds);
  } else if (timedOut.empty()) {
    text = this->OwnPosition.Text() + ": MPI failed on another rank, whose message names the failure.";
  } else {
    text = fmt::format(
        "{}: {} gave up waiting for the other ranks after {} s. If ranks can be this late, raise \"wait "
        "seconds\" in the output configuration.",
        this->OwnPosition.Text(), TextOf(timedOut), this->WaitSeconds);
  }
  return text + " This run writes no further output.";
}

/// Returns whether the requests are complete. After an MPI error, gives up the wait and returns false.
bool BoundedCommunicator::TestAll(std::vector<MPI_Request>& requests)
{
  int complete = 0;
  const int code =
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &complete, MPI_STATUSES_IGNORE);
  if (code != MPI_SUCCESS) {
    this->GiveUp(0);
    this->Fault = fmt::format("{}: MPI failed: {}. This run writes no further output.",
        this->OwnPosition.Text(), MpiErrorText(code));
    return false;
  }
  return complete != 0;
}

/// Waits until `done` returns true. Gives up after the time limit, or if another rank has given up;
/// IsBroken() is then true.
void BoundedCommunicator::WaitUntil(const std::function<bool()>& done)
{
  const Stopwatch watch;
  Backoff backoff;
  for (int polls = 0; !this->IsBroken(); ++polls) {
    if (this->ReceiveNotices()) {
      this->GiveUp(0);
    } else if (done()) {
      return;
    } else if (watch.Seconds() > this->WaitSeconds + std::max(2.0, 0.1 * this->WaitSeconds)) {
      this->GiveUp(watch.Seconds());
    } else if (polls < BusyPolls) {
      std::this_thread::yield();
    } else {
      backoff.Sleep();
    }
  }
}

/// Waits until the requests are complete. `buffers`: all memory that MPI uses for the requests. If the wait
/// is given up, moves the buffers to memory that is never freed, and throws Error.
template <typename Buffers>
void BoundedCommunicator::Wait(std::vector<MPI_Request>& requests, Buffers& buffers)
{
  ++this->OwnPosition.Number;
  this->WaitUntil([&] { return this->TestAll(requests); });
  if (!this->IsBroken()) {
    return;
  }
  new Buffers(std::move(buffers));  // a deliberate leak, because MPI may still read or write the memory
  throw Error(this->Fault);
}

void BoundedCommunicator::Broadcast(std::vector<std::byte>& bytes)
{
  this->Barrier();
  std::vector<std::uint64_t> size{bytes.size()};
  std::vector<MPI_Request> requests(1);
  MPI_Ibcast(size.data(), 1, MPI_UINT64_T, 0, this->Comm, requests.data());
  this->Wait(requests, size);
  this->AllocateOnAllRanks([&] { bytes.resize(size[0]); });
  requests.clear();
  ForEachMessage(size[0], [&](std::uint64_t begin, int count) {
    MPI_Ibcast(bytes.data() + begin, count, MPI_BYTE, 0, this->Comm, &requests.emplace_back());
  });
  this->Wait(requests, bytes);
}

std::vector<double> BoundedCommunicator::Max(const std::vector<double>& values)
{
  this->Barrier();
  std::pair<std::vector<double>, std::vector<double>> buffers{values, values};
  std::vector<MPI_Request> requests(1);
  MPI_Iallreduce(buffers.first.data(), buffers.second.data(), static_cast<int>(values.size()), MPI_DOUBLE,
      MPI_MAX, this->Comm, requests.data());
  this->Wait(requests, buffers);
  return buffers.second;
}

/// Gathers the texts with one MPI call or, if the bytes of all texts exceed the count of one call, with
/// separate broadcasts of each rank's text.
std::vector<std::string> BoundedCommunicator::AllGather(const std::string& text)
{
  this->Barrier();
  std::vector<MPI_Request> requests(1);
  std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> sizes{
      {text.size()}, std::vector<std::uint64_t>(this->SizeValue)};
  MPI_Iallgather(
      sizes.first.data(), 1, MPI_UINT64_T, sizes.second.data(), 1, MPI_UINT64_T, this->Comm, requests.data());
  this->Wait(requests, sizes);
  std::vector<std::uint64_t> offsets(this->SizeValue + 1, 0);
  std::partial_sum(sizes.second.begin(), sizes.second.end(), offsets.begin() + 1);
  struct
  {
    std::string Sent;
    std::vector<char> All;
    std::vector<int> Counts, Begins;
  } buffers;
  std::vector<char>& all = buffers.All;
  std::vector<std::string> texts;
  this->AllocateOnAllRanks([&] {
    buffers.Sent = text;
    all.resize(offsets.back());
    for (const std::uint64_t size : sizes.second) {
      texts.emplace_back(size, '\0');
    }
  });
  requests.assign(1, MPI_REQUEST_NULL);
  if (offsets.back() <= LargestCount) {
    buffers.Counts.assign(sizes.second.begin(), sizes.second.end());
    buffers.Begins.assign(offsets.begin(), offsets.end());
    MPI_Iallgatherv(buffers.Sent.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
        buffers.Counts.data(), buffers.Begins.data(), MPI_CHAR, this->Comm, requests.data());
  } else {
    requests.clear();
    std::copy(text.begin(), text.end(), all.data() + offsets[this->RankValue]);
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      ForEachMessage(sizes.second[rank], [&](std::uint64_t begin, int count) {
        MPI_Ibcast(
            all.data() + offsets[rank] + begin, count, MPI_CHAR, rank, this->Comm, &requests.emplace_back());
      });
    }
  }
  this->Wait(requests, buffers);
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    std::copy_n(all.data() + offsets[rank], sizes.second[rank], texts[rank].begin());
  }
  return texts;
}

/// Sends a separate message from each rank, because the sum of all lengths may exceed the count of an MPI
/// call.
std::vector<std::string> BoundedCommunicator::Gather(const std::string& text)
{
  std::vector<std::string> texts(this->SizeValue);
  texts[0] = text;
  std::vector<std::string> all;
  this->Exchange(texts, all);
  return this->RankValue == 0 ? std::move(all) : std::vector<std::string>();
}

void BoundedCommunicator::Exchange(std::vector<std::string>& texts, std::vector<std::string>& into)
{
  this->Barrier();
  std::vector<MPI_Request> requests(1);
  std::pair<std::vector<std::uint64_t>, std::vector<std::uint64_t>> sizes;
  for (const std::string& text : texts) {
    sizes.first.push_back(text.size());
  }
  sizes.second.resize(this->SizeValue);
  MPI_Ialltoall(
      sizes.first.data(), 1, MPI_UINT64_T, sizes.second.data(), 1, MPI_UINT64_T, this->Comm, requests.data());
  this->Wait(requests, sizes);
  this->AllocateOnAllRanks([&] {
    into.resize(this->SizeValue);
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      into[rank].resize(sizes.second[rank]);
    }
  });
  requests.clear();
  std::pair<std::vector<std::string>, std::vector<std::string>> buffers{std::move(texts), std::move(into)};
  auto& [out, in] = buffers;
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    ForEachMessage(sizes.second[rank], [&, &part = in[rank]](std::uint64_t begin, int count) {
      MPI_Irecv(part.data() + begin, count, MPI_CHAR, rank, ValuesTag, this->Comm, &requests.emplace_back());
    });
  }
  for (int rank = 0; rank < this->SizeValue; ++rank) {
    ForEachMessage(sizes.first[rank], [&, &part = out[rank]](std::uint64_t begin, int count) {
      MPI_Isend(part.data() + begin, count, MPI_CHAR, rank, ValuesTag, this->Comm, &requests.emplace_back());
    });
  }
  this->Wait(requests, buffers);
  texts = std::move(out);
  into = std::move(in);
}

}  // namespace patchio::output
