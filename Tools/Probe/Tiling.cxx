#include "Probe/Tiling.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Probe/Pattern.h"

#include <fmt/format.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <set>

namespace patchio::probe {
namespace {

constexpr std::uint64_t Stretch = 4u << 20;  // bytes read at once

class Reading
{
public:
  explicit Reading(const std::string& path) : Path(path), File(OpenRegularFile(path))
  {
    if (this->File < 0) {
      throw SystemError(path, "the file that was written", errno);
    }
  }
  ~Reading() { ::close(this->File); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  void Get(std::uint64_t offset, std::byte* bytes, std::size_t count) const
  {
    for (std::size_t done = 0; done < count;) {
      const ssize_t now = ::pread(this->File, bytes + done, count - done, offset + done);
      if (now < 0 && errno != EINTR) {
        throw SystemError(this->Path, fmt::format("{} bytes at {}", count, offset), errno);
      }
      if (now == 0) {
        throw FileError(this->Path, fmt::format("{} bytes at {}", count, offset), "the end of the file");
      }
      done += std::max<ssize_t>(now, 0);
    }
  }

  /// `bytes` bytes at `offset` are the values at `name` of the pattern.
  void Check(const Pattern& values, std::uint64_t name, std::uint64_t offset, std::uint64_t bytes)
  {
    this->Buffer.resize(std::min(Stretch, bytes));
    for (std::uint64_t done = 0; done < bytes; done += this->Buffer.size()) {
      const std::size_t count = std::min<std::uint64_t>(this->Buffer.size(), bytes - done);
      this->Get(offset + done, this->Buffer.data(), count);
      if (const auto wrong = values.FindWrong(name + done, this->Buffer.data(), count)) {
        throw Error(fmt::format("wrote a wrong value at byte {} of the file", offset + done + *wrong));
      }
    }
  }

private:
  std::string Path;
  int File;
  std::vector<std::byte> Buffer;
};

}  // namespace

bool TilesFromZero(std::vector<Tile> tiles)
{
  std::sort(tiles.begin(), tiles.end(), [](const Tile& a, const Tile& b) { return a.Offset < b.Offset; });
  std::uint64_t end = 0;
  for (const Tile& tile : tiles) {
    if (tile.Offset != end) {
      return false;
    }
    end += tile.Bytes;
  }
  return true;
}

void CheckStretch(const std::string& path, std::uint64_t seed, std::uint64_t offset, std::uint64_t bytes)
{
  Reading(path).Check(Pattern(seed), offset, offset, bytes);
}

void CheckShuffled(const std::string& path, std::uint64_t seed, const BlockNames& names, std::uint64_t bytes)
{
  Reading file(path);
  const Pattern values(seed);
  std::set<std::uint64_t> seen;
  for (std::uint64_t offset = 0; offset < bytes;) {
    std::byte first[8];
    file.Get(offset, first, 8);
    const std::uint64_t name = values.OffsetOf(first);
    const std::uint64_t within = name % names.Part;
    if (name >= names.End || within % names.Block != 0) {
      throw Error(fmt::format("no written block begins at byte {} of the file", offset));
    }
    if (!seen.insert(name).second) {
      throw Error(fmt::format("wrote the block at byte {} of the file twice", offset));
    }
    const std::uint64_t length = std::min(names.Block, names.Part - within);
    file.Check(values, name, offset, length);
    offset += length;
  }
}

}  // namespace patchio::probe
