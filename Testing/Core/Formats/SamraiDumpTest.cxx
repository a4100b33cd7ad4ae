#include "SamraiDump.h"

#include "Formats/SAMRAI/SamraiFormat.h"
#include "Hdf5/File.h"
#include "TestTools.h"

namespace patchio {
namespace {

using testing::AddLevel;

/// The corners of a patch in a summary, in SAMRAI's terms.
struct Corners
{
  double Lower[3], Upper[3];
};

class SamraiDump : public ::testing::Test
{
protected:
  /// Two levels in 2-D whose first indices are not 0.
  SamraiDump()
  {
    this->Data.Dimension = 2;
    this->Data.Step = 3;
    this->Data.Origin = {10, -1, 0};
    AddLevel(this->Data, {{{9, -3, 0}, {12, 2, 0}}, {{5, -2, 0}, {8, 2, 0}}});
    AddLevel(this->Data, {{{12, -4, 0}, {15, -1, 0}}}, {2, 2, 1});
    this->Data.Levels[0].Spacing = {0.5, 0.25, 1};
    this->Data.Levels[1].Spacing = {0.25, 0.125, 1};
    this->Data.Variables.push_back({"density", Centering::Cell, 1, {0, 0, 0}, "", -1});
  }

  std::string Write() const
  {
    const auto comm = MakeSelfCommunicator();
    draft::WriteDump(*comm, this->Folder.Path(), this->Data, [](int, int, int, std::vector<double>&) {});
    return this->Folder / "visit_dump.00003/summary.samrai";
  }

  static std::vector<Corners> CornersIn(const hdf5::File& file, std::size_t patches)
  {
    std::vector<Corners> corners(patches);
    file.Records("/extents/patch_extents", patches,
        {{"xlo", ElementType::Float64, 3, offsetof(Corners, Lower)},
            {"xup", ElementType::Float64, 3, offsetof(Corners, Upper)}},
        sizeof(Corners), corners.data());
    return corners;
  }

  testing::TempFolder Folder;
  Catalog Data;
};

}  // namespace

TEST_F(SamraiDump, StoresCornersAsSamraiDoes)
{
  const hdf5::File file(this->Write());
  const std::vector<double> corner = file.Doubles("/BASIC_INFO/XLO", 3);
  EXPECT_EQ(corner, (std::vector<double>{10 + 5 * 0.5, -1 - 3 * 0.25, 0})) << "of the domain";
  const std::vector<Corners> corners = this->CornersIn(file, 3);
  // The corners are shifted, because SAMRAI uses XLO as the position of index 0.
  EXPECT_EQ(corners[0].Lower[0], 12.5 + 9 * 0.5);
  EXPECT_EQ(corners[0].Upper[0], 12.5 + 13 * 0.5);
  EXPECT_EQ(corners[1].Lower[1], -1.75 - 2 * 0.25);
  EXPECT_EQ(corners[2].Lower[0], 12.5 + 12 * 0.25);
  EXPECT_EQ(corners[2].Upper[1], -1.75);
  EXPECT_EQ(corners[2].Upper[2], 0);
}

TEST_F(SamraiDump, IsListedOnce)
{
  this->Write();
  this->Write();
  EXPECT_EQ(testing::ReadBytes(this->Folder / "dumps.visit"), "visit_dump.00003/summary.samrai\n");
}

TEST(SamraiNames, HaveAtLeastFiveDigitsOrTwoForComponents)
{
  EXPECT_EQ(samrai::Numbered("patch.", 12345), "patch.12345");
  EXPECT_EQ(samrai::Numbered("patch.", 1234567), "patch.1234567");
  EXPECT_EQ(samrai::ClusterName(12), "processor_cluster.00012.samrai");
  EXPECT_EQ(samrai::ComponentName("density", 1, 0), "density");
  EXPECT_EQ(samrai::ComponentName("velocity", 3, 2), "velocity.02");
  EXPECT_EQ(samrai::ComponentName("spectrum", 200, 123), "spectrum.123");
}

}  // namespace patchio
