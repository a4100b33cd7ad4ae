"""How many threads read."""
import os
import warnings

from . import _errors

_has_threads = False    # once several threads have read: they stay, for the next read
_lost_threads = False   # this process is a copy of such a one, and a copy has none of its threads


def _after_fork():
    global _lost_threads
    _lost_threads = _has_threads


os.register_at_fork(after_in_child=_after_fork)


def threads_here(count):
    """How many threads may read in this process, for one that wants so many."""
    global _has_threads
    if _lost_threads and count != 1:
        warnings.warn("This process was forked from one that had read already: it reads with one thread. "
                      "Start it by multiprocessing.get_context('spawn') instead.", stacklevel=3)
        return 1
    _has_threads = _has_threads or count != 1
    return count


def threads_wanted(threads):
    """As the compiled part wants them: 0 for automatic."""
    if threads is None:
        return 0
    count = _errors.whole(threads, "threads are 1 or more, or None for automatic")
    if count < 1:
        raise ValueError("threads are 1 or more, or None for automatic, not %d" % count)
    return count
