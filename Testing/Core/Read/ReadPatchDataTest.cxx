#include "Read/ReadPatchData.h"

#include "Base/Memory.h"
#include "SamraiDraft.h"
#include "TestTools.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace patchio {
namespace {

using testing::DraftValue;
using ::testing::HasSubstr;

class ReadPatchDataOf : public ::testing::Test
{
protected:
  ReadPatchDataResult Read(
      const std::vector<int>& patches, const std::vector<const char*>& names, int threads = 2) const
  {
    return ReadPatchData(this->Summary, patches.data(), static_cast<int>(patches.size()), names.data(),
        static_cast<int>(names.size()), threads);
  }

  static std::vector<float> ValuesOf(const VariableData& variable)
  {
    std::vector<float> values(variable.Bytes / sizeof(float));
    std::memcpy(values.data(), variable.Data.get(), variable.Bytes);
    return values;
  }

  testing::TempFolder Folder;
  Catalog Data = testing::SmallCatalog();
  std::string Summary = testing::WriteDump(this->Folder.Path(), this->Data);
};

}  // namespace

TEST_F(ReadPatchDataOf, GivesPatchesAndVariablesInTheOrderAsked)
{
  const ReadPatchDataResult result = this->Read({2, 0}, {"velocity", "density"});
  EXPECT_EQ(result.Error, ReadError::None) << result.Message;
  EXPECT_TRUE(result.Message.empty());
  ASSERT_EQ(result.Patches.size(), 2u);
  EXPECT_EQ(result.Patches[0].Id, 2);
  EXPECT_EQ(result.Patches[1].Id, 0);
  const VariableData& velocity = result.Patches[0].Variables.at(0);
  EXPECT_EQ(velocity.Name, "velocity");
  EXPECT_EQ(velocity.Type, ElementType::Float32);
  EXPECT_EQ(velocity.Components, 2);
  EXPECT_EQ(velocity.Tuples, 25);
  EXPECT_EQ(velocity.Bytes, 200u);
  EXPECT_EQ(this->ValuesOf(velocity)[9], DraftValue(2, 1, 1, 4));
  EXPECT_EQ(this->ValuesOf(result.Patches[1].Variables.at(1))[3], DraftValue(0, 0, 0, 3));
}

TEST_F(ReadPatchDataOf, GivesAllVariablesWithoutNames)
{
  const int patch = 1;
  const ReadPatchDataResult result = ReadPatchData(this->Summary, &patch, 1, nullptr, 0, 1);
  ASSERT_EQ(result.Error, ReadError::None) << result.Message;
  ASSERT_EQ(result.Patches.at(0).Variables.size(), 4u);
  EXPECT_EQ(result.Patches[0].Variables[2].Name, "pressure");
  EXPECT_EQ(result.Patches[0].Variables[2].Tuples, 15) << "with the ghosts that are stored";
}

TEST_F(ReadPatchDataOf, MarksAbsentVariables)
{
  const ReadPatchDataResult result = this->Read({0, 2}, {"fine only"});
  EXPECT_EQ(result.Error, ReadError::None);
  EXPECT_TRUE(result.Patches.at(0).Variables.at(0).Absent);
  EXPECT_FALSE(result.Patches.at(0).Variables.at(0).Data);
  EXPECT_EQ(result.Patches.at(0).Variables.at(0).Bytes, 0u);
  EXPECT_FALSE(result.Patches.at(1).Variables.at(0).Absent);
}

TEST_F(ReadPatchDataOf, TakesAThreadNumberBelowOneAsOne)
{
  EXPECT_EQ(this->Read({0}, {"density"}, 0).Error, ReadError::None);
  EXPECT_EQ(this->Read({0}, {"density"}, -5).Report.ThreadsMax, 1);
}

TEST_F(ReadPatchDataOf, KnowsNoOtherVariables)
{
  const ReadPatchDataResult result = this->Read({0}, {"density", "colour"});
  EXPECT_EQ(result.Error, ReadError::UnknownVariable);
  EXPECT_THAT(result.Message, HasSubstr("has no variable 'colour'"));
  EXPECT_TRUE(result.Patches.empty());
}

TEST_F(ReadPatchDataOf, KnowsNoOtherPatches)
{
  for (const int patch : {-1, 3, std::numeric_limits<int>::max()}) {
    const ReadPatchDataResult result = this->Read({0, patch}, {"density"});
    EXPECT_EQ(result.Error, ReadError::UnknownPatch);
    EXPECT_THAT(result.Message, HasSubstr("has no patch " + std::to_string(patch)));
    EXPECT_THAT(result.Message, HasSubstr("0 to 2"));
    EXPECT_TRUE(result.Patches.empty());
  }
}

TEST_F(ReadPatchDataOf, TakesNoNullForWhatShouldBeThere)
{
  const int patch = 0;
  const char* density = "density";
  const char* nothing = nullptr;
  const auto names = ReadPatchData(this->Summary, &patch, 1, nullptr, 2, 1);
  EXPECT_EQ(names.Error, ReadError::UnknownVariable);
  EXPECT_EQ(names.Message, "variableCount is 2, but variableNames is NULL.");
  EXPECT_EQ(ReadPatchData(this->Summary, &patch, 1, &density, -1, 1).Error, ReadError::UnknownVariable);
  EXPECT_EQ(ReadPatchData(this->Summary, &patch, 1, &nothing, 1, 1).Message, "variableNames[0] is NULL.");
  const auto patches = ReadPatchData(this->Summary, nullptr, 3, &density, 1, 1);
  EXPECT_EQ(patches.Error, ReadError::UnknownPatch);
  EXPECT_EQ(patches.Message, "patchCount is 3, but patchIds is NULL.");
  EXPECT_EQ(ReadPatchData(this->Summary, &patch, -1, &density, 1, 1).Error, ReadError::UnknownPatch);
}

TEST_F(ReadPatchDataOf, ReadsNothingOfNoPatches)
{
  const ReadPatchDataResult result = ReadPatchData(this->Summary, nullptr, 0, nullptr, 0, 1);
  EXPECT_EQ(result.Error, ReadError::None) << result.Message;
  EXPECT_TRUE(result.Patches.empty());
}

TEST_F(ReadPatchDataOf, SaysWhenTheSummaryIsMissingOrBroken)
{
  testing::WriteText(this->Summary, "broken");
  EXPECT_EQ(this->Read({0}, {"density"}).Error, ReadError::BadSummary);
  EXPECT_THAT(this->Read({0}, {"density"}).Message, HasSubstr("not HDF5"));
  this->Summary = this->Folder / "nothing.here";
  EXPECT_EQ(this->Read({0}, {"density"}).Error, ReadError::BadSummary);
  EXPECT_THAT(this->Read({0}, {"density"}).Message, HasSubstr("No such file"));
}

TEST_F(ReadPatchDataOf, SaysWhenTheSummaryChangesDuringTheCall)
{
  std::atomic<bool> done{false};
  std::thread simulation([&] {
    const auto begin = std::filesystem::last_write_time(this->Summary);
    for (int i = 1; !done; ++i) {
      std::filesystem::last_write_time(this->Summary, begin + std::chrono::seconds(i));
    }
  });
  ReadPatchDataResult result;
  for (int i = 0; i < 1000 && result.Error == ReadError::None; ++i) {
    result = this->Read({0}, {"density"});
  }
  done = true;
  simulation.join();
  EXPECT_EQ(result.Error, ReadError::BadSummary);
  EXPECT_THAT(result.Message, HasSubstr("a newer file"));
}

TEST_F(ReadPatchDataOf, GivesWhatIsSoundBesideBadData)
{
  std::filesystem::remove(testing::ClusterPath(this->Summary, 1));
  const ReadPatchDataResult result = this->Read({0, 1}, {"density"});
  EXPECT_EQ(result.Error, ReadError::BadData);
  EXPECT_THAT(result.Message, HasSubstr("1 of 2 arrays cannot be read. The first error: "));
  EXPECT_THAT(result.Message, HasSubstr("processor_cluster.00001.samrai"));
  EXPECT_EQ(result.Patches.at(0).Variables.at(0).Error, ReadError::None);
  EXPECT_EQ(this->ValuesOf(result.Patches[0].Variables[0])[11], DraftValue(0, 0, 0, 11));
  EXPECT_EQ(result.Patches.at(1).Variables.at(0).Error, ReadError::BadData);
  EXPECT_FALSE(result.Patches.at(1).Variables.at(0).Data);
}

TEST_F(ReadPatchDataOf, SaysWhenMemoryDoesNotSuffice)
{
  if (AvailableMemory() > 2'000'000'000'000) {
    GTEST_SKIP() << "this machine has enough";
  }
  // A patch of a single material needs no bytes in a file, but many bytes in memory.
  testing::Hdf5Draft draft = testing::DraftSummary(this->Data);
  draft["/extents/patch_extents"] =
      testing::Records(std::vector<testing::PatchExtentsDraft>{{{0, 0, 0}, {800'000, 800'000, 0}, {}, {}},
          {{4, 0, 0}, {6, 2, 0}, {}, {}}, {{2, 2, 0}, {5, 5, 0}, {}, {}}});
  draft["/materials/material_names"] = testing::Texts({"iron"});
  draft["/materials/material_number_ghosts"] = testing::Ints({0, 0, 0});
  draft["/extents/materials/iron/iron-Fractions"] =
      testing::Records(std::vector<testing::MinMaxDraft>(3, testing::MinMaxDraft{1, 1, 1, 0, 0}));
  testing::WriteHdf5(this->Summary, draft);
  const ReadPatchDataResult result = this->Read({0}, {"iron fraction"});
  EXPECT_EQ(result.Error, ReadError::OutOfMemory);
  EXPECT_THAT(result.Message, HasSubstr("2.56 TB of memory"));
  EXPECT_EQ(this->Read({1}, {"iron fraction"}).Error, ReadError::None);
}

}  // namespace patchio
