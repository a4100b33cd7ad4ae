// Values whose place in the file can be told from themselves, to check what functions read and write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace patchio::probe {

/// The content of a file: another one for each seed, and for each seed no 8 aligned bytes twice.
class Pattern
{
public:
  explicit Pattern(std::uint64_t seed) : Seed(seed) {}

  /// The bytes at `offset` .. `offset` + `bytes` of the file.
  void Fill(std::uint64_t offset, std::byte* bytes, std::size_t count) const;
  /// Where the first wrong byte is, counted from `bytes`; nothing where all are right.
  std::optional<std::size_t> FindWrong(std::uint64_t offset, const std::byte* bytes, std::size_t count) const;
  /// The offset in the file that these 8 bytes come from; any number when they are not of this pattern.
  std::uint64_t OffsetOf(const std::byte* bytes) const;

private:
  std::uint64_t Word(std::uint64_t index) const { return (index ^ this->Seed) * Factor; }
  std::byte Byte(std::uint64_t offset) const;

  static constexpr std::uint64_t Factor = 0x9e3779b97f4a7c15u;
  std::uint64_t Seed;
};

}  // namespace patchio::probe
