#include "Io/LibraryRead.h"

namespace patchio {

hid_t NativeType(ElementType type)
{
  switch (type) {
    case ElementType::Int32:
      return H5T_NATIVE_INT32;
    case ElementType::Int64:
      return H5T_NATIVE_INT64;
    case ElementType::UInt8:
      return H5T_NATIVE_UINT8;
    case ElementType::Int16:
      return H5T_NATIVE_INT16;
    case ElementType::UInt16:
      return H5T_NATIVE_UINT16;
    case ElementType::Int8:
      return H5T_NATIVE_INT8;
    case ElementType::UInt32:
      return H5T_NATIVE_UINT32;
    case ElementType::UInt64:
      return H5T_NATIVE_UINT64;
    case ElementType::Float64:
      return H5T_NATIVE_DOUBLE;
    case ElementType::Float32:
      break;
  }
  return H5T_NATIVE_FLOAT;
}

void LibraryReader::Read(const LocationTable& table, const Location& location, const ReadTarget& target)
{
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const LibraryArray& array = table.LibraryArrays[location.First + c];
    const std::string& path = table.Files[array.File];
    if (!this->Current || this->Current->Path() != path) {
      this->Current = std::make_unique<hdf5::File>(path);
    }
    const std::size_t elementBytes = SizeOf(array.Type);
    std::vector<std::byte> values(array.Count * elementBytes);
    this->Current->Range(array.Dataset, array.First, array.Count, NativeType(array.Type), values.data());
    target.ForEach([&](const Destination& destination) {
      PlaceRun(destination.Place, values.data(), 0, static_cast<std::int64_t>(array.Count), elementBytes,
          false, (*target.Slots)[c], destination.Data);
    });
  }
  FinishTask(target);
}

}  // namespace patchio
