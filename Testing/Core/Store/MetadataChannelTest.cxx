#include "Read/OpenedStep.h"

#include "Base/Bytes.h"
#include "Base/Memory.h"
#include "Catalog/Nesting.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "IrregularFormat.h"
#include "LocationTools.h"
#include "Read/CollectiveCalls.h"
#include "Read/RankRead.h"
#include "SamraiDraft.h"
#include "Store/SeriesIndexFile.h"
#include "TestTools.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

namespace fs = std::filesystem;

namespace patchio {
namespace {

using testing::AllRequests;
using testing::Difference;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::IrregularFormat;
using testing::ReadBytes;

/// Changes bytes of a file, but not its size and time.
void OverwriteUnseen(const std::string& path, std::size_t offset, const std::string& bytes)
{
  const fs::file_time_type time = fs::last_write_time(path);
  {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
    ASSERT_TRUE(file.good());
  }
  fs::last_write_time(path, time);
}

void MakeOlder(const std::string& path, int seconds)
{
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
}

/// Returns settings that trust new files, so that tests need not wait.
IndexSettings NoWaiting()
{
  IndexSettings settings;
  settings.SettleSeconds = -10;
  return settings;
}

/// Tests with a folder for data and a folder for the user's caches.
class Channel : public ::testing::Test
{
protected:
  Channel()
  {
    ::unsetenv("PATCHIO_METADATA_DIR");
    ::setenv("XDG_CACHE_HOME", (this->Folder / "cache").c_str(), 1);
    fs::create_directory(this->Folder / "data");
  }
  ~Channel() override { ::unsetenv("XDG_CACHE_HOME"); }

  OpenedStep Open(const std::string& path, IndexMode mode = IndexMode::On)
  {
    return OpenedStep(*this->Alone, path, mode, NoWaiting());
  }
  OpenedStep OpenAndPrepare(const std::string& path, IndexMode mode = IndexMode::On)
  {
    OpenedStep step = this->Open(path, mode);
    step.Prepare(*this->Alone, 2);
    return step;
  }

  testing::TempFolder Folder;
  const std::string DataFolder = this->Folder / "data";
  std::unique_ptr<Communicator> Alone = MakeSelfCommunicator();
};

/// Tests with a real dump.
class DumpChannel : public Channel
{
protected:
  LocationTable Truth() const
  {
    return FormatOf(this->Summary)
        .Locate(FormatOf(this->Summary).ReadCatalog(this->Summary), AllRequests(this->Data), {});
  }
  void ExpectRight(const OpenedStep& step) const
  {
    EXPECT_EQ(Difference(step.Locate(AllRequests(this->Data), 2), this->Truth()), "");
  }

  Catalog Data = testing::SmallCatalog();
  const std::string Summary = testing::WriteDump(this->DataFolder, this->Data);
  const std::string IndexFile = testing::IndexFileOf(this->Summary);
  const std::string Cluster = testing::ClusterPath(this->Summary, 1);
};

/// Tests with locations of all kinds.
class IrregularChannel : public Channel
{
protected:
  /// Saves the index. Several threads may save and find index files at the same time, like separate programs.
  SaveOutcome Save(const IndexSettings& settings = NoWaiting())
  {
    const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
    const DescribingState describing = StateOfDescribingFile(this->Summary);
    BuiltIndex built = *BuildIndex(*alone, this->Format, this->Data, settings);
    return SaveStepIndexFile(*alone, this->Format, this->Data, built, describing, settings);
  }
  IndexFileSearch Find() { return FindStepIndexFile(*MakeSelfCommunicator(), this->Summary, NoWaiting()); }
  void ExpectRight(const IndexFileSearch& search)
  {
    ASSERT_TRUE(search.Found);
    const std::vector<PatchVariable> requests = AllRequests(this->Data);
    EXPECT_EQ(Difference(search.Found->Index.Index.Find(search.Found->Data, requests).Table,
                  this->Format.Locate(this->Data, requests, {})),
        "");
  }

  IrregularFormat Format;
  const std::string Summary = IrregularFormat::WriteFiles(this->DataFolder);
  const std::string IndexFile = testing::IndexFileOf(this->Summary);
  Catalog Data = this->Format.ReadCatalog(this->Summary);
};

}  // namespace

// ---- what a user sees ----

TEST_F(DumpChannel, SecondOpenComesFromTheIndexFile)
{
  const OpenedStep first = this->OpenAndPrepare(this->Summary);
  EXPECT_FALSE(first.FromIndexFile());
  EXPECT_THAT(first.Origin(), EndsWith("saved to " + this->IndexFile));
  this->ExpectRight(first);
  const OpenedStep second = this->OpenAndPrepare(this->Summary);
  EXPECT_TRUE(second.FromIndexFile());
  EXPECT_EQ(second.Origin(), "from the index file " + this->IndexFile);
  EXPECT_EQ(second.Warning(), "");
  this->ExpectRight(second);
  Catalog truth = FormatOf(this->Summary).ReadCatalog(this->Summary);
  EXPECT_EQ(second.Data().Serialize(), truth.Serialize());
}

TEST_F(DumpChannel, SecondOpenDoesWithoutHdf5)
{
  testing::WriteText(this->DataFolder + "/dumps.visit", "visit_dump.00007/summary.samrai\n");
  ASSERT_TRUE(this->OpenAndPrepare(this->Summary).Saved().Reason.empty());
  OpenSeries(*this->Alone, {this->DataFolder + "/dumps.visit"}, {}, IndexMode::On);
  for (const std::string& file : {this->Summary, this->Cluster, testing::ClusterPath(this->Summary, 0)}) {
    OverwriteUnseen(file, 0, "no HDF5!");
  }
  ASSERT_THROW(FormatOf(this->Summary).ReadCatalog(this->Summary), Error);
  this->Data.Path = this->Summary;
  ASSERT_EQ(FormatOf(this->Summary).Locate(this->Data, {{0, 0}}, {}).Problems.size(), 1u);

  const Series series = OpenSeries(*this->Alone, {this->DataFolder + "/dumps.visit"}, {}, IndexMode::On);
  ASSERT_EQ(series.Steps.size(), 1u);
  EXPECT_EQ(series.Steps[0].Step, 7);
  EXPECT_EQ(series.Steps[0].Time, 0.25);
  const OpenedStep step = this->OpenAndPrepare(series.Steps[0].Path);
  LoadRequest request;
  request.Blocks = BlocksOfPatches(step.Data(), {0, 1, 2});
  request.Variables = {RequestAsStored(step.Data(), 0), RequestAsStored(step.Data(), 1)};
  const auto locate = [&](const std::vector<PatchVariable>& requests) { return step.Locate(requests, 1); };
  LoadResult loaded = RankRead(locate, step.Data(), request).Read();
  ASSERT_TRUE(loaded.Faults.empty()) << loaded.Faults[0].Message;
  for (int p = 0; p < 3; ++p) {
    const auto* values = static_cast<const float*>(loaded.At(p, 0).Values.get());
    const std::vector<float> expected = testing::DraftValues(this->Data, p, 0, 0);
    EXPECT_EQ(std::vector<float>(values, values + expected.size()), expected);
    const auto* vectors = static_cast<const float*>(loaded.At(p, 1).Values.get());
    EXPECT_EQ(vectors[2 * 3 + 1], testing::DraftValue(p, 1, 1, 3));
  }
}

TEST_F(DumpChannel, MovesWithItsData)
{
  this->OpenAndPrepare(this->Summary);
  fs::rename(this->DataFolder, this->Folder / "moved");
  const std::string moved = this->Folder / "moved/visit_dump.00007/summary.samrai";
  const OpenedStep step = this->Open(moved);
  EXPECT_TRUE(step.FromIndexFile());
  EXPECT_EQ(step.Data().Path, moved);
  EXPECT_EQ(step.Locate({{0, 0}}, 1).Files.at(0), testing::ClusterPath(moved, 0));
}

TEST_F(DumpChannel, RelativePathsWorkToo)
{
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(this->Summary).parent_path());
  EXPECT_EQ(this->OpenAndPrepare("summary.samrai").IndexFilePath(), ".summary.samrai.patchio");
  const OpenedStep step = this->Open("summary.samrai");
  EXPECT_TRUE(step.FromIndexFile());
  EXPECT_EQ(step.Locate({{0, 0}}, 1).Files.at(0), "processor_cluster.00000.samrai");
  fs::current_path(before);
}

TEST_F(DumpChannel, OffAndReadOnlyWriteNothing)
{
  for (const IndexMode mode : {IndexMode::Off, IndexMode::ReadOnly}) {
    const OpenedStep step = this->OpenAndPrepare(this->Summary, mode);
    EXPECT_FALSE(fs::exists(this->IndexFile));
    EXPECT_EQ(step.Index(), nullptr);
    EXPECT_EQ(step.Origin(), "");
    this->ExpectRight(step);
  }
  this->OpenAndPrepare(this->Summary);
  EXPECT_FALSE(this->Open(this->Summary, IndexMode::Off).FromIndexFile());
  EXPECT_TRUE(this->Open(this->Summary, IndexMode::ReadOnly).FromIndexFile());
}

// ---- changed data ----

TEST_F(DumpChannel, ATouchedFileMakesItStaleWithoutAWord)
{
  for (const std::string& file : {this->Cluster, this->Summary}) {
    this->OpenAndPrepare(this->Summary, IndexMode::Rebuild);
    ASSERT_TRUE(this->Open(this->Summary).FromIndexFile());
    MakeOlder(file, 1000);
    const OpenedStep step = this->OpenAndPrepare(this->Summary);
    EXPECT_FALSE(step.FromIndexFile()) << file;
    EXPECT_EQ(step.Warning(), "");
    EXPECT_TRUE(this->Open(this->Summary).FromIndexFile()) << "a new one was saved";
  }
}

TEST_F(DumpChannel, AReplacedFileOfEqualSizeAndTimeMakesItStale)
{
  this->OpenAndPrepare(this->Summary);
  const std::string copy = this->Cluster + ".new";
  testing::WriteText(copy, ReadBytes(this->Cluster));
  fs::last_write_time(copy, fs::last_write_time(this->Cluster));
  fs::rename(copy, this->Cluster);
  EXPECT_FALSE(this->Open(this->Summary).FromIndexFile());
}

TEST_F(DumpChannel, AFileThatChangesWhileTheStepIsOpenIsLookedAtAgain)
{
  this->OpenAndPrepare(this->Summary);
  const OpenedStep step = this->Open(this->Summary);
  ASSERT_TRUE(step.FromIndexFile());
  // Another data set in front moves all others.
  testing::Hdf5Draft draft = testing::DraftCluster(this->Data, 1);
  draft["/a"] = testing::Ints(std::vector<int>(5000, 1));
  testing::WriteHdf5(this->Cluster, draft);
  this->ExpectRight(step);
}

/// Times of files are coarse: files written just before and just after the check have the same time.
TEST_F(DumpChannel, AYoungFileThatChangesUnseenIsLookedAtAgain)
{
  OpenedStep step(*this->Alone, this->Summary, IndexMode::On);  // waits until files are old enough
  step.Prepare(*this->Alone, 1);
  ASSERT_TRUE(step.Index());
  const std::string cluster = testing::ClusterPath(this->Summary, 0);
  OverwriteUnseen(cluster, 0, "not HDF5");
  EXPECT_FALSE(step.Locate({{0, 0}}, 1).Problems.empty()) << "the format was asked, and sees it";
}

TEST_F(DumpChannel, ADescriptionThatChangesWhileTheStepIsOpenIsAnError)
{
  for (const IndexMode mode : {IndexMode::Off, IndexMode::On}) {
    OpenedStep step = this->OpenAndPrepare(this->Summary, mode);
    EXPECT_FALSE(step.Locate({{0, 0}}, 1).Locations.empty());
    MakeOlder(this->Summary, mode == IndexMode::Off ? 100 : 200);
    EXPECT_THAT(testing::MessageOf([&] { step.Locate({{0, 0}}, 1); }), HasSubstr("Reload"));
  }
}

TEST_F(IrregularChannel, FilesThatAreTooYoungAreNotTrusted)
{
  IndexSettings settings;
  const SaveOutcome young = this->Save(settings);
  EXPECT_EQ(young.Path, "");
  EXPECT_THAT(young.Reason, HasSubstr("less than 2 s ago"));
  EXPECT_GT(young.SecondsToWait, 0);
  EXPECT_LE(young.SecondsToWait, 2.1);
  settings.SettleSeconds = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(this->Save(settings).Reason, "");
}

TEST_F(IrregularChannel, ATimeInTheFutureIsNotWaitedFor)
{
  MakeOlder(this->DataFolder + "/data.1", -5000);
  const SaveOutcome outcome = this->Save(IndexSettings());
  EXPECT_THAT(outcome.Reason, HasSubstr("future"));
  EXPECT_LT(outcome.SecondsToWait, 0);
}

TEST_F(IrregularChannel, ADescriptionThatChangedSinceItWasReadIsNotSaved)
{
  const DescribingState describing = StateOfDescribingFile(this->Summary);
  BuiltIndex built = *BuildIndex(*this->Alone, this->Format, this->Data, NoWaiting());
  testing::WriteText(this->Summary, "another text");
  const SaveOutcome outcome =
      SaveStepIndexFile(*this->Alone, this->Format, this->Data, built, describing, NoWaiting());
  EXPECT_THAT(outcome.Reason, HasSubstr("changed while they were read"));
  EXPECT_EQ(outcome.Path, "");
}

// ---- where it lies ----

TEST_F(DumpChannel, StaysUnsavedWhereNothingCanBeWritten)
{
  fs::create_directories(this->IndexFile + "/in the way");
  testing::WriteText(this->Folder / "file", "");
  ::setenv("XDG_CACHE_HOME", (this->Folder / "file").c_str(), 1);
  const OpenedStep step = this->OpenAndPrepare(this->Summary);
  EXPECT_THAT(step.Origin(), HasSubstr("not saved: "));
  EXPECT_EQ(step.IndexFilePath(), "");
  EXPECT_EQ(step.Saved().Path, "");
  this->ExpectRight(step);
}

TEST_F(DumpChannel, DataOfEqualNameInTheCacheAreToldApart)
{
  ::setenv("PATCHIO_METADATA_DIR", (this->Folder / "chosen").c_str(), 1);
  const std::string indexFile = this->OpenAndPrepare(this->Summary).IndexFilePath();
  Catalog other = testing::SmallCatalog();
  other.Time = 8;
  const std::string second = testing::WriteDump(this->Folder / "other", other);
  EXPECT_NE(this->OpenAndPrepare(second).IndexFilePath(), indexFile);
  // An index file that has the name of another one still names its own data.
  fs::copy_file(indexFile, this->Open(second).IndexFilePath(), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(this->Open(second).FromIndexFile());
  ::unsetenv("PATCHIO_METADATA_DIR");
}

// ---- series ----

TEST_F(DumpChannel, ASeriesIndexFileKnowsTheHeads)
{
  Catalog later = testing::SmallCatalog();
  later.Step = 9;
  later.Time = 1.5;
  const std::string second = testing::WriteDump(this->DataFolder, later);
  const std::string index = this->DataFolder + "/dumps.visit";
  testing::WriteText(index, "visit_dump.00007/summary.samrai\nvisit_dump.00009/summary.samrai\n");
  const auto open = [&](IndexMode mode, double settle) {
    SeriesIndexFile indexFile(index, mode);
    SeriesOptions options;
    options.KnownHead = [&](const std::string& step) { return indexFile.HeadOf(step); };
    const Series series = FormatOf(index).OpenSeries(index, options);
    EXPECT_EQ(indexFile.Save(series, settle), "");
    return series;
  };
  open(IndexMode::On, 2);
  EXPECT_FALSE(fs::exists(testing::IndexFileOf(index))) << "the files are too young";
  open(IndexMode::ReadOnly, -10);
  EXPECT_FALSE(fs::exists(testing::IndexFileOf(index)));
  open(IndexMode::On, -10);
  ASSERT_TRUE(fs::exists(testing::IndexFileOf(index)));
  OverwriteUnseen(this->Summary, 0, "no HDF5!");
  OverwriteUnseen(second, 0, "no HDF5!");
  const Series series = open(IndexMode::On, -10);
  ASSERT_EQ(series.Steps.size(), 2u);
  EXPECT_EQ(series.Steps[1].Time, 1.5);
  EXPECT_EQ(series.Steps[1].Path, second);
  // A changed summary is read again, and this one is damaged.
  MakeOlder(second, 1000);
  EXPECT_EQ(open(IndexMode::On, -10).Steps.size(), 1u);
}

/// The notes on a step are in its head, so that no file of the step is read for them.
TEST_F(DumpChannel, ASeriesIndexFileKnowsTheNotes)
{
  const std::string index = this->DataFolder + "/dumps.visit";
  testing::WriteText(index, "visit_dump.00007/summary.samrai\n");
  const auto save = [&](const TimeStep& step) {
    SeriesIndexFile indexFile(index, IndexMode::On);
    indexFile.HeadOf(this->Summary);
    Series series;
    series.Steps.push_back(step);
    EXPECT_EQ(indexFile.Save(series, -10), "");
  };
  save({this->Summary, 0.25, 7});
  save({this->Summary, 0.25, 7, 0, {}, true, {"kept"}});
  OverwriteUnseen(this->Summary, 0, "no HDF5!");
  SeriesIndexFile indexFile(index, IndexMode::On);
  SeriesOptions options;
  options.KnownHead = [&](const std::string& step) { return indexFile.HeadOf(step); };
  EXPECT_THAT(FormatOf(index).OpenSeries(index, options).Notes, ::testing::ElementsAre("kept"));
}

TEST_F(DumpChannel, ASingleStepHasNoIndexFileAsASeries)
{
  for (int i = 0; i < 2; ++i) {
    const Series series = OpenSeries(*this->Alone, {this->Summary}, {}, IndexMode::On);
    EXPECT_TRUE(series.Warnings.empty());
    EXPECT_EQ(series.Steps.at(0).Time, 0.25);
    this->OpenAndPrepare(this->Summary);
    EXPECT_TRUE(this->Open(this->Summary).FromIndexFile());
  }
  EXPECT_EQ(HeadFromIndexFile(this->Summary)->Step, 7);
}

// ---- all kinds of locations ----

TEST_F(IrregularChannel, KeepsLocationsOfEveryKind)
{
  EXPECT_EQ(this->Save().Path, this->IndexFile);
  this->ExpectRight(this->Find());
}

TEST_F(IrregularChannel, FilesOutsideTheFolderAreNotSaved)
{
  this->Data.Path = this->Folder / "data/below/summary.samrai";
  fs::create_directory(this->Folder / "data/below");
  testing::WriteText(this->Data.Path, "text");
  const DescribingState describing = StateOfDescribingFile(this->Data.Path);
  Catalog elsewhere = this->Data;
  elsewhere.Path = this->Summary;  // leads the format to its files
  BuiltIndex built = *BuildIndex(*this->Alone, this->Format, elsewhere, NoWaiting());
  EXPECT_THAT(
      SaveStepIndexFile(*this->Alone, this->Format, this->Data, built, describing, NoWaiting()).Reason,
      HasSubstr("outside the folder"));
}

// ---- killed writers, several users ----

TEST_F(IrregularChannel, OldStraysAreCleanedYoungOnesAreNot)
{
  const std::string old = this->IndexFile + ".host.1.0.tmp", young = this->IndexFile + ".host.2.0.tmp";
  testing::WriteText(old, "stray");
  testing::WriteText(young, "of a writer at work");
  testing::WriteText(this->DataFolder + "/other.tmp", "of somebody else");
  MakeOlder(old, 100000);
  MakeOlder(this->DataFolder + "/other.tmp", 100000);
  this->Save();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
  EXPECT_TRUE(fs::exists(this->DataFolder + "/other.tmp"));
}

TEST_F(IrregularChannel, AKilledWriterLeavesTheOldOneOrTheNewOne)
{
  this->Save();
  const auto first = StateOf(this->IndexFile);
  std::mt19937 random(7);
  const auto replaced = [&] { return StateOf(this->IndexFile)->Print.Inode != first->Print.Inode; };
  // Repeats until at least one program has reached the rename, also on a slow machine.
  for (int round = 0; round < 40 || (!replaced() && round < 400); ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (;;) {
        this->Save();
      }
    }
    ::usleep(random() % (8000 + 500 * round));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    const IndexFileSearch search = this->Find();
    EXPECT_EQ(search.Warning(), "");
    this->ExpectRight(search);
  }
  EXPECT_TRUE(replaced());
}

TEST_F(IrregularChannel, ReadersAndWritersDoNotMeet)
{
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([&] {
      for (int i = 0; i < 30; ++i) {
        this->Save();
      }
    });
  }
  std::thread reader([&] {
    while (!done) {
      const IndexFileSearch search = this->Find();
      EXPECT_EQ(search.Warning(), "");
      EXPECT_TRUE(search.Found || search.Rejected[0].Fault == FileFault::Absent);
    }
  });
  for (std::thread& writer : writers) {
    writer.join();
  }
  done = true;
  reader.join();
  this->ExpectRight(this->Find());
  for (const auto& entry : fs::directory_iterator(this->DataFolder)) {
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
}

// ---- damage ----

namespace {

template <typename T>
T ValueAt(const std::string& bytes, std::size_t offset)
{
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
void PutAt(std::string& bytes, std::size_t offset, T value)
{
  bytes.replace(offset, sizeof(T), reinterpret_cast<const char*>(&value), sizeof(T));
}

/// Corrects all checksums, independently of the code under test. The layout: header of 64 bytes with the flag
/// at 20, the number of parts at 24 and the checksum at 40; then 24 bytes a part, <length, offset, checksum>.
void Reseal(std::string& bytes)
{
  const auto parts = ValueAt<std::uint64_t>(bytes, 24);
  if (parts > 100 || 64 + parts * 24 > bytes.size()) {
    return;
  }
  for (std::uint64_t part = 0; part < parts; ++part) {
    const auto length = ValueAt<std::uint64_t>(bytes, 64 + part * 24);
    const auto offset = ValueAt<std::uint64_t>(bytes, 64 + part * 24 + 8);
    if (offset <= bytes.size() && length <= bytes.size() - offset) {
      PutAt(bytes, 64 + part * 24 + 16, Checksum(bytes.data() + offset, length));
    }
  }
  std::string head = bytes.substr(0, 64 + parts * 24);
  PutAt<std::uint32_t>(head, 20, 0);
  PutAt<std::uint64_t>(head, 40, 0);
  PutAt(bytes, 40, Checksum(head.data(), head.size()));
}

void Mutate(std::string& bytes, std::mt19937& random)
{
  const std::uint64_t interesting[] = {0, 1, 2, 0x7f, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
      0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, bytes.size(),
      IrregularFormat::FileBytes - 4};
  const std::uint64_t value = interesting[random() % std::size(interesting)];
  const std::size_t place = random() % bytes.size(), word = random() % (bytes.size() / 4 - 1) * 4;
  switch (random() % 5) {
    case 0:
      bytes[place] = static_cast<char>(random());
      break;
    case 1:
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << random() % 8));
      break;
    case 2:
      PutAt(bytes, word, value);
      break;
    case 3:
      PutAt(bytes, word, static_cast<std::uint32_t>(value));
      break;
    default:
      bytes.resize(random() % 4 ? place : bytes.size() + place);
      bytes.resize(std::max<std::size_t>(bytes.size(), 64));
      PutAt<std::uint64_t>(bytes, 32, bytes.size());
  }
}

void ExpectInside(const LocationTable& table)
{
  for (const ByteRange& byteRange : table.ByteRanges) {
    ASSERT_LT(static_cast<std::size_t>(byteRange.File), table.Files.size());
    ASSERT_LE(byteRange.Bytes, IrregularFormat::FileBytes);
    ASSERT_LE(byteRange.Offset, IrregularFormat::FileBytes - byteRange.Bytes);
  }
  for (const ChunkedArray& array : table.ChunkedArrays) {
    ASSERT_LE(array.FirstChunk + array.ChunkCount, table.Chunks.size());
    for (std::size_t c = array.FirstChunk; c < array.FirstChunk + array.ChunkCount; ++c) {
      ASSERT_TRUE(table.Chunks[c].Bytes == 0 ||
                  table.Chunks[c].Offset + table.Chunks[c].Bytes <= IrregularFormat::FileBytes);
    }
  }
}

}  // namespace

TEST_F(IrregularChannel, HostileIndexFilesDoNoHarm)
{
  this->Save();
  const std::string sound = ReadBytes(this->IndexFile);
  std::mt19937 random(4711);
  int found = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = sound;
    for (int i = 0, changes = 1 + random() % 3; i < changes; ++i) {
      Mutate(bytes, random);
    }
    if (round % 8 != 0) {
      Reseal(bytes);
    }
    testing::WriteText(this->IndexFile, bytes);
    const IndexFileSearch search = this->Find();
    (search.Found ? found : refused) += 1;
    if (search.Found) {
      const Catalog& catalog = search.Found->Data;
      const IndexAnswer answer = search.Found->Index.Index.Find(catalog, AllRequests(catalog));
      EXPECT_TRUE(answer.Complete);
      ExpectInside(answer.Table);
      for (std::size_t i = 0; i < answer.Table.Locations.size(); ++i) {
        EXPECT_NE(answer.Table.Locations[i].Kind, Encoding::Missing);
      }
      const Nesting nesting(catalog, std::vector<bool>(catalog.Patches.size(), true));
      nesting.ChildrenOf(0);
    }
  }
  EXPECT_GT(found, 50) << "mutations that no check sees, such as other times, must be among them";
  EXPECT_GT(refused, 1000);
}

TEST_F(IrregularChannel, DamageThatTheChecksumsSeeIsRefusedWithOneWarning)
{
  this->Save();
  const std::string sound = ReadBytes(this->IndexFile);
  // All bytes except the gaps between parts.
  std::vector<bool> covered(sound.size(), false);
  const auto parts = ValueAt<std::uint64_t>(sound, 24);
  std::fill_n(covered.begin(), 64 + parts * 24, true);
  for (std::uint64_t part = 0; part < parts; ++part) {
    std::fill_n(covered.begin() + ValueAt<std::uint64_t>(sound, 64 + part * 24 + 8),
        ValueAt<std::uint64_t>(sound, 64 + part * 24), true);
  }
  for (std::size_t place = 0; place < sound.size(); place += 7) {
    std::string bytes = sound;
    bytes[place] = static_cast<char>(bytes[place] ^ 0x10);
    testing::WriteText(this->IndexFile, bytes);
    const IndexFileSearch search = this->Find();
    EXPECT_EQ(search.Found.has_value(), !covered[place]) << "byte " << place;
    const FileFault fault = search.Found ? FileFault::Corrupted : search.Rejected[0].Fault;
    EXPECT_TRUE(fault == FileFault::Corrupted || fault == FileFault::Foreign) << "byte " << place;
    EXPECT_EQ(search.Warning().empty(), search.Found.has_value() || fault == FileFault::Foreign);
  }
}

// ---- there, but not to be read ----

TEST_F(DumpChannel, OneThatCannotBeReadIsWorthOneWarningAndReplaced)
{
  fs::create_symlink(this->IndexFile, this->IndexFile);  // leads to itself
  const OpenedStep step = this->OpenAndPrepare(this->Summary);
  EXPECT_FALSE(step.FromIndexFile());
  EXPECT_THAT(step.Warning(),
      HasSubstr(this->IndexFile + ": Too many levels of symbolic links; expected a readable file"));
  this->ExpectRight(step);
  const OpenedStep second = this->Open(this->Summary);
  EXPECT_TRUE(second.FromIndexFile());
  EXPECT_EQ(second.Warning(), "");
}

TEST_F(DumpChannel, OneThatCannotBeReadIsNoNewsWhereTheCacheHasOne)
{
  ::setenv("PATCHIO_METADATA_DIR", (this->Folder / "cache/patchio").c_str(), 1);
  const std::string cached = this->OpenAndPrepare(this->Summary).IndexFilePath();
  ::unsetenv("PATCHIO_METADATA_DIR");
  fs::create_symlink(this->IndexFile, this->IndexFile);
  const OpenedStep step = this->Open(this->Summary);
  EXPECT_EQ(step.IndexFilePath(), cached);
  EXPECT_EQ(step.Warning(), "");
}

namespace {

/// Switches from root to a user without access to all files, until the destructor.
class PlainUser
{
public:
  PlainUser() { this->Changed = ::geteuid() == 0 && ::seteuid(65534) == 0; }
  ~PlainUser()
  {
    if (this->Changed) {
      EXPECT_EQ(::seteuid(0), 0);
    }
  }

private:
  bool Changed = false;
};

}  // namespace

TEST_F(IrregularChannel, OneThatMayNotBeReadIsThereAllTheSame)
{
  this->Save();
  fs::permissions(this->Folder / "", fs::perms::all);
  fs::permissions(this->IndexFile, fs::perms::none);
  const PlainUser user;
  if (!StateOf(this->IndexFile)) {
    GTEST_SKIP() << "skipped: the folder for temporary files is for its owner only";
  }
  const IndexFileSearch search = this->Find();
  EXPECT_FALSE(search.Found);
  EXPECT_EQ(search.Rejected.at(0).Fault, FileFault::Unreadable);
  EXPECT_THAT(search.Warning(), HasSubstr("Permission denied"));
}

TEST_F(IrregularChannel, WhatIsNoFileOrInAFolderThatMayNotBeSearchedIsAbsent)
{
  EXPECT_EQ(this->Find().Rejected.at(0).Fault, FileFault::Absent);
  fs::create_directory(this->IndexFile);
  const IndexFileSearch folder = this->Find();
  EXPECT_EQ(folder.Rejected.at(0).Fault, FileFault::Absent);
  EXPECT_EQ(folder.Warning(), "");
  fs::create_directory(this->Folder / "cache");
  fs::permissions(this->Folder / "", fs::perms::all);
  fs::permissions(this->Folder / "cache", fs::perms::none);
  {
    const PlainUser user;
    EXPECT_EQ(this->Find().Warning(), "");
  }
  fs::permissions(this->Folder / "cache", fs::perms::all);
}

TEST_F(IrregularChannel, OneThatNeedsTooMuchMemoryIsNotDamaged)
{
  // A hole of four terabytes, more than the memory of any test machine.
  const std::uint64_t length = std::uint64_t(1) << 42;
  if (AvailableMemory() >= length) {
    GTEST_SKIP() << "skipped: there is memory enough";
  }
  const IndexFileHead head({{length, 0, 0}, {0, 0, Checksum(nullptr, 0)}});
  const std::vector<std::byte> bytes = head.Encode(true);
  {
    const PlainFile file(this->IndexFile, PlainFile::Purpose::Create);
    file.Write(0, bytes.data(), bytes.size());
  }
  std::error_code fault;
  fs::resize_file(this->IndexFile, head.FileBytes(), fault);
  if (fault) {
    GTEST_SKIP() << "skipped: the file system takes no file of that size";
  }
  const IndexFileSearch search = this->Find();
  EXPECT_EQ(search.Rejected.at(0).Fault, FileFault::Unreadable);
  EXPECT_THAT(search.Warning(), HasSubstr("too large for the free memory"));
}

TEST_F(DumpChannel, ASeriesIndexFileThatCannotBeReadIsWorthAWarning)
{
  const std::string index = this->DataFolder + "/dumps.visit";
  testing::WriteText(index, "visit_dump.00007/summary.samrai\n");
  const std::string file = testing::IndexFileOf(index);
  fs::create_symlink(file, file);
  for (const char* fault : {"Too many levels", "not an index file"}) {
    const Series series = OpenSeries(*this->Alone, {index}, {}, IndexMode::On);
    EXPECT_EQ(series.Steps.size(), 1u);
    EXPECT_THAT(series.Warnings, ::testing::ElementsAre(HasSubstr(fault)));
    fs::remove(file);
    testing::WriteText(file, std::string(300, 'x'));
  }
}

}  // namespace patchio
