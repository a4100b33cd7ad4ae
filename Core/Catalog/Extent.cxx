#include "Catalog/Extent.h"

#include <cstddef>

namespace patchio {
namespace {

/// Copies `count` entries from `first` on, and gives where they lie now.
template <typename Entry>
std::uint32_t Copy(
    const std::vector<Entry>& from, std::size_t first, std::size_t count, std::vector<Entry>& to)
{
  const std::size_t place = to.size();
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint32_t>(place);
}

/// The same for entries that lie in files.
template <typename Entry>
std::uint32_t CopyRenumbered(const std::vector<Entry>& from, const Location& location, std::vector<Entry>& to,
    const std::vector<std::uint32_t>& files)
{
  const std::uint32_t place = Copy(from, location.First, location.Count, to);
  for (std::size_t i = place; i < to.size() && !files.empty(); ++i) {
    to[i].File = static_cast<int>(files[to[i].File]);
  }
  return place;
}

}  // namespace

Location AppendLocation(const LocationTable& from, const Location& location, LocationTable& to,
    const std::vector<std::uint32_t>& files)
{
  Location copy = location;
  if (location.Kind == Encoding::Raw || location.Kind == Encoding::SparseMaterials) {
    copy.First = CopyRenumbered(from.Extents, location, to.Extents, files);
  } else if (location.Kind == Encoding::Library) {
    copy.First = CopyRenumbered(from.LibraryArrays, location, to.LibraryArrays, files);
  } else if (location.Kind == Encoding::Chunked) {
    copy.First = CopyRenumbered(from.ChunkedArrays, location, to.ChunkedArrays, files);
    for (std::size_t i = copy.First; i < to.ChunkedArrays.size(); ++i) {
      ChunkedArray& array = to.ChunkedArrays[i];
      const std::size_t first = array.FirstChunk;
      array.FirstChunk = to.Chunks.size();
      Copy(from.Chunks, first, array.ChunkCount, to.Chunks);
    }
  }
  return copy;
}

}  // namespace patchio
