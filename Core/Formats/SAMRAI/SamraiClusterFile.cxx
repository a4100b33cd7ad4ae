#include "Formats/SAMRAI/SamraiClusterFile.h"

#include "Formats/SAMRAI/SamraiNames.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace patchio::samrai {
namespace {

constexpr const char* DamagedOrForeign = "The file is damaged or does not belong to this summary";

}  // namespace

std::string PatchGroupName(const Patch& patch)
{
  return Numbered("/processor.", patch.Writer) + Numbered("/level.", patch.Level) +
         Numbered("/patch.", patch.Number);
}

template <typename Work>
auto ClusterFile::Guarded(const std::string& name, const Work& work) const
{
  return hdf5::NameErrors(
      this->Path(), [&] { return this->FullName(name); }, work);
}

void ClusterFile::Open(SharedFile& shared, hdf5::ReadAt read, std::uint64_t bytes)
{
  this->Shared = &shared;
  this->Writer = this->Level = -1;
  hdf5::OpenNamed(this->Reader, shared.Path, std::move(read), bytes);
}

hdf5::Group ClusterFile::GroupIn(const hdf5::Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> header = this->Reader.Find(group, name);
  if (!header) {
    throw FileError(
        this->Path(), fmt::format("a group '{}'", PatchGroupName(this->Current)), "none", DamagedOrForeign);
  }
  return this->Reader.OpenGroup(*header);
}

void ClusterFile::OpenPatch(const Patch& patch)
{
  this->Current = patch;
  this->Guarded({}, [&] {
    if (patch.Writer != this->Writer || patch.Level != this->Level) {
      this->Writer = this->Level = -1;
      const hdf5::Group root = this->Reader.OpenGroup(this->Reader.Root());
      const hdf5::Group writer = this->GroupIn(root, Numbered("processor.", patch.Writer));
      this->LevelGroup = this->GroupIn(writer, Numbered("level.", patch.Level));
      this->Writer = patch.Writer;
      this->Level = patch.Level;
    }
    this->PatchGroup = this->GroupIn(this->LevelGroup, Numbered("patch.", patch.Number));
  });
}

std::string ClusterFile::FullName(const std::string& name) const
{
  return PatchGroupName(this->Current) + (name.empty() ? "" : "/") + name;
}

bool ClusterFile::Has(const std::string& name)
{
  return this->Guarded(name, [&] { return this->Reader.FindPath(this->PatchGroup, name).has_value(); });
}

hdf5::Dataset ClusterFile::Describe(const std::string& name)
{
  const bool isHere = name.find('/') == std::string::npos;
  return this->Guarded(name, [&] {
    const std::optional<std::uint64_t> header =
        isHere ? this->Reader.Find(this->PatchGroup, name) : this->Reader.FindPath(this->PatchGroup, name);
    if (!header) {
      throw FileError(this->Path(), fmt::format("a data set '{}', as the summary says", this->FullName(name)),
          "none", DamagedOrForeign);
    }
    return this->Reader.Describe(*header);
  });
}

bool ClusterFile::MayList(std::uint64_t chunks)
{
  const std::uint64_t most = hdf5::MostChunks(this->Reader.SizeOfFile());
  chunks = std::min(chunks, most + 1);  // the sum must not overflow
  if (!this->Shared->TooMany && (this->Shared->Listed += chunks) > most) {
    this->Shared->TooMany = true;
  }
  return !this->Shared->TooMany;
}

void ClusterFile::ListChunks(const std::string& name, const hdf5::Dataset& dataset, Chunk* chunks)
{
  this->Guarded(name, [&] { this->Reader.ListChunks(dataset, chunks); });
}

}  // namespace patchio::samrai
