#include "Hdf5/LibraryFile.h"

#include "Base/Error.h"
#include "Base/File.h"
#include "Hdf5/Library.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace patchio::hdf5 {

namespace {

// Code of the process that reads: the child, or this process if PATCHIO_HDF5=trust.

/// Finds the block of an array with dimensions `dims` that consists of the `count` values from index `first`
/// on. Returns false if these values are not a block.
bool BlockOf(const std::vector<hsize_t>& dims, hsize_t first, hsize_t count, std::vector<hsize_t>& start,
    std::vector<hsize_t>& shape)
{
  const std::size_t rank = dims.size();
  start.assign(rank, 0);
  shape.assign(rank, 1);
  hsize_t inner = 1;  // values per index along the current axis
  for (std::size_t axis = rank; axis-- > 0;) {
    const bool fits = count % inner == 0 && first % inner == 0;
    const hsize_t position = first / inner % dims[axis];
    if (fits && count / inner <= dims[axis] - position) {
      start[axis] = position;
      shape[axis] = count / inner;
      hsize_t outer = first / inner / dims[axis];
      for (std::size_t a = axis; a-- > 0;) {
        start[a] = outer % dims[a];
        outer /= dims[a];
      }
      return outer == 0;
    }
    if (dims[axis] > count / inner) {
      return false;
    }
    shape[axis] = dims[axis];
    inner *= dims[axis];
  }
  return false;
}

herr_t RefuseExternalLink(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*)
{
  return -1;
}

/// Reads from a file that is open as `descriptor`, even if its name denotes another file by now.
class Reader
{
public:
  explicit Reader(int descriptor) : PathName(fmt::format("/proc/self/fd/{}", descriptor)) {}

  /// Returns the reason why the values cannot be read, or an empty text on success.
  std::string Read(
      const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values)
  {
    if (!this->File.Valid() && !this->Open()) {
      return LastMessage();
    }
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_elink_cb(access, RefuseExternalLink, nullptr);
    const Handle opened(H5Dopen2(this->File, dataset.c_str(), access));
    if (!opened.Valid()) {
      return LastMessage();
    }
    const Handle creation(H5Dget_create_plist(opened));
    if (H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL) {
      return "values in other files";
    }
    const Handle space(H5Dget_space(opened));
    const int rank = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> dims(std::max(rank, 0)), start, shape;
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    const bool isEmpty = std::find(dims.begin(), dims.end(), 0u) != dims.end();
    if (rank < 1 || isEmpty || count == 0 || !BlockOf(dims, first, count, start, shape)) {
      return "a data set with another shape";
    }
    const hsize_t length = count;
    const Handle memory(H5Screate_simple(1, &length, nullptr));
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
    const herr_t done = H5Dread(opened, NativeType(type), memory, space, H5P_DEFAULT, values);
    return done < 0 ? LastMessage() : std::string();
  }

private:
  /// Opens the file without locking, because parallel file systems are often mounted without locks. Opens it
  /// with locking if one of ParaView's readers has opened it with locking in this process.
  bool Open()
  {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_file_locking(access, false, true);
    this->File = Handle(H5Fopen(this->PathName.c_str(), H5F_ACC_RDONLY, access));
    if (!this->File.Valid()) {
      this->File = Handle(H5Fopen(this->PathName.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    }
    return this->File.Valid();
  }

  std::string PathName;
  Handle File;
};

// State of the child: its end of the connection, and its parent's process ID.
int parent = -1;
pid_t parentNumber = -1;

constexpr char HasValues = 'v', HasFailed = 'f', TookMemory = 'm';
constexpr std::uint64_t Mebibyte = 1 << 20;

/// A request of the parent, followed by the name of the data set.
struct Request
{
  std::uint64_t First = 0, Count = 0, NameBytes = 0;
  ElementType Type = ElementType::Float32;
};

/// Sends all bytes. Returns false if that fails.
bool Send(int to, const void* data, std::size_t bytes)
{
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = ::send(to, from, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent <= 0) {
      return false;
    }
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool Receive(int from, void* data, std::size_t bytes)
{
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = ::recv(from, to, bytes, 0);
    if (received < 0 && (errno == EINTR || (errno == EAGAIN && ::getppid() == parentNumber))) {
      continue;
    }
    if (received <= 0) {
      return false;
    }
    to += received;
    bytes -= static_cast<std::size_t>(received);
  }
  return true;
}

void Limit(decltype(RLIMIT_AS) what, std::uint64_t most)
{
  rlimit limit{};
  ::getrlimit(what, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, most);
  ::setrlimit(what, &limit);
}

/// Returns the size of this process's address space in bytes.
std::uint64_t AddressSpace()
{
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t SecondsUsed()
{
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
}

[[noreturn]] void EndWithoutMemory()
{
  ::send(parent, &TookMemory, 1, MSG_NOSIGNAL);
  ::_exit(1);
}

herr_t EndIfWithoutMemory(unsigned, const H5E_error2_t* error, void*)
{
  if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) {
    EndWithoutMemory();
  }
  return 0;
}

/// Ends this process if HDF5 lacks memory. HDF5 calls this function whenever one of its functions fails.
herr_t OnFailure(hid_t stack, void*)
{
  return H5Ewalk2(stack, H5E_WALK_UPWARD, EndIfWithoutMemory, nullptr);
}

bool Answer(Reader& reader, const Request& request, std::uint64_t fileBytes)
{
  std::string name(request.NameBytes, '\0');
  if (!Receive(parent, name.data(), name.size())) {
    return false;
  }
  // The limit is in seconds of processor time, so waiting for a slow storage does not count.
  Limit(RLIMIT_CPU, SecondsUsed() + 3 + (fileBytes + request.Count * SizeOf(request.Type)) / (4 * Mebibyte));
  std::vector<std::byte> values(request.Count * SizeOf(request.Type));
  const std::string fault = reader.Read(name, request.First, request.Count, request.Type, values.data());
  if (fault.empty()) {
    return Send(parent, &HasValues, 1) && Send(parent, values.data(), values.size());
  }
  const std::uint64_t length = fault.size();
  return Send(parent, &HasFailed, 1) && Send(parent, &length, sizeof length) &&
         Send(parent, fault.data(), fault.size());
}

/// Prepares a child process: the program's signal handlers and output are unwanted in the child.
void BecomeQuiet()
{
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM}) {
    std::signal(number, SIG_DFL);
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  Limit(RLIMIT_CORE, 0);
}

/// Serves the requests of the parent until the parent ends.
[[noreturn]] void BeChild(int file, std::uint64_t fileBytes)
{
  BecomeQuiet();
  const timeval patience{1, 0};  // interval of checks whether the parent is alive: other processes may keep
                                 // the parent's end of the connection open
  ::setsockopt(parent, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  H5Eset_auto2(H5E_DEFAULT, OnFailure, nullptr);
  const std::uint64_t before = AddressSpace();
  try {
    Reader reader(file);
    for (Request request; Receive(parent, &request, sizeof request);) {
      Limit(RLIMIT_AS, before + 512 * Mebibyte + 4 * fileBytes + 2 * request.Count * SizeOf(request.Type));
      if (!Answer(reader, request, fileBytes)) {
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    EndWithoutMemory();
  }
  ::_exit(0);
}

}  // namespace

/// The child process that reads a file, as seen by its parent, or a reader in this process if the library is
/// trusted.
class LibraryFile::Child
{
public:
  explicit Child(const std::string& path) : File(path), Inside(File.Descriptor())
  {
    int ends[2] = {};
    if (LibraryIsTrusted()) {
      return;
    }
    const std::uint64_t bytes = this->File.Size();
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw SystemError(path, "a file that a child process can read", errno);
    }
    const pid_t own = ::getpid();
    this->Number = ::fork();
    const int fault = errno;
    if (this->Number == 0) {
      parentNumber = own;
      ::close(ends[0]);
      parent = ends[1];
      BeChild(this->File.Descriptor(), bytes);
    }
    ::close(ends[1]);
    this->Connection = ends[0];
    if (this->Number < 0) {
      ::close(ends[0]);
      throw Error(fmt::format(
          "Cannot start a process that reads '{}' ({}). If you trust the file, set PATCHIO_HDF5=trust.", path,
          std::strerror(fault)));
    }
  }

  ~Child()
  {
    if (this->Number > 0) {
      ::close(this->Connection);
      ::kill(this->Number, SIGKILL);
      while (::waitpid(this->Number, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the reason why the values cannot be read, or an empty text on success. isDead: set if no further
  /// request can be made.
  std::string Read(const std::string& dataset, const Request& request, void* values, bool& isDead)
  {
    if (this->Number < 0) {
      const QuietScope quiet;
      return this->Inside.Read(dataset, request.First, request.Count, request.Type, values);
    }
    char how = 0;
    Send(this->Connection, &request, sizeof request);
    Send(this->Connection, dataset.data(), dataset.size());
    Receive(this->Connection, &how, 1);
    if (how == HasValues && Receive(this->Connection, values, request.Count * SizeOf(request.Type))) {
      return {};
    }
    std::uint64_t length = 0;
    if (how == HasFailed && Receive(this->Connection, &length, sizeof length)) {
      std::string fault(std::min<std::uint64_t>(length, 4096), '\0');
      Receive(this->Connection, fault.data(), fault.size());
      isDead = length > fault.size();
      return fault;
    }
    isDead = true;
    return how == TookMemory ? "values that make the HDF5 library use too much memory"
                             : "values that make the HDF5 library crash or hang, or its process was killed";
  }

private:
  PlainFile File;
  Reader Inside;
  pid_t Number = -1;
  int Connection = -1;
};

LibraryFile::LibraryFile(const std::string& path) : PathName(path) {}

LibraryFile::~LibraryFile() = default;

void LibraryFile::Read(
    const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values)
{
  if (!this->Process) {
    this->Process = std::make_unique<Child>(this->PathName);
  }
  bool isDead = false;
  const std::string fault =
      this->Process->Read(dataset, Request{first, count, dataset.size(), type}, values, isDead);
  if (isDead) {
    this->Process.reset();
  }
  if (!fault.empty()) {
    throw FileError(this->PathName, fmt::format("readable values in '{}'", PlainText(dataset)), fault,
        fmt::format("The file is damaged or still being written, or needs a newer HDF5 library than {}, or a "
                    "filter that this library does not have",
            LibraryVersion()));
  }
}

namespace {

bool HasFilter(int filter)
{
  const QuietScope quiet;
  return H5Zfilter_avail(filter) > 0;
}

/// Returns whether the library has a filter. A child process asks the library, because the library loads
/// plug-ins to find out.
bool ChildHasFilter(int filter)
{
  const pid_t child = ::fork();
  if (child == 0) {
    BecomeQuiet();
    Limit(RLIMIT_CPU, SecondsUsed() + 3);
    ::_exit(H5Zfilter_avail(filter) > 0 ? 0 : 1);
  }
  int status = -1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool LibraryHasFilter(int filter)
{
  constexpr std::size_t mostAsked = 64;
  static std::mutex lock;
  static std::map<int, bool> known;
  if (!LibraryIsAllowed()) {
    return false;
  }
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = known.find(filter);
  if (found != known.end() || known.size() == mostAsked) {
    return found != known.end() && found->second;
  }
  const bool own = filter < H5Z_FILTER_RESERVED || LibraryIsTrusted();
  return known[filter] = own ? HasFilter(filter) : ChildHasFilter(filter);
}

}  // namespace patchio::hdf5

namespace patchio {

void LibraryReader::Read(const LocationTable& table, const Location& location, const ReadTarget& target)
{
  for (std::uint32_t c = 0; c < location.Count; ++c) {
    const LibraryArray& array = table.LibraryArrays[location.First + c];
    const std::string& path = table.Files[array.File];
    if (!this->Current || this->Current->Path() != path) {
      this->Current = std::make_unique<hdf5::LibraryFile>(path);
    }
    const std::size_t elementBytes = SizeOf(array.Type);
    std::vector<std::byte> values(array.Count * elementBytes);
    this->Current->Read(array.Dataset, array.First, array.Count, array.Type, values.data());
    target.ForEach([&](const Destination& destination) {
      PlaceRun(destination.Place, values.data(), 0, static_cast<std::int64_t>(array.Count), elementBytes,
          false, (*target.Slots)[c], destination.Data);
    });
  }
  FinishTask(target);
}

}  // namespace patchio
