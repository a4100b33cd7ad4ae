// Where the bytes of an array lie, how they are encoded, and the range of its values.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace patchio {

/// Least and greatest value of a variable on a patch, where the files say.
struct ValueRange
{
  double Least = -std::numeric_limits<double>::infinity();
  double Greatest = std::numeric_limits<double>::infinity();

  /// The range of a patch without values.
  static ValueRange None() { return {Unbounded().Greatest, Unbounded().Least}; }
  /// The range of a patch about which nothing is known.
  static ValueRange Unbounded() { return {}; }

  bool Meets(const ValueRange& other) const
  {
    return std::max(this->Least, other.Least) <= std::min(this->Greatest, other.Greatest);
  }
  void Add(const ValueRange& other)
  {
    this->Least = std::min(this->Least, other.Least);
    this->Greatest = std::max(this->Greatest, other.Greatest);
  }
};

/// The range of values that may have been rounded to floats after these least and greatest ones were taken.
/// Unbounded where the two are no range, as for patches of NaN.
inline ValueRange RangeOfFloats(double least, double greatest)
{
  if (!(least <= greatest)) {
    return ValueRange::Unbounded();
  }
  constexpr double rounding = std::numeric_limits<float>::epsilon();
  constexpr double denormal = std::numeric_limits<float>::min();
  return {least - std::abs(least) * rounding - denormal, greatest + std::abs(greatest) * rounding + denormal};
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

/// The type with the largest number, for checks of numbers from files.
constexpr ElementType LastElementType = ElementType::UInt64;

/// As numpy calls it: "float32" and so on.
const char* NameOf(ElementType type);

/// Calls visit(T()) for the C++ type T of the elements, and returns the result.
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

/// Bytes of one element.
constexpr std::size_t SizeOf(ElementType type)
{
  return VisitType(type, [](auto value) { return sizeof value; });
}

/// One read unit of the paper: a variable on a patch.
struct PatchVariable
{
  int Patch = 0;
  int Variable = 0;
};

// The sidecar keeps extents, chunks and chunked arrays as they lie in memory: `Unused` takes the place of
// padding.

/// Stored bytes of one run of equal values: one component of one variable on one patch.
struct Extent
{
  std::uint64_t Offset = 0;  ///< in the file
  std::uint64_t Bytes = 0;
  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  bool BigEndian = false;
  std::uint16_t Unused = 0;
};

/// A step that was applied to a chunk when it was written, and is undone when it is read.
enum class FilterKind : std::uint8_t
{
  None,
  Deflate,     ///< zlib stream
  Shuffle,     ///< first bytes of all elements, then all second bytes, ...; of SizeOf(type) bytes each
  Fletcher32,  ///< 4 bytes of checksum behind the data
  Zstd         ///< frames of Zstandard
};

/// The filter with the largest number, for checks of numbers from files.
constexpr FilterKind LastFilterKind = FilterKind::Zstd;

/// Stored bytes of one chunk. 24 bytes.
struct Chunk
{
  std::uint64_t Offset = 0;          ///< in the file
  std::uint64_t Number = 0;          ///< position in the grid of chunks, last axis fastest
  std::uint32_t Bytes = 0;           ///< as stored; 0: never written, every value is ChunkedArray::Fill
  std::uint32_t SkippedFilters = 0;  ///< bit i set: filter i was not applied to this chunk
};

/// One component of one variable on one patch, stored in chunks. The values wanted are a part, `Count` values
/// from `First`, of an array whose last axis varies fastest.
struct ChunkedArray
{
  static constexpr int MaximumRank = 5;
  static constexpr int MaximumFilters = 4;

  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  bool BigEndian = false;
  std::uint8_t Rank = 1;
  std::array<FilterKind, MaximumFilters> Filters{};  ///< in the order in which they were applied
  std::array<std::uint8_t, 5> Unused{};
  std::array<std::uint64_t, MaximumRank> Dims{};  ///< values per axis of the whole array
  std::array<std::uint64_t, MaximumRank> ChunkDims{};
  std::uint64_t First = 0;
  std::uint64_t Count = 0;
  /// Where the array holds several time steps (LocateOptions::AllSteps), First belongs to the first of them,
  /// and each next step begins so many values further on. 0: the same values at all steps.
  std::uint64_t StepValues = 0;
  std::uint64_t Fill = 0;  ///< bytes of the value of chunks that were never written, in this machine's order
  std::uint64_t FirstChunk = 0;  ///< index into LocationTable::Chunks of the first that holds wanted values
  std::uint64_t ChunkCount = 0;
};

/// One component of one variable on one patch that only the HDF5 library can decode.
struct LibraryArray
{
  int File = 0;  ///< index into LocationTable::Files
  ElementType Type = ElementType::Float32;
  std::string Dataset;  ///< full name in the file
  std::uint64_t First = 0;
  std::uint64_t Count = 0;       ///< values wanted, of the data set with its last axis fastest
  std::string Reason;            ///< for the report: "filter 4 (szip)"
  std::uint64_t StepValues = 0;  ///< see ChunkedArray::StepValues
};

/// How the values of a variable on a patch are stored.
enum class Encoding : std::uint8_t
{
  Missing,          ///< could not be located; LocationTable::Problems says why
  Absent,           ///< the variable does not exist on this patch
  Constant,         ///< no bytes: every value is Location::Value
  Raw,              ///< one extent per component, values in VTK's order
  SparseMaterials,  ///< volume fraction of one material in Silo's sparse form, see Io/Decode.h
  Chunked,          ///< one chunked array per component
  Library           ///< one library array per component
};

/// Where one variable of one patch lies. First .. First + Count - 1 are indices into Extents (Raw and
/// SparseMaterials), ChunkedArrays or LibraryArrays of the table.
struct Location
{
  Encoding Kind = Encoding::Absent;
  std::uint32_t First = 0;
  std::uint32_t Count = 0;
  float Value = 0;   ///< Constant
  int Material = 0;  ///< SparseMaterials: number of the material
};

/// A location of this kind that refers to `count` entries from `first` on.
inline Location MakeLocation(Encoding kind, std::size_t first, std::size_t count)
{
  return {kind, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), 0, 0};
}

/// Why one location is Missing.
struct LocationProblem
{
  std::size_t Request;  ///< index into the requests
  std::string Message;
};

/// Answer to a list of requests: one location per request, in their order.
struct LocationTable
{
  std::vector<std::string> Files;
  std::vector<Location> Locations;
  std::vector<Extent> Extents;
  std::vector<ChunkedArray> ChunkedArrays;
  std::vector<Chunk> Chunks;
  std::vector<LibraryArray> LibraryArrays;
  std::vector<LocationProblem> Problems;
  std::vector<std::string> Notes;  ///< what else the user may want to know, each once
  /// CRC-32 of the stored values of each request; each request then is a single array. Empty if the format
  /// has no checksums, or if LocateOptions::Checksums is off.
  std::vector<std::uint32_t> Checksums;
};

/// Numbers of chunks, Begin .. End - 1: from the first to the last chunk that holds one of the values
/// First .. First + Count - 1 of an array, which must have these.
struct ChunkRange
{
  std::uint64_t Begin = 0;
  std::uint64_t End = 0;
};
ChunkRange ChunksHolding(const ChunkedArray& array);

/// The array at one of its time steps. Its chunks, of which `chunks` is the first, must have numbers that
/// follow each other; FirstChunk and ChunkCount become those that hold the step's values.
void TurnToStep(ChunkedArray& array, const Chunk* chunks, int step);

/// Appends all that the location refers to; gives its copy, which refers to `to`. `files[i]`: number that
/// file i of `from` has in `to`; empty where they have the same. `from` and `to` are different tables.
Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& files = {});

}  // namespace patchio
