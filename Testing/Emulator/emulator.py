"""Python interface of the emulated storage (README.md): starts it, controls it and stops it.

    with emulator.slow_storage("/data", latency=2, concurrency=16) as storage:
        read_something(storage.mount)
        print(storage.counters()["most_in_flight"])
        storage.command("load 32")

Times are milliseconds and rates MB/s, as on the command line of patchio_slow_storage.
"""
import contextlib
import ctypes
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class EmulatorError(Exception):
    pass


def program():
    """Returns the path of patchio_slow_storage, in $PATCHIO_PROGRAMS or on the PATH, or None if it is missing."""
    return shutil.which("patchio_slow_storage", path=os.environ.get("PATCHIO_PROGRAMS", os.environ.get("PATH")))


def missing(executable=None):
    """Returns, as a phrase, what this machine lacks to emulate a storage, or None if it can."""
    executable = executable or program()
    if not executable or not os.access(executable, os.X_OK):
        return "patchio_slow_storage, which is built if pkg-config finds fuse3 (libfuse3-dev)"
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse, the device for mounts"
    with tempfile.TemporaryDirectory() as folder:
        # Containers may have the device but forbid mounts.
        try:
            with slow_storage(folder, executable=executable):
                return None
        except EmulatorError as error:
            return "the right to mount (%s)" % error


def options_of(settings):
    """Returns settings such as {"latency": 2, "cached": True, "fault": ["a eio"]} as arguments of the program."""
    arguments = []
    for name, value in settings.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            for each in value:
                arguments += [option, str(each)]
        elif value is not None and value is not False:
            arguments += [option, str(value)]
    return arguments


def is_missing(report, what):
    """Returns whether this machine cannot emulate a storage. The report then marks `what` as skipped."""
    lack = missing()
    if lack:
        report.skipped(what, "this machine lacks " + lack)
    return bool(lack)


def measure_on(report, what, data, measure, **settings):
    """Empties the folder `data` and calls measure(storage) with an emulated storage of it, if this machine can emulate."""
    if is_missing(report, what):
        return
    shutil.rmtree(data, ignore_errors=True)
    os.makedirs(data)
    with slow_storage(data, **settings) as storage:
        measure(storage)


def is_mounted(path):
    with open("/proc/self/mounts") as mounts:
        return any(line.split()[1].encode().decode("unicode_escape") == os.path.realpath(path) for line in mounts)


def detach(path):
    """Removes a mount, even if its program has ended or if it is in use."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).umount2(os.fsencode(path), 2)  # MNT_DETACH
    else:
        subprocess.run(["fusermount3", "-u", "-z", "-q", path], check=False)


class Storage:
    """A running emulator."""

    def __init__(self, process, mount):
        self.process = process
        self.mount = mount

    def path(self, *parts):
        return os.path.join(self.mount, *parts)

    def counters(self):
        """Returns its counters since the start or the last reset, and its settings."""
        with open(self.path(".emulator")) as report:
            return json.load(report)

    def command(self, line):
        try:
            with open(self.path(".emulator"), "w") as control:
                control.write(line)
        except OSError:
            raise EmulatorError(self.counters()["last_error"]) from None

    def reset(self):
        self.command("reset")

    def load(self, others):
        """Sets NC."""
        self.command("load %s" % others)

    def stop(self):
        """Stops the emulator and removes its mount, in any state."""
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if is_mounted(self.mount):
            detach(self.mount)


def await_ready(process, seconds):
    """Returns True when the emulator is ready, and False if it has ended or is not ready after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([process.stdout], [], [], 0.1)[0]:
            return process.stdout.readline() == b"ready\n"
    return False


def start(source, mount, executable=None, **settings):
    executable = executable or program()
    if not executable:
        raise EmulatorError("patchio_slow_storage is missing")
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([executable, source, mount] + options_of(settings), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors)
        storage = Storage(process, mount)
        if not await_ready(process, 20):
            storage.stop()
            errors.seek(0)
            raise EmulatorError(errors.read().decode(errors="replace").strip() or "the emulator did not start")
    return storage


@contextlib.contextmanager
def slow_storage(source, executable=None, **settings):
    """Shows `source` through an emulated storage in a new folder. settings: options of the program."""
    mount = tempfile.mkdtemp(prefix="patchio_mount_")
    storage = None
    try:
        storage = start(os.fspath(source), mount, executable, **settings)
        yield storage
    finally:
        if storage:
            storage.stop()
        with contextlib.suppress(OSError):
            os.rmdir(mount)  # never recursively: a remaining mount shows the source
