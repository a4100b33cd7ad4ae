#include "Io/Chunks.h"

#include "Base/Bytes.h"
#include "RandomBoxes.h"
#include "TestTools.h"

#include <limits>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::TuplesOf;

/// An array of random values, divided into chunks like in HDF5.
struct CutArray
{
  ChunkedArray Array;
  std::vector<std::byte> Values;               ///< values of the whole array
  std::vector<std::vector<std::byte>> Chunks;  ///< values beyond the edge are random, too

  std::uint64_t Total() const { return this->Values.size() / SizeOf(this->Array.Type); }
};

std::uint64_t ChunksAlong(const ChunkedArray& array, int axis)
{
  return (array.Dims[axis] + array.ChunkDims[axis] - 1) / array.ChunkDims[axis];
}

/// Returns the number of the chunk with the value `flat`, and the position of the value in the chunk.
std::pair<std::uint64_t, std::uint64_t> PlaceInChunks(const ChunkedArray& array, std::uint64_t flat)
{
  std::uint64_t number = 0, inside = 0, numberStride = 1, insideStride = 1;
  for (int axis = array.Rank - 1; axis >= 0; --axis) {
    const std::uint64_t index = flat % array.Dims[axis];
    flat /= array.Dims[axis];
    number += index / array.ChunkDims[axis] * numberStride;
    inside += index % array.ChunkDims[axis] * insideStride;
    numberStride *= ChunksAlong(array, axis);
    insideStride *= array.ChunkDims[axis];
  }
  return {number, inside};
}

CutArray RandomArray(testing::Dice& dice)
{
  CutArray cut;
  ChunkedArray& array = cut.Array;
  const ElementType types[] = {ElementType::UInt8, ElementType::Int32, ElementType::Float64};
  array.Type = types[dice.Between(0, 2)];
  array.BigEndian = dice.Between(0, 1) == 1;
  array.Rank = static_cast<std::uint8_t>(dice.Between(1, 4));
  std::uint64_t total = 1, chunks = 1;
  for (int axis = 0; axis < array.Rank; ++axis) {
    array.Dims[axis] = dice.Between(1, array.Rank == 1 ? 300 : 9);
    array.ChunkDims[axis] =
        dice.Between(0, 2) == 0 ? array.Dims[axis] : dice.Between(1, array.Dims[axis] + 2);
    total *= array.Dims[axis];
    chunks *= ChunksAlong(array, axis);
  }
  const std::size_t elementBytes = SizeOf(array.Type);
  cut.Values = dice.Bytes(total * elementBytes);
  for (std::uint64_t number = 0; number < chunks; ++number) {
    cut.Chunks.push_back(dice.Bytes(ChunkBytes(array)));
  }
  for (std::uint64_t flat = 0; flat < total; ++flat) {
    const auto [number, inside] = PlaceInChunks(array, flat);
    std::copy_n(&cut.Values[flat * elementBytes], elementBytes, &cut.Chunks[number][inside * elementBytes]);
  }
  return cut;
}

/// Returns a shape with at most `tuples` stored values.
ArrayShape ShapeWithin(testing::Dice& dice, std::uint64_t tuples)
{
  ArrayShape shape = dice.Shape(6);
  while (static_cast<std::uint64_t>(TuplesOf(shape.StoredDims())) > tuples) {
    shape = tuples < 30 ? ArrayShape() : dice.Shape(4);
  }
  return shape;
}

ChunkedArray Array(std::uint8_t rank, const std::array<std::uint64_t, ChunkedArray::MaximumRank>& dims,
    const std::array<std::uint64_t, ChunkedArray::MaximumRank>& chunkDims, std::uint64_t first,
    std::uint64_t count)
{
  ChunkedArray array;
  array.Type = ElementType::UInt8;
  array.Rank = rank;
  array.Dims = dims;
  array.ChunkDims = chunkDims;
  array.First = first;
  array.Count = count;
  return array;
}

ArrayShape Line(std::int64_t values)
{
  ArrayShape shape;
  shape.Interior = {values, 1, 1};
  return shape;
}

constexpr std::uint64_t Huge = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST(PlaceChunk, AgreesWithTheDefinitionOnRandomArrays)
{
  testing::Dice dice(31);
  for (int round = 0; round < 500; ++round) {
    CutArray cut = RandomArray(dice);
    ChunkedArray& array = cut.Array;
    const ArrayShape shape = ShapeWithin(dice, cut.Total());
    array.Count = TuplesOf(shape.StoredDims());
    array.First = dice.Between(0, cut.Total() - array.Count);
    array.Fill = 0x8877665544332211;
    ASSERT_NO_THROW(CheckChunkedArray(array));

    const std::size_t elementBytes = SizeOf(array.Type);
    const bool swap = array.BigEndian == HostIsLittleEndian();
    const int slot = static_cast<int>(dice.Between(0, shape.OutputComponents - 1));
    std::vector<std::byte> output(
        TuplesOf(shape.OutputDims()) * shape.OutputComponents * elementBytes, std::byte(0x5a));
    std::vector<std::byte> expected = output;

    std::vector<Chunk> chunks(cut.Chunks.size());
    for (std::size_t number = 0; number < chunks.size(); ++number) {
      chunks[number].Number = number;
      chunks[number].Bytes = dice.Between(0, 3) == 0 ? 0 : 1;
      const bool written = chunks[number].Bytes > 0;
      PlaceChunk(
          shape, array, chunks[number], written ? cut.Chunks[number].data() : nullptr, slot, output.data());
    }
    for (std::uint64_t i = 0; i < array.Count; ++i) {
      const std::uint64_t flat = array.First + i;
      const bool written = chunks[PlaceInChunks(array, flat).first].Bytes > 0;
      const auto* value =
          written ? &cut.Values[flat * elementBytes] : reinterpret_cast<const std::byte*>(&array.Fill);
      testing::PlaceNaively(shape, value, i, elementBytes, swap && written, slot, expected.data());
    }
    ASSERT_EQ(output, expected) << "round " << round;
  }
}

TEST(PlaceChunk, FillsLongRunsOfWhatWasNeverWritten)
{
  ChunkedArray array = Array(1, {100'000}, {100'000}, 1, 99'999);
  array.Type = ElementType::Int64;
  array.Fill = 0x0102030405060708;
  std::vector<std::uint64_t> output(99'999);
  PlaceChunk(Line(99'999), array, Chunk(), nullptr, 0, output.data());
  EXPECT_EQ(output, std::vector<std::uint64_t>(99'999, array.Fill));
}

TEST(PlaceChunk, LooksOnlyAtWantedRows)
{
  // A loop over all rows, from the first one on, would take years.
  ChunkedArray array = Array(3, {Huge >> 33, 1 << 16, 2}, {1, 1 << 16, 1}, 0, 6);
  array.First = (Huge >> 34) * (1 << 17) + (1 << 16);
  array.Fill = 7;
  ASSERT_NO_THROW(CheckChunkedArray(array));
  Chunk chunk;
  chunk.Number = (Huge >> 34) * 2 + 1;
  std::vector<std::uint8_t> output(6, 1);
  PlaceChunk(Line(6), array, chunk, nullptr, 0, output.data());
  EXPECT_EQ(output, (std::vector<std::uint8_t>{1, 7, 1, 7, 1, 7}));
}

TEST(PlaceChunk, LooksOnlyAtWantedRowsOfOneHugeChunk)
{
  const std::uint64_t rows = std::uint64_t(1) << 32;
  ChunkedArray array = Array(2, {rows, std::uint64_t(1) << 30}, {rows, 1}, std::uint64_t(1) << 61, 3);
  array.Fill = 7;
  ASSERT_NO_THROW(CheckChunkedArray(array));
  std::vector<std::uint8_t> output(3, 1);
  PlaceChunk(Line(3), array, Chunk(), nullptr, 0, output.data());
  EXPECT_EQ(output, (std::vector<std::uint8_t>{7, 1, 1}));
}

TEST(PlaceChunk, RefusesChunksThatTheArrayDoesNotHave)
{
  std::vector<std::byte> values(6), output(20);
  const ChunkedArray array = Array(2, {4, 5}, {2, 3}, 0, 20);
  for (const std::uint64_t number : {std::uint64_t(4), std::uint64_t(5), Huge}) {
    Chunk chunk;
    chunk.Number = number;
    chunk.Bytes = 6;
    EXPECT_THAT(
        testing::MessageOf([&] { PlaceChunk(Line(20), array, chunk, values.data(), 0, output.data()); }),
        HasSubstr("chunk " + std::to_string(number)));
  }
}

TEST(CheckChunkedArray, TakesWhatHdf5CanStore)
{
  EXPECT_NO_THROW(CheckChunkedArray(Array(1, {10}, {3}, 4, 6)));
  EXPECT_NO_THROW(CheckChunkedArray(Array(5, {1, 2, 3, 4, 2}, {9, 9, 9, 9, 1}, 0, 48)));
  EXPECT_NO_THROW(CheckChunkedArray(Array(1, {0}, {3}, 0, 0)));
  EXPECT_NO_THROW(CheckChunkedArray(Array(1, {Huge / 2}, {std::uint64_t(1) << 32}, Huge / 2, 0)));
}

TEST(CheckChunkedArray, RefusesNumbersThatDoNotFit)
{
  const auto fault = [](const ChunkedArray& array) {
    return testing::MessageOf([&] { CheckChunkedArray(array); });
  };
  EXPECT_THAT(fault(Array(0, {}, {}, 0, 0)), HasSubstr("0 dimensions"));
  EXPECT_THAT(fault(Array(6, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, 0, 0)), HasSubstr("6 dimensions"));
  EXPECT_THAT(fault(Array(2, {4, 4}, {2, 0}, 0, 16)), HasSubstr("without values"));
  EXPECT_THAT(fault(Array(1, {4}, {(std::uint64_t(1) << 32) + 1}, 0, 4)), HasSubstr("4 GiB"));
  EXPECT_THAT(fault(Array(2, {4, 4}, {Huge, Huge}, 0, 4)), HasSubstr("4 GiB"));
  EXPECT_THAT(fault(Array(1, {Huge}, {1}, 0, 4)), HasSubstr("2^63"));
  EXPECT_THAT(fault(Array(2, {Huge / 2, 3}, {1, 1}, 0, 4)), HasSubstr("2^63"));
  EXPECT_THAT(fault(Array(1, {10}, {3}, 4, 7)), HasSubstr("10 values"));
  EXPECT_THAT(fault(Array(1, {10}, {3}, 11, 0)), HasSubstr("10 values"));
  EXPECT_THAT(fault(Array(1, {10}, {3}, 4, Huge)), HasSubstr("10 values"));
}

TEST(DirectChunkAddress, IsWhereTheValuesOfTheChunkBelong)
{
  testing::Dice dice(77);
  int straight = 0;
  for (int round = 0; round < 3000; ++round) {
    CutArray cut = RandomArray(dice);
    ChunkedArray& array = cut.Array;
    const ArrayShape shape =
        dice.Between(0, 1) == 0
            ? Line(static_cast<std::int64_t>(dice.Between(1, static_cast<int>(cut.Total()))))
            : ShapeWithin(dice, cut.Total());
    array.Count = static_cast<std::uint64_t>(TuplesOf(shape.StoredDims()));
    array.First = static_cast<std::uint64_t>(dice.Between(0, static_cast<int>(cut.Total() - array.Count)));
    const ArrayMapping window(shape);
    const std::size_t bytes = TuplesOf(shape.OutputDims()) * shape.OutputComponents * SizeOf(array.Type);
    for (std::uint64_t number = 0; number < cut.Chunks.size(); ++number) {
      const Chunk chunk{1, number, 1, 0};
      std::vector<std::byte> placed(bytes, std::byte{0x5a}), copied = placed;
      std::byte* const place = DirectChunkAddress(window, array, chunk, copied.data());
      if (!place) {
        continue;
      }
      ++straight;
      ASSERT_GE(place, copied.data());
      ASSERT_LE(place + ChunkBytes(array), copied.data() + copied.size());
      std::copy(cut.Chunks[number].begin(), cut.Chunks[number].end(), place);
      PlaceChunk(window, array, chunk, cut.Chunks[number].data(), 0, placed.data());
      ASSERT_EQ(placed, copied) << "round " << round;
    }
  }
  EXPECT_GT(straight, 100);
}

TEST(UsedChunkBytes, EndWithTheLastValueInTheArray)
{
  const ChunkedArray array = Array(3, {2, 5, 7, 0}, {1, 3, 4, 0}, 0, 70);
  EXPECT_EQ(UsedChunkBytes(array, 0), 12u);
  EXPECT_EQ(UsedChunkBytes(array, 1), 11u);  // 3 rows of 3 of 4
  EXPECT_EQ(UsedChunkBytes(array, 2), 8u);   // 2 of 3 rows
  EXPECT_EQ(UsedChunkBytes(array, 7), 7u);
  EXPECT_THROW(UsedChunkBytes(array, 8), Error);
}

// Placing a chunk that does not reach a window must not change the window.
TEST(ReachesWindow, IsTrueForAllThatHaveAPlace)
{
  testing::Dice dice(41);
  int unreached = 0;
  for (int round = 0; round < 300; ++round) {
    const auto upTo = [&](int most) { return static_cast<std::uint64_t>(dice.Between(1, most)); };
    ChunkedArray array = Array(3, {upTo(5), upTo(6), upTo(4)}, {1, upTo(3), upTo(4)}, 0, 0);
    array.Count = array.Dims[0] * array.Dims[1] * array.Dims[2];
    const Box stored{{0, 0, 0}, {static_cast<int>(array.Dims[2]) - 1, static_cast<int>(array.Dims[1]) - 1,
                                    static_cast<int>(array.Dims[0]) - 1}};
    const ArrayMapping window(stored, stored, testing::PartAtRandom(stored, dice), {1, 1, 1}, 1);
    const std::uint64_t chunks = ChunksAlong(array, 0) * ChunksAlong(array, 1) * ChunksAlong(array, 2);
    for (std::uint64_t number = 0; number < chunks; ++number) {
      std::vector<std::uint8_t> output(array.Count, 0);
      const std::vector<std::byte> ones(ChunkBytes(array), std::byte(1));
      Chunk chunk;
      chunk.Number = number;
      chunk.Bytes = 1;
      PlaceChunk(window, array, chunk, ones.data(), 0, output.data());
      const bool marks = std::find(output.begin(), output.end(), 1) != output.end();
      const bool reaches = ReachesOutput(window, array, number);
      ASSERT_TRUE(reaches || !marks);
      unreached += reaches ? 0 : 1;
    }
  }
  EXPECT_GT(unreached, 300);
}

}  // namespace patchio
