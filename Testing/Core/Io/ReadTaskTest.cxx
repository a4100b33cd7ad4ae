#include "Io/ReadTask.h"

#include "Base/Bytes.h"
#include "FakeSource.h"
#include "NaivePlace.h"
#include "TestTools.h"

#include <cstring>
#include <numeric>

namespace patchio {
namespace {

using testing::BytesOf;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::TargetIn;
using testing::TuplesOf;
using Floats = std::vector<float>;

template <typename T>
std::vector<T> Swapped(std::vector<T> values)
{
  SwapByteOrder(values.data(), values.size(), sizeof(T));
  return values;
}

ElementType TypeFor(float)
{
  return ElementType::Float32;
}

ElementType TypeFor(double)
{
  return ElementType::Float64;
}

/// A few files in memory, with one task.
class ReadTask : public ::testing::Test
{
protected:
  /// Puts values into a new file, after some unused bytes.
  template <typename T>
  void Store(const std::vector<T>& values, ElementType type, bool otherOrder = false)
  {
    std::vector<std::byte> file(this->Lead, std::byte{0x55});
    const std::vector<std::byte> bytes = BytesOf(otherOrder ? Swapped(values) : values);
    file.insert(file.end(), bytes.begin(), bytes.end());
    ByteRange byteRange;
    byteRange.File = static_cast<int>(this->Files.size());
    byteRange.Offset = this->Lead;
    byteRange.Bytes = bytes.size();
    byteRange.Type = type;
    byteRange.BigEndian = HostIsLittleEndian() == otherOrder;
    this->Table.ByteRanges.push_back(byteRange);
    this->Table.Files.push_back("file " + std::to_string(this->Files.size()));
    this->Files.push_back(file);
    ++this->Place.Count;
  }

  template <typename T>
  std::vector<T> Run()
  {
    FakeSource source(this->Files, this->Behaviour);
    TaskReader reader(source, this->Meter);
    std::vector<T> output(TuplesOf(this->Shape.OutputDims()) * this->Shape.OutputComponents, T(-77));
    const ReadTarget target = TargetIn(output.data(), this->Shape, this->Slots, TypeFor(T()));
    this->Table.Locations = {this->Place};
    const ReadPlan plan = PlanReads(this->Table, {NeededBytes(target)}, this->Storage, 1);
    for (const StorageRequest& request : plan.Requests) {
      ReadSegments(reader, this->Table, plan, request, [&](std::uint32_t) { return target; });
    }
    if (!plan.Requests.empty()) {
      FinishTask(target);
    }
    for (const auto* tasks : {&plan.WholeTasks, &plan.ConstantTasks}) {
      for (const std::uint32_t task : *tasks) {
        ReadWholeTask(reader, this->Table, this->Table.Locations[task], target);
      }
    }
    return output;
  }

  StorageModel Storage;
  std::size_t Lead = 12;
  std::vector<std::vector<std::byte>> Files;
  FakeBehaviour Behaviour;
  ReadMeter Meter;
  LocationTable Table;
  Location Place{Encoding::Raw, 0, 0, 0, 0};
  ArrayShape Shape;
  std::vector<int> Slots{0};
};

}  // namespace

TEST_F(ReadTask, FetchesOneComponentInOneRequest)
{
  this->Shape.Interior = {3, 2, 1};
  this->Store(Floats{1, 2, 3, 4, 5, 6}, ElementType::Float32);
  EXPECT_EQ(this->Run<float>(), (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(this->Meter.Requests(), 1u);
  EXPECT_EQ(this->Meter.Bytes(), 24u);
}

TEST_F(ReadTask, TurnsTheOtherByteOrderOfDoubles)
{
  this->Shape.Interior = {2, 1, 1};
  this->Store(std::vector<double>{1e-300, 3}, ElementType::Float64, true);
  EXPECT_EQ(this->Run<double>(), (std::vector<double>{1e-300, 3}));
}

TEST_F(ReadTask, InterleavesComponentsFromSeveralFiles)
{
  this->Shape.Interior = {2, 1, 1};
  this->Shape.OutputComponents = 3;
  this->Slots = {0, 1, 2};
  this->Store(Floats{1, 2}, ElementType::Float32, true);
  this->Store(Floats{3, 4}, ElementType::Float32);
  this->Store(Floats{5, 6}, ElementType::Float32, true);
  EXPECT_EQ(this->Run<float>(), (Floats{1, 3, 5, 2, 4, 6}));
}

TEST_F(ReadTask, PutsComponentsIntoTheirSlots)
{
  this->Shape.Interior = {1, 1, 1};
  this->Shape.OutputComponents = 9;
  this->Slots = {0, 1, 3, 4};  // a 2-D tensor in a 3-D one
  for (const float value : {1, 2, 3, 4}) {
    this->Store(Floats{value}, ElementType::Float32);
  }
  EXPECT_EQ(this->Run<float>(), (Floats{1, 2, 0, 3, 4, 0, 0, 0, 0}));
}

TEST_F(ReadTask, StripsGhostsWithoutReadingWholePlanesOfThem)
{
  this->Shape.Interior = {1, 1, 1};
  this->Shape.StoredGhosts = {1, 1, 1};
  Floats values(27);
  std::iota(values.begin(), values.end(), 0.f);
  this->Store(values, ElementType::Float32);
  EXPECT_EQ(this->Run<float>(), Floats{13});
  EXPECT_EQ(this->Meter.Bytes(), 9u * 4);
}

TEST_F(ReadTask, RepeatsTheEdgeInGhostsThatAreNotStored)
{
  this->Shape.Interior = {2, 1, 1};
  this->Shape.OutputGhosts = {1, 1, 0};
  this->Store(Floats{4, 5}, ElementType::Float32);
  EXPECT_EQ(this->Run<float>(), (Floats{4, 4, 5, 5, 4, 4, 5, 5, 4, 4, 5, 5}));
}

TEST_F(ReadTask, TakesLargeComponentsThroughSeveralPieces)
{
  this->Shape.Interior = {161, 119, 97};  // 7 MB per component; no length divides another
  this->Shape.OutputComponents = 2;
  this->Slots = {0, 1};
  const std::int64_t tuples = TuplesOf(this->Shape.OutputDims());
  Floats first(tuples), second(tuples), expected;
  for (std::int64_t i = 0; i < tuples; ++i) {
    first[i] = float(i);
    second[i] = -float(i);
    expected.insert(expected.end(), {first[i], second[i]});
  }
  this->Store(first, ElementType::Float32, true);
  this->Store(second, ElementType::Float32);
  EXPECT_TRUE(this->Run<float>() == expected);
  EXPECT_EQ(this->Meter.Requests(), 2u * 8) << "requests of about 1 MiB";
  EXPECT_EQ(this->Meter.Bytes(), std::uint64_t(tuples) * 8);
}

TEST_F(ReadTask, FillsConstantsWithoutReading)
{
  this->Shape.Interior = {2, 2, 1};
  this->Shape.OutputGhosts = {1, 0, 0};
  this->Place.Kind = Encoding::Constant;
  this->Place.Value = 1;
  EXPECT_EQ(this->Run<float>(), Floats(8, 1));
  this->Shape = ArrayShape();
  this->Shape.Interior = {2, 1, 1};
  this->Shape.OutputComponents = 3;
  this->Slots = {1};
  EXPECT_EQ(this->Run<float>(), (Floats{0, 1, 0, 0, 1, 0}));
  EXPECT_EQ(this->Meter.Requests(), 0u);
}

TEST_F(ReadTask, DecodesSparseMaterials)
{
  this->Shape.Interior = {2, 1, 1};
  this->Shape.StoredGhosts = {1, 0, 0};
  this->Place.Kind = Encoding::SparseMaterials;
  this->Place.Material = 1;
  using Ints = std::vector<std::int32_t>;
  this->Store(Ints{0, -1, 1, 0}, ElementType::Int32);
  this->Store(Ints{0, 1}, ElementType::Int32);
  this->Store(Ints{2, 0}, ElementType::Int32, true);
  this->Store(Floats{0.25f, 0.75f}, ElementType::Float32);
  EXPECT_EQ(this->Run<float>(), (Floats{0.75f, 1}));
}

TEST_F(ReadTask, DecodesSparseMaterialsOfACleanPatch)
{
  this->Shape.Interior = {3, 1, 1};
  this->Shape.OutputGhosts = {1, 0, 0};
  this->Place.Kind = Encoding::SparseMaterials;
  this->Place.Material = 5;
  this->Store(std::vector<std::int32_t>{5}, ElementType::Int32, true);
  EXPECT_EQ(this->Run<float>(), Floats(5, 1));
  this->Shape.OutputComponents = 2;
  this->Slots = {1};
  EXPECT_EQ(this->Run<float>(), (Floats{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST_F(ReadTask, RefusesSparseMaterialsThatPointOutside)
{
  this->Shape.Interior = {1, 1, 1};
  this->Place.Kind = Encoding::SparseMaterials;
  this->Store(std::vector<std::int32_t>{-9}, ElementType::Int32);
  const std::string message = MessageOf([this] { this->Run<float>(); });
  EXPECT_THAT(message, HasSubstr("file 0"));
  EXPECT_THAT(message, HasSubstr("a valid list of materials at offset 12"));
}

TEST_F(ReadTask, FailsWhenALaterComponentFails)
{
  this->Shape.Interior = {1, 1, 1};
  this->Shape.OutputComponents = 2;
  this->Slots = {0, 1};
  this->Store(Floats{1}, ElementType::Float32);
  this->Store(Floats{2}, ElementType::Float32);
  this->Behaviour.FailingFiles = {1};
  EXPECT_THAT(MessageOf([this] { this->Run<float>(); }),
      ::testing::AllOf(HasSubstr("fake file 1"), HasSubstr("an injected fault")));
}

TEST(ReadMeter, CountsRequestsThatHaveEnded)
{
  ReadMeter meter;
  {
    const ReadMeter::Task task(meter);
    const ReadMeter::Request a(meter, 10);
    const ReadMeter::Request b(meter, 20);
    EXPECT_EQ(meter.Bytes(), 0u);
  }
  const ReadMeter::Request c(meter, 5);
  EXPECT_EQ(meter.PeakInFlight(), 2);
  EXPECT_EQ(meter.Requests(), 2u);
  EXPECT_EQ(meter.Bytes(), 30u);
  EXPECT_GT(meter.BusySeconds(), 0);
  EXPECT_GE(meter.WorkSeconds(), meter.BusySeconds() / 2) << "two requests of one task";
}

namespace {

/// Byte ranges of several tasks in one file.
class MergedRead : public ::testing::Test
{
protected:
  /// Adds a task of one component with these values, after `gap` unused bytes.
  void Add(std::size_t gap, const Floats& values, bool otherOrder = false, int outputComponents = 1)
  {
    this->Bytes.resize(this->Bytes.size() + gap, std::byte{0x7f});
    const std::vector<std::byte> stored = BytesOf(otherOrder ? Swapped(values) : values);
    this->Table.Locations.push_back(
        {Encoding::Raw, static_cast<std::uint32_t>(this->Table.ByteRanges.size()), 1, 0, 0});
    this->Table.ByteRanges.push_back(
        {this->Bytes.size(), stored.size(), 0, ElementType::Float32, HostIsLittleEndian() == otherOrder});
    this->Bytes.insert(this->Bytes.end(), stored.begin(), stored.end());
    ArrayShape shape;
    shape.Interior = {static_cast<std::int64_t>(values.size()), 1, 1};
    shape.OutputComponents = outputComponents;
    this->Shapes.push_back(shape);
    this->Outputs.emplace_back(values.size() * outputComponents, -77.f);
  }

  void Run()
  {
    this->Table.Files = {"file 0"};
    FakeSource source({this->Bytes}, {});
    TaskReader reader(source, this->Meter);
    const ReadPlan plan = PlanReads(this->Table, {}, {1e-3, 1e6}, 1);
    const std::vector<int> slots{0};
    for (const StorageRequest& request : plan.Requests) {
      ReadSegments(reader, this->Table, plan, request, [&](std::uint32_t task) {
        return TargetIn(this->Outputs[task].data(), this->Shapes[task], slots);
      });
    }
  }

  std::vector<std::byte> Bytes;
  LocationTable Table;
  std::vector<ArrayShape> Shapes;
  std::vector<Floats> Outputs;
  ReadMeter Meter;
};

}  // namespace

TEST_F(MergedRead, FetchesNeighboursAtOnceAndDropsWhatLiesBetween)
{
  this->Add(8, {1, 2, 3});
  this->Add(0, {4}, true);
  this->Add(1000, {5, 6}, true, 2);  // interleaved values cannot be read directly into the output
  this->Add(3, {7, 8, 9});
  this->Add(1001, {10});  // the gap is larger than the limit, so a new request begins
  this->Run();
  EXPECT_EQ(this->Outputs[0], (Floats{1, 2, 3}));
  EXPECT_EQ(this->Outputs[1], Floats{4});
  EXPECT_EQ(this->Outputs[2], (Floats{5, -77, 6, -77}));
  EXPECT_EQ(this->Outputs[3], (Floats{7, 8, 9}));
  EXPECT_EQ(this->Outputs[4], Floats{10});
  EXPECT_EQ(this->Meter.Requests(), 2u);
  EXPECT_EQ(this->Meter.Bytes(), 12u + 4 + 1000 + 8 + 3 + 12 + 4);
}

TEST_F(MergedRead, TakesMoreNeighboursThanOneRequestHasAddressesFor)
{
  for (int i = 0; i < 3000; ++i) {
    this->Add(1, {float(i)}, i % 2 == 0);
  }
  this->Run();
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(this->Outputs[i], Floats{float(i)});
  }
  EXPECT_EQ(this->Meter.Requests(), 6u);
}

namespace {

/// Eight values in four chunks of two, without filters.
class ChunkedRead : public ::testing::Test
{
protected:
  ChunkedRead()
  {
    ChunkedArray array;
    array.Dims[0] = array.Count = 8;
    array.ChunkDims[0] = 2;
    array.BigEndian = !HostIsLittleEndian();
    array.ChunkCount = 4;
    const float fill = 9;
    std::memcpy(&array.Fill, &fill, sizeof(fill));
    this->Table.ChunkedArrays = {array};
    this->Table.Chunks = {{108, 0, 8, 0}, {100, 1, 8, 0}, {0, 2, 0, 0}, {116, 3, 8, 0}};
    this->Table.Files = {"file 0"};
    this->Table.Locations = {{Encoding::Chunked, 0, 1, 0, 0}};
  }

  Floats Run()
  {
    std::vector<std::byte> file(100);
    const std::vector<std::byte> values = BytesOf(Floats{3, 4, 1, 2, 7, 8});
    file.insert(file.end(), values.begin(), values.end());
    FakeSource source({file}, {});
    ReadMeter meter;
    TaskReader reader(source, meter);
    ArrayShape shape;
    shape.Interior = {6, 1, 1};
    shape.StoredGhosts = {1, 0, 0};
    Floats output(6, -77);
    const std::vector<int> slots{0};
    const ReadPlan plan = PlanReads(this->Table, {}, {}, 1);
    for (const StorageRequest& request : plan.Requests) {
      ReadSegments(reader, this->Table, plan, request,
          [&](std::uint32_t) { return TargetIn(output.data(), shape, slots); });
    }
    EXPECT_EQ(meter.Requests(), 1u) << "the chunks lie side by side, and one was never written";
    return output;
  }

  LocationTable Table;
};

}  // namespace

TEST_F(ChunkedRead, BringsChunksToTheirPlaces)
{
  EXPECT_EQ(this->Run(), (Floats{2, 3, 4, 9, 9, 7}));
}

TEST_F(ChunkedRead, NamesTheChunkThatIsDamaged)
{
  this->Table.ChunkedArrays[0].Filters[0] = FilterType::Deflate;
  const std::string message = MessageOf([this] { this->Run(); });
  EXPECT_THAT(message, HasSubstr("file 0"));
  EXPECT_THAT(message, HasSubstr("a valid chunk of data at offset 1"));
}

TEST_F(ChunkedRead, RefusesNumbersThatMakeNoSense)
{
  this->Table.ChunkedArrays[0].Rank = 77;
  EXPECT_THAT(MessageOf([this] { this->Run(); }), HasSubstr("file 0"));
  this->Table.ChunkedArrays[0].Rank = 1;
  this->Table.Chunks[3].Number = 4;
  EXPECT_THAT(MessageOf([this] { this->Run(); }), HasSubstr("file 0"));
}

}  // namespace patchio
