// Messages of old versions of the HDF5 library, byte by byte from the description of the format, because
// current versions do not write them.
#include "Hdf5/Dataset.h"
#include "Hdf5/Virtual.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace patchio::hdf5 {
namespace {

/// A message made of bytes and little-endian numbers.
class Draft
{
public:
  Draft(std::initializer_list<int> bytes)
  {
    for (const int byte : bytes) {
      this->Bytes.push_back(static_cast<std::byte>(byte));
    }
  }
  template <typename T>
  Draft& Add(std::initializer_list<T> numbers)
  {
    for (const std::uint64_t number : numbers) {
      for (std::size_t i = 0; i < sizeof(T); ++i) {
        this->Bytes.push_back(static_cast<std::byte>(number >> 8 * i & 0xff));
      }
    }
    return *this;
  }
  /// Expects that each incomplete beginning of the message is rejected.
  template <typename Take>
  auto TakenBy(Take take) const
  {
    for (std::size_t count = 0; count < this->Bytes.size(); ++count) {
      Cursor cut(this->Bytes.data(), count);
      EXPECT_THROW(take(cut), Corrupt) << count << " bytes of " << this->Bytes.size();
    }
    Cursor whole(this->Bytes.data(), this->Bytes.size());
    const auto taken = take(whole);
    EXPECT_EQ(whole.BytesLeft(), 0u);
    return taken;
  }
  template <typename Take>
  void IsRefusedBy(Take take) const
  {
    Cursor whole(this->Bytes.data(), this->Bytes.size());
    EXPECT_THROW(take(whole), Error);
  }
  const std::vector<std::byte>& All() const { return this->Bytes; }
  Message As(MessageType type) const
  {
    Message message;
    message.Type = type;
    message.Data = this->Bytes.data();
    message.Bytes = this->Bytes.size();
    message.Address = 1000;
    return message;
  }

private:
  std::vector<std::byte> Bytes;
};

using U32 = std::uint32_t;
using U64 = std::uint64_t;

const Draft DoubleType = Draft({0x11, 0x20, 63, 0})
                             .Add<U32>({8})
                             .Add<std::uint16_t>({0, 64})
                             .Add<std::uint8_t>({52, 11, 0, 52})
                             .Add<U32>({1023});

/// Returns the description of a data set of doubles with this shape.
Dataset Described(const Draft& layout, std::initializer_list<U64> dims)
{
  Draft space({1, static_cast<int>(dims.size()), 0, 0, 0, 0, 0, 0});
  space.Add<U64>(dims);
  DatasetMessages messages;
  messages.Add(space.As(MessageType::Dataspace));
  messages.Add(DoubleType.As(MessageType::Datatype));
  messages.Add(layout.As(MessageType::Layout));
  return messages.Finish();
}

}  // namespace

TEST(Hdf5Datatype, LayoutsOfOldVersions)
{
  for (const int version : {1, 2}) {
    Draft layout({version, 2, 1, 0, 0, 0, 0, 0});
    layout.Add<U64>({4096}).Add<U32>({3, 5});
    const Dataset dataset = Described(layout, {3, 5});
    EXPECT_EQ(dataset.Layout, StorageLayout::Contiguous);
    EXPECT_EQ(dataset.Offset, 4096u);
    EXPECT_EQ(dataset.Values, 15u);
  }
  Draft compact({2, 1, 0, 0, 0, 0, 0, 0}), chunks({1, 3, 2, 0, 0, 0, 0, 0});
  compact.Add<U32>({2, 16}).Add<U64>({7, 8});
  EXPECT_EQ(Described(compact, {2}).Offset, 1000u + 16);
  EXPECT_THROW(Described(compact, {3}), Corrupt);
  chunks.Add<U64>({800}).Add<U32>({10, 20, 8});
  const Dataset dataset = Described(chunks, {30, 30});
  EXPECT_EQ(dataset.Layout, StorageLayout::Chunked);
  EXPECT_EQ(dataset.ChunkAddress, 800u);
  EXPECT_EQ(PlainChunkBytes(dataset), 1600u);
  EXPECT_EQ(CountChunks(dataset), 6u);
}

TEST(Hdf5Datatype, ImpossibleLayoutsAreRefused)
{
  const auto refused = [](const Draft& layout) { EXPECT_THROW(Described(layout, {8}), Error); };
  refused({1, 2, 3, 0, 0, 0, 0, 0});                                       // an unknown kind
  refused(Draft({1, 35, 2, 0, 0, 0, 0, 0}).Add<U64>({800}));               // 34 axes
  refused(Draft({1, 1, 2, 0, 0, 0, 0, 0}).Add<U64>({800}).Add<U32>({8}));  // chunks without axes
  refused({3, 3});
  refused({6, 1});
  EXPECT_EQ(Described(Draft({4, 3}).Add<U64>({99}).Add<U32>({1}), {8}).Reason, "virtual data set");
}

TEST(Hdf5Datatype, FillValuesOfAllVersions)
{
  Draft chunks({3, 2, 2});
  chunks.Add<U64>({800}).Add<U32>({4, 8});
  const auto fill = [&](MessageType type, const Draft& message) {
    DatasetMessages messages;
    messages.Add(Draft({1, 1, 0, 0, 0, 0, 0, 0}).Add<U64>({8}).As(MessageType::Dataspace));
    messages.Add(DoubleType.As(MessageType::Datatype));
    messages.Add(chunks.As(MessageType::Layout));
    messages.Add(message.As(type));
    return messages.Finish().Fill;
  };
  const Draft eight = Draft({}).Add<U32>({8}).Add<U64>({77});
  EXPECT_EQ(fill(MessageType::OldFill, eight), 77u);
  EXPECT_EQ(fill(MessageType::Fill, Draft({1, 1, 1, 0}).Add<U32>({8}).Add<U64>({77})), 77u);
  EXPECT_EQ(fill(MessageType::Fill, {2, 1, 1, 0}), 0u);  // no fill value is defined
  EXPECT_EQ(fill(MessageType::Fill, Draft({2, 1, 1, 1}).Add<U32>({~U32(0)})), 0u);
  EXPECT_EQ(fill(MessageType::Fill, Draft({3, 0x20}).Add<U32>({8}).Add<U64>({77})), 77u);
  EXPECT_EQ(fill(MessageType::Fill, {3, 0}), 0u);
  EXPECT_THROW(fill(MessageType::Fill, {4, 0}), Unsupported);
  EXPECT_THROW(fill(MessageType::Fill, Draft({3, 0x20}).Add<U32>({4}).Add<U32>({77})), Corrupt);
}

TEST(Hdf5Datatype, ShapesOfBothVersions)
{
  EXPECT_EQ(Draft({1, 2, 0, 0, 0, 0, 0, 0}).Add<U64>({3, 4}).TakenBy(ParseDataspace).Values, 12u);
  const Dataspace growing = Draft({2, 1, 1, 1}).Add<U64>({3, 9}).TakenBy(ParseDataspace);
  EXPECT_EQ(growing.Values, 3u);
  EXPECT_EQ(growing.MaximumDims[0], 9u);
  EXPECT_EQ(Draft({2, 0, 0, 0}).TakenBy(ParseDataspace).Values, 1u);
  EXPECT_EQ(Draft({2, 0, 0, 2}).TakenBy(ParseDataspace).Values, 0u);
  Draft({2, 1, 0, 0}).Add<U64>({3}).IsRefusedBy(ParseDataspace);  // a single value with an axis
  Draft({1, 33, 0, 0, 0, 0, 0, 0}).IsRefusedBy(ParseDataspace);
  Draft({3, 0, 0, 0}).IsRefusedBy(ParseDataspace);
  Draft({1, 2, 0, 0, 0, 0, 0, 0}).Add<U64>({U64(1) << 40, U64(1) << 40}).IsRefusedBy(ParseDataspace);
}

TEST(Hdf5Datatype, TypesOfOddSizesAreRefused)
{
  const auto type = [](int kind, U32 bytes) { return Draft({0x10 | kind, 0, 0, 0}).Add<U32>({bytes}); };
  constexpr int text = 3, reference = 7, list = 9;
  EXPECT_EQ(type(reference, 8).TakenBy(ParseDatatype).Bytes, 8u);
  type(text, 0).IsRefusedBy(ParseDatatype);
  type(12, 8).IsRefusedBy(ParseDatatype);  // an unknown class
  Draft({0x60, 0, 0, 0}).Add<U32>({8}).IsRefusedBy(ParseDatatype);
  // Endlessly nested lists.
  Draft nested({});
  for (int depth = 0; depth < 20; ++depth) {
    nested.Add<std::uint8_t>({0x10 | list, 0, 0, 0}).Add<U32>({16});
  }
  nested.IsRefusedBy(ParseDatatype);
}

/// In version 1, arrays are members with axes.
TEST(Hdf5Datatype, RecordsOfTheFirstVersion)
{
  Draft record({0x16, 2, 0, 0});
  record.Add<U32>({24});
  const auto member = [&](char name, U32 offset, int axes, U32 length) {
    record.Add<std::uint8_t>({static_cast<std::uint8_t>(name), 0, 0, 0, 0, 0, 0, 0}).Add<U32>({offset});
    record.Add<std::uint8_t>({static_cast<std::uint8_t>(axes), 0, 0, 0}).Add<U32>({0, 0, length, 0, 0, 0});
    record.Add<std::uint8_t>({0x10, 8, 0, 0}).Add<U32>({4}).Add<std::uint16_t>({0, 32});
  };
  member('a', 0, 0, 0);
  member('b', 8, 1, 3);
  const Datatype type = record.TakenBy(ParseDatatype);
  ASSERT_EQ(type.Members.size(), 2u);
  EXPECT_EQ(type.Members[0].Name, "a");
  EXPECT_TRUE(type.Members[0].Type.Signed);
  EXPECT_EQ(type.Members[1].Offset, 8u);
  EXPECT_EQ(type.Members[1].Type.Class, TypeClass::Array);
  EXPECT_EQ(type.Members[1].Type.Bytes, 12u);
  Draft outside({0x16, 1, 0, 0});
  outside.Add<U32>({4}).Add<U64>({'a'}).Add<U32>({1, 0, 0, 0, 0, 0, 0, 0});
  outside.Add<std::uint8_t>({0x10, 8, 0, 0}).Add<U32>({4}).Add<std::uint16_t>({0, 32});
  outside.IsRefusedBy(ParseDatatype);
}

namespace {

/// Returns one mapping, from an entire data set to a selection.
Draft MappingTo(const Draft& selection)
{
  Draft mapping({0});
  mapping.Add<U64>({1}).Add<std::uint8_t>({'f', 0, 'x', 0}).Add<U32>({3, 1, 0, 0});
  for (const std::byte byte : selection.All()) {
    mapping.Add<std::uint8_t>({std::to_integer<std::uint8_t>(byte)});
  }
  return mapping;
}

}  // namespace

/// The selections that a rank without values and a data set of many axes need.
TEST(Hdf5Datatype, SelectionsWithoutValuesAndOfManyAxes)
{
  Dataset six;
  six.Rank = 6;
  six.Values = 64;
  six.Dims = {2, 2, 2, 2, 2};
  const auto runOf = [&](const Draft& selection) {
    return RunOf(ParseMappings(MappingTo(selection).All())[0].Virtual, six)->Count;
  };
  Draft none({}), all({}), block({});
  EXPECT_EQ(runOf(none.Add<U32>({0, 1, 0, 0})), 0u);
  EXPECT_EQ(runOf(all.Add<U32>({3, 1, 0, 0})), 64u);
  block.Add<U32>({2, 1, 0, 60, 6, 1}).Add<U32>({0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
  EXPECT_THROW(runOf(block), Unsupported);
}

/// Integers of 3 bytes use all of their bits, but no ElementType has 3 bytes.
TEST(Hdf5Datatype, PlainIntegersHaveAnElementType)
{
  for (const U32 bytes : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 16u}) {
    Draft integer({0x10, 8, 0, 0});
    integer.Add<U32>({bytes}).Add<std::uint16_t>({0, static_cast<std::uint16_t>(8 * bytes)});
    const Datatype type = integer.TakenBy(ParseDatatype);
    EXPECT_EQ(type.IsPlain, ElementTypeOf(type).has_value()) << bytes;
  }
}

/// Rows 2 to 4 of 3 values each, as each version of HDF5 writes them.
TEST(Hdf5Datatype, SelectionsOfAllVersions)
{
  Draft blocks({}), regular({}), small({});
  blocks.Add<U32>({2, 1, 0, 28, 2, 1, 2, 0, 4, 2});
  regular.Add<U32>({2, 2}).Add<std::uint8_t>({1}).Add<U32>({68, 2}).Add<U64>({2, 1, 1, 3, 0, 3, 1, 3});
  small.Add<U32>({2, 3}).Add<std::uint8_t>({1, 2}).Add<U32>({2}).Add<std::uint16_t>({2, 1, 3, 1, 0, 1, 1, 3});
  Dataset rows;
  rows.Rank = 2;
  rows.Dims = {5, 3};
  rows.Values = 15;
  for (const Draft& selection : {blocks, regular, small}) {
    const std::vector<VirtualMapping> mappings = ParseMappings(MappingTo(selection).All());
    ASSERT_EQ(mappings.size(), 1u);
    EXPECT_EQ(mappings[0].File, "f");
    EXPECT_EQ(mappings[0].Dataset, "x");
    EXPECT_EQ(mappings[0].Source.Type, Selection::SelectionType::All);
    const std::optional<ValueRun> run = RunOf(mappings[0].Virtual, rows);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->First, 6u);
    EXPECT_EQ(run->Count, 9u);
  }
  Draft endless({}), apart({});
  endless.Add<U32>({2, 2}).Add<std::uint8_t>({1}).Add<U32>({36, 1}).Add<U64>({0, 1, ~U64(0), 1});
  apart.Add<U32>({2, 2}).Add<std::uint8_t>({1}).Add<U32>({36, 1}).Add<U64>({0, 3, 2, 1});
  EXPECT_THROW(ParseMappings(MappingTo(endless).All()), Unsupported);
  EXPECT_THROW(ParseMappings(MappingTo(apart).All()), Unsupported);
  Draft shortEndless({});  // small numbers mark an unlimited size by their own largest value
  shortEndless.Add<U32>({2, 3}).Add<std::uint8_t>({1, 2}).Add<U32>({1}).Add<std::uint16_t>({0, 1, 0xffff, 1});
  EXPECT_THROW(ParseMappings(MappingTo(shortEndless).All()), Unsupported);
  EXPECT_THROW(ParseMappings(Draft({0, 255, 255, 0, 0, 0, 0, 0, 0}).All()), Corrupt);
}

}  // namespace patchio::hdf5
