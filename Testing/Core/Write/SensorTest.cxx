// The values of a sensor on each patch, compared with a test of each cell.
#include "Write/Sensor.h"

#include "Formats/Format.h"
#include "Formats/KWave/KwaveFile.h"
#include "TestTools.h"
#include "Write/SensorWriter.h"

#include <map>
#include <random>

namespace patchio::output {
namespace {

/// Returns a grid that is cut at random places along each axis and may not begin at 0, and a fine patch,
/// which sensors ignore.
Catalog RandomGrid(std::mt19937& random)
{
  Catalog data;
  data.Levels.resize(2);
  std::vector<std::vector<int>> cuts(3);
  for (std::vector<int>& cut : cuts) {
    cut = {static_cast<int>(random() % 7) - 3};
    for (unsigned part = 0; part < 1 + random() % 3; ++part) {
      cut.push_back(cut.back() + 1 + static_cast<int>(random() % 5));
    }
  }
  for (std::size_t k = 0; k + 1 < cuts[2].size(); ++k) {
    for (std::size_t j = 0; j + 1 < cuts[1].size(); ++j) {
      for (std::size_t i = 0; i + 1 < cuts[0].size(); ++i) {
        data.Patches.emplace_back().Cells = {{cuts[0][i], cuts[1][j], cuts[2][k]},
            {cuts[0][i + 1] - 1, cuts[1][j + 1] - 1, cuts[2][k + 1] - 1}};
      }
    }
  }
  data.Patches.push_back(data.Patches.front());
  data.Patches.back().Level = 1;
  return data;
}

std::vector<int> AllPatches(const Catalog& data)
{
  std::vector<int> patches(data.Patches.size());
  for (std::size_t p = 0; p < patches.size(); ++p) {
    patches[p] = static_cast<int>(p);
  }
  return patches;
}

/// Returns the cell at each place of a data set, according to the runs.
std::map<std::int64_t, Int3> CellsIn(const std::vector<SensorRun>& runs, const Catalog& data)
{
  std::map<std::int64_t, Int3> cells;
  std::int64_t before = -1;
  for (const SensorRun& run : runs) {
    EXPECT_EQ(data.Patches[run.Patch].Level, 0);
    EXPECT_GT(run.Position, before) << "in the order of the data set";
    before = run.Position;
    for (std::int64_t i = 0; i < run.Count; ++i) {
      const Int3 cell{run.Cell[0] + static_cast<int>(i), run.Cell[1], run.Cell[2]};
      EXPECT_FALSE(Intersect(data.Patches[run.Patch].Cells, Box{cell, cell}).Empty());
      EXPECT_TRUE(cells.emplace(run.Position + i, cell).second) << "twice";
    }
  }
  return cells;
}

}  // namespace

TEST(Sensor, FindsAllCellsOfCuboids)
{
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Catalog data = RandomGrid(random);
    const Box grid = GridOf(data);
    SensorPortion portion;
    Box& box = portion.Cuboids.emplace_back();
    for (int axis = 0; axis < 3; ++axis) {
      box.Lower[axis] = static_cast<int>(random() % grid.Width(axis));
      box.Upper[axis] = box.Lower[axis] + static_cast<int>(random() % (grid.Width(axis) - box.Lower[axis]));
    }
    const auto found = CellsIn(RunsIn(portion, 0, data, AllPatches(data)), data);
    std::map<std::int64_t, Int3> wanted;
    for (int k = box.Lower[2]; k <= box.Upper[2]; ++k) {
      for (int j = box.Lower[1]; j <= box.Upper[1]; ++j) {
        for (int i = box.Lower[0]; i <= box.Upper[0]; ++i) {
          const auto place = static_cast<std::int64_t>(wanted.size());
          wanted[place] = {i + grid.Lower[0], j + grid.Lower[1], k + grid.Lower[2]};
        }
      }
    }
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(static_cast<std::int64_t>(found.size()), portion.ValueCount(0));
  }
}

TEST(Sensor, FindsPointsAsKwaveCountsThem)
{
  std::mt19937 random(8);
  for (int round = 0; round < 100; ++round) {
    const Catalog data = RandomGrid(random);
    const Box grid = GridOf(data);
    SensorPortion portion;
    std::map<std::int64_t, Int3> wanted;
    for (std::int64_t point = 0; point < 20; ++point) {
      const auto number = static_cast<std::int64_t>(random() % grid.CellCount());
      portion.Points.push_back(number + 1);
      wanted[point] = {static_cast<int>(number % grid.Width(0)) + grid.Lower[0],
          static_cast<int>(number / grid.Width(0) % grid.Width(1)) + grid.Lower[1],
          static_cast<int>(number / grid.Width(0) / grid.Width(1)) + grid.Lower[2]};
    }
    portion.Points.push_back(grid.CellCount() + 1);  // beyond the grid, so no patch has it
    EXPECT_EQ(CellsIn(RunsIn(portion, 0, data, AllPatches(data)), data), wanted);
  }
}

TEST(Sensor, GivesEachPeriodAFile)
{
  const Box one{{0, 0, 0}, {1, 1, 1}}, two{{2, 2, 2}, {3, 3, 3}};
  const auto portions = PortionsOf({{{one, 4}, {two, 2}, {two, 4}}, {7}}, "a/b.h5");
  ASSERT_EQ(portions.size(), 3u);
  EXPECT_EQ(portions[0].Path, "a/b.h5");
  EXPECT_EQ(portions[0].Every, 2);
  EXPECT_EQ(portions[1].Path, "a/b.every4.h5");
  EXPECT_EQ(portions[1].Cuboids, (std::vector<Box>{one, two}));
  EXPECT_EQ(portions[2].Path, "a/b.points.h5");
  EXPECT_EQ(PortionsOf({{}, {7}}, "c.h5").at(0).Path, "c.h5");
}

namespace {

/// Returns a grid of 4 x 3 x 2 cells with variables of these names.
Catalog SmallGrid(const std::vector<std::string>& names)
{
  Catalog data;
  testing::AddLevel(data, {{{0, 0, 0}, {3, 2, 1}}});
  for (const std::string& name : names) {
    data.Variables.emplace_back().Name = name;
  }
  return data;
}

}  // namespace

/// A single value has the shape of the numbers in the file's header, and 3 steps of 4 points that of the
/// grid.
TEST(SensorFile, AllThatIsWrittenIsShown)
{
  struct Size
  {
    std::vector<std::int64_t> Points;
    int Steps;
  };
  const testing::TempFolder folder;
  for (const auto& [points, steps] : {Size{{1}, 1}, Size{{5}, 3}, Size{{1, 2}, 1}, Size{{1, 2, 3, 4}, 3}}) {
    Catalog data = SmallGrid({"p", "pressure"});
    data.Patches[0].Cells.Upper[2] = 0;
    const SensorPortion portion{folder / "a.h5", 1, {}, points};
    SensorFile file(portion, data, steps);
    file.Create(true);
    for (int step = 0; step < steps; ++step) {
      file.Commit({0.5 * step});
    }
    const Format& format = FormatOf(portion.Path);
    EXPECT_EQ(format.OpenSeries(portion.Path, {}).Steps.size(), static_cast<std::size_t>(steps));
    const Catalog found = format.ReadCatalog(portion.Path);
    for (const char* name : {"p", "pressure"}) {
      const int variable = found.FindVariable(name);
      ASSERT_GE(variable, 0) << name << " of " << points.size() << " points and " << steps << " steps";
      EXPECT_FALSE(found.Variables[variable].TimeInvariant) << name;
      EXPECT_EQ(found.StoredTuples(variable, 0), static_cast<std::int64_t>(points.size())) << name;
    }
    EXPECT_EQ(found.Variables.size(), 3u) << "and the positions";
  }
}

TEST(SensorFile, ANameInUseDoesNotHarmTheFileOfAnEarlierRun)
{
  const testing::TempFolder folder;
  const std::string path = folder / "a.h5";
  testing::WriteText(path, "an earlier run");
  for (const SensorPortion& portion :
      {SensorPortion{path, 1, {}, {1}}, SensorPortion{path, 1, {{{0, 0, 0}, {1, 1, 1}}}, {}}}) {
    EXPECT_THAT(testing::MessageOf([&] { SensorFile(portion, SmallGrid({"dt"}), 4); }),
        ::testing::AllOf(::testing::HasSubstr("a data set that can be named 'dt"),
            ::testing::HasSubstr("give the variable another name")));
  }
  EXPECT_EQ(testing::ReadBytes(path), "an earlier run");
}

TEST(KwaveNames, SomeNamesCannotBeOfTheSensor)
{
  for (const char* name : {"p", "ux", "pressure", "p0", "maximum", "final"}) {
    EXPECT_EQ(kwave::FaultOfName(name), "") << name;
  }
  for (const char* name : {"Nt", "dt", "t_index", "Nx", "sample_times", "sensor_mask_type", "a/b", "/", ".",
           "p_max", "u_final", "Q_term", "pml_x_size"}) {
    EXPECT_NE(kwave::FaultOfName(name), "") << name;
  }
}

}  // namespace patchio::output
