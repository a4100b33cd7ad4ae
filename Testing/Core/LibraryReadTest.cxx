#include "Io/LibraryRead.h"

#include "NaivePlace.h"
#include "TestTools.h"

#include <numeric>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;
using Floats = std::vector<float>;

/// A file with the float array /values of shape 3 x 4 x 5, whose values are their positions.
class LibraryReading : public ::testing::Test
{
protected:
  LibraryReading() : Path(this->Folder / "data.h5")
  {
    const hsize_t shape[] = {3, 4, 5};
    Floats values(60);
    std::iota(values.begin(), values.end(), 0.f);
    const hdf5::Handle file(H5Fcreate(this->Path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const hdf5::Handle space(H5Screate_simple(3, shape, nullptr));
    const hdf5::Handle properties(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk[] = {2, 2, 3};
    H5Pset_chunk(properties, 3, chunk);
    H5Pset_scaleoffset(properties, H5Z_SO_FLOAT_DSCALE, 2);  // what we do not decode ourselves
    const hdf5::Handle dataset(
        H5Dcreate2(file, "values", H5T_IEEE_F32BE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }

  Floats Range(std::uint64_t first, std::uint64_t count) const
  {
    Floats values(count, -1.f);
    hdf5::File(this->Path).Range("/values", first, count, H5T_NATIVE_FLOAT, values.data());
    return values;
  }

  static Floats From(int first, int count)
  {
    Floats values(count);
    std::iota(values.begin(), values.end(), float(first));
    return values;
  }

  testing::TempFolder Folder;
  std::string Path;
};

}  // namespace

TEST_F(LibraryReading, TakesBlocksOfADataSet)
{
  EXPECT_EQ(this->Range(0, 60), From(0, 60)) << "all";
  EXPECT_EQ(this->Range(20, 20), From(20, 20)) << "one slab";
  EXPECT_EQ(this->Range(20, 40), From(20, 40)) << "two slabs";
  EXPECT_EQ(this->Range(25, 10), From(25, 10)) << "two rows of a slab";
  EXPECT_EQ(this->Range(41, 3), From(41, 3)) << "part of a row";
}

TEST_F(LibraryReading, RefusesWhatIsNoBlock)
{
  for (const auto& [first, count] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {15, 10}, {4, 2}, {0, 61}, {60, 1}, {0, 0}, {~std::uint64_t(0), 1}}) {
    EXPECT_THAT(MessageOf([&] { this->Range(first, count); }), HasSubstr("another shape"))
        << first << ", " << count;
  }
}

TEST_F(LibraryReading, BringsValuesToTheirPlaces)
{
  LocationTable table;
  table.Files = {this->Path};
  table.LibraryArrays = {{0, ElementType::Float32, "/values", 20, 4, "scaleoffset"},
      {0, ElementType::Float32, "/values", 25, 4, "scaleoffset"}};
  ArrayShape shape;
  shape.Interior = {2, 1, 1};
  shape.StoredGhosts = {1, 0, 0};
  shape.OutputComponents = 3;
  Floats output(6, -1.f);
  const std::vector<int> slots{0, 1};
  LibraryReader reader;
  reader.Read(table, {Encoding::Library, 0, 2, 0, 0}, testing::TargetIn(output.data(), shape, slots));
  EXPECT_EQ(output, (Floats{21, 26, 0, 22, 27, 0}));
}

TEST_F(LibraryReading, SaysWhatIsMissing)
{
  LocationTable table;
  table.Files = {this->Path};
  table.LibraryArrays = {{0, ElementType::Float32, "/nothing", 0, 1, ""}};
  Floats output(1);
  const std::vector<int> slots{0};
  LibraryReader reader;
  EXPECT_THAT(MessageOf([&] {
    reader.Read(table, {Encoding::Library, 0, 1, 0, 0}, testing::TargetIn(output.data(), {}, slots));
  }),
      HasSubstr("'/nothing'"));
}

}  // namespace patchio
