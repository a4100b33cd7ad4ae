// Flat byte strings of plain values: what travels between ranks and lies in sidecars.
#pragma once

#include "Base/Error.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// Appends plain values, texts and arrays to a byte string.
class ByteWriter
{
public:
  template <typename T>
  void Put(const T& value)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    this->Bytes.insert(this->Bytes.end(), begin, begin + sizeof(T));
  }

  template <typename T>
  void Put(const std::vector<T>& values)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    this->Put<std::uint64_t>(values.size());
    const auto* begin = reinterpret_cast<const std::byte*>(values.data());
    this->Bytes.insert(this->Bytes.end(), begin, begin + values.size() * sizeof(T));
  }

  void Put(const std::string& text) { this->Put(std::vector<char>(text.begin(), text.end())); }

  void Put(const std::vector<std::string>& texts)
  {
    this->Put<std::uint64_t>(texts.size());
    for (const std::string& text : texts) {
      this->Put(text);
    }
  }

  /// Values one after another. A record whose members a function gives as std::tie() of them is written and
  /// read by one list.
  template <typename... T>
  void Put(const std::tuple<T&...>& values)
  {
    std::apply([this](const auto&... value) { (this->Put(value), ...); }, values);
  }

  std::vector<std::byte> Take() { return std::move(this->Bytes); }

private:
  std::vector<std::byte> Bytes;
};

/// Takes the same values back in the same order. Throws Error when the bytes end too early.
class ByteReader
{
public:
  /// The bytes must outlive the reader.
  explicit ByteReader(const std::vector<std::byte>& bytes) : ByteReader(bytes.data(), bytes.size()) {}
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

  /// True for any byte but 0.
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
    for (std::uint64_t i = 0; i < count; ++i) {  // ends with the bytes, whatever the count
      this->Get(texts.emplace_back());
    }
  }

  /// Values one after another.
  template <typename... T>
  void Get(const std::tuple<T&...>& values)
  {
    std::apply([this](auto&... value) { (this->Get(value), ...); }, values);
  }

  /// An array of bytes that was Put(), where it lies.
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

/// Texts as one; they may hold anything, as names from files do.
std::string JoinTexts(const std::vector<std::string>& texts);
/// The same texts again; none in an empty text. Throws Error for another text.
std::vector<std::string> SplitTexts(const std::string& joined);

}  // namespace patchio
