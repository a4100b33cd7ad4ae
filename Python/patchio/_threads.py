"""The number of threads that read and write."""
import os
import warnings

from . import _arguments

MAX_THREADS = 256
_has_threads = False    # True: several threads have read or written; the process keeps these threads for later reads
_lost_threads = False   # True: this process was forked from a process with threads; a forked process lacks the threads


def _after_fork():
    global _lost_threads
    _lost_threads = _has_threads


os.register_at_fork(after_in_child=_after_fork)


def usable_threads(count):
    """Returns the number of threads that this process can use: `count` or, in a process that was forked from a process with threads, 1.

    Warns if the result is 1 instead of `count`. count: a number of threads, or 0 for automatic.
    """
    global _has_threads
    if _lost_threads and count != 1:
        warnings.warn("This process was forked after a read or write, so it uses one thread. "
                      "Start processes with multiprocessing.get_context('spawn') instead.", stacklevel=3)
        return 1
    _has_threads = _has_threads or count != 1
    return count


def thread_count(threads):
    """Returns the argument `threads` as a number for the compiled part: 0 for None (automatic).

    Raises TypeError or ValueError unless `threads` is None or a whole number from 1 to MAX_THREADS.
    """
    if threads is None:
        return 0
    return _arguments.integer(threads, "threads", "1 or more, at most %d, or None for automatic" % MAX_THREADS, 1, MAX_THREADS)
