#include "Passthrough.h"

#include "Base/Error.h"
#include "ParallelWrites.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

namespace patchio::emulator {

namespace {

/// Cached names and attributes are valid during the lifetime of the mount.
constexpr double ForEver = 1e6;

/// An open file. fuse_file_info::fh points to it.
struct OpenedFile
{
  int Descriptor = -1;  ///< -1 for the control file
  std::string Path;     ///< path below the mount, for faults
  std::string Report;   ///< content of the control file at the time of opening

  OpenedFile() = default;
  OpenedFile(const OpenedFile&) = delete;
  OpenedFile& operator=(const OpenedFile&) = delete;
  ~OpenedFile()
  {
    if (this->Descriptor >= 0) {
      ::close(this->Descriptor);
    }
  }
};

Passthrough& Self()
{
  return *static_cast<Passthrough*>(fuse_get_context()->private_data);
}

OpenedFile& FileOf(const fuse_file_info* info)
{
  return *reinterpret_cast<OpenedFile*>(info->fh);
}

DIR* FolderOf(const fuse_file_info* info)
{
  return reinterpret_cast<DIR*>(info->fh);
}

bool IsControl(const char* path)
{
  return path && std::strcmp(path, ControlFile) == 0;
}

bool IsControl(const char* path, const fuse_file_info* info)
{
  return info ? FileOf(info).Descriptor < 0 : IsControl(path);
}

/// Returns a path of libfuse, "/a/b", relative to the source folder: "a/b".
const char* Below(const char* path)
{
  return path[1] ? path + 1 : ".";
}

/// Returns a result as libfuse expects it: 0 or -errno.
int Outcome(int result)
{
  return result < 0 ? -errno : 0;
}

/// Executes a metadata request: waits for its time, then calls `work` on the source.
template <typename Work>
int OnSource(Work work)
{
  Self().Storage.Metadata();
  return Outcome(work(Self().Source));
}

void* Init(fuse_conn_info* connection, fuse_config* config)
{
  Passthrough& self = Self();
  const Settings& how = self.Storage.How();
  connection->max_read = LongestRequest;
  connection->max_write = LongestRequest;
  connection->max_background = MostRequests;
  connection->congestion_threshold = MostRequests;
  // Cached data stay valid until the end of the mount, and listing a folder does not look up its entries.
  connection->want &= ~(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO);
  config->use_ino = 1;
  config->nullpath_ok = 1;
  config->hard_remove = 1;
  config->kernel_cache = how.Cached;
  config->entry_timeout = how.MetadataCache ? ForEver : 0;
  config->attr_timeout = config->entry_timeout;
  config->negative_timeout = 0;
  self.Served();
  return &self;
}

struct stat AttributesOfControl()
{
  struct stat attributes = {};
  attributes.st_ino = ~0ULL;
  attributes.st_mode = S_IFREG | 0600;
  attributes.st_nlink = 1;
  attributes.st_uid = ::getuid();
  attributes.st_gid = ::getgid();
  return attributes;
}

int GetAttributes(const char* path, struct stat* attributes, fuse_file_info* info)
{
  if (IsControl(path, info)) {
    *attributes = AttributesOfControl();
    return 0;
  }
  return OnSource([&](int source) {
    return info ? ::fstat(FileOf(info).Descriptor, attributes)
                : ::fstatat(source, Below(path), attributes, AT_SYMLINK_NOFOLLOW);
  });
}

int OpenControl(fuse_file_info* info)
{
  auto file = std::make_unique<OpenedFile>();
  file->Report = Self().Storage.Report();
  info->direct_io = 1;
  info->fh = reinterpret_cast<std::uint64_t>(file.release());
  return 0;
}

int OpenOnSource(const char* path, int extraFlags, mode_t mode, fuse_file_info* info)
{
  Passthrough& self = Self();
  self.Storage.OpenFile();
  auto file = std::make_unique<OpenedFile>();
  file->Path = Below(path);
  // The kernel itself sets the offset of appended bytes, and O_DIRECT concerns the client's cache.
  const int flags = (info->flags & ~(O_APPEND | O_DIRECT)) | extraFlags | O_CLOEXEC;
  file->Descriptor = ::openat(self.Source, Below(path), flags, mode);
  if (file->Descriptor < 0) {
    return -errno;
  }
  info->direct_io = !self.Storage.How().Cached;
  info->keep_cache = self.Storage.How().Cached;
  AllowParallelWrites(info);
  info->fh = reinterpret_cast<std::uint64_t>(file.release());
  return 0;
}

int Open(const char* path, fuse_file_info* info)
{
  return IsControl(path) ? OpenControl(info) : OpenOnSource(path, 0, 0, info);
}

int Create(const char* path, mode_t mode, fuse_file_info* info)
{
  return OpenOnSource(path, O_CREAT, mode, info);
}

int Release(const char*, fuse_file_info* info)
{
  delete &FileOf(info);
  return 0;
}

/// Returns the number of bytes before the end of the file, or -errno.
ssize_t BytesThere(int descriptor, std::size_t bytes, off_t offset)
{
  struct stat attributes;
  if (::fstat(descriptor, &attributes) != 0) {
    return -errno;
  }
  const auto length = static_cast<std::uint64_t>(attributes.st_size);
  const std::uint64_t begin = std::min<std::uint64_t>(offset, length);
  return std::min<std::uint64_t>(bytes, length - begin);
}

/// Reads up to `bytes` bytes, or to the end of the file. Returns the number of bytes read, or -errno.
ssize_t ReadFully(int descriptor, char* into, std::size_t bytes, off_t offset)
{
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::pread(descriptor, into + done, bytes - done, offset + done);
    if (got < 0) {
      return -errno;
    }
    if (got == 0) {
      break;
    }
    done += got;
  }
  return done;
}

int Read(const char*, char* into, std::size_t bytes, off_t offset, fuse_file_info* info)
{
  const OpenedFile& file = FileOf(info);
  if (file.Descriptor < 0) {
    return static_cast<int>(file.Report.copy(into, bytes, std::min<std::size_t>(offset, file.Report.size())));
  }
  Emulator& storage = Self().Storage;
  if (storage.PrepareRead(file.Path)) {
    storage.Read(0).Await();
    return -EIO;
  }
  const ssize_t there = BytesThere(file.Descriptor, bytes, offset);
  if (there < 0) {
    return static_cast<int>(there);
  }
  // Reads the real file during the emulated request, so that the times do not add up.
  Gate::Request request = storage.Read(there);
  const ssize_t got = ReadFully(file.Descriptor, into, there, offset);
  request.Await();
  return static_cast<int>(got);
}

int WriteCommands(const char* text, std::size_t bytes)
{
  std::istringstream lines(std::string(text, bytes));
  for (std::string line; std::getline(lines, line);) {
    try {
      Self().Storage.Command(line);
    } catch (const Error& error) {
      std::fprintf(stderr, "patchio_slow_storage: %s\n", error.what());
      return -EINVAL;
    }
  }
  return static_cast<int>(bytes);
}

int Write(const char*, const char* data, std::size_t bytes, off_t offset, fuse_file_info* info)
{
  const OpenedFile& file = FileOf(info);
  if (file.Descriptor < 0) {
    return WriteCommands(data, bytes);
  }
  const ssize_t written = ::pwrite(file.Descriptor, data, bytes, offset);
  if (written < 0) {
    return -errno;
  }
  Self().Storage.Written(written);
  return static_cast<int>(written);
}

/// Reports errors that the source detects only on closing.
int Flush(const char*, fuse_file_info* info)
{
  const OpenedFile& file = FileOf(info);
  return file.Descriptor < 0 ? 0 : Outcome(::close(::dup(file.Descriptor)));
}

int Synchronize(const char*, int onlyData, fuse_file_info* info)
{
  const int descriptor = FileOf(info).Descriptor;
  return descriptor < 0 ? 0 : Outcome(onlyData ? ::fdatasync(descriptor) : ::fsync(descriptor));
}

int Truncate(const char* path, off_t length, fuse_file_info* info)
{
  if (IsControl(path, info)) {
    return 0;
  }
  return OnSource([&](int source) {
    if (info) {
      return ::ftruncate(FileOf(info).Descriptor, length);
    }
    OpenedFile file;
    file.Descriptor = ::openat(source, Below(path), O_WRONLY | O_CLOEXEC);
    return file.Descriptor < 0 ? -1 : ::ftruncate(file.Descriptor, length);
  });
}

int Allocate(const char*, int mode, off_t offset, off_t length, fuse_file_info* info)
{
  return Outcome(::fallocate(FileOf(info).Descriptor, mode, offset, length));
}

int OpenFolder(const char* path, fuse_file_info* info)
{
  Self().Storage.Metadata();
  const int descriptor = ::openat(Self().Source, Below(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return -errno;
  }
  DIR* folder = ::fdopendir(descriptor);
  if (!folder) {
    const int error = errno;
    ::close(descriptor);
    return -error;
  }
  info->fh = reinterpret_cast<std::uint64_t>(folder);
  return 0;
}

int ReadFolder(
    const char*, void* listing, fuse_fill_dir_t fill, off_t, fuse_file_info* info, fuse_readdir_flags)
{
  ::rewinddir(FolderOf(info));
  errno = 0;
  while (const dirent* entry = ::readdir(FolderOf(info))) {
    struct stat attributes = {};
    attributes.st_ino = entry->d_ino;
    attributes.st_mode = DTTOIF(entry->d_type);
    if (fill(listing, entry->d_name, &attributes, 0, static_cast<fuse_fill_dir_flags>(0)) != 0) {
      return -ENOMEM;
    }
    errno = 0;
  }
  return -errno;
}

int ReleaseFolder(const char*, fuse_file_info* info)
{
  return Outcome(::closedir(FolderOf(info)));
}

int MakeFolder(const char* path, mode_t mode)
{
  return OnSource([&](int source) { return ::mkdirat(source, Below(path), mode); });
}

int Unlink(const char* path)
{
  return OnSource([&](int source) { return ::unlinkat(source, Below(path), 0); });
}

int RemoveFolder(const char* path)
{
  return OnSource([&](int source) { return ::unlinkat(source, Below(path), AT_REMOVEDIR); });
}

int Rename(const char* from, const char* to, unsigned flags)
{
  if (IsControl(from) || IsControl(to)) {
    return -EPERM;
  }
  return OnSource([&](int source) { return ::renameat2(source, Below(from), source, Below(to), flags); });
}

int ReadLink(const char* path, char* target, std::size_t bytes)
{
  Self().Storage.Metadata();
  const ssize_t length = ::readlinkat(Self().Source, Below(path), target, bytes - 1);
  if (length < 0) {
    return -errno;
  }
  target[length] = '\0';
  return 0;
}

int SetTimes(const char* path, const timespec times[2], fuse_file_info* info)
{
  if (IsControl(path, info)) {
    return 0;
  }
  return OnSource([&](int source) {
    return info ? ::futimens(FileOf(info).Descriptor, times)
                : ::utimensat(source, Below(path), times, AT_SYMLINK_NOFOLLOW);
  });
}

int ChangeMode(const char* path, mode_t mode, fuse_file_info* info)
{
  if (IsControl(path, info)) {
    return -EPERM;
  }
  return OnSource([&](int source) {
    return info ? ::fchmod(FileOf(info).Descriptor, mode) : ::fchmodat(source, Below(path), mode, 0);
  });
}

int FileSystem(const char*, struct statvfs* attributes)
{
  return OnSource([&](int source) { return ::fstatvfs(source, attributes); });
}

}  // namespace

fuse_operations PassthroughOperations()
{
  fuse_operations operations = {};
  operations.init = Init;
  operations.getattr = GetAttributes;
  operations.open = Open;
  operations.create = Create;
  operations.release = Release;
  operations.read = Read;
  operations.write = Write;
  operations.flush = Flush;
  operations.fsync = Synchronize;
  operations.truncate = Truncate;
  operations.fallocate = Allocate;
  operations.opendir = OpenFolder;
  operations.readdir = ReadFolder;
  operations.releasedir = ReleaseFolder;
  operations.mkdir = MakeFolder;
  operations.unlink = Unlink;
  operations.rmdir = RemoveFolder;
  operations.rename = Rename;
  operations.readlink = ReadLink;
  operations.utimens = SetTimes;
  operations.chmod = ChangeMode;
  operations.statfs = FileSystem;
  return operations;
}

}  // namespace patchio::emulator
