// The methods of File that read values of data sets and attributes.
#include "Base/Bytes.h"
#include "Hdf5/File.h"
#include "Hdf5/LibraryFile.h"
#include "Io/Chunks.h"
#include "Io/Filters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace patchio::hdf5 {
namespace {

constexpr std::int64_t LargestCount = std::int64_t(1) << 28;

/// Converts a number. Values outside the range of To become the nearest value of To. If To is an integer
/// type, fractions are cut off, and NaN becomes 0.
template <typename To, typename From>
To Saturated(From value)
{
  if constexpr (std::is_integral_v<To>) {
    constexpr To lowest = std::numeric_limits<To>::min(), highest = std::numeric_limits<To>::max();
    if constexpr (std::is_floating_point_v<From>) {
      if (std::isnan(value)) {
        return 0;
      }
      return value <= static_cast<From>(lowest)    ? lowest
             : value >= static_cast<From>(highest) ? highest
                                                   : static_cast<To>(value);
    } else if constexpr (std::is_signed_v<From>) {
      return static_cast<To>(std::clamp<std::int64_t>(value, lowest, highest));
    } else {
      return static_cast<To>(std::min<std::uint64_t>(value, static_cast<std::uint64_t>(highest)));
    }
  } else {
    return static_cast<To>(value);
  }
}

/// Converts `count` numbers of type From, in the byte order of this machine, to type To. The numbers are
/// `step` bytes apart, and the results are `toStep` bytes apart.
template <typename From, typename To>
void ConvertFrom(
    const std::byte* from, std::size_t step, std::size_t count, std::byte* to, std::size_t toStep)
{
  for (std::size_t i = 0; i < count; ++i, from += step, to += toStep) {
    From value;
    std::memcpy(&value, from, sizeof value);
    const To converted = Saturated<To>(value);
    std::memcpy(to, &converted, sizeof converted);
  }
}

/// Converts numbers of type `type` to type To, see ConvertFrom().
template <typename To>
void Convert(ElementType type, const std::byte* from, std::size_t step, std::size_t count, void* into,
    std::size_t toStep = sizeof(To))
{
  VisitType(type, [&](auto value) {
    ConvertFrom<decltype(value), To>(from, step, count, static_cast<std::byte*>(into), toStep);
  });
}

/// Converts numbers to the byte order of this machine. `isBigEndian`: byte order of `values`.
void ToHostOrder(bool isBigEndian, ElementType type, std::vector<std::byte>& values)
{
  if (isBigEndian == HostIsLittleEndian()) {
    SwapByteOrder(values.data(), values.size() / SizeOf(type), SizeOf(type));
  }
}

}  // namespace

/// Returns the number of values of `info`. Throws Error if `expectedCount` is not negative and differs from
/// this number, or if the number is too large. Call CheckedCount() before memory is allocated.
std::uint64_t File::CheckedCount(
    const std::string& dataset, const Dataset& info, std::int64_t expectedCount) const
{
  const std::int64_t largest = expectedCount >= 0 ? expectedCount : LargestCount;
  const bool isExpected = expectedCount < 0 || info.Values == static_cast<std::uint64_t>(expectedCount);
  if (info.Values > static_cast<std::uint64_t>(largest) || !isExpected) {
    throw FileError(this->PathName,
        expectedCount >= 0 ? fmt::format("{} values in '{}'", expectedCount, dataset)
                           : fmt::format("at most {} values in '{}'", LargestCount, dataset),
        fmt::format("{}", info.Values), "The file is damaged or inconsistent");
  }
  return info.Values;
}

/// Throws Error unless the values with the indices `first` to `first` + `count` - 1 exist and take no more
/// memory than the size of the file justifies.
void File::CheckRange(
    const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const
{
  // Values that were never written take memory without bytes in the file. A deflated byte becomes at
  // most about 1000 bytes.
  constexpr std::uint64_t always = 16 << 20, expansion = 1024;
  const std::uint64_t most = always + expansion * this->Bytes, each = info.ElementBytes;
  if (count > most / each) {
    throw FileError(this->PathName, fmt::format("at most {} bytes in '{}'", most, dataset),
        fmt::format("{} values of {} bytes", count, each), "The file is damaged");
  }
  if (first > info.Values || count > info.Values - first) {
    throw FileError(this->PathName, fmt::format("{} values from index {} on in '{}'", count, first, dataset),
        fmt::format("{} values in total", info.Values), DamagedOrForeign);
  }
}

/// Returns the bytes of the elements with the indices `first` to `first` + `count` - 1. Numbers in chunks
/// have the byte order of this machine; other elements are returned as stored.
std::vector<std::byte> File::ReadElements(
    const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const
{
  CheckReadable(info, dataset, this->PathName);
  this->CheckRange(dataset, info, first, count);
  std::vector<std::byte> values(count * info.ElementBytes);
  if (values.empty()) {
    return values;
  }
  if (info.Layout == StorageLayout::Contiguous) {
    this->CallWithNames(dataset, [&] {
      this->Reader->ReadStored(info.Offset + first * info.ElementBytes, values.data(), values.size());
    });
    return values;
  }
  FoundDataset found{info, {}, {}};
  if (info.Layout != StorageLayout::Chunked || !this->ListChunks(dataset, found)) {
    throw UnsupportedError(this->PathName, found.Info.Reason, dataset);
  }
  this->ReadChunks(dataset, found, first, count, values.data());
  return values;
}

/// Reads the elements with the indices `first` to `first` + `count` - 1 of a chunked data set into `into`.
void File::ReadChunks(const std::string& dataset, const FoundDataset& found, std::uint64_t first,
    std::uint64_t count, std::byte* into) const
{
  // An element that is not a number is treated as a row of bytes.
  const Dataset& info = found.Info;
  const std::optional<ElementType> type = ElementTypeOf(info);
  ChunkedArray array = MakeChunkedArray(info, type.value_or(ElementType::UInt8), 0);
  const std::uint64_t parts = type ? 1 : info.ElementBytes;
  array.First = first * parts;
  array.Count = count * parts;
  if (!type && info.Rank == ChunkedArray::MaximumRank) {
    throw UnsupportedError(this->PathName,
        fmt::format("{} with more than {} axes", TypeText(info), ChunkedArray::MaximumRank - 1), dataset);
  }
  if (!type) {
    array.Dims[array.Rank] = array.ChunkDims[array.Rank] = parts;
    ++array.Rank;
  }
  this->CallWithNames(dataset, [&] { CheckChunkedArray(array); });
  ArrayShape shape;
  shape.Interior = {static_cast<std::int64_t>(array.Count), 1, 1};
  const ArrayMapping mapping(shape);
  const std::uint64_t chunkBytes = PlainChunkBytes(info);
  ChunkDecoder decoder;
  std::vector<std::byte> stored;
  const ChunkRange range = ChunksHolding(array);
  const auto decode = [&](const Chunk& chunk) {
    try {
      const std::byte* const values = chunk.Bytes == 0
                                          ? nullptr
                                          : decoder.Decode(info.Filters, chunk.SkippedFilters,
                                                info.ElementBytes, stored.data(), stored.size(), chunkBytes);
      PlaceChunk(mapping, array, chunk, values, 0, into);
    } catch (const Error& error) {
      throw FileError(this->PathName, fmt::format("readable values in '{}'", dataset), error.what(),
          "The file is damaged or still being written");
    }
  };
  try {
    for (std::uint64_t c = range.Begin; c < range.End; ++c) {
      const Chunk& chunk = found.Chunks[c];
      if (chunk.Bytes > 0) {
        stored.resize(chunk.Bytes);
        this->CallWithNames(
            dataset, [&] { this->Reader->ReadStored(chunk.Offset, stored.data(), stored.size()); });
      }
      decode(chunk);
    }
  } catch (const std::bad_alloc&) {
    throw FileError(this->PathName, fmt::format("memory for a chunk of '{}'", dataset), "too little",
        "Use a machine with more memory");
  }
}

/// Reads the values with the indices `first` to `first` + `count` - 1, converted to T. `info`: description of
/// the data set.
template <typename T>
std::vector<T> File::ReadValues(
    const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const
{
  if (info.Layout == StorageLayout::Virtual) {
    return this->ReadVirtual<T>(dataset, info, first, count);
  }
  CheckReadable(info, dataset, this->PathName);
  if (info.Class != TypeClass::Integer && info.Class != TypeClass::Float) {
    throw FileError(
        this->PathName, fmt::format("numbers in '{}'", dataset), TypeText(info), DamagedOrForeign);
  }
  std::vector<T> result;
  if (info.Layout == StorageLayout::Library) {
    constexpr ElementType requested = std::is_same_v<T, double> ? ElementType::Float64
                                      : sizeof(T) == 8          ? ElementType::Int64
                                                                : ElementType::Int32;
    if (!this->Library) {
      this->Library = std::make_unique<LibraryFile>(this->PathName);
    }
    this->CheckRange(dataset, info, first, count);
    result.resize(count);
    if (count > 0) {
      this->Library->Read("/" + WithoutLeadingSlashes(dataset), first, count, requested, result.data());
    }
    return result;
  }
  const ElementType type = *ElementTypeOf(info);  // plain numbers have an ElementType
  std::vector<std::byte> stored = this->ReadElements(dataset, info, first, count);
  if (info.Layout == StorageLayout::Contiguous) {
    ToHostOrder(info.BigEndian, type, stored);
  }
  result.resize(count);
  Convert<T>(type, stored.data(), SizeOf(type), count, result.data());
  return result;
}

/// Reads the values with the indices `first` to `first` + `count` - 1 of a virtual data set.
template <typename T>
std::vector<T> File::ReadVirtual(
    const std::string& dataset, const Dataset& info, std::uint64_t first, std::uint64_t count) const
{
  this->CheckRange(dataset, info, first, count);
  std::vector<T> values;
  for (const MappedRun& part : this->SourcesOf(dataset, info).Runs) {
    const std::uint64_t begin = std::max(first, part.First);
    const std::uint64_t end = std::min(first + count, part.First + part.Count);
    if (begin < end && part.Path.empty()) {
      T fill{};
      const auto* const stored = reinterpret_cast<const std::byte*>(&info.Fill);
      Convert<T>(ElementTypeOf(info).value_or(ElementType::UInt8), stored, 0, 1, &fill);
      values.insert(values.end(), end - begin, fill);
    } else if (begin < end) {
      const std::vector<T> some =
          this->SourceFile(part.Path, dataset)
              .Range<T>(part.Dataset, part.SourceFirst + (begin - part.First), end - begin);
      values.insert(values.end(), some.begin(), some.end());
    }
  }
  return values;
}

template <typename T>
std::vector<T> File::Range(const std::string& dataset, std::uint64_t first, std::uint64_t count) const
{
  return this->ReadValues<T>(dataset, this->Describe(dataset), first, count);
}

template std::vector<double> File::Range(const std::string&, std::uint64_t, std::uint64_t) const;
template std::vector<int> File::Range(const std::string&, std::uint64_t, std::uint64_t) const;
template std::vector<std::int64_t> File::Range(const std::string&, std::uint64_t, std::uint64_t) const;

std::vector<double> File::Doubles(const std::string& dataset, std::int64_t expectedCount) const
{
  const Dataset info = this->Describe(dataset);
  return this->ReadValues<double>(dataset, info, 0, this->CheckedCount(dataset, info, expectedCount));
}

std::vector<int> File::Ints(const std::string& dataset, std::int64_t expectedCount) const
{
  const Dataset info = this->Describe(dataset);
  return this->ReadValues<int>(dataset, info, 0, this->CheckedCount(dataset, info, expectedCount));
}

std::vector<std::string> File::Strings(const std::string& dataset, std::int64_t expectedCount) const
{
  constexpr std::size_t widest = 4096;
  const Dataset info = this->Describe(dataset);
  const std::uint64_t count = this->CheckedCount(dataset, info, expectedCount);
  const std::size_t width = info.ElementBytes;
  if (info.Class != TypeClass::Text || width > widest) {
    throw FileError(this->PathName,
        fmt::format("strings of fixed length in '{}', at most {} bytes each", dataset, widest),
        "another type or longer strings", DamagedOrForeign);
  }
  const std::vector<std::byte> text = this->ReadElements(dataset, info, 0, count);
  std::vector<std::string> result;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto* const begin = reinterpret_cast<const char*>(text.data()) + i * width;
    result.emplace_back(begin, strnlen(begin, width));
  }
  return result;
}

namespace {

/// Converts one member of `count` records. `number`: stored type of the member's numbers; `member`: the
/// requested member; `storedStep`: size of a stored record in bytes; `stored`: the stored records, whose byte
/// order changes; `offset`: offset of the member in a stored record; `records`: the result, records of
/// `recordBytes` bytes.
void ConvertMember(const Datatype& number, const RecordMember& member, std::size_t storedStep,
    std::size_t count, std::vector<std::byte>& stored, std::size_t offset, std::size_t recordBytes,
    std::byte* records)
{
  const ElementType type = *ElementTypeOf(number);
  const std::size_t resultNumberBytes = SizeOf(member.Type);
  for (int part = 0; part < member.Count; ++part) {
    std::byte* const from = stored.data() + offset + static_cast<std::size_t>(part) * number.Bytes;
    std::byte* const to = records + member.Offset + static_cast<std::size_t>(part) * resultNumberBytes;
    if (number.BigEndian == HostIsLittleEndian()) {
      for (std::size_t i = 0; i < count; ++i) {
        std::reverse(from + i * storedStep, from + i * storedStep + number.Bytes);
      }
    }
    switch (member.Type) {
      case ElementType::Int8:
        Convert<std::int8_t>(type, from, storedStep, count, to, recordBytes);
        break;
      case ElementType::Float64:
        Convert<double>(type, from, storedStep, count, to, recordBytes);
        break;
      default:
        Convert<std::int32_t>(type, from, storedStep, count, to, recordBytes);
    }
  }
}

}  // namespace

void File::Records(const std::string& dataset, std::uint64_t expectedCount,
    const std::vector<RecordMember>& members, std::size_t recordBytes, void* records) const
{
  const Dataset info = this->Describe(dataset);
  const std::uint64_t count = this->CheckedCount(dataset, info, static_cast<std::int64_t>(expectedCount));
  if (info.Class != TypeClass::Compound) {
    throw FileError(
        this->PathName, fmt::format("records in '{}'", dataset), "plain values", DamagedOrForeign);
  }
  const Datatype type =
      this->CallWithNames(dataset, [&] { return this->Reader->DatatypeOf(this->AddressOf(dataset)); });
  std::vector<std::byte> stored = this->ReadElements(dataset, info, 0, count);
  for (const RecordMember& requested : members) {
    const auto member = std::find_if(type.Members.begin(), type.Members.end(),
        [&](const TypeMember& other) { return other.Name == requested.Name; });
    if (member == type.Members.end()) {
      throw FileError(this->PathName, fmt::format("a member '{}' in '{}'", requested.Name, dataset), "none",
          DamagedOrForeign);
    }
    const bool isArray = member->Type.Class == TypeClass::Array;
    const Datatype& number = isArray ? member->Type.Members[0].Type : member->Type;
    if (!ElementTypeOf(number) || !number.IsPlain ||
        member->Type.Bytes != number.Bytes * static_cast<std::uint32_t>(requested.Count)) {
      throw FileError(this->PathName,
          fmt::format("{} numbers as the member '{}' of '{}'", requested.Count, requested.Name, dataset),
          "another type", DamagedOrForeign);
    }
    if (count > 0) {
      ConvertMember(number, requested, info.ElementBytes, count, stored, member->Offset, recordBytes,
          static_cast<std::byte*>(records));
    }
  }
}

std::string File::Text(const std::string& object, const std::string& attribute) const
{
  constexpr std::size_t longest = 4096;
  return this->CallWithNames(object, [&]() -> std::string {
    const auto address = this->Lookup(object);
    const auto found = address ? this->Reader->FindAttribute(*address, attribute) : std::nullopt;
    if (!found || found->Values != 1) {
      return {};
    }
    std::string text;
    if (found->Type.Class == TypeClass::VariableLength && found->Type.IsText && found->Bytes.size() >= 16) {
      text = this->Reader->TextOf(found->Bytes.data(), longest);
    } else if (found->Type.Class == TypeClass::Text && found->Bytes.size() <= longest) {
      text.assign(reinterpret_cast<const char*>(found->Bytes.data()), found->Bytes.size());
    }
    text.resize(strnlen(text.data(), text.size()));  // some programs store a 0 at the end of a text
    return text;
  });
}

std::vector<double> File::Numbers(const std::string& object, const std::string& attribute) const
{
  constexpr std::uint64_t most = 4096;
  return this->CallWithNames(object, [&]() -> std::vector<double> {
    const auto address = this->Lookup(object);
    auto found = address ? this->Reader->FindAttribute(*address, attribute) : std::nullopt;
    if (!found || found->Values > most || !found->Type.IsPlain) {
      return {};
    }
    const std::optional<ElementType> type = ElementTypeOf(found->Type);
    if (!type) {
      return {};
    }
    ToHostOrder(found->Type.BigEndian, *type, found->Bytes);
    std::vector<double> values(found->Values);
    Convert<double>(*type, found->Bytes.data(), SizeOf(*type), values.size(), values.data());
    return values;
  });
}

}  // namespace patchio::hdf5
