// The location and encoding of an array's bytes in files, and the range of the values.
#pragma once

#include "Catalog/Catalog.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio {

/// The least and the greatest value of a variable on a patch. The default is unbounded, for a patch whose
/// values are unknown.
struct ValueRange
{
  double Least = -std::numeric_limits<double>::infinity();
  double Greatest = std::numeric_limits<double>::infinity();

  /// The range of a patch without values.
  static ValueRange EmptyRange() { return {ValueRange().Greatest, ValueRange().Least}; }

  bool Intersects(const ValueRange& other) const
  {
    return std::max(this->Least, other.Least) <= std::min(this->Greatest, other.Greatest);
  }
  void Add(const ValueRange& other)
  {
    this->Least = std::min(this->Least, other.Least);
    this->Greatest = std::max(this->Greatest, other.Greatest);
  }
};

/// Returns a range that contains all values between `least` and `greatest` even if the values were rounded to
/// 32-bit floats afterwards. Returns an unbounded range unless `least` <= `greatest`, as for patches of NaN.
inline ValueRange RangeOfFloats(double least, double greatest)
{
  if (!(least <= greatest)) {
    return {};
  }
  constexpr double rounding = std::numeric_limits<float>::epsilon();
  constexpr double smallest = std::numeric_limits<float>::min();
  return {least - std::abs(least) * rounding - smallest, greatest + std::abs(greatest) * rounding + smallest};
}

/// The type of stored and delivered values.
enum class ElementType : std::uint8_t
{
  Int32,
  Float32,
  Float64,
  Int64,
  UInt8,
  Int16,
  UInt16,
  Int8,
  UInt32,
  UInt64
};

/// The last enumerator, for checks of numbers from files.
constexpr ElementType LastElementType = ElementType::UInt64;

/// Returns numpy's name of the type: "float32" and so on.
const char* NameOf(ElementType type);

/// Calls visit(T()) with T the C++ type of the elements, and returns the result of `visit`.
template <typename Visit>
constexpr decltype(auto) VisitType(ElementType type, Visit visit)
{
  switch (type) {
    case ElementType::Int8:
      return visit(std::int8_t());
    case ElementType::UInt8:
      return visit(std::uint8_t());
    case ElementType::Int16:
      return visit(std::int16_t());
    case ElementType::UInt16:
      return visit(std::uint16_t());
    case ElementType::Int32:
      return visit(std::int32_t());
    case ElementType::UInt32:
      return visit(std::uint32_t());
    case ElementType::Int64:
      return visit(std::int64_t());
    case ElementType::UInt64:
      return visit(std::uint64_t());
    case ElementType::Float64:
      return visit(double());
    case ElementType::Float32:
      break;
  }
  return visit(float());
}

/// Returns the number of bytes of one element.
constexpr std::size_t SizeOf(ElementType type)
{
  return VisitType(type, [](auto value) { return sizeof value; });
}

/// One variable on one patch: the unit of reading of the two-level method (see ThreadBudget.h).
struct PatchVariable
{
  int Patch = 0;
  int Variable = 0;
};

// The index file contains byte ranges, chunks and chunked arrays as they lie in memory. `Unused` members make
// the padding explicit.

/// A contiguous range of bytes in a file: a stored array of a variable on a patch (see
/// Variable::StoredArrays()), or a list of Encoding::SparseMaterials.
struct ByteRange
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;
  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  bool BigEndian = false;
  std::uint16_t Unused = 0;
};

/// A transformation that was applied to a chunk when it was written and is undone when the chunk is read.
enum class FilterType : std::uint8_t
{
  None,
  Deflate,     ///< zlib stream
  Shuffle,     ///< first bytes of all elements, then all second bytes, ...; an element has SizeOf(type) bytes
  Fletcher32,  ///< appends a checksum of 4 bytes to the data
  Zstd         ///< Zstandard frames
};

/// The last enumerator, for checks of numbers from files.
constexpr FilterType LastFilterType = FilterType::Zstd;

/// The stored bytes of one chunk. 24 bytes in memory.
struct Chunk
{
  std::uint64_t Offset = 0;          ///< in the file
  std::uint64_t Number = 0;          ///< index in the grid of chunks, last axis fastest
  std::uint32_t Bytes = 0;           ///< as stored; 0: never written, all values are ChunkedArray::Fill
  std::uint32_t SkippedFilters = 0;  ///< bit i set: filter i was not applied to this chunk
};

/// One stored array of a variable on a patch, in chunks. The values are `Count` values, from index `First`,
/// of an array whose last axis varies fastest.
struct ChunkedArray
{
  static constexpr int MaximumRank = 5;
  static constexpr int MaximumFilters = 4;

  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  bool BigEndian = false;
  std::uint8_t Rank = 1;
  std::array<FilterType, MaximumFilters> Filters{};  ///< in the order in which they were applied
  std::array<std::uint8_t, 5> Unused{};
  std::array<std::uint64_t, MaximumRank> Dims{};  ///< values per axis of the entire array
  std::array<std::uint64_t, MaximumRank> ChunkDims{};
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  /// Number of values from one time step to the next if the array holds several (LocateOptions::AllSteps);
  /// First then belongs to the first step. 0: the values are the same in all steps.
  std::uint64_t StepStride = 0;
  std::uint64_t Fill = 0;  ///< the value of chunks that were never written, as bytes in this machine's order
  std::uint64_t FirstChunk = 0;  ///< index into LocationTable::Chunks of the first needed chunk
  std::uint64_t ChunkCount = 0;
};

/// One stored array of a variable on a patch that only the HDF5 library can decode.
struct LibraryArray
{
  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  std::string Dataset;  ///< full name in the file
  std::uint64_t First = 0;
  std::uint64_t Count = 0;  ///< number of values, in the order of the data set with its last axis fastest
  std::string Reason;       ///< why PatchIO cannot decode the array, for the report: "filter 4 (szip)"
  std::uint64_t StepStride = 0;  ///< see ChunkedArray::StepStride
};

/// The form in which files store the values of a variable on a patch.
enum class Encoding : std::uint8_t
{
  Missing,          ///< the format could not locate the values; LocationTable::Problems has the reason
  Absent,           ///< the variable does not exist on this patch
  Constant,         ///< no bytes: every value is Location::Value
  Raw,              ///< one byte range per stored array, values in VTK's order
  SparseMaterials,  ///< volume fraction of one material in Silo's sparse form, see Io/Decode.h
  Chunked,          ///< one ChunkedArray per stored array
  Library           ///< one LibraryArray per stored array
};

/// The location of one variable on one patch. First .. First + Count - 1 are indices into the table's
/// ByteRanges (Raw, SparseMaterials), ChunkedArrays (Chunked) or LibraryArrays (Library).
struct Location
{
  Encoding Kind = Encoding::Absent;
  std::uint32_t First = 0;
  std::uint32_t Count = 0;
  float Value = 0;   ///< Constant: the value
  int Material = 0;  ///< SparseMaterials: number of the material
};

/// Makes a location with `count` entries from index `first`.
inline Location MakeLocation(Encoding kind, std::size_t first, std::size_t count)
{
  return {kind, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), 0, 0};
}

/// Returns the location of a variable on a patch for which the files have no values: absent, or constant 0 or
/// 1. `presence`: not Presence::Stored.
inline Location ImpliedLocation(Presence presence)
{
  return presence == Presence::Absent
             ? Location()
             : Location{Encoding::Constant, 0, 0, presence == Presence::One ? 1.0f : 0.0f};
}

/// The reason why one location is Missing.
struct LocationProblem
{
  std::size_t Request;  ///< index of the location in LocationTable::Locations
  std::string Message;
};

/// The answer to a list of requests, one PatchVariable each: one location per request, in the order of the
/// requests.
struct LocationTable
{
  std::vector<std::string> Files;
  std::vector<Location> Locations;
  std::vector<ByteRange> ByteRanges;
  std::vector<ChunkedArray> ChunkedArrays;
  std::vector<Chunk> Chunks;
  std::vector<LibraryArray> LibraryArrays;
  std::vector<LocationProblem> Problems;
  std::vector<std::string> Notes;  ///< further notes for the user, without duplicates
  /// CRC-32 of the stored values of each request. Each request is then a single array. Empty if the format
  /// has no checksums or LocateOptions::Verify is off.
  std::vector<std::uint32_t> Checksums;
};

/// A range of chunk numbers, Begin .. End - 1. ChunksHolding() returns a range with all chunks that contain
/// values First .. First + Count - 1 of a valid array; some chunks of the range may contain none.
struct ChunkRange
{
  std::uint64_t Begin = 0;
  std::uint64_t End = 0;
};
ChunkRange ChunksHolding(const ChunkedArray& array);

/// Restricts `array` to one of its time steps; does nothing if StepStride or ChunkCount is 0. `chunks`: the
/// first chunk of the array; the chunks must have consecutive numbers. Sets First, FirstChunk and ChunkCount
/// to the values and chunks of the step, and StepStride to 0.
void SelectStep(ChunkedArray& array, const Chunk* chunks, int step);

/// Appends a location's entries in `from` to `to`. Returns the location in `to`. `files[i]` is the number in
/// `to` of file i of `from`; empty if the numbers are the same. `from` and `to` must be different tables.
Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& files = {});

}  // namespace patchio
