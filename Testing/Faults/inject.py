"""Makes system calls fail in programs that preload Inject.c, including this one.

    with inject.failing("read", "processor_cluster", errno.EIO, first=3, count=1) as plan:
        ...                                      # the third call that reads such a file fails, whichever process makes it
    plan.seen(), plan.hit()                      # how many there were, and how many failed
"""
import contextlib
import errno
import mmap
import os
import struct
import sys

CALLS = {"open": 1, "read": 2, "write": 4, "sync": 8, "state": 16, "create": 32, "rename": 64, "memory": 128}
FAILS, SHORT, WAITS = 0, 1, 2
MOST_PLANS, LAYOUT = 4, "=IiII5Q224s"
SIZE = struct.calcsize(LAYOUT)


def environment(library, path):
    """Returns the environment for programs with faults. Makes the file `path` for the plans."""
    with open(path, "wb") as file:
        file.write(bytes(MOST_PLANS * SIZE))
    return {"LD_PRELOAD": library, "PATCHIO_INJECT": path}


def restart_with(library, path):
    """Restarts this script with the preloaded library; does nothing in the restarted script."""
    if "PATCHIO_INJECT" not in os.environ:
        os.execve(sys.executable, [sys.executable, "-B"] + sys.argv, {**os.environ, **environment(library, path)})


class Plan:
    def __init__(self, table, number):
        self.table, self.at = table, number * SIZE

    def write(self, calls, path, error, effect, first, count, least):
        mask = sum(CALLS[call] for call in calls.split())
        struct.pack_into(LAYOUT, self.table, self.at, 0, error, effect, 0, first, count, least, 0, 0, path.encode())
        struct.pack_into("=I", self.table, self.at, mask)    # written last, because this activates the plan

    def numbers(self):
        return struct.unpack_from(LAYOUT, self.table, self.at)

    def seen(self):
        return self.numbers()[7]

    def hit(self):
        return self.numbers()[8]

    def end(self):
        struct.pack_into("=I", self.table, self.at, 0)


def plans():
    with open(os.environ["PATCHIO_INJECT"], "r+b") as file:
        table = mmap.mmap(file.fileno(), MOST_PLANS * SIZE)
    return [Plan(table, number) for number in range(MOST_PLANS)]


@contextlib.contextmanager
def failing(calls, path, error=errno.EIO, first=1, count=0, least=0, effect=FAILS):
    """Yields a plan. calls: some of CALLS. path: a part of the path of their file. first: number of the first call that fails.
    count: number of calls that fail; 0: all from the first one on. least: least size of allocations in bytes, for "memory". With
    WAITS, `error` is a time in milliseconds."""
    plan = next(plan for plan in plans() if plan.numbers()[0] == 0)
    plan.write(calls, path, error, effect, first, count, least)
    try:
        yield plan
    finally:
        plan.end()
