"""How much memory a session holds, measured where it should always hold the same.

ParaView itself keeps some hundred bytes of each source and filter that was ever made. So that much is measured with sources and
filters of its own, and is not counted as growth.
"""
import ctypes
import gc
import statistics

from on_ranks import rank
from paraview import simple

C = ctypes.CDLL(None)


class Figures(ctypes.Structure):
    """struct mallinfo2 of glibc"""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


def allocated():
    gc.collect()
    C.malloc_trim(0)
    C.mallinfo2.restype = Figures
    figures = C.mallinfo2()
    return figures.uordblks + figures.hblkhd


def kept_by_paraview(with_filter, times=100):
    """Bytes of a source, or of a source with a filter that has a proxy of its own, after it was deleted."""
    def make(count):
        for _ in range(count):
            source = simple.Sphere()
            made = simple.Transform(Input=source) if with_filter else None
            (made or source).UpdatePipeline()
            for proxy in (made, source):
                if proxy:
                    simple.Delete(proxy)
            made = source = None
        return allocated()
    before = make(times // 4)
    return (make(times) - before) / times


class Memory:
    """allocated: what malloc has given and not got back; resident: of the process, with fragments and PatchIO's own pool."""

    def __init__(self, exact):
        """exact: find out what ParaView keeps, which takes some seconds."""
        self.allocated, self.resident, self.kept = [], [], []
        self.of_source = kept_by_paraview(False) if exact else 0
        self.of_filter = kept_by_paraview(True) - self.of_source if exact else 0

    def measure(self, sources, filters):
        """How many have been made until now."""
        self.allocated.append(allocated())
        self.kept.append(sources * self.of_source + filters * self.of_filter)
        with open("/proc/self/statm") as file:
            self.resident.append(int(file.read().split()[1]) * 4096)

    @staticmethod
    def of(values):
        """From the median of the second quarter to that of the last one; the first quarter is for caches to fill. Per cent."""
        quarter = len(values) // 4
        if quarter == 0:
            return 0.0
        early, late = statistics.median(values[quarter:2 * quarter]), statistics.median(values[-quarter:])
        return 100 * (late - early) / early if early > 0 else 0.0    # a sanitizer's malloc counts nothing

    def growth(self):
        return self.of([there - kept for there, kept in zip(self.allocated, self.kept)])

    def text(self):
        if not self.allocated:
            return "memory not measured"
        return ("memory on rank %d, %d times: allocated %.2f to %.2f MB, of which ParaView's %.2f MB (%.0f bytes a source, %.0f a filter), "
                "growth without them %+.2f %%; resident %.1f to %.1f MB, %+.2f %%") % (
            rank, len(self.allocated), self.allocated[0] / 1e6, self.allocated[-1] / 1e6, self.kept[-1] / 1e6, self.of_source,
            self.of_filter, self.growth(), self.resident[0] / 1e6, self.resident[-1] / 1e6, self.of(self.resident))
