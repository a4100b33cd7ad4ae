"""How much memory a session holds, measured where it should always hold the same."""
import ctypes
import gc
import statistics

from on_ranks import rank

C = ctypes.CDLL(None)


class Figures(ctypes.Structure):
    """struct mallinfo2 of glibc"""
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]


class Memory:
    """allocated: what malloc has given and not got back; resident: of the process, with fragments and PatchIO's own pool."""

    def __init__(self):
        self.allocated, self.resident = [], []
        C.mallinfo2.restype = Figures

    def measure(self):
        gc.collect()
        C.malloc_trim(0)
        figures = C.mallinfo2()
        self.allocated.append(figures.uordblks + figures.hblkhd)
        with open("/proc/self/statm") as file:
            self.resident.append(int(file.read().split()[1]) * 4096)

    @staticmethod
    def of(values):
        """Per cent from the median of the second quarter to that of the last one; the first quarter is for caches to fill."""
        quarter = len(values) // 4
        if quarter == 0:
            return 0.0
        early, late = statistics.median(values[quarter:2 * quarter]), statistics.median(values[-quarter:])
        return 100 * (late - early) / early

    def growth(self):
        return max(self.of(self.allocated), self.of(self.resident))

    def text(self):
        if not self.allocated:
            return "memory not measured"
        return "memory on rank %d, %d times: allocated %.1f to %.1f MB, %+.2f %%; resident %.1f to %.1f MB, %+.2f %%" % (
            rank, len(self.allocated), self.allocated[0] / 1e6, self.allocated[-1] / 1e6, self.of(self.allocated),
            self.resident[0] / 1e6, self.resident[-1] / 1e6, self.of(self.resident))
