// From the messages of an object header to a data set.
#pragma once

#include "Hdf5/Dataset.h"
#include "Hdf5/ObjectHeader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace patchio::hdf5 {

/// A shape: section IV.A.2.b of the specification.
struct Dataspace
{
  static constexpr unsigned MostAxes = 32;

  unsigned Rank = 0;
  std::uint64_t Values = 1;
  /// By axis, slowest first, as many as the rank says; see Dataset::MostDims.
  std::array<std::uint64_t, MostAxes> Dims, MostDims;
};

/// Throws Corrupt, and Unsupported for unknown versions.
Dataspace TakeDataspace(Cursor& message);

/// Takes a data set's messages one by one. All methods throw Corrupt and Unsupported.
class DatasetMessages
{
public:
  void Take(const Message& message);
  /// True when the others cannot change the data set any more.
  bool Complete() const
  {
    return this->HasSpace && this->HasType && this->HasLayout && this->Elsewhere.empty() &&
           this->Result.Layout == StorageLayout::Contiguous && this->Result.Offset != NoAddress;
  }
  /// The data set, after all messages.
  const Dataset& Finish();

private:
  static void RequireOwn(const Message& message);
  void TakeSpace(const Message& message);
  void TakeType(const Message& message);
  void TakeLayout(const Message& message);
  void TakeOldLayout(const Message& message);
  void TakePlainLayout(const Message& message, unsigned kind);
  bool TakeChunkRank(unsigned axes);
  void TakeChunks3(const Message& message, std::size_t rank, std::size_t place);
  void TakeChunks4(const Message& message);
  void TakeFill(const Message& message);
  void TakeOldFill(const Message& message);
  void KeepFill(const Message& message, std::size_t place, std::uint64_t bytes);
  void TakeFilters(const Message& message);
  void FinishChunked();
  void FinishFilters();
  void FinishFill();

  static constexpr std::size_t MostFilters = 32;

  Dataset Result;
  bool HasSpace = false, HasType = false, HasLayout = false, HasFill = false, HasFilters = false;
  bool SkipsPartial = false;  ///< chunks at the edges have no filters
  std::string Elsewhere;      ///< why the values are not in this file; empty: they are
  std::array<std::uint64_t, ChunkedArray::MaximumRank> ChunkDims{};
  unsigned ChunkRank = 0;
  std::uint64_t ChunkElementBytes = 0;
  std::uint64_t ContiguousBytes = 0;
  std::uint64_t FillBytes = 0;
  std::array<std::byte, 8> FillStored{};
  unsigned FilterCount = 0;
  // As many as FilterCount says.
  std::array<int, MostFilters> FilterIds;
  std::array<std::uint64_t, MostFilters> FilterParameters;
};

}  // namespace patchio::hdf5
