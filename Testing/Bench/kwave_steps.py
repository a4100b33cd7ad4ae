"""Steps through a k-Wave output in ParaView, and in turn reads the stored bytes of other steps with pread: in one process, so that
a busy machine slows both. suites/steps.py runs it.

usage: pvbatch kwave_steps.py FILE PLACES [--forget]

PLACES: .npz with the arrays offsets and sizes, [step, piece], of the stored bytes of each step. --forget drops the bytes of each
step from the page cache first. Prints a line "JSON {...}": seconds to open and to read the first step, and lists of seconds
of the other steps: "steps" in ParaView, "plain" with pread into reused memory.
"""
import json
import mmap
import os
import sys
import time

import numpy as np


def timed(work, *arguments):
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


class Plain:
    """Plain reads: one request after another into reused memory, which is the lower limit for any reader."""

    def __init__(self, path, places):
        self.file = os.open(path, os.O_RDONLY)
        self.buffer = memoryview(mmap.mmap(-1, int(places["sizes"].max())))
        self.places = [list(zip(o, s)) for o, s in zip(places["offsets"].tolist(), places["sizes"].tolist())]

    def read(self, step):
        for offset, size in self.places[step]:
            assert os.preadv(self.file, [self.buffer[:size]], offset) == size

    def forget(self, step):
        for offset, size in self.places[step]:
            os.posix_fadvise(self.file, offset, size, os.POSIX_FADV_DONTNEED)


def main(path, places, cold):
    from paraview import simple
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    start = time.perf_counter()
    # Without cache, the reader reads each step into reused memory, like the plain reads.
    reader = simple.PatchReader(FileName=[path], CacheMemory=0, Prefetch=0, PointLists="Points")
    reader.UpdatePipelineInformation()
    times = list(reader.TimestepValues)
    source = reader.GetClientSideObject()
    opened = time.perf_counter() - start
    first = timed(source.UpdateTimeStep, times[0])
    plain, steps, reads = Plain(path, np.load(places)), [], []
    for n in range(1, len(times)):
        other = (n + len(times) // 2) % len(times)
        if cold:
            plain.forget(n)
            plain.forget(other)
        reads.append(timed(plain.read, other))
        steps.append(timed(source.UpdateTimeStep, times[n]))
    assert source.GetOutputDataObject(0).GetNumberOfPoints() > 0
    print("JSON " + json.dumps({"open": opened, "first": first, "steps": steps, "plain": reads}), flush=True)


main(sys.argv[1], sys.argv[2], "--forget" in sys.argv)
