// One rank's read from start to end: locate, plan, NT lanes, values in memory.
#pragma once

#include "Exec/Lanes.h"
#include "Exec/ReadTask.h"
#include "Formats/Format.h"
#include "Plan/ReadPlan.h"
#include "Read/BlockArrays.h"
#include "Read/LoadRequest.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchio {

/// Says where the bytes of each request lie; Format::Locate or the metadata channel.
using LocateFunction = std::function<LocationTable(const std::vector<PatchVariable>&)>;

/// One rank's read in two steps, so that ranks can agree in between on what was found and on the memory. The
/// catalog and the request must outlive it.
class PatchLoader
{
public:
  /// Finds out where the bytes lie. Throws Error only when even that is impossible; faults of files are in
  /// Faults().
  PatchLoader(const LocateFunction& locate, const Catalog& catalog, const LoadRequest& request);

  /// What is wrong so far.
  std::vector<LoadFault> Faults() const;
  /// Memory that the arrays of the request will take beyond what is kept from earlier reads.
  double BytesNeeded() const;

  /// Reads all <patch, variable> of the request, once. All tasks exist at once and NT threads take them in
  /// file order. Throws Error when the memory does not suffice; faults of files are in the result.
  LoadResult Read(const ProgressCallback& progress = {});

private:
  std::vector<ByteRange> WantedRanges() const;
  void Allocate();
  void Execute(const ProgressCallback& progress);
  std::size_t Units() const;
  bool ReadThroughLibrary(const ProgressCallback& progress);
  void ReadThroughLanes(const ProgressCallback& progress);
  bool ExecuteUnit(Lane& lane, std::size_t unit);
  bool ExecuteTransfer(Lane& lane, const Transfer& transfer);
  bool ExecutePieces(Lane& lane, const Transfer& transfer);
  bool ExecuteWhole(Lane& lane, std::uint32_t request);
  void PieceDone(const Piece& piece);
  void Failed(std::uint32_t request, const std::string& message);
  void FindUnread();
  void Finish();

  const Catalog& Data;
  const LoadRequest& Request;
  BlockArrays Arrays;
  const std::vector<PatchVariable> Requests;
  LocationTable Table;
  ReadPlan Plan;
  std::vector<std::string> Messages;                   ///< per request, why it failed
  std::mutex MessagesLock;                             ///< taken only when something fails
  std::vector<std::atomic<std::uint32_t>> PiecesLeft;  ///< per request
  std::atomic<std::uint64_t> TasksDone{0};
  LoadResult Result;
};

/// Both steps at once.
LoadResult LoadPatches(const Format& format, const Catalog& catalog, const LoadRequest& request,
    const ProgressCallback& progress = {});

}  // namespace patchio
