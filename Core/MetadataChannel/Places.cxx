#include "MetadataChannel/Places.h"

#include "MetadataChannel/PlainFile.h"
#include "Support/Bytes.h"
#include "Support/Checksum.h"
#include "Support/Error.h"
#include "Support/MachineName.h"
#include "Support/RunOnAllRanks.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <tuple>

namespace fs = std::filesystem;

namespace patchio {
namespace {

constexpr const char* Suffix = ".patchio";
constexpr double StrayAge = 86400;  ///< seconds; no writer takes that long
constexpr double StillAge = 60;     ///< seconds after which nobody seems to write to a file any more

std::string FromEnvironment(const char* name)
{
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Empty when the user has none.
std::string CacheDirectory()
{
  const std::string cache = FromEnvironment("XDG_CACHE_HOME");
  if (!cache.empty() && cache[0] == '/') {
    return cache + "/patchio";
  }
  const std::string home = FromEnvironment("HOME");
  return home.empty() ? "" : home + "/.cache/patchio";
}

/// A name that tells people which file it is for, and programs which of all of that name.
std::string NameInDirectory(const std::string& path)
{
  const std::string absolute = AbsolutePath(path);
  return fmt::format("{:016x}-{}{}", Checksum(absolute.data(), absolute.size()),
      fs::path(absolute).filename().string(), Suffix);
}

/// As they travel between ranks.
template <typename AnyPlace>
auto MembersOf(AnyPlace& place)
{
  return std::tie(place.Path, place.Beside);
}

}  // namespace

std::string AbsolutePath(const std::string& path)
{
  return fs::absolute(path).lexically_normal().string();
}

std::vector<Place> PlacesFor(const std::string& path)
{
  std::vector<Place> places = AllPlacesFor(path);
  if (!places.front().Beside) {
    places.resize(1);  // the user has chosen it
  }
  return places;
}

std::vector<Place> AllPlacesFor(const std::string& path)
{
  std::vector<Place> places;
  const std::string chosen = FromEnvironment("PATCHIO_METADATA_DIR");
  if (!chosen.empty()) {
    places.push_back({(fs::path(AbsolutePath(chosen)) / NameInDirectory(path)).string(), false});
  }
  places.push_back({path + Suffix, true});
  const std::string cache = CacheDirectory();
  if (!cache.empty()) {
    places.push_back({cache + "/" + NameInDirectory(path), false});
  }
  return places;
}

std::vector<std::string> RemoveSidecars(const std::string& path)
{
  std::vector<std::string> removed;
  for (const Place& place : AllPlacesFor(path)) {
    const fs::path file(place.Path);
    const std::string begin = file.filename().string() + ".";
    RemoveStrays(file.parent_path().string(), begin, ".tmp", StillAge);
    std::error_code fault;
    if (fs::remove(file, fault)) {
      removed.push_back(place.Path);
    } else if (fault) {
      throw FileError(place.Path, "a file that can be removed", fault.message());
    }
  }
  return removed;
}

std::vector<Place> SharedPlacesFor(Communicator& comm, const std::string& path)
{
  const std::vector<std::byte> message = BytesOfRankZero(comm, [&path] {
    const std::vector<Place> places = PlacesFor(path);
    ByteWriter out;
    out.Put<std::uint64_t>(places.size());
    for (const Place& place : places) {
      out.Put(MembersOf(place));
    }
    return out.Take();
  });
  std::vector<Place> places;
  RunOnAllRanks(comm, [&] {
    ByteReader in(message);
    places.resize(in.Get<std::uint64_t>());
    for (Place& place : places) {
      in.Get(MembersOf(place));
    }
  });
  return places;
}

std::string PrepareToReplace(const Place& place)
{
  const fs::path folder = fs::path(place.Path).parent_path();
  if (!place.Beside) {
    std::error_code fault;
    fs::create_directories(folder, fault);
    if (fault) {
      throw FileError(folder.string(), "a folder that can be made", fault.message());
    }
  }
  RemoveStrays(folder.string(), fs::path(place.Path).filename().string() + ".", ".tmp", StrayAge);
  return TemporaryName(place.Path);
}

std::string NamePlace(std::string message, const std::string& temporary, const Place& place)
{
  const std::size_t at = message.find(temporary);
  return at == std::string::npos ? message : message.replace(at, temporary.size(), place.Path);
}

void Replace(const std::string& temporary, const Place& place)
{
  if (std::rename(temporary.c_str(), place.Path.c_str()) != 0) {
    const int fault = errno;
    std::remove(temporary.c_str());
    throw FileError(place.Path, "a file that can be replaced", SystemMessage(fault));
  }
}

void ReplaceFile(const Place& place, const std::function<void(const std::string&)>& write)
{
  const std::string temporary = PrepareToReplace(place);
  try {
    write(temporary);
  } catch (const Error& error) {
    std::remove(temporary.c_str());
    throw Error(NamePlace(error.what(), temporary, place));
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
  Replace(temporary, place);
}

}  // namespace patchio
