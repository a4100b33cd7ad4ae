// The ranks that work together, through MPI or alone, and errors of one rank that all ranks hear of.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// A group of processes that read or write together. Every method but Rank() and Size() is collective:
/// all ranks call it, in the same order. One thread at a time uses it; see Aside() for another.
class Communicator
{
public:
  virtual ~Communicator() = default;
  virtual int Rank() const = 0;
  virtual int Size() const = 0;
  /// For collective work that is not among the methods here, files above all; MPI_COMM_NULL where there is
  /// none.
  virtual MPI_Comm Mpi() const { return MPI_COMM_NULL; }

  /// Bytes of rank 0 appear on all ranks.
  virtual void Broadcast(std::vector<std::byte>& bytes) = 0;
  /// The texts of all ranks, in rank order, on all ranks.
  virtual std::vector<std::string> AllGather(const std::string& text) = 0;
  /// The same on rank 0 only; the others get nothing.
  virtual std::vector<std::string> Gather(const std::string& text);
  /// Text i goes to rank i: gives those for this rank, in rank order. `texts` has Size() of them.
  std::vector<std::string> Exchange(std::vector<std::string> texts);
  /// The same into texts that are there, so that their memory is used again. Both may have lost their
  /// contents when this throws.
  virtual void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into);
  /// The values of all ranks, in rank order, on all ranks; `values` has the same length everywhere.
  /// Result: Size() x values.size(), rank by rank.
  virtual std::vector<double> AllGather(const std::vector<double>& values) = 0;
  /// Integers of all ranks one after another in rank order; lengths may differ.
  virtual std::vector<int> AllGather(const std::vector<int>& values) = 0;

  /// The greatest of all ranks for each value, on all ranks; `values` has the same length everywhere. What
  /// grows like the logarithm of Size(), where AllGather() grows like Size().
  virtual std::vector<double> Largest(const std::vector<double>& values);
  /// The sum of all ranks for each value, on all ranks; see BeginSum().
  std::vector<double> Sum(const std::vector<double>& values);

  /// Begins to add up the values of all ranks without waiting for them; `values` has the same length
  /// everywhere. One sum at a time. Whole numbers below 2^53 are added up exactly, so that all ranks see the
  /// same.
  virtual void BeginSum(const std::vector<double>& values);
  /// True once the sum is there; then it is in `sum`, and another may begin. Not collective.
  virtual bool EndSum(std::vector<double>& sum);

  /// The same processes once more, for what goes on at the same time as other work of this one. Lives as long
  /// as this one; collective the first time.
  Communicator& Aside();
  /// Those of the processes that share this one's machine and its memory. Lives as long as this one;
  /// collective over all of them the first time.
  Communicator& OnMachine();

protected:
  // By default one process by itself.
  virtual std::unique_ptr<Communicator> Duplicate() const;
  virtual std::unique_ptr<Communicator> SplitByMachine() const;

private:
  std::vector<double> Sums;
  std::unique_ptr<Communicator> Second, Machine;
};

/// Calls transfer(begin, count) for pieces of so many bytes that MPI can count.
template <typename Transfer>
void ForPieces(std::uint64_t bytes, Transfer transfer)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 30;
  for (std::uint64_t begin = 0; begin < bytes; begin += most) {
    transfer(begin, static_cast<int>(bytes - begin < most ? bytes - begin : most));
  }
}

/// The part of `count` things that one of several ranks takes: the first, and the one behind the last.
inline std::pair<std::size_t, std::size_t> PartOfRank(std::size_t count, int rank, int ranks)
{
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

/// Plain values as a text to gather, and those in gathered texts one after another.
template <typename T>
std::string TextOfValues(const std::vector<T>& values)
{
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> ValuesInTexts(const std::vector<std::string>& texts)
{
  std::vector<T> all;
  for (const std::string& part : texts) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(T));
    if (!part.empty()) {
      std::memcpy(all.data() + before, part.data(), part.size());
    }
  }
  return all;
}

/// Collective: plain values of each rank one after another, in rank order; numbers of them may differ.
template <typename T>
std::vector<T> GatherValues(Communicator& comm, const std::vector<T>& mine)
{
  return ValuesInTexts<T>(comm.AllGather(TextOfValues(mine)));
}

/// Collective over an MPI communicator: any number of bytes of the rank `root` on all ranks.
void BroadcastBytes(std::byte* data, std::uint64_t bytes, int root, MPI_Comm comm);

/// One process by itself.
std::unique_ptr<Communicator> MakeSelfCommunicator();

/// The processes of an MPI communicator, which must outlive the result.
std::unique_ptr<Communicator> MakeMpiCommunicator(MPI_Comm comm);

/// Runs `work` and gives what went wrong, for the person at the screen; empty when nothing did.
std::string CatchError(const std::function<void()>& work);
/// Within a handler: the same for the exception at hand.
inline std::string CaughtError()
{
  return CatchError([] { throw; });
}

/// Collective: runs `work`, which must not communicate, and then throws Error on all ranks if it failed on
/// one of them; all get the message of the first rank that failed.
void RunOnAllRanks(Communicator& comm, const std::function<void()>& work);

/// Collective: whether it holds on every rank.
bool AllOf(Communicator& comm, bool holds);

/// The lines of two ranks that have different ones.
struct RankDifference
{
  std::size_t Rank = 0;                   ///< the first rank that differs from rank 0
  std::size_t Count = 0;                  ///< number of ranks that differ from rank 0
  std::vector<std::string> First, Other;  ///< the lines of rank 0, and those of `Rank`
  std::size_t Line = 0;  ///< index of the first line that differs; one of them may be shorter
};

/// Collective: compares the lines of all ranks. Returns the same on all ranks: nothing if no rank differs
/// from rank 0.
std::optional<RankDifference> CompareLines(Communicator& comm, const std::vector<std::string>& lines);

/// Collective: runs `produce`, which must not communicate, on rank 0 and gives its bytes to all ranks; or
/// throws Error on all of them.
std::vector<std::byte> BytesOfRankZero(
    Communicator& comm, const std::function<std::vector<std::byte>()>& produce);

}  // namespace patchio
