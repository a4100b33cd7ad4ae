#include "Support/Hdf5Trial.h"

#include "Support/Hdf5.h"
#include "Support/Hdf5Messages.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <set>
#include <tuple>
#include <vector>

namespace patchio::hdf5 {
namespace {

constexpr char Survived = 's', TookMemory = 'm', SawPart = 'p';
constexpr std::uint64_t Mebibyte = 1 << 20;

/// Seconds of a processor; waiting for a slow storage takes none.
rlim_t MostSeconds(std::uint64_t fileBytes)
{
  return 2 + fileBytes / (4 * Mebibyte);
}

/// Bytes of address space beyond what this process has.
std::uint64_t MostMemory(std::uint64_t fileBytes)
{
  return 512 * Mebibyte + 4 * fileBytes;
}

/// Where the child says how it ended.
int verdict = -1;

[[noreturn]] void End(char how)
{
  const ssize_t written = ::write(verdict, &how, 1);
  ::_exit(written == 1 ? 0 : 1);
}

herr_t EndWithoutMemory(unsigned, const H5E_error2_t* error, void*)
{
  if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) {
    End(TookMemory);
  }
  return 0;
}

/// HDF5 calls it whenever one of its functions fails.
herr_t OnFailure(hid_t stack, void*)
{
  return H5Ewalk2(stack, H5E_WALK_UPWARD, EndWithoutMemory, nullptr);
}

/// Bytes of all values in memory; 0 where there are too many to be tried with the file.
std::size_t SmallBytes(hid_t type, hid_t space)
{
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  const std::uint64_t each = H5Tget_size(type);
  const bool small = count > 0 && each > 0 && static_cast<std::uint64_t>(count) <= Mebibyte / each;
  return small ? static_cast<std::size_t>(count) * each : 0;
}

bool IsSmall(hid_t dataset, hid_t type)
{
  constexpr hsize_t most = 1 << 16;
  const Handle space(H5Dget_space(dataset));
  return H5Dget_storage_size(dataset) <= most && SmallBytes(type, space) > 0;
}

/// `read` fills a buffer of the memory's type. Gives back what the library took for texts of any length.
template <typename Read>
void TrySmall(hid_t stored, hid_t space, const Read& read)
{
  const Handle type(H5Tget_native_type(stored, H5T_DIR_ASCEND));
  std::vector<std::byte> values(SmallBytes(type, space));
  if (!values.empty() && read(type, values.data()) >= 0 && H5Tdetect_class(type, H5T_VLEN) > 0) {
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, values.data());
  }
}

herr_t TryAttribute(hid_t object, const char* name, const H5A_info_t*, void*)
{
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT));
  const Handle stored(H5Aget_type(attribute));
  const Handle space(H5Aget_space(attribute));
  TrySmall(stored, space, [&](hid_t type, void* values) { return H5Aread(attribute, type, values); });
  return 0;
}

/// The library finds a chunk by its number with work that grows like the number, so not all are asked for.
void TryChunks(hid_t dataset)
{
  constexpr hsize_t most = 2048;
  const Handle space(H5Dget_space(dataset));
  hsize_t chunks = 0;
  if (H5Dget_num_chunks(dataset, space, &chunks) < 0) {
    return;
  }
  for (hsize_t i = 0; i < std::min(chunks, most); ++i) {
    hsize_t begin[H5S_MAX_RANK] = {}, bytes = 0;
    unsigned skipped = 0;
    haddr_t place = 0;
    H5Dget_chunk_info(dataset, space, i, begin, &skipped, &place, &bytes);
  }
}

/// Numbers of which the file says where they lie, one after another: reading them needs nothing else.
bool LieInFile(hid_t dataset, hid_t stored)
{
  const H5T_class_t kind = H5Tget_class(stored);
  return (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Dget_offset(dataset) != HADDR_UNDEF;
}

void TryDataset(hid_t dataset)
{
  const Handle stored(H5Dget_type(dataset));
  const Handle space(H5Dget_space(dataset));
  if (LieInFile(dataset, stored) || WhyElsewhere(dataset)) {
    return;  // values in other files are never read
  }
  const Handle creation(H5Dget_create_plist(dataset));
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    TryChunks(dataset);
  }
  if (IsSmall(dataset, stored)) {
    TrySmall(stored, space, [&](hid_t type, void* values) {
      return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    });
  }
}

#if H5_VERSION_GE(1, 12, 0)
using ObjectInfo = H5O_info2_t;
#else
using ObjectInfo = H5O_info_t;
#endif

herr_t TryObject(hid_t file, const char* name, const ObjectInfo*, void*)
{
  const Handle object(H5Oopen(file, name, H5P_DEFAULT));
  hsize_t next = 0;
  H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, &next, TryAttribute, nullptr);
  if (H5Iget_type(object) == H5I_DATASET) {
    TryDataset(object);
  }
  return 0;
}

void TryAll(const std::string& path)
{
  const Handle access = AccessToRead();
  const Handle file = OpenToRead(path, access);
  if (!file.Valid()) {
    return;
  }
#if H5_VERSION_GE(1, 12, 0)
  const herr_t seen = H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_INC, TryObject, nullptr, H5O_INFO_BASIC);
#else
  const herr_t seen = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, TryObject, nullptr);
#endif
  if (seen < 0) {
    End(SawPart);  // what comes after an object that cannot be opened is not tried
  }
}

void Limit(decltype(RLIMIT_AS) what, std::uint64_t most)
{
  rlimit limit{};
  ::getrlimit(what, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most);
  ::setrlimit(what, &limit);
}

/// Bytes of address space that this process has.
std::uint64_t AddressSpace()
{
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Quietly: what the program does about crashes elsewhere is not wanted here.
[[noreturn]] void BeChild(std::uint64_t fileBytes, const std::function<void()>& work)
{
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM}) {
    std::signal(number, SIG_DFL);
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, MostSeconds(fileBytes));
  Limit(RLIMIT_AS, AddressSpace() + MostMemory(fileBytes));
  H5Eset_auto2(H5E_DEFAULT, OnFailure, nullptr);
  try {
    work();
  } catch (const std::bad_alloc&) {
    End(TookMemory);
  }
  End(Survived);
}

[[noreturn]] void FailToStart(const std::string& path, int fault)
{
  throw Error(fmt::format(
      "Cannot start a process that checks '{}' ({}). If you trust the file, set PATCHIO_HDF5=trust.", path,
      std::strerror(fault)));
}

/// What the child says; 0 where it died before. However SIGCHLD is treated in this process.
char Ask(int from, pid_t child)
{
  char how = 0;
  while (::read(from, &how, 1) < 0 && errno == EINTR) {
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return how;
}

void TryInChild(const std::string& path, std::uint64_t fileBytes, const std::function<void()>& work)
{
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    FailToStart(path, errno);
  }
  const pid_t child = ::fork();
  const int fault = errno;
  if (child == 0) {
    ::close(ends[0]);
    verdict = ends[1];
    BeChild(fileBytes, work);
  }
  ::close(ends[1]);
  const char how = child > 0 ? Ask(ends[0], child) : 0;
  ::close(ends[0]);
  if (child < 0) {
    FailToStart(path, fault);
  }
  if (how == SawPart) {
    throw Unsound("objects that the HDF5 library cannot open");
  }
  if (how != Survived) {
    throw Unsound(how == TookMemory ? "structures that make the HDF5 library use too much memory"
                                    : "structures that make the HDF5 library crash or hang");
  }
}

}  // namespace

void TryFile(const std::string& path)
{
  using State = std::tuple<dev_t, ino_t, off_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  constexpr std::size_t mostKnown = 1 << 16;
  static std::set<State> known;
  struct stat now = {};
  if (::stat(path.c_str(), &now) != 0) {
    return;  // the library says why
  }
  const State state(now.st_dev, now.st_ino, now.st_size, now.st_mtim.tv_sec, now.st_mtim.tv_nsec,
      now.st_ctim.tv_sec, now.st_ctim.tv_nsec);
  if (known.count(state) != 0) {
    return;
  }
  const std::time_t begin = std::time(nullptr);
  TryInChild(path, static_cast<std::uint64_t>(now.st_size), [&] { TryAll(path); });
  // Another change within the clock's step would not show.
  constexpr std::time_t young = 2;
  if (begin - now.st_ctim.tv_sec < young) {
    return;
  }
  if (known.size() >= mostKnown) {
    known.clear();
  }
  known.insert(state);
}

void TryValues(const std::string& path, hid_t dataset, const std::function<void()>& read)
{
  const Handle stored(H5Dget_type(dataset));
  struct stat now = {};
  if (!LieInFile(dataset, stored) && !IsSmall(dataset, stored) && ::stat(path.c_str(), &now) == 0) {
    TryInChild(path, static_cast<std::uint64_t>(now.st_size), read);
  }
}

}  // namespace patchio::hdf5
