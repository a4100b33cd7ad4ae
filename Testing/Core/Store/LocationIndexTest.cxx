#include "Store/LocationIndex.h"

#include "IrregularFormat.h"
#include "LocationTools.h"
#include "TestTools.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace patchio {
namespace {

using testing::AllRequests;
using testing::Difference;
using testing::IrregularFormat;

/// An index of `shards` shards, like an index of that many ranks, each of which locates `batch` rows at a
/// time.
struct Built
{
  std::shared_ptr<std::vector<std::vector<std::byte>>> Shards =
      std::make_shared<std::vector<std::vector<std::byte>>>();
  std::vector<std::string> Files;
  std::uint64_t Missing = 0;

  std::vector<ShardView> Views() const
  {
    std::vector<ShardView> views;
    for (const auto& shard : *this->Shards) {
      views.push_back({shard.data(), shard.size()});
    }
    return views;
  }
  LocationIndex Make(const Catalog& catalog) const
  {
    return {catalog, this->Files, this->Views(), this->Shards};
  }
};

using Locate = std::function<LocationTable(const std::vector<PatchVariable>&)>;

Built Build(const Catalog& catalog, const Locate& locate, int shards, std::uint64_t batch)
{
  Built built;
  const RowOrder order(catalog);
  for (int s = 0; s < shards; ++s) {
    const std::uint64_t begin = catalog.Patches.size() * s / shards,
                        end = catalog.Patches.size() * (s + 1) / shards;
    IndexShardBuilder builder(catalog, order, begin, end - begin);
    for (std::uint64_t row = 0; row < builder.Rows(); row += batch) {
      const std::uint64_t count = std::min(batch, builder.Rows() - row);
      builder.Add(row, locate(builder.Requests(row, count)));
    }
    std::vector<std::uint32_t> numbers;
    for (const std::string& file : builder.Files()) {
      const auto known = std::find(built.Files.begin(), built.Files.end(), file);
      numbers.push_back(static_cast<std::uint32_t>(known - built.Files.begin()));
      if (known == built.Files.end()) {
        built.Files.push_back(file);
      }
    }
    built.Missing += builder.MissingCount();
    built.Shards->push_back(builder.Finish(numbers));
  }
  return built;
}

class IrregularIndex : public ::testing::Test
{
protected:
  IrregularFormat Format;
  Catalog Data = this->Format.ReadCatalog("/folder/summary.samrai");
  Locate Ask = [this](const std::vector<PatchVariable>& requests) {
    return this->Format.Locate(this->Data, requests, {});
  };
  std::vector<std::uint64_t> Sizes = std::vector<std::uint64_t>(4, IrregularFormat::FileBytes);
};

}  // namespace

TEST_F(IrregularIndex, AnswersAsTheFormatDoes)
{
  for (const int shards : {1, 2, 5, 20}) {
    for (const std::uint64_t batch : {1, 3, 100}) {
      const LocationIndex index = Build(this->Data, this->Ask, shards, batch).Make(this->Data);
      EXPECT_NO_THROW(index.Check(this->Data, this->Sizes));
      std::vector<PatchVariable> requests = AllRequests(this->Data);
      std::shuffle(requests.begin(), requests.end(), std::mt19937(shards));
      const IndexAnswer answer = index.Find(this->Data, requests);
      EXPECT_TRUE(answer.Complete);
      EXPECT_EQ(Difference(answer.Table, this->Ask(requests)), "");
    }
  }
}

TEST_F(IrregularIndex, NamesOnlyFilesThatAreNeeded)
{
  const LocationIndex index = Build(this->Data, this->Ask, 2, 4).Make(this->Data);
  const IndexAnswer answer = index.Find(this->Data, {{1, 0}, {2, 8}});
  ASSERT_EQ(answer.Table.Files, std::vector<std::string>{"/folder/data.1"});
  EXPECT_EQ(index.Files().at(answer.Files.at(0)), "/folder/data.1");
}

TEST_F(IrregularIndex, SaysWhenItDoesNotKnow)
{
  const Locate ask = [this](const std::vector<PatchVariable>& requests) {
    LocationTable table = this->Ask(requests);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i].Patch == 3 && requests[i].Variable == 1) {
        table.Locations[i] = {Encoding::Missing, 0, 0, 0, 0};
        table.Problems.push_back({i, "gone"});
      }
    }
    return table;
  };
  const Built built = Build(this->Data, ask, 2, 4);
  EXPECT_EQ(built.Missing, 1u);
  const LocationIndex index = built.Make(this->Data);
  EXPECT_TRUE(index.Find(this->Data, {{3, 0}, {4, 1}}).Complete);
  EXPECT_FALSE(index.Find(this->Data, {{3, 0}, {3, 1}}).Complete);
  EXPECT_THROW(index.Check(this->Data, this->Sizes), Error);
}

TEST_F(IrregularIndex, RefusesBytesBeyondTheirFile)
{
  const LocationIndex index = Build(this->Data, this->Ask, 2, 4).Make(this->Data);
  std::uint64_t largest = 0;
  const LocationTable all = this->Ask(AllRequests(this->Data));
  for (const ByteRange& byteRange : all.ByteRanges) {
    largest = std::max(largest, byteRange.Offset + byteRange.Bytes);
  }
  EXPECT_NO_THROW(index.Check(this->Data, std::vector<std::uint64_t>(4, largest)));
  EXPECT_THROW(index.Check(this->Data, std::vector<std::uint64_t>(4, largest - 1)), Error);
}

TEST_F(IrregularIndex, RefusesShardsThatDoNotFitTheCatalog)
{
  const Built built = Build(this->Data, this->Ask, 2, 4);
  std::vector<ShardView> views = built.Views();
  EXPECT_NO_THROW(LocationIndex(this->Data, built.Files, views, built.Shards));
  EXPECT_THROW(LocationIndex(this->Data, built.Files, {views[0]}, built.Shards), Error);
  EXPECT_THROW(LocationIndex(this->Data, built.Files, {views[1], views[0]}, built.Shards), Error);
  EXPECT_THROW(LocationIndex(this->Data, {built.Files[0]}, views, built.Shards), Error)
      << "files are missing";
  for (std::size_t size = 0; size < views[0].Size; size += 8) {
    // The last few bytes may be a gap.
    if (size + 8 < views[0].Size) {
      EXPECT_THROW(
          LocationIndex(this->Data, built.Files, {{views[0].Data, size}, views[1]}, built.Shards), Error);
    }
  }
  Catalog other = this->Data;
  other.Variables[0].Components = 2;
  EXPECT_THROW(LocationIndex(other, built.Files, views, built.Shards), Error);
}

TEST_F(IrregularIndex, UsesBytesWhereTheyLie)
{
  const Built built = Build(this->Data, this->Ask, 2, 4);
  const LocationIndex index = built.Make(this->Data);
  const auto name = [&] { return index.Find(this->Data, {{3, 6}}).Table.LibraryArrays.at(0).Dataset; };
  ASSERT_EQ(name(), "/a/3");
  const std::string wanted = "/a/3";
  for (std::vector<std::byte>& shard : *built.Shards) {
    auto* const begin = reinterpret_cast<char*>(shard.data());
    char* const found = std::search(begin, begin + shard.size(), wanted.begin(), wanted.end());
    if (found != begin + shard.size()) {
      found[1] = 'b';
    }
  }
  EXPECT_EQ(name(), "/b/3") << "a rank must not keep a copy of its own";
}

TEST_F(IrregularIndex, TakesNoHarmFromAnyByte)
{
  const Built built = Build(this->Data, this->Ask, 2, 4);
  const std::vector<PatchVariable> requests = AllRequests(this->Data);
  std::vector<std::byte>& shard = built.Shards->front();
  int refused = 0, answered = 0;
  for (std::size_t i = 0; i < shard.size(); ++i) {
    const std::byte before = shard[i];
    for (const int change : {0x01, 0x80, 0xff}) {
      shard[i] = before ^ static_cast<std::byte>(change);
      try {
        const LocationIndex index = built.Make(this->Data);
        const LocationTable table = index.Find(this->Data, requests).Table;
        // Never more than the shard can hold.
        EXPECT_LE(table.Chunks.size() * sizeof(Chunk), 2 * shard.size());
        EXPECT_LE(table.ByteRanges.size() * sizeof(ByteRange), 8 * shard.size());
        index.Check(this->Data, this->Sizes);
        ++answered;
      } catch (const Error&) {
        ++refused;
      }
    }
    shard[i] = before;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(answered, 0) << "an offset may be any";
}

TEST_F(IrregularIndex, RefusesChunksThatSeveralArraysClaim)
{
  // Few bytes that expand to many: each array has the chunks of all arrays.
  LocationTable table;
  table.Chunks.resize(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ChunkedArray array;
    array.ChunkCount = table.Chunks.size();
    table.ChunkedArrays.push_back(array);
    table.Locations.push_back({Encoding::Chunked, i, 1, 0, 0});
  }
  std::vector<std::uint64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), 0);
  const auto read = [&] {
    ShardWriter out;
    AppendIrregularLocations(out, keys, table, {0});
    const std::vector<std::byte> bytes = out.Finish();
    ShardReader in({bytes.data(), bytes.size()});
    IrregularLocations(in, 1, keys.size());
  };
  EXPECT_THAT(testing::MessageOf(read), ::testing::HasSubstr("an invalid chunk number"));
  for (std::size_t i = 0; i < 1000; ++i) {
    table.ChunkedArrays[i].FirstChunk = i;
    table.ChunkedArrays[i].ChunkCount = 1;
  }
  EXPECT_NO_THROW(read());
  table.Locations[7].First = 0;
  EXPECT_THAT(testing::MessageOf(read), ::testing::HasSubstr("a location whose entries do not follow"));
}

TEST(LocationIndex, TakesFewBytes)
{
  // One scalar on patches in order, with one offset each.
  Catalog catalog;
  testing::AddLevel(catalog, std::vector<Box>(1000, Box{{0, 0, 0}, {7, 7, 7}}));
  catalog.Variables.push_back({"a", Centering::Cell, 1, {0, 0, 0}, "a", -1});
  catalog.ResetPresence();
  for (int p = 0; p < 1000; ++p) {
    catalog.SetPresence(0, p, Presence::Stored);
    catalog.Patches[p].File = p / 100;
  }
  const Locate ask = [&](const std::vector<PatchVariable>& requests) {
    LocationTable table;
    for (int f = 0; f < 10; ++f) {
      table.Files.push_back("file" + std::to_string(f));
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      table.Locations.push_back({Encoding::Raw, static_cast<std::uint32_t>(i), 1, 0, 0});
      table.ByteRanges.push_back({std::uint64_t(requests[i].Patch) * 4096, 2048, requests[i].Patch / 100,
          ElementType::Float32, true});
    }
    return table;
  };
  const Built built = Build(catalog, ask, 1, 1000);
  EXPECT_LT(built.Shards->at(0).size(), 1000u * 8 + 500);
  EXPECT_EQ(
      Difference(built.Make(catalog).Find(catalog, AllRequests(catalog)).Table, ask(AllRequests(catalog))),
      "");
}

TEST(LocationIndex, KnowsAStepWithoutPatches)
{
  Catalog catalog;
  testing::AddLevel(catalog, {});
  catalog.Variables.push_back({"a", Centering::Cell, 1, {0, 0, 0}, "a", -1});
  catalog.ResetPresence();
  const Built built = Build(
      catalog, [](const std::vector<PatchVariable>&) { return LocationTable(); }, 2, 8);
  EXPECT_TRUE(built.Make(catalog).Find(catalog, {}).Complete);
}

}  // namespace patchio
