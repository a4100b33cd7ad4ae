#include "Targets.h"

#include "Container/ContainerLog.h"
#include "Container/RecordLog.h"
#include "Container/StepRecord.h"
#include "Formats/AMReX/AmrexFab.h"
#include "Formats/Format.h"
#include "Formats/GRADS/GradsDescriptor.h"
#include "Hdf5Index/IndexReader.h"
#include "MetadataChannel/GroupedFile.h"
#include "MetadataChannel/SeriesSidecar.h"
#include "MetadataChannel/StepIndex.h"
#include "MetadataChannel/StepParts.h"
#include "MetadataChannel/StepSidecar.h"
#include "Output/OutputConfig.h"
#include "Session/ReadPatchData.h"
#include "SoundFiles.h"
#include "Storage/StorageProfile.h"
#include "Support/Checksum.h"
#include "Support/Error.h"
#include "Support/Hdf5.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace fs = std::filesystem;

namespace patchio::fuzz {
namespace {

constexpr std::size_t MostPatches = 64;      // that are read
constexpr std::int64_t MostValues = 100000;  // of all of them together

/// Patches with few values, as a hostile catalog may have patches of any size.
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

/// All that a reader does with a path.
void Open(const std::string& path)
{
  try {
    const Format& format = FormatOf(path);
    const Series series = format.OpenSeries(path, {});
    for (std::size_t s = 0; s < std::min<std::size_t>(series.Steps.size(), 2); ++s) {
      const Catalog catalog = format.ReadStep(series.Steps[s]);
      for (std::size_t v = 0; v < std::min<std::size_t>(catalog.Variables.size(), 4); ++v) {
        format.RangesOf(catalog, static_cast<int>(v));
      }
      if (catalog.Patches.size() * catalog.Variables.size() <= 1000) {
        const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
        const auto built = BuildIndex(*alone, format, catalog, {});
      }
    }
    const std::string& step = series.Steps.front().Path;
    const std::vector<int> patches = SmallPatches(format.ReadStep(series.Steps.front()));
    const ReadPatchDataResult result =
        ReadPatchData(step, patches.data(), static_cast<int>(patches.size()), nullptr, 0, 1);
    if (result.Error == ReadError::Internal) {
      throw std::logic_error(result.Message);
    }
  } catch (const Error&) {
  }
}

/// Puts the bytes in the place of a sound file and opens the data set; both from the folder on.
void OpenWith(const std::string& file, const std::string& opened, std::string_view bytes)
{
  WriteWhole(SoundFolder() + "/" + file, bytes);
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
  return {ReadWhole(SoundFolder() + "/" + file)};
}

/// The record of the container's step.
std::vector<std::string> SoundRecord()
{
  return {container::ReadLog(SoundFolder() + "/a.pio")->Steps.at(0).Bytes};
}

/// A log with the right checksums around it: otherwise nearly no input would get there.
void RunRecord(std::string_view bytes)
{
  std::string log = container::RecordLog::Framed(container::EncodeLogHead(), 0);
  log += container::RecordLog::Framed(bytes, log.size());
  OpenWith("a.pio/index", "a.pio", log);
}

void RunLog(std::string_view bytes)
{
  for (const std::string& record : container::ReadRecords(bytes).Records) {
    try {
      container::HeadOf(record);
      container::Decode(record);
    } catch (const Error&) {
    }
  }
}

/// A file in memory.
class MemoryFile : public Source::File
{
public:
  explicit MemoryFile(std::string_view content) : Content(content) {}
  using File::Read;
  void Read(std::uint64_t offset, const std::vector<iovec>& buffers) override
  {
    for (const iovec& buffer : buffers) {
      if (offset > this->Content.size() || buffer.iov_len > this->Content.size() - offset) {
        throw std::logic_error("a request outside the file");
      }
      std::memcpy(buffer.iov_base, this->Content.data() + offset, buffer.iov_len);
      offset += buffer.iov_len;
    }
  }

private:
  std::string_view Content;
};

/// Groups and data sets of the seeds of this target.
const std::vector<std::vector<std::string>> IndexPaths{{"p_final"}, {"p"}, {"Nx"}, {"BASIC_INFO", "time"},
    {"extents", "patch_map"}, {"processor.00000", "level.00000", "patch.00000", "density"},
    {"VTKHDF", "Level0", "PointData", "packed"}, {"VTKHDF", "Level0", "CellData", "plain"}};

void FindByIndex(hdf5index::IndexReader& reader, const std::vector<std::string>& path)
{
  std::uint64_t header = reader.Root();
  for (const std::string& name : path) {
    const auto next = reader.Find(reader.OpenGroup(header), name);
    if (!next) {
      return;
    }
    header = *next;
  }
  const hdf5index::Dataset dataset = reader.Describe(header);
  const std::uint64_t chunks =
      dataset.Layout == hdf5index::StorageLayout::Chunked ? hdf5index::ChunksOf(dataset) : 0;
  if (chunks > 0 && chunks <= hdf5index::MostChunks(reader.FileBytes())) {
    std::vector<Chunk> list(chunks);
    reader.ListChunks(dataset, list.data());
  }
}

void RunIndexReader(std::string_view bytes)
{
  static hdf5index::IndexReader reader;
  try {
    reader.Open(std::make_shared<MemoryFile>(bytes), bytes.size());
    for (const std::vector<std::string>& path : IndexPaths) {
      try {
        FindByIndex(reader, path);
      } catch (const hdf5index::Unfamiliar&) {
      }
    }
  } catch (const hdf5index::Unfamiliar&) {
  }
}

std::vector<std::string> Hdf5Files()
{
  return {ReadWhole(SoundFolder() + "/kwave.h5"), ReadWhole(FirstStepFile()),
      ReadWhole(SoundFolder() + "/" + Dump + "summary.samrai"),
      ReadWhole(SoundFolder() + "/" + Dump + "processor_cluster.00000.samrai")};
}

/// All that the HDF5 library is asked about an object, and about those below it.
void VisitHdf5(const hdf5::File& file, const std::string& path, int& left)
{
  for (const std::string& name : hdf5::LinkNames(file, path)) {
    if (--left < 0) {
      return;
    }
    const std::string object = path + (path == "/" ? "" : "/") + name;
    const hdf5::Handle group = file.OpenGroup(file.Id(), object);
    const hdf5::Handle dataset = file.OpenDataset(file.Id(), object);
    for (const hid_t id : {hid_t(group), hid_t(dataset)}) {
      for (const char* attribute : {"Type", "created_by", "Version", "Origin"}) {
        hdf5::TextAttribute(id, attribute);
        hdf5::NumbersAttribute(id, attribute);
      }
    }
    for (const auto read : {+[](const hdf5::File&f, const std::string&o) { f.Doubles(o, -1); },
             +[](const hdf5::File&f, const std::string&o) { f.Strings(o, -1); }}) {
      try {
        read(file, object);
      } catch (const Error&) {
      }
    }
    VisitHdf5(file, object, left);
  }
}

void RunLibrary(std::string_view bytes)
{
  const std::string path = SoundFolder() + "/any.h5";
  WriteWhole(path, bytes);
  try {
    const hdf5::File file(path);
    int left = 200;
    VisitHdf5(file, "/", left);
  } catch (const Error&) {
  }
}

template <typename T>
std::vector<std::byte> BytesOf(const T& bytes)
{
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

/// The parts of a sidecar, whatever their checksums are.
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

void RunSidecar(std::string_view bytes)
{
  const std::string path = SoundFolder() + "/sidecar";
  WriteWhole(path, bytes);
  try {
    const auto file = OpenGrouped(path);
    GroupedHead::Read(*file);
  } catch (const Error&) {
  }
  const auto parts = PartsOf(bytes);
  try {
    DecodeHead(parts[0]);
  } catch (const Error&) {
  }
  try {
    const StepDescription step = DecodeDescription(parts[1], "/data/summary.samrai");
    const auto shard = std::make_shared<std::vector<std::uint64_t>>(parts[2].size() / 8 + 1);
    std::memcpy(shard->data(), parts[2].data(), parts[2].size());
    const auto* const data = reinterpret_cast<const std::byte*>(shard->data());
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
  } catch (const Error&) {
  }
}

std::vector<std::string> Sidecars()
{
  std::vector<std::string> files;
  for (const std::string& path : {Dump + "summary.samrai", std::string("kwave.h5")}) {
    const std::string whole = SoundFolder() + "/" + path;
    const Format& format = FormatOf(whole);
    const std::unique_ptr<Communicator> alone = MakeSelfCommunicator();
    ChannelSettings settings;
    settings.SettleSeconds = -10;
    const DescribingState state = LookAtDescribingFile(whole);
    const Catalog catalog = format.ReadCatalog(whole);
    auto built = BuildIndex(*alone, format, catalog, settings);
    const SaveOutcome saved = SaveStepSidecar(*alone, format, catalog, *built, state, settings);
    if (saved.Path.empty()) {
      throw std::logic_error("no sidecar was saved: " + saved.WhyNot);
    }
    files.push_back(ReadWhole(saved.Path));
    fs::remove(saved.Path);
  }
  return files;
}

/// The sidecar of a series, with the right checksums around its part.
void RunSeriesSidecar(std::string_view bytes)
{
  const std::vector<std::byte> part = BytesOf(bytes);
  const GroupedHead head(
      {{part.size(), 0, Checksum(part.data(), part.size())}, {0, 0, Checksum(nullptr, 0)}});
  const std::vector<std::byte> begin = head.Encode(true);
  std::string file(head.FileBytes(), '\0');
  std::memcpy(file.data(), begin.data(), begin.size());
  std::memcpy(file.data() + head.Parts()[0].Offset, part.data(), part.size());
  const std::string series = SoundFolder() + "/samrai/dumps.visit";
  WriteWhole(series + ".patchio", file);
  SeriesSidecar(series, ChannelMode::ReadOnly).Known(SoundFolder() + "/" + Dump + "summary.samrai");
}

/// As SeriesSidecar.cxx has it; what that gets is a string for each entry and some numbers.
std::vector<std::string> SeriesParts()
{
  SeriesSidecar sidecar(SoundFolder() + "/samrai/dumps.visit", ChannelMode::On);
  const std::string step = SoundFolder() + "/" + Dump + "summary.samrai";
  sidecar.Known(step);
  Series series;
  series.Steps.push_back({step, 0.5, 3});
  sidecar.Save(series, -10);
  const std::string path = SoundFolder() + "/samrai/dumps.visit.patchio";
  const auto file = OpenGrouped(path);
  const std::vector<std::byte> part = GroupedHead::Read(*file).ReadPart(*file, 0);
  return {{reinterpret_cast<const char*>(part.data()), part.size()}};
}

template <typename Work>
void Pure(Work work)
{
  try {
    work();
  } catch (const Error&) {
  }
}

void RunFab(std::string_view bytes)
{
  amrex::FabHeader header;
  for (const int dimension : {1, 2, 3}) {
    amrex::ParseFabHeader(bytes, dimension, header);
  }
}

const char* const ProfileSeed =
    R"({"mount":"/scratch","concurrency":8,"samples":[{"in flight":1,"rate":1e8},{"in flight":8,"rate":4e8}]})";

const char* const ConfigSeed =
    R"({"mode":"thread","memory":"512 MB","channels":[{"path":"a.pio","variables":["u"],"windows":[{"first":0,"every":5}]},
{"path":"a.ctl","format":"grads","start":"00:00Z01jan2000","interval":"6hr"},
{"path":"s.h5","format":"kwave","sensor":{"points":[[1,2,3]]},"memory":"1 MB"}]})";

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
      {"hdf5-index", RunIndexReader, Hdf5Files}, {"hdf5-library", RunLibrary, Hdf5Files},
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
          [](Bytes b) { Pure([&] { grads::ParseDescriptor("/data/a.ctl", std::string(b)); }); },
          [] { return Inputs{GradsText}; }},
      {"vtkhdf", [](Bytes b) { OpenWith("any.vtkhdf", "any.vtkhdf", b); },
          [] { return Inputs{ReadWhole(FirstStepFile())}; }},
      {"container-log", RunLog, [] { return SoundFile("a.pio/index"); }},
      {"container-record", RunRecord, SoundRecord},
      {"container-step",
          [](Bytes b) {
            static const std::string step = FirstStepFile();
            WriteWhole(step, b);
            Open(SoundFolder() + "/a.pio");
          },
          [] { return Inputs{ReadWhole(FirstStepFile())}; }},
      {"sidecar", RunSidecar, Sidecars}, {"series-sidecar", RunSeriesSidecar, SeriesParts},
      {"profile", [](Bytes b) { Pure([&] { ProfilesOfText(std::string(b), "/etc/a.json"); }); },
          [] { return Inputs{ProfileSeed}; }},
      {"output-config",
          [](Bytes b) {
            // Without the brace it would be the name of a file.
            Pure([&] {
              output::ReadOutputConfig("{" + std::string(b.substr(std::min<std::size_t>(1, b.size()))));
            });
          },
          [] { return Inputs{ConfigSeed}; }}};
  return targets;
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
