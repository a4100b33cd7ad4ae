#include "Base/Bytes.h"

namespace patchio {

std::string JoinTexts(const std::vector<std::string>& texts)
{
  ByteWriter out;
  out.Append(texts);
  const std::vector<std::byte> bytes = out.Release();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> SplitTexts(const std::string& joined)
{
  std::vector<std::string> texts;
  if (!joined.empty()) {  // a rank without texts sends an empty string
    ByteReader(joined).Get(texts);
  }
  return texts;
}

}  // namespace patchio

// XXH3 is compiled in from its header, so that PatchIO does not need xxHash's shared library at run time.
#define XXH_INLINE_ALL
#include <libdeflate.h>
#include <xxhash.h>

#include <array>

namespace patchio {

namespace {

/// Returns the product of two polynomials over GF(2) modulo the polynomial of CRC-32. The lowest power is in
/// the highest bit.
std::uint32_t MultiplyModulo(std::uint32_t a, std::uint32_t b)
{
  constexpr std::uint32_t polynomial = 0xedb88320;
  std::uint32_t product = 0;
  for (std::uint32_t bit = std::uint32_t(1) << 31; bit != 0; bit >>= 1) {
    product ^= (a & bit) != 0 ? b : 0;
    b = (b & 1) != 0 ? (b >> 1) ^ polynomial : b >> 1;
  }
  return product;
}

/// Returns an array whose entry i is x^(2^i) modulo the polynomial of CRC-32.
std::array<std::uint32_t, 32> PowersOfX()
{
  std::array<std::uint32_t, 32> powers{};
  powers[0] = std::uint32_t(1) << 30;
  for (std::size_t i = 1; i < powers.size(); ++i) {
    powers[i] = MultiplyModulo(powers[i - 1], powers[i - 1]);
  }
  return powers;
}

}  // namespace

std::uint64_t Checksum(const void* data, std::size_t bytes)
{
  return XXH3_64bits(data, bytes);
}

std::uint32_t Crc32(std::uint32_t crc, const void* data, std::size_t bytes)
{
  return libdeflate_crc32(crc, data, bytes);
}

/// Multiplies `crc` by x^(8 * bytesAfter) modulo the CRC polynomial, as zlib's crc32_combine() does.
std::uint32_t Crc32Contribution(std::uint32_t crc, std::uint64_t bytesAfter)
{
  if (bytesAfter == 0) {
    return crc;
  }
  static const std::array<std::uint32_t, 32> powers = PowersOfX();
  std::uint32_t shift = std::uint32_t(1) << 31;
  for (std::size_t power = 3; bytesAfter > 0; bytesAfter >>= 1, ++power) {
    if ((bytesAfter & 1) != 0) {
      shift = MultiplyModulo(powers[power % powers.size()], shift);
    }
  }
  return MultiplyModulo(shift, crc);
}

}  // namespace patchio
