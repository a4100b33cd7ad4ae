#include "Formats/AMReX/AmrexText.h"

#include "Base/Error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace patchio::amrex {
namespace {

constexpr std::size_t BlockBytes = 1 << 20;  ///< also the longest line
constexpr std::size_t TailBytes = 4096;
constexpr const char* Advice = "The file is damaged, still being written, or not part of a plotfile";

}  // namespace

bool TakeTuple(TextScanner& scanner, Int3& tuple, int dimension)
{
  tuple = {0, 0, 0};
  bool good = scanner.Take("(");
  for (int axis = 0; good && axis < dimension; ++axis) {
    good = (axis == 0 || scanner.Take(",")) && scanner.Take(tuple[axis]);
  }
  return good && scanner.Take(")");
}

bool TakeBox(TextScanner& scanner, TypedBox& box, int dimension)
{
  constexpr int largest = 1 << 30;
  const auto fits = [](int index) { return index >= -largest && index <= largest; };
  const Int3& lower = box.Indices.Lower;
  const Int3& upper = box.Indices.Upper;
  return scanner.Take("(") && TakeTuple(scanner, box.Indices.Lower, dimension) &&
         TakeTuple(scanner, box.Indices.Upper, dimension) && TakeTuple(scanner, box.NodeCentred, dimension) &&
         scanner.Take(")") && !box.Indices.Empty() && std::all_of(lower.begin(), lower.end(), fits) &&
         std::all_of(upper.begin(), upper.end(), fits);
}

/// Appends a block of the file to the buffer. Returns false at the end of the file.
bool TextLines::Fill()
{
  const std::size_t left = this->End - this->Begin;
  if (left > BlockBytes) {
    throw FileError(this->Path(), fmt::format("lines of at most {} bytes", BlockBytes),
        fmt::format("more bytes in line {}", this->Number + 1), Advice);
  }
  this->Buffer.erase(this->Buffer.begin(), this->Buffer.begin() + static_cast<std::ptrdiff_t>(this->Begin));
  this->Begin = 0;
  const std::uint64_t unread = this->Size > this->Offset ? this->Size - this->Offset : 0;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(unread, BlockBytes));
  this->Buffer.resize(std::max(this->Buffer.size(), left + wanted));
  const std::size_t got = this->File.ReadSome(this->Offset, this->Buffer.data() + left, wanted);
  this->Offset += got;
  this->End = left + got;
  return got > 0;
}

std::string_view TextLines::Next(const char* expected)
{
  std::size_t searched = 0;
  for (;;) {
    const std::size_t left = this->End - this->Begin;
    const char* const begin = this->Buffer.data() + this->Begin;
    const void* const found =
        left > searched ? std::memchr(begin + searched, '\n', left - searched) : nullptr;
    searched = left;
    if (!found && this->Fill()) {
      continue;
    }
    if (!found && left == 0) {
      throw FileError(this->Path(), fmt::format("{} in line {}", expected, this->Number + 1),
          "the end of the file", Advice);
    }
    const char* const start = this->Buffer.data() + this->Begin;  // Fill() may have moved it
    const std::size_t length =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : left;
    this->Begin += length + (found ? 1 : 0);
    ++this->Number;
    this->Line = std::string_view(start, length);
    return this->Line;
  }
}

std::int64_t TextLines::NextNumber(const char* expected, std::int64_t least, std::int64_t most)
{
  TextScanner words(this->Next(expected));
  std::int64_t number = 0;
  if (!words.Take(number) || !words.Done() || number < least || number > most) {
    this->Fail(most == std::numeric_limits<std::int64_t>::max()
                   ? fmt::format("{}, at least {}", expected, least)
                   : fmt::format("{}, {} to {}", expected, least, most));
  }
  return number;
}

std::string TextLines::LastLine() const
{
  const std::uint64_t bytes = std::min<std::uint64_t>(this->Size, TailBytes);
  std::string tail(static_cast<std::size_t>(bytes), '\0');
  tail.resize(this->File.ReadSome(this->Size - bytes, tail.data(), tail.size()));
  const std::size_t last = tail.find_last_not_of(" \t\r\n");
  tail.resize(last == std::string::npos ? 0 : last + 1);
  const std::size_t begin = tail.find_last_of('\n');
  return begin == std::string::npos ? tail : tail.substr(begin + 1);
}

void TextLines::Fail(const std::string& expected) const
{
  throw FileError(this->Path(), fmt::format("{} in line {}", expected, this->Number),
      fmt::format("'{}'", PlainText(std::string(this->Line.substr(0, 80)))), Advice);
}

}  // namespace patchio::amrex
