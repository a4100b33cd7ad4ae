"""The memory of this process."""
import os


def resident():
    """Returns the resident bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_growth(expect, sizes):
    """Expects that the memory grows by at most 1 % after the first third of the sizes."""
    third = len(sizes) // 3
    early, late = max(sizes[third:third + third // 4]), max(sizes[-third // 4:])
    print("   %.1f MB, then %.1f MB, %+.2f %%" % (early / 1e6, late / 1e6, 100.0 * (late - early) / early), flush=True)
    expect(late <= 1.01 * early, "memory grows from %d to %d bytes", early, late)
