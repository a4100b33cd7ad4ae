#include "Formats/SAMRAI/SamraiLibraryPatches.h"

#include "Hdf5Index/LibraryDataset.h"
#include "Support/Error.h"

#include <fmt/format.h>

#include <filesystem>

namespace patchio::samrai {
namespace {

std::string NotOpened(const std::string& reason)
{
  return "an unreadable one (" + reason + ")";
}

constexpr const char* DamagedOrForeign = "The file is damaged or does not belong to this summary";

}  // namespace

SamraiLibraryPatches::SamraiLibraryPatches(const std::string& path)
    : File(path), Bytes(std::filesystem::file_size(path))
{
}

void SamraiLibraryPatches::OpenPatch(const Patch& patch)
{
  this->GroupName = PatchGroupName(patch);
  this->Group = this->File.OpenGroup(this->File.Id(), this->GroupName);
  if (!this->Group.Valid()) {
    throw FileError(this->Path(), fmt::format("a group '{}'", this->GroupName),
        NotOpened(hdf5::LastMessage()), DamagedOrForeign);
  }
}

hdf5::Handle SamraiLibraryPatches::Open(const std::string& name) const
{
  hdf5::Handle dataset = this->File.OpenDataset(this->Group, name);
  if (!dataset.Valid()) {
    throw FileError(this->Path(),
        fmt::format("a data set '{}/{}', as the summary says", this->GroupName, name),
        NotOpened(hdf5::LastMessage()), DamagedOrForeign);
  }
  return dataset;
}

hdf5index::Dataset SamraiLibraryPatches::Describe(const std::string& name)
{
  return hdf5index::DescribeByLibrary(this->Open(name));
}

bool SamraiLibraryPatches::MayList(std::uint64_t chunks)
{
  const std::uint64_t most = hdf5index::MostChunks(this->Bytes);
  if (chunks > most || this->Listed > most - chunks) {
    return false;
  }
  this->Listed += chunks;
  return true;
}

void SamraiLibraryPatches::ListChunks(
    const std::string& name, const hdf5index::Dataset& dataset, Chunk* chunks)
{
  try {
    const hdf5::Handle opened = this->Open(name);
    this->File.CheckChunks(opened);
    hdf5index::ListChunksByLibrary(opened, dataset, this->Bytes, chunks);
  } catch (const Error& error) {
    throw FileError(this->Path(), fmt::format("readable chunks in '{}/{}'", this->GroupName, name),
        error.what(), "The file is damaged, truncated or still being written");
  }
}

}  // namespace patchio::samrai
