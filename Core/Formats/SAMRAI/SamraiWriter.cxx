#include "Formats/SAMRAI/SamraiWriter.h"

#include "Formats/SAMRAI/SamraiClusterWriter.h"
#include "Formats/SAMRAI/SamraiNames.h"
#include "Formats/SAMRAI/SamraiSummaryWriter.h"
#include "Support/ByteText.h"
#include "Support/Error.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>

namespace patchio::samrai {
namespace {

// ---- whether a catalog can be a dump ----

void CheckVariables(const Catalog& catalog)
{
  const int dimension = catalog.Dimension;
  for (const Variable& variable : catalog.Variables) {
    if (variable.Name.empty() || variable.Name.find('/') != std::string::npos) {
      throw Error(
          fmt::format("The variable name '{}' is invalid. Use a name that is not empty and contains no '/'.",
              variable.Name));
    }
    const int components = variable.Components;
    if (components != 1 && components != dimension && components != dimension * dimension) {
      throw Error(
          fmt::format("Variable '{}' has {} components, but SAMRAI dumps in {}-D support 1, {} or {}.",
              variable.Name, components, dimension, dimension, dimension * dimension));
    }
    if (variable.Ghosts != Int3{0, 0, 0}) {
      throw Error(
          fmt::format("Variable '{}' has ghost layers, which this writer does not support.", variable.Name));
    }
  }
}

void CheckLevels(const Catalog& catalog, int ranks)
{
  int next = 0;
  for (const Level& level : catalog.Levels) {
    if (level.FirstPatch != next || level.PatchCount < 1) {
      throw Error("Omit empty levels: every level of a SAMRAI dump needs a patch.");
    }
    next += level.PatchCount;
  }
  if (next == 0 || next != static_cast<int>(catalog.Patches.size())) {
    throw Error(
        fmt::format("The levels have {} patches, but the dump has {}.", next, catalog.Patches.size()));
  }
  for (const Patch& patch : catalog.Patches) {
    if (patch.Cells.Empty() || patch.Writer < 0 || patch.Writer >= ranks) {
      throw Error(fmt::format("Patch {} of level {} is empty or belongs to rank {} of {}.", patch.Number,
          patch.Level, patch.Writer, ranks));
    }
  }
}

void CheckDump(const Catalog& catalog, int ranks)
{
  if (catalog.Dimension != 2 && catalog.Dimension != 3) {
    throw Error(fmt::format("A SAMRAI dump must be 2-D or 3-D, not {}-D.", catalog.Dimension));
  }
  if (catalog.Grid != GridKind::Uniform) {
    throw Error("This writer supports uniform grids only.");
  }
  if (catalog.Step < 0 || catalog.Step > std::numeric_limits<int>::max()) {
    throw Error(fmt::format("The step number {} is invalid for a SAMRAI dump.", catalog.Step));
  }
  CheckLevels(catalog, ranks);
  CheckVariables(catalog);
}

// ---- the directory of a dump ----

void MakeDirectory(const std::string& path)
{
  std::error_code fault;
  std::filesystem::create_directories(path, fault);
  if (fault) {
    throw SystemError(path, "a directory that can be created", fault.value(),
        "Choose a folder where you have write permission");
  }
}

/// Bytes that the dump takes on disk, a little less than it will be.
std::uintmax_t SmallestSize(const Catalog& catalog)
{
  constexpr std::uintmax_t perDataset = 400, perPatch = 900, perValue = sizeof(float);
  std::uintmax_t bytes = perPatch * catalog.Patches.size();
  for (std::size_t v = 0; v < catalog.Variables.size(); ++v) {
    for (std::size_t p = 0; p < catalog.Patches.size(); ++p) {
      const std::uintmax_t values = catalog.StoredTuples(static_cast<int>(v), static_cast<int>(p));
      bytes += catalog.Variables[v].Components * (perDataset + perValue * values);
    }
  }
  return bytes;
}

/// Reports a full disk early: HDF5 1.10 may crash at the end of a program that met one.
void CheckSpace(const Catalog& catalog, const std::string& directory)
{
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(directory, unknown);
  const std::uintmax_t needed = SmallestSize(catalog);
  if (!unknown && space.available < needed) {
    throw FileError(directory, "room for a dump of " + ByteText(static_cast<double>(needed)),
        ByteText(static_cast<double>(space.available)), "Free some space or choose another folder");
  }
}

/// An older dump of the same step may have had more ranks: its files must not stay among the new ones.
void RemoveOldFiles(const std::string& directory)
{
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".samrai") {
      std::filesystem::remove(entry.path());
    }
  }
}

}  // namespace

SamraiWriter::SamraiWriter(Communicator& comm, std::string directory)
    : Comm(comm), Directory(std::move(directory))
{
}

bool SamraiWriter::MayHaveMade(const std::string& name)
{
  return name == IndexName || IsDumpName(name);
}

void SamraiWriter::Write(const Catalog& catalog, const PatchValues& values)
{
  const bool root = this->Comm.Rank() == 0;
  const std::string path = this->Directory + "/" + DumpName(catalog.Step);
  RunOnAllRanks(this->Comm, [&] {
    CheckDump(catalog, this->Comm.Size());
    if (root) {
      MakeDirectory(path);
      RemoveOldFiles(path);
      CheckSpace(catalog, path);
    }
  });
  std::vector<ComponentRange> ranges;
  RunOnAllRanks(this->Comm, [&] { ranges = WriteCluster(path, this->Comm.Rank(), catalog, values); });
  ranges = GatherValues(this->Comm, ranges);
  // A dump is complete when dumps.visit names it, so the order is: clusters, summary, index.
  RunOnAllRanks(this->Comm, [&] {
    if (root) {
      WriteSummary(path, this->Comm.Size(), catalog, ranges);
      this->AppendToIndex(DumpName(catalog.Step));
    }
  });
  this->IndexStarted = true;
}

void SamraiWriter::AppendToIndex(const std::string& dumpName)
{
  const std::string path = this->Directory + "/" + IndexName;
  std::ofstream index(path, this->IndexStarted ? std::ios::app : std::ios::trunc);
  index << dumpName << "/" << SummaryName << "\n" << std::flush;
  if (!index) {
    const int fault = errno;
    throw SystemError(path, "a file that can be written", fault, "Check the free space and your permissions");
  }
}

}  // namespace patchio::samrai
