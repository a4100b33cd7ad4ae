#include "Targets.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/Container/ContainerLog.h"
#include "Formats/Container/StepRecord.h"
#include "Formats/Format.h"
#include "Formats/GRADS/GradsDescriptor.h"
#include "Hdf5/File.h"
#include "Read/ReadPatchData.h"
#include "SoundFiles.h"
#include "Store/IndexFileHead.h"
#include "Store/LocationIndex.h"
#include "Store/SeriesIndexFile.h"
#include "Store/StepIndexFile.h"
#include "Store/StepParts.h"
#include "TestTools.h"
#include "Tuning/StorageProfile.h"
#include "Write/OutputConfig.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace fs = std::filesystem;

namespace patchio::fuzz {
namespace {

constexpr std::size_t MostPatches = 64;      // greatest number of patches that are read
constexpr std::int64_t MostValues = 100000;  // greatest number of values of these patches together

std::string refusal;

/// Calls `work`, which may reject the bytes with an Error, but with no other exception.
template <typename Work>
void MayRefuse(Work work)
{
  try {
    work();
  } catch (const Error& error) {
    refusal = error.what();
  }
}

/// Returns patches with few values, because a hostile catalog may have patches of any size.
std::vector<int> SmallPatches(const Catalog& catalog)
{
  std::vector<int> patches;
  double values = 0;
  for (std::size_t p = 0; p < catalog.Patches.size() && patches.size() < MostPatches; ++p) {
    const int patch = static_cast<int>(p);
    double more = 0;
    for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
      const int variable = static_cast<int>(v);
      more += static_cast<double>(catalog.StoredTuples(variable, patch)) * catalog.Variables[v].Components;
    }
    if (values + more <= MostValues) {
      values += more;
      patches.push_back(patch);
    }
  }
  return patches;
}

/// Opens a path and its steps like a reader.
void OpenSteps(const std::string& path)
{
  const Format& format = FormatOf(path);
  const Series series = format.OpenSeries(path, {});
  std::vector<int> patches;
  for (std::size_t s = std::min<std::size_t>(series.Steps.size(), 2); s-- > 0;) {
    const Catalog catalog = format.ReadStep(series.Steps[s]);
    patches = SmallPatches(catalog);
    if (!catalog.Variables.empty()) {
      format.RangesOf(catalog, 0);
    }
    if (catalog.Patches.size() * catalog.Variables.size() <= 1000) {
      const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
      BuildIndex(*alone, format, catalog, {});
    }
  }
  const ReadPatchDataResult result = ReadPatchData(
      series.Steps.front().Path, patches.data(), static_cast<int>(patches.size()), nullptr, 0, 1);
  if (result.Error == ReadError::Internal) {
    throw std::logic_error(result.Message);
  }
  if (result.Error != ReadError::None || patches.empty()) {
    throw Error(result.Message + " No patch was read.");
  }
}

void Open(const std::string& path)
{
  MayRefuse([&] { OpenSteps(path); });
}

/// Replaces a valid file by the bytes and opens the data set. Both paths are relative to the folder.
void OpenWith(const std::string& file, const std::string& opened, std::string_view bytes)
{
  testing::WriteText(SoundFolder() + "/" + file, std::string(bytes));
  Open(SoundFolder() + "/" + opened);
}

const std::string Dump = "samrai/visit_dump.00000/";

std::string FirstStepFile()
{
  for (const fs::directory_entry& entry : fs::directory_iterator(SoundFolder() + "/a.pio")) {
    if (entry.path().filename() != "index" && entry.is_regular_file()) {
      return entry.path().string();
    }
  }
  throw std::logic_error("the container has no step");
}

std::vector<std::string> SoundFile(const std::string& file)
{
  return {testing::ReadBytes(SoundFolder() + "/" + file)};
}

/// Returns the record of the container's step.
std::vector<std::string> SoundRecord()
{
  return {container::ReadLog(SoundFolder() + "/a.pio")->Steps.at(0).Bytes};
}

/// Runs a record in a log with right checksums, because nearly all inputs would be rejected otherwise.
void RunRecord(std::string_view bytes)
{
  std::string log = container::RecordLog::Frame(container::EncodeLogHead(), 0);
  log += container::RecordLog::Frame(bytes, log.size());
  OpenWith("a.pio/index", "a.pio", log);
}

void RunLog(std::string_view bytes)
{
  const std::vector<std::string> records = container::ReadRecords(bytes).Records;
  for (std::size_t r = 1; r < records.size(); ++r) {  // the first record describes the log itself
    const std::string& record = records[r];
    MayRefuse([&] {
      container::DecodeStepHead(record);
      container::Decode(record);
    });
  }
}

std::vector<std::string> Hdf5Files()
{
  std::vector<std::string> files{testing::ReadBytes(FirstStepFile()),
      testing::ReadBytes(SoundFolder() + "/" + Dump + "summary.samrai"),
      testing::ReadBytes(SoundFolder() + "/" + Dump + "processor_cluster.00000.samrai")};
  for (const char* const name : {"kwave.h5", "types.h5", "new_types.h5", "new_chunks.h5"}) {
    files.push_back(testing::ReadBytes(SoundFolder() + "/" + name));
  }
  return files;
}

/// Aborts if a place is outside the file: its reader may be another one than that of the metadata.
void RequireInside(const hdf5::File& file, std::uint64_t offset, std::uint64_t bytes)
{
  if (offset > file.SizeOfFile() || bytes > file.SizeOfFile() - offset) {
    std::abort();
  }
}

/// Reads the values of a data set.
void ReadValues(const hdf5::File& file, const std::string& object)
{
  const hdf5::Dataset info = file.Describe(object);
  if (info.Layout == hdf5::StorageLayout::Contiguous) {
    RequireInside(file, info.Offset, info.Values * info.ElementBytes);
  } else if (info.Layout == hdf5::StorageLayout::Chunked) {
    const hdf5::FoundDataset found = file.Find(object);
    for (const Chunk& chunk : found.Chunks) {
      RequireInside(file, chunk.Bytes > 0 ? chunk.Offset : 0, chunk.Bytes);
    }
  }
  if (info.Class == hdf5::TypeClass::Text) {
    file.Strings(object, -1);
  } else if (info.Class != hdf5::TypeClass::Compound) {
    file.Doubles(object, -1);
  } else if (info.Values < 1000) {
    std::vector<std::array<std::int32_t, 4>> records(info.Values);
    file.Records(object, info.Values,
        {{"level_number", ElementType::Int32, 1, 0}, {"lower", ElementType::Int32, 3, 4}}, sizeof records[0],
        records.data());
  }
}

/// Reads all information about an object, and about the objects below it.
void VisitHdf5(const hdf5::File& file, const std::string& path, int& left)
{
  std::vector<std::string> names;
  MayRefuse([&] { names = file.Names(path); });
  for (const std::string& name : names) {
    if (--left < 0) {
      return;
    }
    const std::string object = path + (path == "/" ? "" : "/") + name;
    const std::string before = refusal;  // a record may lack the requested members
    MayRefuse([&] { file.Text(object, "Type"); });
    MayRefuse([&] { file.Numbers(object, "Origin"); });
    bool isGroup = false;
    MayRefuse([&] { isGroup = file.IsGroup(object); });
    if (isGroup) {
      VisitHdf5(file, object, left);
    } else {
      MayRefuse([&] { ReadValues(file, object); });
    }
    refusal = before;
  }
}

/// Runs without comparing checksums, which would reject nearly all inputs in the new style. Small files are
/// read at once, so the bytes are also the begin of a large file, which is read in windows.
void RunHdf5(std::string_view bytes)
{
  ::setenv("PATCHIO_HDF5_CHECKSUMS", "ignore", 1);
  ::setenv("PATCHIO_HDF5", "strict", 1);
  for (const std::size_t more : {std::size_t(0), std::size_t(300000)}) {
    MayRefuse([&] {
      const std::size_t size = bytes.size() + more;
      const auto read = [bytes, size](std::uint64_t offset, void* into, std::size_t count) {
        if (offset > size || count > size - offset) {
          std::abort();  // a read outside the file is a fault
        }
        std::memset(into, 0, count);
        if (offset < bytes.size()) {
          std::memcpy(into, bytes.data() + offset, std::min<std::size_t>(count, bytes.size() - offset));
        }
      };
      const hdf5::File file("any.h5", read, size);
      int left = 60;
      VisitHdf5(file, "/", left);
    });
  }
}

template <typename T>
std::vector<std::byte> BytesOf(const T& bytes)
{
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// Returns the parts of an index file, without checking their checksums.
std::vector<std::vector<std::byte>> PartsOf(std::string_view bytes)
{
  std::vector<std::vector<std::byte>> parts;
  constexpr std::size_t headBytes = 64, entryBytes = 24;
  for (std::size_t at = headBytes; at + entryBytes <= bytes.size() && parts.size() < 3; at += entryBytes) {
    std::uint64_t entry[2];
    std::memcpy(entry, bytes.data() + at, sizeof entry);
    const std::uint64_t begin = std::min<std::uint64_t>(entry[1], bytes.size());
    parts.push_back(BytesOf(bytes.substr(begin, std::min<std::uint64_t>(entry[0], bytes.size() - begin))));
  }
  parts.resize(3);
  return parts;
}

void RunIndexFile(std::string_view bytes)
{
  const std::string path = SoundFolder() + "/sidecar";
  testing::WriteText(path, std::string(bytes));
  MayRefuse([&] { IndexFileHead::Read(*OpenIndexFile(path)); });
  const auto parts = PartsOf(bytes);
  MayRefuse([&] { DecodeHead(parts[0]); });
  MayRefuse([&] {
    const StepDescription step = DecodeDescription(parts[1], "/data/summary.samrai");
    const auto shard = std::make_shared<std::vector<std::uint64_t>>(parts[2].size() / 8 + 1);
    auto* const data = reinterpret_cast<std::byte*>(shard->data());
    std::copy(parts[2].begin(), parts[2].end(), data);
    const LocationIndex index(step.Data, step.Files, {{data, parts[2].size()}}, shard);
    std::vector<std::uint64_t> sizes;
    for (const Fingerprint& print : step.Prints) {
      sizes.push_back(print.Size);
    }
    index.Check(step.Data, sizes);
    std::vector<PatchVariable> requests;
    for (const int patch : SmallPatches(step.Data)) {
      for (std::size_t v = 0; v < step.Data.Variables.size(); ++v) {
        requests.push_back({patch, static_cast<int>(v)});
      }
    }
    index.Find(step.Data, requests);
  });
}

std::vector<std::string> IndexFiles()
{
  std::vector<std::string> files;
  for (const std::string& path : {Dump + "summary.samrai", std::string("kwave.h5")}) {
    const std::string whole = SoundFolder() + "/" + path;
    const Format& format = FormatOf(whole);
    const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
    IndexSettings settings;
    settings.SettleSeconds = -10;
    const DescribingState state = StateOfDescribingFile(whole);
    const Catalog catalog = format.ReadCatalog(whole);
    auto built = BuildIndex(*alone, format, catalog, settings);
    const SaveOutcome saved = SaveStepIndexFile(*alone, format, catalog, *built, state, settings);
    if (saved.Path.empty()) {
      throw std::logic_error("no index file was saved: " + saved.Reason);
    }
    files.push_back(testing::ReadBytes(saved.Path));
    fs::remove(saved.Path);
  }
  return files;
}

/// Runs the index file of a series, with right checksums for its part.
void RunSeriesIndexFile(std::string_view bytes)
{
  const std::vector<std::byte> part = BytesOf(bytes);
  const IndexFileHead head(
      {{part.size(), 0, Checksum(part.data(), part.size())}, {0, 0, Checksum(nullptr, 0)}});
  const std::vector<std::byte> begin = head.Encode(true);
  std::string file(head.FileBytes(), '\0');
  std::memcpy(file.data(), begin.data(), begin.size());
  bytes.copy(file.data() + head.Parts()[0].Offset, bytes.size());
  const std::string series = SoundFolder() + "/samrai/dumps.visit";
  testing::WriteText(IndexFilePathsFor(series).front().Path, file);
  SeriesIndexFile indexFile(series, IndexMode::ReadOnly);
  refusal = indexFile.Warning();
  indexFile.HeadOf(SoundFolder() + "/" + Dump + "summary.samrai");
}

/// Returns parts like those of SeriesIndexFile.cxx: a string for each entry, and some numbers.
std::vector<std::string> SeriesParts()
{
  SeriesIndexFile indexFile(SoundFolder() + "/samrai/dumps.visit", IndexMode::On);
  const std::string step = SoundFolder() + "/" + Dump + "summary.samrai";
  indexFile.HeadOf(step);
  Series series;
  series.Steps.push_back({step, 0.5, 3});
  indexFile.Save(series, -10);
  const std::string path = SoundFolder() + "/samrai/.dumps.visit.patchio";
  const auto file = OpenIndexFile(path);
  const std::vector<std::byte> part = IndexFileHead::Read(*file).ReadPart(*file, 0);
  return {{reinterpret_cast<const char*>(part.data()), part.size()}};
}

void RunFab(std::string_view bytes)
{
  amrex::FabHeader header;
  bool taken = false;
  for (const int dimension : {1, 2, 3}) {
    taken = amrex::ParseFabHeader(bytes, dimension, header) || taken;
  }
  refusal = taken ? "" : "no header";
}

const char* const ProfileSeed =
    R"({"mount":"/scratch","best_concurrency":8,"threads_of_ranks":{"1":8,"4":2},"source":"measured","latency_seconds":0.001,
"samples":[{"in_flight":1,"bytes_per_second":[1e8,1.1e8]},{"in_flight":8,"bytes_per_second":[4e8]}],"notes":["a"]})";

const char* const ConfigSeed =
    R"({"mode":"thread","memory":"512 MB","threads":2,"channels":[{"path":"a.pio","variables":["u"],"compress":"zstd"},
{"path":"a.ctl","format":"grads","start":"00:00Z01jan2000","interval":"6hr"},
{"path":"s.h5","format":"kwave","points":[1,2,3],"windows":[{"first":0,"last":9,"every":3}],"flush after":3},
{"path":"t.h5","format":"kwave","windows":[{"last":9}],"cuboids":[{"lower":[0,0,0],"upper":[1,1,1]}]}]})";

}  // namespace

const std::vector<Target>& AllTargets()
{
  using Bytes = std::string_view;
  using Inputs = std::vector<std::string>;
  static const std::vector<Target> targets{
      {"samrai-index", [](Bytes b) { OpenWith("samrai/dumps.visit", "samrai/dumps.visit", b); },
          [] { return SoundFile("samrai/dumps.visit"); }},
      {"samrai-summary", [](Bytes b) { OpenWith(Dump + "summary.samrai", "samrai/dumps.visit", b); },
          [] { return SoundFile(Dump + "summary.samrai"); }},
      {"samrai-cluster",
          [](Bytes b) { OpenWith(Dump + "processor_cluster.00000.samrai", Dump + "summary.samrai", b); },
          [] { return SoundFile(Dump + "processor_cluster.00000.samrai"); }},
      {"hdf5", RunHdf5, Hdf5Files},
      {"amrex-header", [](Bytes b) { OpenWith("plt00012/Header", "plt00012", b); },
          [] { return SoundFile("plt00012/Header"); }},
      {"amrex-cells", [](Bytes b) { OpenWith("plt00012/Level_0/Cell_H", "plt00012", b); },
          [] { return SoundFile("plt00012/Level_0/Cell_H"); }},
      {"amrex-data", [](Bytes b) { OpenWith("plt00012/Level_0/Cell_D_00000", "plt00012", b); },
          [] { return SoundFile("plt00012/Level_0/Cell_D_00000"); }},
      {"amrex-fab", RunFab, [] { return SoundFile("plt00012/Level_0/Cell_D_00000"); }},
      {"kwave", [](Bytes b) { OpenWith("kwave.h5", "kwave.h5", b); }, [] { return SoundFile("kwave.h5"); }},
      {"grads", [](Bytes b) { OpenWith("grads/a.ctl", "grads/a.ctl", b); }, [] { return Inputs{GradsText}; }},
      {"grads-descriptor",
          [](Bytes b) { MayRefuse([&] { grads::ParseDescriptor("/data/a.ctl", std::string(b)); }); },
          [] { return Inputs{GradsText}; }},
      {"vtkhdf", [](Bytes b) { OpenWith("any.vtkhdf", "any.vtkhdf", b); },
          [] { return Inputs{testing::ReadBytes(FirstStepFile())}; }},
      {"container-log", RunLog, [] { return SoundFile("a.pio/index"); }},
      {"container-record", RunRecord, SoundRecord},
      {"container-step",
          [](Bytes b) {
            static const std::string step = FirstStepFile();
            testing::WriteText(step, std::string(b));
            Open(SoundFolder() + "/a.pio");
          },
          [] { return Inputs{testing::ReadBytes(FirstStepFile())}; }},
      {"sidecar", RunIndexFile, IndexFiles}, {"series-sidecar", RunSeriesIndexFile, SeriesParts},
      {"profile", [](Bytes b) { MayRefuse([&] { ParseProfiles(std::string(b), "/etc/a.json"); }); },
          [] { return Inputs{ProfileSeed}; }},
      {"output-config",
          [](Bytes b) {
            // Without the brace, the text would be the name of a file.
            MayRefuse([&] {
              output::ReadOutputConfig("{" + std::string(b.substr(std::min<std::size_t>(1, b.size()))));
            });
          },
          [] { return Inputs{ConfigSeed}; }}};
  return targets;
}

const std::string& Refusal()
{
  return refusal;
}

void RunTarget(const Target& target, std::string_view bytes)
{
  refusal.clear();
  target.Run(bytes);
}

const Target* FindTarget(std::string_view name)
{
  for (const Target& target : AllTargets()) {
    if (name == target.Name) {
      return &target;
    }
  }
  return nullptr;
}

}  // namespace patchio::fuzz
