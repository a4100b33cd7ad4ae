#include "Base/Communicator.h"

#include "Base/Bytes.h"
#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>
#include <unordered_set>

namespace patchio {

namespace {

constexpr int GatherTag = 4711, ExchangeTag = 4712;
/// Greatest number of values that one MPI call can count.
constexpr std::uint64_t MaximumMpiCount = std::numeric_limits<int>::max();

class SelfCommunicator : public Communicator
{
public:
  int Rank() const override { return 0; }
  int Size() const override { return 1; }
  void Broadcast(std::vector<std::byte>&) override {}
  std::vector<std::string> AllGather(const std::string& text) override { return {text}; }
};

class MpiCommunicator : public Communicator
{
public:
  /// Wraps `comm`. `owned`: true if the destructor frees `comm`.
  explicit MpiCommunicator(MPI_Comm comm, bool owned = false) : Comm(comm), Owned(owned)
  {
    MPI_Comm_rank(comm, &this->RankValue);
    MPI_Comm_size(comm, &this->SizeValue);
  }
  ~MpiCommunicator() override
  {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (this->Owned && !finalized) {
      MPI_Comm_free(&this->Comm);
    }
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  using Communicator::Exchange;
  int Rank() const override { return this->RankValue; }
  int Size() const override { return this->SizeValue; }
  MPI_Comm Mpi() const override { return this->Comm; }

  void Broadcast(std::vector<std::byte>& bytes) override
  {
    std::uint64_t size = bytes.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, 0, this->Comm);
    this->AllocateOnAllRanks([&] { bytes.resize(size); });
    BroadcastBytes(bytes.data(), size, 0, this->Comm);
  }

  std::vector<std::string> AllGather(const std::string& text) override
  {
    std::vector<std::uint64_t> offsets;
    const std::vector<char> all = this->AllGatherV<char>(text.data(), text.size(), MPI_CHAR, offsets);
    std::vector<std::string> result;
    this->AllocateOnAllRanks([&] {
      for (int rank = 0; rank < this->SizeValue; ++rank) {
        result.emplace_back(all.data() + offsets[rank], offsets[rank + 1] - offsets[rank]);
      }
    });
    return result;
  }

  /// Sends separate messages from each rank, because the sum of all lengths may exceed what one MPI call can
  /// count.
  std::vector<std::string> Gather(const std::string& text) override
  {
    std::vector<std::string> result;
    std::uint64_t size = text.size();
    std::vector<std::uint64_t> sizes(this->SizeValue);
    MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, this->Comm);
    this->AllocateOnAllRanks([&] {
      for (int rank = 0; this->RankValue == 0 && rank < this->SizeValue; ++rank) {
        result.emplace_back(sizes[rank], '\0');
      }
    });
    if (this->RankValue != 0) {
      ForEachMessage(size, [&](std::uint64_t begin, int count) {
        MPI_Send(text.data() + begin, count, MPI_CHAR, 0, GatherTag, this->Comm);
      });
      return result;
    }
    result[0] = text;
    for (int rank = 1; rank < this->SizeValue; ++rank) {
      ForEachMessage(sizes[rank], [&](std::uint64_t begin, int count) {
        MPI_Recv(
            result[rank].data() + begin, count, MPI_CHAR, rank, GatherTag, this->Comm, MPI_STATUS_IGNORE);
      });
    }
    return result;
  }

  void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into) override
  {
    std::vector<std::uint64_t> sendSizes, receiveSizes(this->SizeValue);
    for (const std::string& text : texts) {
      sendSizes.push_back(text.size());
    }
    MPI_Alltoall(sendSizes.data(), 1, MPI_UINT64_T, receiveSizes.data(), 1, MPI_UINT64_T, this->Comm);
    this->AllocateOnAllRanks([&] {
      into.resize(this->SizeValue);
      for (int rank = 0; rank < this->SizeValue; ++rank) {
        into[rank].resize(receiveSizes[rank]);
      }
    });
    std::vector<MPI_Request> requests;
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      ForEachMessage(receiveSizes[rank], [&](std::uint64_t begin, int count) {
        MPI_Irecv(into[rank].data() + begin, count, MPI_CHAR, rank, ExchangeTag, this->Comm,
            &requests.emplace_back());
      });
    }
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      ForEachMessage(sendSizes[rank], [&](std::uint64_t begin, int count) {
        MPI_Isend(texts[rank].data() + begin, count, MPI_CHAR, rank, ExchangeTag, this->Comm,
            &requests.emplace_back());
      });
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  std::vector<double> AllGather(const std::vector<double>& values) override
  {
    std::vector<std::uint64_t> offsets;
    return this->AllGatherV<double>(values.data(), values.size(), MPI_DOUBLE, offsets);
  }

  std::vector<int> AllGather(const std::vector<int>& values) override
  {
    std::vector<std::uint64_t> offsets;
    return this->AllGatherV<int>(values.data(), values.size(), MPI_INT, offsets);
  }

  std::vector<double> Max(const std::vector<double>& values) override
  {
    std::vector<double> largest(values.size());
    MPI_Allreduce(
        values.data(), largest.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX, this->Comm);
    return largest;
  }

  void BeginSum(const std::vector<double>& values) override
  {
    assert(this->SumRequest == MPI_REQUEST_NULL);
    this->Terms = values;
    this->Sums.resize(values.size());
    MPI_Iallreduce(this->Terms.data(), this->Sums.data(), static_cast<int>(values.size()), MPI_DOUBLE,
        MPI_SUM, this->Comm, &this->SumRequest);
  }

  bool TestSum(std::vector<double>& sum) override
  {
    int complete = 0;
    MPI_Test(&this->SumRequest, &complete, MPI_STATUS_IGNORE);
    if (complete) {
      sum = this->Sums;
    }
    return complete != 0;
  }

protected:
  std::unique_ptr<Communicator> Duplicate() const override
  {
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_dup(this->Comm, &second);
    return std::make_unique<MpiCommunicator>(second, true);
  }
  std::unique_ptr<Communicator> SplitByMachine() const override
  {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(this->Comm, MPI_COMM_TYPE_SHARED, this->RankValue, MPI_INFO_NULL, &machine);
    return std::make_unique<MpiCommunicator>(machine, true);
  }

private:
  /// Concatenates the values of all ranks. Collective: every rank of the communicator calls it. Rank r's
  /// values are at offsets[r] .. offsets[r+1] - 1. If there are more values than one MPI call can count, the
  /// ranks broadcast their values in turn.
  template <typename T>
  std::vector<T> AllGatherV(
      const T* data, std::size_t size, MPI_Datatype type, std::vector<std::uint64_t>& offsets)
  {
    const std::uint64_t ownSize = size;
    std::vector<std::uint64_t> sizes(this->SizeValue);
    MPI_Allgather(&ownSize, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, this->Comm);
    offsets.assign(this->SizeValue + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), offsets.begin() + 1);
    std::vector<T> all;
    this->AllocateOnAllRanks([&] { all.resize(offsets.back()); });
    if (offsets.back() <= MaximumMpiCount) {
      const std::vector<int> counts(sizes.begin(), sizes.end());
      const std::vector<int> begins(offsets.begin(), offsets.end());
      MPI_Allgatherv(
          data, static_cast<int>(ownSize), type, all.data(), counts.data(), begins.data(), type, this->Comm);
      return all;
    }
    std::copy_n(data, size, all.data() + offsets[this->RankValue]);
    for (int rank = 0; rank < this->SizeValue; ++rank) {
      auto* const part = reinterpret_cast<std::byte*>(all.data() + offsets[rank]);
      BroadcastBytes(part, sizes[rank] * sizeof(T), rank, this->Comm);
    }
    return all;
  }

  MPI_Comm Comm;
  bool Owned;
  int RankValue = 0;
  int SizeValue = 1;
  MPI_Request SumRequest = MPI_REQUEST_NULL;
  std::vector<double> Terms, Sums;  ///< inputs and results of the sum in progress
};

}  // namespace

std::vector<std::string> Communicator::Gather(const std::string& text)
{
  std::vector<std::string> all = this->AllGather(text);
  return this->Rank() == 0 ? all : std::vector<std::string>();
}

std::vector<double> Communicator::AllGather(const std::vector<double>& values)
{
  return GatherValues(*this, values);
}

std::vector<int> Communicator::AllGather(const std::vector<int>& values)
{
  return GatherValues(*this, values);
}

std::vector<std::string> Communicator::Exchange(std::vector<std::string> texts)
{
  std::vector<std::string> received;
  this->Exchange(texts, received);
  return received;
}

void Communicator::Exchange(std::vector<std::string>& texts, std::vector<std::string>& into)
{
  for (int to = 0; to < this->Size(); ++to) {
    std::vector<std::string> all = this->AllGather(texts[to]);
    if (to == this->Rank()) {
      into = std::move(all);
    }
  }
}

void Communicator::BeginSum(const std::vector<double>& values)
{
  const std::vector<double> all = this->AllGather(values);
  this->Sums.assign(values.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    this->Sums[i % values.size()] += all[i];
  }
}

bool Communicator::TestSum(std::vector<double>& sum)
{
  sum = this->Sums;
  return true;
}

std::vector<double> Communicator::Sum(const std::vector<double>& values)
{
  std::vector<double> sum;
  this->BeginSum(values);
  while (!this->TestSum(sum)) {
    std::this_thread::yield();
  }
  return sum;
}

std::vector<double> Communicator::Max(const std::vector<double>& values)
{
  const std::vector<double> all = this->AllGather(values);
  std::vector<double> largest = values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    largest[i % values.size()] = std::max(largest[i % values.size()], all[i]);
  }
  return largest;
}

std::vector<double> Communicator::Min(std::vector<double> values)
{
  const auto negate = [&values] {
    std::transform(values.begin(), values.end(), values.begin(), std::negate<>());
  };
  negate();
  values = this->Max(values);
  negate();
  return values;
}

std::unique_ptr<Communicator> Communicator::Duplicate() const
{
  return MakeSelfCommunicator();
}

std::unique_ptr<Communicator> Communicator::SplitByMachine() const
{
  return MakeSelfCommunicator();
}

Communicator& Communicator::BackgroundDuplicate()
{
  if (!this->Background) {
    this->Background = this->Duplicate();
  }
  return *this->Background;
}

Communicator& Communicator::MachineCommunicator()
{
  if (!this->Machine) {
    this->Machine = this->SplitByMachine();
  }
  return *this->Machine;
}

std::vector<std::string> GatherTexts(Communicator& ranks, const std::vector<std::string>& texts)
{
  std::vector<std::string> all;
  std::unordered_set<std::string> known;
  for (const std::string& ofRank : ranks.AllGather(JoinTexts(texts))) {
    for (const std::string& text : SplitTexts(ofRank)) {
      if (known.insert(text).second) {
        all.push_back(text);
      }
    }
  }
  return all;
}

std::string FirstNonEmpty(Communicator& ranks, const std::string& text)
{
  for (const std::string& ofRank : ranks.AllGather(text)) {
    if (!ofRank.empty()) {
      return ofRank;
    }
  }
  return {};
}

void BroadcastBytes(std::byte* data, std::uint64_t bytes, int root, MPI_Comm comm)
{
  ForEachMessage(
      bytes, [&](std::uint64_t begin, int count) { MPI_Bcast(data + begin, count, MPI_BYTE, root, comm); });
}

std::unique_ptr<Communicator> MakeSelfCommunicator()
{
  return std::make_unique<SelfCommunicator>();
}

std::unique_ptr<Communicator> MakeMpiCommunicator(MPI_Comm comm)
{
  return std::make_unique<MpiCommunicator>(comm);
}

std::string CaughtError()
{
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "Out of memory. Select less data, or use more ranks on more machines.";
  } catch (const std::filesystem::filesystem_error& error) {
    return error.what();
  } catch (const std::system_error& error) {
    // std::thread also throws this error if the process has too little memory left for the thread's stack.
    return error.code() == std::errc::resource_unavailable_try_again
               ? "Cannot start a thread. Use fewer threads, or raise the limits on memory and threads "
                 "(ulimit -v, ulimit -u)."
               : error.what();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.empty() ? "An unknown error occurred. Please report it." : text;
  }
}

void RunOnAllRanks(Communicator& ranks, const std::function<void()>& work)
{
  const std::string fault = CatchError(work);
  if (!AllOf(ranks, fault.empty())) {
    throw Error(FirstNonEmpty(ranks, fault));
  }
}

void RunOnRankZero(Communicator& ranks, const std::function<void()>& work)
{
  RunOnAllRanks(ranks, [&] {
    if (ranks.Rank() == 0) {
      work();
    }
  });
}

void Communicator::AllocateOnAllRanks(const std::function<void()>& allocate)
{
  if (!AllOf(*this, CatchError(allocate).empty())) {
    throw Error(
        "Out of memory: the messages of the other ranks do not fit into the memory of a rank. Use fewer "
        "ranks per machine.");
  }
}

bool AllOf(Communicator& ranks, bool holds)
{
  return ranks.Max({holds ? 0.0 : 1.0})[0] == 0;
}

std::optional<RankDifference> CompareLines(Communicator& ranks, const std::vector<std::string>& lines)
{
  const std::string ownLines = JoinTexts(lines);
  const std::vector<std::uint64_t> sums =
      GatherValues(ranks, std::vector<std::uint64_t>{Checksum(ownLines.data(), ownLines.size())});
  const auto other =
      std::find_if(sums.begin(), sums.end(), [&](std::uint64_t sum) { return sum != sums[0]; });
  if (other == sums.end()) {
    return std::nullopt;
  }
  RankDifference found;
  found.Rank = other - sums.begin();
  found.Count = sums.size() - std::count(sums.begin(), sums.end(), sums[0]);
  const bool isShown = ranks.Rank() == 0 || ranks.Rank() == static_cast<int>(found.Rank);
  const std::vector<std::string> texts = ranks.AllGather(isShown ? ownLines : std::string());
  found.First = SplitTexts(texts[0]);
  found.Other = SplitTexts(texts[found.Rank]);
  found.Line =
      std::mismatch(found.First.begin(), found.First.end(), found.Other.begin(), found.Other.end()).first -
      found.First.begin();
  return found;
}

std::vector<std::byte> ProduceOnRankZero(
    Communicator& ranks, const std::function<std::vector<std::byte>()>& produce)
{
  // The last byte is 0 if the other bytes are the result, and 1 if they are an error message.
  std::vector<std::byte> message;
  if (ranks.Rank() == 0) {
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
  ranks.Broadcast(message);
  assert(!message.empty());
  const bool failed = message.back() != std::byte{0};
  message.pop_back();
  if (failed) {
    throw Error(std::string(reinterpret_cast<const char*>(message.data()), message.size()));
  }
  return message;
}

std::string MpiVersion()
{
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  // "Open MPI v4.1.4, package: ..."; the text of MPICH has further lines.
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string MpiErrorText(int code)
{
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  return MPI_Error_string(code, text, &length) == MPI_SUCCESS
             ? std::string(text, static_cast<std::size_t>(length))
             : fmt::format("MPI error {}", code);
}

}  // namespace patchio
