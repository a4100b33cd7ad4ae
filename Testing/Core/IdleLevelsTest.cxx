#include "Plan/IdleLevels.h"

#include "TestTools.h"

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

/// Two levels of refinement, two boxes beside them, a list of points with values and one without.
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

TEST(IdleLevels, AreThoseThatNothingWantedIsOn)
{
  const Catalog catalog = ManyGrids();
  // The last level has places only, and is shown for their sake.
  EXPECT_EQ(IdleLevels(catalog, 0, All, {OfSensor, Places}), (Flags{true, true, false, true, false}));
  EXPECT_EQ(IdleLevels(catalog, 0, All, {OfDomain, OfSurface}), (Flags{false, false, true, false, false}));
}

TEST(IdleLevels, OfRefinementBelongTogether)
{
  EXPECT_EQ(IdleLevels(ManyGrids(), 0, All, {OfFinest}), (Flags{false, false, true, true, false}));
}

TEST(IdleLevels, AreNoneWhereNothingIsWanted)
{
  const Flags none(5, false);
  EXPECT_EQ(IdleLevels(ManyGrids(), 0, All, {}), none);
  EXPECT_EQ(IdleLevels(ManyGrids(), 0, All, {Places}), none) << "places come unasked";
  EXPECT_EQ(IdleLevels(ManyGrids(), 0, All, {Nowhere}), none);
}

TEST(IdleLevels, DependOnTheLevelsThatCount)
{
  EXPECT_EQ(IdleLevels(ManyGrids(), 0, 1, {OfSensor}), Flags(5, false)) << "nothing else is to be seen";
  EXPECT_EQ(IdleLevels(ManyGrids(), 2, 3, {OfSensor}), (Flags{false, false, false, true, false}));
}

TEST(IdleLevels, OfARectilinearGridAreEachAGrid)
{
  Catalog catalog;
  catalog.Grid = GridKind::Rectilinear;
  testing::AddLevel(catalog, {{{0, 0, 0}, {9, 9, 9}}});
  testing::AddLevel(catalog, {{{0, 0, -1}, {9, 9, -1}}});
  catalog.Variables.resize(2);
  catalog.ResetPresence();
  catalog.SetPresence(0, 0, Presence::Stored);
  catalog.SetPresence(1, 1, Presence::Stored);
  EXPECT_EQ(IdleLevels(catalog, 0, All, {0}), (Flags{false, true}));
  EXPECT_EQ(IdleLevels(catalog, 0, All, {1}), (Flags{true, false}));
  catalog.Grid = GridKind::Uniform;
  EXPECT_EQ(IdleLevels(catalog, 0, All, {0}), (Flags{false, false}));
}

TEST(IdleLevels, IgnoreNodePositions)
{
  Catalog catalog = ManyGrids();
  catalog.CoordinatesVariable = OfDomain;
  EXPECT_EQ(IdleLevels(catalog, 0, All, {OfDomain, OfSensor}), (Flags{true, true, false, true, false}));
}

}  // namespace patchio
