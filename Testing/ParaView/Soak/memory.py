"""Measures the memory of a session in a state in which it should always be the same.

ParaView itself keeps some hundred bytes for each source that was ever made, and 300 to 3500 bytes for each filter, more if the
source continues to exist. This is measured before PatchIO is loaded, and does not count as growth. Two libraries keep freed memory,
up to some megabytes over hours: HDF5 is made to release its memory, and the cache of numpy is filled at the begin.
"""
import ctypes
import gc
import statistics

import numpy as np
from on_ranks import rank
from paraview import simple

C = ctypes.CDLL(None)


class Figures(ctypes.Structure):
    """The struct mallinfo2 of glibc."""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def fill_numpy():
    """Fills the cache of numpy, which keeps seven blocks of each size below 1024 bytes."""
    for size in range(1024):
        kept = [np.empty(size, np.uint8) for _ in range(8)]
        del kept


def allocated():
    gc.collect()
    C.H5garbage_collect()    # ParaView's own, which PatchIO uses
    C.malloc_trim(0)
    C.mallinfo2.restype = Figures
    figures = C.mallinfo2()
    return figures.uordblks + figures.hblkhd


def small_source():
    return simple.Wavelet(WholeExtent=[0, 2] * 3)


def kept_each(make_and_delete, times=200):
    """Returns the bytes per object that remain after making and deleting objects."""
    def make(count):
        for _ in range(count):
            make_and_delete()
        return allocated()
    before = make(times // 4)
    return (make(times) - before) / times


def use(make_filter, source):
    made = make_filter(source)
    made.UpdatePipeline()
    simple.Delete(made)


def use_with_source(make_filter=None):
    source = small_source()
    if make_filter:
        use(make_filter, source)
    source.UpdatePipeline()
    simple.Delete(source)


class Memory:
    """The measurements. allocated: bytes that malloc has given and not received back. resident: bytes of the process, including
    fragments and PatchIO's own pool."""

    def __init__(self, makers):
        """makers: functions that make filters, by kind, to measure the memory that ParaView keeps for each kind, which takes some
        seconds; empty: no such measurement. Call this before PatchIO is loaded."""
        self.allocated, self.resident, self.kept = [], [], []
        fill_numpy()
        self.of_source, self.of_filter = kept_each(use_with_source) if makers else 0, {}
        lasting = small_source() if makers else None
        for kind, maker in makers.items():
            self.of_filter[kind, False] = kept_each(lambda: use_with_source(maker)) - self.of_source
            self.of_filter[kind, True] = kept_each(lambda: use(maker, lasting))
        if lasting:
            simple.Delete(lasting)

    def measure(self, sources, filters):
        """Measures the memory. sources, filters: numbers of objects made so far; filters by kind and by whether their source
        continued to exist."""
        self.allocated.append(allocated())
        self.kept.append(sources * self.of_source + sum(filters[kind] * kept for kind, kept in self.of_filter.items()))
        with open("/proc/self/statm") as file:
            self.resident.append(int(file.read().split()[1]) * 4096)

    @staticmethod
    def of(values):
        """Returns the growth in percent from the median of the second quarter to that of the last one. In the first quarter, caches
        fill."""
        quarter = len(values) // 4
        if quarter == 0:
            return 0.0
        early, late = statistics.median(values[quarter:2 * quarter]), statistics.median(values[-quarter:])
        return 100 * (late - early) / early if early > 0 else 0.0    # the malloc of sanitizers does not count

    def growth(self):
        return self.of([there - kept for there, kept in zip(self.allocated, self.kept)])

    def curve(self, points=10):
        """Returns the allocated megabytes without ParaView's, from the first measurement to the last."""
        last = len(self.allocated) - 1
        places = sorted({i * last // (points - 1) for i in range(points)})
        return " ".join("%.2f" % ((self.allocated[i] - self.kept[i]) / 1e6) for i in places)

    def text(self):
        if not self.allocated:
            return "memory not measured"
        each = ", ".join("%.0f a %s%s" % (kept, kind, lasting * " of the same source") for (kind, lasting), kept in self.of_filter.items())
        return ("memory on rank %d, %d times: allocated %.2f to %.2f MB, of which ParaView's %.2f MB (%.0f bytes a source, %s), "
                "growth without them %+.2f %% (%s MB); resident %.1f to %.1f MB, %+.2f %%") % (
            rank, len(self.allocated), self.allocated[0] / 1e6, self.allocated[-1] / 1e6, self.kept[-1] / 1e6, self.of_source, each,
            self.growth(), self.curve(), self.resident[0] / 1e6, self.resident[-1] / 1e6, self.of(self.resident))
