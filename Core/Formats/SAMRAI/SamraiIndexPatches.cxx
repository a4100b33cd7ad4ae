#include "Formats/SAMRAI/SamraiIndexPatches.h"

#include "Formats/SAMRAI/SamraiNames.h"
#include "Support/Error.h"

#include <algorithm>

namespace patchio::samrai {

using hdf5index::Unfamiliar;

void SamraiIndexPatches::Open(SharedFile& shared, std::shared_ptr<Source::File> file, std::uint64_t bytes)
{
  this->Shared = &shared;
  this->Writer = this->Level = -1;
  this->Reader.Open(std::move(file), bytes);
}

hdf5index::Group SamraiIndexPatches::GroupIn(const hdf5index::Group& group, const std::string& name)
{
  const std::optional<std::uint64_t> header = this->Reader.Find(group, name);
  if (!header) {
    throw Error("no group " + name);
  }
  return this->Reader.OpenGroup(*header);
}

void SamraiIndexPatches::OpenPatch(const Patch& patch)
{
  if (patch.Writer != this->Writer || patch.Level != this->Level) {
    this->Writer = this->Level = -1;
    const hdf5index::Group root = this->Reader.OpenGroup(this->Reader.Root());
    const hdf5index::Group writer = this->GroupIn(root, Numbered("processor.", patch.Writer));
    this->LevelGroup = this->GroupIn(writer, Numbered("level.", patch.Level));
    this->Writer = patch.Writer;
    this->Level = patch.Level;
  }
  this->PatchGroup = this->GroupIn(this->LevelGroup, Numbered("patch.", patch.Number));
}

std::optional<std::uint64_t> SamraiIndexPatches::Find(const std::string& path)
{
  std::size_t slash = path.find('/');
  if (slash == std::string::npos) {
    return this->Reader.Find(this->PatchGroup, path);
  }
  hdf5index::Group group = this->PatchGroup;
  std::size_t begin = 0;
  for (; slash != std::string::npos; slash = path.find('/', begin)) {
    const std::optional<std::uint64_t> next = this->Reader.Find(group, path.substr(begin, slash - begin));
    if (!next) {
      return {};
    }
    group = this->Reader.OpenGroup(*next);
    begin = slash + 1;
  }
  return this->Reader.Find(group, path.substr(begin));
}

bool SamraiIndexPatches::Has(const std::string& name)
{
  return this->Find(name).has_value();
}

hdf5index::Dataset SamraiIndexPatches::Describe(const std::string& name)
{
  const std::optional<std::uint64_t> header = this->Find(name);
  if (!header) {
    throw Error("no data set " + name);
  }
  return this->Reader.Describe(*header);
}

bool SamraiIndexPatches::MayList(std::uint64_t chunks)
{
  const std::uint64_t most = hdf5index::MostChunks(this->FileBytes());
  chunks = std::min(chunks, most + 1);  // the sum must not overflow
  if ((this->Shared->Listed += chunks) > most) {
    this->Shared->TooMany = true;
    throw Unfamiliar(MoreChunksThanFit);
  }
  return true;
}

void SamraiIndexPatches::ListChunks(const std::string&, const hdf5index::Dataset& dataset, Chunk* chunks)
{
  this->Reader.ListChunks(dataset, chunks);
}

}  // namespace patchio::samrai
