// The locations of values in dumps, for any number of threads, compared field by field.
#include "Formats/SAMRAI/SamraiFormat.h"

#include "Base/Bytes.h"
#include "Io/Decode.h"
#include "LocationTools.h"
#include "SamraiDraft.h"
#include "StoppedLocate.h"
#include "TestTools.h"

#include <hdf5.h>

#include <numeric>

namespace patchio {
namespace {

using testing::DraftValues;
using ::testing::HasSubstr;
using testing::Hdf5Draft;
using ::testing::IsEmpty;

/// Expects that two tables are equal, except for the notes and the numbers of locations.
void ExpectSame(const LocationTable& a, const LocationTable& b)
{
  EXPECT_EQ(a.Files, b.Files);
  EXPECT_EQ(testing::Difference(a, b), "");
  ASSERT_EQ(a.Problems.size(), b.Problems.size());
  for (std::size_t p = 0; p < a.Problems.size(); ++p) {
    EXPECT_EQ(a.Problems[p].Request, b.Problems[p].Request);
    EXPECT_EQ(a.Problems[p].Message, b.Problems[p].Message);
  }
}

/// Returns the locations, after a check that they do not depend on the number of threads.
LocationTable LocateAll(const Catalog& catalog)
{
  const samrai::SamraiFormat format;
  std::vector<PatchVariable> requests = testing::AllRequests(catalog);
  const LocationTable table = format.Locate(catalog, requests, {1, false});
  for (const int threads : {2, 4, 16}) {
    const LocationTable other = format.Locate(catalog, requests, {threads, false});
    ExpectSame(table, other);
    EXPECT_EQ(table.Notes, other.Notes);
  }
  std::reverse(requests.begin(), requests.end());
  ExpectSame(format.Locate(catalog, requests, {4, false}), format.Locate(catalog, requests, {1, false}));
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

class SamraiLocator : public ::testing::Test
{
protected:
  SamraiLocator() { this->Data.Path = testing::WriteDump(this->Folder.Path(), this->Data); }

  std::string Cluster(int file) const { return testing::ClusterPath(this->Data.Path, file); }

  /// Rewrites the second cluster file with one data set of patch 2 replaced; an empty one is left out.
  void Exchange(const std::string& name, const testing::DraftDataset& dataset,
      const std::function<void(hid_t, hid_t)>& style = {})
  {
    Hdf5Draft draft = testing::DraftCluster(this->Data, 1);
    draft.erase(this->Group + name);
    if (dataset) {
      draft[this->Group + name] = dataset;
    }
    testing::WriteHdf5(this->Cluster(1), draft, style);
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
      for (int variable = 0; variable < static_cast<int>(this->Data.Variables.size()); ++variable) {
        this->Data.SetPresence(variable, p, Presence::Stored);
      }
    }
  }

  LocationTable Locate(const std::vector<PatchVariable>& requests) const
  {
    return samrai::SamraiFormat().Locate(this->Data, requests, {});
  }

  /// Returns why (patch 2, variable) cannot be located.
  std::string ProblemOf(int variable) const
  {
    const LocationTable table = this->Locate({{2, variable}});
    EXPECT_EQ(table.Locations.at(0).Kind, Encoding::Missing);
    EXPECT_EQ(table.Problems.size(), 1u);
    return table.Problems.empty() ? "" : table.Problems[0].Message;
  }

  /// Returns the values in a byte range, read without PatchIO.
  std::vector<float> ValuesAt(const LocationTable& table, std::size_t extent) const
  {
    const ByteRange& where = table.ByteRanges.at(extent);
    std::vector<float> values(where.Bytes / sizeof(float));
    std::ifstream file(table.Files.at(where.File), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(where.Offset));
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(where.Bytes));
    EXPECT_TRUE(file.good());
    if (where.BigEndian == HostIsLittleEndian()) {
      SwapByteOrder(values.data(), values.size(), sizeof(float));
    }
    return values;
  }

  void ExpectLocated(const LocationTable& table, std::size_t request, const PatchVariable& wanted) const
  {
    const Location& location = table.Locations.at(request);
    ASSERT_EQ(location.Kind, Encoding::Raw);
    const auto components = static_cast<std::uint32_t>(this->Data.Variables[wanted.Variable].Components);
    ASSERT_EQ(location.Count, components);
    for (std::uint32_t c = 0; c < components; ++c) {
      EXPECT_EQ(table.ByteRanges[location.First + c].Type, ElementType::Float32);
      EXPECT_EQ(this->ValuesAt(table, location.First + c),
          DraftValues(this->Data, wanted.Patch, wanted.Variable, static_cast<int>(c)));
    }
  }

  /// Returns the location of a variable of patch 2 in an answer for all patches and variables.
  const Location& At(const LocationTable& table, int variable) const
  {
    return table.Locations[2 * this->Data.Variables.size() + variable];
  }

  testing::TempFolder Folder;
  Catalog Data = testing::SmallCatalog();
  const std::string Group = testing::PatchGroup(Data.Patches[2]);
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

TEST_F(SamraiLocator, IsTheSameForAnyNumberOfThreadsOnOwnDumps)
{
  EXPECT_TRUE(CheckDumpsIn(PATCHIO_OWN_DATA));
}

TEST_F(SamraiLocator, IsTheSameForAnyNumberOfThreadsOnRealDumps)
{
  if (!CheckDumpsIn(PATCHIO_REAL_DATA "/samrai")) {
    GTEST_SKIP() << "skipped: no dumps in " PATCHIO_REAL_DATA;
  }
}

TEST_F(SamraiLocator, IsTheSameForAnyNumberOfThreadsOnManyPatches)
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

TEST_F(SamraiLocator, KnowsEachFormOfStorage)
{
  struct Form
  {
    const char* Name;
    testing::DraftDataset Dataset;
    bool IsNew;
    Encoding Kind;
    const char* Reason = "";  ///< part of the reason why the library reads the values
  };
  const std::vector<float> values = DraftValues(this->Data, 2, 0, 0);
  const auto compact = [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); };
  const auto nbit = [](hid_t creation) { H5Pset_nbit(creation); };
  const auto partlyFiltered = [](hid_t creation) {
    ShuffleAndDeflate(creation);
    H5Pset_chunk_opts(creation, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  };
  const std::vector<Form> forms{{"new style", testing::Floats(values), true, Encoding::Raw},
      {"little-endian", testing::LittleEndianFloats(values), false, Encoding::Raw},
      {"compact", testing::FloatsStoredAs(values, {16}, compact), false, Encoding::Raw},
      {"chunks", Chunked(16, 5, ShuffleAndDeflate), false, Encoding::Chunked},
      {"chunks of the new style", Chunked(16, 5, ShuffleAndDeflate), true, Encoding::Chunked},
      {"partly filtered", Chunked(16, 5, partlyFiltered), true, Encoding::Library},
      {"another filter", Chunked(16, 4, nbit), false, Encoding::Library, "filter 5 (nbit)"}};
  for (const Form& form : forms) {
    SCOPED_TRACE(form.Name);
    this->Exchange("density", form.Dataset, form.IsNew ? testing::InNewStyle : testing::InOldStyle);
    const LocationTable table = LocateAll(this->Data);
    EXPECT_THAT(table.Problems, IsEmpty());
    const Location& location = this->At(table, 0);
    ASSERT_EQ(location.Kind, form.Kind);
    if (form.Kind == Encoding::Raw) {
      EXPECT_THAT(table.Notes, IsEmpty());
      this->ExpectLocated(table, &location - table.Locations.data(), {2, 0});
    } else if (form.Kind == Encoding::Chunked) {
      EXPECT_THAT(table.Notes, IsEmpty());
      EXPECT_EQ(table.ChunkedArrays[location.First].ChunkCount, 4u);
    } else {
      const LibraryArray& array = table.LibraryArrays[location.First];
      EXPECT_EQ(array.Dataset, this->Group + "density");
      EXPECT_EQ(array.Count, 16u);
      EXPECT_THAT(array.Reason, HasSubstr(form.Reason));
    }
  }
}

TEST_F(SamraiLocator, LeavesMixedComponentsToTheLibrary)
{
  this->Exchange("velocity.01", Chunked(this->Data.StoredTuples(1, 2), 4));
  const LocationTable table = LocateAll(this->Data);
  const Location& location = this->At(table, 1);
  ASSERT_EQ(location.Kind, Encoding::Library);
  ASSERT_EQ(location.Count, 2u);
  EXPECT_EQ(table.LibraryArrays[location.First].Reason, "components of different layouts");
}

/// The limit holds for all patches together, for any division of patches among threads.
TEST_F(SamraiLocator, ListsNoMoreChunksThanAFileCanHold)
{
  // Values that were never written, each in a chunk of its own: in one large patch, and in many small ones.
  for (const auto& [patches, width] : {std::pair(1, 400000), std::pair(40, 500)}) {
    this->MakePatches(patches);
    this->Data.Variables.resize(1);
    this->Data.ResetPresence();
    Hdf5Draft draft;
    for (int p = 0; p < patches; ++p) {
      Patch& patch = this->Data.Patches[p];
      patch.Cells.Upper[0] = patch.Cells.Lower[0] + width - 1;
      this->Data.SetPresence(0, p, Presence::Stored);
      const hsize_t length = this->Data.StoredTuples(0, p);
      draft[testing::PatchGroup(patch) + "density"] =
          testing::FloatsStoredAs({}, {length}, testing::InChunks({1}));
    }
    testing::WriteHdf5(this->Cluster(0), draft);
    const LocationTable table = LocateAll(this->Data);
    for (const Location& location : table.Locations) {
      EXPECT_EQ(location.Kind, Encoding::Library);
    }
    EXPECT_TRUE(patches > 1 || table.Chunks.empty());
    EXPECT_EQ(table.LibraryArrays[0].Reason, "more chunks than the file can hold");
  }
}

TEST_F(SamraiLocator, LosesOnlyTheValuesOfATruncatedFile)
{
  const auto size = std::filesystem::file_size(this->Cluster(1));
  for (const std::uintmax_t left : {size - 8, size / 2, std::uintmax_t(100), std::uintmax_t(0)}) {
    std::filesystem::resize_file(this->Cluster(1), left);
    const LocationTable table = LocateAll(this->Data);
    EXPECT_EQ(this->At(table, 0).Kind, Encoding::Missing);
    EXPECT_EQ(table.Locations[0].Kind, Encoding::Raw) << "the other file is sound";
    EXPECT_THAT(this->ProblemOf(0), HasSubstr(left == size - 8 ? "truncated" : this->Cluster(1)));
  }
}

TEST_F(SamraiLocator, FindsTheBytesOfEveryRequestInTheirOrder)
{
  const std::vector<PatchVariable> requests{{2, 1}, {0, 0}, {1, 2}, {2, 3}, {0, 1}, {1, 0}, {2, 1}};
  const LocationTable table = this->Locate(requests);
  EXPECT_TRUE(table.Problems.empty());
  ASSERT_EQ(table.Locations.size(), requests.size());
  EXPECT_EQ(table.Files.size(), 2u) << "each file once";
  for (std::size_t i = 0; i < requests.size(); ++i) {
    this->ExpectLocated(table, i, requests[i]);
  }
}

TEST_F(SamraiLocator, CanBeStopped)
{
  const samrai::SamraiFormat format;
  for (const int threads : {1, 2, 4}) {
    testing::ExpectToStop(format, this->Data, {threads, false});
    testing::ExpectToStop(format, this->Data, {threads, true});
  }
}

TEST_F(SamraiLocator, NamesOnlyFilesThatAreNeeded)
{
  EXPECT_EQ(this->Locate({{1, 0}, {2, 0}}).Files, std::vector<std::string>{this->Cluster(1)});
  EXPECT_TRUE(this->Locate({}).Files.empty());
}

TEST_F(SamraiLocator, OpensNothingForConstantsAndAbsentVariables)
{
  this->Data.SetPresence(0, 0, Presence::Zero);
  this->Data.SetPresence(0, 1, Presence::One);
  std::filesystem::remove(this->Cluster(0));
  std::filesystem::remove(this->Cluster(1));
  const LocationTable table = this->Locate({{0, 0}, {1, 0}, {0, 3}});
  EXPECT_TRUE(table.Problems.empty());
  EXPECT_EQ(table.Locations[0].Kind, Encoding::Constant);
  EXPECT_EQ(table.Locations[0].Value, 0);
  EXPECT_EQ(table.Locations[1].Kind, Encoding::Constant);
  EXPECT_EQ(table.Locations[1].Value, 1);
  EXPECT_EQ(table.Locations[2].Kind, Encoding::Absent);
}

TEST_F(SamraiLocator, LosesOnlyTheRequestsOfAMissingFile)
{
  std::filesystem::remove(this->Cluster(1));
  const LocationTable table = this->Locate({{1, 0}, {0, 0}, {2, 1}});
  EXPECT_EQ(table.Locations[0].Kind, Encoding::Missing);
  this->ExpectLocated(table, 1, {0, 0});
  EXPECT_EQ(table.Locations[2].Kind, Encoding::Missing);
  ASSERT_EQ(table.Problems.size(), 2u);
  EXPECT_EQ(table.Problems[0].Request, 0u);
  EXPECT_EQ(table.Problems[1].Request, 2u);
  EXPECT_THAT(table.Problems[0].Message, HasSubstr(this->Cluster(1)));
  EXPECT_THAT(table.Problems[0].Message, HasSubstr("No such file"));
}

TEST_F(SamraiLocator, SaysWhenAPatchIsMissing)
{
  this->Data.Patches[2].Number = 9;
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("expected a group '/processor.00002/level.00001/patch.00009'"));
}

TEST_F(SamraiLocator, LosesOnlyTheVariableThatIsBroken)
{
  this->Exchange("velocity.01", {});
  const LocationTable table = this->Locate({{2, 0}, {2, 1}, {2, 2}});
  this->ExpectLocated(table, 0, {2, 0});
  EXPECT_EQ(table.Locations[1].Kind, Encoding::Missing);
  this->ExpectLocated(table, 2, {2, 2});
}

TEST_F(SamraiLocator, FollowsNoExternalLinkToAPatch)
{
  const std::string other = this->Folder / "other.h5";
  std::filesystem::rename(this->Cluster(1), other);
  const std::string group = this->Group.substr(0, this->Group.size() - 1);
  testing::WriteHdf5(this->Cluster(1), {{group, testing::ExternalLink(other, group)}});
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("not supported: external link in '" + group + "'"));
}

TEST_F(SamraiLocator, SaysWhatIsWrongWithADataSet)
{
  const std::string other = this->Folder / "other.h5", name = "'" + this->Group + "density'";
  testing::WriteHdf5(other, {{"/values", testing::Floats(DraftValues(this->Data, 2, 0, 0))}});
  const std::vector<std::pair<testing::DraftDataset, std::string>> faults{
      {testing::DraftDataset(), "expected a data set " + name},
      {testing::Floats({1, 2, 3}),
          "expected 16 values in " + name + ", from the patch's box and ghosts, found 3"},
      {testing::Doubles(std::vector<double>(16)), "expected 4-byte floats in " + name},
      {testing::Ints(std::vector<int>(16)), "expected 4-byte floats in " + name},
      {testing::FloatsStoredAs({}, {16}, [](hid_t) {}),
          "expected values in " + name + ", found no values written yet"},
      {testing::ExternalLink(other, "/values"), "not supported: external link in " + name}};
  for (const auto& [dataset, message] : faults) {
    this->Exchange("density", dataset);
    EXPECT_THAT(this->ProblemOf(0), HasSubstr(message));
  }
}

TEST_F(SamraiLocator, SaysWhatIsWrongWithSparseMaterials)
{
  this->Data.Variables.push_back({"water fraction", Centering::Cell, 1, {0, 0, 0}, "materials", 1});
  this->Data.ResetPresence();
  this->Data.SetPresence(4, 2, Presence::Stored);
  const std::vector<std::tuple<std::string, testing::DraftDataset, std::string>> faults{
      {"vol_fracs", testing::ChunkedFloats({0.25f, 0.75f}), "materials/vol_fracs', found values in chunks"},
      {"mat_list", testing::Ints({0, 0, 0}), "expected 1 or 16 values in"},
      {"next_mat", testing::Ints({2, 0, 0}), "found 2, 3 and 2 values"},
      {"vol_fracs", testing::DraftDataset(), "materials/vol_fracs'"}};
  for (const auto& [name, dataset, message] : faults) {
    const std::string group = this->Group + "materials/";
    Hdf5Draft draft{{group + "mat_list", testing::Ints(std::vector<int>(16))},
        {group + "mix_mat", testing::Ints({0, 1})}, {group + "next_mat", testing::Ints({2, 0})},
        {group + "vol_fracs", testing::Floats({0.25f, 0.75f})}};
    draft.erase(group + name);
    if (dataset) {
      draft[group + name] = dataset;
    }
    testing::WriteHdf5(this->Cluster(1), draft);
    EXPECT_THAT(this->ProblemOf(4), HasSubstr(message));
  }
}

}  // namespace patchio
