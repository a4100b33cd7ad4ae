#include "Plan/Interest.h"

#include "TestTools.h"

#include <gmock/gmock.h>

namespace patchio {
namespace {

using Flags = std::vector<bool>;
constexpr int All = 99;

enum VariableNumber
{
  OfDomain,   ///< on the levels 0 and 1
  OfFinest,   ///< on level 1 alone
  OfSensor,   ///< on the second patch of level 2 alone
  OfSurface,  ///< on level 3
  Places,     ///< positions of level 4
  Nowhere
};

Flags AllLeaves(const Catalog& catalog, int first, int last, const std::vector<int>& wanted)
{
  return ExcludedLevels(catalog, first, last, wanted, AllGrids);
}

std::vector<std::string> NamesOf(const std::vector<LevelGrid>& grids)
{
  std::vector<std::string> names;
  for (const LevelGrid& grid : grids) {
    names.push_back(grid.Name);
  }
  return names;
}

/// Returns a catalog with two levels of refinement, two separate boxes, a list of points with values and one
/// without values.
Catalog ManyGrids()
{
  Catalog catalog;
  testing::AddLevel(catalog, {{{0, 0, 0}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{2, 2, 2}, {5, 5, 5}}}, {2, 2, 2});
  testing::AddLevel(catalog, {{{2, 2, 2}, {5, 5, 5}}, {{4, 4, 4}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{0, 0, 0}, {6, 0, 0}}});
  testing::AddLevel(catalog, {{{0, 0, 0}, {3, 0, 0}}});
  catalog.Levels[2].Role = LevelRole::Separate;
  catalog.Levels[3].Role = catalog.Levels[4].Role = LevelRole::Points;
  catalog.Variables.resize(6);
  catalog.Variables[Places].Positions = true;
  catalog.LevelNames = {"domain", "finer", "boxes", "sensor", "source"};
  catalog.ResetPresence();
  catalog.SetPresence(OfDomain, 0, Presence::Stored);
  catalog.SetPresence(OfDomain, 1, Presence::Zero);
  catalog.SetPresence(OfFinest, 1, Presence::Stored);
  catalog.SetPresence(OfSensor, 3, Presence::Stored);
  catalog.SetPresence(OfSurface, 4, Presence::Stored);
  catalog.SetPresence(Places, 5, Presence::Stored);
  return catalog;
}

}  // namespace

TEST(Grids, AllLeavesOutThoseThatNothingWantedIsOn)
{
  const Catalog catalog = ManyGrids();
  // The last level has only positions of points, and is displayed because of them.
  EXPECT_EQ(AllLeaves(catalog, 0, All, {OfSensor, Places}), (Flags{true, true, false, true, false}));
  EXPECT_EQ(AllLeaves(catalog, 0, All, {OfDomain, OfSurface}), (Flags{false, false, true, false, false}));
}

TEST(Grids, HaveTheLevelsThatRefineEachOtherTogether)
{
  EXPECT_EQ(AllLeaves(ManyGrids(), 0, All, {OfFinest}), (Flags{false, false, true, true, false}));
  EXPECT_EQ(GridsOf(ManyGrids()).front().Levels, (std::vector<int>{0, 1}));
}

TEST(Grids, AllLeavesOutNoneWhereNothingIsWanted)
{
  const Flags none(5, false);
  EXPECT_EQ(AllLeaves(ManyGrids(), 0, All, {}), none);
  EXPECT_EQ(AllLeaves(ManyGrids(), 0, All, {Places}), none) << "places come unasked";
  EXPECT_EQ(AllLeaves(ManyGrids(), 0, All, {Nowhere}), none);
}

TEST(Grids, DependOnTheLevelsThatCount)
{
  EXPECT_EQ(AllLeaves(ManyGrids(), 0, 1, {OfSensor}), Flags(5, false)) << "nothing else is to be seen";
  EXPECT_EQ(AllLeaves(ManyGrids(), 2, 3, {OfSensor}), (Flags{false, false, false, true, false}));
}

TEST(Grids, OfARectilinearCatalogAreItsLevels)
{
  Catalog catalog;
  catalog.Grid = GridType::Rectilinear;
  testing::AddLevel(catalog, {{{0, 0, 0}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{0, 0, -1}, {9, 9, -1}}});
  catalog.Variables.resize(2);
  catalog.ResetPresence();
  catalog.SetPresence(0, 0, Presence::Stored);
  catalog.SetPresence(1, 1, Presence::Stored);
  EXPECT_EQ(AllLeaves(catalog, 0, All, {0}), (Flags{false, true}));
  EXPECT_EQ(AllLeaves(catalog, 0, All, {1}), (Flags{true, false}));
  catalog.Grid = GridType::Uniform;
  EXPECT_EQ(AllLeaves(catalog, 0, All, {0}), (Flags{false, false}));
}

TEST(Grids, DoNotCountNodePositionsAsValues)
{
  Catalog catalog = ManyGrids();
  catalog.CoordinatesVariable = OfDomain;
  EXPECT_EQ(AllLeaves(catalog, 0, All, {OfDomain, OfSensor}), (Flags{true, true, false, true, false}));
}

TEST(Grids, BeginWithTheOneWhoseValuesChangeAndThenWithMostValues)
{
  Catalog catalog = ManyGrids();
  // 1000 and 64 values on the refined levels, 216 in the box, 7 on the list.
  EXPECT_EQ(NamesOf(GridsOf(catalog)), (std::vector<std::string>{"domain", "boxes", "sensor", "source"}));
  for (const int timeInvariant : {OfDomain, OfFinest, OfSensor}) {
    catalog.Variables[timeInvariant].TimeInvariant = true;
  }
  EXPECT_EQ(NamesOf(GridsOf(catalog)), (std::vector<std::string>{"sensor", "domain", "boxes", "source"}));
}

TEST(Grids, HaveVariablesWhereThereAreValues)
{
  const Catalog catalog = ManyGrids();
  std::vector<std::vector<int>> variables;
  for (const LevelGrid& grid : GridsOf(catalog)) {
    variables.push_back(VariablesOn(grid, catalog));
  }
  EXPECT_EQ(variables, (std::vector<std::vector<int>>{{OfDomain, OfFinest}, {OfSensor}, {OfSurface}, {}}));
}

TEST(Grids, AutomaticShowsTheFirstWithAWantedVariable)
{
  const Catalog catalog = ManyGrids();
  const Flags domain{false, false, true, true, true}, boxes{true, true, false, true, true};
  const auto automatic = [&](const std::vector<int>& wanted) {
    return ExcludedLevels(catalog, 0, All, wanted, AutomaticGrid);
  };
  EXPECT_EQ(automatic({OfDomain, OfSensor, OfSurface, Places}), domain);
  EXPECT_EQ(automatic({OfSensor, OfSurface, Places}), boxes);
  EXPECT_EQ(automatic({}), domain) << "as if all were wanted";
  EXPECT_EQ(
      ExcludedLevels(catalog, 2, All, {OfDomain}, AutomaticGrid), (Flags{false, false, false, true, true}))
      << "the domain is out of range";
}

TEST(Grids, CanBeNamed)
{
  const Catalog catalog = ManyGrids();
  EXPECT_EQ(ExcludedLevels(catalog, 0, All, {OfDomain}, "source"), (Flags{true, true, true, true, false}));
  EXPECT_THAT(testing::MessageOf([&] { ExcludedLevels(catalog, 0, All, {OfDomain}, "sonsor"); }),
      ::testing::AllOf(::testing::HasSubstr("Automatic, All, domain, boxes, sensor, source"),
          ::testing::HasSubstr("'sonsor'")));
}

}  // namespace patchio
