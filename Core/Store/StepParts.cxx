#include "Store/StepParts.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Catalog/CheckCatalog.h"

#include <algorithm>
#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr std::uint32_t KindOfStep = 1;

/// Returns references to the members in the order of the file.
template <typename Head>
auto MembersOf(Head& head)
{
  return std::tie(head.Path, head.FormatName, head.Described, head.Step, head.Time);
}

/// Returns whether a relative name stays below its folder.
bool StaysBelow(const std::string& name)
{
  const fs::path path(name);
  return !name.empty() && path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

std::string FolderOf(const std::string& path)
{
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() || folder.back() == '/' ? folder : folder + "/";
}

}  // namespace

std::vector<std::byte> Encode(const StepIndexHead& head)
{
  ByteWriter out;
  out.Put(KindOfStep);
  out.Put(MembersOf(head));
  return out.Take();
}

StepIndexHead DecodeHead(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  if (in.Get<std::uint32_t>() != KindOfStep) {
    throw Error("The index file does not describe a time step.");
  }
  StepIndexHead head;
  in.Get(MembersOf(head));
  return head;
}

StepDescription Describe(
    const Catalog& catalog, const std::vector<std::string>& files, const std::vector<Fingerprint>& prints)
{
  StepDescription description;
  const std::string folder = FolderOf(catalog.Path);
  for (const std::string& file : files) {
    const std::string name = file.compare(0, folder.size(), folder) == 0 ? file.substr(folder.size()) : file;
    if (!StaysBelow(name)) {
      throw Error("the file " + file + " is outside the folder of the step");
    }
    description.Files.push_back(name);
  }
  description.Prints = prints;
  description.Data = catalog;
  description.Data.Path.clear();
  return description;
}

std::vector<std::byte> Encode(const StepDescription& description)
{
  ByteWriter out;
  out.Put(description.Files);
  out.Put(description.Prints);
  out.Put(description.Data.Serialize());
  return out.Take();
}

StepDescription DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path)
{
  ByteReader in(bytes);
  StepDescription description;
  std::vector<std::string> names;
  in.Get(names);
  const std::string folder = FolderOf(path);
  for (const std::string& name : names) {
    if (!StaysBelow(name)) {
      throw Error("The index file names a file outside the folder of the data.");
    }
    description.Files.push_back(folder + name);
  }
  in.Get(description.Prints);
  const auto [catalog, size] = in.GetBytes();
  description.Data = Catalog::Deserialize(catalog, size);
  description.Data.Path = path;
  if (description.Prints.size() != description.Files.size()) {
    throw Error("The index file has different numbers of files and fingerprints.");
  }
  CheckCatalog(description.Data);
  return description;
}

}  // namespace patchio
