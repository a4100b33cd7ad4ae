// Bytes in memory: byte order, writing and bounds-checked reading of values, checksums.
#pragma once

#include "Base/Error.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

constexpr std::uint64_t KiB = 1 << 10;
constexpr std::uint64_t MiB = 1 << 20;

/// Returns `value`, rounded up to a multiple of `unit`.
constexpr std::uint64_t RoundUp(std::uint64_t value, std::uint64_t unit)
{
  return (value + unit - 1) / unit * unit;
}

/// Returns whether this machine is little-endian, so that big-endian data needs swapping.
constexpr bool HostIsLittleEndian()
{
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

/// Appends plain values, texts and arrays to a byte string. A text or an array begins with its length (64
/// bits).
class ByteWriter
{
public:
  template <typename T>
  void Append(const T& value)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    this->Bytes.insert(this->Bytes.end(), begin, begin + sizeof(T));
  }

  template <typename T>
  void Append(const std::vector<T>& values)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    this->Append<std::uint64_t>(values.size());
    const auto* begin = reinterpret_cast<const std::byte*>(values.data());
    this->Bytes.insert(this->Bytes.end(), begin, begin + values.size() * sizeof(T));
  }

  void Append(const std::string& text) { this->Append(std::vector<char>(text.begin(), text.end())); }

  void Append(const std::vector<std::string>& texts)
  {
    this->Append<std::uint64_t>(texts.size());
    for (const std::string& text : texts) {
      this->Append(text);
    }
  }

  /// Appends the values of a tuple one after another. One function that returns std::tie() of a record's
  /// members serves both for writing and for reading the record.
  template <typename... T>
  void Append(const std::tuple<T&...>& values)
  {
    std::apply([this](const auto&... value) { (this->Append(value), ...); }, values);
  }

  /// Moves the bytes out of the writer, which is empty afterwards.
  std::vector<std::byte> Release() { return std::move(this->Bytes); }

private:
  std::vector<std::byte> Bytes;
};

/// Reads the values that a ByteWriter wrote, in the same order. Throws Error if the bytes end too early.
class ByteReader
{
public:
  /// The bytes must outlive the reader.
  explicit ByteReader(const std::vector<std::byte>& bytes) : ByteReader(bytes.data(), bytes.size()) {}
  explicit ByteReader(std::string_view bytes)
      : ByteReader(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size())
  {
  }
  ByteReader(const std::byte* data, std::size_t size) : Data(data), Size(size) {}

  template <typename T>
  void Get(T& value)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, this->Advance(1, sizeof(T)), sizeof(T));
  }

  template <typename T>
  void Get(std::vector<T>& values)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto count = this->Get<std::uint64_t>();
    const std::byte* begin = this->Advance(count, sizeof(T));
    values.resize(count);
    if (count > 0) {
      std::memcpy(values.data(), begin, count * sizeof(T));
    }
  }

  /// Reads one byte; any value but 0 is true.
  void Get(bool& value) { value = this->Get<std::uint8_t>() != 0; }

  void Get(std::string& text)
  {
    std::vector<char> letters;
    this->Get(letters);
    text.assign(letters.begin(), letters.end());
  }

  void Get(std::vector<std::string>& texts)
  {
    const auto count = this->Get<std::uint64_t>();
    for (std::uint64_t i = 0; i < count; ++i) {  // a wrong count ends with an Error
      this->Get(texts.emplace_back());
    }
  }

  /// Reads the values of a tuple one after another.
  template <typename... T>
  void Get(const std::tuple<T&...>& values)
  {
    std::apply([this](auto&... value) { (this->Get(value), ...); }, values);
  }

  /// Returns the address and the length of an array of bytes that Append() wrote. The bytes are not copied.
  std::pair<const std::byte*, std::size_t> GetBytes()
  {
    const auto count = this->Get<std::uint64_t>();
    return {this->Advance(count, 1), static_cast<std::size_t>(count)};
  }

  template <typename T>
  T Get()
  {
    T value{};
    this->Get(value);
    return value;
  }

private:
  const std::byte* Advance(std::uint64_t count, std::size_t size)
  {
    if (count > (this->Size - this->Position) / size) {
      throw Error("A record is truncated.");
    }
    const std::byte* begin = this->Data + this->Position;
    this->Position += count * size;
    return begin;
  }

  const std::byte* Data;
  std::size_t Size;
  std::size_t Position = 0;
};

/// Packs texts into one string. The texts may contain any bytes, as names from files do.
std::string JoinTexts(const std::vector<std::string>& texts);
/// Unpacks the result of JoinTexts(). Returns an empty list for an empty string. Throws Error if `joined` is
/// truncated.
std::vector<std::string> SplitTexts(const std::string& joined);

/// Returns the 64-bit XXH3 of the bytes, with seed 0. The result is the same on all machines and in all
/// releases, so files may contain it.
std::uint64_t Checksum(const void* data, std::size_t bytes);

/// Extends `crc`, the CRC-32 (as in zlib and PNG) of the preceding bytes, by further bytes. Returns the new
/// CRC-32. The CRC-32 of no bytes is 0.
std::uint32_t Crc32(std::uint32_t crc, const void* data, std::size_t bytes);

/// Returns the contribution of one part of a byte string to the CRC-32 of the whole string. The CRC-32 of the
/// whole is the exclusive or of the contributions of all parts, in any order. `crc`: CRC-32 of the part
/// alone. `bytesAfter`: number of bytes that follow the part.
std::uint32_t Crc32Contribution(std::uint32_t crc, std::uint64_t bytesAfter);

}  // namespace patchio
