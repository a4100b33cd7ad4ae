/* A preloaded library that makes system calls fail according to plans: see inject.py, which writes plans and
 * reads the counts. The plans are in the file $PATCHIO_INJECT, which all processes map, so that plans may
 * change at any time and the calls of all processes count. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Calls { Open = 1, Read = 2, Write = 4, Sync = 8, State = 16, Create = 32, Rename = 64, Memory = 128 };
enum Effects { Fails = 0, Short = 1, Waits = 2 };
enum { MostPlans = 4, LongestText = 224 };

/* The layout is that of inject.py. */
struct Plan
{
  uint32_t Calls;   /* 0: no plan */
  int32_t Error;    /* errno */
  uint32_t Effect;  /* Waits: Error is milliseconds */
  uint32_t Unused;
  uint64_t First;   /* the first call that fails, from 1 */
  uint64_t Count;   /* and so many after it; 0: all */
  uint64_t Least;   /* bytes of an allocation */
  uint64_t Seen;    /* calls that the plan is about */
  uint64_t Hit;     /* those that it changed */
  char Path[LongestText];  /* what is in the path */
};

static struct Plan* Plans = NULL;

__attribute__((constructor)) static void MapPlans(void)
{
  const char* path = getenv("PATCHIO_INJECT");
  const int file = path ? (int)openat(AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    void* memory = mmap(NULL, MostPlans * sizeof(struct Plan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    Plans = memory == MAP_FAILED ? NULL : memory;
    close(file);
  }
}

/* Returns the plan that changes this call, or NULL if there is none. */
static const struct Plan* Matches(uint32_t call, const char* path, uint64_t bytes)
{
  const struct Plan* found = NULL;
  for (int i = 0; Plans && i < MostPlans; ++i) {
    struct Plan* plan = &Plans[i];
    if ((plan->Calls & call) == 0 || bytes < plan->Least || (path && !strstr(path, plan->Path))) {
      continue;
    }
    const uint64_t now = __atomic_add_fetch(&plan->Seen, 1, __ATOMIC_SEQ_CST);
    if (now >= plan->First && (plan->Count == 0 || now < plan->First + plan->Count)) {
      __atomic_add_fetch(&plan->Hit, 1, __ATOMIC_SEQ_CST);
      found = plan;
    }
  }
  if (found && found->Effect == Waits) {
    usleep(1000 * (useconds_t)found->Error);
    return NULL;
  }
  if (found) {
    errno = found->Error;
  }
  return found;
}

static int AnyPlan(uint32_t call)
{
  for (int i = 0; Plans && i < MostPlans; ++i) {
    if (Plans[i].Calls & call) {
      return 1;
    }
  }
  return 0;
}

static const struct Plan* OfFile(uint32_t call, int file)
{
  char link[64], path[4096];
  const int kept = errno;
  if (!AnyPlan(call)) {
    return NULL;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  errno = kept;
  return Matches(call, path, UINT64_MAX);
}

static const struct Plan* OfPath(uint32_t call, const char* path)
{
  return path && AnyPlan(call) ? Matches(call, path, UINT64_MAX) : NULL;
}

/* ---- by path ---- */

static const struct Plan* OfOpening(const char* path, int flags)
{
  return OfPath((flags & O_ACCMODE) == O_RDONLY ? Open : Open | Create, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPENAT(name)                                            \
  int name(int folder, const char* path, int flags, ...)        \
  {                                                             \
    va_list more;                                               \
    va_start(more, flags);                                      \
    const mode_t mode = va_arg(more, mode_t);                   \
    va_end(more);                                               \
    return OfOpening(path, flags) ? -1 : REAL(name)(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

#define OPEN(name)                                              \
  int name(const char* path, int flags, ...)                    \
  {                                                             \
    va_list more;                                               \
    va_start(more, flags);                                      \
    const mode_t mode = va_arg(more, mode_t);                   \
    va_end(more);                                               \
    return OfOpening(path, flags) ? -1 : REAL(name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                             \
  FILE* name(const char* path, const char* how)                 \
  {                                                             \
    return OfOpening(path, how[0] == 'r' && !strchr(how, '+') ? O_RDONLY : O_RDWR) ? NULL : REAL(name)(path, how); \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define STAT(name, type)                                        \
  int name(const char* path, type* state)                       \
  {                                                             \
    return OfPath(State, path) ? -1 : REAL(name)(path, state);  \
  }
STAT(stat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat, struct stat)
STAT(lstat64, struct stat64)

#define FSTAT(name, type)                                       \
  int name(int file, type* state)                               \
  {                                                             \
    return OfFile(State, file) ? -1 : REAL(name)(file, state);  \
  }
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

int rename(const char* from, const char* to)
{
  return OfPath(Rename, to) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char* path, mode_t mode)
{
  return OfPath(Create, path) ? -1 : REAL(mkdir)(path, mode);
}

/* ---- by file ---- */

/* Returns the number of bytes to move, or -1 for a failure. */
static ssize_t Moves(uint32_t call, int file, size_t bytes)
{
  const struct Plan* plan = OfFile(call, file);
  return !plan ? (ssize_t)bytes : plan->Effect == Short && bytes > 1 ? (ssize_t)(bytes / 2) : plan->Effect == Short ? (ssize_t)bytes : -1;
}

#define MOVE(name, call, pointer)                               \
  ssize_t name(int file, pointer data, size_t bytes)            \
  {                                                             \
    const ssize_t some = Moves(call, file, bytes);              \
    return some < 0 ? -1 : REAL(name)(file, data, (size_t)some); \
  }
MOVE(read, Read, void*)
MOVE(write, Write, const void*)

#define MOVE_AT(name, call, pointer, type)                      \
  ssize_t name(int file, pointer data, size_t bytes, type offset) \
  {                                                             \
    const ssize_t some = Moves(call, file, bytes);              \
    return some < 0 ? -1 : REAL(name)(file, data, (size_t)some, offset); \
  }
MOVE_AT(pread, Read, void*, off_t)
MOVE_AT(pread64, Read, void*, off64_t)
MOVE_AT(pwrite, Write, const void*, off_t)
MOVE_AT(pwrite64, Write, const void*, off64_t)

#define MOVE_LIST(name, call, type)                             \
  ssize_t name(int file, const struct iovec* buffers, int count, type offset) \
  {                                                             \
    const size_t first = count > 0 ? buffers[0].iov_len : 0;    \
    const ssize_t some = Moves(call, file, first);              \
    const struct iovec part = {count > 0 ? buffers[0].iov_base : NULL, (size_t)some}; \
    return some < 0 ? -1 : REAL(name)(file, (size_t)some < first ? &part : buffers, (size_t)some < first ? 1 : count, offset); \
  }
MOVE_LIST(preadv, Read, off_t)
MOVE_LIST(preadv64, Read, off64_t)
MOVE_LIST(pwritev, Write, off_t)
MOVE_LIST(pwritev64, Write, off64_t)

#define SYNC(name)                                              \
  int name(int file)                                            \
  {                                                             \
    return OfFile(Sync, file) ? -1 : REAL(name)(file);          \
  }
SYNC(fsync)
SYNC(fdatasync)

#define ALLOCATE(name, type)                                    \
  int name(int file, type offset, type bytes)                   \
  {                                                             \
    return OfFile(Write, file) ? errno : REAL(name)(file, offset, bytes); \
  }
ALLOCATE(posix_fallocate, off_t)
ALLOCATE(posix_fallocate64, off64_t)

/* ---- memory ---- */

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

/* Returns whether the caller's allocations may fail: "new" of C++, or a library by its name. Failures in
 * Python, numpy, HDF5 or VTK end the program. */
static int IsOurs(const void* caller)
{
  static const char* const others[] = {"hdf5", "python3", "numpy", "libc.so", "-pv5", NULL};
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname) {
    return 0;
  }
  for (const char* const* other = others; *other; ++other) {
    if (strstr(info.dli_fname, *other)) {
      return 0;
    }
  }
  return 1;
}

static int NoMemory(size_t bytes, const void* caller)
{
  return Plans && AnyPlan(Memory) && IsOurs(caller) && Matches(Memory, NULL, bytes);
}

void* malloc(size_t bytes)
{
  return NoMemory(bytes, __builtin_return_address(0)) ? NULL : __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes)
{
  return NoMemory(count * bytes, __builtin_return_address(0)) ? NULL : __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes)
{
  return NoMemory(bytes, __builtin_return_address(0)) ? NULL : __libc_realloc(memory, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes)
{
  return NoMemory(bytes, __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** memory, size_t alignment, size_t bytes)
{
  *memory = NoMemory(bytes, __builtin_return_address(0)) ? NULL : __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
