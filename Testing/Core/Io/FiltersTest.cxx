#include "Io/Filters.h"

#include "Hdf5/Library.h"
#include "Io/Chunks.h"
#include "NaivePlace.h"
#include "TestTools.h"

#include <hdf5.h>
#include <zstd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;
using Filters = std::vector<FilterType>;
using hdf5::Handle;

constexpr FilterType Deflate = FilterType::Deflate;
constexpr FilterType Shuffle = FilterType::Shuffle;
constexpr FilterType Fletcher = FilterType::Fletcher32;
constexpr FilterType Zstd = FilterType::Zstd;
constexpr H5Z_filter_t ZstdNumber = 32015;  // number in The HDF Group's registry

/// Does the work of HDF5's plugin for this filter.
std::size_t ZstdFilter(
    unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t* room, void** data)
{
  const bool reverse = (flags & H5Z_FLAG_REVERSE) != 0;
  const std::size_t most = reverse ? ZSTD_getFrameContentSize(*data, bytes) : ZSTD_compressBound(bytes);
  void* const other = most < 1 << 20 ? std::malloc(most) : nullptr;
  const std::size_t count = !other    ? 0
                            : reverse ? ZSTD_decompress(other, most, *data, bytes)
                                      : ZSTD_compress(other, most, *data, bytes, 3);
  if (!other || ZSTD_isError(count)) {
    std::free(other);
    return 0;
  }
  std::free(*data);
  *data = other;
  *room = most;
  return count;
}

void RegisterZstd()
{
  const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, ZstdNumber, 1, 1, "zstd", nullptr, nullptr, ZstdFilter};
  EXPECT_GE(H5Zregister(&filter), 0);
}

/// Returns all orders of all combinations of filters.
std::vector<Filters> AllPipelines()
{
  std::vector<Filters> pipelines{{}};
  for (std::size_t i = 0; i < pipelines.size(); ++i) {
    for (const FilterType filter : {Deflate, Shuffle, Fletcher, Zstd}) {
      Filters longer = pipelines[i];
      if (std::find(longer.begin(), longer.end(), filter) == longer.end()) {
        longer.push_back(filter);
        pipelines.push_back(longer);
      }
    }
  }
  return pipelines;
}

/// A chunked data set in a file that only exists in memory.
class LibraryDataset
{
public:
  explicit LibraryDataset(const ChunkedArray& array) : Array(array)
  {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_fapl_core(access, 1 << 20, 0);
    this->File = Handle(H5Fcreate("patchio_filters_test.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(creation, array.Rank, Sizes(array.ChunkDims).data());
    for (const FilterType filter : array.Filters) {
      if (filter == Deflate) {
        H5Pset_deflate(creation, 6);
      } else if (filter == Shuffle) {
        H5Pset_shuffle(creation);
      } else if (filter == Fletcher) {
        H5Pset_fletcher32(creation);
      } else if (filter == Zstd) {
        RegisterZstd();
        H5Pset_filter(creation, ZstdNumber, H5Z_FLAG_MANDATORY, 0, nullptr);
      }
    }
    const Handle space(H5Screate_simple(array.Rank, Sizes(array.Dims).data(), nullptr));
    const Handle type(H5Tcopy(hdf5::NativeType(array.Type)));
    H5Tset_order(type, array.BigEndian ? H5T_ORDER_BE : H5T_ORDER_LE);
    this->Dataset = Handle(H5Dcreate2(this->File, "values", type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
    EXPECT_TRUE(this->Dataset.IsValid());
  }

  void Write(const Bytes& values)
  {
    EXPECT_GE(H5Dwrite(this->Dataset, hdf5::NativeType(this->Array.Type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                  values.data()),
        0);
    H5Fflush(this->File, H5F_SCOPE_LOCAL);
  }

  /// Stores bytes as the first chunk without conversion. skipped: bit set of the filters that were not
  /// applied to them.
  void WriteFirstChunk(const Bytes& stored, std::uint32_t skipped = 0)
  {
    const hsize_t offset[ChunkedArray::MaximumRank] = {};
    EXPECT_GE(H5Dwrite_chunk(this->Dataset, H5P_DEFAULT, skipped, offset, stored.size(), stored.data()), 0);
  }

  /// Returns the values that the library reads; nullopt if it reports damaged data.
  std::optional<Bytes> Read()
  {
    this->Dataset = Handle();
    this->Dataset = Handle(H5Dopen2(this->File, "values", H5P_DEFAULT));
    Bytes values(this->Array.Count * SizeOf(this->Array.Type));
    const hdf5::QuietScope quiet;
    if (H5Dread(this->Dataset, hdf5::NativeType(this->Array.Type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
            values.data()) < 0) {
      return std::nullopt;
    }
    return values;
  }

  /// Returns the stored bytes of chunk `number` of the grid, and describes them in `chunk`.
  Bytes StoredChunk(std::uint64_t number, Chunk& chunk) const
  {
    hsize_t offset[ChunkedArray::MaximumRank] = {};
    chunk.Number = number;
    for (int axis = this->Array.Rank - 1; axis >= 0; --axis) {
      const std::uint64_t dim = this->Array.Dims[axis], chunkDim = this->Array.ChunkDims[axis];
      const std::uint64_t chunks = (dim + chunkDim - 1) / chunkDim;
      offset[axis] = number % chunks * chunkDim;
      number /= chunks;
    }
    hsize_t bytes = 0;
    EXPECT_GE(H5Dget_chunk_storage_size(this->Dataset, offset, &bytes), 0);
    Bytes stored(bytes);
#if H5_VERSION_GE(2, 0, 0)
    size_t room = stored.size();
    EXPECT_GE(
        H5Dread_chunk(this->Dataset, H5P_DEFAULT, offset, &chunk.SkippedFilters, stored.data(), &room), 0);
#else
    EXPECT_GE(H5Dread_chunk(this->Dataset, H5P_DEFAULT, offset, &chunk.SkippedFilters, stored.data()), 0);
#endif
    chunk.Bytes = static_cast<std::uint32_t>(bytes);
    return stored;
  }

private:
  static std::vector<hsize_t> Sizes(const std::array<std::uint64_t, ChunkedArray::MaximumRank>& dims)
  {
    return {dims.begin(), dims.end()};
  }

  ChunkedArray Array;
  Handle File, Dataset;
};

ChunkedArray Array(ElementType type, const std::vector<std::uint64_t>& dims,
    const std::vector<std::uint64_t>& chunkDims, const Filters& filters)
{
  ChunkedArray array;
  array.Type = type;
  array.Rank = static_cast<std::uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), array.Dims.begin());
  std::copy(chunkDims.begin(), chunkDims.end(), array.ChunkDims.begin());
  std::copy(filters.begin(), filters.end(), array.Filters.begin());
  array.Count = std::accumulate(dims.begin(), dims.end(), std::uint64_t(1), std::multiplies<>());
  return array;
}

/// Returns bytes that Deflate makes shorter if they are smooth, and longer if they are random.
Bytes Values(std::size_t bytes, bool smooth, testing::Dice& dice)
{
  Bytes values = dice.Bytes(bytes);
  for (std::size_t i = 0; smooth && i < bytes; ++i) {
    values[i] = static_cast<std::byte>(i / 5 % 9);
  }
  return values;
}

/// Writes values with the library, and expects that its chunks decode to these values.
void ExpectDecodes(const ChunkedArray& array, const Bytes& values, ChunkDecoder& decoder)
{
  LibraryDataset dataset(array);
  dataset.Write(values);
  std::uint64_t chunks = 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    chunks *= (array.Dims[axis] + array.ChunkDims[axis] - 1) / array.ChunkDims[axis];
  }
  ArrayShape shape;
  shape.Interior = {static_cast<std::int64_t>(array.Count), 1, 1};
  Bytes output(values.size());
  for (std::uint64_t number = 0; number < chunks; ++number) {
    Chunk chunk;
    const Bytes stored = dataset.StoredChunk(number, chunk);
    const std::byte* plain = decoder.Decode(array.Filters, chunk.SkippedFilters, SizeOf(array.Type),
        stored.data(), stored.size(), ChunkBytes(array));
    PlaceChunk(shape, array, chunk, plain, 0, output.data());
  }
  EXPECT_EQ(output, values);
}

/// A chunk of 300 values, as stored by the library.
struct OneChunk
{
  ChunkedArray Array;
  Bytes Values, Stored;

  explicit OneChunk(const Filters& filters, ElementType type = ElementType::Float32)
      : Array(patchio::Array(type, {300}, {300}, filters))
  {
    testing::Dice dice(3);
    this->Values = patchio::Values(ChunkBytes(this->Array), true, dice);
    LibraryDataset dataset(this->Array);
    dataset.Write(this->Values);
    Chunk chunk;
    this->Stored = dataset.StoredChunk(0, chunk);
    EXPECT_EQ(chunk.SkippedFilters, 0u);
  }

  /// The memory has exactly the size of the bytes, so that AddressSanitizer detects reads beyond them.
  Bytes Undo(const Bytes& stored) const { return this->Undo(stored, ChunkBytes(this->Array)); }
  Bytes Undo(const Bytes& stored, std::size_t chunkBytes) const
  {
    ChunkDecoder decoder;
    const std::byte* plain = decoder.Decode(
        this->Array.Filters, 0, SizeOf(this->Array.Type), stored.data(), stored.size(), chunkBytes);
    return {plain, plain + chunkBytes};
  }
  std::string Fault(const Bytes& stored) const
  {
    return testing::MessageOf([&] { this->Undo(stored); });
  }
};

/// Calls `check` with the bytes and one bit of them changed, for each bit.
void ForEachFlippedBit(const Bytes& bytes, const std::function<void(const Bytes&)>& check)
{
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    SCOPED_TRACE(bit);
    Bytes flipped = bytes;
    flipped[bit / 8] ^= std::byte(1 << bit % 8);
    check(flipped);
  }
}

}  // namespace

TEST(ChunkDecoder, BringsBackWhatTheLibraryStores)
{
  struct Layout
  {
    std::vector<std::uint64_t> Dims, ChunkDims;
  };
  // Rows are a part of a vector register, whole registers, and more. Most layouts have chunks that cross the
  // edge.
  const std::vector<Layout> layouts{{{1}, {1}}, {{3}, {3}}, {{1000}, {333}}, {{21, 34}, {21, 34}},
      {{17, 23}, {5, 7}}, {{9, 10, 11}, {4, 10, 11}}, {{7, 6, 5}, {3, 4, 2}}, {{3, 5, 4, 6}, {2, 2, 3, 4}},
      {{2, 3, 4, 5}, {1, 3, 4, 5}}, {{3, 4, 3, 5, 3}, {2, 3, 2, 4, 3}}};
  testing::Dice dice(41);
  ChunkDecoder decoder;  // which knows sizes of elements, but no types
  for (const Filters& filters : AllPipelines()) {
    for (const ElementType type :
        {ElementType::UInt8, ElementType::Int16, ElementType::Float32, ElementType::Float64}) {
      for (const Layout& layout : layouts) {
        for (const bool smooth : {false, true}) {
          ChunkedArray array = Array(type, layout.Dims, layout.ChunkDims, filters);
          array.BigEndian = dice.Between(0, 1) == 1;
          SCOPED_TRACE(::testing::PrintToString(array.Filters) + " " + ::testing::PrintToString(array.Dims));
          ExpectDecodes(array, Values(array.Count * SizeOf(type), smooth, dice), decoder);
          ASSERT_FALSE(::testing::Test::HasFailure());
        }
      }
    }
  }
}

TEST(ChunkDecoder, SkipsWhatWasNotApplied)
{
  for (const Filters& filters : AllPipelines()) {
    for (std::uint32_t skipped = 0; skipped < 1u << filters.size(); ++skipped) {
      Filters applied;
      for (std::size_t i = 0; i < filters.size(); ++i) {
        if (!(skipped >> i & 1)) {
          applied.push_back(filters[i]);
        }
      }
      const OneChunk chunk(applied);
      ChunkedArray array = chunk.Array;
      array.Filters = {};
      std::copy(filters.begin(), filters.end(), array.Filters.begin());

      LibraryDataset dataset(array);
      dataset.WriteFirstChunk(chunk.Stored, skipped);
      EXPECT_EQ(dataset.Read(), chunk.Values);
      ChunkDecoder decoder;
      const std::byte* plain = decoder.Decode(array.Filters, skipped, SizeOf(array.Type), chunk.Stored.data(),
          chunk.Stored.size(), chunk.Values.size());
      EXPECT_EQ(Bytes(plain, plain + chunk.Values.size()), chunk.Values);
    }
  }
}

TEST(ChunkDecoder, GivesTheStoredBytesThemselvesWhenNothingChangesThem)
{
  const Bytes stored(40);
  ChunkDecoder decoder;
  EXPECT_EQ(decoder.Decode({}, 0, 4, stored.data(), 40, 40), stored.data());
  EXPECT_EQ(decoder.Decode({Shuffle}, 0, 1, stored.data(), 40, 40), stored.data());
  EXPECT_EQ(decoder.Decode({Shuffle, Deflate}, 3, 4, stored.data(), 40, 40), stored.data());
}

TEST(ChunkDecoder, NoticesDataThatEndsEarly)
{
  for (const Filters& filters : AllPipelines()) {
    const OneChunk chunk(filters);
    for (std::size_t bytes = 0; bytes < chunk.Stored.size(); bytes += bytes < 20 ? 1 : 17) {
      EXPECT_THROW(chunk.Undo(Bytes(chunk.Stored.begin(), chunk.Stored.begin() + bytes)), Error) << bytes;
    }
    EXPECT_EQ(chunk.Undo(chunk.Stored), chunk.Values);
  }
}

TEST(ChunkDecoder, ChecksSumsAsTheLibraryDoes)
{
  testing::Dice dice(47);
  for (const Filters& filters : {Filters{Fletcher}, Filters{Shuffle, Deflate, Fletcher}}) {
    const OneChunk chunk(filters);
    LibraryDataset dataset(chunk.Array);
    for (int round = 0; round < 200; ++round) {
      Bytes stored = chunk.Stored;
      stored[dice.Between(0, stored.size() - 1)] ^= std::byte(1 << dice.Between(0, 7));
      dataset.WriteFirstChunk(stored);
      EXPECT_FALSE(dataset.Read());
      EXPECT_THAT(chunk.Fault(stored), HasSubstr("checksum"));
    }
  }
}

TEST(ChunkDecoder, TakesTheChecksumsOfOldLibraries)
{
  const OneChunk chunk({Fletcher});
  Bytes stored = chunk.Stored;
  std::swap(stored[stored.size() - 4], stored[stored.size() - 3]);
  std::swap(stored[stored.size() - 2], stored[stored.size() - 1]);
  ASSERT_NE(stored, chunk.Stored);
  LibraryDataset dataset(chunk.Array);
  dataset.WriteFirstChunk(stored);
  EXPECT_TRUE(dataset.Read());
  EXPECT_EQ(chunk.Undo(stored), chunk.Values);
}

/// A frame of Zstandard has no checksum, so that it may yield other values.
TEST(ChunkDecoder, NoticesDamagedCompressedData)
{
  testing::Dice dice(53);
  for (const FilterType kind : {Deflate, Zstd}) {
    const OneChunk chunk({Shuffle, kind});
    std::size_t taken = 0, refused = 0;
    ForEachFlippedBit(chunk.Stored, [&](const Bytes& stored) {
      try {
        const Bytes values = chunk.Undo(stored);
        EXPECT_TRUE(kind == Zstd ? values.size() == chunk.Values.size() : values == chunk.Values);
        ++taken;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(),
            ::testing::AnyOf(HasSubstr("damaged"), HasSubstr("more than"), HasSubstr("of values")));
        ++refused;
      }
    });
    // Deflate: bits between the last code and the checksum, and hints in the header are harmless.
    EXPECT_TRUE(kind == Zstd ? refused > 20 : taken < 12) << taken << " taken, " << refused << " refused";
    for (int round = 0; round < 2000; ++round) {
      EXPECT_NE(chunk.Fault(dice.Bytes(dice.Between(0, 100))), "");
    }
  }
}

TEST(ChunkDecoder, NoticesMoreAndFewerValuesThanExpected)
{
  const auto fault = [](const OneChunk& chunk, std::size_t chunkBytes) {
    return testing::MessageOf([&] { chunk.Undo(chunk.Stored, chunkBytes); });
  };
  for (const Filters& filters :
      {Filters{}, Filters{Fletcher}, Filters{Shuffle}, Filters{Deflate}, Filters{Zstd}}) {
    const OneChunk chunk(filters);
    for (const std::size_t bytes : {1192, 1196, 1204, 2400}) {
      EXPECT_THAT(fault(chunk, bytes), HasSubstr("1200 bytes of values"));
    }
  }
  EXPECT_THAT(fault(OneChunk({Deflate}), 1000), HasSubstr("more than the chunk's 1000 bytes"));
  EXPECT_THAT(fault(OneChunk({Deflate}), 0), HasSubstr("more than the chunk's 0 bytes"));
  EXPECT_THAT(fault(OneChunk({Zstd}), 1000), HasSubstr("more than the chunk's 1000 bytes"));
}

TEST(ChunkDecoder, InflatesStraightToItsPlaceOnlyWhereNothingElseIsToBeUndone)
{
  ChunkDecoder decoder;
  // Four uncompressed bytes in the format of zlib.
  const unsigned char stream[] = {0x78, 0x01, 0x01, 4, 0, 0xfb, 0xff, 1, 2, 3, 4, 0x00, 0x18, 0x00, 0x0b};
  const auto* stored = reinterpret_cast<const std::byte*>(stream);
  Bytes values(4);
  EXPECT_FALSE(decoder.DecompressTo({}, 0, stored, sizeof(stream), values.data(), 4));
  EXPECT_FALSE(decoder.DecompressTo({Deflate}, 1, stored, sizeof(stream), values.data(), 4));
  EXPECT_FALSE(decoder.DecompressTo({Shuffle, Deflate}, 0, stored, sizeof(stream), values.data(), 4));
  EXPECT_FALSE(decoder.DecompressTo({Deflate, Fletcher}, 0, stored, sizeof(stream), values.data(), 4));
  EXPECT_EQ(values, Bytes(4));
  EXPECT_TRUE(decoder.DecompressTo({Deflate}, 0, stored, sizeof(stream), values.data(), 4));
  EXPECT_EQ(values, (Bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}}));
  const auto inflate = [&](std::size_t bytes, std::size_t chunkBytes) {
    return testing::MessageOf(
        [&] { decoder.DecompressTo({Deflate}, 0, stored, bytes, values.data(), chunkBytes); });
  };
  EXPECT_THAT(inflate(sizeof(stream), 3), HasSubstr("more than"));
  EXPECT_THAT(inflate(sizeof(stream) - 3, 4), HasSubstr("damaged"));
  values.resize(8);
  EXPECT_THAT(inflate(sizeof(stream), 8), HasSubstr("4 bytes of values"));
}

TEST(ChunkDecoder, TakesNoMemoryForWhatCannotBeThere)
{
  // More than the address space, so that an allocation of this size would throw std::bad_alloc.
  for (const FilterType kind : {Deflate, Zstd}) {
    const OneChunk chunk({Shuffle, kind});
    EXPECT_THAT(testing::MessageOf([&] { chunk.Undo(chunk.Stored, std::size_t(1) << 60); }),
        HasSubstr("1200 bytes of values"));
  }
}

TEST(ChunkDecoder, WorksAfterItGaveItsMemoryBack)
{
  const OneChunk chunk({Shuffle, Deflate});
  ChunkDecoder decoder;
  for (int time = 0; time < 2; ++time) {
    const auto* const values = decoder.Decode(
        {Shuffle, Deflate}, 0, 4, chunk.Stored.data(), chunk.Stored.size(), chunk.Values.size());
    EXPECT_EQ(Bytes(values, values + chunk.Values.size()), chunk.Values);
    decoder.Trim(0);
  }
}

TEST(Fletcher32, AgreesWithTheLibraryOnAnyLength)
{
  testing::Dice dice(61);
  ChunkDecoder decoder;
  for (const std::uint64_t bytes : {1, 2, 3, 719, 720, 721, 722, 1440, 1441, 99'999}) {
    for (const Bytes& values : {dice.Bytes(bytes), Bytes(bytes), Bytes(bytes, std::byte(0xff))}) {
      ExpectDecodes(Array(ElementType::UInt8, {bytes}, {bytes}, {Fletcher}), values, decoder);
    }
  }
}

}  // namespace patchio
