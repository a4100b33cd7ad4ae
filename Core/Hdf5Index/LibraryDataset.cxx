#include "Hdf5Index/LibraryDataset.h"

#include "Support/Error.h"
#include "Support/Hdf5.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace patchio::hdf5index {
namespace {

constexpr int MostDims = 32;  // HDF5's own limit

void BecomeLibrary(Dataset& result, const std::string& reason)
{
  result.Layout = StorageLayout::Library;
  result.Reason = reason;
}

bool IsPlain(hid_t type)
{
  if (H5Tget_class(type) == H5T_INTEGER) {
    return H5Tget_precision(type) == 8 * H5Tget_size(type);
  }
  const hid_t formats[] = {H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
  return std::any_of(
      std::begin(formats), std::end(formats), [&](hid_t format) { return H5Tequal(type, format) > 0; });
}

void DescribeType(hid_t type, Dataset& result)
{
  result.ElementBytes = static_cast<std::uint32_t>(H5Tget_size(type));
  result.BigEndian = H5Tget_order(type) == H5T_ORDER_BE;
  const H5T_class_t typeClass = H5Tget_class(type);
  if (typeClass == H5T_FLOAT) {
    result.Class = NumberClass::Float;
  } else if (typeClass == H5T_INTEGER) {
    result.Class = NumberClass::Integer;
    result.Signed = H5Tget_sign(type) != H5T_SGN_NONE;
  }
}

/// Bytes of the fill value in this machine's order; 0 where it is not defined.
std::uint64_t FillOf(hid_t creation, hid_t type)
{
  std::uint64_t fill = 0;
  H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
  if (H5Pfill_value_defined(creation, &defined) < 0 || defined != H5D_FILL_VALUE_USER_DEFINED) {
    return 0;
  }
  const hdf5::Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND));
  if (!native.Valid() || H5Tget_size(native) > sizeof(fill) ||
      H5Pget_fill_value(creation, native, &fill) < 0) {
    return 0;
  }
  return fill;
}

/// The filters, or why the library has to undo them.
std::string DescribeFilters(hid_t creation, Dataset& result)
{
  const int count = H5Pget_nfilters(creation);
  if (count > ChunkedArray::MaximumFilters) {
    return fmt::format("{} filters", count);
  }
  for (int f = 0; f < count; ++f) {
    unsigned flags = 0, parameters[1] = {0};
    std::size_t parameterCount = 1;
    const H5Z_filter_t id = H5Pget_filter2(
        creation, static_cast<unsigned>(f), &flags, &parameterCount, parameters, 0, nullptr, nullptr);
    result.Filters[f] = KindOfFilter(id, parameters[0], result.ElementBytes);
    if (result.Filters[f] == FilterKind::None) {
      return FilterName(id);
    }
  }
  return {};
}

void DescribeChunks(hid_t dataset, hid_t creation, hid_t type, Dataset& result)
{
  const hdf5::Handle space(H5Dget_space(dataset));
  hsize_t dims[MostDims] = {}, chunk[MostDims] = {};
  const int rank = H5Sget_simple_extent_dims(space, dims, nullptr);
  if (rank < 1 || rank > ChunkedArray::MaximumRank || H5Pget_chunk(creation, MostDims, chunk) != rank) {
    BecomeLibrary(result, fmt::format("chunks of {} axes", rank));
    return;
  }
  if (std::find(chunk, chunk + rank, hsize_t(0)) != chunk + rank) {
    BecomeLibrary(result, "chunks without a size");
    return;
  }
  result.Layout = StorageLayout::Chunked;
  result.Rank = static_cast<std::uint8_t>(rank);
  std::copy(dims, dims + rank, result.Dims.begin());
  std::copy(chunk, chunk + rank, result.ChunkDims.begin());
  const std::string reason = DescribeFilters(creation, result);
  unsigned options = 0;
  H5Pget_chunk_opts(creation, &options);
  if (!reason.empty()) {
    BecomeLibrary(result, reason);
  } else if (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) {
    BecomeLibrary(result, "filters that skip partial chunks");
  } else if (ChunksOf(result) > MostChunksByLibrary) {
    BecomeLibrary(result, fmt::format("more than {} chunks in an array", MostChunksByLibrary));
  } else {
    result.Fill = FillOf(creation, type);
  }
}

void BecomeLibraryIfUnusual(hid_t type, Dataset& result)
{
  const bool decoded = result.Layout == StorageLayout::Contiguous || result.Layout == StorageLayout::Chunked;
  if (decoded && result.Class != NumberClass::Other && !IsPlain(type)) {
    BecomeLibrary(result, "numbers in an unusual format");
  }
}

/// The first filter of a chunked data set that the library does not have; 0 where it has all.
int MissingFilter(hid_t creation)
{
  const int count = H5Pget_nfilters(creation);
  for (int f = 0; f < count; ++f) {
    unsigned flags = 0;
    std::size_t parameterCount = 0;
    const H5Z_filter_t id = H5Pget_filter2(
        creation, static_cast<unsigned>(f), &flags, &parameterCount, nullptr, 0, nullptr, nullptr);
    if (H5Zfilter_avail(id) <= 0) {
      return id;
    }
  }
  return 0;
}

bool HasUserBlock(hid_t dataset)
{
  const hdf5::Handle file(H5Iget_file_id(dataset));
  const hdf5::Handle creation(H5Fget_create_plist(file));
  hsize_t bytes = 0;
  return H5Pget_userblock(creation, &bytes) < 0 || bytes != 0;
}

}  // namespace

Dataset DescribeByLibrary(hid_t dataset)
{
  const hdf5::QuietScope quiet;
  Dataset result;
  const hdf5::Handle type(H5Dget_type(dataset));
  DescribeType(type, result);
  const hdf5::Handle space(H5Dget_space(dataset));
  result.Values = static_cast<std::uint64_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space), 0));
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset != HADDR_UNDEF) {
    result.Layout = StorageLayout::Contiguous;
    result.Offset = offset;
    BecomeLibraryIfUnusual(type, result);
    return result;
  }
  const hdf5::Handle creation(H5Dget_create_plist(dataset));
  switch (H5Pget_layout(creation)) {
    case H5D_CHUNKED:
      DescribeChunks(dataset, creation, type, result);
      // Whether the places of chunks count from the user block on depends on the version of HDF5.
      if (result.Layout == StorageLayout::Chunked && HasUserBlock(dataset)) {
        BecomeLibrary(result, "a user block");
      }
      if (const int missing = result.Layout == StorageLayout::Library ? MissingFilter(creation) : 0) {
        result.Layout = StorageLayout::Unsupported;
        result.Reason = FilterName(missing);
      }
      break;
    case H5D_COMPACT:
      BecomeLibrary(result, "compact layout");
      break;
    case H5D_CONTIGUOUS:
      result.Reason = H5Pget_external_count(creation) > 0 ? "values in other files" : "no values written yet";
      break;
    default:
      result.Reason = "values in other data sets";
      break;
  }
  BecomeLibraryIfUnusual(type, result);
  return result;
}

std::string TypeText(hid_t dataset)
{
  const hdf5::QuietScope quiet;
  const hdf5::Handle type(H5Dget_type(dataset));
  const std::size_t bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return fmt::format("float{}", bits);
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_STRING:
      return "text";
    case H5T_ENUM:
      return "enumeration (booleans or names)";
    case H5T_COMPOUND:
      return "compound (complex numbers or records)";
    default:
      return "no numbers";
  }
}

void ListChunksByLibrary(hid_t dataset, const Dataset& described, std::uint64_t fileBytes, Chunk* chunks)
{
  const hdf5::QuietScope quiet;
  ClearChunks(described, chunks);
  const hdf5::Handle space(H5Dget_space(dataset));
  hsize_t written = 0;
  if (H5Dget_num_chunks(dataset, space, &written) < 0) {
    throw Error(hdf5::LastMessage());
  }
  for (hsize_t i = 0; i < written; ++i) {
    hsize_t begin[MostDims] = {}, bytes = 0;
    unsigned skipped = 0;
    haddr_t offset = 0;
    if (H5Dget_chunk_info(dataset, space, i, begin, &skipped, &offset, &bytes) < 0) {
      throw Error(hdf5::LastMessage());
    }
    const std::vector<std::uint64_t> first(begin, begin + described.Rank);
    const Chunk chunk{offset, 0, static_cast<std::uint32_t>(bytes), skipped};
    if (bytes > ~std::uint32_t(0) || !AddChunk(described, fileBytes, first.data(), chunk, chunks)) {
      throw Error(fmt::format("a chunk of {} bytes at {} in a file of {}, from the value at ({}) on", bytes,
          offset, fileBytes, fmt::join(first, ", ")));
    }
  }
}

}  // namespace patchio::hdf5index
