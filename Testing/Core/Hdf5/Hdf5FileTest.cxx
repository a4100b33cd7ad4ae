// Reads objects of HDF5 files by name, and compares with the values that the HDF5 library wrote.
#include "Hdf5/File.h"

#include "Base/File.h"
#include "Hdf5/Library.h"
#include "Hdf5Draft.h"
#include "TestTools.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::Hdf5Draft;
using testing::MessageOf;
using testing::TempFolder;

/// A file with one object of each kind.
class Hdf5File : public ::testing::Test
{
protected:
  Hdf5File()
  {
    testing::WriteHdf5(
        this->Path, {{"/group/ints", testing::Ints({1, -2, 3})}, {"/group/doubles", testing::Doubles({0.5})},
                        {"/group/texts", testing::Texts({"a", "longer", ""})},
                        {"/group/inner/floats", testing::Floats({1.5f, 2.5f})}});
  }

  /// Writes b.h5 with the row /b of 7, 8, 9.
  void WriteNeighbour() const
  {
    testing::WriteHdf5(
        this->Folder / "b.h5", {{"/b", testing::FloatsStoredAs({7, 8, 9}, {1, 3}, [](hid_t) {})}});
  }

  TempFolder Folder;
  std::string Path = Folder / "a.h5";
};

}  // namespace

TEST_F(Hdf5File, GivesValuesInNativeTypes)
{
  const hdf5::File file(this->Path);
  EXPECT_EQ(file.Ints("/group/ints", 3), (std::vector<int>{1, -2, 3}));
  EXPECT_EQ(file.Doubles("/group/inner/floats", -1), (std::vector<double>{1.5, 2.5}));
  EXPECT_EQ(file.Double("/group/doubles"), 0.5);
  EXPECT_EQ(file.Strings("/group/texts", 3), (std::vector<std::string>{"a", "longer", ""}));
}

TEST_F(Hdf5File, KnowsWhatItHas)
{
  const hdf5::File file(this->Path);
  EXPECT_TRUE(file.Has("/group"));
  EXPECT_TRUE(file.Has("/group/inner/floats"));
  EXPECT_FALSE(file.Has("/group/inner/ints"));
  EXPECT_FALSE(file.Has("/nothing/inner/floats"));
  EXPECT_EQ(file.Names("/group"), (std::vector<std::string>{"doubles", "inner", "ints", "texts"}));
  EXPECT_TRUE(file.Names("/nothing").empty());
}

TEST_F(Hdf5File, SaysWhatItExpected)
{
  const hdf5::File file(this->Path);
  EXPECT_THAT(MessageOf([&] { file.Ints("/group/ints", 4); }),
      HasSubstr("expected 4 values in '/group/ints', found 3"));
  EXPECT_THAT(MessageOf([&] { file.Strings("/group/ints", 3); }), HasSubstr("strings of fixed length"));
  EXPECT_THAT(MessageOf([&] { file.Ints("/group/texts", 3); }), HasSubstr("'/group/texts'"));
  const std::string missing = MessageOf([&] { file.Int("/group/more"); });
  EXPECT_THAT(missing, HasSubstr(this->Path));
  EXPECT_THAT(missing, HasSubstr("expected a data set '/group/more', found none. The file is damaged or of "
                                 "another format."));
}

TEST_F(Hdf5File, FollowsNoExternalLink)
{
  const std::string path = this->Folder / "links.h5";
  testing::WriteHdf5(
      path, {{"/direct", testing::ExternalLink(this->Path, "/group/ints")},
                {"/soft", testing::SoftLink("/direct")}, {"/inside", testing::SoftLink("/own")},
                {"/own", testing::Ints({1, 2, 3})}, {"/group", testing::ExternalLink(this->Path, "/group")}});
  const hdf5::File file(path);
  EXPECT_EQ(file.Ints("/inside", 3), (std::vector<int>{1, 2, 3}));
  for (const char* name : {"/direct", "/soft", "/group/ints"}) {
    EXPECT_THAT(MessageOf([&] { file.Ints(name, 3); }),
        HasSubstr(fmt::format("not supported: external link in '{}'", name)));
  }
  EXPECT_THAT(MessageOf([&] { file.Names("/group"); }), HasSubstr("external link"));
}

namespace {

std::string Repeated(const std::string& text, int times)
{
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

}  // namespace

/// Follows links to the root, to the group of the link, and through such links; but only a few links, so that
/// links to themselves end the search.
TEST_F(Hdf5File, FollowsSoftLinks)
{
  const Hdf5Draft draft{{"/a/values", testing::Ints({1, 2})}, {"/a/near", testing::SoftLink("values")},
      {"/b/far", testing::SoftLink("/a/near")}, {"/folder", testing::SoftLink("a")},
      {"/b/lost", testing::SoftLink("/nothing")}, {"/b/ring", testing::SoftLink("ring")},
      {"/a/self", testing::SoftLink("/a")}, {"/a/root", testing::SoftLink("/")},
      {"/a/here", testing::SoftLink(".")}, {"/through", testing::SoftLink("/a/root/a/here/values")},
      {"/a/more", testing::SoftLink(Repeated("self/", 1000) + "values")}};
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path, draft, style);
    const hdf5::File file(this->Path);
    for (const char* name : {"/a/near", "/b/far", "/folder/values", "/folder/near", "/a/root/a/values",
             "/a/here/values", "/through"}) {
      ASSERT_TRUE(file.Has(name)) << name;
      EXPECT_EQ(file.Ints(name, 2), (std::vector<int>{1, 2})) << name;
    }
    EXPECT_FALSE(file.Has("/b/lost"));
    for (const char* const name : {"/b/ring", "/a/more"}) {
      EXPECT_THAT(MessageOf([&] { file.Ints(name, 1); }), HasSubstr("links that lead to links"));
    }
    EXPECT_EQ(
        file.Names("/folder"), (std::vector<std::string>{"here", "more", "near", "root", "self", "values"}));
    EXPECT_EQ(file.Names("/a/root"), (std::vector<std::string>{"a", "b", "folder", "through"}));
  }
}

TEST_F(Hdf5File, TakesNoValuesFromOtherFiles)
{
  // The library would wait for a pipe forever.
  ASSERT_EQ(::mkfifo((this->Folder / "pipe").c_str(), 0600), 0);
  const std::string path = this->Folder / "b.h5", pipe = this->Folder / "pipe";
  const auto outside = [&](hid_t creation) { H5Pset_external(creation, pipe.c_str(), 0, 64); };
  const auto gathered = [&](hid_t creation) {
    const hsize_t now = 16, most = H5S_UNLIMITED;
    const hdf5::Handle space(H5Screate_simple(1, &now, &most));
    const hsize_t start = 0, stride = 1;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, &stride, &most, nullptr);
    H5Pset_virtual(creation, space, pipe.c_str(), "values", space);
  };
  testing::WriteHdf5(path, {{"/outside", testing::FloatsStoredAs({}, {16}, outside)},
                               {"/gathered", testing::FloatsStoredAs({}, {16}, gathered)}});
  const hdf5::File file(path);
  for (const auto& [name, reason] :
      {std::pair("/outside", "values in external files"), std::pair("/gathered", "virtual data set")}) {
    EXPECT_THAT(MessageOf([&, name = name] { file.Doubles(name, 16); }),
        HasSubstr(fmt::format("not supported: {}", reason)));
  }
}

/// HDF5 reserves no bytes for these lists, but their values are not missing.
TEST_F(Hdf5File, ReadsListsWithoutValues)
{
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path,
        {{"/rows", testing::FloatsStoredAs({}, {0, 6}, [](hid_t) {})}, {"/texts", testing::Texts({})}},
        style);
    const hdf5::File file(this->Path);
    EXPECT_TRUE(file.Doubles("/rows", 0).empty());
    EXPECT_TRUE(file.Range<std::int64_t>("/rows", 0, 0).empty());
    EXPECT_TRUE(file.Strings("/texts", 0).empty());
  }
}

/// The bytes of 260 are 4, 1, 0.
TEST_F(Hdf5File, ReadsIntegersOfThreeBytes)
{
  testing::WriteHdf5(this->Path, {{"/ints", [](hid_t file, const std::string& path) {
                                     const hdf5::Handle type(H5Tcopy(H5T_STD_I32LE));
                                     H5Tset_size(type, 3);
                                     testing::FloatsOfType({260, -7}, type)(file, path);
                                   }}});
  EXPECT_EQ(hdf5::File(this->Path).Ints("/ints", 2), (std::vector<int>{260, -7}));
}

/// The file is too large to be read at once when it is opened.
TEST_F(Hdf5File, ReportsFailuresOfTheStorageUnchanged)
{
  testing::WriteHdf5(this->Path, {{"/values", testing::ChunkedFloats(std::vector<float>(100000))}});
  const PlainFile plain(this->Path);
  const auto read = [&](std::uint64_t offset, void* into, std::size_t bytes) {
    if (bytes == 400000) {
      throw Error("The disk is on fire.");
    }
    plain.Read(offset, into, bytes);
  };
  const hdf5::File file(this->Path, read, plain.Size());
  EXPECT_EQ(MessageOf([&] { file.Doubles("/values", 100000); }), "The disk is on fire.");
}

/// Unwritten chunks have no place in the file, which begins after its user block.
TEST_F(Hdf5File, ReadsUnwrittenChunksBehindUserBlocks)
{
  const auto chunked = [](hid_t creation) {
    const float fill = 2.5f;
    testing::InChunks({4})(creation);
    H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, &fill);
  };
  testing::WriteHdf5(this->Path, {{"/values", testing::FloatsStoredAs({}, {4}, chunked)}},
      [](hid_t creation, hid_t) { H5Pset_userblock(creation, 512); });
  EXPECT_EQ(hdf5::File(this->Path).Doubles("/values", 4), (std::vector<double>{2.5, 2.5, 2.5, 2.5}));
}

/// Each data set has as many chunks as the file can hold, so the file cannot hold the chunks of two.
TEST_F(Hdf5File, CountsTheChunksOfAllDataSets)
{
  const auto chunked = testing::InChunks({1});
  testing::WriteHdf5(this->Path, {{"/a", testing::FloatsStoredAs({}, {4000}, chunked)},
                                     {"/b", testing::FloatsStoredAs({}, {4000}, chunked)}});
  const hdf5::File file(this->Path);
  EXPECT_EQ(file.Find("/a").Chunks.size(), 4000u);
  const hdf5::Dataset refused = file.Find("/b").Info;
  EXPECT_EQ(refused.Layout, hdf5::StorageLayout::Library);
  EXPECT_EQ(refused.Reason, hdf5::MoreChunksThanFit);
}

namespace {

/// Takes rows `first` .. `first + rows - 1` of 3 values from all of a data set.
void MapRows(hid_t creation, hsize_t allRows, hsize_t first, hsize_t rows, const char* file, const char* name)
{
  const hsize_t all[] = {allRows, 3}, begin[] = {first, 0}, count[] = {rows, 3};
  const hdf5::Handle here(H5Screate_simple(2, all, nullptr)), there(H5Screate_simple(2, count, nullptr));
  H5Sselect_hyperslab(here, H5S_SELECT_SET, begin, nullptr, count, nullptr);
  H5Pset_virtual(creation, here, file, name, there);
}

}  // namespace

/// A rank without points has no values; its file may be missing.
TEST_F(Hdf5File, GathersPartsWithoutValues)
{
  this->WriteNeighbour();
  const auto parts = [](hid_t creation) {
    MapRows(creation, 1, 0, 0, "missing.h5", "b");
    MapRows(creation, 1, 0, 1, "b.h5", "b");
  };
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path, {{"/rows", testing::FloatsStoredAs({}, {1, 3}, parts)}}, style);
    const hdf5::File file(this->Path);
    EXPECT_EQ(file.Doubles("/rows", 3), (std::vector<double>{7, 8, 9}));
    EXPECT_EQ(file.Find("/rows").Runs.size(), 1u);
  }
}

TEST_F(Hdf5File, GathersVirtualDataSetsOfNearFiles)
{
  std::filesystem::create_directory(this->Folder / "parts");
  testing::WriteHdf5(this->Folder / "parts/a.h5",
      {{"/inner/a", testing::FloatsStoredAs({1, 2, 3, 4, 5, 6}, {2, 3}, [](hid_t) {})}});
  this->WriteNeighbour();
  const auto make = [](const std::string& a, const std::string& b, hsize_t firstOfB) {
    return testing::FloatsStoredAs({}, {3, 3}, [=](hid_t creation) {
      MapRows(creation, 3, 0, 2, a.c_str(), "/inner/a");
      MapRows(creation, 3, firstOfB, 1, b.c_str(), "b");
    });
  };
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path,
        {{"/good", make("parts/a.h5", "b.h5", 2)}, {"/missing", make("parts/a.h5", "c.h5", 2)},
            {"/outside", make("../parts/a.h5", "b.h5", 2)},
            {"/gap", testing::FloatsStoredAs({}, {3, 3},
                         [](hid_t creation) {
                           const float fill = 2.5f;
                           H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, &fill);
                           MapRows(creation, 3, 2, 1, "b.h5", "b");
                         })},
            {"/absolute", make(this->Folder / "parts/a.h5", "/moved/b.h5", 2)},
            {"/overlapping", make("parts/a.h5", "b.h5", 1)}},
        style);
    const hdf5::File file(this->Path);
    EXPECT_EQ(file.Doubles("/good", 9), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(file.Doubles("/absolute", 9), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(file.Doubles("/gap", 9), (std::vector<double>{2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 7, 8, 9}));
    EXPECT_EQ(file.Range<int>("/good", 4, 4), (std::vector<int>{5, 6, 7, 8}));
    const hdf5::FoundDataset found = file.Find("/good");
    ASSERT_EQ(found.Runs.size(), 2u);
    EXPECT_EQ(found.Runs[1].Path, this->Folder / "b.h5");
    EXPECT_EQ(found.Runs[1].First, 6u);
    EXPECT_THAT(MessageOf([&] { file.Doubles("/missing", 9); }), HasSubstr("c.h5: No such file"));
    for (const auto& [name, reason] : {std::pair("/outside", "of files in other folders"),
             std::pair("/overlapping", "of parts that overlap")}) {
      EXPECT_THAT(MessageOf([&, name = name] { file.Doubles(name, 9); }),
          HasSubstr(fmt::format("not supported: virtual data set {} in '{}'", reason, name)));
    }
  }
}

/// PatchIO limits the number of parts in a file. Repeated questions about the same parts must not count.
TEST_F(Hdf5File, CountsThePartsOfAVirtualDataSetOnce)
{
  this->WriteNeighbour();
  const auto parts = [](int count) {
    return testing::FloatsStoredAs({}, {1, 3}, [count](hid_t creation) {
      for (int i = 0; i < count; ++i) {
        MapRows(creation, 1, 0, 1, "b.h5", "b");
      }
    });
  };
  testing::WriteHdf5(this->Path, {{"/overlapping", parts(300)}, {"/good", parts(1)}});
  const hdf5::File file(this->Path);
  for (int i = 0; i < 1750; ++i) {
    EXPECT_EQ(file.Describe("/overlapping").Reason, "virtual data set of parts that overlap");
  }
  EXPECT_EQ(file.Doubles("/good", 3), (std::vector<double>{7, 8, 9}));
}

/// The same values in every layout that a file of either style has.
TEST_F(Hdf5File, ReadsSmallValuesInAllLayouts)
{
  std::vector<float> values(60);
  std::iota(values.begin(), values.end(), 0.5f);
  const auto inChunks = [](bool compressed) {
    return [=](hid_t creation) {
      const hsize_t chunk[] = {2, 3};
      H5Pset_chunk(creation, 2, chunk);
      if (compressed) {
        H5Pset_shuffle(creation);
        H5Pset_deflate(creation, 4);
        H5Pset_fletcher32(creation);
      }
    };
  };
  const auto compact = [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); };
  const Hdf5Draft draft{{"/plain", testing::FloatsStoredAs(values, {6, 10}, [](hid_t) {})},
      {"/compact", testing::FloatsStoredAs(values, {6, 10}, compact)},
      {"/chunked", testing::FloatsStoredAs(values, {6, 10}, inChunks(false))},
      {"/packed", testing::FloatsStoredAs(values, {6, 10}, inChunks(true))}};
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path, draft, style);
    const hdf5::File file(this->Path);
    for (const char* const name : {"plain", "compact", "chunked", "packed"}) {
      EXPECT_EQ(file.Doubles(name, 60), std::vector<double>(values.begin(), values.end())) << name;
      EXPECT_EQ(
          file.Range<double>(name, 13, 20), std::vector<double>(values.begin() + 13, values.begin() + 33));
      EXPECT_EQ(file.Range<std::int64_t>(name, 1, 2), (std::vector<std::int64_t>{1, 2}));
      EXPECT_THAT(MessageOf([&, name = name] { file.Range<int>(name, 50, 11); }),
          HasSubstr("11 values from index 50"));
    }
  }
}

/// The metadata of a large file are read in windows.
TEST_F(Hdf5File, ReadsLargeFiles)
{
  Hdf5Draft draft;
  for (int i = 0; i < 60; ++i) {
    draft["/" + std::to_string(i) + "/values"] = testing::Floats(std::vector<float>(5000 + i, float(i)));
  }
  testing::WriteHdf5(this->Path, draft);
  const hdf5::File file(this->Path);
  ASSERT_GT(file.SizeOfFile(), 1024u * 1024);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(file.Doubles(std::to_string(i) + "/values", 5000 + i), std::vector<double>(5000 + i, i));
  }
}

/// Also texts and records, which the library converts.
TEST_F(Hdf5File, ReadsRecordsAndTextsInChunks)
{
  const std::string packed = this->Folder / "packed.h5";
  testing::WriteHdf5(this->Path,
      {{"/texts", testing::Texts({"a", "longer", "", "d", "e"})},
          {"/map", testing::Records(
                       std::vector<testing::PatchMapDraft>{{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, 0, 9, 10}})},
          {"/boxes",
              testing::Records(std::vector<testing::PatchExtentsDraft>{
                  {{1, 2, 3}, {4, 5, 6}, {0.5, 1, 2}, {3, 4, 5}}, {{-1, -2, -3}, {0, 0, 7}, {}, {}}})}});
  for (const char* const style : {"-L", "--low=0"}) {
    std::filesystem::remove(packed);
    const std::string command =
        fmt::format("h5repack {} -l CHUNK=2 -f SHUF -f GZIP=5 {} {}", style, this->Path, packed);
    if (std::system(command.c_str()) != 0) {
      GTEST_SKIP() << "skipped: no h5repack";
    }
    const hdf5::File file(packed);
    EXPECT_EQ(file.Strings("/texts", 5), (std::vector<std::string>{"a", "longer", "", "d", "e"}));
    struct Entry
    {
      double Level;
      int Patch;
    };
    std::vector<Entry> entries(3);
    file.Records("/map", 3,
        {{"level_number", ElementType::Float64, 1, offsetof(Entry, Level)},
            {"patch_number", ElementType::Int32, 1, offsetof(Entry, Patch)}},
        sizeof(Entry), entries.data());
    EXPECT_EQ(entries[0].Level, 3);
    EXPECT_EQ(entries[2].Patch, 10);
    struct Corner
    {
      int Lower[3];
      double Upper[3];
    };
    std::vector<Corner> corners(2);
    file.Records("/boxes", 2,
        {{"lower", ElementType::Int32, 3, offsetof(Corner, Lower)},
            {"xup", ElementType::Float64, 3, offsetof(Corner, Upper)}},
        sizeof(Corner), corners.data());
    EXPECT_EQ(corners[1].Lower[2], -3);
    EXPECT_EQ(corners[0].Upper[1], 4);
    EXPECT_THAT(MessageOf([&] {
      file.Records("/map", 3, {{"nothing", ElementType::Int32, 1, 0}}, sizeof(int), entries.data());
    }),
        HasSubstr("a member 'nothing' in '/map'"));
  }
}

namespace {

/// Writes so many attributes of the root that the new style stores them in a heap.
void WriteAttributes(const std::string& path, H5F_libver_t from)
{
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access, from, H5F_LIBVER_LATEST);
  const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  const hdf5::Handle one(H5Screate(H5S_SCALAR)), variable(H5Tcopy(H5T_C_S1)), fixed(H5Tcopy(H5T_C_S1));
  H5Tset_size(variable, H5T_VARIABLE);
  H5Tset_size(fixed, 8);
  const auto write = [&](const std::string& name, hid_t type, hid_t memory, hid_t space, const void* value) {
    const hdf5::Handle attribute(H5Acreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT));
    H5Awrite(attribute, memory, value);
  };
  const char* const text = "of any length";
  write("variable", variable, variable, one, &text);
  write("fixed", fixed, fixed, one, "padded\0\0");
  const hsize_t three = 3;
  const hdf5::Handle list(H5Screate_simple(1, &three, nullptr));
  const double numbers[] = {1.5, -2, 1e300};
  write("big", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, list, numbers);
  const int integers[] = {-1, 2, 3};
  write("small", H5T_STD_I16LE, H5T_NATIVE_INT, list, integers);
  for (int i = 0; i < 40; ++i) {
    write("more " + std::to_string(i), H5T_STD_I32LE, H5T_NATIVE_INT, one, &i);
  }
}

}  // namespace

TEST_F(Hdf5File, ReadsAttributesOfBothStyles)
{
  for (const H5F_libver_t from : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_LATEST}) {
    WriteAttributes(this->Path, from);
    const hdf5::File file(this->Path);
    EXPECT_EQ(file.Text("/", "variable"), "of any length");
    EXPECT_EQ(file.Text("/", "fixed"), "padded");
    EXPECT_EQ(file.Text("/", "nothing"), "");
    EXPECT_EQ(file.Numbers("/", "big"), (std::vector<double>{1.5, -2, 1e300}));
    EXPECT_EQ(file.Numbers("/", "small"), (std::vector<double>{-1, 2, 3}));
    EXPECT_EQ(file.Numbers("/", "more 39"), std::vector<double>{39});
    EXPECT_TRUE(file.Numbers("/", "fixed").empty());
    EXPECT_TRUE(file.Numbers("/", "more 40").empty());
  }
}

TEST_F(Hdf5File, ListsLargeGroupsOfBothStyles)
{
  Hdf5Draft draft;
  std::vector<std::string> names;
  for (int i = 0; i < 700; ++i) {
    names.push_back("member " + std::string(i % 40, 'x') + std::to_string(i));
    draft["/large/" + names.back()] = testing::Ints({i});
  }
  std::sort(names.begin(), names.end());
  for (const auto style : {testing::InOldStyle, testing::InNewStyle}) {
    testing::WriteHdf5(this->Path, draft, style);
    EXPECT_EQ(hdf5::File(this->Path).Names("large"), names);
  }
}

/// Numbers that the requested type cannot hold become the nearest number of this type.
TEST_F(Hdf5File, ConvertsNumbers)
{
  testing::WriteHdf5(this->Path,
      {{"/large", testing::Doubles({1e300, -1e300, 2.9, -2.9})}, {"/ints", testing::Ints({-7, 2147483647})}});
  const hdf5::File file(this->Path);
  EXPECT_EQ(file.Ints("/large", 4),
      (std::vector<int>{std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 2, -2}));
  EXPECT_EQ(file.Doubles("/ints", 2), (std::vector<double>{-7, 2147483647}));
}

TEST_F(Hdf5File, TellsApartMissingForeignAndTruncatedFiles)
{
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Folder / "b.h5"); }),
      AllOf(HasSubstr("No such file"), HasSubstr("whether the file was moved")));
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Path + "/b.h5"); }),
      AllOf(HasSubstr("Not a directory"), HasSubstr("Check the name")));
  testing::WriteText(this->Folder / "c.h5", "not at all");
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Folder / "c.h5"); }), HasSubstr("a file that is not HDF5"));
}

namespace {

/// Checks the messages about a file that is cut off at several places.
void ExpectTruncated(const std::string& path, H5F_libver_t from, std::uintmax_t userBlock)
{
  {
    const hdf5::Handle creation(H5Pcreate(H5P_FILE_CREATE)), access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_userblock(creation, userBlock);
    H5Pset_libver_bounds(access, from, H5F_LIBVER_LATEST);
    const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access));
    ASSERT_TRUE(file.IsValid());
    const hdf5::Handle group(H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  EXPECT_NO_THROW(hdf5::File file(path));
  const std::uintmax_t all = std::filesystem::file_size(path);
  for (const std::uintmax_t bytes : {all - 1, userBlock + 100}) {
    std::filesystem::resize_file(path, bytes);
    EXPECT_THAT(MessageOf([&] { hdf5::File file(path); }),
        HasSubstr(fmt::format("found the file truncated: {} of {} bytes. Copy it again", bytes, all)));
  }
  std::filesystem::resize_file(path, userBlock + 40);
  EXPECT_THAT(MessageOf([&] { hdf5::File file(path); }),
      HasSubstr(fmt::format("truncated: {} bytes, less than the head", userBlock + 40)));
}

}  // namespace

TEST_F(Hdf5File, SaysHowMuchOfATruncatedFileIsThere)
{
  for (const H5F_libver_t from : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110}) {
    for (const std::uintmax_t userBlock : {0, 512, 4096}) {
      ExpectTruncated(this->Folder / "cut.h5", from, userBlock);
    }
  }
}

}  // namespace patchio
