// The bytes of a shard of the index: arrays of plain values, one after another, that are used where they lie.
#pragma once

#include "Base/Error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace patchio {

/// Throws errors that begin with "The index has".
constexpr Requirement RequireOfIndex("The index file");

/// Bytes of a shard; they must stay alive.
struct ShardView
{
  const std::byte* Data = nullptr;
  std::size_t Size = 0;
};

/// Appends values; each array begins at a multiple of 8 bytes.
class ShardWriter
{
public:
  template <typename T>
  void Put(const T* values, std::size_t count)
  {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* begin = reinterpret_cast<const std::byte*>(values);
    this->Bytes.insert(this->Bytes.end(), begin, begin + count * sizeof(T));
    this->Bytes.resize((this->Bytes.size() + 7) / 8 * 8);
  }
  std::vector<std::byte> Take() { return std::move(this->Bytes); }
  void Reserve(std::size_t bytes) { this->Bytes.reserve(bytes); }

private:
  std::vector<std::byte> Bytes;
};

/// Takes the arrays of a shard where they lie. Throws Error when its bytes end too early.
class ShardReader
{
public:
  explicit ShardReader(const ShardView& view) : View(view) {}

  template <typename T>
  const T* Take(std::uint64_t count)
  {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    const std::size_t left = this->View.Size - this->Position;
    RequireOfIndex(count <= left / sizeof(T), "a part that ends too early");
    const std::byte* begin = this->View.Data + this->Position;
    this->Position = std::min(this->View.Size, (this->Position + count * sizeof(T) + 7) / 8 * 8);
    return reinterpret_cast<const T*>(begin);
  }

private:
  ShardView View;
  std::size_t Position = 0;
};

}  // namespace patchio
