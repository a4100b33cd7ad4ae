#include "ParallelWrites.h"

#include "Base/Error.h"

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>
#include <sys/uio.h>
#include <unistd.h>

#include <mutex>
#include <set>

namespace patchio::emulator {

#if FUSE_VERSION >= 315

void AllowParallelWrites(fuse_file_info* info)
{
  info->parallel_direct_writes = 1;
}

void AllowParallelWrites(fuse*) {}

#else

namespace {

/// Requests to open or create a file that have no reply yet.
std::mutex Lock;
std::set<std::uint64_t> Opening;

ssize_t ReadRequest(int kernel, void* bytes, std::size_t room, void*)
{
  const ssize_t got = ::read(kernel, bytes, room);
  if (got >= static_cast<ssize_t>(sizeof(fuse_in_header))) {
    const auto* request = static_cast<const fuse_in_header*>(bytes);
    if (request->opcode == FUSE_OPEN || request->opcode == FUSE_CREATE) {
      const std::lock_guard<std::mutex> guard(Lock);
      Opening.insert(request->unique);
    }
  }
  return got;
}

/// A reply has a header and, after a success, a second part that ends with the data of the opened file.
ssize_t WriteReply(int kernel, iovec* parts, int count, void*)
{
  const auto* reply = static_cast<const fuse_out_header*>(parts[0].iov_base);
  bool opens = false;
  {
    const std::lock_guard<std::mutex> guard(Lock);
    opens = Opening.erase(reply->unique) > 0;
  }
  if (opens && count == 2 && parts[1].iov_len >= sizeof(fuse_open_out)) {
    auto* opened = reinterpret_cast<fuse_open_out*>(
        static_cast<char*>(parts[1].iov_base) + parts[1].iov_len - sizeof(fuse_open_out));
    opened->open_flags |= FOPEN_PARALLEL_DIRECT_WRITES;
  }
  return ::writev(kernel, parts, count);
}

}  // namespace

void AllowParallelWrites(fuse_file_info*) {}

void AllowParallelWrites(fuse* fileSystem)
{
  fuse_session* session = fuse_get_session(fileSystem);
  const fuse_custom_io through{WriteReply, ReadRequest, nullptr, nullptr};
  if (fuse_session_custom_io(session, &through, fuse_session_fd(session)) != 0) {
    throw Error("libfuse does not let its requests be seen.");
  }
}

#endif

}  // namespace patchio::emulator
