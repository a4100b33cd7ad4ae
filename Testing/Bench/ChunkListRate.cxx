// Times the listing of chunks for each of the five kinds of chunk lists that HDF5 has since version 1.10: by
// PatchIO and by the HDF5 library, in turn. Prints a line of JSON with the seconds of each run, by kind of
// list.
#include "Driver.h"

#include "Base/Error.h"
#include "Base/Stopwatch.h"
#include "Hdf5/File.h"
#include "Hdf5/Library.h"

#include <filesystem>
#include <functional>
#include <map>

namespace patchio::bench {
namespace {

constexpr hsize_t ChunkCount = 250000;  ///< of each data set but the first
constexpr hsize_t ChunkValues = 16;

/// A data set: its number of chunks, the extents that it may have, and whether filters compress it.
struct Kind
{
  const char* Name;
  std::vector<hsize_t> Chunks, Most;  ///< 0: unlimited
  bool Filtered, Early;
};

const std::vector<Kind> Kinds{{"single", {1}, {1}, true, false},
    {"implicit", {ChunkCount}, {ChunkCount}, false, true},
    {"fixed array", {ChunkCount}, {ChunkCount}, true, false},
    {"extensible array", {ChunkCount}, {0}, true, false},
    {"tree", {ChunkCount / 100, 100}, {0, 0}, true, false}};

/// Writes chunks of equal bytes, because listing does not read the chunks.
void WriteChunks(hid_t dataset, const Kind& kind)
{
  const std::vector<float> values(ChunkValues, 1.5f);
  const hsize_t columns = kind.Chunks.size() > 1 ? kind.Chunks[1] : 1;
  for (hsize_t row = 0; row < kind.Chunks[0]; ++row) {
    for (hsize_t column = 0; column < columns; ++column) {
      const hsize_t begin[] = {row * ChunkValues, column};
      if (H5Dwrite_chunk(
              dataset, H5P_DEFAULT, kind.Filtered ? 1 : 0, begin, 4 * values.size(), values.data()) < 0) {
        throw Error("cannot write a chunk");
      }
    }
  }
}

void MakeDataset(hid_t file, const Kind& kind)
{
  std::vector<hsize_t> dims, most, chunk;
  for (std::size_t axis = 0; axis < kind.Chunks.size(); ++axis) {
    const hsize_t along = axis == 0 ? ChunkValues : 1;
    dims.push_back(kind.Chunks[axis] * along);
    most.push_back(kind.Most[axis] == 0 ? H5S_UNLIMITED : kind.Most[axis] * along);
    chunk.push_back(along);
  }
  const hdf5::Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), most.data()));
  const hdf5::Handle creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(creation, static_cast<int>(chunk.size()), chunk.data());
  if (kind.Filtered) {
    H5Pset_deflate(creation, 1);
  }
  if (kind.Early) {
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  }
  const hdf5::Handle dataset(
      H5Dcreate2(file, kind.Name, H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  WriteChunks(dataset, kind);
}

void MakeFile(const std::string& path)
{
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hdf5::Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
  for (const Kind& kind : Kinds) {
    MakeDataset(file, kind);
  }
}

#if H5_VERSION_GE(1, 14, 0)

int TakeChunk(const hsize_t*, unsigned skipped, haddr_t place, hsize_t bytes, void* data)
{
  static_cast<std::vector<Chunk>*>(data)->push_back({place, 0, static_cast<std::uint32_t>(bytes), skipped});
  return 0;
}

std::size_t Library(const std::string& path, const Kind& kind)
{
  std::vector<Chunk> chunks;
  const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  const hdf5::Handle dataset(H5Dopen2(file, kind.Name, H5P_DEFAULT));
  H5Dchunk_iter(dataset, H5P_DEFAULT, TakeChunk, &chunks);
  return chunks.size();
}

#else

/// Versions before 1.14 need a time proportional to the square of the number of chunks.
std::size_t Library(const std::string&, const Kind&)
{
  throw Error("HDF5 1.14 or later is needed");
}

#endif

std::size_t Ours(const std::string& path, const Kind& kind)
{
  return hdf5::File(path).Find(kind.Name).Chunks.size();
}

nlohmann::json Measure(const std::string& path, int rounds)
{
  const std::map<std::string, std::function<std::size_t(const std::string&, const Kind&)>> ways{
      {"library", Library}, {"ours", Ours}};
  if (!std::filesystem::exists(path)) {
    MakeFile(path);
  }
  nlohmann::json result;
  for (int round = 0; round < rounds; ++round) {
    for (const Kind& kind : Kinds) {
      for (const auto& [name, list] : ways) {
        const Stopwatch watch;
        const hsize_t listed = list(path, kind);
        result[kind.Name][name].push_back(watch.Seconds());
        if (listed != (kind.Name == std::string("single") ? 1 : ChunkCount)) {
          throw Error(std::string("a wrong number of chunks: ") + kind.Name);
        }
      }
    }
  }
  return result;
}

}  // namespace

Measurement Describe(CLI::App& program)
{
  struct Options
  {
    std::string Path;
    int Rounds = 5;
  };
  const auto options = std::make_shared<Options>();
  program.description("Lists the chunks of five data sets by PatchIO and by the HDF5 library.");
  program.add_option("file", options->Path, "the file to make, if it is missing")->required();
  program.add_option("--rounds", options->Rounds, "interleaved runs");
  return [options] { return Measure(options->Path, options->Rounds); };
}

}  // namespace patchio::bench
