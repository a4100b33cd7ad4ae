#include "Catalog/CheckCatalog.h"
#include "Formats/KWave/KwaveFormat.h"
#include "Hdf5Draft.h"
#include "Io/MemoryPool.h"
#include "Read/CollectiveCalls.h"
#include "Read/OpenedSeries.h"
#include "Read/PointCells.h"
#include "Read/RankRead.h"
#include "Read/ReadPatchData.h"
#include "StoppedLocate.h"
#include "TestTools.h"

#include <hdf5.h>

namespace patchio {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A file like those of k-Wave, written by the HDF5 library only.
class KwaveDraft
{
public:
  explicit KwaveDraft(const std::string& path, const std::string& type = "output")
      : File(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT))
  {
    this->Text(this->File, "created_by", "kspaceFirstOrder-OMP v1.3");
    this->Text(this->File, "file_type", type);
    this->Text(this->File, "major_version", "1");
    this->Text(this->File, "minor_version", "2");
  }
  ~KwaveDraft() { H5Fclose(this->File); }
  KwaveDraft(const KwaveDraft&) = delete;
  KwaveDraft& operator=(const KwaveDraft&) = delete;

  void Domain(std::uint64_t x, std::uint64_t y, std::uint64_t z, std::uint64_t steps, std::uint64_t done)
  {
    this->Longs("Nx", {x}, {1, 1, 1});
    this->Longs("Ny", {y}, {1, 1, 1});
    this->Longs("Nz", {z}, {1, 1, 1});
    this->Longs("Nt", {steps}, {1, 1, 1});
    this->Longs("t_index", {done}, {1, 1, 1});
    this->Floats("dt", {0.5f}, {1, 1, 1});
    this->Floats("dx", {0.25f}, {1, 1, 1});
    this->Floats("dy", {0.5f}, {1, 1, 1});
    this->Floats("dz", {1.0f}, {1, 1, 1});
  }
  void Longs(
      const std::string& name, const std::vector<std::uint64_t>& values, const std::vector<hsize_t>& dims)
  {
    this->Put(name, H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), dims, {}, "real");
  }
  /// chunks: shape of chunks, which get the deflate filter of level 0 like in k-Wave; empty for a contiguous
  /// data set.
  void Floats(const std::string& name, const std::vector<float>& values, const std::vector<hsize_t>& dims,
      const std::vector<hsize_t>& chunks = {}, const std::string& domain = "real")
  {
    this->Put(name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, values.data(), dims, chunks, domain);
  }
  /// Writes a sparse list of `count` numbers: zeros, and `last` at the end.
  void LongList(const std::string& name, hsize_t count, std::uint64_t last)
  {
    const hdf5::Handle dataset =
        testing::WriteDataset(this->File, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, {1, 1, count}, nullptr);
    const hsize_t end[] = {0, 0, count - 1}, one[] = {1, 1, 1};
    const hdf5::Handle space(H5Dget_space(dataset)), memory(H5Screate_simple(3, one, nullptr));
    H5Sselect_hyperslab(space, H5S_SELECT_SET, end, nullptr, one, nullptr);
    H5Dwrite(dataset, H5T_NATIVE_UINT64, memory, space, H5P_DEFAULT, &last);
  }
  void Remove(const std::string& name) { H5Ldelete(this->File, name.c_str(), H5P_DEFAULT); }
  void Mask(std::uint64_t type) { this->Longs("sensor_mask_type", {type}, {1, 1, 1}); }

private:
  static void Text(hid_t object, const std::string& name, const std::string& value)
  {
    const hdf5::Handle type(H5Tcopy(H5T_C_S1)), space(H5Screate(H5S_SCALAR));
    H5Tset_size(type, value.size() + 1);
    const hdf5::Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(attribute, type, value.c_str());
  }
  void Put(const std::string& name, hid_t fileType, hid_t type, const void* values,
      const std::vector<hsize_t>& dims, const std::vector<hsize_t>& chunks, const std::string& domain)
  {
    const hdf5::Handle dataset =
        testing::WriteDataset(this->File, name, fileType, type, dims, values, [&](hid_t creation) {
          if (!chunks.empty()) {
            H5Pset_chunk(creation, static_cast<int>(chunks.size()), chunks.data());
            H5Pset_deflate(creation, 0);
          }
        });
    Text(dataset, "domain_type", domain);
  }

  hid_t File;
};

/// Adds `count` values, which differ from all other values of the tests.
void AddValues(int quantity, int part, int step, int count, std::vector<float>& values)
{
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(quantity * 100000 + part * 10000 + step * 1000 + i));
  }
}

std::vector<float> MadeValues(int quantity, int part, int steps, int count)
{
  std::vector<float> values;
  for (int step = 0; step < steps; ++step) {
    AddValues(quantity, part, step, count, values);
  }
  return values;
}

const std::vector<std::uint64_t> Mask = {2, 3, 7, 20, 59, 60};

class Kwave : public ::testing::Test
{
protected:
  /// Writes a domain of 3 x 4 x 5 points, with samples of the last 3 of 10 steps.
  void WriteIndex(
      const std::string& name, bool own = true, bool chunked = true, std::uint64_t done = 10) const
  {
    KwaveDraft file(this->Folder / name);
    file.Domain(3, 4, 5, 10, done);
    file.Mask(0);
    if (own) {
      file.Longs("sensor_mask_index", Mask, {1, 1, 6});
    }
    file.Floats("p", MadeValues(1, 0, 3, 6), {1, 3, 6},
        chunked ? std::vector<hsize_t>{1, 1, 6} : std::vector<hsize_t>());
    file.Floats("p_max", MadeValues(2, 0, 1, 6), {1, 1, 6});
    file.Floats("p_final", MadeValues(3, 0, 1, 60), {5, 4, 3}, {1, 4, 3});
  }

  /// Writes two cuboids; the second one is a plane.
  void WriteCorners(const std::string& name, bool own = true) const
  {
    KwaveDraft file(this->Folder / name);
    file.Domain(3, 4, 5, 10, 10);
    file.Mask(1);
    if (own) {
      file.Longs("sensor_mask_corners", Corners, {1, 2, 6});
    }
    file.Floats("p/1", MadeValues(1, 1, 3, 2 * 3 * 4), {3, 4, 3, 2}, {1, 4, 3, 2});
    file.Floats("p/2", MadeValues(1, 2, 3, 12), {3, 1, 4, 3}, {1, 1, 4, 3});
    file.Floats("p_max/1", MadeValues(2, 1, 1, 24), {4, 3, 2});
    file.Floats("p_max/2", MadeValues(2, 2, 1, 12), {1, 4, 3});
  }

  Series Open(const std::string& name) const { return this->Format.OpenSeries(this->Folder / name, {}); }
  Catalog CatalogOf(const std::string& name) const { return this->Format.ReadCatalog(this->Folder / name); }

  /// Returns the values of a variable on all patches at the catalog's step, with locations from `locate`.
  static std::vector<float> Read(
      const Catalog& catalog, const std::string& name, const LocateFunction& locate)
  {
    LoadRequest request;
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      request.Blocks.push_back(BlockOfPatch(catalog, static_cast<int>(p)));
    }
    request.Variables = {RequestAsStored(catalog, catalog.FindVariable(name))};
    LoadResult loaded = RankRead(locate, catalog, request).Read();
    EXPECT_TRUE(loaded.Faults.empty()) << loaded.Faults[0].Message;
    std::vector<float> values;
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      const LoadedArray& array = loaded.At(p, 0);
      if (array.Status == ArrayStatus::Read) {
        const auto* begin = static_cast<const float*>(array.Values.get());
        values.insert(values.end(), begin, begin + array.Tuples);
      }
    }
    return values;
  }
  std::vector<float> Read(const Catalog& catalog, const std::string& name) const
  {
    return Read(catalog, name, [&](const std::vector<PatchVariable>& requests) {
      return this->Format.Locate(catalog, requests, {});
    });
  }

  const std::vector<std::uint64_t> Corners = {2, 1, 2, 3, 3, 5, 1, 1, 3, 3, 4, 3};
  testing::TempFolder Folder;
  kwave::KwaveFormat Format;
};

TEST_F(Kwave, ClaimsItsFilesAndNoOthers)
{
  this->WriteIndex("out.h5");
  EXPECT_TRUE(this->Format.Claims(this->Folder / "out.h5"));
  testing::WriteText(
      this->Folder / "moved.h5", std::string(512, ' ') + testing::ReadBytes(this->Folder / "out.h5"));
  EXPECT_TRUE(this->Format.Claims(this->Folder / "moved.h5")) << "behind a user block";
  {
    KwaveDraft checkpoint(this->Folder / "check.h5", "checkpoint");
    checkpoint.Domain(3, 4, 5, 10, 5);
    KwaveDraft other(this->Folder / "other.h5", "something");
  }
  EXPECT_TRUE(this->Format.Claims(this->Folder / "check.h5"));
  EXPECT_THAT(testing::MessageOf([&] { this->Open("check.h5"); }), HasSubstr("checkpoint"));
  EXPECT_FALSE(this->Format.Claims(this->Folder / "other.h5"));
  H5Fclose(H5Fcreate((this->Folder / "plain.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_FALSE(this->Format.Claims(this->Folder / "plain.h5"));
  testing::WriteText(this->Folder / "text.h5", "file_type output k-Wave");
  EXPECT_FALSE(this->Format.Claims(this->Folder / "text.h5"));
  EXPECT_FALSE(this->Format.SeemsBroken(this->Folder / "plain.h5"));
  EXPECT_TRUE(this->Format.SeemsBroken(this->Folder / "text.h5"));
  EXPECT_FALSE(this->Format.SeemsBroken(this->Folder / "none.h5"));
  EXPECT_FALSE(this->Format.Claims(this->Folder / "none.h5"));
  EXPECT_FALSE(this->Format.Claims(this->Folder.Path()));
}

TEST_F(Kwave, SkipsDataSetsThatMatchNoCuboid)
{
  {
    KwaveDraft file(this->Folder / "out.h5");
    file.Domain(3, 4, 5, 10, 10);
    file.Mask(1);
    file.Longs("sensor_mask_corners", this->Corners, {1, 2, 6});
    file.Floats("p/1", MadeValues(1, 1, 3, 24), {3, 4, 3, 2}, {1, 4, 3, 2});
    file.Floats("p/2", MadeValues(1, 2, 3, 12), {3, 1, 4, 3}, {1, 1, 4, 3});
    file.Floats("p_max/1", MadeValues(2, 1, 1, 24), {4, 3, 2});
    file.Floats("p_max/2", MadeValues(2, 2, 1, 8), {1, 4, 2});      // another shape
    file.Floats("p_max/1000", MadeValues(2, 1, 1, 24), {4, 3, 2});  // no such cuboid
  }
  EXPECT_THAT(this->Open("out.h5").Notes, ElementsAre(HasSubstr("shape: p_max/1000, p_max/2")));
  EXPECT_EQ(this->Read(this->CatalogOf("out.h5"), "p_max"), MadeValues(2, 1, 1, 24));
}

TEST_F(Kwave, GrowsWithItsFile)
{
  // A run that a checkpoint stopped after the first of three steps, and that continues.
  this->WriteIndex("out.h5", true, true, 8);
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  OpenedSeries series;
  series.AddFile(this->Folder / "out.h5");
  series.Open(*alone, {});
  series.OpenAny(*alone);
  EXPECT_EQ(series.Times().size(), 1u);
  EXPECT_FALSE(series.AddNewSteps(*alone, 1));
  this->WriteIndex("out.h5");
  EXPECT_TRUE(series.AddNewSteps(*alone, 1));
  ASSERT_EQ(series.Times().size(), 3u);
  EXPECT_EQ(series.TakeGrowthWarning(), "");
  for (const int step : {2, 0, 1}) {
    series.SetStep(*alone, step);
    std::vector<float> wanted;
    AddValues(1, 0, step, 6, wanted);
    const auto locate = [&](const std::vector<PatchVariable>& all) { return series.Step().Locate(all, 1); };
    EXPECT_EQ(Read(series.Current(), "p", locate), wanted) << step;
  }
}

TEST_F(Kwave, StepsOfTwoOutputsInCommonAreSaid)
{
  const std::string out = this->Folder / "out.h5", other = this->Folder / "other.h5";
  this->WriteIndex("out.h5");
  this->WriteIndex("other.h5");
  const Series both = OpenSeries(*MakeSelfCommunicator(), {out, other}, {}, IndexMode::Off);
  EXPECT_EQ(both.Steps.size(), 6u);
  EXPECT_THAT(both.Warnings, ElementsAre(AllOf(HasSubstr("3 steps in common"),
                                 HasSubstr("step 8 is in " + out + " and in " + other))));
}

TEST_F(Kwave, SeriesThatHaveNotBegunHaveNoVariables)
{
  this->WriteIndex("none.h5", true, true, 5);
  const Catalog before = this->CatalogOf("none.h5");
  EXPECT_EQ(before.StepsInFile, 1);
  EXPECT_EQ(before.FindVariable("p"), -1);
  EXPECT_GE(before.FindVariable("p_final"), 0);
}

TEST_F(Kwave, LocatingCanBeStopped)
{
  this->WriteCorners("corners.h5");
  testing::ExpectToStop(this->Format, this->CatalogOf("corners.h5"), {}, true);
}

TEST_F(Kwave, ReadsEachStepByTheFormatAndByOneIndex)
{
  this->WriteIndex("index.h5");
  this->WriteIndex("contiguous.h5", true, false);
  this->WriteCorners("corners.h5");
  const auto alone = MakeSelfCommunicator();
  for (const std::string name : {"index.h5", "contiguous.h5", "corners.h5"}) {
    OpenedStep opened(*alone, this->Folder / name, IndexMode::Off);
    opened.Prepare(*alone, 2);
    ASSERT_NE(opened.Index(), nullptr);
    for (const int n : {0, 2, 1, 2}) {
      opened.SetStep(*alone, this->Open(name).Steps[n]);
      Catalog catalog = this->CatalogOf(name);
      SetStep(catalog, this->Open(name).Steps[n]);
      std::vector<float> wanted;
      if (name == "corners.h5") {
        AddValues(1, 1, n, 24, wanted);
        AddValues(1, 2, n, 12, wanted);
      } else {
        AddValues(1, 0, n, 6, wanted);
      }
      EXPECT_EQ(this->Read(catalog, "p"), wanted) << name << " step " << n;
      const auto byIndex = [&](const std::vector<PatchVariable>& requests) {
        // PatchIO does not trust such new files, so the test queries the index directly.
        return opened.Index()->Index.Find(opened.Data(), requests).Table;
      };
      EXPECT_EQ(Read(opened.Data(), "p", byIndex), wanted) << name << " step " << n;
      EXPECT_EQ(Read(opened.Data(), "p_max", byIndex), this->Read(catalog, "p_max"));
    }
    std::vector<std::uint64_t> sizes{std::filesystem::file_size(this->Folder / name)};
    opened.Index()->Index.Check(opened.Data(), sizes);
    EXPECT_THAT(testing::MessageOf([&] {
      opened.SetStep(*alone, {this->Folder / name, 0, 0, 3});
    }),
        HasSubstr("3 steps"));
  }
}

TEST_F(Kwave, OutputsWithoutNumbersOfStepsHaveTheSampledSteps)
{
  for (const bool counted : {true, false}) {
    {
      KwaveDraft file(this->Folder / "out.h5");
      file.Domain(3, 4, 5, 10, 3);
      file.Remove("Nt");
      if (!counted) {
        file.Remove("t_index");
      }
      file.Mask(0);
      file.Longs("sensor_mask_index", Mask, {1, 1, 6});
      file.Floats("p", MadeValues(1, 0, 3, 6), {1, 3, 6});
    }
    EXPECT_EQ(this->Open("out.h5").Steps.size(), 3u);
    EXPECT_THAT(this->Open("out.h5").Notes, IsEmpty());
    EXPECT_EQ(this->Read(this->CatalogOf("out.h5"), "p"), MadeValues(1, 0, 1, 6)) << "the first step";
  }
}

TEST_F(Kwave, PointsAreNumbersOfAnyIntegerType)
{
  Catalog catalog;
  catalog.Path = "/data/out.h5";
  catalog.Lattice = {{0, 0, 0}, {2, 3, 4}};
  testing::AddLevel(catalog, {{{0, 0, 0}, {0, 0, 0}}});
  MemoryPool pool;
  const auto cellOf = [&](auto number, ElementType type) {
    LoadedArray numbers;
    numbers.Type = type;
    numbers.Tuples = 1;
    numbers.Values = MemoryArena(pool, sizeof number, 1).Allocate(sizeof number);
    std::memcpy(numbers.Values.get(), &number, sizeof number);
    return PointCells(catalog, numbers, "list").CellOf(0);
  };
  const Int3 cell{1, 2, 4};  // point 1 + 1 + 2 * 3 + 4 * 12
  EXPECT_EQ(cellOf(std::uint64_t(56), ElementType::UInt64), cell);
  EXPECT_EQ(cellOf(std::uint32_t(56), ElementType::UInt32), cell);
  EXPECT_EQ(cellOf(std::int32_t(56), ElementType::Int32), cell);
  EXPECT_EQ(cellOf(std::int64_t(56), ElementType::Int64), cell);
  EXPECT_THAT(testing::MessageOf([&] { cellOf(~std::uint64_t(0), ElementType::UInt64); }),
      HasSubstr("grid points 1 to 60 in the list"));
  EXPECT_THAT(testing::MessageOf([&] { cellOf(56.0f, ElementType::Float32); }),
      HasSubstr("expected integers in the list, found numbers of type float32"));
}

/// Independent of the step that was displayed when the index file was written.
TEST_F(Kwave, ReadPatchDataReadsTheFirstStep)
{
  this->WriteCorners("corners.h5");
  const auto alone = MakeSelfCommunicator();
  const std::string path = this->Folder / "corners.h5";
  IndexSettings settings;
  settings.SettleSeconds = 0;  // trusts young files
  OpenedStep opened(*alone, path, IndexMode::On, settings);
  opened.SetStep(*alone, this->Open("corners.h5").Steps[2]);
  opened.Prepare(*alone, 1);
  ASSERT_EQ(OpenedStep(*alone, path, IndexMode::ReadOnly).Data().StepInFile, 2);
  const int patch = 0;
  const char* const name = "p";
  const ReadPatchDataResult result = ReadPatchData(path, &patch, 1, &name, 1, 1);
  ASSERT_EQ(result.Error, ReadError::None) << result.Message;
  const auto* const values = static_cast<const float*>(result.Patches[0].Variables[0].Data.get());
  EXPECT_EQ(std::vector<float>(values, values + 24), MadeValues(1, 1, 1, 24));
}

TEST_F(Kwave, FindsTheMaskInTheInputBesideIt)
{
  this->WriteIndex("my_out.h5", false);
  EXPECT_THAT(this->Open("my_out.h5").Warnings, ElementsAre(HasSubstr("sensor_mask_index")));
  EXPECT_EQ(this->CatalogOf("my_out.h5").Levels.size(), 1u) << "the domain can be shown";
  const auto writeInput = [&](const char* name, std::uint64_t x, const std::vector<std::uint64_t>& mask) {
    KwaveDraft input(this->Folder / name, "input");
    input.Domain(x, 4, 5, 10, 0);
    input.Mask(0);
    input.Longs("sensor_mask_index", mask, {1, 1, mask.size()});
  };
  writeInput("other.h5", 3, {1, 2, 3, 4, 5, 6});
  writeInput("foreign.h5", 30, Mask);
  EXPECT_THAT(this->Open("my_out.h5").Notes, ElementsAre(HasSubstr("other.h5")));
  writeInput("my_in.h5", 3, Mask);
  EXPECT_THAT(this->Open("my_out.h5").Notes, ElementsAre(HasSubstr("my_in.h5")));
}

TEST_F(Kwave, TwoInputsThatDifferAreNotGuessedAt)
{
  this->WriteCorners("result.h5", false);
  EXPECT_THAT(testing::MessageOf([&] { this->Open("result.h5"); }),
      AllOf(HasSubstr("Copy or link the input file of the run"), HasSubstr("--copy_sensor_mask")));
  for (const std::uint64_t shift : {0u, 1u}) {
    std::vector<std::uint64_t> corners = this->Corners;
    corners[2 + 6] -= shift;  // moves the plane
    corners[5 + 6] -= shift;
    KwaveDraft input(this->Folder / ("case" + std::to_string(shift) + ".h5"), "input");
    input.Domain(3, 4, 5, 10, 0);
    input.Mask(1);
    input.Longs("sensor_mask_corners", corners, {1, 2, 6});
  }
  EXPECT_THAT(testing::MessageOf([&] { this->Open("result.h5"); }), HasSubstr("case1.h5"));
  std::filesystem::remove(this->Folder / "case1.h5");
  EXPECT_EQ(this->Open("result.h5").Steps.size(), 3u);
}

TEST_F(Kwave, LongMasksAreComparedToTheirEnd)
{
  const std::uint64_t points = (1 << 24) + 2;
  {
    KwaveDraft file(this->Folder / "result.h5");
    file.Domain(300, 300, 300, 10, 10);
    file.Mask(0);
    file.LongList("p_max", points, 0);
  }
  const auto writeInput = [&](const std::string& name, std::uint64_t last) {
    KwaveDraft input(this->Folder / name, "input");
    input.Domain(300, 300, 300, 10, 0);
    input.Mask(0);
    input.LongList("sensor_mask_index", points, last);
  };
  writeInput("case0.h5", 7);
  writeInput("case1.h5", 7);
  EXPECT_THAT(this->Open("result.h5").Notes, ElementsAre(HasSubstr("case0.h5")));
  writeInput("case1.h5", 8);
  EXPECT_THAT(testing::MessageOf([&] { this->Open("result.h5"); }), HasSubstr("case1.h5"));
}

TEST_F(Kwave, ComplexAndUnknownDataAreLeftOutWithANote)
{
  {
    KwaveDraft file(this->Folder / "out.h5");
    file.Domain(3, 4, 5, 10, 10);
    file.Floats("p_final", MadeValues(3, 0, 1, 60), {5, 4, 3});
    file.Floats("p_c", MadeValues(1, 0, 1, 8), {1, 2, 4}, {}, "complex");
    file.Floats("what", MadeValues(1, 0, 1, 8), {2, 2, 2});
    file.Floats("x_shift_neg_r", MadeValues(1, 0, 1, 8), {1, 1, 8});
  }
  EXPECT_THAT(this->Open("out.h5").Notes, ElementsAre(HasSubstr("p_c"), HasSubstr("what")));
  EXPECT_EQ(this->CatalogOf("out.h5").Variables.size(), 1u);
}

TEST_F(Kwave, AbsurdSizesAreRefused)
{
  const auto write = [&](std::uint64_t x, const std::vector<std::uint64_t>& corners) {
    KwaveDraft file(this->Folder / "out.h5");
    file.Domain(x, 1000000, 1000000, 10, 10);
    file.Mask(1);
    file.Longs("sensor_mask_corners", corners, {1, corners.size() / 6, 6});
    file.Floats("p/1", {1}, {1, 1, 1, 1});
  };
  write(1000000, {1, 1, 1, 1, 1, 1});
  EXPECT_THAT(testing::MessageOf([&] { this->Open("out.h5"); }), HasSubstr("grid points"));
  write(std::uint64_t(1) << 62, {1, 1, 1, 1, 1, 1});
  EXPECT_THAT(testing::MessageOf([&] { this->Open("out.h5"); }), HasSubstr("'Nx'"));
  write(1, {5, 1, 1, 2, 1, 1});
  EXPECT_THAT(testing::MessageOf([&] { this->Open("out.h5"); }), HasSubstr("cuboid 1"));
  write(1, {0, 1, 1, 1, 1, 1});
  EXPECT_THAT(testing::MessageOf([&] { this->Open("out.h5"); }), HasSubstr("cuboid 1"));
}

TEST_F(Kwave, LargePartsAreCutAtChunks)
{
  {
    KwaveDraft file(this->Folder / "out.h5");
    file.Domain(200, 200, 150, 10, 10);
    file.Floats("p_final", std::vector<float>(6000000, 1.5f), {150, 200, 200}, {4, 200, 200});
  }
  const Catalog catalog = this->CatalogOf("out.h5");
  CheckCatalog(catalog);
  ASSERT_GT(catalog.Patches.size(), 1u);
  std::int64_t cells = 0;
  for (const Patch& patch : catalog.Patches) {
    EXPECT_EQ(patch.Cells.Lower[2] % 4, 0);
    cells += patch.Cells.CellCount();
  }
  EXPECT_EQ(cells, 6000000);
  EXPECT_EQ(this->Read(catalog, "p_final"), std::vector<float>(6000000, 1.5f));
}

}  // namespace
}  // namespace patchio
