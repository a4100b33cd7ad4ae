#include "Hdf5/LibraryRead.h"

namespace patchio {

void LibraryReader::Read(const LocationTable& table, const Location& location, const ReadTarget& target)
{
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const LibraryArray& array = table.LibraryArrays[location.First + c];
    const std::string& path = table.Files[array.File];
    if (!this->Current || this->Current->Path() != path) {
      this->Current = std::make_unique<hdf5::LibraryFile>(path);
    }
    const std::size_t elementBytes = SizeOf(array.Type);
    std::vector<std::byte> values(array.Count * elementBytes);
    this->Current->Read(array.Dataset, array.First, array.Count, array.Type, values.data());
    target.ForEach([&](const Destination& destination) {
      PlaceRun(destination.Place, values.data(), 0, static_cast<std::int64_t>(array.Count), elementBytes,
          false, (*target.Slots)[c], destination.Data);
    });
  }
  FinishTask(target);
}

}  // namespace patchio
