// Flat byte strings of plain values: what travels between ranks and lies in sidecars.
#pragma once

#include "Support/Error.h"

#include <cstdint>
#include <cstring>
#include <string>
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

  void Get(std::string& text)
  {
    std::vector<char> letters;
    this->Get(letters);
    text.assign(letters.begin(), letters.end());
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
      throw Error("The serialized catalog ends too early.");
    }
    const std::byte* begin = this->Data + this->Position;
    this->Position += count * size;
    return begin;
  }

  const std::byte* Data;
  std::size_t Size;
  std::size_t Position = 0;
};

}  // namespace patchio
