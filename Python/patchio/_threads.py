"""The number of threads that read and write."""
import os
import warnings

from . import _arguments

MOST_THREADS = 4096
_has_threads = False    # several threads have read or written; these threads stay for the next read
_lost_threads = False   # this process was forked from a process with threads; a forked process lacks these threads


def _after_fork():
    global _lost_threads
    _lost_threads = _has_threads


os.register_at_fork(after_in_child=_after_fork)


def threads_here(count):
    """Returns `count`; in a process that was forked from a process with threads, warns and returns 1."""
    global _has_threads
    if _lost_threads and count != 1:
        warnings.warn("This process was forked after a read or write, so it uses one thread. "
                      "Start processes with multiprocessing.get_context('spawn') instead.", stacklevel=3)
        return 1
    _has_threads = _has_threads or count != 1
    return count


def threads_wanted(threads):
    """Returns the number of threads for the compiled part: 0 for automatic."""
    if threads is None:
        return 0
    return _arguments.whole(threads, "threads", "1 or more, at most %d, or None for automatic" % MOST_THREADS, 1, MOST_THREADS)
