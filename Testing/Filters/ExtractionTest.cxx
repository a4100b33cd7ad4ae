// Compares slices, clips, thresholds and surfaces of small data with known areas, volumes and counts. The
// same cases run on one grid, on adjacent blocks, on two levels, and on rectilinear and curvilinear grids,
// with equal results.
#include "Filters/Clip.h"
#include "Filters/DataOfParts.h"
#include "Filters/Slice.h"
#include "Filters/Threshold.h"
#include "Filters/VisibleSurface.h"
#include "vtkPatchClip.h"
#include "vtkPatchContour.h"
#include "vtkPatchSlice.h"
#include "vtkPatchThreshold.h"

#include <gmock/gmock.h>
#include <vtkBox.h>
#include <vtkCell.h>
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkCylinder.h>
#include <vtkDoubleArray.h>
#include <vtkIdList.h>
#include <vtkImageData.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPlane.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkRectilinearGrid.h>
#include <vtkSphere.h>
#include <vtkStructuredGrid.h>
#include <vtkTetra.h>
#include <vtkTriangle.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnstructuredGrid.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>

namespace patchio::filters {
namespace {

constexpr double Length = 4;  ///< edge of the cube [0, 4]^3 that all data fill
constexpr unsigned char Refined = 8, Hidden = 32;

/// Adds the arrays of cells "number", the number of the cell in its block, and "field", x + 10 y + 100 z at
/// its centre. Points have the same field.
void AddFields(vtkDataSet* grid)
{
  vtkNew<vtkDoubleArray> numbers, ofCells, ofPoints;
  numbers->SetName("number");
  ofCells->SetName("field");
  ofPoints->SetName("field");
  const auto field = [](const double* x) { return x[0] + 10 * x[1] + 100 * x[2]; };
  for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
    double bounds[6];
    grid->GetCellBounds(c, bounds);
    const double center[] = {
        (bounds[0] + bounds[1]) / 2, (bounds[2] + bounds[3]) / 2, (bounds[4] + bounds[5]) / 2};
    numbers->InsertNextValue(static_cast<double>(c));
    ofCells->InsertNextValue(field(center));
  }
  for (vtkIdType p = 0; p < grid->GetNumberOfPoints(); ++p) {
    double x[3];
    grid->GetPoint(p, x);
    ofPoints->InsertNextValue(field(x));
  }
  grid->GetCellData()->AddArray(numbers);
  grid->GetCellData()->AddArray(ofCells);
  grid->GetPointData()->AddArray(ofPoints);
}

/// Returns an image with cells of this width, from the cell with the index `first` on.
vtkSmartPointer<vtkImageData> Image(double width, const Int3& first, const Int3& cells)
{
  auto image = vtkSmartPointer<vtkImageData>::New();
  image->SetExtent(
      first[0], first[0] + cells[0], first[1], first[1] + cells[1], first[2], first[2] + cells[2]);
  image->SetSpacing(width, width, width);
  AddFields(image);
  return image;
}

/// Flags cells whose centres lie in the cube from `lower` to `upper` along all axes.
void Flag(vtkDataSet* grid, double lower, double upper, unsigned char flag)
{
  vtkNew<vtkUnsignedCharArray> flags;
  flags->SetName("vtkGhostType");
  for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
    double bounds[6];
    grid->GetCellBounds(c, bounds);
    bool isInside = true;
    for (int axis = 0; axis < 3; ++axis) {
      const double center = (bounds[2 * axis] + bounds[2 * axis + 1]) / 2;
      isInside = isInside && center > lower && center < upper;
    }
    flags->InsertNextValue(isInside ? flag : 0);
  }
  grid->GetCellData()->AddArray(flags);
}

vtkSmartPointer<vtkDataObject> OneGrid()
{
  return Image(1, {0, 0, 0}, {4, 4, 4});
}

/// Returns eight blocks of one level.
vtkSmartPointer<vtkDataObject> EightBlocks()
{
  vtkNew<vtkMultiBlockDataSet> level;
  for (int b = 0; b < 8; ++b) {
    level->SetBlock(b, Image(1, {2 * (b % 2), 2 * (b / 2 % 2), 2 * (b / 4)}, {2, 2, 2}));
  }
  auto tree = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  tree->SetBlock(0, level);
  return tree;
}

/// Returns a level with hidden cells from 1 to 3 along all axes, and a finer level with cells of half the
/// width there.
vtkSmartPointer<vtkDataObject> TwoLevels()
{
  const vtkSmartPointer<vtkImageData> coarse = Image(1, {0, 0, 0}, {4, 4, 4});
  Flag(coarse, 1, 3, Refined);
  vtkNew<vtkMultiBlockDataSet> first, second;
  first->SetBlock(0, coarse);
  second->SetBlock(0, Image(0.5, {2, 2, 2}, {4, 4, 4}));
  auto tree = vtkSmartPointer<vtkMultiBlockDataSet>::New();
  tree->SetBlock(0, first);
  tree->SetBlock(1, second);
  return tree;
}

vtkSmartPointer<vtkDataObject> Rectilinear()
{
  auto grid = vtkSmartPointer<vtkRectilinearGrid>::New();
  vtkNew<vtkDoubleArray> nodes;
  for (const double node : {0.0, 0.25, 1.75, 2.5, 4.0}) {
    nodes->InsertNextValue(node);
  }
  grid->SetDimensions(5, 5, 5);
  grid->SetXCoordinates(nodes);
  grid->SetYCoordinates(nodes);
  grid->SetZCoordinates(nodes);
  AddFields(grid);
  return grid;
}

/// Returns the same cube with moved inner points.
vtkSmartPointer<vtkDataObject> Curvilinear()
{
  auto grid = vtkSmartPointer<vtkStructuredGrid>::New();
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (int k = 0; k < 5; ++k) {
    for (int j = 0; j < 5; ++j) {
      for (int i = 0; i < 5; ++i) {
        // Planes of z stay planes, and cells keep plane faces along x and y.
        points->InsertNextPoint(i + 0.1 * std::sin(M_PI * i / 4) * 2, j, k);
      }
    }
  }
  grid->SetDimensions(5, 5, 5);
  grid->SetPoints(points);
  AddFields(grid);
  return grid;
}

const std::map<std::string, std::function<vtkSmartPointer<vtkDataObject>()>> Inputs{{"one grid", OneGrid},
    {"eight blocks", EightBlocks}, {"two levels", TwoLevels}, {"rectilinear", Rectilinear},
    {"curvilinear", Curvilinear}};

double AreaOf(const std::vector<vtkSmartPointer<vtkPolyData>>& pieces)
{
  double area = 0;
  for (const auto& piece : pieces) {
    for (vtkIdType c = 0; c < piece->GetNumberOfCells(); ++c) {
      vtkCell* const cell = piece->GetCell(c);
      double a[3], b[3], next[3];
      cell->GetPoints()->GetPoint(0, a);
      for (vtkIdType i = 1; i + 1 < cell->GetNumberOfPoints(); ++i) {
        cell->GetPoints()->GetPoint(i, b);
        cell->GetPoints()->GetPoint(i + 1, next);
        area += vtkTriangle::TriangleArea(a, b, next);
      }
    }
  }
  return area;
}

double VolumeOf(vtkCell* cell)
{
  vtkNew<vtkIdList> ids;
  vtkNew<vtkPoints> points;
  cell->Triangulate(0, ids, points);
  double volume = 0;
  for (vtkIdType t = 0; t + 3 < points->GetNumberOfPoints(); t += 4) {
    double corners[4][3];
    for (int i = 0; i < 4; ++i) {
      points->GetPoint(t + i, corners[i]);
    }
    volume += std::abs(vtkTetra::ComputeVolume(corners[0], corners[1], corners[2], corners[3]));
  }
  return volume;
}

double VolumeOf(const std::vector<vtkSmartPointer<vtkUnstructuredGrid>>& grids)
{
  double volume = 0;
  for (const auto& grid : grids) {
    for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
      volume += VolumeOf(grid->GetCell(c));
    }
  }
  return volume;
}

template <typename Piece>
vtkIdType CellsOf(const std::vector<vtkSmartPointer<Piece>>& pieces)
{
  vtkIdType cells = 0;
  for (const auto& piece : pieces) {
    cells += piece->GetNumberOfCells();
  }
  return cells;
}

/// Returns the largest difference between the array "field" and x + 10 y + 100 z at points.
template <typename Piece>
double FieldError(const std::vector<vtkSmartPointer<Piece>>& pieces)
{
  double error = 0;
  for (const auto& piece : pieces) {
    vtkDataArray* const field = piece->GetPointData()->GetArray("field");
    for (vtkIdType p = 0; field && p < piece->GetNumberOfPoints(); ++p) {
      double x[3];
      piece->GetPoint(p, x);
      error = std::max(error, std::abs(field->GetComponent(p, 0) - (x[0] + 10 * x[1] + 100 * x[2])));
    }
  }
  return error;
}

vtkSmartPointer<vtkPlane> Plane(double x, double y, double z, double offset)
{
  auto plane = vtkSmartPointer<vtkPlane>::New();
  const double length = std::sqrt(x * x + y * y + z * z);
  plane->SetNormal(x, y, z);
  plane->SetOrigin(x * offset / length / length, y * offset / length / length, z * offset / length / length);
  return plane;
}

vtkSmartPointer<vtkSphere> Ball(double radius)
{
  auto sphere = vtkSmartPointer<vtkSphere>::New();
  sphere->SetCenter(2.1, 1.9, 2.05);
  sphere->SetRadius(radius);
  return sphere;
}

/// A function with the area of its slice, the volume below it, and the relative error for cells of width 1,
/// which is due to planes between the corners of a cell.
struct CutCase
{
  const char* Name;
  vtkSmartPointer<vtkImplicitFunction> Function;
  double Area, Volume, Tolerance;
  bool IsRound() const { return this->Tolerance > 0.01; }
};

std::vector<CutCase> CutCases()
{
  constexpr double exact = 1e-6;
  vtkNew<vtkCylinder> cylinder;
  cylinder->SetCenter(2.1, 0, 1.95);
  cylinder->SetRadius(1.4);
  return {{"between nodes", Plane(1, 0, 0, 1.3), 16, 1.3 * 16, exact},
      {"along y", Plane(0, -1, 0, -2.6), 16, 1.4 * 16, exact},
      {"diagonal", Plane(1, 1, 0, 4.1), Length * std::sqrt(2.0) * (8 - 4.1),
          Length * (16 - (8 - 4.1) * (8 - 4.1) / 2), exact},
      {"through a corner", Plane(1, 1, 1, 2.5), std::sqrt(3.0) / 2 * 2.5 * 2.5, 2.5 * 2.5 * 2.5 / 6, exact},
      {"sphere", Ball(1.5), 4 * M_PI * 1.5 * 1.5, 4 * M_PI / 3 * 1.5 * 1.5 * 1.5, 0.35},
      {"cylinder", cylinder, 2 * M_PI * 1.4 * Length, M_PI * 1.4 * 1.4 * Length, 0.35}};
}

bool Always(double /*done*/)
{
  return true;
}

SliceRequest SliceBy(vtkImplicitFunction* function)
{
  SliceRequest request;
  request.Surfaces = {*Surface::FromFunction(function, 0)};
  return request;
}

}  // namespace

TEST(Extraction, SlicesHaveTheAreaOfTheirPlane)
{
  const auto ranks = MakeSelfCommunicator();
  for (const auto& [input, make] : Inputs) {
    const vtkSmartPointer<vtkDataObject> data = make();
    const Blocks blocks = MakeBlocks(data);
    ASSERT_EQ(blocks.UnsupportedClass, "") << input;
    for (const CutCase& cut : CutCases()) {
      for (const bool triangles : {true, false}) {
        SliceRequest request = SliceBy(cut.Function);
        request.Triangles = triangles;
        const auto slice = Slice(blocks, request, *ranks);
        EXPECT_EQ(slice.size(), blocks.ChildNames.size());
        if (input != "rectilinear" || !cut.IsRound()) {  // whose cells are wider
          EXPECT_NEAR(AreaOf(slice), cut.Area, cut.Tolerance * cut.Area) << input << ", " << cut.Name;
        }
        if (input != "curvilinear") {  // where the field is not linear between points
          EXPECT_LT(FieldError(slice), 1e-4) << input << ", " << cut.Name;
        }
      }
    }
  }
}

/// A plane on faces between cells shows the cells of one side only.
TEST(Extraction, SlicesOnFacesAreShownOnce)
{
  const auto ranks = MakeSelfCommunicator();
  for (const char* const input : {"one grid", "eight blocks", "two levels"}) {
    const vtkSmartPointer<vtkDataObject> data = Inputs.at(input)();
    const Blocks blocks = MakeBlocks(data);
    for (const double offset : {0.0, 1.0, 2.0, 3.0, 4.0}) {
      for (int axis = 0; axis < 3; ++axis) {
        const auto slice = Slice(blocks, SliceBy(Plane(axis == 0, axis == 1, axis == 2, offset)), *ranks);
        EXPECT_NEAR(AreaOf(slice), 16, 1e-6) << input << ", axis " << axis << " at " << offset;
      }
    }
  }
}

TEST(Extraction, ClipsKeepAndLeaveTheWholeVolume)
{
  for (const auto& [input, make] : Inputs) {
    const vtkSmartPointer<vtkDataObject> data = make();
    const Blocks blocks = MakeBlocks(data);
    for (const CutCase& cut : CutCases()) {
      const auto clip = [&](bool below, bool whole) {
        const ClipRequest request{*Surface::FromFunction(cut.Function, 0), below, whole};
        return MakeGrids(blocks, Clip(blocks, request), Always);
      };
      const auto below = clip(true, false), above = clip(false, false);
      if (input != "rectilinear" || !cut.IsRound()) {
        EXPECT_NEAR(VolumeOf(below), cut.Volume, cut.Tolerance * cut.Volume) << input << ", " << cut.Name;
      }
      EXPECT_NEAR(VolumeOf(below) + VolumeOf(above), 64, 1e-4) << input << ", " << cut.Name;
      if (input != "curvilinear") {
        EXPECT_LT(FieldError(below), 1e-4) << input << ", " << cut.Name;
      }
      const auto crinkled = clip(true, true);
      EXPECT_GE(VolumeOf(crinkled), VolumeOf(below) - 1e-4) << input << ", " << cut.Name;
      for (const auto& grid : crinkled) {
        for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
          EXPECT_THAT(grid->GetCellType(c), ::testing::AnyOf(VTK_VOXEL, VTK_HEXAHEDRON));
        }
      }
    }
  }
}

/// Boxes at points of a sphere, and boxes inside and outside of it. With a value of the function other than
/// 0, the radius is sqrt(1 + value).
TEST(Extraction, SpheresOfAnyValueMeetBoxes)
{
  vtkNew<vtkSphere> sphere;
  sphere->SetRadius(1);
  for (const double value : {-0.75, 0.0, 3.0}) {
    const Surface surface = *Surface::FromFunction(sphere, value);
    for (const auto& [distance, meets] :
        {std::pair(1.0, true), std::pair(0.5, false), std::pair(1.5, false)}) {
      for (int axis = 0; axis < 3; ++axis) {
        std::array<double, 6> box{-0.01, 0.01, -0.01, 0.01, -0.01, 0.01};
        box[2 * axis] += distance * std::sqrt(1 + value);
        box[2 * axis + 1] += distance * std::sqrt(1 + value);
        EXPECT_EQ(surface.MayMeet(box), meets) << value << ", " << distance << " radii along axis " << axis;
      }
    }
  }
}

/// Planes that differ from the lower face of a block by a rounding error. No cell of the block is below.
TEST(Extraction, ClipsCutNoSliversAtFaces)
{
  for (int axis = 0; axis < 3; ++axis) {
    Int3 first{-4, -4, -4};
    first[axis] = 0;
    const vtkSmartPointer<vtkDataObject> data = Image(1, first, {4, 4, 4});
    const Blocks blocks = MakeBlocks(data);
    const auto plane = Plane(axis == 0, axis == 1, axis == 2, 1e-14);
    const ClipRequest request{*Surface::FromFunction(plane, 0), true, false};
    for (const auto& grid : MakeGrids(blocks, Clip(blocks, request), Always)) {
      EXPECT_EQ(grid->GetNumberOfCells(), 0) << "axis " << axis;
    }
  }
}

/// Neighbouring blocks share the points on their common faces.
TEST(Extraction, GridsShareThePointsOfBlocks)
{
  for (const char* const input : {"one grid", "eight blocks"}) {
    const vtkSmartPointer<vtkDataObject> data = Inputs.at(input)();
    const Blocks blocks = MakeBlocks(data);
    for (const auto& [offset, points] : {std::pair(10.0, 125), std::pair(1.5, 75)}) {
      const ClipRequest request{*Surface::FromFunction(Plane(1, 0, 0, offset), 0), true, false};
      const auto grids = MakeGrids(blocks, Clip(blocks, request), Always);
      ASSERT_EQ(grids.size(), 1u);
      EXPECT_EQ(grids[0]->GetNumberOfPoints(), points) << input;
      EXPECT_TRUE(offset < 4 || grids[0]->GetNumberOfCells() == 64);
    }
  }
}

TEST(Extraction, ThresholdsKeepTheCellsInTheRange)
{
  struct Case
  {
    bool IsPointData, AllPoints;
    double Lower, Upper;
    bool Inverted;
    vtkIdType Cells;
  };
  // The field is 0.5 + i + 10 (0.5 + j) + 100 (0.5 + k) for cells, and i + 10 j + 100 k for points.
  const Case cases[] = {{false, true, -1, 1000, false, 64}, {false, true, -1, 100, false, 16},
      {false, true, -1, 100, true, 48}, {false, true, 155.5, 155.5, false, 1},
      {true, true, 0, 144, false, 16}, {true, false, 0, 99, false, 16}, {true, false, 100, 100, false, 2},
      {true, true, 200, 100, false, 0}};
  for (const char* const input : {"one grid", "eight blocks"}) {
    const vtkSmartPointer<vtkDataObject> data = Inputs.at(input)();
    const Blocks blocks = MakeBlocks(data);
    for (const Case& wanted : cases) {
      ThresholdRequest request{
          "field", wanted.IsPointData, wanted.AllPoints, wanted.Lower, wanted.Upper, wanted.Inverted};
      const auto grids = MakeGrids(blocks, Threshold(blocks, request), Always);
      EXPECT_EQ(CellsOf(grids), wanted.Cells) << input << ", " << wanted.Lower << " to " << wanted.Upper;
      EXPECT_NEAR(VolumeOf(grids), static_cast<double>(wanted.Cells), 1e-6);
    }
  }
}

/// Refined cells are left out, because finer cells replace them.
TEST(Extraction, ThresholdsLeaveOutHiddenCells)
{
  const vtkSmartPointer<vtkDataObject> data = TwoLevels();
  const Blocks blocks = MakeBlocks(data);
  ThresholdRequest request{"field", false, true, -1, 1000, false};
  const auto grids = MakeGrids(blocks, Threshold(blocks, request), Always);
  ASSERT_EQ(grids.size(), 2u);
  EXPECT_EQ(grids[0]->GetNumberOfCells(), 64 - 8);
  EXPECT_EQ(grids[1]->GetNumberOfCells(), 64);
  EXPECT_NEAR(VolumeOf(grids), 64, 1e-6);
  request.Array = "nothing";
  EXPECT_EQ(CellsOf(MakeGrids(blocks, Threshold(blocks, request), Always)), 0);
}

/// Kept cells and points have the values of their original cells and points.
TEST(Extraction, KeptCellsHaveTheirValues)
{
  for (const char* const input : {"one grid", "eight blocks", "two levels", "rectilinear"}) {
    const vtkSmartPointer<vtkDataObject> data = Inputs.at(input)();
    const Blocks blocks = MakeBlocks(data);
    const ThresholdRequest request{"field", false, true, 100, 300, false};
    const auto grids = MakeGrids(blocks, Threshold(blocks, request), Always);
    EXPECT_LT(FieldError(grids), 1e-6) << input;
    for (const auto& grid : grids) {
      vtkDataArray* const field = grid->GetCellData()->GetArray("field");
      for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
        double bounds[6];
        grid->GetCellBounds(c, bounds);
        const double expected =
            (bounds[0] + bounds[1]) / 2 + 5 * (bounds[2] + bounds[3]) + 50 * (bounds[4] + bounds[5]);
        ASSERT_NEAR(field->GetComponent(c, 0), expected, 1e-6) << input;
      }
    }
  }
}

TEST(Extraction, SurfacesAreThoseOfTheWhole)
{
  const auto ranks = MakeSelfCommunicator();
  for (const auto& [input, make] : Inputs) {
    const vtkSmartPointer<vtkDataObject> data = make();
    const Blocks blocks = MakeBlocks(data);
    if (SolidBlocks(blocks).size() == blocks.List.size()) {
      EXPECT_NEAR(AreaOf(OuterSurface(blocks, *ranks)), 6 * 16, 1e-6) << input;
    } else {
      EXPECT_EQ(input, "curvilinear");
    }
  }
}

/// A hole has its own surface. Each block by itself has six sides.
TEST(Extraction, SurfacesOfHolesAndOfEachBlock)
{
  const auto ranks = MakeSelfCommunicator();
  const vtkSmartPointer<vtkImageData> image = Image(1, {0, 0, 0}, {4, 4, 4});
  Flag(image, 1, 2, Hidden);
  const Blocks blocks = MakeBlocks(image);
  EXPECT_NEAR(AreaOf(OuterSurface(blocks, *ranks)), 6 * 16 + 6, 1e-6);
  const vtkSmartPointer<vtkDataObject> data = EightBlocks();
  const Blocks eight = MakeBlocks(data);
  EXPECT_NEAR(AreaOf(SurfacesOfBlocks(SolidBlocks(eight), Faces::OfEachBlock, *ranks)), 8 * 6 * 4, 1e-6);
  EXPECT_NEAR(AreaOf(SurfacesOfBlocks(SolidBlocks(eight), Faces::Outer, *ranks)), 6 * 16, 1e-6);
}

/// Flat data have lengths instead of areas, and areas instead of volumes.
TEST(Extraction, FlatGridsAreCutToo)
{
  const auto ranks = MakeSelfCommunicator();
  vtkNew<vtkImageData> image;
  image->SetDimensions(5, 5, 1);
  AddFields(image);
  const Blocks blocks = MakeBlocks(image);
  double length = 0;
  for (const auto& piece : Slice(blocks, SliceBy(Plane(1, 0, 0, 1.3)), *ranks)) {
    for (vtkIdType c = 0; c < piece->GetNumberOfCells(); ++c) {
      double bounds[6];
      piece->GetCellBounds(c, bounds);
      length += bounds[3] - bounds[2];
    }
  }
  EXPECT_NEAR(length, Length, 1e-6);
  const ClipRequest request{*Surface::FromFunction(Plane(1, 0, 0, 1.3), 0), true, false};
  double area = 0;
  for (const auto& grid : MakeGrids(blocks, Clip(blocks, request), Always)) {
    for (vtkIdType c = 0; c < grid->GetNumberOfCells(); ++c) {
      double bounds[6];
      grid->GetCellBounds(c, bounds);
      area += (bounds[1] - bounds[0]) * (bounds[3] - bounds[2]);
    }
  }
  EXPECT_NEAR(area, 1.3 * Length, 1e-6);
}

/// Returns the poly data or grids of an output, which may be a tree.
template <typename Piece>
std::vector<vtkSmartPointer<Piece>> PiecesOf(vtkDataObject* output)
{
  std::vector<vtkSmartPointer<Piece>> pieces;
  for (Piece* const piece : vtkCompositeDataSet::GetDataSets<Piece>(output)) {
    pieces.emplace_back(piece);
  }
  return pieces;
}

/// Returns one tetrahedron with the corners (0,0,0), (2,0,0), (0,2,0) and (0,0,2), which PatchIO's filters do
/// not support.
vtkSmartPointer<vtkDataObject> OneTetrahedron()
{
  auto grid = vtkSmartPointer<vtkUnstructuredGrid>::New();
  vtkNew<vtkPoints> points;
  for (const auto& x : {Position{0, 0, 0}, Position{2, 0, 0}, Position{0, 2, 0}, Position{0, 0, 2}}) {
    points->InsertNextPoint(x.data());
  }
  grid->SetPoints(points);
  const vtkIdType corners[] = {0, 1, 2, 3};
  grid->InsertNextCell(VTK_TETRA, 4, corners);
  AddFields(grid);
  return grid;
}

/// Tests the VTK classes in a pipeline without ParaView.
TEST(VtkFilters, SliceAndClipAreThoseOfTheBlocks)
{
  for (const auto& [input, make] : Inputs) {
    vtkNew<vtkPatchSlice> slice;
    vtkNew<vtkPatchClip> clip;
    slice->SetInputDataObject(make());
    clip->SetInputDataObject(make());
    for (const double offset : {1.3, 2.6}) {  // the second time only the function is changed
      slice->SetCutFunction(Plane(1, 0, 0, offset));
      slice->Update();
      EXPECT_NEAR(AreaOf(PiecesOf<vtkPolyData>(slice->GetOutputDataObject(0))), 16, 1e-6) << input;
      clip->SetClipFunction(Plane(1, 0, 0, offset));
      clip->SetInsideOut(true);
      clip->Update();
      EXPECT_NEAR(VolumeOf(PiecesOf<vtkUnstructuredGrid>(clip->GetOutputDataObject(0))), 16 * offset, 1e-4)
          << input;
    }
    slice->SetNumberOfContours(2);
    slice->SetValue(1, 1.0);
    slice->Update();
    const auto planes = PiecesOf<vtkPolyData>(slice->GetOutputDataObject(0));
    EXPECT_NEAR(AreaOf(planes), 32, 1e-6) << input;
    double least = 4, greatest = 0;
    for (const auto& piece : planes) {
      for (vtkIdType p = 0; p < piece->GetNumberOfPoints(); ++p) {
        least = std::min(least, piece->GetPoint(p)[0]);
        greatest = std::max(greatest, piece->GetPoint(p)[0]);
      }
    }
    EXPECT_NEAR(least, 2.6, 1e-5) << input;
    EXPECT_NEAR(greatest, 3.6, 1e-5) << input;
  }
}

TEST(VtkFilters, ThresholdAndContourTakeArraysOfCellsAndPoints)
{
  for (const char* const input : {"one grid", "eight blocks", "two levels"}) {
    vtkNew<vtkPatchThreshold> threshold;
    threshold->SetInputDataObject(Inputs.at(input)());
    threshold->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_CELLS, "field");
    threshold->SetUpperThreshold(220);
    threshold->Update();
    EXPECT_NEAR(VolumeOf(PiecesOf<vtkUnstructuredGrid>(threshold->GetOutputDataObject(0))), 32, 1e-6);
    for (const int association :
        {vtkDataObject::FIELD_ASSOCIATION_CELLS, vtkDataObject::FIELD_ASSOCIATION_POINTS}) {
      vtkNew<vtkPatchContour> contour;
      contour->SetInputDataObject(Inputs.at(input)());
      contour->SetInputArrayToProcess(0, 0, 0, association, "field");
      contour->SetValue(0, 222);
      contour->Update();
      const auto pieces = PiecesOf<vtkPolyData>(contour->GetOutputDataObject(0));
      EXPECT_GT(CellsOf(pieces), 0) << input;
      // Cells have no values between the centres of the outermost ones and the border.
      const double rim = association == vtkDataObject::FIELD_ASSOCIATION_CELLS ? 0.5 : 0;
      for (const auto& piece : pieces) {
        for (vtkIdType p = 0; p < piece->GetNumberOfPoints(); ++p) {
          double x[3];
          piece->GetPoint(p, x);
          if (*std::min_element(x, x + 3) > rim && *std::max_element(x, x + 3) < Length - rim) {
            EXPECT_NEAR(x[0] + 10 * x[1] + 100 * x[2], 222, 1e-3) << input;
          }
        }
      }
    }
  }
}

TEST(VtkFilters, OtherDataGoToFiltersOfVtk)
{
  vtkNew<vtkPatchSlice> slice;
  slice->SetInputDataObject(OneTetrahedron());
  slice->SetCutFunction(Plane(0, 0, 1, 1));
  slice->Update();
  EXPECT_NEAR(AreaOf(PiecesOf<vtkPolyData>(slice->GetOutputDataObject(0))), 0.5, 1e-6);
  vtkNew<vtkPatchClip> clip;
  clip->SetInputDataObject(OneTetrahedron());
  clip->SetClipFunction(Plane(0, 0, 1, 1));
  clip->Update();
  EXPECT_NEAR(VolumeOf(PiecesOf<vtkUnstructuredGrid>(clip->GetOutputDataObject(0))), 1.0 / 6, 1e-6);
  clip->SetWholeCells(true);
  for (const double value : {0.5, 1.5}) {  // the tetrahedron ends at a distance of 1 from the plane
    clip->SetValue(value);
    clip->Update();
    EXPECT_EQ(CellsOf(PiecesOf<vtkUnstructuredGrid>(clip->GetOutputDataObject(0))), value < 1 ? 1 : 0);
  }
  vtkNew<vtkPatchThreshold> threshold;
  threshold->SetInputDataObject(OneTetrahedron());
  threshold->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "field");
  threshold->SetUpperThreshold(100);
  threshold->Update();
  EXPECT_EQ(CellsOf(PiecesOf<vtkUnstructuredGrid>(threshold->GetOutputDataObject(0))), 0);
  vtkNew<vtkPatchContour> contour;
  contour->SetInputDataObject(OneTetrahedron());
  contour->SetInputArrayToProcess(0, 0, 0, vtkDataObject::FIELD_ASSOCIATION_POINTS, "field");
  contour->SetValue(0, 50);
  contour->Update();
  EXPECT_LT(FieldError(PiecesOf<vtkPolyData>(contour->GetOutputDataObject(0))), 1e-3);
  EXPECT_EQ(CellsOf(PiecesOf<vtkPolyData>(contour->GetOutputDataObject(0))), 1);
}

}  // namespace patchio::filters
