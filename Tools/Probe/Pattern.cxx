#include "Probe/Pattern.h"

#include <cstring>

namespace patchio::probe {
namespace {

/// The number that, multiplied with odd `factor`, gives 1 modulo 2^64. Each round doubles the right bits.
constexpr std::uint64_t Inverse(std::uint64_t factor)
{
  std::uint64_t inverse = factor;
  for (int round = 0; round < 6; ++round) {
    inverse *= 2 - factor * inverse;
  }
  return inverse;
}

}  // namespace

std::byte Pattern::Byte(std::uint64_t offset) const
{
  const std::uint64_t word = this->Word(offset / 8);
  std::byte bytes[8];
  std::memcpy(bytes, &word, 8);
  return bytes[offset % 8];
}

void Pattern::Fill(std::uint64_t offset, std::byte* bytes, std::size_t count) const
{
  std::size_t done = 0;
  for (; done < count && (offset + done) % 8 != 0; ++done) {
    bytes[done] = this->Byte(offset + done);
  }
  for (; done + 8 <= count; done += 8) {
    const std::uint64_t word = this->Word((offset + done) / 8);
    std::memcpy(bytes + done, &word, 8);
  }
  for (; done < count; ++done) {
    bytes[done] = this->Byte(offset + done);
  }
}

std::optional<std::size_t> Pattern::FindWrong(
    std::uint64_t offset, const std::byte* bytes, std::size_t count) const
{
  for (std::size_t done = 0; done < count;) {
    if ((offset + done) % 8 == 0 && done + 8 <= count) {
      const std::uint64_t word = this->Word((offset + done) / 8);
      if (std::memcmp(bytes + done, &word, 8) == 0) {
        done += 8;
        continue;
      }
    }
    if (bytes[done] != this->Byte(offset + done)) {
      return done;
    }
    ++done;
  }
  return std::nullopt;
}

std::uint64_t Pattern::OffsetOf(const std::byte* bytes) const
{
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, 8);
  return 8 * ((word * Inverse(Factor)) ^ this->Seed);
}

}  // namespace patchio::probe
