// Measures the costs of many patches for one rank, without data: invents a time step, saves its index file,
// and times opening, and merging patches into blocks. Prints one JSON object.
#include "Driver.h"
#include "MadeUpStep.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Formats/SAMRAI/SamraiFormat.h"
#include "Plan/Blocks.h"
#include "Plan/Partition.h"
#include "Store/StepIndexFile.h"

#include <malloc.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>

namespace patchio::bench {
namespace {

namespace fs = std::filesystem;

struct Options
{
  std::string Folder;
  int Patches = 1000;
};

constexpr int Variables = 8;
constexpr int Side = 16;  ///< cells of a patch per axis
constexpr std::uint64_t ArrayBytes = Side * Side * Side * sizeof(float);

/// A format of an invented step. It has the name of an existing format, because PatchIO rejects index files
/// of unknown formats.
class MadeUpFormat : public samrai::SamraiFormat
{
public:
  explicit MadeUpFormat(int patches) : Patches(patches) {}

  Catalog ReadCatalog(const std::string& path) const override
  {
    Catalog catalog = CubeOfPatches(this->Patches, Side, Variables);
    catalog.Path = path;
    return catalog;
  }

  LocationTable Locate(
      const Catalog& catalog, const std::vector<PatchVariable>& requests, const LocateOptions&) const override
  {
    return LocationsOf(catalog, requests, ArrayBytes);
  }

private:
  const int Patches;
};

/// Makes files of the right size that take no space on the disk.
void MakeFiles(const std::string& path, const Catalog& catalog)
{
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "made up\n";
  for (int f = 0; f <= catalog.Patches.back().File; ++f) {
    const std::string file = FileOfCube(catalog, f);
    std::ofstream(file).close();
    fs::resize_file(file, std::uint64_t(PatchesOfFile) * Variables * ArrayBytes);
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

/// Makes the files and the index file of a step.
void Make(const std::string& path, int patches, Communicator& ranks)
{
  const MadeUpFormat format(patches);
  const Catalog catalog = format.ReadCatalog(path);
  MakeFiles(path, catalog);
  const DescribingState describing = StateOfDescribingFile(path);
  IndexSettings settings;
  settings.SettleSeconds = 0;  // no other program writes these files
  BuiltIndex built = *BuildIndex(ranks, format, catalog, settings);
  const SaveOutcome outcome = SaveStepIndexFile(ranks, format, catalog, built, describing, settings);
  if (outcome.Path.empty()) {
    throw Error("The index file of " + path + " was not saved: " + outcome.Reason + ".");
  }
}

/// Returns the seconds of each rank to merge patches into blocks and to divide these among four pieces.
double MergeSeconds(const Catalog& catalog)
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
  const double seconds = watch.Seconds();
  if (parts.size() != blocks.size() || blocks.empty()) {
    throw Error("The blocks are incomplete.");
  }
  return seconds;
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
Catalog RaggedShell(int patches)
{
  const int side = std::max(1, static_cast<int>(std::cbrt(patches / 4)));
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
  const std::size_t wanted = std::min<std::size_t>(tiles.size(), std::size_t(patches) * 3 / 8);
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

nlohmann::json Measure(const std::string& path, Communicator& ranks)
{
  const std::uint64_t before = MemoryInUse();
  const Stopwatch watch;
  const IndexFileSearch search = FindStepIndexFile(ranks, path, {});
  const double open = watch.Seconds();
  const std::uint64_t memory = MemoryInUse() - before;
  if (!search.Found) {
    throw Error("The index file of " + path + " was not found sound: " + search.Rejected.at(0).Message);
  }
  const Catalog& catalog = search.Found->Data;

  const double merge = MergeSeconds(catalog);
  const double mergeRagged = MergeSeconds(RaggedShell(static_cast<int>(catalog.Patches.size())));
  return {{"open", open}, {"merge", merge}, {"merge_ragged", mergeRagged},
      {"bytes_per_entry", memory / (double(catalog.Patches.size()) * Variables)}};
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  const auto options = std::make_shared<Options>();
  program.description("What many patches cost one rank");
  program.add_option("FOLDER", options->Folder, "for files of the right size without content")->required();
  program.add_option("--patches", options->Patches)->check(CLI::Range(1, 100'000'000));
  return [options] {
    const std::string path = options->Folder + "/step.samrai";
    const auto alone = MakeSelfCommunicator();
    if (!fs::exists(options->Folder + "/.step.samrai.patchio")) {
      Make(path, options->Patches, *alone);
    }
    return Measure(path, *alone);
  };
}

}  // namespace patchio::bench
