// One rank's read as its tasks see it.
#pragma once

#include "Io/ReadMeter.h"
#include "Io/Source.h"
#include "Io/StoredSums.h"
#include "Io/TaskReader.h"
#include "Plan/ReadPlan.h"
#include "Read/BlockArrays.h"
#include "Read/LoadRequest.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace patchio {

/// Says where the bytes of each request lie; Format::Locate or the metadata channel.
using LocateFunction = std::function<LocationTable(const std::vector<PatchVariable>&)>;

/// All that read tasks touch. Those that a stopped read leaves behind own it together, until the last of them
/// has ended.
class RankTasks
{
public:
  /// Finds out where the bytes lie and plans the requests. reuse: takes what it can from the request's cache,
  /// if it has one. Throws Error only when even that is impossible.
  RankTasks(const LocateFunction& locate, std::shared_ptr<const Catalog> catalog,
      std::shared_ptr<const LoadRequest> request, bool reuse = true);

  /// Transfers, tasks that are none, and arrays made of others: one read task each.
  std::size_t Units() const;
  /// From the storage, in tasks.
  std::uint64_t BytesToRead() const;

  /// Opens the way to the files. Memory for the arrays must be there.
  void GetReady();
  /// Carries out one unit; faults are kept. Thread-safe.
  void Execute(std::size_t unit);

  /// A task is complete. Thread-safe, like all below.
  void Done(std::uint32_t request);
  void Failed(std::uint32_t request, const std::string& message);
  /// Why a request failed, where it did.
  std::vector<LoadFault> Faults() const;
  /// Marks the arrays that need what failed. No task may be at work.
  void FailArrays();
  std::uint64_t TasksDone() const { return this->Finished; }
  /// Puts the arrays that were taken from here into the request's cache, if it has one.
  void Keep(const std::vector<LoadedArray>& taken) const;

  const std::shared_ptr<const Catalog> Data;
  const std::shared_ptr<const LoadRequest> Request;
  BlockArrays Arrays;
  const std::vector<PatchVariable>
      Wanted;           ///< that the arrays need from files; what `request` is an index of
  LocationTable Table;  ///< where they lie
  ReadPlan Plan;
  ReadMeter Meter;

private:
  std::vector<ByteRange> WantedRanges() const;
  bool ExecuteUnit(TaskReader& reader, std::size_t unit);
  bool ExecuteTransfer(TaskReader& reader, const Transfer& transfer);
  bool ExecutePieces(TaskReader& reader, const Transfer& transfer);
  bool ExecuteWhole(TaskReader& reader, std::uint32_t request);
  bool PieceDone(const Piece& piece);
  void Differs(std::uint32_t request);

  FilesSeen Seen;  ///< what the table leads to, where there is a cache
  std::unique_ptr<Source> Storage;
  std::optional<TaskReaders> Readers;
  StoredSums Sums;
  std::atomic<bool> Stopped{false};                    ///< by a fault
  std::vector<std::string> Messages;                   ///< per request, why it failed
  mutable std::mutex MessagesLock;                     ///< taken only when something fails, and at the end
  std::vector<std::atomic<std::uint32_t>> PiecesLeft;  ///< per request
  std::atomic<std::uint64_t> Finished{0};              ///< tasks
};

}  // namespace patchio
