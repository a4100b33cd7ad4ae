#include "Formats/AMReX/AmrexText.h"

#include "Support/Error.h"
#include "Support/RegularFile.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace patchio::amrex {
namespace {

constexpr std::size_t BlockBytes = 1 << 20;  ///< also the longest line
constexpr std::size_t TailBytes = 4096;
constexpr const char* Advice = "The file is damaged, still being written, or not a plotfile's";

bool IsBlank(char letter)
{
  return letter == ' ' || letter == '\t' || letter == '\r';
}

template <typename Number>
bool TakeNumber(std::string_view& rest, Number& number)
{
  const char* const begin = rest.data() + (!rest.empty() && rest[0] == '+' ? 1 : 0);
  const auto [end, fault] = std::from_chars(begin, rest.data() + rest.size(), number);
  if (fault != std::errc()) {
    return false;
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return true;
}

}  // namespace

void Words::SkipBlanks()
{
  while (!this->Rest.empty() && IsBlank(this->Rest[0])) {
    this->Rest.remove_prefix(1);
  }
}

bool Words::Take(std::string_view sign)
{
  this->SkipBlanks();
  if (this->Rest.substr(0, sign.size()) != sign) {
    return false;
  }
  this->Rest.remove_prefix(sign.size());
  return true;
}

bool Words::Take(std::int64_t& number)
{
  this->SkipBlanks();
  return TakeNumber(this->Rest, number);
}

bool Words::Take(int& number)
{
  this->SkipBlanks();
  return TakeNumber(this->Rest, number);
}

bool Words::Take(double& number)
{
  this->SkipBlanks();
  return TakeNumber(this->Rest, number) && std::isfinite(number);
}

bool Words::Take(Int3& tuple, int dimension)
{
  tuple = {0, 0, 0};
  bool good = this->Take("(");
  for (int axis = 0; good && axis < dimension; ++axis) {
    good = (axis == 0 || this->Take(",")) && this->Take(tuple[axis]);
  }
  return good && this->Take(")");
}

bool Words::Take(TypedBox& box, int dimension)
{
  return this->Take("(") && this->Take(box.Indices.Lower, dimension) &&
         this->Take(box.Indices.Upper, dimension) && this->Take(box.NodeCentred, dimension) &&
         this->Take(")");
}

bool Words::TakeWord(std::string_view& word)
{
  this->SkipBlanks();
  std::size_t length = 0;
  while (length < this->Rest.size() && !IsBlank(this->Rest[length])) {
    ++length;
  }
  word = this->Rest.substr(0, length);
  this->Rest.remove_prefix(length);
  return length > 0;
}

bool Words::Done()
{
  this->SkipBlanks();
  return this->Rest.empty();
}

TextLines::TextLines(const std::string& path) : Name(path)
{
  this->Descriptor = OpenRegularFile(path);
  struct stat state = {};
  if (this->Descriptor < 0 || ::fstat(this->Descriptor, &state) != 0) {
    throw FileError(path, "a readable file", SystemMessage(errno),
        "Check whether all of the plotfile was copied, and its permissions");
  }
  this->Size = static_cast<std::uint64_t>(state.st_size);
}

TextLines::~TextLines()
{
  if (this->Descriptor >= 0) {
    ::close(this->Descriptor);
  }
}

/// As many bytes as there are, and at most `bytes`.
std::size_t TextLines::ReadAt(std::uint64_t offset, char* into, std::size_t bytes) const
{
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count =
        ::pread(this->Descriptor, into + done, bytes - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      throw FileError(this->Name, "readable bytes", SystemMessage(errno), "Check the storage");
    }
    if (count == 0) {
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  return done;
}

/// Gets another block behind what is still to be given. False at the end of the file.
bool TextLines::Fill()
{
  const std::size_t left = this->End - this->Begin;
  if (left > BlockBytes) {
    throw FileError(this->Name, fmt::format("lines of at most {} bytes", BlockBytes),
        fmt::format("a longer one, line {}", this->Number + 1), Advice);
  }
  std::memmove(this->Buffer.data(), this->Buffer.data() + this->Begin, left);
  this->Begin = 0;
  const std::uint64_t unread = this->Size > this->Offset ? this->Size - this->Offset : 0;
  const std::size_t wanted = static_cast<std::size_t>(std::min<std::uint64_t>(unread, BlockBytes));
  this->Buffer.resize(std::max(this->Buffer.size(), left + wanted));
  const std::size_t got = this->ReadAt(this->Offset, this->Buffer.data() + left, wanted);
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
      throw FileError(this->Name, fmt::format("{} in line {}", expected, this->Number + 1),
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
  Words words(this->Next(expected));
  std::int64_t number = 0;
  if (!words.Take(number) || !words.Done() || number < least || number > most) {
    this->Fail(most == std::numeric_limits<std::int64_t>::max()
                   ? fmt::format("{}, at least {}", expected, least)
                   : fmt::format("{}, {} to {}", expected, least, most));
  }
  return number;
}

void TextLines::Skip(std::int64_t lines, const char* expected)
{
  for (std::int64_t i = 0; i < lines; ++i) {
    this->Next(expected);
  }
}

std::string TextLines::LastLine() const
{
  const std::uint64_t bytes = std::min<std::uint64_t>(this->Size, TailBytes);
  std::string tail(static_cast<std::size_t>(bytes), '\0');
  tail.resize(this->ReadAt(this->Size - bytes, tail.data(), tail.size()));
  const std::size_t last = tail.find_last_not_of(" \t\r\n");
  tail.resize(last == std::string::npos ? 0 : last + 1);
  const std::size_t begin = tail.find_last_of('\n');
  return begin == std::string::npos ? tail : tail.substr(begin + 1);
}

void TextLines::Fail(const std::string& expected) const
{
  throw FileError(this->Name, fmt::format("{} in line {}", expected, this->Number),
      fmt::format("'{}'", PlainText(std::string(this->Line.substr(0, 80)))), Advice);
}

}  // namespace patchio::amrex
