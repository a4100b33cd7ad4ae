#include "Base/Bytes.h"
#include "Base/File.h"
#include "Hdf5/Structure.h"
#include "Hdf5Draft.h"
#include "Io/Decode.h"
#include "TestTools.h"

#include <hdf5.h>

#include <fstream>
#include <numeric>

namespace patchio {
namespace {

using hdf5::Dataset;
using hdf5::StorageLayout;
using hdf5::Structure;
using hdf5::TypeClass;
using ::testing::HasSubstr;
using testing::Hdf5Draft;
using testing::InNewStyle;
// In HDF5 1.12, the type with this name is another one, without addresses.
#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info1_t;
#else
using ObjectInfo = H5O_info_t;
#endif

class Hdf5Structure : public ::testing::Test
{
protected:
  ~Hdf5Structure() override
  {
    if (this->File >= 0) {
      H5Fclose(this->File);
    }
  }

  void Write(
      const Hdf5Draft& draft, const std::function<void(hid_t, hid_t)>& choose = [](hid_t, hid_t) {})
  {
    testing::WriteHdf5(this->Path, draft, choose);
  }

  /// Opens the file with PatchIO's reader and with HDF5.
  void Open()
  {
    this->Reader.Open(OpenFile(), std::filesystem::file_size(this->Path));
    this->File = H5Fopen(this->Path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(this->File, 0);
  }

  hdf5::ReadAt OpenFile() const
  {
    const auto file = std::make_shared<PlainFile>(this->Path);
    return [file](std::uint64_t offset, void* into, std::size_t bytes) { file->Read(offset, into, bytes); };
  }

  /// Returns the address of the header of the object at a path like "a/b".
  std::uint64_t Find(const std::string& path)
  {
    std::uint64_t header = this->Reader.Root();
    std::stringstream names(path);
    for (std::string name; std::getline(names, name, '/');) {
      const auto next = this->Reader.Find(this->Reader.OpenGroup(header), name);
      if (!next) {
        ADD_FAILURE() << name << " not found";
        return 0;
      }
      header = *next;
    }
    return header;
  }

  Dataset Describe(const std::string& path) { return this->Reader.Describe(this->Find(path)); }

  /// Returns why the values of an object cannot be read; empty if they can.
  std::string ReasonOf(const std::string& path)
  {
    try {
      this->Reader.Open(OpenFile(), std::filesystem::file_size(this->Path));
      return this->Describe(path).Reason;
    } catch (const Error& error) {
      return error.what();
    }
  }

  /// Returns the floats of a contiguous data set.
  std::vector<float> ValuesOf(const Dataset& dataset) const
  {
    std::vector<float> values(dataset.Values);
    std::ifstream file(this->Path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(dataset.Offset));
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(4 * values.size()));
    if (dataset.BigEndian == HostIsLittleEndian()) {
      SwapByteOrder(values.data(), values.size(), 4);
    }
    return values;
  }

  std::vector<Chunk> ChunksIn(const Dataset& dataset)
  {
    std::vector<Chunk> chunks(CountChunks(dataset));
    this->Reader.ListChunks(dataset, chunks.data());
    return chunks;
  }

  /// Returns HDF5's list of the chunks of a data set, in the same form.
  std::vector<Chunk> ChunksByHdf5(const std::string& path, const Dataset& dataset)
  {
    std::vector<Chunk> chunks(CountChunks(dataset));
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      chunks[i].Number = i;
    }
    const hid_t id = H5Dopen2(this->File, path.c_str(), H5P_DEFAULT);
    const hid_t space = H5Dget_space(id);
    hsize_t count = 0;
    H5Dget_num_chunks(id, space, &count);
    for (hsize_t i = 0; i < count; ++i) {
      hsize_t begin[4], bytes;
      unsigned skipped;
      haddr_t offset;
      EXPECT_GE(H5Dget_chunk_info(id, space, i, begin, &skipped, &offset, &bytes), 0);
      std::uint64_t number = 0;
      for (int d = 0; d < dataset.Rank; ++d) {
        const std::uint64_t along = (dataset.Dims[d] + dataset.ChunkDims[d] - 1) / dataset.ChunkDims[d];
        number = number * along + begin[d] / dataset.ChunkDims[d];
      }
      chunks.at(number) = {offset, number, static_cast<std::uint32_t>(bytes), skipped};
    }
    H5Sclose(space);
    H5Dclose(id);
    return chunks;
  }

  testing::TempFolder Folder;
  const std::string Path = Folder / "file.h5";
  Structure Reader;
  hid_t File = -1;
};

std::vector<float> Ramp(std::size_t count)
{
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// Returns all fields of the chunks, as values that can be compared and printed.
std::vector<std::array<std::uint64_t, 4>> Plain(const std::vector<Chunk>& chunks)
{
  std::vector<std::array<std::uint64_t, 4>> result;
  for (const Chunk& chunk : chunks) {
    result.push_back({chunk.Number, chunk.Offset, chunk.Bytes, chunk.SkippedFilters});
  }
  return result;
}

std::function<void(hid_t)> InChunks(const std::vector<hsize_t>& dims, bool compressed = false)
{
  return [=](hid_t creation) {
    H5Pset_chunk(creation, static_cast<int>(dims.size()), dims.data());
    if (compressed) {
      H5Pset_shuffle(creation);
      H5Pset_deflate(creation, 4);
      H5Pset_fletcher32(creation);
    }
  };
}

}  // namespace

TEST_F(Hdf5Structure, FindsContiguousValues)
{
  this->Write({{"/a/big", testing::Floats(Ramp(7))}, {"/a/little", testing::LittleEndianFloats(Ramp(9))},
      {"/a/b/ints", testing::Ints({1, 2, 3})}, {"/a/b/doubles", testing::Doubles({1, 2})},
      {"/rows", testing::NativeInts({1, 2, 3, 4, 5, 6})}});
  this->Open();
  struct Case
  {
    std::string Path;
    TypeClass Class;
    bool BigEndian;
    std::uint64_t ElementBytes, Values;
  };
  for (const Case& wanted :
      {Case{"a/big", TypeClass::Float, true, 4, 7}, Case{"a/little", TypeClass::Float, false, 4, 9},
          Case{"a/b/ints", TypeClass::Integer, true, 4, 3}, Case{"a/b/doubles", TypeClass::Float, true, 8, 2},
          Case{"rows", TypeClass::Integer, false, 4, 6}}) {
    const Dataset dataset = this->Describe(wanted.Path);
    EXPECT_EQ(dataset.Layout, StorageLayout::Contiguous) << wanted.Path;
    EXPECT_EQ(dataset.Class, wanted.Class) << wanted.Path;
    EXPECT_EQ(dataset.BigEndian, wanted.BigEndian) << wanted.Path;
    EXPECT_EQ(dataset.ElementBytes, wanted.ElementBytes) << wanted.Path;
    EXPECT_EQ(dataset.Values, wanted.Values) << wanted.Path;
    const hid_t id = H5Dopen2(this->File, wanted.Path.c_str(), H5P_DEFAULT);
    EXPECT_EQ(dataset.Offset, H5Dget_offset(id)) << wanted.Path;
    H5Dclose(id);
  }
}

TEST_F(Hdf5Structure, KnowsWhatIsNotThere)
{
  this->Write({{"/b", testing::Ints({1})}, {"/d", testing::Ints({1})}});
  this->Open();
  const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
  for (const char* name : {"", "a", "bb", "c", "e", "B"}) {
    EXPECT_FALSE(this->Reader.Find(root, name)) << name;
  }
  EXPECT_TRUE(this->Reader.Find(root, "b"));
  EXPECT_TRUE(this->Reader.Find(root, "d"));
}

namespace {

/// The sizes of B-tree nodes of groups, with the matching superblock.
struct Nodes
{
  unsigned GroupK, SymbolsK;
  bool VersionOne;
};

class Hdf5StructureNodes : public Hdf5Structure, public ::testing::WithParamInterface<Nodes>
{
};

}  // namespace

TEST_P(Hdf5StructureNodes, FindsEveryMemberOfALargeGroup)
{
  std::vector<std::string> names;
  for (int i = 0; i < 2500; ++i) {
    const std::string number = std::to_string(i);
    names.push_back(number);
    if (i % 10 == 0) {
      names.push_back("a long name " + std::string(i % 300, 'x') + number);
    }
  }
  Hdf5Draft draft;
  for (const std::string& name : names) {
    draft["/large/" + name] = testing::Ints({1});
  }
  this->Write(draft, [](hid_t creation, hid_t) {
    H5Pset_sym_k(creation, GetParam().GroupK, GetParam().SymbolsK);
    if (GetParam().VersionOne) {
      H5Pset_istore_k(creation, 7);
    }
  });
  this->Open();
  const hdf5::Group group = this->Reader.OpenGroup(this->Find("large"));
  for (const std::string& name : names) {
    ObjectInfo info;
    ASSERT_GE(
        H5Oget_info_by_name2(this->File, ("large/" + name).c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
    EXPECT_EQ(this->Reader.Find(group, name), info.addr) << name;
    EXPECT_FALSE(this->Reader.Find(group, name + "?")) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Hdf5StructureNodes,
    ::testing::Values(Nodes{16, 4, false}, Nodes{2, 1, false}, Nodes{16, 4, true}, Nodes{40, 20, false}));

TEST_F(Hdf5Structure, ListsChunks)
{
  struct Case
  {
    std::vector<hsize_t> Shape, Chunk;
    bool Compressed;
  };
  std::map<std::string, Case> cases{{"one", {{10}, {10}, false}}, {"cut", {{10}, {4}, true}},
      {"deep", {{5000}, {1}, false}}, {"plane", {{7, 9}, {3, 2}, true}},
      {"block", {{5, 6, 7}, {2, 3, 7}, true}}, {"four", {{3, 4, 5, 6}, {2, 2, 2, 2}, true}}};
  Hdf5Draft draft;
  for (const auto& [name, made] : cases) {
    const std::size_t values =
        std::accumulate(made.Shape.begin(), made.Shape.end(), std::size_t(1), std::multiplies<>());
    draft["/" + name] =
        testing::FloatsStoredAs(Ramp(values), made.Shape, InChunks(made.Chunk, made.Compressed));
  }
  this->Write(draft);
  this->Open();
  for (const auto& [name, made] : cases) {
    const Dataset dataset = this->Describe(name);
    ASSERT_EQ(dataset.Layout, StorageLayout::Chunked) << name;
    ASSERT_EQ(dataset.Rank, made.Shape.size()) << name;
    for (int d = 0; d < dataset.Rank; ++d) {
      EXPECT_EQ(dataset.Dims[d], made.Shape[d]) << name;
      EXPECT_EQ(dataset.ChunkDims[d], made.Chunk[d]) << name;
    }
    using F = FilterType;
    const std::array<F, 4> three{F::Shuffle, F::Deflate, F::Fletcher32, F::None}, none{};
    EXPECT_EQ(dataset.Filters, made.Compressed ? three : none) << name;
    EXPECT_EQ(dataset.Fill, 0u);
    EXPECT_EQ(Plain(this->ChunksIn(dataset)), Plain(this->ChunksByHdf5(name, dataset))) << name;
  }
}

TEST_F(Hdf5Structure, ListsChunksThatWereNeverWritten)
{
  const auto choose = [](hid_t creation) {
    InChunks({4})(creation);
    const float fill = 2.5f;
    H5Pset_fill_value(creation, H5T_NATIVE_FLOAT, &fill);
  };
  this->Write({{"/none", testing::FloatsStoredAs({}, {10}, choose)},
      {"/some", [&](hid_t file, const std::string& path) {
         testing::FloatsStoredAs({}, {10}, choose)(file, path);
         const hid_t id = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
         const hsize_t begin = 4;
         const float values[4] = {1, 2, 3, 4};
         H5Dwrite_chunk(id, H5P_DEFAULT, 0, &begin, sizeof(values), values);
         H5Dclose(id);
       }}});
  this->Open();
  for (const char* name : {"none", "some"}) {
    const Dataset dataset = this->Describe(name);
    float fill = 0;
    std::memcpy(&fill, &dataset.Fill, sizeof(fill));
    EXPECT_EQ(fill, 2.5f);
    const std::vector<Chunk> chunks = this->ChunksIn(dataset);
    ASSERT_EQ(chunks.size(), 3u);
    EXPECT_EQ(chunks[1].Bytes, std::string(name) == "some" ? 16u : 0u);
    EXPECT_EQ(chunks[2].Bytes, 0u);
    EXPECT_EQ(Plain(chunks), Plain(this->ChunksByHdf5(name, dataset)));
  }
}

TEST_F(Hdf5Structure, ReadsObjectHeadersOfSeveralBlocks)
{
  this->Write({{"/values", [](hid_t file, const std::string& path) {
                  testing::FloatsStoredAs(Ramp(100), {100}, InChunks({30}))(file, path);
                  const hid_t id = H5Dopen2(file, path.c_str(), H5P_DEFAULT);
                  for (int i = 0; i < 40; ++i) {
                    const hsize_t length = 10 + i;
                    const hid_t space = H5Screate_simple(1, &length, nullptr);
                    H5Aclose(H5Acreate2(id, ("attribute " + std::to_string(i)).c_str(), H5T_NATIVE_INT, space,
                        H5P_DEFAULT, H5P_DEFAULT));
                    H5Sclose(space);
                  }
                  H5Dclose(id);
                }}});
  this->Open();
  const Dataset dataset = this->Describe("values");
  EXPECT_EQ(dataset.Values, 100u);
  EXPECT_EQ(Plain(this->ChunksIn(dataset)), Plain(this->ChunksByHdf5("values", dataset)));
}

/// Groups in headers and in heaps, and the kinds of chunk lists that this library writes. hdf5_files.py tests
/// all kinds.
TEST_F(Hdf5Structure, ReadsNewFiles)
{
  Hdf5Draft draft{{"/a/values", testing::Floats(Ramp(5))},
      {"/a/chunks", testing::FloatsStoredAs(Ramp(63), {7, 9}, InChunks({3, 2}, true))}};
  for (int i = 0; i < 500; ++i) {
    draft["/many/" + std::to_string(i)] = testing::Floats(Ramp(i + 1));
  }
  this->Write(draft, InNewStyle);
  this->Open();
  for (int i = 0; i < 500; ++i) {
    const std::string path = "many/" + std::to_string(i);
    const Dataset dataset = this->Describe(path);
    const hid_t id = H5Dopen2(this->File, path.c_str(), H5P_DEFAULT);
    EXPECT_EQ(dataset.Offset, H5Dget_offset(id));
    EXPECT_EQ(dataset.Values, i + 1u);
    H5Dclose(id);
  }
  for (const char* const group : {"a", "many"}) {
    EXPECT_FALSE(this->Reader.Find(this->Reader.OpenGroup(this->Find(group)), "none")) << group;
  }
  EXPECT_EQ(this->Describe("a/values").Values, 5u);
  const Dataset chunked = this->Describe("a/chunks");
  EXPECT_EQ(Plain(this->ChunksIn(chunked)), Plain(this->ChunksByHdf5("a/chunks", chunked)));
}

/// A wrong byte in a header with a checksum. Without the checksum, it would not be detected.
TEST_F(Hdf5Structure, ComparesChecksums)
{
  this->Write({{"/values", testing::Floats({1, 2})}}, InNewStyle);
  this->Open();
  const std::uint64_t header = this->Find("values");
  std::fstream file(this->Path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(header) + 8);  // a time
  file.put('x');
  file.close();
  EXPECT_THAT(this->ReasonOf("values"), HasSubstr("wrong checksum"));
  this->Reader.SetComparesChecksums(false);
  EXPECT_EQ(this->ReasonOf("values"), "");
}

TEST_F(Hdf5Structure, ReadsBehindUserBlocks)
{
  for (const bool isNew : {false, true}) {
    this->Write({{"/a/values", testing::Floats({1, 2})}}, [isNew](hid_t creation, hid_t access) {
      H5Pset_userblock(creation, 1024);
      if (isNew) {
        InNewStyle(creation, access);
      }
    });
    this->Reader.Open(OpenFile(), std::filesystem::file_size(this->Path));
    EXPECT_EQ(this->ValuesOf(this->Describe("a/values")), (std::vector<float>{1, 2}));
  }
}

TEST_F(Hdf5Structure, ReadsCompactValuesAndSharedTypes)
{
  const auto compact = [](hid_t creation) { H5Pset_layout(creation, H5D_COMPACT); };
  this->Write({{"/compact", testing::FloatsStoredAs(Ramp(4), {4}, compact)},
      {"/named", [](hid_t file, const std::string& path) {
         const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
         H5Tcommit2(file, "/type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
         testing::FloatsOfType(Ramp(4), type)(file, path);
         H5Tclose(type);
       }}});
  this->Reader.Open(OpenFile(), std::filesystem::file_size(this->Path));
  for (const char* const name : {"compact", "named"}) {
    EXPECT_EQ(this->ValuesOf(this->Describe(name)), Ramp(4)) << name;
  }
}

TEST_F(Hdf5Structure, SaysWhatItDoesNotRead)
{
  const auto nbit = [](hid_t creation) {
    InChunks({4})(creation);
    H5Pset_nbit(creation);
  };
  const auto external = [](hid_t creation) { H5Pset_external(creation, "elsewhere", 0, 64); };
  const Hdf5Draft draft{{"/nbit", testing::FloatsStoredAs(Ramp(4), {4}, nbit)},
      {"/external", testing::FloatsStoredAs({}, {16}, external)},
      {"/empty", testing::FloatsStoredAs({}, {16}, [](hid_t) {})},
      {"/six axes", testing::FloatsStoredAs(Ramp(64), {2, 2, 2, 2, 2, 2}, InChunks({2, 2, 2, 2, 2, 2}))},
      {"/soft", testing::SoftLink("/nbit")}, {"/text", testing::Texts({"a"})},
      {"/new/outside", testing::ExternalLink("elsewhere", "/a")},
      {"/vax", [](hid_t file, const std::string& path) {
         const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
         H5Tset_ebias(type, 128);
         testing::FloatsOfType(Ramp(4), type)(file, path);
         H5Tclose(type);
       }}};
  this->Write(draft);
  const std::map<std::string, std::string> reasons{{"nbit", "filter 5 (nbit)"},
      {"external", "values in external files"}, {"empty", "no values written yet"},
      {"six axes", "chunks of 6 axes"}, {"soft", "filter 5 (nbit)"}, {"new/outside", "external link"},
      {"vax", "unusual format"}, {"new", "not a data set"}};
  for (const auto& [path, reason] : reasons) {
    EXPECT_THAT(this->ReasonOf(path), HasSubstr(reason)) << path;
  }
}

TEST_F(Hdf5Structure, RefusesShortAddresses)
{
  this->Write({{"/a", testing::Floats({1})}}, [](hid_t creation, hid_t) { H5Pset_sizes(creation, 4, 4); });
  EXPECT_THAT(this->ReasonOf("a"), HasSubstr("addresses"));
}

TEST_F(Hdf5Structure, RefusesTruncatedFiles)
{
  this->Write({{"/values", testing::Floats(Ramp(1000))}});
  std::filesystem::resize_file(this->Path, std::filesystem::file_size(this->Path) - 1);
  EXPECT_THAT(this->ReasonOf("values"), HasSubstr("truncated: "));
  std::filesystem::resize_file(this->Path, 40);
  EXPECT_THAT(this->ReasonOf("values"), HasSubstr("less than the header"));
  std::filesystem::resize_file(this->Path, 0);
  EXPECT_EQ(this->ReasonOf("values"), "no superblock");
}

TEST_F(Hdf5Structure, ReadsLargeFilesInWindows)
{
  Hdf5Draft draft;
  for (int i = 0; i < 60; ++i) {
    draft["/" + std::to_string(i) + "/values"] = testing::Floats(Ramp(5000 + i));
  }
  this->Write(draft);
  this->Open();
  ASSERT_GT(this->Reader.SizeOfFile(), 1024u * 1024);
  for (int i = 0; i < 60; ++i) {
    const std::string path = std::to_string(i) + "/values";
    const Dataset dataset = this->Describe(path);
    EXPECT_EQ(dataset.Values, 5000u + i);
    const hid_t id = H5Dopen2(this->File, path.c_str(), H5P_DEFAULT);
    EXPECT_EQ(dataset.Offset, H5Dget_offset(id));
    H5Dclose(id);
  }
}

}  // namespace patchio
