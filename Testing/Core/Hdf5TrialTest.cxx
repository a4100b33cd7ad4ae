// Files whose structure PatchIO does not know, so that the HDF5 library tries them in a child process.
#include "Support/Hdf5Trial.h"

#include "Hdf5Draft.h"
#include "Support/Hdf5.h"
#include "Support/Hdf5Messages.h"
#include "Support/RunOnAllRanks.h"
#include "TestTools.h"

#include <csignal>
#include <cstdlib>
#include <new>
#include <numeric>

namespace patchio {
namespace {

using ::testing::HasSubstr;
using testing::MessageOf;

class Hdf5Trial : public ::testing::Test
{
protected:
  ~Hdf5Trial() override { ::unsetenv("PATCHIO_HDF5"); }

  /// A superblock of the new style, which is all that is known of it; groups of the old one have no
  /// checksums.
  void Write() const
  {
    testing::WriteHdf5(this->Path, {{"/old/values", testing::Doubles({1, 2, 3})}, {"/large", this->Large()}},
        [](hid_t creation, hid_t) {
          H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_NONE, false, 1);
        });
  }
  void WriteNew() const
  {
    testing::WriteHdf5(this->Path, {{"/new/values", testing::Doubles({1, 2, 3})}, {"/large", this->Large()}},
        testing::InNewStyle);
  }

  /// Packed by a filter that only the library undoes, and more than is tried with the file.
  testing::DraftDataset Large() const
  {
    return testing::FloatsStoredAs(this->Values, {this->Values.size()}, [](hid_t creation) {
      const hsize_t chunk = 5000;
      H5Pset_chunk(creation, 1, &chunk);
      H5Pset_nbit(creation);
    });
  }

  const std::vector<float> Values = [] {
    std::vector<float> values(100000);
    std::iota(values.begin(), values.end(), 0.5f);
    return values;
  }();
  testing::TempFolder Folder;
  const std::string Path = Folder / "a.h5";
};

}  // namespace

TEST_F(Hdf5Trial, SoundFilesAreRead)
{
  for (const char* const wish : {"", "trust"}) {
    ::setenv("PATCHIO_HDF5", wish, 1);
    this->Write();
    EXPECT_EQ(hdf5::File(this->Path).Doubles("/old/values", 3), (std::vector<double>{1, 2, 3}));
    this->WriteNew();
    const hdf5::File file(this->Path);
    EXPECT_EQ(file.Doubles("/new/values", 3), (std::vector<double>{1, 2, 3}));
    const std::vector<double> large = file.Doubles("/large", 100000);
    EXPECT_TRUE(std::equal(large.begin(), large.end(), this->Values.begin(), this->Values.end()));
  }
  ::setenv("PATCHIO_HDF5", "strict", 1);
  EXPECT_THAT(MessageOf([&] { hdf5::File(this->Path); }), HasSubstr("PATCHIO_HDF5=strict rejects"));
}

/// Each byte of a heap's head in turn.
TEST_F(Hdf5Trial, DamagedFilesDoNotEndThisProcess)
{
  this->Write();
  const std::string sound = testing::ReadBytes(this->Path);
  const std::size_t heap = sound.find("HEAP");
  ASSERT_NE(heap, std::string::npos);
  int refused = 0;
  for (std::size_t place = heap + 8; place < heap + 32; ++place) {
    for (const int wrong : {0x7f, 0xff}) {
      std::string bytes = sound;
      bytes[place] = static_cast<char>(wrong);
      testing::WriteText(this->Path, bytes);
      const std::string message = CatchError([&] { hdf5::File(this->Path).Doubles("/old/values", 3); });
      refused += !message.empty();
      EXPECT_THAT(message, ::testing::AnyOf("", HasSubstr(this->Path)));
    }
  }
  EXPECT_GT(refused, 10);
}

/// The library stops at the first group that it cannot list, so nobody has tried what comes after it.
TEST_F(Hdf5Trial, RefusesFilesThatItCannotSeeAllOf)
{
  this->Write();
  std::string bytes = testing::ReadBytes(this->Path);
  const std::size_t lastGroup = bytes.rfind("SNOD");
  ASSERT_NE(lastGroup, std::string::npos);
  bytes[lastGroup] = 'X';
  testing::WriteText(this->Path, bytes);
  EXPECT_THAT(
      MessageOf([&] { hdf5::File(this->Path); }), AllOf(HasSubstr(this->Path), HasSubstr("cannot open")));
}

TEST_F(Hdf5Trial, SaysHowTheChildEnded)
{
  this->Write();
  const hdf5::File file(this->Path);
  const hdf5::Handle large = file.OpenDataset(file.Id(), "/large");
  const auto said = [&](const std::function<void()>& read) {
    return MessageOf([&] { hdf5::TryValues(this->Path, large, read); });
  };
  EXPECT_NO_THROW(hdf5::TryValues(this->Path, large, [] {}));
  EXPECT_THAT(said([] { std::raise(SIGSEGV); }), HasSubstr("crash or hang"));
  EXPECT_THAT(said([] {
    for (volatile unsigned rounds = 0;; rounds = rounds + 1) {
    }
  }),
      HasSubstr("crash or hang"));
  EXPECT_THAT(said([] { throw std::bad_alloc(); }), HasSubstr("too much memory"));
}

/// Values that lie in the file as they are cost no process.
TEST_F(Hdf5Trial, PlainValuesAreNotTried)
{
  this->Write();
  const hdf5::File file(this->Path);
  const hdf5::Handle plain = file.OpenDataset(file.Id(), "/old/values");
  EXPECT_NO_THROW(hdf5::TryValues(this->Path, plain, [] { std::raise(SIGSEGV); }));
}

}  // namespace patchio
