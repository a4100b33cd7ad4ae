// Messages as old versions of the library wrote them: byte by byte from the format's description, as no
// library at hand writes them.
#include "Support/Hdf5Messages.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace patchio::hdf5 {
namespace {

/// A message of bytes and little-endian numbers.
class Message
{
public:
  explicit Message(std::initializer_list<int> bytes)
  {
    for (const int byte : bytes) {
      this->Bytes.push_back(static_cast<std::byte>(byte));
    }
  }
  template <typename T>
  Message& Add(std::initializer_list<T> numbers)
  {
    for (const std::uint64_t number : numbers) {
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        this->Bytes.push_back(static_cast<std::byte>(number >> 8 * i & 0xff));
      }
    }
    return *this;
  }
  /// Every beginning of the message is refused.
  template <typename Take>
  auto TakenBy(Take take) const
  {
    for (std::size_t count = 0; count < this->Bytes.size(); ++count) {
      Cursor cut(this->Bytes.data(), count);
      EXPECT_THROW(take(cut), Unsound) << count << " bytes of " << this->Bytes.size();
    }
    Cursor whole(this->Bytes.data(), this->Bytes.size());
    const auto taken = take(whole);
    EXPECT_EQ(whole.Left(), 0u);
    return taken;
  }
  template <typename Take>
  void IsRefusedBy(Take take) const
  {
    Cursor whole(this->Bytes.data(), this->Bytes.size());
    EXPECT_THROW(take(whole), Unsound);
  }

private:
  std::vector<std::byte> Bytes;
};

using U32 = std::uint32_t;
using U64 = std::uint64_t;

}  // namespace

TEST(Hdf5Messages, ContiguousValuesOfOldVersions)
{
  for (const int version : {1, 2}) {
    Message message({version, 2, 1, 0, 0, 0, 0, 0});
    message.Add<U64>({4096}).Add<U32>({3, 5});
    const DataLayout layout = message.TakenBy(TakeLayout);
    EXPECT_EQ(layout.Kind, Layout::Contiguous);
    EXPECT_EQ(layout.Address, 4096u);
    EXPECT_EQ(layout.Bytes, 15u);
  }
}

TEST(Hdf5Messages, CompactValuesOfOldVersions)
{
  Message message({2, 1, 0, 0, 0, 0, 0, 0});
  message.Add<U32>({3, 3}).Add<std::uint8_t>({7, 8, 9});
  const DataLayout layout = message.TakenBy(TakeLayout);
  EXPECT_EQ(layout.Kind, Layout::Compact);
  EXPECT_EQ(layout.Bytes, 3u);
}

TEST(Hdf5Messages, ChunksOfOldVersions)
{
  Message message({1, 3, 2, 0, 0, 0, 0, 0});
  message.Add<U64>({800}).Add<U32>({10, 20, 8});
  const DataLayout layout = message.TakenBy(TakeLayout);
  EXPECT_EQ(layout.Kind, Layout::Chunked);
  EXPECT_EQ(layout.Address, 800u);
  EXPECT_EQ(layout.Bytes, 1600u);
  EXPECT_EQ(layout.ElementBytes, 8u);
  EXPECT_EQ(layout.Rank, 3u);
}

TEST(Hdf5Messages, ImpossibleLayoutsAreRefused)
{
  Message({1, 2, 3, 0, 0, 0, 0, 0}).IsRefusedBy(TakeLayout);   // of no kind
  Message({1, 34, 1, 0, 0, 0, 0, 0}).IsRefusedBy(TakeLayout);  // of 34 axes
  Message({1, 1, 2, 0, 0, 0, 0, 0})
      .Add<U64>({800})
      .Add<U32>({8})
      .IsRefusedBy(TakeLayout);  // chunks of no axis
  Message({3, 3}).IsRefusedBy(TakeLayout);
  Message({4, 3}).IsRefusedBy(TakeLayout);  // in other files
}

TEST(Hdf5Messages, FillValuesOfAllVersions)
{
  Message oldest({});
  oldest.Add<U32>({4}).Add<std::uint8_t>({1, 2, 3, 4});
  EXPECT_EQ(oldest.TakenBy(TakeOldFill), 4u);
  EXPECT_EQ(Message({1, 1, 1, 0}).Add<U32>({2}).Add<std::uint8_t>({1, 2}).TakenBy(TakeFill), 2u);
  EXPECT_EQ(Message({2, 1, 1, 0}).TakenBy(TakeFill), 0u);  // none is defined
  EXPECT_EQ(Message({2, 1, 1, 1}).Add<U32>({~U32(0)}).TakenBy(TakeFill), 0u);
  EXPECT_EQ(Message({3, 0x20}).Add<U32>({1}).Add<std::uint8_t>({9}).TakenBy(TakeFill), 1u);
  EXPECT_EQ(Message({3, 0}).TakenBy(TakeFill), 0u);
  Message({4, 0}).IsRefusedBy(TakeFill);
}

TEST(Hdf5Messages, ShapesOfBothVersions)
{
  EXPECT_EQ(Message({1, 2, 0, 0, 0, 0, 0, 0}).Add<U64>({3, 4}).TakenBy(TakeSpace).Values, 12u);
  EXPECT_EQ(Message({2, 1, 1, 1}).Add<U64>({3, 9}).TakenBy(TakeSpace).Values, 3u);  // may grow to 9
  EXPECT_EQ(Message({2, 0, 0, 0}).TakenBy(TakeSpace).Values, 1u);
  EXPECT_EQ(Message({2, 0, 0, 2}).TakenBy(TakeSpace).Values, 0u);
  Message({2, 1, 0, 0}).Add<U64>({3}).IsRefusedBy(TakeSpace);  // a single value with an axis
  Message({1, 33, 0, 0, 0, 0, 0, 0}).IsRefusedBy(TakeSpace);
  Message({3, 0, 0, 0}).IsRefusedBy(TakeSpace);
  Message({1, 2, 0, 0, 0, 0, 0, 0}).Add<U64>({U64(1) << 40, U64(1) << 40}).IsRefusedBy(TakeSpace);
}

TEST(Hdf5Messages, TypesOfOddSizesAreRefused)
{
  const auto type = [](int kind, U32 bytes) { return Message({0x10 | kind, 0, 0, 0}).Add<U32>({bytes}); };
  EXPECT_EQ(type(ReferenceClass, 8).TakenBy(TakeType).Bytes, 8u);
  type(ReferenceClass, 9).IsRefusedBy(TakeType);
  type(TextClass, 0).IsRefusedBy(TakeType);
  type(ListClass, 8).IsRefusedBy(TakeType);
  type(12, 8).IsRefusedBy(TakeType);  // of no class
  Message({0x40, 0, 0, 0}).Add<U32>({8}).IsRefusedBy(TakeType);
  // Lists in lists, without an end.
  Message nested({});
  for (int depth = 0; depth < 20; ++depth) {
    nested.Add<std::uint8_t>({0x10 | ListClass, 0, 0, 0}).Add<U32>({16});
  }
  nested.IsRefusedBy(TakeType);
}

}  // namespace patchio::hdf5
