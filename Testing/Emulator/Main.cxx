// patchio_slow_storage: shows a folder through a mount that behaves like a parallel file system.
#include "ParallelWrites.h"
#include "Passthrough.h"

#include "Base/Error.h"

#include <CLI/CLI.hpp>

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace {

using patchio::Error;
using patchio::FileError;
using patchio::SystemMessage;
using namespace patchio::emulator;

struct Options
{
  std::string Source;
  std::string Mount;
  Settings How;
  std::vector<std::string> Faults;
};

/// Adds an option in units of the user (ms, MB/s) for a value in SI units (s, bytes/s).
void AddScaled(
    CLI::App& program, const std::string& name, double& value, double unit, const std::string& help)
{
  program
      .add_option_function<double>(
          name, [&value, unit](double given) { value = given * unit; }, help)
      ->default_str(CLI::detail::to_string(value / unit));
}

void AddStorageOptions(CLI::App& program, Settings& how)
{
  Model& storage = how.Storage;
  AddScaled(program, "--latency", storage.Latency, 1e-3, "L: ms of a request besides its bytes");
  AddScaled(program, "--stream", storage.Stream, 1e6, "B: MB/s of one request");
  program.add_option("--concurrency", storage.Concurrency, "N*: requests served at once at full speed")
      ->capture_default_str();
  AddScaled(program, "--total", storage.Total, 1e6, "W: MB/s of the whole storage; 0: no limit");
  program.add_option("--contention", storage.Contention, "gamma: past N* the rate falls as (N*/N)^gamma")
      ->capture_default_str();
  program.add_option("--load", how.Load, "NC: requests that others keep in flight")->capture_default_str();
}

void AddClientOptions(CLI::App& program, Options& options)
{
  program.add_option_function<double>(
      "--metadata-latency", [&options](double given) { options.How.MetadataLatency = given * 1e-3; },
      "ms of opening, looking up and the like; default: that of --latency");
  program.add_flag("--cached", options.How.Cached, "let the kernel keep what was read");
  program.add_flag(
      "!--no-metadata-cache", options.How.MetadataCache, "names and attributes are always asked for");
  program.add_flag("--slow-writes", options.How.SlowWrites, "writes are served like reads");
  program.add_option("--fault", options.Faults, "'PATTERN KIND [--after N] ...' as the command `fault`");
}

/// Ends the program's loop after a signal, or when the parent process ends.
class Lifetime
{
public:
  /// Must be called before other threads start, because they inherit the signals that are blocked here.
  Lifetime()
      : Ended(::eventfd(0, EFD_CLOEXEC)), Parent(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)))
  {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
      ::sigaddset(&signals, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    this->Signals = ::signalfd(-1, &signals, SFD_CLOEXEC);
    struct sigaction nothing = {};
    nothing.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &nothing, nullptr);
  }

  ~Lifetime()
  {
    this->Finish();
    for (const int descriptor : {this->Ended, this->Signals, this->Parent}) {
      if (descriptor >= 0) {
        ::close(descriptor);
      }
    }
  }

  void Watch(Emulator& emulator, fuse* fileSystem)
  {
    const pthread_t looping = ::pthread_self();
    this->Watcher = std::thread([this, &emulator, fileSystem, looping] {
      if (!this->Await(-1)) {
        return;
      }
      emulator.Stop();
      fuse_exit(fileSystem);
      do {
        // The loop reads fuse_exit's flag when its wait is interrupted. A signal just before the wait would
        // be lost, so this is repeated.
        ::pthread_kill(looping, SIGUSR1);
      } while (this->Await(20));
    });
  }

  /// Called after the end of the loop.
  void Finish()
  {
    if (this->Watcher.joinable()) {
      ::eventfd_write(this->Ended, 1);
      this->Watcher.join();
    }
  }

private:
  /// Waits for at most `milliseconds`. Returns false if the loop has ended; otherwise true, because the
  /// program should end or the time is over.
  bool Await(int milliseconds) const
  {
    pollfd events[] = {{this->Ended, POLLIN, 0}, {milliseconds < 0 ? this->Signals : -1, POLLIN, 0},
        {milliseconds < 0 ? this->Parent : -1, POLLIN, 0}};
    while (::poll(events, 3, milliseconds) < 0 && errno == EINTR) {
    }
    return events[0].revents == 0;
  }

  int Ended;
  int Parent;
  int Signals = -1;
  std::thread Watcher;
};

int OpenSource(const Options& options)
{
  const int source = ::open(options.Source.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (source < 0) {
    throw FileError(options.Source, "a folder to show", SystemMessage(errno));
  }
  return source;
}

void CheckMountPoint(const Options& options)
{
  if (::access("/dev/fuse", R_OK | W_OK) != 0) {
    throw FileError("/dev/fuse", "a device to mount with", SystemMessage(errno),
        "run where FUSE is allowed; a container needs --device /dev/fuse --cap-add SYS_ADMIN");
  }
  struct stat attributes;
  if (::stat(options.Mount.c_str(), &attributes) != 0 || !S_ISDIR(attributes.st_mode)) {
    throw FileError(options.Mount, "a folder to mount on", "none");
  }
  const std::string source = std::filesystem::canonical(options.Source).string() + "/";
  const std::string mount = std::filesystem::canonical(options.Mount).string() + "/";
  if (mount != source && mount.compare(0, source.size(), source) == 0) {
    throw FileError(options.Mount, "a folder outside of the one that is shown", "one inside");
  }
}

/// Returns whether `mount` is a mount whose process has ended.
bool IsDeadMount(const std::string& mount)
{
  struct stat attributes;
  return ::stat(mount.c_str(), &attributes) != 0 && errno == ENOTCONN;
}

/// Removes a dead mount. Without fusermount3, this requires root.
void Detach(const std::string& mount)
{
  if (::umount2(mount.c_str(), MNT_DETACH) != 0) {
    ::execlp("fusermount3", "fusermount3", "-u", "-z", "-q", mount.c_str(), nullptr);
  }
}

/// Starts a process that removes the mount if this process is killed. Must be called before threads start.
void StartGuard(const std::string& mount)
{
  const int guarded = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  const pid_t guard = ::fork();
  if (guard != 0) {
    ::close(guarded);
    return;
  }
  ::setsid();
  ::chdir("/");
  // Closes the standard streams of the guard, so that readers of a pipe do not wait for it.
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) {
    ::dup2(nothing, stream);
  }
  pollfd event = {guarded, POLLIN, 0};
  while (::poll(&event, 1, -1) < 0 && errno == EINTR) {
  }
  if (IsDeadMount(mount)) {
    Detach(mount);
  }
  ::_exit(0);
}

void SayReady()
{
  std::puts("ready");
  std::fflush(stdout);
}

void Serve(const Options& options, Passthrough& passthrough, Lifetime& lifetime)
{
  const fuse_operations operations = PassthroughOperations();
  fuse_args arguments = FUSE_ARGS_INIT(0, nullptr);
  const std::string mounting = "fsname=patchio_slow_storage,max_read=" + std::to_string(LongestRequest);
  fuse_opt_add_arg(&arguments, "patchio_slow_storage");
  fuse_opt_add_arg(&arguments, "-o");
  fuse_opt_add_arg(&arguments, mounting.c_str());
  fuse* fileSystem = fuse_new(&arguments, &operations, sizeof operations, &passthrough);
  fuse_opt_free_args(&arguments);
  if (!fileSystem) {
    throw Error("libfuse does not start.");
  }
  if (fuse_mount(fileSystem, options.Mount.c_str()) != 0) {
    fuse_destroy(fileSystem);
    throw FileError(
        options.Mount, "a folder to mount on", "one where mounting failed", "see the message above");
  }
  AllowParallelWrites(fileSystem);
  fuse_loop_config* loop = fuse_loop_cfg_create();
  fuse_loop_cfg_set_max_threads(loop, MostRequests);
  fuse_loop_cfg_set_idle_threads(loop, MostRequests);
  lifetime.Watch(passthrough.Storage, fileSystem);
  fuse_loop_mt(fileSystem, loop);
  lifetime.Finish();
  fuse_loop_cfg_destroy(loop);
  fuse_unmount(fileSystem);
  fuse_destroy(fileSystem);
}

void Run(Options& options)
{
  CheckMountPoint(options);
  StartGuard(std::filesystem::canonical(options.Mount).string());
  // Keeps the memory of replies, because new memory for each reply would cost more than the copy.
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // Without this, the kernel may add 50 us to each wait. Threads inherit the setting.
  ::prctl(PR_SET_TIMERSLACK, 1);
  ::umask(0);
  Lifetime lifetime;
  Emulator emulator(options.How);
  for (const std::string& fault : options.Faults) {
    emulator.Command("fault " + fault);
  }
  Passthrough passthrough{emulator, OpenSource(options), SayReady};
  Serve(options, passthrough, lifetime);
  ::close(passthrough.Source);
}

}  // namespace

int main(int argc, char** argv)
{
  Options options;
  CLI::App program(
      "Shows the folder SOURCE at MOUNT as a parallel file system would", "patchio_slow_storage");
  program.add_option("source", options.Source, "folder that is shown")->required();
  program.add_option("mount", options.Mount, "folder where it is shown; what is in it is hidden meanwhile")
      ->required();
  AddStorageOptions(program, options.How);
  AddClientOptions(program, options);
  try {
    program.parse(argc, argv);
    if (program.count("--metadata-latency") == 0) {
      options.How.MetadataLatency = options.How.Storage.Latency;
    }
    Run(options);
  } catch (const CLI::ParseError& error) {
    return program.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "patchio_slow_storage: %s\n", error.what());
    return 1;
  }
  return 0;
}
