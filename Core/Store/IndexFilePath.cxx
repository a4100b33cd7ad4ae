#include "Store/IndexFilePath.h"

#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/File.h"
#include "Base/Memory.h"
#include "Base/Text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr const char* Suffix = ".patchio";
/// Age in seconds from which a temporary file is removed before a replacement. No program writes an index
/// file for so long.
constexpr double StrayAge = 86400;
/// Age in seconds from which a temporary file is removed together with the index file, at the request of the
/// user.
constexpr double IdleAge = 60;

/// Returns the name of the index file of `path` in a folder for index files of data in any folder. The name
/// contains a checksum of the absolute path, so that files with the same name have different index files, and
/// the name of the indexed file for the user.
std::string NameInDirectory(const std::string& path)
{
  const std::string absolute = AbsolutePath(path);
  return fmt::format("{:016x}-{}{}", Checksum(absolute.data(), absolute.size()),
      fs::path(absolute).filename().string(), Suffix);
}

/// Returns references to the members of an IndexFilePath, in the order in which rank 0 sends the members.
template <typename Record>
auto MembersOfPath(Record& indexFile)
{
  return std::tie(indexFile.Path, indexFile.NextToData, indexFile.HasOldName);
}

/// Returns the path of the index file of `path` in the folder of `path`.
std::string PathNextToData(const std::string& path)
{
  fs::path file(path);
  file = file.has_filename() ? file : file.parent_path();  // "folder/"
  return (file.parent_path() / ("." + file.filename().string() + Suffix)).string();
}

/// Makes an error about a failed action: "PATH: cannot ACTION: Permission denied. ADVICE." `errorNumber`: a
/// value of `errno`.
Error ActionError(const std::string& path, const char* action, int errorNumber)
{
  const std::string advice = SystemAdvice(errorNumber);
  return Error(fmt::format("{}: cannot {}: {}. {}.", path, action, SystemMessage(errorNumber),
      advice.empty() ? "Check what is at this path, and the permissions of its folder" : advice));
}

/// Returns the path with the old name. `indexFile`: path from PathNextToData().
std::string PathWithOldName(const std::string& indexFile)
{
  const fs::path file(indexFile);
  return (file.parent_path() / file.filename().string().substr(1)).string();
}

/// Creates the folder of an index file and removes old temporary files. Returns the path of the temporary
/// file, which does not exist yet.
std::string PrepareReplacement(const IndexFilePath& indexFile)
{
  const fs::path folder = fs::path(indexFile.Path).parent_path();
  if (!indexFile.NextToData) {
    std::error_code fault;
    fs::create_directories(folder, fault);
    if (fault) {
      throw ActionError(folder.string(), "create the folder for index files", fault.value());
    }
  }
  for (const std::string& path :
      {indexFile.Path, indexFile.NextToData ? PathWithOldName(indexFile.Path) : indexFile.Path}) {
    RemoveStaleFiles(folder.string(), fs::path(path).filename().string() + ".", ".tmp", StrayAge);
  }
  return TemporaryName(indexFile.Path);
}

/// Renames the file `temporary` to the index file, and removes an index file with the old name. If renaming
/// fails, removes `temporary` and throws Error.
void ReplaceIndexFile(const std::string& temporary, const IndexFilePath& indexFile)
{
  if (std::rename(temporary.c_str(), indexFile.Path.c_str()) != 0) {
    const int fault = errno;
    std::remove(temporary.c_str());
    throw ActionError(indexFile.Path, "replace the index file", fault);
  }
  if (indexFile.NextToData) {
    // Usually, there is no index file with the old name. If the removal fails, readers find the new name
    // first.
    unlink(PathWithOldName(indexFile.Path).c_str());
  }
}

}  // namespace

std::vector<IndexFilePath> IndexFilePathsFor(const std::string& path)
{
  std::vector<IndexFilePath> paths = AllIndexFilePathsFor(path);
  if (!paths.front().NextToData) {
    paths.resize(1);  // the folder that the user has chosen
  }
  return paths;
}

std::vector<IndexFilePath> AllIndexFilePathsFor(const std::string& path)
{
  std::vector<IndexFilePath> paths;
  const std::string chosen = FromEnvironment("PATCHIO_METADATA_DIR");
  if (!chosen.empty()) {
    paths.push_back({(fs::path(AbsolutePath(chosen)) / NameInDirectory(path)).string(), false});
  }
  paths.push_back({PathNextToData(path), true});
  paths.push_back({PathWithOldName(paths.back().Path), true, true});
  const std::string cache = UserFolder("XDG_CACHE_HOME", ".cache");
  if (!cache.empty()) {
    paths.push_back({cache + "/" + NameInDirectory(path), false});
  }
  return paths;
}

std::vector<std::string> RemoveIndexFiles(const std::string& path)
{
  std::vector<std::string> removed;
  for (const IndexFilePath& indexFile : AllIndexFilePathsFor(path)) {
    const fs::path file(indexFile.Path);
    const std::string begin = file.filename().string() + ".";
    RemoveStaleFiles(file.parent_path().string(), begin, ".tmp", IdleAge);
    std::error_code fault;
    if (fs::remove(file, fault)) {
      removed.push_back(indexFile.Path);
    } else if (fault) {
      throw ActionError(indexFile.Path, "remove the index file", fault.value());
    }
  }
  return removed;
}

std::vector<IndexFilePath> SharedIndexFilePathsFor(Communicator& ranks, const std::string& path)
{
  const std::vector<std::byte> message = ProduceOnRankZero(ranks, [&path] {
    const std::vector<IndexFilePath> paths = IndexFilePathsFor(path);
    ByteWriter out;
    out.Append<std::uint64_t>(paths.size());
    for (const IndexFilePath& indexFile : paths) {
      out.Append(MembersOfPath(indexFile));
    }
    return out.Release();
  });
  std::vector<IndexFilePath> paths;
  RunOnAllRanks(ranks, [&] {
    ByteReader in(message);
    paths.resize(in.Get<std::uint64_t>());
    for (IndexFilePath& indexFile : paths) {
      in.Get(MembersOfPath(indexFile));
    }
  });
  return paths;
}

void SaveIndexFile(
    Communicator& ranks, const IndexFilePath& indexFile, const std::function<void(const std::string&)>& write)
{
  std::string temporary;
  RunOnRankZero(ranks, [&] { temporary = PrepareReplacement(indexFile); });
  temporary = ranks.AllGather(temporary)[0];
  std::string fault = CatchError([&] { write(temporary); });
  if (!fault.empty()) {
    if (ranks.Rank() == 0) {
      std::remove(temporary.c_str());
    }
    const std::size_t at = fault.find(temporary);
    throw Error(at == std::string::npos ? fault : fault.replace(at, temporary.size(), indexFile.Path));
  }
  RunOnRankZero(ranks, [&] { ReplaceIndexFile(temporary, indexFile); });
}

}  // namespace patchio
