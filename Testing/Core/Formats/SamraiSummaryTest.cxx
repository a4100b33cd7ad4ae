#include "Formats/SAMRAI/SamraiFormat.h"

#include "SamraiDraft.h"
#include "TestTools.h"

#include <set>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::Hdf5Draft;
using namespace testing;  // the draft's data sets

const std::string Basic = "/BASIC_INFO/";

class SamraiSummary : public ::testing::Test
{
protected:
  Catalog Read(const Hdf5Draft& draft) const
  {
    WriteHdf5(this->Path, draft);
    return samrai::SamraiFormat().ReadCatalog(this->Path);
  }

  std::string Refuse(const Hdf5Draft& draft) const
  {
    const std::string message = MessageOf([&] { this->Read(draft); });
    EXPECT_THAT(message, HasSubstr(this->Path));
    return message;
  }

  TempFolder Folder;
  std::string Path = this->Folder / "summary.samrai";
  Hdf5Draft Draft = DraftSummary(SmallCatalog());
};

/// Returns one level for each ratio, each with one patch on the cells 0 to 3.
Catalog RefinedBy(const std::vector<Int3>& ratios)
{
  Catalog catalog;
  const Box cells{{0, 0, 0}, {3, 3, 3}};
  AddLevel(catalog, {cells});
  for (const Int3& ratio : ratios) {
    AddLevel(catalog, {cells}, ratio);
  }
  for (Level& level : catalog.Levels) {
    level.Spacing = {1, 1, 1};
  }
  catalog.ResetPresence();
  return catalog;
}

}  // namespace

TEST_F(SamraiSummary, RefusesRatiosThatTogetherLeaveTheRangeOfIndices)
{
  std::vector<Int3> ratios(3, Int3{2, 1024, 1});
  EXPECT_EQ(this->Read(DraftSummary(RefinedBy(ratios))).Levels.size(), 4u) << "2^30 on axis 1";
  ratios.push_back({2, 1, 1});
  EXPECT_EQ(this->Read(DraftSummary(RefinedBy(ratios))).Levels.size(), 5u);
  ratios.push_back({2, 2, 1});
  EXPECT_THAT(this->Refuse(DraftSummary(RefinedBy(ratios))),
      HasSubstr("expected refinement ratios of at most 1073741824 from level 0 to level 5, found 2147483648 "
                "on axis 1"));
  EXPECT_THAT(this->Refuse(DraftSummary(RefinedBy(std::vector<Int3>(40, Int3{1, 1, 1024})))),
      HasSubstr("to level 4, found 1099511627776 on axis 2"))
      << "before anything overflows";
}

TEST_F(SamraiSummary, TakesDumpsOfOldWritersWithoutGhosts)
{
  this->Draft.erase(Basic + "var_number_ghosts");
  EXPECT_EQ(this->Read(this->Draft).Variables[2].Ghosts, (Int3{0, 0, 0}));
}

TEST_F(SamraiSummary, TakesRectilinearAsUniformAndAleAsDeformed)
{
  this->Draft[Basic + "grid_type"] = Texts({"RECTILINEAR"});
  EXPECT_EQ(this->Read(this->Draft).Grid, GridType::Uniform);
  this->Draft[Basic + "grid_type"] = Texts({"ALE"});
  EXPECT_THAT(this->Refuse(this->Draft), HasSubstr("Coords"));
}

namespace {

/// Adds sparse materials, which patch 1 lacks.
void AddMaterials(Hdf5Draft& draft, const std::vector<std::string>& names, int ghosts = 0)
{
  std::vector<MinMaxDraft> list(3);
  list[1].Defined = 0;
  draft["/materials/material_names"] = Texts(names);
  draft["/materials/material_number_ghosts"] = Ints({ghosts, 0, 0});
  draft["/extents/materials/sparse_material_list"] = Records(list);
}

}  // namespace

TEST_F(SamraiSummary, LacksSparseMaterialsWhereTheyAreNotDefined)
{
  AddMaterials(this->Draft, {"iron", "water"});
  const Catalog read = this->Read(this->Draft);
  const int water = read.FindVariable("water fraction");
  ASSERT_GE(water, 0);
  EXPECT_EQ(read.PresenceOf(water, 0), Presence::Stored);
  EXPECT_EQ(read.PresenceOf(water, 1), Presence::Absent);
}

TEST_F(SamraiSummary, GivesEveryMaterialANameOfItsOwn)
{
  const std::vector<std::string> taken{
      "iron fraction", "iron fraction (material)", "iron fraction (material 4)"};
  for (const std::size_t count : {1u, 3u}) {
    Catalog written = SmallCatalog();
    for (std::size_t v = 0; v < count; ++v) {
      written.Variables[v].Name = written.Variables[v].StoredName = taken[v];
    }
    Hdf5Draft draft = DraftSummary(written);
    AddMaterials(draft, {"iron", "iron", "water", "iron"});
    const Catalog read = this->Read(draft);
    std::set<std::string> names;
    for (const Variable& variable : read.Variables) {
      names.insert(variable.Name);
    }
    EXPECT_EQ(read.Variables.size(), 8u);
    EXPECT_EQ(names.size(), read.Variables.size());
    EXPECT_EQ(read.FindVariable("iron fraction"), 0) << "names of variables stay";
    EXPECT_EQ(read.Variables[4].Name, count == 1 ? "iron fraction (material)" : "iron fraction (material 5)");
    EXPECT_EQ(read.Variables[6].Name, "water fraction");
  }
  Catalog written = SmallCatalog();
  written.Variables[0].Name = written.Variables[0].StoredName = taken[0];
  written.Variables[1].Name = written.Variables[1].StoredName = "rust in iron";
  Hdf5Draft dense = DraftSummary(written);
  dense["/materials/material_names"] = Texts({"iron"});
  dense["/materials/material_number_ghosts"] = Ints({0, 0, 0});
  for (const char* const name : {"iron-Fractions", "species/rust"}) {
    dense[std::string("/extents/materials/iron/") + name] = Records(std::vector<MinMaxDraft>(3));
  }
  const Catalog read = this->Read(dense);
  EXPECT_EQ(read.FindVariable("iron fraction"), 0);
  EXPECT_EQ(read.FindVariable("iron fraction (material)"), 4);
  EXPECT_EQ(read.FindVariable("rust in iron (material)"), 5);
}

TEST_F(SamraiSummary, RefusesWhatLiesInAnotherFile)
{
  const std::string other = this->Folder / "other.h5";
  WriteHdf5(other, this->Draft);
  this->Draft[Basic + "time"] = ExternalLink(other, Basic + "time");
  EXPECT_THAT(this->Refuse(this->Draft), HasSubstr("not supported: external link in '/BASIC_INFO/time'"));
}

TEST_F(SamraiSummary, NeedsEveryDataSetThatItUses)
{
  const std::set<std::string> needless{Basic + "var_number_ghosts", Basic + "child_array_length",
      Basic + "time_of_dump", Basic + "number_processors", Basic + "number_file_clusters",
      Basic + "patch_names_printf", Basic + "scaling", Basic + "material_state_variable",
      Basic + "parent_array", Basic + "parent_array_length", Basic + "parent_pointer_array",
      "/extents/bdry_type"};
  for (const auto& [name, dataset] : this->Draft) {
    Hdf5Draft draft = this->Draft;
    draft.erase(name);
    if (needless.count(name) > 0) {
      EXPECT_EQ(this->Read(draft).Patches.size(), 3u) << name;
    } else {
      EXPECT_THAT(this->Refuse(draft), HasSubstr("'" + name + "'"));
    }
  }
}

namespace {

struct Damage
{
  const char* Name;  ///< path of the data set that is replaced
  DraftDataset Dataset;
  const char* Message;  ///< part of the reader's message
};

/// Returns the patches of SmallCatalog, one of them changed.
std::vector<PatchMapDraft> Map(int patch, const PatchMapDraft& changed)
{
  std::vector<PatchMapDraft> map{{0, 0, 0, 0}, {1, 1, 0, 1}, {1, 2, 1, 0}};
  map[patch] = changed;
  return map;
}

std::vector<PatchExtentsDraft> Boxes(
    int patch, const std::array<int, 3>& lower, const std::array<int, 3>& upper)
{
  std::vector<PatchExtentsDraft> boxes{
      {{0, 0, 0}, {3, 2, 0}, {}, {}}, {{4, 0, 0}, {6, 2, 0}, {}, {}}, {{2, 2, 0}, {5, 5, 0}, {}, {}}};
  boxes[patch].Lower = lower;
  boxes[patch].Upper = upper;
  return boxes;
}

const double Infinity = std::numeric_limits<double>::infinity();
const double NotANumber = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_F(SamraiSummary, SaysWhatIsWrongWithDamagedValues)
{
  const std::vector<Damage> damages{
      {"VDR_version_number", Floats({1}), "expected VDR version 2 or 3, found version 1"},
      {"VDR_version_number", Floats({2, 2}), "expected 1 values"},
      {"grid_type", Texts({"BLOCK"}),
          "expected grid_type CARTESIAN, RECTILINEAR, DEFORMED or ALE, found 'BLOCK'"},
      {"grid_type", Ints({1}), "strings of fixed length"},
      {"number_dimensions_of_problem", Ints({4}), "expected 2 or 3 dimensions, found 4"},
      {"number_levels", Ints({0}), "expected at least one level, found 0"},
      {"number_levels", Ints({-1}), "expected a number_levels from 0 to "},
      {"number_levels", Ints({2'000'000'000}), ", found 2000000000"},
      {"number_levels", Ints({3}), "expected 3 values in '/BASIC_INFO/number_patches_at_level', found 2"},
      {"number_global_patches", Ints({2'000'000'000}), "expected a number_global_patches from 0 to "},
      {"number_global_patches", Ints({4}), "expected 4 patches on all levels together, found 3"},
      {"number_global_patches", Ints({2}), "found 1 on level 1 after 2 on coarser ones"},
      {"number_patches_at_level", Ints({4, -1}), "expected 3 patches on all levels together"},
      {"ratios_to_coarser_levels", NativeInts({-1, -1, 0, 0, 2, 0}),
          "a refinement ratio of 1 to 1024 on level 1"},
      {"ratios_to_coarser_levels", NativeInts({-1, -1, 0, 2, 5000, 0}), "found 5000"},
      {"dx", NativeDoubles({0.5, 0, 0, 0.25, 0.125, 0}), "a positive cell size on level 0"},
      {"dx", NativeDoubles({0.5, 0.25, 0, NotANumber, 0.125, 0}), "a positive cell size on level 1"},
      {"XLO", Doubles({Infinity, 0, 0}), "a finite corner of the domain"},
      {"number_visit_variables", Ints({-4}), "a number_visit_variables from 0 to "},
      {"var_names", Texts({"density", "", "pressure", "fine only"}), "a name and at least one component"},
      {"var_number_components", Ints({1, 0, 1, 1}), "found 'velocity' with 0"},
      {"var_number_components", Ints({1, 2'000'000'000, 1, 1}), "found 'velocity' with 2000000000"},
      {"var_number_ghosts", NativeInts({0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0}),
          "ghost layers for 'pressure', found -1"},
      {"child_array_length", Ints({2}), "expected 2 values in '/BASIC_INFO/child_array', found 1"},
      {"child_array", Ints({1}), "expected children of patch 0 on the next finer level, found patch 1"},
      {"child_array", Ints({77}), "expected children of patch 0 on the next finer level, found patch 77"},
      {"child_pointer_array", Records(std::vector<PointerDraft>{{1, 1}, {-1, 0}, {-1, 0}}),
          "inside child_array"},
      {"child_pointer_array", Records(std::vector<PointerDraft>{{-5, 1}, {-1, 0}, {-1, 0}}),
          "inside child_array"},
      {"child_pointer_array", Records(std::vector<PointerDraft>{{0, 1}, {0, 1}, {-1, 0}}),
          "expected children of patch 1 inside child_array"},
  };
  for (const Damage& damage : damages) {
    Hdf5Draft draft = this->Draft;
    draft[Basic + damage.Name] = damage.Dataset;
    EXPECT_THAT(this->Refuse(draft), HasSubstr(damage.Message)) << damage.Name;
  }
}

TEST_F(SamraiSummary, SaysWhatIsWrongWithDamagedPatches)
{
  const int huge = std::numeric_limits<int>::max();
  const std::vector<Damage> damages{
      {"patch_map", Ints({1, 2, 3}), "expected records in '/extents/patch_map', found plain values"},
      {"patch_map", Records(Map(1, {1, 1, 1, 1})), "expected patch 1 on level 0 in patch_map, found level 1"},
      {"patch_map", Records(Map(2, {1, 2, 1, -1})), "non-negative numbers for patch 2"},
      {"patch_map", Records(Map(2, {-1, 2, 1, 0})), "non-negative numbers for patch 2"},
      {"patch_map", Records(std::vector<PatchMapDraft>(2)),
          "expected 3 values in '/extents/patch_map', found 2"},
      {"patch_extents", Records(Boxes(0, {4, 0, 0}, {3, 2, 0})), "a box of cells for patch 0"},
      {"patch_extents", Records(Boxes(1, {0, 0, 0}, {huge, 2, 0})),
          "found indices 0 to 2147483647 on axis 0"},
      {"patch_extents", Records(Boxes(2, {0, -huge, 0}, {0, 2, 0})), "a box of cells for patch 2"},
      {"patch_extents", Records(Boxes(2, {0, 0, 0}, {1 << 29, 1 << 29, 0})), "a box of cells for patch 2"},
      {"density-Extents", Ints({0, 0, 0}), "expected records in '/extents/density-Extents'"},
      {"density-Extents", Records(std::vector<MinMaxDraft>(4)),
          "expected 3 values in '/extents/density-Extents', found 4"},
  };
  for (const Damage& damage : damages) {
    Hdf5Draft draft = this->Draft;
    draft[std::string("/extents/") + damage.Name] = damage.Dataset;
    EXPECT_THAT(this->Refuse(draft), HasSubstr(damage.Message)) << damage.Name;
  }
}

TEST_F(SamraiSummary, RefusesWrongCoordinatesOfDeformedGrids)
{
  Catalog written = SmallCatalog();
  written.Grid = GridType::Curvilinear;
  EXPECT_THAT(this->Refuse(DraftSummary(written)), HasSubstr("found none"));
  written.Variables[1].Name = written.Variables[1].StoredName = "Coords";
  written.Variables[1].Center = Centering::Cell;
  EXPECT_THAT(this->Refuse(DraftSummary(written)),
      HasSubstr("found a variable with another centring or number of components"));
}

TEST_F(SamraiSummary, RefusesWildGhostsOfMaterials)
{
  AddMaterials(this->Draft, {"iron"}, 65);
  EXPECT_THAT(this->Refuse(this->Draft), HasSubstr("0 to 64 ghost layers of materials, found 65"));
}

TEST_F(SamraiSummary, RefusesAClusterFile)
{
  EXPECT_THAT(this->Refuse(DraftCluster(SmallCatalog(), 0)),
      HasSubstr("processor_cluster files contain only values"));
}

}  // namespace patchio
