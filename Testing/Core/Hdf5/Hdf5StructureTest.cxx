// Files with structures that hdf5_files.py does not make, because h5py cannot choose them, and files that are
// refused.
#include "Hdf5/Structure.h"

#include "Base/File.h"
#include "Hdf5Draft.h"
#include "TestTools.h"

#include <fstream>
#include <numeric>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::Hdf5Draft;
using testing::InChunks;
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
  void Write(
      const Hdf5Draft& draft, const std::function<void(hid_t, hid_t)>& choose = [](hid_t, hid_t) {})
  {
    testing::WriteHdf5(this->Path, draft, choose);
  }

  /// Writes a root group whose links are in a fractal heap. Returns the bytes of the file.
  std::string WriteMembersInAHeap()
  {
    Hdf5Draft draft;
    for (int i = 0; i < 20; ++i) {
      draft["/" + std::to_string(i)] = testing::Ints({i});
    }
    this->Write(draft, InNewStyle);
    return testing::ReadBytes(this->Path);
  }

  void Open()
  {
    const auto file = std::make_shared<PlainFile>(this->Path);
    const auto read = [file](std::uint64_t offset, void* into, std::size_t bytes) {
      file->Read(offset, into, bytes);
    };
    this->Reader.Open(read, file->Size());
  }

  /// Returns the address of the header of the object at a path like "a/b".
  std::uint64_t Find(const std::string& path)
  {
    return this->Reader.FindPath(this->Reader.OpenGroup(this->Reader.Root()), path).value();
  }

  /// Returns why the values of an object cannot be read; empty if they can.
  std::string ReasonOf(const std::string& path)
  {
    try {
      this->Open();
      return this->Reader.Describe(this->Find(path)).Reason;
    } catch (const Error& error) {
      return error.what();
    }
  }

  testing::TempFolder Folder;
  const std::string Path = Folder / "file.h5";
  hdf5::Structure Reader;
};

std::vector<float> Ramp(std::size_t count)
{
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

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
  const hdf5::Handle file(H5Fopen(this->Path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const hdf5::Group group = this->Reader.OpenGroup(this->Find("large"));
  for (const std::string& name : names) {
    ObjectInfo info;
    ASSERT_GE(H5Oget_info_by_name2(file, ("large/" + name).c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT), 0);
    EXPECT_EQ(this->Reader.Find(group, name), info.addr) << name;
    EXPECT_FALSE(this->Reader.Find(group, name + "?")) << name;
  }
  for (const char* const name : {"", "!", "~"}) {
    EXPECT_FALSE(this->Reader.Find(group, name)) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Hdf5StructureNodes,
    ::testing::Values(Nodes{16, 4, false}, Nodes{2, 1, false}, Nodes{16, 4, true}, Nodes{40, 20, false}));

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

TEST_F(Hdf5Structure, SaysWhatItDoesNotRead)
{
  const auto nbit = [](hid_t creation) {
    InChunks({4})(creation);
    H5Pset_nbit(creation);
  };
  const Hdf5Draft draft{{"/nbit", testing::FloatsStoredAs(Ramp(4), {4}, nbit)},
      {"/empty", testing::FloatsStoredAs({}, {16}, [](hid_t) {})},
      {"/six axes", testing::FloatsStoredAs(Ramp(64), {2, 2, 2, 2, 2, 2}, InChunks({2, 2, 2, 2, 2, 2}))},
      {"/new/outside", testing::ExternalLink("elsewhere", "/a")},
      {"/vax", [](hid_t file, const std::string& path) {
         const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
         H5Tset_ebias(type, 128);
         testing::FloatsOfType(Ramp(4), type)(file, path);
         H5Tclose(type);
       }}};
  this->Write(draft);
  const std::map<std::string, std::string> reasons{{"nbit", "filter 5 (nbit)"},
      {"empty", "no values written yet"}, {"six axes", "chunks of 6 axes"}, {"new/outside", "external link"},
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

/// Trees whose nodes have themselves as children. Without a check of levels, the walk would not end.
TEST_F(Hdf5Structure, RefusesTreesThatMeetThemselves)
{
  Hdf5Draft draft{{"/chunks", testing::FloatsStoredAs(Ramp(5000), {5000}, InChunks({1}))}};
  for (int i = 0; i < 100; ++i) {
    draft["/" + std::to_string(i)] = testing::Ints({i});
  }
  this->Write(draft, [](hid_t creation, hid_t) { H5Pset_sym_k(creation, 2, 2); });
  const std::string sound = testing::ReadBytes(this->Path);
  struct Kind
  {
    char Type;  ///< 0: nodes of groups; 1: nodes of chunks of one axis
    std::size_t FirstChild, Stride, Children;
  };
  for (const Kind& nodes : {Kind{0, 32, 16, 4}, Kind{1, 48, 32, 60}}) {
    std::string bytes = sound;
    for (std::uint64_t place = sound.find("TREE"); place != sound.npos;
         place = sound.find("TREE", place + 4)) {
      for (std::size_t child = 0; sound[place + 4] == nodes.Type && child < nodes.Children; ++child) {
        std::memcpy(&bytes[place + nodes.FirstChild + nodes.Stride * child], &place, sizeof(place));
      }
    }
    testing::WriteText(this->Path, bytes);
    this->Open();
    const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
    if (nodes.Type == 0) {
      EXPECT_THROW(this->Reader.Names(root), Error);
    } else {
      const hdf5::Dataset dataset = this->Reader.Describe(this->Find("chunks"));
      std::vector<Chunk> chunks(CountChunks(dataset));
      EXPECT_THROW(this->Reader.ListChunks(dataset, chunks.data()), Error);
    }
  }
}

/// Chunks and nodes that extend beyond the end of the file. Files of more than 256 KiB are read in windows.
TEST_F(Hdf5Structure, RefusesWhatExtendsBeyondTheFile)
{
  const auto deflated = [](hid_t creation) {
    InChunks({1})(creation);
    H5Pset_deflate(creation, 1);
  };
  for (const std::size_t others : {std::size_t(1), std::size_t(100000)}) {
    this->Write({{"/others", testing::FloatsStoredAs(Ramp(others), {others}, [](hid_t) {})},
        {"/chunks", testing::FloatsStoredAs(Ramp(5000), {5000}, deflated)}});
    const std::string sound = testing::ReadBytes(this->Path);
    for (const bool leaves : {true, false}) {
      std::string bytes = sound;
      std::size_t place = sound.find("TREE");
      while (sound[place + 4] != 1 || (sound[place + 5] == 0) != leaves) {  // type: nodes of chunks; level
        place = sound.find("TREE", place + 4);
        ASSERT_NE(place, sound.npos);
      }
      const std::uint64_t nearEnd = sound.size() - 8;
      const std::uint32_t chunkBytes = 9;
      std::memcpy(&bytes[place + 24], &chunkBytes, sizeof(chunkBytes));
      std::memcpy(&bytes[place + 48], &nearEnd, sizeof(nearEnd));
      testing::WriteText(this->Path, bytes);
      this->Open();
      const hdf5::Dataset dataset = this->Reader.Describe(this->Find("chunks"));
      std::vector<Chunk> chunks(CountChunks(dataset));
      EXPECT_THAT(testing::MessageOf([&] { this->Reader.ListChunks(dataset, chunks.data()); }),
          HasSubstr(leaves ? "a chunk that is outside the file" : "an address outside the file"))
          << others << " values";
    }
  }
}

/// Fields of the header of a fractal heap with impossible values.
TEST_F(Hdf5Structure, RefusesImpossibleHeaps)
{
  const std::string sound = this->WriteMembersInAHeap();
  const std::size_t heap = sound.find("FRHP");
  ASSERT_NE(heap, sound.npos);
  struct Field
  {
    const char* Name;
    std::size_t Offset, Bytes;
    std::uint64_t Value;
  };
  for (const Field& field : {Field{"length of identifiers", 5, 2, 3}, {"greatest object", 10, 4, 0xffffffff},
           {"width", 110, 2, 3}, {"first block", 112, 8, 3}, {"first block", 112, 8, std::uint64_t(1) << 40},
           {"greatest block", 120, 8, 3}, {"greatest block", 120, 8, std::uint64_t(1) << 40},
           {"bits of offsets", 128, 2, 0}, {"bits of offsets", 128, 2, 65}, {"rows", 140, 2, 60000}}) {
    std::string bytes = sound;
    std::memcpy(&bytes[heap + field.Offset], &field.Value, field.Bytes);
    testing::WriteText(this->Path, bytes);
    this->Reader.SetComparesChecksums(false);
    this->Open();
    EXPECT_THAT(testing::MessageOf([&] { this->Reader.Names(this->Reader.OpenGroup(this->Reader.Root())); }),
        HasSubstr("a damaged fractal heap"))
        << field.Name << " " << field.Value;
  }
}

/// An object of a fractal heap that begins in the checksum of its block: before the first place for objects.
TEST_F(Hdf5Structure, RefusesObjectsInHeadsOfHeapBlocks)
{
  std::string bytes = this->WriteMembersInAHeap();
  constexpr std::size_t leafHead = 6, hashBytes = 4, idHead = 1;
  constexpr char linksByName = 5;
  const std::size_t leaf = bytes.find("BTLF");
  ASSERT_NE(leaf, bytes.npos);
  ASSERT_EQ(bytes[leaf + 5], linksByName);
  const std::uint32_t inChecksum = 4 + 1 + 8 + 4;
  std::memcpy(&bytes[leaf + leafHead + hashBytes + idHead], &inChecksum, sizeof(inChecksum));
  testing::WriteText(this->Path, bytes);
  this->Reader.SetComparesChecksums(false);
  this->Open();
  const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
  EXPECT_THAT(testing::MessageOf([&] { this->Reader.Names(root); }), HasSubstr("a damaged fractal heap"));
}

}  // namespace patchio
