#include "Read/ReadRequest.h"

#include "SamraiDraft.h"

#include <gmock/gmock.h>

namespace patchio {
namespace {

using ::testing::ElementsAre;

/// Variables in 2-D: density, velocity at nodes, pressure with a layer of ghosts along x, and another one.
class ChosenVariables : public ::testing::Test
{
protected:
  std::vector<int> Numbers() const
  {
    std::vector<int> numbers;
    for (const VariableRequest& request : RequestsFor(this->Data, this->Choice, {0, 0, 0})) {
      numbers.push_back(request.Variable);
    }
    return numbers;
  }

  Catalog Data = testing::SmallCatalog();
  VariableChoice Choice;
};

}  // namespace

TEST_F(ChosenVariables, AreAllButThoseThatAreOff)
{
  EXPECT_THAT(this->Numbers(), ElementsAre(0, 1, 2, 3));
  this->Choice.CellsOff = {"density", "velocity", "not in the data"};
  EXPECT_THAT(this->Numbers(), ElementsAre(1, 2, 3)) << "the velocity is not at cells";
  this->Choice.PointsOff = {"velocity"};
  EXPECT_THAT(this->Numbers(), ElementsAre(2, 3));
  this->Data.CoordinatesVariable = 1;
  EXPECT_THAT(this->Numbers(), ElementsAre(1, 2, 3)) << "nothing can be shown without positions";
}

TEST_F(ChosenVariables, HaveVectorsAndTensorsOfThreeDimensions)
{
  this->Data.Variables[3].Components = 4;
  const std::vector<VariableRequest> flat = RequestsFor(this->Data, this->Choice, {1, 1, 0});
  EXPECT_EQ(flat[0].OutputComponents, 1);
  EXPECT_EQ(flat[1].OutputComponents, 3);
  EXPECT_THAT(flat[1].Slots, ElementsAre(0, 1));
  EXPECT_EQ(flat[3].OutputComponents, 9);
  EXPECT_THAT(flat[3].Slots, ElementsAre(0, 1, 3, 4));
  EXPECT_EQ(flat[3].Ghosts, (Int3{1, 1, 0}));
  this->Data.Dimension = 3;
  EXPECT_EQ(RequestsFor(this->Data, this->Choice, {0, 0, 0})[1].OutputComponents, 2) << "stays as it is";
}

TEST_F(ChosenVariables, HaveTheGhostsOfTheWidest)
{
  EXPECT_EQ(GhostsOf(this->Data, this->Choice), (Int3{1, 0, 0}));
  this->Choice.CellsOff = {"pressure"};
  EXPECT_EQ(GhostsOf(this->Data, this->Choice), (Int3{0, 0, 0}));
}

}  // namespace patchio
