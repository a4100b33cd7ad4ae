// A program without VTK that reads patches on many ranks with many threads per rank.
//
//   mpirun -np 4 patchio_read_patch_data SUMMARY THREADS OUTPUT_PREFIX [VARIABLE...]
//
// Each rank reads the variables VARIABLE (all variables if none is given) on its part of the patches of
// SUMMARY (a summary.samrai, or the describing file of another format) with THREADS threads. Rank R writes
// two files: OUTPUT_PREFIX.rank<R>.raw has the values of all arrays of the rank one after another, in the
// machine's byte order, component fastest; OUTPUT_PREFIX.rank<R>.json has the offset of each array in bytes.
// If OUTPUT_PREFIX is -, each rank prints only the cost of its read.
#include "Formats/Format.h"
#include "Plan/Partition.h"
#include "Read/ReadPatchData.h"

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

/// Returns the patches of this rank, by level one of two-level reading.
std::vector<int> PatchesOfRank(const std::string& summary, int rank, int size)
{
  const patchio::Catalog catalog = patchio::FormatOf(summary).ReadCatalog(summary);
  std::vector<int> all(catalog.Patches.size());
  std::vector<std::int64_t> weights;
  for (std::size_t p = 0; p < all.size(); ++p) {
    all[p] = static_cast<int>(p);
    weights.push_back(catalog.Patches[p].Cells.CellCount());
  }
  const std::vector<int> parts = patchio::PartitionPatches(catalog, all, weights, size);
  std::vector<int> ownPatches;
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (parts[p] == rank) {
      ownPatches.push_back(all[p]);
    }
  }
  return ownPatches;
}

nlohmann::json WriteVariable(const patchio::VariableData& variable, std::ofstream& raw)
{
  nlohmann::json entry{{"name", variable.Name}, {"status", "read"}, {"type", NameOf(variable.Type)},
      {"components", variable.Components}, {"tuples", variable.Tuples},
      {"offset", static_cast<std::int64_t>(raw.tellp())}};
  if (variable.Absent) {
    entry["status"] = "absent";
  } else if (variable.Error != patchio::ReadError::None) {
    entry["status"] = "failed";
  } else {
    raw.write(static_cast<const char*>(variable.Data.get()), static_cast<std::streamsize>(variable.Bytes));
  }
  return entry;
}

nlohmann::json CostsAsJson(const patchio::ReadPatchDataResult& result, int rank, int size)
{
  const patchio::IoReport& report = result.Report;
  return {{"rank", rank}, {"size", size}, {"error", static_cast<int>(result.Error)},
      {"message", result.Message}, {"threads", report.ThreadsMax}, {"tasks", report.Tasks},
      {"peak_reads_in_flight", report.PeakInFlight}, {"bytes_read", report.Bytes},
      {"seconds",
          {{"open", report.OpenSeconds}, {"locate", report.LocateSeconds}, {"read", report.ReadSeconds}}}};
}

/// Writes the files of this rank. Returns whether both files are complete.
bool WriteResult(const patchio::ReadPatchDataResult& result, const std::string& prefix, int rank, int size)
{
  const std::string name = prefix + ".rank" + std::to_string(rank);
  std::ofstream raw(name + ".raw", std::ios::binary);
  nlohmann::json patches = nlohmann::json::array();
  for (const patchio::PatchData& patch : result.Patches) {
    nlohmann::json variables = nlohmann::json::array();
    for (const patchio::VariableData& variable : patch.Variables) {
      variables.push_back(WriteVariable(variable, raw));
    }
    patches.push_back({{"id", patch.Id}, {"variables", variables}});
  }
  nlohmann::json manifest = CostsAsJson(result, rank, size);
  manifest["patches"] = patches;
  std::ofstream text(name + ".json");
  text << manifest.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  raw.close();
  text.close();
  return raw.good() && text.good();
}

int Run(int argc, char** argv, int rank, int size)
{
  if (argc < 4) {
    std::cerr << "usage: " << argv[0] << " SUMMARY THREADS OUTPUT_PREFIX [VARIABLE...]\n";
    return 2;
  }
  const std::string summary = argv[1];
  const int threads = std::atoi(argv[2]);
  const std::vector<const char*> names(argv + 4, argv + argc);

  std::vector<int> ownPatches;
  try {
    ownPatches = PatchesOfRank(summary, rank, size);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  // Level two: reads the variables of these patches with `threads` threads.
  const patchio::ReadPatchDataResult result =
      patchio::ReadPatchData(summary, ownPatches.data(), static_cast<int>(ownPatches.size()),
          names.empty() ? nullptr : names.data(), static_cast<int>(names.size()), threads);
  bool failed = result.Error != patchio::ReadError::None;
  if (failed) {
    std::cerr << result.Message << "\n";
  }
  const std::string prefix = argv[3];
  if (prefix == "-") {
    std::cout << CostsAsJson(result, rank, size).dump() << std::endl;
  } else if (!WriteResult(result, prefix, rank, size)) {
    std::cerr << "Cannot write the files of " << prefix << ". Check the folder and its free space.\n";
    failed = true;
  }
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int status = Run(argc, argv, rank, size);
  MPI_Finalize();
  return status;
}
