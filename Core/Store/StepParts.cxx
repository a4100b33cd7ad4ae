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

/// The number at the beginning of the first part of an index file, by which the index files of series and of
/// steps differ.
constexpr std::uint32_t StepFileType = 1;

/// Returns references to the members of a StepIndexHead, in the order of the file.
template <typename Head>
auto MembersOfHead(Head& head)
{
  return std::tie(head.Path, head.FormatName, head.DescribingPrint, head.Step, head.Time);
}

/// Returns whether `name` is a relative path to a file inside the folder to which the path is relative.
bool IsInFolder(const std::string& name)
{
  const fs::path path(name);
  return !name.empty() && path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end();
}

/// Returns the folder of `path` with a slash at the end, or an empty text for the working directory.
std::string FolderOf(const std::string& path)
{
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() || folder.back() == '/' ? folder : folder + "/";
}

}  // namespace

std::vector<std::byte> Encode(const StepIndexHead& head)
{
  ByteWriter out;
  out.Append(StepFileType);
  out.Append(MembersOfHead(head));
  return out.Release();
}

StepIndexHead DecodeHead(const std::vector<std::byte>& bytes)
{
  ByteReader in(bytes);
  if (in.Get<std::uint32_t>() != StepFileType) {
    throw Error("The index file does not describe a time step.");
  }
  StepIndexHead head;
  in.Get(MembersOfHead(head));
  return head;
}

StepDescription MakeDescription(
    const Catalog& catalog, const std::vector<std::string>& files, const std::vector<Fingerprint>& prints)
{
  StepDescription description;
  const std::string folder = FolderOf(catalog.Path);
  for (const std::string& file : files) {
    const std::string name = file.compare(0, folder.size(), folder) == 0 ? file.substr(folder.size()) : file;
    if (!IsInFolder(name)) {
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
  out.Append(description.Files);
  out.Append(description.Prints);
  out.Append(description.Data.Serialize());
  return out.Release();
}

StepDescription DecodeDescription(const std::vector<std::byte>& bytes, const std::string& path)
{
  ByteReader in(bytes);
  StepDescription description;
  std::vector<std::string> names;
  in.Get(names);
  const std::string folder = FolderOf(path);
  for (const std::string& name : names) {
    if (!IsInFolder(name)) {
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
