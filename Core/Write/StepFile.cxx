#include "Write/StepWriter.h"

#include "Formats/Container/StepLayout.h"
#include "Hdf5/FileBytes.h"
#include "Hdf5/Output.h"
#include "Write/ChunkEncoder.h"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <mutex>

namespace patchio::container {
namespace {

/// Alignment of large data sets in bytes, a common size of storage blocks.
constexpr std::uint64_t Alignment = 1 << 20;

/// An open compressed data set, which has `Count` chunks along the axis `Axis`.
struct OpenSet
{
  hdf5::Handle Id;
  std::vector<hsize_t> Chunk;
  std::size_t Axis = 0;
  std::uint64_t Count = 0;
};

/// Returns an estimate of the bytes of the B-trees that list the chunks. HDF5 fills the nodes of a B-tree to
/// nine tenths if the chunks are added in order.
std::uint64_t ListBytesOf(const StepFilePlan& plan)
{
  std::uint64_t bytes = 0;
  for (const DataSet& set : plan.DataSets) {
    const std::uint64_t ofChunk = 30 + 10 * ShapeOf(*plan.Data, plan.Files, set).size();
    bytes += set.Compression == FilterType::None ? 0 : ofChunk * ChunkCountOf(*plan.Data, plan.Files, set);
  }
  return bytes;
}

/// Returns the approximate number of groups and data sets of the file.
std::size_t ObjectsOf(const StepFilePlan& plan)
{
  constexpr std::size_t ofSet = 4;  // including the initial space of a chunk list
  return ofSet * plan.DataSets.size() + plan.Tables.size() + 8 * (plan.Data->Levels.size() + 1);
}

constexpr int ZstdFilter = 32015;  // in The HDF Group's registry

hdf5::ChunkFilter FilterOf(FilterType kind)
{
  return kind == FilterType::Deflate ? hdf5::ChunkFilter{H5Z_FILTER_DEFLATE, ChunkEncoder::DeflateLevel}
                                     : hdf5::ChunkFilter{ZstdFilter, ChunkEncoder::ZstdLevel};
}

}  // namespace

class StepFile::Description
{
public:
  Description(const std::string& path, const StepFilePlan& plan)
      : Plan(plan),
        Data(*plan.Data),
        Profile(ProfileOf(*plan.Data, plan.Files)),
        File(path, Alignment, ObjectsOf(plan), ListBytesOf(plan))
  {
  }

  std::vector<std::uint64_t> LayOut();
  std::vector<std::uint64_t> ReserveChunks(const std::vector<ChunkSize>& chunks);
  std::uint64_t Size() const { return this->File.Size(); }
  hdf5::FileImage CloseAndGetImage();

private:
  void DescribeForVtk();
  /// Makes the three groups without which VTK's readers print warnings.
  void MakeGroups(hid_t parent) const
  {
    for (const char* name : {"CellData", "PointData", "FieldData"}) {
      this->File.CreateGroup(parent, name);
    }
  }
  void DescribeImage(hid_t root);
  void DescribeMesh(hid_t root);
  void DescribeLevel(hid_t root, int level);
  void MakeChunked(const DataSet& set);

  const StepFilePlan Plan;
  const Catalog& Data;
  const FileProfile Profile;
  hdf5::OutputFile File;
  std::vector<OpenSet> Chunked;
};

std::vector<std::uint64_t> StepFile::Description::LayOut()
{
  if (this->Profile != FileProfile::Custom) {
    this->DescribeForVtk();
  }
  std::vector<std::uint64_t> offsets;
  for (const DataSet& set : this->Plan.DataSets) {
    if (set.Compression == FilterType::None) {
      const std::vector<std::uint64_t> shape = ShapeOf(this->Data, this->Plan.Files, set);
      offsets.push_back(this->File.Reserve(
          set.Name, hdf5::NativeType((*this->Plan.Types)[set.Variable]), {shape.begin(), shape.end()}));
    } else {
      this->MakeChunked(set);
      offsets.push_back(0);
    }
  }
  for (const PlannedTable& table : this->Plan.Tables) {
    offsets.push_back(
        this->File.Reserve("PatchIO/tables/" + table.Name, hdf5::NativeType(table.Type), {table.Values}));
  }
  return offsets;
}

void StepFile::Description::MakeChunked(const DataSet& set)
{
  const std::vector<std::uint64_t> shape = ShapeOf(this->Data, this->Plan.Files, set);
  const std::vector<std::uint64_t> chunk = ChunkShapeOf(this->Data, this->Plan.Files, set);
  OpenSet made;
  made.Chunk.assign(chunk.begin(), chunk.end());
  made.Axis = std::mismatch(shape.begin(), shape.end(), chunk.begin()).first - shape.begin();
  made.Axis = made.Axis < shape.size() ? made.Axis : 0;
  made.Count = ChunkCountOf(this->Data, this->Plan.Files, set);
  made.Id = this->File.CreateChunked(set.Name, hdf5::NativeType((*this->Plan.Types)[set.Variable]),
      {shape.begin(), shape.end()}, made.Chunk, FilterOf(set.Compression));
  this->Chunked.push_back(std::move(made));
}

std::vector<std::uint64_t> StepFile::Description::ReserveChunks(const std::vector<ChunkSize>& chunks)
{
  std::vector<std::uint64_t> offsets;
  for (const OpenSet& set : this->Chunked) {
    std::vector<hsize_t> begin(set.Chunk.size(), 0);
    for (std::uint64_t i = 0; i < set.Count; ++i) {
      const ChunkSize& chunk = chunks.at(offsets.size());
      begin[set.Axis] = i * set.Chunk[set.Axis];
      offsets.push_back(this->File.ReserveChunk(set.Id, begin, chunk.Bytes, chunk.SkippedFilters));
    }
  }
  return offsets;
}

hdf5::FileImage StepFile::Description::CloseAndGetImage()
{
  this->Chunked.clear();
  return this->File.CloseAndGetImage();
}

/// Writes the attributes and small data sets that describe the contents to VTK's readers of VTKHDF files.
void StepFile::Description::DescribeForVtk()
{
  const hdf5::Handle root = this->File.CreateGroup("VTKHDF");
  const bool image = this->Profile == FileProfile::Image;
  this->File.WriteIntegers(root, "Version", {1, 0});
  if (this->Profile == FileProfile::Mesh) {
    this->File.WriteText(
        root, "Type", this->Data.Grid == GridType::Polygonal ? "PolyData" : "UnstructuredGrid");
    this->DescribeMesh(root);
    return;
  }
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
    // Images get no field data, because ParaView 5.11 fails to read field data of images.
    const hdf5::Handle fields = this->File.CreateGroup(root, "FieldData");
    this->File.Write(fields, "TimeValue", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, &this->Data.Time);
  }
}

/// Describes an image with indices from 0, because ParaView 5.11 does not read images with other first
/// indices.
void StepFile::Description::DescribeImage(hid_t root)
{
  const Double3& spacing = this->Data.Levels[0].Spacing;
  const Box& cells = this->Data.Patches[0].Cells;
  std::vector<std::int64_t> extent;
  std::vector<double> origin;
  for (int axis = 0; axis < 3; ++axis) {
    extent.push_back(0);
    extent.push_back(axis < this->Data.Dimension ? cells.Width(axis) : 0);
    origin.push_back(this->Data.Origin[axis] + cells.Lower[axis] * spacing[axis]);
  }
  this->File.WriteIntegers(root, "WholeExtent", extent);
  this->File.WriteNumbers(root, "Origin", origin);
  this->File.WriteNumbers(root, "Spacing", {spacing.begin(), spacing.end()});
  this->File.WriteNumbers(root, "Direction", {1, 0, 0, 0, 1, 0, 0, 0, 1});
}

/// Describes a mesh: writes the numbers of points, cells and connectivity ids of each partition. For a list
/// of cells that all partitions lack, also writes an empty Connectivity, and Offsets with one 0 per
/// partition.
void StepFile::Description::DescribeMesh(hid_t root)
{
  this->MakeGroups(root);
  const auto write = [&](const std::string& name, const std::vector<std::int64_t>& values) {
    this->File.Write(root, name, H5T_NATIVE_INT64, H5T_NATIVE_INT64, {values.size()}, values.data());
  };
  const std::vector<int>& rows = *this->Plan.Rows;
  std::vector<std::int64_t> points;
  for (const int patch : rows) {
    points.push_back(this->Data.Meshes[patch].Points);
  }
  write("NumberOfPoints", points);
  const int lists = this->Data.Grid == GridType::Polygonal ? MeshSize::MostLists : 1;
  for (int list = 0; list < lists; ++list) {
    const std::string group = GroupOfList(this->Data, list);
    if (!group.empty()) {
      this->File.CreateGroup(root, group.substr(1));
    }
    const std::string folder = group.empty() ? "" : group.substr(1) + "/";
    std::vector<std::int64_t> cells, connectivity;
    for (const int patch : rows) {
      cells.push_back(this->Data.Meshes[patch].Cells[list]);
      connectivity.push_back(this->Data.Meshes[patch].Connectivity[list]);
    }
    write(folder + "NumberOfCells", cells);
    write(folder + "NumberOfConnectivityIds", connectivity);
    if (cells[0] ==
        0) {  // all partitions lack this list, because all partitions have cells in the same lists
      write(folder + "Connectivity", {});
      write(folder + "Offsets", std::vector<std::int64_t>(rows.size(), 0));
    }
  }
}

void StepFile::Description::DescribeLevel(hid_t root, int number)
{
  const Level& level = this->Data.Levels[number];
  const hdf5::Handle group = this->File.CreateGroup(root, "Level" + std::to_string(number));
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

namespace {

template <typename Work>
auto WithOutputLock(Work work)
{
  const std::lock_guard<std::mutex> guard(hdf5::OutputLock());
  return work();
}

}  // namespace

StepFile::StepFile(const std::string& path, const StepFilePlan& plan)
    : Path(path),
      Described(WithOutputLock([&] { return std::make_unique<Description>(path, plan); })),
      Begins(WithOutputLock([&] { return this->Described->LayOut(); }))
{
  const std::lock_guard<std::mutex> guard(hdf5::OutputLock());
  this->Size = this->Described->Size();
  if (std::all_of(plan.DataSets.begin(), plan.DataSets.end(),
          [](const DataSet& set) { return set.Compression == FilterType::None; })) {
    this->StoreImage();
  }
}

StepFile::~StepFile()
{
  WithOutputLock([this] { this->Described.reset(); });
}

/// Sets the size before the first write, because writes that extend a file wait for each other.
void StepFile::Create()
{
  this->File = std::make_unique<PlainFile>(this->Path, PlainFile::Purpose::Create);
  this->File->SetSize(this->Size);
}

std::vector<std::uint64_t> StepFile::ReserveChunks(const std::vector<ChunkSize>& chunks)
{
  if (!this->Described) {  // this file has no compressed data sets
    return {};
  }
  const std::lock_guard<std::mutex> guard(hdf5::OutputLock());
  std::vector<std::uint64_t> begins = this->Described->ReserveChunks(chunks);
  this->StoreImage();
  this->File->SetSize(this->Size);
  return begins;
}

void StepFile::StoreImage()
{
  hdf5::FileImage image = this->Described->CloseAndGetImage();
  this->Described.reset();
  assert(image.Bytes.size() >= hdf5::Signature.size());
  std::fill_n(image.Bytes.begin(), hdf5::Signature.size(), std::byte(0));
  image.Bytes.resize(std::min<std::uint64_t>(image.Bytes.size(), image.Size));
  this->Image = std::move(image.Bytes);
  this->Size = image.Size;
  std::sort(image.ValueRanges.begin(), image.ValueRanges.end());
  this->ValueRanges = std::move(image.ValueRanges);
}

/// Writes the description around the values, because the values may be written already. HDF5 puts small
/// values into gaps of the description.
void StepFile::WriteDescription()
{
  const std::uint64_t end = this->Image.size();
  std::uint64_t done = 0;
  const auto writeTo = [&](std::uint64_t stop) {
    if (done < stop) {
      this->File->Write(done, this->Image.data() + done, stop - done);
    }
  };
  for (const auto& [begin, behind] : this->ValueRanges) {
    writeTo(std::min(begin, end));
    done = std::max(done, std::min(behind, end));
  }
  writeTo(end);
}

void StepFile::WriteSignature() const
{
  this->File->Flush();
  this->File->Write(0, hdf5::Signature.data(), hdf5::Signature.size());
  this->File->Flush();
}

}  // namespace patchio::container
