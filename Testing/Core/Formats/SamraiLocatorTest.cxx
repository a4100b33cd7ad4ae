#include "Formats/SAMRAI/SamraiFormat.h"

#include "Base/Bytes.h"
#include "Io/Decode.h"
#include "SamraiDraft.h"
#include "StoppedLocate.h"
#include "TestTools.h"

namespace patchio {
namespace {

using testing::DraftValues;
using ::testing::HasSubstr;
using testing::Hdf5Draft;

class SamraiLocator : public ::testing::Test
{
protected:
  SamraiLocator() { this->Data.Path = testing::WriteDump(this->Folder.Path(), this->Data); }

  std::string Cluster(int file) const { return testing::ClusterPath(this->Data.Path, file); }

  /// Rewrites the second cluster file with one data set of patch 2 replaced; an empty one is left out.
  void Damage(const std::string& name, const testing::DraftDataset& dataset)
  {
    Hdf5Draft draft = testing::DraftCluster(this->Data, 1);
    draft.erase(this->Group + name);
    if (dataset) {
      draft[this->Group + name] = dataset;
    }
    testing::WriteHdf5(this->Cluster(1), draft);
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

  testing::TempFolder Folder;
  Catalog Data = testing::SmallCatalog();
  const std::string Group = testing::PatchGroup(Data.Patches[2]);
};

}  // namespace

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

TEST_F(SamraiLocator, KnowsLittleEndianValues)
{
  this->Damage("density", testing::LittleEndianFloats(DraftValues(this->Data, 2, 0, 0)));
  const LocationTable table = this->Locate({{2, 0}});
  this->ExpectLocated(table, 0, {2, 0});
  EXPECT_FALSE(table.ByteRanges[0].BigEndian);
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

TEST_F(SamraiLocator, SaysWhenAFileIsTruncated)
{
  std::filesystem::resize_file(this->Cluster(1), std::filesystem::file_size(this->Cluster(1)) - 8);
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("truncated"));
}

TEST_F(SamraiLocator, SaysWhenAPatchIsMissing)
{
  this->Data.Patches[2].Number = 9;
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("expected a group '/processor.00002/level.00001/patch.00009'"));
}

TEST_F(SamraiLocator, SaysWhenADataSetIsMissing)
{
  this->Damage("velocity.01", {});
  EXPECT_THAT(this->ProblemOf(1), HasSubstr("expected a data set '" + this->Group + "velocity.01'"));
}

TEST_F(SamraiLocator, LosesOnlyTheVariableThatIsBroken)
{
  this->Damage("velocity.01", {});
  const LocationTable table = this->Locate({{2, 0}, {2, 1}, {2, 2}});
  this->ExpectLocated(table, 0, {2, 0});
  EXPECT_EQ(table.Locations[1].Kind, Encoding::Missing);
  this->ExpectLocated(table, 2, {2, 2});
}

TEST_F(SamraiLocator, SaysWhenTheCountDoesNotFitTheBox)
{
  this->Damage("density", testing::Floats({1, 2, 3}));
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("expected 16 values in '" + this->Group +
                                            "density', from the patch's box and ghosts, found 3"));
}

TEST_F(SamraiLocator, SaysWhenTheTypeIsWrong)
{
  this->Damage("density", testing::Doubles(std::vector<double>(16)));
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("expected 4-byte floats in '" + this->Group + "density'"));
  this->Damage("density", testing::Ints(std::vector<int>(16)));
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("expected 4-byte floats"));
}

TEST_F(SamraiLocator, SaysWhenNoValuesWereWrittenYet)
{
  this->Damage("density", testing::FloatsStoredAs({}, {16}, [](hid_t) {}));
  EXPECT_THAT(this->ProblemOf(0),
      HasSubstr("expected values in '" + this->Group + "density', found no values written yet"));
}

TEST_F(SamraiLocator, FollowsNoExternalLinkToADataSet)
{
  const std::string other = this->Folder / "other.h5";
  testing::WriteHdf5(other, {{"/values", testing::Floats(DraftValues(this->Data, 2, 0, 0))}});
  this->Damage("density", testing::ExternalLink(other, "/values"));
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("not supported: external link in '" + this->Group + "density'"));
}

TEST_F(SamraiLocator, FollowsNoExternalLinkToAPatch)
{
  const std::string other = this->Folder / "other.h5";
  std::filesystem::rename(this->Cluster(1), other);
  const std::string group = this->Group.substr(0, this->Group.size() - 1);
  testing::WriteHdf5(this->Cluster(1), {{group, testing::ExternalLink(other, group)}});
  EXPECT_THAT(this->ProblemOf(0), HasSubstr("not supported: external link in '" + group + "'"));
}

namespace {

/// Tests of patch 2 with sparse materials and 16 cells.
class SparseMaterials : public SamraiLocator
{
protected:
  SparseMaterials()
  {
    this->Data.Variables.push_back({"water fraction", Centering::Cell, 1, {0, 0, 0}, "materials", 1});
    this->Data.ResetPresence();
    this->Data.SetPresence(4, 2, Presence::Stored);
  }

  void Write()
  {
    Hdf5Draft draft;
    for (const auto& [name, dataset] : this->Sets) {
      draft[this->Group + "materials/" + name] = dataset;
    }
    testing::WriteHdf5(this->Cluster(1), draft);
  }

  Hdf5Draft Sets{{"mat_list", testing::Ints(std::vector<int>(16))}, {"mix_mat", testing::Ints({0, 1})},
      {"next_mat", testing::Ints({2, 0})}, {"vol_fracs", testing::Floats({0.25f, 0.75f})}};
};

}  // namespace

TEST_F(SparseMaterials, AreLocatedWithTheirMixArrays)
{
  this->Write();
  const LocationTable table = this->Locate({{2, 4}});
  ASSERT_EQ(table.Locations[0].Kind, Encoding::SparseMaterials);
  EXPECT_EQ(table.Locations[0].Material, 1);
  ASSERT_EQ(table.Locations[0].Count, 4u);
  EXPECT_EQ(table.ByteRanges[0].Bytes, 64u);
  EXPECT_EQ(table.ByteRanges[1].Bytes, 8u);
  EXPECT_EQ(table.ByteRanges[1].Type, ElementType::Int32);
  EXPECT_EQ(this->ValuesAt(table, 3), (std::vector<float>{0.25f, 0.75f}));
}

TEST_F(SparseMaterials, AreLocatedOnPatchesOfOneMaterial)
{
  this->Sets = {{"mat_list", testing::Ints({1})}};
  this->Write();
  const LocationTable table = this->Locate({{2, 4}});
  ASSERT_EQ(table.Locations[0].Kind, Encoding::SparseMaterials);
  EXPECT_EQ(table.Locations[0].Count, 1u);
}

TEST_F(SparseMaterials, MustBeContiguous)
{
  this->Sets["vol_fracs"] = testing::ChunkedFloats({0.25f, 0.75f});
  this->Write();
  EXPECT_THAT(this->ProblemOf(4), HasSubstr("materials/vol_fracs', found values in chunks"));
}

TEST_F(SparseMaterials, MustFitTheirPatch)
{
  this->Sets["mat_list"] = testing::Ints({0, 0, 0});
  this->Write();
  EXPECT_THAT(this->ProblemOf(4), HasSubstr("expected 1 or 16 values in"));
}

TEST_F(SparseMaterials, MustHaveMixArraysOfOneLength)
{
  this->Sets["next_mat"] = testing::Ints({2, 0, 0});
  this->Write();
  EXPECT_THAT(this->ProblemOf(4), HasSubstr("found 2, 3 and 2 values"));
}

TEST_F(SparseMaterials, MustHaveAllMixArrays)
{
  this->Sets.erase("vol_fracs");
  this->Write();
  EXPECT_THAT(this->ProblemOf(4), HasSubstr("materials/vol_fracs'"));
}

}  // namespace patchio
