// Measures the costs of many patches for one rank, without data: invents a time step, saves its index file,
// and times opening, partitioning, locating, planning and merging patches into blocks. Prints one JSON
// object.
#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Plan/Blocks.h"
#include "Plan/Partition.h"
#include "Plan/ReadPlan.h"
#include "Store/StepIndexFile.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <malloc.h>
#include <sys/time.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

namespace fs = std::filesystem;

namespace {

using namespace patchio;

struct Options
{
  std::string Folder;
  int Patches = 1000;
  int Variables = 8;
  int Ranks = 8;
};

constexpr int Side = 16;  ///< cells of a patch per axis
constexpr std::uint64_t ArrayBytes = Side * Side * Side * sizeof(float);
constexpr int PatchesOfFile = 20000;

/// A format of an invented step: the arrays of a patch follow each other, and so do the patches of a file. It
/// has the name of an existing format, because PatchIO rejects index files of unknown formats.
class MadeUpFormat : public samrai::SamraiFormat
{
public:
  explicit MadeUpFormat(const Options& options) : Size(options) {}

  std::string PathOf(int file) const { return this->Size.Folder + "/data." + std::to_string(file); }

  Catalog ReadCatalog(const std::string& path) const override
  {
    const int side = static_cast<int>(std::ceil(std::cbrt(this->Size.Patches) - 1e-9));
    Catalog catalog;
    catalog.Path = path;
    Level level;
    level.PatchCount = this->Size.Patches;
    catalog.Levels.push_back(level);
    catalog.Patches.resize(this->Size.Patches);
    for (int p = 0; p < this->Size.Patches; ++p) {
      Patch& patch = catalog.Patches[p];
      const int position[3] = {p % side, p / side % side, p / side / side};
      for (int axis = 0; axis < 3; ++axis) {
        patch.Cells.Lower[axis] = position[axis] * Side;
        patch.Cells.Upper[axis] = patch.Cells.Lower[axis] + Side - 1;
      }
      patch.Number = p;
      patch.File = p / PatchesOfFile;
    }
    for (int v = 0; v < this->Size.Variables; ++v) {
      Variable variable;
      variable.Name = "v" + std::to_string(v);
      catalog.Variables.push_back(variable);
    }
    catalog.ResetPresence();
    for (int v = 0; v < this->Size.Variables; ++v) {
      for (int p = 0; p < this->Size.Patches; ++p) {
        catalog.SetPresence(v, p, Presence::Stored);
      }
    }
    return catalog;
  }

  LocationTable Locate(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions&) const override
  {
    LocationTable table;
    for (int f = 0; f <= catalog.Patches.back().File; ++f) {
      table.Files.push_back(this->PathOf(f));
    }
    for (const PatchVariable& request : requests) {
      const int file = catalog.Patches[request.Patch].File;
      const std::uint64_t array =
          std::uint64_t(request.Patch % PatchesOfFile) * this->Size.Variables + request.Variable;
      table.Locations.push_back(
          {Encoding::Raw, static_cast<std::uint32_t>(table.ByteRanges.size()), 1, 0, 0});
      table.ByteRanges.push_back({array * ArrayBytes, ArrayBytes, file, ElementType::Float32, true});
    }
    return table;
  }

private:
  const Options& Size;
};

/// Makes files of the right size that take no space on the disk.
void MakeFiles(const Options& options, const MadeUpFormat& format, const std::string& path)
{
  fs::create_directories(options.Folder);
  std::ofstream(path) << "made up\n";
  const int files = (options.Patches - 1) / PatchesOfFile + 1;
  for (int f = 0; f < files; ++f) {
    std::ofstream(format.PathOf(f));
    fs::resize_file(format.PathOf(f), std::uint64_t(PatchesOfFile) * options.Variables * ArrayBytes);
  }
}

std::uint64_t MemoryInUse()
{
  ::malloc_trim(0);
  std::ifstream file("/proc/self/statm");
  std::uint64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void Save(const Options& options, const MadeUpFormat& format, const std::string& path, Communicator& ranks)
{
  const DescribingState describing = StateOfDescribingFile(path);
  const Catalog catalog = format.ReadCatalog(path);
  IndexSettings settings;
  settings.SettleSeconds = 0;  // no other program writes these files
  BuiltIndex built = *BuildIndex(ranks, format, catalog, settings);
  const SaveOutcome outcome = SaveStepIndexFile(ranks, format, catalog, built, describing, settings);
  if (outcome.Path.empty()) {
    throw Error("The index file in " + options.Folder + " was not saved: " + outcome.Reason + ".");
  }
}

struct MergeCost
{
  double Seconds = 0;
  std::size_t Blocks = 0;
};

/// Measures the work of each rank to merge patches into blocks and to divide these among four pieces.
MergeCost MeasureMerging(const Catalog& catalog)
{
  constexpr int pieces = 4, blocksOfPiece = 4;
  std::vector<int> variables(catalog.Variables.size());
  std::iota(variables.begin(), variables.end(), 0);
  const Stopwatch watch;
  const std::vector<bool> shown(catalog.Patches.size(), true);
  const std::vector<int> kinds = PatchTypes(catalog, variables);
  const Nesting nesting(catalog, shown);
  std::int64_t cells = 0;
  for (const Patch& patch : catalog.Patches) {
    cells += patch.Cells.CellCount();
  }
  BlockOptions options;
  options.Merge = true;
  options.Cover.MostCells = std::min(options.Cover.MostCells, cells / (pieces * blocksOfPiece) + 1);
  const std::vector<int> preferred = PreferredRanks(catalog, pieces);
  const std::vector<Block> blocks =
      MakeBlocks(catalog, shown, TypesByPreferredRank(kinds, preferred), nesting, true, options);
  std::vector<std::int64_t> weights;
  for (const Block& block : blocks) {
    weights.push_back(block.Cells.CellCount());
  }
  const std::vector<int> parts = PartitionBlocks(blocks, preferred, weights, pieces);
  const MergeCost cost{watch.Seconds(), blocks.size()};
  if (parts.size() != blocks.size() || blocks.empty()) {
    throw Error("The blocks are incomplete.");
  }
  return cost;
}

void AppendPatch(Catalog& catalog, const Box& box)
{
  Patch patch;
  patch.Cells = box;
  patch.Level = static_cast<int>(catalog.Levels.size()) - 1;
  patch.Number = catalog.Levels.back().PatchCount++;
  catalog.Patches.push_back(patch);
}

/// Returns a catalog with a quarter of the patches on a full coarse level. The others, boxes of random sizes,
/// form a shell on the finer level.
Catalog RaggedShell(const Options& options)
{
  const int side = std::max(1, static_cast<int>(std::cbrt(options.Patches / 4)));
  Catalog catalog;
  catalog.Levels.emplace_back();
  struct Tile
  {
    double FromShell;
    Int3 At;
  };
  std::vector<Tile> tiles;
  for (int n = 0; n < 8 * side * side * side; ++n) {
    const Int3 at{n % (2 * side), n / (2 * side) % (2 * side), n / (4 * side * side)};
    if (at[0] % 2 == 0 && at[1] % 2 == 0 && at[2] % 2 == 0) {
      const Box box{{at[0] / 2 * Side, at[1] / 2 * Side, at[2] / 2 * Side}, {}};
      AppendPatch(
          catalog, {box.Lower, {box.Lower[0] + Side - 1, box.Lower[1] + Side - 1, box.Lower[2] + Side - 1}});
    }
    const double radius = std::hypot(at[0] + 0.5 - side, at[1] + 0.5 - side, at[2] + 0.5 - side);
    tiles.push_back({std::abs(radius - 0.7 * side), at});
  }
  Level fine;
  fine.FirstPatch = static_cast<int>(catalog.Patches.size());
  fine.Ratio = {2, 2, 2};
  catalog.Levels.push_back(fine);
  const std::size_t wanted = std::min<std::size_t>(tiles.size(), std::size_t(options.Patches) * 3 / 8);
  std::nth_element(tiles.begin(), tiles.begin() + wanted, tiles.end(),
      [](const Tile& a, const Tile& b) { return a.FromShell < b.FromShell; });
  std::mt19937 engine(1);
  for (std::size_t t = 0; t < wanted; ++t) {  // each tile is cut into two boxes at a random place
    Box box;
    for (int axis = 0; axis < 3; ++axis) {
      box.Lower[axis] = tiles[t].At[axis] * Side;
      box.Upper[axis] = box.Lower[axis] + Side - 1;
    }
    const int axis = static_cast<int>(engine() % 3);
    const int first = 4 * (1 + static_cast<int>(engine() % 3));
    Box lower = box;
    lower.Upper[axis] = box.Lower[axis] + first - 1;
    box.Lower[axis] += first;
    AppendPatch(catalog, lower);
    AppendPatch(catalog, box);
  }
  catalog.ResetPresence();
  return catalog;
}

nlohmann::json Measure(const Options& options, const std::string& path, Communicator& ranks)
{
  const std::uint64_t before = MemoryInUse();
  Stopwatch watch;
  const IndexFileSearch search = FindStepIndexFile(ranks, path, {});
  const double open = watch.Seconds();
  const std::uint64_t memory = MemoryInUse() - before;
  if (!search.Found) {
    throw Error("The index file of " + path + " was not found sound: " + search.Rejected.at(0).Message);
  }
  const Catalog& catalog = search.Found->Data;

  watch = Stopwatch();
  std::vector<int> all(catalog.Patches.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int64_t> weights(all.size(), Side * Side * Side);
  const std::vector<int> parts = PartitionPatches(catalog, all, weights, options.Ranks);
  const double partition = watch.Seconds();

  std::vector<PatchVariable> requests;
  for (const int patch : all) {
    for (int v = 0; v < options.Variables && parts[patch] == 0; ++v) {
      requests.push_back({patch, v});
    }
  }
  watch = Stopwatch();
  const LocationTable table = search.Found->Index.Index.Find(catalog, requests).Table;
  const double locate = watch.Seconds();
  watch = Stopwatch();
  const ReadPlan plan = PlanReads(table, {}, {}, 16);
  const double planning = watch.Seconds();
  if (plan.Tasks() != requests.size()) {
    throw Error("The plan is incomplete.");
  }
  const MergeCost regular = MeasureMerging(catalog);
  const MergeCost ragged = MeasureMerging(RaggedShell(options));
  const double entries = double(options.Patches) * options.Variables;
  return {{"open", open}, {"partition", partition}, {"locate", locate}, {"plan", planning},
      {"merge", regular.Seconds}, {"merge_ragged", ragged.Seconds}, {"blocks", regular.Blocks},
      {"blocks_ragged", ragged.Blocks}, {"bytes_per_entry", memory / entries},
      {"sidecar_bytes_per_entry", search.Found->Bytes / entries}};
}

int Run(int argc, char** argv)
{
  Options options;
  CLI::App program("What many patches cost one rank", "patchio_bench_scale");
  program.add_option("FOLDER", options.Folder, "for files of the right size without content")->required();
  program.add_option("--patches", options.Patches)->check(CLI::Range(1, 100'000'000));
  program.add_option("--variables", options.Variables)->check(CLI::Range(1, 1000));
  program.add_option("--ranks", options.Ranks, "the patches are divided over; one of them is measured")
      ->check(CLI::Range(1, 100'000));
  CLI11_PARSE(program, argc, argv);
  const MadeUpFormat format(options);
  const std::string path = options.Folder + "/step.samrai";
  const auto ranks = MakeSelfCommunicator();
  if (!fs::exists(options.Folder + "/.step.samrai.patchio")) {
    MakeFiles(options, format, path);
    Save(options, format, path, *ranks);
  }
  std::printf("%s\n", Measure(options, path, *ranks).dump().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio_bench_scale: %s\n", error.what());
    return 1;
  }
}
