/* A preloaded library that makes writes fail according to $WRITE_FAULT, "HOW NUMBER". ENOSPC, EIO: all
 * requests from this number on fail. EINTR, short: only this request fails, or writes only some of its bytes.
 * kill: the process ends at this request. slow: each request takes NUMBER milliseconds. Only for files of
 * containers and of k-Wave. For kill, renames, links and removals of files count as requests. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int IsOurs(int file)
{
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  path[length > 0 ? length : 0] = 0;
  return strstr(path, ".pio/") || strstr(path, ".h5");
}

static int count = 0;

/* Called before a rename, link or removal. */
static void Passed(const char* path)
{
  const char* wanted = getenv("WRITE_FAULT");
  int number = 0;
  if (strstr(path, ".pio/") && wanted && sscanf(wanted, "kill %d", &number) == 1 &&
      __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST) == number) {
    raise(SIGKILL);
  }
}

int rename(const char* from, const char* to)
{
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "rename");
  Passed(to);
  return real(from, to);
}

int remove(const char* path)
{
  int (*real)(const char*) = dlsym(RTLD_NEXT, "remove");
  Passed(path);
  return real(path);
}

int link(const char* from, const char* to)
{
  int (*real)(const char*, const char*) = dlsym(RTLD_NEXT, "link");
  Passed(to);
  return real(from, to);
}

/* Returns 1 for a failure with errno, 2 for a short write, 0 for no fault. */
static int Fault(int file)
{
  const char* wanted = getenv("WRITE_FAULT");
  char how[16] = "";
  int number = 0;
  if (!wanted || !IsOurs(file) || sscanf(wanted, "%15s %d", how, &number) != 2) {
    return 0;
  }
  const int now = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (strcmp(how, "slow") == 0) {
    usleep(1000 * number);
    return 0;
  }
  if (strcmp(how, "kill") == 0) {
    return now == number ? raise(SIGKILL) : 0;
  }
  if (strcmp(how, "short") == 0 || strcmp(how, "EINTR") == 0) {
    errno = EINTR;
    return now != number ? 0 : strcmp(how, "short") == 0 ? 2 : 1;
  }
  errno = strcmp(how, "ENOSPC") == 0 ? ENOSPC : EIO;
  return now >= number;
}

ssize_t pwritev64(int file, const struct iovec* buffers, int count, off64_t offset)
{
  ssize_t (*real)(int, const struct iovec*, int, off64_t) = dlsym(RTLD_NEXT, "pwritev64");
  const int fault = Fault(file);
  if (fault == 1) {
    return -1;
  }
  if (fault == 2) {
    const struct iovec part = {buffers[0].iov_base, buffers[0].iov_len / 2};
    return real(file, &part, 1, offset);
  }
  return real(file, buffers, count, offset);
}

ssize_t pwritev(int file, const struct iovec* buffers, int count, off_t offset)
{
  return pwritev64(file, buffers, count, offset);
}

ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t offset)
{
  ssize_t (*real)(int, const void*, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
  return Fault(file) == 1 ? -1 : real(file, data, bytes, offset);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset)
{
  return pwrite64(file, data, bytes, offset);
}

int fsync(int file)
{
  int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
  return Fault(file) == 1 && errno != EINTR ? -1 : real(file);
}
