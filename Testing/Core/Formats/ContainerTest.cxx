// Containers: framing of the log, records, layout, and forged logs.
#include "Formats/Container/ContainerLog.h"

#include "Base/Bytes.h"
#include "Base/Communicator.h"
#include "Formats/Container/ContainerFormat.h"
#include "Formats/Container/StepLayout.h"
#include "Hdf5/Library.h"
#include "RandomBoxes.h"
#include "Read/CollectiveCalls.h"
#include "Read/OpenedStep.h"
#include "Read/RankRead.h"
#include "TestTools.h"
#include "Write/ContainerWriter.h"

#include <atomic>
#include <cstring>
#include <numeric>
#include <set>
#include <thread>

namespace patchio::container {
namespace {

using patchio::testing::Dice;
using patchio::testing::MessageOf;
using ::testing::HasSubstr;

std::string RandomText(Dice& dice, std::int64_t most)
{
  std::string text(dice.Between(0, most), ' ');
  for (char& letter : text) {
    letter = static_cast<char>(dice.Between(0, 255));
  }
  return text;
}

/// Returns a log of these records.
std::string LogOf(const std::vector<std::string>& records)
{
  std::string log;
  for (const std::string& record : records) {
    log += RecordLog::Frame(record, log.size());
  }
  return log;
}

std::vector<std::string> RandomRecords(Dice& dice)
{
  std::vector<std::string> records(dice.Between(1, 12));
  for (std::string& record : records) {
    record = RandomText(dice, dice.Between(0, 3) == 0 ? 100000 : 3000);
  }
  return records;
}

/// Returns a catalog with two levels of boxes, and patches in random order.
Catalog TwoLevels(Dice& dice)
{
  Catalog catalog;
  catalog.Step = 7;
  catalog.Time = 0.5;
  for (const int level : {0, 1}) {
    std::vector<Box> boxes;
    for (int i = 0; i < 8; ++i) {
      const int first = 4 * (7 - i), last = first + static_cast<int>(dice.Between(0, 3));
      boxes.push_back({{first, 0, level}, {last, 2, level + 1}});
    }
    testing::AddLevel(catalog, boxes, level == 0 ? Int3{1, 1, 1} : Int3{2, 2, 2});
  }
  catalog.Levels[1].Spacing = {0.5, 0.5, 0.5};
  catalog.Variables.resize(3);
  catalog.Variables[0].Name = "a/b";
  catalog.Variables[1].Name = "a_b";
  catalog.Variables[1].Components = 3;
  catalog.Variables[2].Name = "c";
  catalog.Variables[2].Center = Centering::Node;
  catalog.ResetPresence();
  for (int v = 0; v < 3; ++v) {
    for (int p = 0; p < 16; ++p) {
      catalog.SetPresence(v, p, v == 2 && p % 3 == 1 ? Presence::Absent : Presence::Stored);
    }
  }
  return catalog;
}

/// Returns the value of a component of a tuple.
double Value(int patch, int variable, std::size_t index)
{
  return 1000.0 * patch + 100.0 * variable + static_cast<double>(index % 97);
}

/// Writes all values of the step, in the order of a shuffled list and in two parts.
void WriteAll(StepWriter& step, Dice& dice, const PatchVariable* without = nullptr)
{
  const Catalog& data = step.Data();
  std::vector<std::vector<double>> memory;
  std::vector<PatchValues> values;
  for (int v = 0; v < static_cast<int>(data.Variables.size()); ++v) {
    for (int p = 0; p < static_cast<int>(data.Patches.size()); ++p) {
      std::vector<double>& one = memory.emplace_back(ValuesOf(data, v, p));
      for (std::size_t i = 0; i < one.size(); ++i) {
        one[i] = Value(p, v, i);
      }
      if (!one.empty() && !(without && without->Patch == p && without->Variable == v)) {
        values.push_back({p, v, one.data()});
      }
    }
  }
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[dice.Between(0, static_cast<std::int64_t>(i) - 1)]);
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  step.Write({values.begin(), middle}, 3);
  step.Write({middle, values.end()}, 1);
}

/// Returns a step of one level with the variables "a", "b", ... on all patches.
StepToWrite SameEverywhere(const std::vector<Box>& boxes, const std::vector<ElementType>& types)
{
  StepToWrite step;
  step.Types = types;
  testing::AddLevel(step.Data, boxes);
  step.Data.Variables.resize(types.size());
  step.Data.ResetPresence();
  for (std::size_t v = 0; v < types.size(); ++v) {
    step.Data.Variables[v].Name = std::string(1, static_cast<char>('a' + v));
    for (std::size_t p = 0; p < boxes.size(); ++p) {
      step.Data.SetPresence(static_cast<int>(v), static_cast<int>(p), Presence::Stored);
    }
  }
  return step;
}

class Container : public ::testing::Test
{
protected:
  StepToWrite StepOf(std::int64_t number)
  {
    StepToWrite step{
        TwoLevels(this->Random), std::vector<ElementType>(3, ElementType::Float64), this->Compression};
    step.Data.Step = number;
    if (this->Large) {
      step.Data.Patches[0].Cells = {{28, 0, 0}, {67, 39, 39}};
    }
    return step;
  }
  void WriteStep(const StepToWrite& step)
  {
    ContainerWriter writer(*this->Alone, this->Path);
    const std::unique_ptr<StepWriter> writing = writer.Begin(step);
    WriteAll(*writing, this->Random);
    writer.Commit(*writing);
  }
  void WriteStep(std::int64_t number) { this->WriteStep(this->StepOf(number)); }

  Dice Random{11};
  testing::TempFolder Folder;
  std::string Path = Folder / "a.pio";
  std::vector<FilterType> Compression;
  bool Large = false;  ///< patch 0 has 64000 cells
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
};

}  // namespace

TEST(RecordLogTest, ACutLogHasTheRecordsBeforeTheCut)
{
  Dice dice(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> records = RandomRecords(dice);
    const std::string log = LogOf(records);
    const bool whole = round % 4 == 0;
    const auto size = static_cast<std::int64_t>(log.size());
    const std::size_t cut = whole ? size : dice.Between(0, size - 1);
    const RecordLog found = ReadRecords(std::string_view(log).substr(0, cut));
    ASSERT_EQ(found.Records.size() == records.size(), whole);
    EXPECT_TRUE(!whole || found.TrailingBytes == 0);
    records.resize(found.Records.size());
    EXPECT_EQ(found.Records, records);
    EXPECT_EQ(found.End, LogOf(records).size()) << "the next record goes where the last whole one ends";
    EXPECT_EQ(found.DamagedBytes, 0u);
  }
}

TEST(RecordLogTest, DamageCostsOneRecordAndIsTold)
{
  Dice dice(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<std::string> records = RandomRecords(dice);
    std::string log = LogOf(records);
    log[dice.Between(0, static_cast<std::int64_t>(log.size()) - 1)] ^=
        static_cast<char>(dice.Between(1, 255));
    const RecordLog found = ReadRecords(log);
    EXPECT_EQ(found.Records.size() + 1, records.size());
    EXPECT_GT(found.DamagedBytes + found.TrailingBytes, 0u);
    EXPECT_TRUE(found.DamagedBytes > 0 || found.Records.empty() || found.Records.back() != records.back())
        << "damage between records is no record that is being written";
    std::size_t next = 0;
    for (const std::string& record : found.Records) {
      while (next < records.size() && records[next] != record) {
        ++next;
      }
      ASSERT_LT(next, records.size()) << "a record that was never written";
      ++next;
    }
  }
}

TEST(RecordLogTest, ADamagedLastRecordIsNotOneThatIsBeingWritten)
{
  const std::vector<std::string> records{"head", "one", std::string(1000, 'x')};
  std::string log = LogOf(records);
  log[log.size() - 500] ^= 1;
  const RecordLog found = ReadRecords(log);
  EXPECT_EQ(found.Records.size(), 2u);
  EXPECT_EQ(found.DamagedBytes, log.size() - found.End);
  EXPECT_EQ(found.TrailingBytes, 0u);
}

TEST(RecordLogTest, AForgedLogTakesNoLongerThanItsSize)
{
  // Each byte begins a damaged fragment.
  EXPECT_TRUE(ReadRecords(std::string(std::size_t(1) << 24, '\1')).Records.empty());
}

TEST(StepLayout, RowsAreAPermutationByLevelAndFile)
{
  Dice dice(4);
  Catalog catalog = TwoLevels(dice);
  for (Patch& patch : catalog.Patches) {
    patch.File = static_cast<int>(dice.Between(0, 2));
  }
  const std::vector<int> rows = RowsOf(catalog);
  EXPECT_EQ(std::set<int>(rows.begin(), rows.end()).size(), 16u);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const Patch &before = catalog.Patches[rows[row - 1]], &patch = catalog.Patches[rows[row]];
    EXPECT_TRUE(std::tie(before.Level, before.File) <= std::tie(patch.Level, patch.File));
    if (std::tie(before.Level, before.File) == std::tie(patch.Level, patch.File)) {
      EXPECT_LT(before.Cells.Lower[0], patch.Cells.Lower[0]) << "they lie in one line";
    }
  }
}

TEST(StepLayout, EveryVariableHasADataSetOfItsOwn)
{
  Dice dice(5);
  const Catalog catalog = TwoLevels(dice);
  std::set<std::string> names;
  for (const DataSet& set : DataSetsOf(catalog, 1)) {
    EXPECT_TRUE(names.insert(set.Name).second) << set.Name;
    std::uint64_t values = 0;
    for (int p = 0; p < 16; ++p) {
      values += catalog.Patches[p].Level == set.Level ? ValuesOf(catalog, set.Variable, p) : 0;
    }
    EXPECT_EQ(set.Values, values);
  }
  EXPECT_EQ(names, (std::set<std::string>{"VTKHDF/Level0/CellData/a_b", "VTKHDF/Level0/CellData/a_b_2",
                       "PatchIO/Level0/PointData/c", "VTKHDF/Level1/CellData/a_b",
                       "VTKHDF/Level1/CellData/a_b_2", "PatchIO/Level1/PointData/c"}))
      << "what some patches lack is not where others look";
}

TEST_F(Container, KeepsTheRangesOfEachPatch)
{
  this->WriteStep(7);
  const ContainerFormat format;
  const Catalog read = format.ReadCatalog(format.OpenSeries(this->Path, {}).Steps[0].Path);
  for (int v = 0; v < 3; ++v) {
    const std::vector<ValueRange> ranges = format.RangesOf(read, v);
    ASSERT_EQ(ranges.size(), 16u);
    for (int p = 0; p < 16; ++p) {
      if (read.PresenceOf(v, p) == Presence::Stored) {
        EXPECT_EQ(ranges[p].Least, Value(p, v, 0)) << v << " on patch " << p;
        const std::size_t last = std::min<std::size_t>(ValuesOf(read, v, p), 97) - 1;
        EXPECT_EQ(ranges[p].Greatest, Value(p, v, last)) << v << " on patch " << p;
      }
    }
  }
}

/// Reads all values of a step, as blocks of several patches or by patch.
LoadResult ReadValues(const std::string& path, bool merge, int threads, bool verify)
{
  const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
  const OpenedStep opened(*alone, path, IndexMode::Off);
  const Catalog& data = opened.Data();
  const std::vector<bool> shown(data.Patches.size(), true);
  LoadRequest request;
  request.Blocks = MakeBlocks(
      data, shown, PatchTypes(data, {0, 1, 2}), Nesting(data, shown), false, BlockOptions{merge, {}});
  for (int v = 0; v < 3; ++v) {
    request.Variables.push_back(RequestAsStored(data, v));
  }
  request.Threads = threads;
  const auto locate = [&](const std::vector<PatchVariable>& requests) {
    return opened.Locate(requests, 1, {}, verify);
  };
  return RankRead(locate, data, request).Read();
}

/// Returns whether each array that was read has the same values in `sound`.
bool SameValues(const LoadResult& found, const LoadResult& sound)
{
  for (std::size_t a = 0; a < sound.Arrays.size(); ++a) {
    const LoadedArray &one = found.Arrays[a], &other = sound.Arrays[a];
    if (one.Status == ArrayStatus::Read && std::memcmp(one.Values.get(), other.Values.get(),
                                               one.Tuples * one.Components * SizeOf(one.Type)) != 0) {
      return false;
    }
  }
  return true;
}

/// A changed byte of the step's file is detected while values are read, unless the byte changes no value.
/// Covers several threads that share large patches, blocks of several patches, and compression.
TEST_F(Container, ValuesThatChangedAreNotRead)
{
  for (const FilterType kind : {FilterType::None, FilterType::Deflate, FilterType::Zstd}) {
    this->Path = this->Folder / NameOfCompression(kind);
    this->Compression.assign(3, kind);
    this->Large = true;
    this->WriteStep(7);
    const std::string path = this->Path + "/step.000007.hdf";
    const LoadResult byPatch = ReadValues(path, false, 8, true), merged = ReadValues(path, true, 2, true);
    ASSERT_TRUE(byPatch.Faults.empty() && merged.Faults.empty());
    ASSERT_LT(merged.Arrays.size(), byPatch.Arrays.size());
    if (kind == FilterType::None) {
      EXPECT_GT(byPatch.Report.Requests, 20u) << "a patch is read in several pieces";
    }
    const PlainFile file(path, PlainFile::Purpose::Update);
    int found = 0;
    for (int n = 0; n < 100; ++n) {
      const auto at = static_cast<std::uint64_t>(this->Random.Between(0, std::int64_t(file.Size()) - 1));
      unsigned char byte = 0;
      file.Read(at, &byte, 1);
      const auto changed = static_cast<unsigned char>(byte ^ (1 << this->Random.Between(0, 7)));
      file.Write(at, &changed, 1);
      const bool merge = n % 2 == 1;
      const std::string fault = CatchError([&] {
        const LoadResult now = ReadValues(path, merge, 8, true);
        EXPECT_TRUE(SameValues(now, merge ? merged : byPatch)) << "byte " << at;
        if (!now.Faults.empty()) {
          throw Error(now.Faults[0].Message);
        }
      });
      EXPECT_TRUE(fault.empty() || fault.find("step.000007.hdf") != std::string::npos) << fault;
      found += fault.empty() ? 0 : 1;
      file.Write(at, &byte, 1);
    }
    EXPECT_GT(found, kind == FilterType::None ? 50 : 10) << NameOfCompression(kind);
    EXPECT_TRUE(ReadValues(path, false, 8, true).Faults.empty());
  }
}

/// The message names the variable and the patch, and other arrays are complete. Without the comparison, the
/// change is not detected.
TEST_F(Container, AChangedValueIsNamed)
{
  this->WriteStep(7);
  const std::string path = this->Path + "/step.000007.hdf";
  const ContainerFormat format;
  const LocationTable places = format.Locate(format.ReadCatalog(path), {{11, 1}}, {});
  const LoadResult sound = ReadValues(path, false, 1, true);
  PlainFile(path, PlainFile::Purpose::Update).Write(places.ByteRanges[0].Offset + 9, "x", 1);
  const LoadResult found = ReadValues(path, false, 1, true);
  ASSERT_EQ(found.Faults.size(), 1u);
  EXPECT_EQ(found.Faults[0].Patch, 11);
  EXPECT_EQ(found.Faults[0].Variable, 1);
  EXPECT_THAT(
      found.Faults[0].Message, HasSubstr(path + ": expected values of 'a_b' on patch 3 of level 1 that match "
                                                "their checksum, found values with another checksum"));
  EXPECT_TRUE(SameValues(found, sound));
  const LoadResult unverified = ReadValues(path, false, 1, false);
  EXPECT_TRUE(unverified.Faults.empty());
  EXPECT_FALSE(SameValues(unverified, sound));
}

/// The file of another run has valid values and checksums, but not those that the log describes.
TEST_F(Container, VerifyingComparesTheTableOfChecksumsWithTheLog)
{
  this->WriteStep(7);
  const std::string path = this->Path + "/step.000007.hdf";
  const StepRecord record = Decode(FindStep(path).Bytes);
  PlainFile(path, PlainFile::Purpose::Update).Write(record.Tables.at("checksums").Offset, "x", 1);
  EXPECT_TRUE(ReadValues(path, false, 1, false).Faults.empty());
  const std::string fault = CatchError([&] { ReadValues(path, false, 1, true); });
  EXPECT_THAT(fault, HasSubstr(path + ": expected the table 'checksums' with its recorded checksum"));
}

TEST(Crc32, IsMadeOfParts)
{
  Dice dice(3);
  for (int n = 0; n < 50; ++n) {
    const std::string all = RandomText(dice, 200000);
    const std::size_t first = dice.Between(0, static_cast<std::int64_t>(all.size()));
    const std::size_t second =
        dice.Between(static_cast<std::int64_t>(first), static_cast<std::int64_t>(all.size()));
    const auto part = [&all](std::size_t begin, std::size_t end) {
      return Crc32Contribution(Crc32(0, all.data() + begin, end - begin), all.size() - end);
    };
    EXPECT_EQ(
        part(0, first) ^ part(second, all.size()) ^ part(first, second), Crc32(0, all.data(), all.size()));
  }
}

/// A folder with any name is a container if it has a container's log.
TEST_F(Container, IsWhatHasALogWhateverItIsCalled)
{
  for (const char* name : {"run", "bare.pio", "exported", "dumps.visit", "summary.samrai", "a.h5", "a.ctl",
           "plt00000", "a.vtkhdf"}) {
    this->Path = this->Folder / name;
    this->WriteStep(7);
    for (const char* below : {"", "/", "/index", "/step.000007.hdf"}) {
      const std::string path = this->Path + below;
      ASSERT_NE(FindFormat(path), nullptr) << path;
      EXPECT_STREQ(FindFormat(path)->Name(), "Container") << path;
      EXPECT_EQ(FormatOf(path).OpenSeries(path, {}).Steps.size(), 1u) << path;
    }
  }
  const std::string good = this->Folder / "run", bare = this->Folder / "bare.pio";
  // A damaged log must not turn its steps into VTKHDF files, which lack some of the variables.
  std::ofstream(good + "/index") << "damaged";
  ASSERT_NE(FindFormat(good + "/step.000007.hdf"), nullptr);
  EXPECT_THAT(MessageOf([&] { FormatOf(good + "/step.000007.hdf").ReadCatalog(good + "/step.000007.hdf"); }),
      HasSubstr("index: expected the log of a PatchIO container"));
  // The same holds for a missing log, if the folder has the name of a container.
  std::filesystem::remove(bare + "/index");
  ASSERT_NE(FindFormat(bare + "/step.000007.hdf"), nullptr);
  EXPECT_THAT(MessageOf([&] { FormatOf(bare + "/step.000007.hdf").ReadCatalog(bare + "/step.000007.hdf"); }),
      HasSubstr("bare.pio/index: No such file or directory"));
  // A folder of exported steps is not a container, so nothing is written or removed there.
  this->Path = this->Folder / "exported";
  std::filesystem::remove(this->Path + "/index");
  EXPECT_STREQ(FindFormat(this->Path + "/step.000007.hdf")->Name(), "VTKHDF");
  EXPECT_THAT(MessageOf([&] { this->WriteStep(8); }),
      HasSubstr("a folder with step.000007.hdf, but without the log of a container"));
  EXPECT_TRUE(std::filesystem::exists(this->Path + "/step.000007.hdf"));
}

/// Files in a folder without a log stay, even if they have the names of container files.
TEST_F(Container, FilesOfOthersStay)
{
  std::filesystem::create_directory(this->Path);
  for (const char* name : {"writer", "step.000001.part", "step.000001.hdf", "index.html.tmp", "index",
           "step.part", "step.notes.hdf"}) {
    const std::string file = this->Path + "/" + name;
    testing::WriteText(file, "years of work");
    EXPECT_THAT(MessageOf([&] { this->WriteStep(1); }),
        HasSubstr(std::string("index") == name ? "a file 'index' that is not a log"
                                               : std::string("a folder with ") + name))
        << name;
    EXPECT_EQ(testing::ReadBytes(file), "years of work") << name;
    std::filesystem::remove(file);
  }
  // A writer replaces files that a killed writer has left before it made a log.
  testing::WriteText(this->Path + "/writer", "process 12 on there, which is writing to it");
  testing::WriteText(
      this->Path + "/index.there.12.0.tmp", RecordLog::Frame(EncodeLogHead(), 0).substr(0, 20));
  this->WriteStep(1);
  // A user has copied a file into the container.
  testing::WriteText(this->Path + "/step.000001.copy.hdf", "years of work");
  EXPECT_THAT(MessageOf([&] { this->WriteStep(2); }),
      HasSubstr("a folder with step.000001.copy.hdf, which is not a file of a container"));
  EXPECT_EQ(testing::ReadBytes(this->Path + "/step.000001.copy.hdf"), "years of work");
}

TEST_F(Container, OneOfSeveralWritersThatBeginAtOnceGetsIt)
{
  for (int round = 0; round < 30; ++round) {
    std::filesystem::remove_all(this->Path);
    std::vector<std::string> faults(3);
    std::vector<std::unique_ptr<ContainerWriter>> writers(faults.size());
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (std::size_t i = 0; i < faults.size(); ++i) {
      threads.emplace_back([&, i] {
        ++ready;
        while (ready < static_cast<int>(faults.size())) {
        }
        faults[i] =
            CatchError([&] { writers[i] = std::make_unique<ContainerWriter>(*this->Alone, this->Path); });
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(std::count(faults.begin(), faults.end(), ""), 1);
    for (const std::string& fault : faults) {
      EXPECT_TRUE(
          fault.empty() || fault.find("expected a container without another writer") != std::string::npos)
          << fault;
    }
  }
}

TEST_F(Container, AStepIsFoundInALogThatHasGrownOrIsAnother)
{
  this->WriteStep(1);
  const std::string later = this->Path + "/step.000002.hdf";
  EXPECT_EQ(FindStep(this->Path + "/step.000001.hdf").Head.Step, 1);
  EXPECT_THAT(MessageOf([&] { FindStep(later); }), HasSubstr("The step is incomplete"));
  this->WriteStep(2);
  EXPECT_EQ(FindStep(later).Head.Step, 2);
  std::filesystem::remove_all(this->Path);
  this->WriteStep(1);
  EXPECT_THAT(MessageOf([&] { FindStep(later); }), HasSubstr("The step is incomplete"));
}

TEST_F(Container, AStepThatLacksValuesDoesNotComeToBe)
{
  this->Compression = {FilterType::Zstd, FilterType::None, FilterType::Deflate};
  this->WriteStep(1);
  ContainerWriter writer(*this->Alone, this->Path);
  {
    const std::unique_ptr<StepWriter> step = writer.Begin(this->StepOf(2));
    const PatchVariable without{5, 1};
    WriteAll(*step, this->Random, &without);
    EXPECT_THAT(MessageOf([&] { writer.Commit(*step); }), HasSubstr("no rank has written 'a_b' on patch 5"));
  }
  EXPECT_EQ(ReadLog(this->Path)->Steps.size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(this->Path + "/step.000002.part"));
  EXPECT_THAT(MessageOf([&] { writer.Begin(this->StepOf(1)); }), HasSubstr("an unused step number, found 1"));
}

TEST_F(Container, AForgedRecordGivesAMessage)
{
  this->Compression = {FilterType::None, FilterType::Deflate, FilterType::Zstd};
  this->WriteStep(1);
  const std::string sound = ReadLog(this->Path)->Steps[0].Bytes;
  const std::string head = RecordLog::Frame(EncodeLogHead(), 0);
  std::string other = sound;
  other.replace(other.find("float64"), 7, "float7 ");
  testing::WriteText(this->Path + "/index", head + RecordLog::Frame(other, head.size()));
  EXPECT_THAT(MessageOf([&] { FormatOf(this->Path).ReadCatalog(this->Path + "/step.000001.hdf"); }),
      HasSubstr("a.pio/index: step 1: The record of the step has the unknown type 'float7 '."));
  testing::WriteText(this->Path + "/index", head + RecordLog::Frame("?", head.size()));
  EXPECT_THAT(MessageOf([&] { ReadLog(this->Path); }), HasSubstr("a.pio/index: record 1: "));
}

// The boxes then take more than an aligned block, and HDF5 puts small tables before them.
TEST_F(Container, ManyPatchesKeepTheirTables)
{
  constexpr int patches = 50000;
  std::vector<Box> boxes;
  for (int p = 0; p < patches; ++p) {
    boxes.push_back({{p % 50, p / 50 % 50, p / 2500}, {p % 50, p / 50 % 50, p / 2500}});
  }
  for (const auto& compression : {std::vector<FilterType>{}, {FilterType::Deflate}}) {
    StepToWrite step = SameEverywhere(boxes, {ElementType::Float64});
    step.Compression = compression;
    std::filesystem::remove_all(this->Path);
    this->WriteStep(step);
    const ContainerFormat format;
    const Series series = format.OpenSeries(this->Path, {});
    const Catalog read = format.ReadCatalog(series.Steps[0].Path);
    ASSERT_EQ(read.Patches.size(), std::size_t(patches));
    EXPECT_EQ(read.Patches[patches - 1].Cells, boxes.back());
    const std::vector<ValueRange> ranges = format.RangesOf(read, 0);
    for (const int p : {0, 1, 12345, patches - 1}) {
      EXPECT_EQ(ranges[p].Least, Value(p, 0, 0)) << p;
    }
  }
}

// The values of all variables are written together, in pieces that must not end within a value.
TEST_F(Container, NeighboursOfOtherTypesKeepTheirRanges)
{
  constexpr int cells = 100000;
  const StepToWrite step = SameEverywhere({{{0, 0, 0}, {cells, 0, 0}}},
      {ElementType::UInt8, ElementType::Float64, ElementType::Float64, ElementType::UInt64});
  const std::vector<std::uint8_t> bytes(cells + 1, 3);
  const std::vector<double> numbers(cells + 1, 1.1);
  const std::vector<std::uint64_t> large(cells + 1, (std::uint64_t(1) << 60) - 1);  // 2^60 as a double
  {
    ContainerWriter writer(*this->Alone, this->Path);
    const std::unique_ptr<StepWriter> writing = writer.Begin(step);
    writing->Write(
        {{0, 0, bytes.data()}, {0, 1, numbers.data()}, {0, 2, numbers.data()}, {0, 3, large.data()}}, 1);
    writer.Commit(*writing);
  }
  const ContainerFormat format;
  const Catalog read = format.ReadCatalog(format.OpenSeries(this->Path, {}).Steps[0].Path);
  for (const int v : {1, 2}) {
    const ValueRange range = format.RangesOf(read, v)[0];
    EXPECT_EQ(range.Least, 1.1) << v;
    EXPECT_EQ(range.Greatest, 1.1) << v;
  }
  EXPECT_LT(format.RangesOf(read, 3)[0].Least, 1152921504606846976.0);
}

TEST_F(Container, NamesThatAreNoUtf8AreFoundAgain)
{
  StepToWrite step = this->StepOf(1);
  step.Data.Variables[0].Name = "d\xfc";
  step.Data.Variables[1].Name = "d\xfd";
  step.Data.Variables[2].Name = "d\xc3\xbc";
  this->WriteStep(step);
  const StepRecord record = Decode(ReadLog(this->Path)->Steps[0].Bytes);
  EXPECT_EQ(record.Data.Variables[0].Name, "d\xef\xbf\xbd");
  EXPECT_EQ(record.Data.Variables[1].Name, "d\xef\xbf\xbd_2");
  EXPECT_EQ(record.Data.Variables[2].Name, "d\xc3\xbc");
  const hdf5::Handle file(H5Fopen((this->Path + "/" + record.Files[0]).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  for (const DataSet& set : record.DataSets) {
    EXPECT_GE(hdf5::Handle(H5Dopen2(file, set.Name.c_str(), H5P_DEFAULT)), 0) << set.Name;
  }
}

TEST_F(Container, WhatNoReaderTakesIsNotWritten)
{
  ContainerWriter writer(*this->Alone, this->Path);
  const auto message = [&](const StepToWrite& step) { return MessageOf([&] { writer.Begin(step); }); };
  StepToWrite step = this->StepOf(1);
  step.Data.Variables[1].Components = 1 << 21;
  EXPECT_THAT(message(step), HasSubstr("number of components"));
  step = this->StepOf(2);
  step.Data.Patches.clear();
  step.Data.Levels.clear();
  step.Data.ResetPresence();
  EXPECT_THAT(message(step), HasSubstr("no patch"));
}

// The file of a rank without patches, while other ranks compress their values.
TEST_F(Container, AFileWithoutValuesHasNoChunks)
{
  const StepToWrite step = this->StepOf(1);
  const std::vector<int> rows = RowsOf(step.Data);
  StepFilePlan plan;
  plan.Data = &step.Data;
  plan.Types = &step.Types;
  plan.Rows = &rows;
  plan.Files = 2;
  StepFile file(this->Folder / "step.part", plan);
  file.Create();
  EXPECT_TRUE(file.ReserveChunks({}).empty());
  file.WriteDescription();
  file.WriteSignature();
  EXPECT_GT(H5Fis_hdf5((this->Folder / "step.part").c_str()), 0);
}

}  // namespace patchio::container
