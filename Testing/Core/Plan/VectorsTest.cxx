#include "Plan/Interest.h"

#include "TestTools.h"

#include <gmock/gmock.h>

#include <numeric>

namespace patchio {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

using Found = std::vector<std::pair<std::string, std::vector<int>>>;

Catalog WithVariables(const std::vector<std::string>& names, int dimension = 3)
{
  Catalog catalog;
  catalog.Dimension = dimension;
  for (const std::string& name : names) {
    catalog.Variables.emplace_back().Name = name;
  }
  return catalog;
}

/// Returns the vectors if all variables are wanted.
Found VectorsOf(const Catalog& catalog)
{
  std::vector<int> wanted(catalog.Variables.size());
  std::iota(wanted.begin(), wanted.end(), 0);
  Found found;
  for (const ComposedVector& vector : ComposedVectors(catalog, wanted)) {
    found.emplace_back(vector.Name, vector.Components);
  }
  return found;
}

Found VectorsOf(const std::vector<std::string>& names, int dimension = 3)
{
  return VectorsOf(WithVariables(names, dimension));
}

}  // namespace

TEST(Vectors, AreFoundByTheLetterThatTheirComponentsDifferIn)
{
  EXPECT_THAT(VectorsOf({"x_velocity", "density", "y_velocity", "z_velocity"}),
      ElementsAre(Pair("velocity", ElementsAre(0, 2, 3))));
  EXPECT_THAT(VectorsOf({"velocity_z", "velocity_y", "velocity_x"}),
      ElementsAre(Pair("velocity", ElementsAre(2, 1, 0))));
  EXPECT_THAT(VectorsOf({"Bx", "By", "Bz"}), ElementsAre(Pair("B", ElementsAre(0, 1, 2))));
  EXPECT_THAT(VectorsOf({"xmom", "ymom", "zmom"}), ElementsAre(Pair("mom", ElementsAre(0, 1, 2))));
  EXPECT_THAT(VectorsOf({"ux_non_staggered", "uy_non_staggered", "uz_non_staggered"}),
      ElementsAre(Pair("u_non_staggered", ElementsAre(0, 1, 2))));
  EXPECT_THAT(VectorsOf({"U", "V", "W"}), ElementsAre(Pair("velocity", ElementsAre(0, 1, 2))));
  EXPECT_THAT(
      VectorsOf({"u_c00", "v_c00", "w_c00"}), ElementsAre(Pair("velocity_c00", ElementsAre(0, 1, 2))));
}

TEST(Vectors, AreNotMadeOfWhatDoesNotBelongTogether)
{
  EXPECT_THAT(VectorsOf({"x_velocity", "y_velocity"}), IsEmpty()) << "one is missing in three dimensions";
  EXPECT_THAT(VectorsOf({"x", "y", "z"}), IsEmpty()) << "there is no name for it";
  EXPECT_THAT(VectorsOf({"Ux", "uy", "uz"}), IsEmpty());
  EXPECT_THAT(VectorsOf({"UX", "Uy", "Uz"}), IsEmpty());
  EXPECT_THAT(VectorsOf({"ux_max", "uy_max", "uz_max"}), IsEmpty());
  EXPECT_THAT(VectorsOf({"rho0_sgx", "rho0_sgy", "rho0_sgz"}), IsEmpty()) << "densities on three grids";
  EXPECT_THAT(VectorsOf({"taxes", "tayes", "tazes"}), IsEmpty()) << "a letter inside a word";
  EXPECT_THAT(VectorsOf({"up", "vp", "wp"}), IsEmpty()) << "u, v, w are words by themselves";
  EXPECT_THAT(VectorsOf({"", "é", "x"}), IsEmpty());

  Catalog catalog = WithVariables({"x_v", "y_v", "z_v"});
  EXPECT_THAT(ComposedVectors(catalog, {0, 1}), IsEmpty()) << "one is not wanted";
  catalog.Variables[1].Center = Centering::Node;
  EXPECT_THAT(VectorsOf(catalog), IsEmpty());
  catalog.Variables[1].Center = Centering::Cell;
  catalog.Variables[2].Components = 2;
  EXPECT_THAT(VectorsOf(catalog), IsEmpty());
}

TEST(Vectors, HaveTwoComponentsOnAPlane)
{
  EXPECT_THAT(VectorsOf({"x_velocity", "y_velocity"}, 2), ElementsAre(Pair("velocity", ElementsAre(0, 1))));
  Catalog winds = WithVariables({"u", "v", "w"});
  winds.Geographic = true;
  EXPECT_THAT(VectorsOf(winds), ElementsAre(Pair("velocity", ElementsAre(0, 1)))) << "w has other units";
}

TEST(Vectors, TakeNoNameFromAVariable)
{
  EXPECT_THAT(VectorsOf({"x_velocity", "y_velocity", "z_velocity", "velocity", "u", "v", "w"}),
      ::testing::UnorderedElementsAre(
          Pair("velocity_", ElementsAre(0, 1, 2)), Pair("velocity__", ElementsAre(4, 5, 6))));
}

TEST(Vectors, AreNotComposedWhereTheDataHaveThem)
{
  Catalog catalog = WithVariables({"U", "U_x", "U_y", "F", "F_x", "F_y"}, 2);
  catalog.Variables[0].Components = 2;
  catalog.Variables[3].Components = 3;
  EXPECT_THAT(VectorsOf(catalog), IsEmpty()) << "as IBAMR writes them";

  catalog.Variables[0].Center = Centering::Node;
  EXPECT_THAT(VectorsOf(catalog), ElementsAre(Pair("U_", ElementsAre(1, 2)))) << "the data have it elsewhere";
  catalog.Variables[0].Center = Centering::Cell;
  catalog.Variables[0].Components = 4;
  EXPECT_THAT(VectorsOf(catalog), ElementsAre(Pair("U_", ElementsAre(1, 2)))) << "the data have a tensor";
}

}  // namespace patchio
