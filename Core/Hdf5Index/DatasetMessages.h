// From the messages of an object header to a data set.
#pragma once

#include "Hdf5Index/Dataset.h"
#include "Hdf5Index/ObjectHeader.h"

namespace patchio::hdf5index {

/// Takes a data set's messages one by one. All methods throw Unfamiliar.
class DatasetMessages
{
public:
  void Take(const Message& message);
  /// True when the others cannot change the data set any more.
  bool Complete() const
  {
    return this->HasSpace && this->HasType && this->HasLayout &&
           this->Result.Layout == StorageLayout::Contiguous;
  }
  /// The data set, after all messages.
  const Dataset& Finish();

private:
  void TakeSpace(const Message& message);
  void TakeType(const Message& message);
  void TakeFloat(const Message& message);
  void TakeInteger(const Message& message);
  void TakeLayout(const Message& message);
  void TakePlainLayout(const Message& message, unsigned kind);
  void TakeChunks3(const Message& message);
  void TakeChunks4(const Message& message);
  void TakeFill(const Message& message);
  void TakeOldFill(const Message& message);
  void KeepFill(const Message& message, std::size_t place, std::uint64_t bytes);
  void TakeFilters(const Message& message);
  void FinishChunked();

  static constexpr unsigned MostDims = 32;

  Dataset Result;
  bool HasSpace = false, HasType = false, HasLayout = false, HasFill = false, HasFilters = false;
  unsigned Rank = 0;
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  unsigned ChunkRank = 0;
  std::uint64_t ChunkElementBytes = 0;
  std::uint64_t ContiguousBytes = 0;
  std::uint64_t FillBytes = 0;
  std::array<std::byte, 8> FillStored{};
  unsigned FilterCount = 0;
  std::array<int, ChunkedArray::MaximumFilters> FilterIds{};
  std::array<std::uint64_t, ChunkedArray::MaximumFilters> FilterParameters{};
};

}  // namespace patchio::hdf5index
