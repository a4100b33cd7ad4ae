// The locations of values in dumps, for any number of threads, compared field by field.
#include "Base/Bytes.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Io/Decode.h"
#include "SamraiDraft.h"
#include "TestTools.h"

#include <hdf5.h>

#include <fstream>
#include <numeric>
#include <tuple>

namespace patchio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Hdf5Draft;
using ::testing::IsEmpty;

std::vector<PatchVariable> AllRequests(const Catalog& catalog)
{
  std::vector<PatchVariable> requests;
  for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
    for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
      requests.push_back({static_cast<int>(p), static_cast<int>(v)});
    }
  }
  return requests;
}

auto Fields(const Location& l)
{
  return std::make_tuple(l.Kind, l.First, l.Count, l.Value, l.Material);
}
auto Fields(const ByteRange& e)
{
  return std::make_tuple(e.Offset, e.Bytes, e.File, e.Type, e.BigEndian);
}
auto Fields(const ChunkedArray& a)
{
  return std::make_tuple(a.File, a.Type, a.BigEndian, a.Rank, a.Filters, a.Dims, a.ChunkDims, a.First,
      a.Count, a.Fill, a.FirstChunk, a.ChunkCount);
}
auto Fields(const Chunk& c)
{
  return std::make_tuple(c.Offset, c.Number, c.Bytes, c.SkippedFilters);
}
auto Fields(const LibraryArray& a)
{
  return std::make_tuple(a.File, a.Type, a.Dataset, a.First, a.Count, a.Reason);
}
auto Fields(const LocationProblem& p)
{
  return std::make_tuple(p.Request, p.Message);
}

template <typename T>
void ExpectSame(const char* what, const std::vector<T>& a, const std::vector<T>& b)
{
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(Fields(a[i]) == Fields(b[i])) << what << " " << i;
  }
}

/// Expects that two tables are equal, except for the notes.
void ExpectSame(const LocationTable& a, const LocationTable& b)
{
  EXPECT_EQ(a.Files, b.Files);
  ExpectSame("location", a.Locations, b.Locations);
  ExpectSame("extent", a.ByteRanges, b.ByteRanges);
  ExpectSame("chunked array", a.ChunkedArrays, b.ChunkedArrays);
  ExpectSame("chunk", a.Chunks, b.Chunks);
  ExpectSame("library array", a.LibraryArrays, b.LibraryArrays);
  ExpectSame("problem", a.Problems, b.Problems);
}

/// Returns the locations, after a check that they do not depend on the number of threads.
LocationTable LocateAll(const Catalog& catalog)
{
  std::vector<PatchVariable> requests = AllRequests(catalog);
  const LocationTable table = samrai::SamraiFormat().Locate(catalog, requests, {1, false});
  for (const int threads : {2, 4, 16}) {
    const LocationTable other = samrai::SamraiFormat().Locate(catalog, requests, {threads, false});
    ExpectSame(table, other);
    EXPECT_EQ(table.Notes, other.Notes);
  }
  std::reverse(requests.begin(), requests.end());
  ExpectSame(samrai::SamraiFormat().Locate(catalog, requests, {4, false}),
      samrai::SamraiFormat().Locate(catalog, requests, {1, false}));
  return table;
}

/// Checks all dumps below a folder. Returns false if there are none.
bool CheckDumpsIn(const std::string& folder)
{
  if (!std::filesystem::is_directory(folder)) {
    return false;
  }
  int dumps = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == "summary.samrai") {
      SCOPED_TRACE(entry.path());
      const LocationTable table = LocateAll(samrai::SamraiFormat().ReadCatalog(entry.path()));
      EXPECT_THAT(table.Problems, IsEmpty());
      EXPECT_THAT(table.Notes, IsEmpty()) << "all of these are of the old style";
      EXPECT_FALSE(table.ByteRanges.empty());
      ++dumps;
    }
  }
  return dumps > 0;
}

class SamraiIndex : public ::testing::Test
{
protected:
  SamraiIndex() { this->Data.Path = testing::WriteDump(this->Folder.Path(), this->Data); }

  std::string Cluster(int file) const { return testing::ClusterPath(this->Data.Path, file); }

  /// Writes a cluster file again with another data set for a variable of patch 2.
  void Exchange(const std::string& name, const testing::DraftDataset& dataset)
  {
    Hdf5Draft draft = testing::DraftCluster(this->Data, 1);
    draft[testing::PatchGroup(this->Data.Patches[2]) + name] = dataset;
    testing::WriteHdf5(this->Cluster(1), draft);
  }

  /// Returns the location of a variable of patch 2.
  const Location& At(const LocationTable& table, int variable) const
  {
    return table.Locations[2 * this->Data.Variables.size() + variable];
  }

  /// Changes the catalog to `count` equal patches of three writers in one file, with density and velocity.
  void MakePatches(int count)
  {
    this->Data.Patches.assign(static_cast<std::size_t>(count), Patch(this->Data.Patches[0]));
    this->Data.Levels.resize(1);
    this->Data.Levels[0].PatchCount = count;
    this->Data.ResetPresence();
    for (int p = 0; p < count; ++p) {
      this->Data.Patches[p].Number = p;
      this->Data.Patches[p].Writer = p % 3;
      this->Data.Patches[p].File = 0;
      this->Data.SetPresence(0, p, Presence::Stored);
      this->Data.SetPresence(1, p, Presence::Stored);
    }
  }

  testing::TempFolder Folder;
  Catalog Data = testing::SmallCatalog();
};

testing::DraftDataset Chunked(std::size_t count, hsize_t chunk, const std::function<void(hid_t)>& more = {})
{
  const hsize_t length = count;
  return testing::FloatsStoredAs(std::vector<float>(count, 1), {length}, [=](hid_t creation) {
    H5Pset_chunk(creation, 1, &chunk);
    if (more) {
      more(creation);
    }
  });
}

void ShuffleAndDeflate(hid_t creation)
{
  H5Pset_shuffle(creation);
  H5Pset_deflate(creation, 4);
}

}  // namespace

TEST_F(SamraiIndex, IsTheSameForAnyNumberOfThreadsOnOwnDumps)
{
  EXPECT_TRUE(CheckDumpsIn(PATCHIO_OWN_DATA));
}

TEST_F(SamraiIndex, IsTheSameForAnyNumberOfThreadsOnRealDumps)
{
  if (!CheckDumpsIn(PATCHIO_REAL_DATA "/samrai")) {
    GTEST_SKIP() << "skipped: no dumps in " PATCHIO_REAL_DATA;
  }
}

TEST_F(SamraiIndex, IsTheSameForAnyNumberOfThreadsOnManyPatches)
{
  this->MakePatches(200);  // enough for several blocks a thread
  Hdf5Draft draft = testing::DraftCluster(this->Data, 0);
  draft.erase(testing::PatchGroup(this->Data.Patches[77]) + "density");
  draft[testing::PatchGroup(this->Data.Patches[99]) + "density"] = Chunked(3, 2);
  testing::WriteHdf5(this->Cluster(0), draft);
  const LocationTable table = LocateAll(this->Data);
  EXPECT_THAT(table.Notes, IsEmpty()) << "what is wrong is a problem";
  ASSERT_EQ(table.Problems.size(), 2u);
  EXPECT_THAT(table.Problems[0].Message, HasSubstr("expected a data set"));
}

TEST_F(SamraiIndex, ListsChunks)
{
  this->Exchange("density", Chunked(16, 5, ShuffleAndDeflate));
  const LocationTable table = LocateAll(this->Data);
  EXPECT_THAT(table.Notes, IsEmpty());
  EXPECT_THAT(table.Problems, IsEmpty());
  const Location& location = this->At(table, 0);
  ASSERT_EQ(location.Kind, Encoding::Chunked);
  ASSERT_EQ(location.Count, 1u);
  const ChunkedArray& array = table.ChunkedArrays[location.First];
  EXPECT_EQ(table.Files[array.File], this->Cluster(1));
  EXPECT_EQ(array.Type, ElementType::Float32);
  EXPECT_TRUE(array.BigEndian);
  EXPECT_EQ(array.Rank, 1);
  EXPECT_THAT(array.Filters,
      ElementsAre(FilterType::Shuffle, FilterType::Deflate, FilterType::None, FilterType::None));
  EXPECT_EQ(array.Dims[0], 16u);
  EXPECT_EQ(array.ChunkDims[0], 5u);
  EXPECT_EQ(array.First, 0u);
  EXPECT_EQ(array.Count, 16u);
  ASSERT_EQ(array.ChunkCount, 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(table.Chunks[array.FirstChunk + i].Number, i);
    EXPECT_GT(table.Chunks[array.FirstChunk + i].Bytes, 0u);
  }
}

TEST_F(SamraiIndex, LeavesOtherFiltersToTheLibrary)
{
  const auto choose = [](hid_t creation) { H5Pset_nbit(creation); };
  this->Exchange("density", Chunked(16, 4, choose));
  const LocationTable table = LocateAll(this->Data);
  const Location& location = this->At(table, 0);
  ASSERT_EQ(location.Kind, Encoding::Library);
  const LibraryArray& array = table.LibraryArrays[location.First];
  EXPECT_EQ(array.Dataset, testing::PatchGroup(this->Data.Patches[2]) + "density");
  EXPECT_EQ(array.Count, 16u);
  EXPECT_EQ(array.Reason, "filter 5 (nbit)");
  EXPECT_THAT(table.Problems, IsEmpty());
}

/// The library does not return the location of compact values in the file.
TEST_F(SamraiIndex, FindsCompactValues)
{
  const auto compact = [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); };
  std::vector<float> values(16);
  std::iota(values.begin(), values.end(), 0.0f);
  this->Exchange("density", testing::FloatsStoredAs(values, {16}, compact));
  const LocationTable table = samrai::SamraiFormat().Locate(this->Data, AllRequests(this->Data), {1, false});
  ASSERT_EQ(this->At(table, 0).Kind, Encoding::Raw);
  const ByteRange& where = table.ByteRanges[this->At(table, 0).First];
  std::vector<float> found(16);
  std::ifstream file(table.Files[where.File], std::ios::binary);
  file.seekg(static_cast<std::streamoff>(where.Offset));
  file.read(reinterpret_cast<char*>(found.data()), static_cast<std::streamsize>(where.Bytes));
  SwapByteOrder(found.data(), where.BigEndian == HostIsLittleEndian() ? found.size() : 0, 4);
  EXPECT_EQ(found, values);
}

TEST_F(SamraiIndex, LeavesMixedComponentsToTheLibrary)
{
  const std::size_t values = this->Data.StoredTuples(1, 2);
  this->Exchange("velocity.01", Chunked(values, 4));
  const LocationTable table = LocateAll(this->Data);
  const Location& location = this->At(table, 1);
  ASSERT_EQ(location.Kind, Encoding::Library);
  ASSERT_EQ(location.Count, 2u);
  EXPECT_EQ(table.LibraryArrays[location.First].Reason, "components of different layouts");
}

TEST_F(SamraiIndex, ReadsNewFiles)
{
  for (const int file : {0, 1}) {
    testing::WriteHdf5(this->Cluster(file), testing::DraftCluster(this->Data, file), testing::InNewStyle);
  }
  const LocationTable table = LocateAll(this->Data);
  EXPECT_THAT(table.Problems, IsEmpty());
  EXPECT_EQ(this->At(table, 0).Kind, Encoding::Raw);
  EXPECT_THAT(table.Notes, IsEmpty());
}

TEST_F(SamraiIndex, ListsChunksInNewFiles)
{
  Hdf5Draft draft = testing::DraftCluster(this->Data, 1);
  const std::string name = testing::PatchGroup(this->Data.Patches[2]) + "density";
  draft[name] = Chunked(16, 5, ShuffleAndDeflate);
  testing::WriteHdf5(this->Cluster(1), draft, testing::InNewStyle);
  LocationTable table = LocateAll(this->Data);
  ASSERT_EQ(this->At(table, 0).Kind, Encoding::Chunked);
  EXPECT_EQ(table.ChunkedArrays[0].ChunkCount, 4u);
  draft[name] = Chunked(16, 5, [](hid_t creation) {
    ShuffleAndDeflate(creation);
    H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  });
  testing::WriteHdf5(this->Cluster(1), draft, testing::InNewStyle);
  table = LocateAll(this->Data);
  ASSERT_EQ(this->At(table, 0).Kind, Encoding::Library);
}

TEST_F(SamraiIndex, SaysWhatIsWrongWithDamagedFiles)
{
  const auto size = std::filesystem::file_size(this->Cluster(1));
  for (const std::uintmax_t left : {size - 8, size / 2, std::uintmax_t(100), std::uintmax_t(0)}) {
    std::filesystem::resize_file(this->Cluster(1), left);
    const LocationTable table = LocateAll(this->Data);
    EXPECT_EQ(this->At(table, 0).Kind, Encoding::Missing);
    EXPECT_EQ(table.Locations[0].Kind, Encoding::Raw) << "the other file is sound";
  }
  std::filesystem::remove(this->Cluster(1));
  EXPECT_THAT(LocateAll(this->Data).Problems.at(0).Message, HasSubstr("No such file"));
}

TEST_F(SamraiIndex, ListsNoMoreChunksThanAFileCanHold)
{
  // A million values that were never written, each in a chunk of its own.
  this->Data.Patches[2].Cells.Upper[0] = this->Data.Patches[2].Cells.Lower[0] + 250000 - 1;
  const std::size_t values = this->Data.StoredTuples(0, 2);
  ASSERT_GE(values, 1000000u);
  const hsize_t length = values, one = 1;
  testing::WriteHdf5(this->Cluster(1),
      {{testing::PatchGroup(this->Data.Patches[2]) + "density",
          testing::FloatsStoredAs({}, {length}, [=](hid_t creation) { H5Pset_chunk(creation, 1, &one); })}});
  const std::vector<PatchVariable> requests{{2, 0}};
  const LocationTable table = samrai::SamraiFormat().Locate(this->Data, requests, {});
  ASSERT_EQ(table.Locations[0].Kind, Encoding::Library);
  EXPECT_TRUE(table.Chunks.empty());
  EXPECT_EQ(table.LibraryArrays[0].Reason, "more chunks than the file can hold");
}

/// The limit holds for all patches together, for any division of patches among threads.
TEST_F(SamraiIndex, ListsNoMoreChunksThanAFileCanHoldInAllPatches)
{
  const int patches = 40;
  this->MakePatches(patches);
  this->Data.Variables.resize(1);
  this->Data.ResetPresence();
  Hdf5Draft draft;
  for (int p = 0; p < patches; ++p) {
    Patch& patch = this->Data.Patches[p];
    patch.Cells.Upper[0] = patch.Cells.Lower[0] + 500 - 1;
    this->Data.SetPresence(0, p, Presence::Stored);
    const hsize_t length = this->Data.StoredTuples(0, p), one = 1;
    ASSERT_LE(length, 2048u);
    draft[testing::PatchGroup(patch) + "density"] =
        testing::FloatsStoredAs({}, {length}, [=](hid_t creation) { H5Pset_chunk(creation, 1, &one); });
  }
  testing::WriteHdf5(this->Cluster(0), draft);
  const LocationTable table = LocateAll(this->Data);
  for (const Location& location : table.Locations) {
    EXPECT_EQ(location.Kind, Encoding::Library);
  }
  EXPECT_EQ(table.LibraryArrays[0].Reason, "more chunks than the file can hold");
}

}  // namespace patchio
