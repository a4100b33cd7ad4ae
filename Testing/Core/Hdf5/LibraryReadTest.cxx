#include "Hdf5/LibraryFile.h"

#include "Hdf5/Library.h"
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
    H5Pset_scaleoffset(properties, H5Z_SO_FLOAT_DSCALE, 2);  // a filter that only the library decodes
    const hdf5::Handle dataset(
        H5Dcreate2(file, "values", H5T_IEEE_F32BE, space, H5P_DEFAULT, properties, H5P_DEFAULT));
    H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }

  testing::TempFolder Folder;
  std::string Path;
};

}  // namespace

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
