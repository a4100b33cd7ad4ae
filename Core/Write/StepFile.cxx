#include "Write/StepFile.h"

#include "Container/StepLayout.h"
#include "Io/LibraryRead.h"
#include "Support/Hdf5Output.h"
#include "Support/PlainFile.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>

namespace patchio::container {
namespace {

/// Large data sets begin where blocks of storages do.
constexpr std::uint64_t Alignment = 1 << 20;

class StepFile
{
public:
  StepFile(const std::string& path, const StepFilePlan& plan)
      : Plan(plan),
        Data(*plan.Data),
        Profile(ProfileOf(*plan.Data, plan.Files)),
        File(path, Alignment, plan.DataSets.size() + plan.Tables.size() + 8 * (plan.Data->Levels.size() + 1))
  {
  }

  hdf5::FileImage TakeImage() { return this->File.TakeImage(); }

  std::vector<std::uint64_t> Run()
  {
    if (this->Profile != FileProfile::Own) {
      this->DescribeForOthers();
    }
    std::vector<std::uint64_t> offsets;
    for (const DataSet& set : this->Plan.DataSets) {
      offsets.push_back(this->File.Reserve(set.Name, NativeType((*this->Plan.Types)[set.Variable]), this->ShapeOf(set)));
    }
    for (const PlannedTable& table : this->Plan.Tables) {
      offsets.push_back(this->File.Reserve("PatchIO/tables/" + table.Name, NativeType(table.Type), {table.Values}));
    }
    return offsets;
  }

private:
  void DescribeForOthers();
  /// Readers of VTK look for all three, and complain where one is missing.
  void MakeGroups(hid_t parent) const
  {
    for (const char* name : {"CellData", "PointData", "FieldData"}) {
      this->File.MakeGroup(parent, name);
    }
  }
  void DescribeImage(hid_t root);
  void DescribeLevel(hid_t root, int level);
  std::vector<hsize_t> ShapeOf(const DataSet& set) const;

  const StepFilePlan& Plan;
  const Catalog& Data;
  const FileProfile Profile;
  hdf5::OutputFile File;
};

std::vector<hsize_t> StepFile::ShapeOf(const DataSet& set) const
{
  const Variable& variable = this->Data.Variables[set.Variable];
  std::vector<hsize_t> shape{set.Values / variable.Components};
  if (this->Profile == FileProfile::Image) {
    const auto dims = this->Data.ArrayDims(0, variable.Center, {0, 0, 0});
    shape.assign(dims.rbegin(), dims.rend());
  }
  if (variable.Components > 1) {
    shape.push_back(variable.Components);
  }
  return shape;
}

/// The attributes and small data sets by which readers of VTKHDF files know what there is.
void StepFile::DescribeForOthers()
{
  const hdf5::Handle root = this->File.MakeGroup("VTKHDF");
  const bool image = this->Profile == FileProfile::Image;
  this->File.WriteIntegers(root, "Version", {1, 0});
  this->File.WriteText(root, "Type", image ? "ImageData" : "OverlappingAMR");
  if (image) {
    this->DescribeImage(root);
    this->MakeGroups(root);
  } else {
    this->File.WriteNumbers(root, "Origin", {this->Data.Origin.begin(), this->Data.Origin.end()});
    this->File.WriteText(root, "GridDescription", this->Data.Dimension == 2 ? "XY" : "XYZ");
    for (std::size_t level = 0; level < this->Data.Levels.size(); ++level) {
      this->DescribeLevel(root, static_cast<int>(level));
    }
    // Not in images: ParaView 5.11 fails on their field data.
    const hdf5::Handle fields = this->File.MakeGroup(root, "FieldData");
    this->File.Write(fields, "TimeValue", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &this->Data.Time);
  }
}

/// Its indices begin at 0: ParaView 5.11 reads no others.
void StepFile::DescribeImage(hid_t root)
{
  const Double3& spacing = this->Data.Levels[0].Spacing;
  const Box& cells = this->Data.Patches[0].Cells;
  std::vector<std::int64_t> extent;
  std::vector<double> origin;
  for (int axis = 0; axis < 3; ++axis) {
    extent.insert(extent.end(), {0, axis < this->Data.Dimension ? cells.Width(axis) : 0});
    origin.push_back(this->Data.Origin[axis] + cells.Lower[axis] * spacing[axis]);
  }
  this->File.WriteIntegers(root, "WholeExtent", extent);
  this->File.WriteNumbers(root, "Origin", origin);
  this->File.WriteNumbers(root, "Spacing", {spacing.begin(), spacing.end()});
  this->File.WriteNumbers(root, "Direction", {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

void StepFile::DescribeLevel(hid_t root, int number)
{
  const Level& level = this->Data.Levels[number];
  const hdf5::Handle group = this->File.MakeGroup(root, "Level" + std::to_string(number));
  this->File.WriteNumbers(group, "Spacing", {level.Spacing.begin(), level.Spacing.end()});
  std::vector<std::int32_t> boxes;
  for (const int patch : *this->Plan.Rows) {
    const Box& cells = this->Data.Patches[patch].Cells;
    for (int axis = 0; axis < 3 && this->Data.Patches[patch].Level == number; ++axis) {
      boxes.insert(boxes.end(), {cells.Lower[axis], cells.Upper[axis]});
    }
  }
  this->MakeGroups(group);
  this->File.Write(group, "AMRBox", H5T_NATIVE_INT32, H5T_NATIVE_INT32, {boxes.size() / 6, 6}, boxes.data());
}

constexpr std::array<unsigned char, 8> Signature{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

}  // namespace

std::vector<std::uint64_t> LayOut(const std::string& path, const StepFilePlan& plan)
{
  StepFile laidOut(path, plan);
  std::vector<std::uint64_t> offsets = laidOut.Run();
  hdf5::FileImage image = laidOut.TakeImage();
  assert(image.Bytes.size() >= Signature.size());
  std::fill_n(image.Bytes.begin(), Signature.size(), std::byte(0));
  image.Bytes.resize(std::min<std::uint64_t>(image.Bytes.size(), image.Size));
  const PlainFile file(path, PlainFile::Purpose::Create);
  file.Write(0, image.Bytes.data(), image.Bytes.size());
  std::filesystem::resize_file(path, image.Size);
  return offsets;
}

void GiveSignature(const std::string& path)
{
  const PlainFile file(path, PlainFile::Purpose::Update);
  file.Flush();
  file.Write(0, Signature.data(), Signature.size());
  file.Flush();
}

}  // namespace patchio::container
