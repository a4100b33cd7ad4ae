// Damaged files: the index reader must return places inside the file, or give up.
#include "Hdf5/Library.h"
#include "Hdf5/Structure.h"
#include "Hdf5Draft.h"
#include "TestTools.h"

#include <hdf5.h>

#include <random>

namespace patchio {
namespace {

using hdf5::Dataset;
using hdf5::StorageLayout;
using hdf5::Structure;

using Bytes = std::vector<std::byte>;

/// A file in memory that counts its reads, and fails on reads outside of the file.
class MemoryFile
{
public:
  explicit MemoryFile(const Bytes& content) : Content(content) {}
  void Read(std::uint64_t offset, void* into, std::size_t bytes)
  {
    ++this->Reads;
    if (offset > this->Content.size() || bytes > this->Content.size() - offset) {
      this->Outside = true;
      throw Error("outside");
    }
    std::memcpy(into, this->Content.data() + offset, bytes);
  }

  std::size_t Reads = 0;
  bool Outside = false;

private:
  const Bytes& Content;
};

/// The result of a walk over a file.
struct Outcome
{
  int Answers = 0, Absent = 0, GivenUp = 0;
};

const std::vector<std::string> Paths{"group/contiguous", "group/chunked", "group/compressed", "group/sparse",
    "group/inner/ints", "group/inner/doubles", "many/17", "many/99", "many/none"};

class Hdf5StructureFuzz : public ::testing::Test
{
protected:
  /// Makes a file with all structures that the reader knows. padding: number of unused values, which make the
  /// file larger.
  Bytes MakeFile(std::size_t padding, bool isNew = false)
  {
    const auto inChunks = [](hsize_t length, bool compressed) {
      return [=](hid_t creation) {
        H5Pset_chunk(creation, 1, &length);
        if (compressed) {
          H5Pset_shuffle(creation);
          H5Pset_deflate(creation, 1);
        }
      };
    };
    testing::Hdf5Draft draft{{"/group/contiguous", testing::Floats(std::vector<float>(20, 1))},
        {"/group/chunked", testing::FloatsStoredAs(std::vector<float>(200, 1), {200}, inChunks(2, false))},
        {"/group/compressed", testing::FloatsStoredAs(std::vector<float>(20, 1), {20}, inChunks(6, true))},
        {"/group/sparse", testing::FloatsStoredAs({}, {20}, inChunks(6, true))},
        {"/group/inner/ints", testing::Ints({1, 2, 3})}, {"/group/inner/doubles", testing::Doubles({1})},
        {"/group/inner/records", testing::Records(std::vector<testing::PointerDraft>{{1, 2}})}};
    for (int i = 0; i < 100; ++i) {
      draft["/many/" + std::to_string(i)] = testing::Ints({i});
    }
    if (padding > 0) {
      draft["/group/padding"] = testing::Floats(std::vector<float>(padding));
    }
    draft["/many/text"] = [](hid_t file, const std::string&) {  // written last, because its group must exist
      const hdf5::Handle group(H5Gopen2(file, "/group", H5P_DEFAULT)), one(H5Screate(H5S_SCALAR));
      const hdf5::Handle type(H5Tcopy(H5T_C_S1));
      H5Tset_size(type, H5T_VARIABLE);
      const hdf5::Handle attribute(H5Acreate2(group, "text", type, one, H5P_DEFAULT, H5P_DEFAULT));
      const char* const text = "of any length";
      H5Awrite(attribute, type, &text);
    };
    const std::string path = this->Folder / "file.h5";
    testing::WriteHdf5(path, draft, [isNew](hid_t creation, hid_t access) {
      H5Pset_sym_k(creation, 2, 2);
      if (isNew) {
        testing::InNewStyle(creation, access);
      }
    });
    Bytes content(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
    return content;
  }

  /// Requests all paths, and checks each answer.
  Outcome Walk(const Bytes& content)
  {
    MemoryFile file(content);
    const auto read = [&](std::uint64_t offset, void* into, std::size_t bytes) {
      file.Read(offset, into, bytes);
    };
    Outcome outcome;
    try {
      this->Reader.Open(read, content.size());
      for (const std::string& path : Paths) {
        this->Ask(path, content.size(), outcome);
      }
      this->AskRest();
    } catch (const Error&) {
      ++outcome.GivenUp;
    }
    EXPECT_FALSE(file.Outside);
    EXPECT_LT(file.Reads, 20000u);
    return outcome;
  }

  void Ask(const std::string& path, std::uint64_t fileBytes, Outcome& outcome)
  {
    try {
      std::uint64_t header = this->Reader.Root();
      std::stringstream names(path);
      for (std::string name; std::getline(names, name, '/');) {
        const auto next = this->Reader.Find(this->Reader.OpenGroup(header), name);
        if (!next) {
          ++outcome.Absent;
          return;
        }
        header = *next;
      }
      this->CheckAnswer(this->Reader.Describe(header), fileBytes);
      ++outcome.Answers;
    } catch (const Error&) {
      ++outcome.GivenUp;
    }
  }

  /// Requests the names in a group, an attribute, and a type. Each request may fail.
  void AskRest()
  {
    try {
      const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
      for (const std::string& name : this->Reader.Names(root)) {
        ASSERT_LE(name.size(), 64u * 1024);
      }
      const auto group = this->Reader.Find(root, "group");
      const auto attribute = group ? this->Reader.FindAttribute(*group, "text") : std::nullopt;
      if (attribute && attribute->Bytes.size() >= 16) {
        this->Reader.TextOf(attribute->Bytes.data(), 100);
      }
      this->Reader.DatatypeOf(this->Reader.FindPath(root, "group/inner/records").value_or(0));
    } catch (const Error&) {
    }
  }

  void CheckAnswer(const Dataset& dataset, std::uint64_t fileBytes)
  {
    ASSERT_GT(dataset.ElementBytes, 0u);
    if (dataset.Layout == StorageLayout::Contiguous) {
      ASSERT_LE(dataset.Offset, fileBytes);
      ASSERT_LE(dataset.Values * dataset.ElementBytes, fileBytes - dataset.Offset);
      return;
    }
    if (dataset.Layout != StorageLayout::Chunked) {
      ASSERT_FALSE(dataset.Reason.empty());
      return;
    }
    const std::uint64_t count = CountChunks(dataset);
    ASSERT_LE(count, dataset.Values);
    if (count > hdf5::MostChunks(fileBytes)) {
      return;  // the caller must not request these values
    }
    std::vector<Chunk> chunks(count);
    this->Reader.ListChunks(dataset, chunks.data());
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(chunks[i].Number, i);
      ASSERT_LE(chunks[i].Offset, fileBytes);
      ASSERT_LE(chunks[i].Bytes, fileBytes - chunks[i].Offset);
    }
  }

  std::uint64_t Below(std::uint64_t limit) { return this->Random() % limit; }

  /// Damages the file in one of the ways of accidents or attacks.
  void Damage(Bytes& content)
  {
    if (content.size() < 64) {
      return;
    }
    const std::uint64_t size = content.size();
    // Most of the structures are in the first part of the file.
    const std::uint64_t place =
        this->Below(this->Below(4) == 0 ? std::min<std::uint64_t>(1024, size - 40) : size - 40);
    switch (this->Below(6)) {
      case 0:
        content[place] ^= std::byte(1 << this->Below(8));
        break;
      case 1:
        content[place] = std::byte(this->Below(256));
        break;
      case 2: {
        const std::uint64_t values[] = {
            0, 1, size, size - 1, size + 1, ~std::uint64_t(0), std::uint64_t(1) << 63, this->Below(size)};
        std::memcpy(&content[place & ~std::uint64_t(7)], &values[this->Below(8)], 8);
        break;
      }
      case 3: {  // an address of another structure of the right kind
        const std::uint64_t other = this->Below(size / 8 - 1) * 8;
        std::memcpy(&content[place & ~std::uint64_t(7)], &other, 8);
        break;
      }
      case 4:
        std::memmove(&content[place & ~std::uint64_t(7)], &content[this->Below(size / 8 - 5) * 8], 40);
        break;
      case 5:
        if (this->Below(8) == 0) {
          content.resize(this->Below(size));
        } else {
          content[place] = std::byte(0xff);
        }
        break;
    }
  }

  void Fuzz(const Bytes& sound, int rounds)
  {
    Outcome all;
    for (int round = 0; round < rounds && !this->HasFailure(); ++round) {
      this->Random.seed(static_cast<unsigned>(round));
      SCOPED_TRACE(round);
      Bytes content = sound;
      for (std::uint64_t faults = 1 + this->Below(6); faults > 0; --faults) {
        this->Damage(content);
      }
      const Outcome outcome = this->Walk(content);
      all.Answers += outcome.Answers;
      all.Absent += outcome.Absent;
      all.GivenUp += outcome.GivenUp;
    }
    // Otherwise, the faults would have no effect, or always end the read.
    EXPECT_GT(all.Answers, rounds);
    EXPECT_GT(all.GivenUp, rounds / 4);
  }

  testing::TempFolder Folder;
  Structure Reader;
  std::mt19937 Random;
};

}  // namespace

TEST_F(Hdf5StructureFuzz, SoundFilesAreUnderstood)
{
  for (const std::size_t padding : {0, 100000}) {
    for (const bool isNew : {false, true}) {
      const Outcome outcome = this->Walk(this->MakeFile(padding, isNew));
      EXPECT_EQ(outcome.Answers, static_cast<int>(Paths.size()) - 1);
      EXPECT_EQ(outcome.Absent, 1);
      EXPECT_EQ(outcome.GivenUp, 0);
    }
  }
}

TEST_F(Hdf5StructureFuzz, SmallDamagedFilesAreSurvived)
{
  this->Fuzz(this->MakeFile(0), 20000);
}

TEST_F(Hdf5StructureFuzz, LargeDamagedFilesAreSurvived)
{
  this->Fuzz(this->MakeFile(100000), 4000);
}

/// With wrong checksums, the reader would reject nearly all faults early.
TEST_F(Hdf5StructureFuzz, DamagedFilesOfTheNewStyleAreSurvived)
{
  this->Reader.SetComparesChecksums(false);
  this->Fuzz(this->MakeFile(0, true), 20000);
}

/// Damages each byte of the metadata in turn, because random damage may leave some out.
TEST_F(Hdf5StructureFuzz, EveryByteMayBeWrong)
{
  this->Reader.SetComparesChecksums(false);
  for (const bool isNew : {false, true}) {
    Bytes content = this->MakeFile(0, isNew);
    for (std::size_t place = 0; place < content.size() && !this->HasFailure(); place += 7) {
      SCOPED_TRACE(place);
      const std::byte sound = content[place];
      content[place] = std::byte(0xff);
      this->Walk(content);
      content[place] = sound ^ std::byte(1);
      this->Walk(content);
      content[place] = sound;
    }
  }
}

/// The time for a tree whose nodes all have the same child must not grow with its depth.
TEST_F(Hdf5StructureFuzz, TreesThatMeetThemselvesAreRefused)
{
  const Bytes sound = this->MakeFile(0);
  int trees = 0;
  for (std::size_t place = 0; place + 24 < sound.size(); place += 8) {
    if (std::memcmp(&sound[place], "TREE", 4) != 0) {
      continue;
    }
    ++trees;
    Bytes content = sound;
    const std::uint64_t self = place;
    for (int child = 0; child < 4; ++child) {  // group nodes
      std::memcpy(&content[place + 24 + 8 + 16 * child], &self, 8);
    }
    for (int child = 0; child < 60; ++child) {  // chunk nodes of one axis
      const std::size_t at = place + 24 + 24 + 32 * child;
      if (at + 8 <= content.size()) {
        std::memcpy(&content[at], &self, 8);
      }
    }
    this->Walk(content);
  }
  EXPECT_GT(trees, 10);
}

}  // namespace patchio
