// The ranks that work together, with MPI or as a single process, and the propagation of errors from one rank
// to all.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// A group of processes that read or write together. Collective: every rank of the communicator calls each
/// method in the same order, except Rank(), Size(), Mpi() and methods that say otherwise. With MPI, all ranks
/// throw Error if the result of a broadcast, gather or exchange exceeds the memory of any rank. Not
/// thread-safe: a second thread must use BackgroundDuplicate().
class Communicator
{
public:
  virtual ~Communicator() = default;
  virtual int Rank() const = 0;
  virtual int Size() const = 0;
  /// Returns the MPI communicator for collective work that has no method here, such as MPI-IO. Returns
  /// MPI_COMM_NULL for a single process without MPI.
  virtual MPI_Comm Mpi() const { return MPI_COMM_NULL; }

  /// Copies the bytes of rank 0 to all ranks.
  virtual void Broadcast(std::vector<std::byte>& bytes) = 0;
  /// Returns the texts of all ranks, in rank order, on all ranks.
  virtual std::vector<std::string> AllGather(const std::string& text) = 0;
  /// Returns the texts of all ranks, in rank order, on rank 0, and an empty list on the other ranks.
  virtual std::vector<std::string> Gather(const std::string& text);
  /// Sends texts[i] to rank i. Returns the texts sent to this rank, in rank order. `texts` has Size()
  /// entries.
  std::vector<std::string> Exchange(std::vector<std::string> texts);
  /// Exchanges texts like Exchange(texts), but stores the received texts in `into`, whose memory may be
  /// reused. After an exception, the contents of `texts` and `into` are unspecified.
  virtual void Exchange(std::vector<std::string>& texts, std::vector<std::string>& into);
  /// Returns the values of all ranks, in rank order, on all ranks: Size() x values.size() numbers. `values`
  /// has the same length on all ranks.
  virtual std::vector<double> AllGather(const std::vector<double>& values);
  /// Returns the integers of all ranks, in rank order, on all ranks. The lengths may differ.
  virtual std::vector<int> AllGather(const std::vector<int>& values);

  /// Returns the maximum over all ranks of each value, on all ranks. `values` has the same length on all
  /// ranks. With MPI, takes time proportional to the logarithm of Size(); AllGather() takes time proportional
  /// to Size().
  virtual std::vector<double> Max(const std::vector<double>& values);
  /// Returns the minimum over all ranks of each value, like Max().
  std::vector<double> Min(std::vector<double> values);
  /// Returns the sum over all ranks of each value, on all ranks; see BeginSum().
  std::vector<double> Sum(const std::vector<double>& values);

  /// Starts to sum each value over all ranks; with MPI, does not wait for the other ranks. `values` has the
  /// same length on all ranks. Only one sum may be in progress. Sums of whole numbers are exact below 2^53,
  /// so that all ranks get the same result.
  virtual void BeginSum(const std::vector<double>& values);
  /// Returns true once the sum is complete, and stores it in `sum`; another sum may begin then. Not
  /// collective.
  virtual bool TestSum(std::vector<double>& sum);

  /// Returns a duplicate of this communicator, for work that runs concurrently with work on the original. The
  /// duplicate lives as long as this communicator. The first call is collective: every rank of the
  /// communicator calls it.
  Communicator& BackgroundDuplicate();
  /// Returns the communicator of the ranks that run on this rank's machine and share its memory. The result
  /// lives as long as this communicator. The first call is collective: every rank of the communicator calls
  /// it.
  Communicator& MachineCommunicator();

protected:
  /// Runs `allocate`, which allocates the memory of messages. All ranks throw Error if one rank has too
  /// little memory, because the other ranks would wait for that rank in the exchange.
  void AllocateOnAllRanks(const std::function<void()>& allocate);

  // The defaults return a communicator of a single process.
  virtual std::unique_ptr<Communicator> Duplicate() const;
  virtual std::unique_ptr<Communicator> SplitByMachine() const;

private:
  std::vector<double> Sums;
  std::unique_ptr<Communicator> Background, Machine;
};

/// Splits `bytes` bytes into consecutive messages that are small enough for an MPI count, and calls
/// transfer(begin, count) for each message.
template <typename Transfer>
void ForEachMessage(std::uint64_t bytes, Transfer transfer)
{
  constexpr std::uint64_t most = std::uint64_t(1) << 30;
  for (std::uint64_t begin = 0; begin < bytes; begin += most) {
    transfer(begin, static_cast<int>(bytes - begin < most ? bytes - begin : most));
  }
}

/// Divides `count` items evenly among `rankCount` ranks. Returns the first index of the share of `rank`, and
/// the index after the last.
inline std::pair<std::size_t, std::size_t> ShareOfRank(std::size_t count, int rank, int rankCount)
{
  return {count * rank / rankCount, count * (rank + 1) / rankCount};
}

/// Packs plain values into a string that can be gathered; UnpackValues() concatenates the values of gathered
/// strings.
template <typename T>
std::string PackValues(const std::vector<T>& values)
{
  static_assert(std::is_trivially_copyable_v<T>);
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
template <typename T>
std::vector<T> UnpackValues(const std::vector<std::string>& texts)
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

/// Returns the plain values of all ranks, in rank order, on all ranks. The numbers of values may differ.
/// Collective: every rank of the communicator calls it.
template <typename T>
std::vector<T> GatherValues(Communicator& ranks, const std::vector<T>& values)
{
  return UnpackValues<T>(ranks.AllGather(PackValues(values)));
}

/// Returns the texts of all ranks, in rank order and each text once, on all ranks. Collective: every rank of
/// the communicator calls it.
std::vector<std::string> GatherTexts(Communicator& ranks, const std::vector<std::string>& texts);

/// Returns the text of the first rank that has a nonempty text, on all ranks; empty if no rank has one.
/// Collective: every rank of the communicator calls it.
std::string FirstNonEmpty(Communicator& ranks, const std::string& text);

/// Copies any number of bytes from rank `root` to all ranks. Collective: every rank of the communicator calls
/// it.
void BroadcastBytes(std::byte* data, std::uint64_t bytes, int root, MPI_Comm comm);

/// Returns a communicator of this process alone.
std::unique_ptr<Communicator> MakeSelfCommunicator();

/// Returns a communicator of the processes of `comm`, which must outlive the result.
std::unique_ptr<Communicator> MakeMpiCommunicator(MPI_Comm comm);

/// Returns the message, worded for the user, of the exception being handled. Call it in a catch block.
std::string CaughtError();

/// Runs `work`. Returns the message, worded for the user, of the std::exception that `work` throws, or an
/// empty text if `work` succeeds.
template <typename Work>
std::string CatchError(const Work& work)
{
  try {
    work();
    return {};
  } catch (const std::exception&) {
    return CaughtError();
  }
}

/// Runs `work`, which must not communicate. If `work` fails on any rank, all ranks throw Error with the
/// message of the first rank that failed. Collective: every rank of the communicator calls it.
void RunOnAllRanks(Communicator& ranks, const std::function<void()>& work);

/// Runs `work`, which must not communicate, on rank 0. If `work` fails, all ranks throw Error. Collective:
/// every rank of the communicator calls it.
void RunOnRankZero(Communicator& ranks, const std::function<void()>& work);

/// Returns whether `holds` is true on every rank. Collective: every rank of the communicator calls it.
bool AllOf(Communicator& ranks, bool holds);

/// The first difference between the lines of rank 0 and those of another rank.
struct RankDifference
{
  std::size_t Rank = 0;                   ///< the first rank that differs from rank 0
  std::size_t Count = 0;                  ///< number of ranks that differ from rank 0
  std::vector<std::string> First, Other;  ///< lines of rank 0 and of rank `Rank`
  std::size_t Line = 0;  ///< index of the first line that differs; the length of the shorter list if the
                         ///< longer list begins with the shorter one
};

/// Compares the lines of all ranks. Returns the first difference, on all ranks, or nothing if all ranks have
/// the same lines. Collective: every rank of the communicator calls it.
std::optional<RankDifference> CompareLines(Communicator& ranks, const std::vector<std::string>& lines);

/// Runs `produce`, which must not communicate, on rank 0, and returns its result on all ranks. If `produce`
/// fails, all ranks throw Error. Collective: every rank of the communicator calls it.
std::vector<std::byte> ProduceOnRankZero(
    Communicator& ranks, const std::function<std::vector<std::byte>()>& produce);

/// Returns the name and version of the MPI library, such as "Open MPI v4.1.4".
std::string MpiVersion();
/// Returns the text of an MPI error code.
std::string MpiErrorText(int code);

}  // namespace patchio
