#include "Support/Hdf5Superblock.h"

#include "Support/Hdf5Messages.h"
#include "Support/Hdf5Signature.h"
#include "Support/PlainFile.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace patchio::hdf5 {
namespace {

/// A superblock as far as the address of the end of the file, in each version.
using Head = std::array<std::byte, 56>;

/// Superblocks lie at 0, or behind a user block at 512, 1024, 2048 ...
std::optional<std::uint64_t> FindSuperblock(const PlainFile& file, std::uint64_t bytes)
{
  for (std::uint64_t place = 0; place < bytes; place = place == 0 ? 512 : 2 * place) {
    char begin[Hdf5Signature.size()] = {};
    if (file.ReadSome(place, begin, sizeof begin) == sizeof begin &&
        std::string_view(begin, sizeof begin) == Hdf5Signature) {
      return place;
    }
  }
  return std::nullopt;
}

/// Bytes of the whole file as the superblock at `place` says; none where it does not say.
std::optional<std::uint64_t> BytesToldBy(const Head& head, std::uint64_t place)
{
  Cursor cursor(head.data(), head.size());
  cursor.Skip(Hdf5Signature.size());
  const unsigned version = cursor.Take<std::uint8_t>();
  cursor.Skip(version < 2 ? 4 : 0);
  const unsigned offsetBytes = cursor.Take<std::uint8_t>();
  if (version > 3 || offsetBytes != 8) {
    return std::nullopt;
  }
  cursor.Skip(version == 0 ? 10 : version == 1 ? 14 : 2);
  const auto base = cursor.Take<std::uint64_t>();
  cursor.Skip(8);
  const auto end = cursor.Take<std::uint64_t>();
  // The end counts from the beginning of the file. A user block that was put before the file later moves it.
  const bool known = end != NoAddress && base <= place && end <= NoAddress - place;
  return known ? std::optional(end + (place - base)) : std::nullopt;
}

/// Empty for files that are complete.
std::string TruncationOf(const std::string& path)
{
  const PlainFile file(path);
  const std::uint64_t bytes = file.Size();
  const std::optional<std::uint64_t> place = FindSuperblock(file, bytes);
  Head head{};
  if (!place) {
    return {};
  }
  if (file.ReadSome(*place, head.data(), head.size()) < head.size()) {
    return fmt::format("truncated: {} bytes, less than the header of an HDF5 file", bytes);
  }
  const std::optional<std::uint64_t> told = BytesToldBy(head, *place);
  return told && *told > bytes ? fmt::format("truncated: {} of {} bytes", bytes, *told) : std::string();
}

}  // namespace

void CheckComplete(const std::string& path)
{
  const std::string truncation = TruncationOf(path);
  if (!truncation.empty()) {
    throw FileError(
        path, "a complete HDF5 file", "the file " + truncation, "Copy it again, or wait until it is written");
  }
}

}  // namespace patchio::hdf5
