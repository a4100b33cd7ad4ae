#include "Hdf5/LibraryFile.h"

#include "Base/Bytes.h"
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
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace patchio::hdf5 {

namespace {

// The following code runs in the process that reads: in the child, or in this process if PATCHIO_HDF5=trust.

/// Finds the block that consists of the `count` values from index `first` on of an array with the dimensions
/// `dims`. Sets `start` to the first indices of the block and `shape` to its dimensions. Returns false if the
/// values are not a block.
bool FindBlock(const std::vector<hsize_t>& dims, hsize_t first, hsize_t count, std::vector<hsize_t>& start,
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

/// A callback that makes HDF5 fail at external links.
herr_t RefuseExternalLink(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*)
{
  return -1;
}

/// Reads from the file that is open as `descriptor`, even if the name of the file denotes another file
/// meanwhile.
class Reader
{
public:
  explicit Reader(int descriptor) : PathName(fmt::format("/proc/self/fd/{}", descriptor)) {}

  /// Reads values like LibraryFile::Read(). Returns, as a phrase, the reason why the values cannot be read;
  /// an empty text on success.
  std::string Read(
      const std::string& dataset, std::uint64_t first, std::uint64_t count, ElementType type, void* values)
  {
    if (!this->File.IsValid() && !this->Open()) {
      return LastMessage();
    }
    const Handle access(H5Pcreate(H5P_DATASET_ACCESS));
    H5Pset_elink_cb(access, RefuseExternalLink, nullptr);
    const Handle opened(H5Dopen2(this->File, dataset.c_str(), access));
    if (!opened.IsValid()) {
      return LastMessage();
    }
    const Handle creation(H5Dget_create_plist(opened));
    if (H5Pget_external_count(creation) > 0 || H5Pget_layout(creation) == H5D_VIRTUAL) {
      return "values in other files";
    }
    const Handle space(H5Dget_space(opened));
    const int rank = H5Sget_simple_extent_ndims(space);
    std::vector<hsize_t> dims(std::max(rank, 1), 1), start, shape;  // a scalar is like an array of one value
    H5Sget_simple_extent_dims(space, dims.data(), nullptr);
    const bool isEmpty = std::find(dims.begin(), dims.end(), 0u) != dims.end();
    if (rank < 0 || isEmpty || count == 0 || !FindBlock(dims, first, count, start, shape)) {
      return "a data set with another shape";
    }
    const hsize_t length = count;
    const Handle memory(H5Screate_simple(1, &length, nullptr));
    if (rank > 0) {
      H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, shape.data(), nullptr);
    }
    const herr_t done = H5Dread(opened, NativeType(type), memory, space, H5P_DEFAULT, values);
    return done < 0 ? LastMessage() : std::string();
  }

private:
  /// Opens the file. Returns whether opening succeeds. Opens the file without locking, because parallel file
  /// systems are often mounted without locks; or with locking if another reader of ParaView has opened the
  /// file with locking in this process.
  bool Open()
  {
    const Handle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_file_locking(access, false, true);
    this->File = Handle(H5Fopen(this->PathName.c_str(), H5F_ACC_RDONLY, access));
    if (!this->File.IsValid()) {
      this->File = Handle(H5Fopen(this->PathName.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    }
    return this->File.IsValid();
  }

  std::string PathName;
  Handle File;
};

// The state of the child: its end of the connection, and the process ID of its parent.
int parentSocket = -1;
pid_t parentProcess = -1;

constexpr char ReplyValues = 'v', ReplyFault = 'f', ReplyOutOfMemory = 'm';

/// A request of the parent for values of a data set. The name of the data set follows, with `NameBytes`
/// bytes.
struct Request
{
  std::uint64_t First = 0, Count = 0, NameBytes = 0;
  ElementType Type = ElementType::Float32;
};

/// Sends `bytes` bytes of `data` through the socket `to`. Returns whether sending succeeds.
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

/// Receives `bytes` bytes from the socket `from` into `data`. Returns false if the connection fails, in
/// the parent if nothing comes for too long, and in the child if the parent has ended.
bool Receive(int from, void* data, std::size_t bytes)
{
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t received = ::recv(from, to, bytes, 0);
    if (received < 0 && (errno == EINTR || (errno == EAGAIN && ::getppid() == parentProcess))) {
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

void SetLimit(decltype(RLIMIT_AS) resource, std::uint64_t maximum)
{
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, maximum);
  ::setrlimit(resource, &limit);
}

/// Returns the size of this process's address space in bytes.
std::uint64_t AddressSpace()
{
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns the processor time of this process, in seconds.
std::uint64_t SecondsUsed()
{
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
}

/// Reports to the parent that the memory does not suffice, and ends this process.
[[noreturn]] void ExitOutOfMemory()
{
  ::send(parentSocket, &ReplyOutOfMemory, 1, MSG_NOSIGNAL);
  ::_exit(1);
}

herr_t ExitIfOutOfMemory(unsigned, const H5E_error2_t* error, void*)
{
  if (error->min_num == H5E_NOSPACE || error->min_num == H5E_CANTALLOC) {
    ExitOutOfMemory();
  }
  return 0;
}

/// Ends this process if HDF5 lacks memory. HDF5 calls OnFailure() whenever an HDF5 function fails.
herr_t OnFailure(hid_t stack, void*)
{
  return H5Ewalk2(stack, H5E_WALK_UPWARD, ExitIfOutOfMemory, nullptr);
}

/// Reads the values of a request and sends the reply. Returns false if the connection to the parent fails.
bool ServeRequest(Reader& reader, const Request& request, std::uint64_t fileBytes)
{
  std::string name(request.NameBytes, '\0');
  if (!Receive(parentSocket, name.data(), name.size())) {
    return false;
  }
  // The limit is in seconds of processor time, so waiting for a slow storage does not count.
  SetLimit(RLIMIT_CPU, SecondsUsed() + 3 + (fileBytes + request.Count * SizeOf(request.Type)) / (4 * MiB));
  std::vector<std::byte> values(request.Count * SizeOf(request.Type));
  const std::string fault = reader.Read(name, request.First, request.Count, request.Type, values.data());
  if (fault.empty()) {
    return Send(parentSocket, &ReplyValues, 1) && Send(parentSocket, values.data(), values.size());
  }
  const std::uint64_t length = fault.size();
  return Send(parentSocket, &ReplyFault, 1) && Send(parentSocket, &length, sizeof length) &&
         Send(parentSocket, fault.data(), fault.size());
}

/// Resets the signal handlers, discards the output and forbids core dumps in a child process, which inherits
/// the settings of the program.
void ResetSignalsAndOutput()
{
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGALRM, SIGTERM}) {
    std::signal(number, SIG_DFL);
  }
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  SetLimit(RLIMIT_CORE, 0);
}

/// Serves the requests of the parent until the parent ends. `file`: descriptor of the file; `fileBytes`: size
/// of the file.
[[noreturn]] void RunChild(int file, std::uint64_t fileBytes)
{
  ResetSignalsAndOutput();
  // Receive() checks each second whether the parent is alive, because other processes may keep the parent's
  // end of the connection open.
  const timeval checkInterval{1, 0};
  ::setsockopt(parentSocket, SOL_SOCKET, SO_RCVTIMEO, &checkInterval, sizeof checkInterval);
  H5Eset_auto2(H5E_DEFAULT, OnFailure, nullptr);
  const std::uint64_t before = AddressSpace();
  try {
    Reader reader(file);
    for (Request request; Receive(parentSocket, &request, sizeof request);) {
      SetLimit(RLIMIT_AS, before + 512 * MiB + 4 * fileBytes + 2 * request.Count * SizeOf(request.Type));
      if (!ServeRequest(reader, request, fileBytes)) {
        break;
      }
    }
  } catch (const std::bad_alloc&) {
    ExitOutOfMemory();
  }
  ::_exit(0);
}

}  // namespace

/// A child process that reads a file, controlled by this process, or a reader in this process if the library
/// is trusted.
class LibraryFile::Child
{
public:
  explicit Child(const std::string& path) : File(path), LocalReader(File.Descriptor())
  {
    int ends[2] = {};
    if (LibraryIsTrusted()) {
      return;
    }
    const std::uint64_t bytes = this->File.Size();
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw SystemError(path, "a file that a child process can read", errno);
    }
    const pid_t self = ::getpid();
    this->ProcessId = ::fork();
    const int fault = errno;
    if (this->ProcessId == 0) {
      parentProcess = self;
      ::close(ends[0]);
      parentSocket = ends[1];
      RunChild(this->File.Descriptor(), bytes);
    }
    ::close(ends[1]);
    this->Connection = ends[0];
    if (this->ProcessId < 0) {
      ::close(ends[0]);
      throw Error(fmt::format(
          "Cannot start a process that reads '{}' ({}). If you trust the file, set PATCHIO_HDF5=trust.", path,
          std::strerror(fault)));
    }
  }

  ~Child()
  {
    if (this->ProcessId > 0) {
      ::close(this->Connection);
      ::kill(this->ProcessId, SIGKILL);
      while (::waitpid(this->ProcessId, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends `request` to the child and receives the values. Returns, as a phrase, the reason why the values
  /// cannot be read; an empty text on success. Sets `isDead` to true if the child can serve no further
  /// request.
  std::string Read(const std::string& dataset, const Request& request, void* values, bool& isDead)
  {
    if (this->ProcessId < 0) {
      const QuietScope quiet;
      return this->LocalReader.Read(dataset, request.First, request.Count, request.Type, values);
    }
    // The child may wait forever, for example for a lock that another thread held during fork(). The time
    // limit is long, because the storage may be slow.
    const std::uint64_t bytes = this->File.Size() + request.Count * SizeOf(request.Type);
    const timeval longestWait{static_cast<time_t>(900 + bytes / MiB), 0};
    ::setsockopt(this->Connection, SOL_SOCKET, SO_RCVTIMEO, &longestWait, sizeof longestWait);
    char reply = 0;
    Send(this->Connection, &request, sizeof request);
    Send(this->Connection, dataset.data(), dataset.size());
    Receive(this->Connection, &reply, 1);
    if (reply == ReplyValues && Receive(this->Connection, values, request.Count * SizeOf(request.Type))) {
      return {};
    }
    std::uint64_t length = 0;
    if (reply == ReplyFault && Receive(this->Connection, &length, sizeof length)) {
      std::string fault(std::min<std::uint64_t>(length, 4096), '\0');
      Receive(this->Connection, fault.data(), fault.size());
      isDead = length > fault.size();
      return fault;
    }
    isDead = true;
    return reply == ReplyOutOfMemory
               ? "values that make the HDF5 library use too much memory"
               : "values that make the HDF5 library crash or hang, or no values because the process of "
                 "the library was killed";
  }

private:
  PlainFile File;
  Reader LocalReader;
  pid_t ProcessId = -1;
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

/// Returns whether the library in this process has a filter.
bool LoadedLibraryHasFilter(int filter)
{
  const QuietScope quiet;
  return H5Zfilter_avail(filter) > 0;
}

/// Returns whether the library in a child process has a filter. The query can load plug-ins, which must not
/// run in this process.
bool ChildHasFilter(int filter)
{
  const pid_t child = ::fork();
  if (child == 0) {
    ResetSignalsAndOutput();
    SetLimit(RLIMIT_CPU, SecondsUsed() + 3);
    ::alarm(60);  // this process may wait forever for a lock that another thread held during fork()
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
  constexpr std::size_t maximumCached = 64;
  static std::mutex lock;
  static std::map<int, bool> known;
  if (!LibraryIsAllowed()) {
    return false;
  }
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = known.find(filter);
  if (found != known.end() || known.size() == maximumCached) {
    return found != known.end() && found->second;
  }
  const bool queriesHere = filter < H5Z_FILTER_RESERVED || LibraryIsTrusted();
  return known[filter] = queriesHere ? LoadedLibraryHasFilter(filter) : ChildHasFilter(filter);
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
      PlaceRun(destination.Mapping, values.data(), 0, static_cast<std::int64_t>(array.Count), elementBytes,
          false, (*target.Slots)[c], destination.Data);
    });
  }
  FinishTask(target);
}

}  // namespace patchio
