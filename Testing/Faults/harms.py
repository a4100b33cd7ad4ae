"""Context managers that damage the files of a series in a `with` block, and repair them at its end.

A call such as gone("values") returns a function of a Place and of a number, the number of the request that fails if requests are
counted. This function returns the context manager.
"""
import contextlib
import errno
import os
import shutil
import time

import inject


def harm(function):
    """Makes harm(which, ...) -> (place, number) -> context manager. The attribute `which` names the harmed file."""
    def made(which, *arguments, **settings):
        block = contextlib.contextmanager(function)

        def start(place, number=1):
            return block(place, number, place.file(which), *arguments, **settings)
        start.which, start.counts = which, function.__name__ == "requests"
        return start
    return made


@contextlib.contextmanager
def kept(path):
    """Restores the bytes and times of the same file at the end of the block. Readers ignore the name of the copy."""
    shutil.copy2(path, path + ".kept")
    try:
        yield
    finally:
        with open(path + ".kept", "rb") as source, open(path, "r+b") as target:
            target.write(source.read())
            target.truncate()
        shutil.copystat(path + ".kept", path)
        os.remove(path + ".kept")


@harm
def gone(place, _, path):
    os.rename(path, path + ".kept")
    try:
        yield
    finally:
        os.rename(path + ".kept", path)


@harm
def cut(place, _, path, share):
    with kept(path):
        os.truncate(path, int(os.path.getsize(path) * share))
        yield


@harm
def grown(place, _, path):
    """Appends bytes, like a program that continues to write."""
    with kept(path):
        with open(path, "ab") as file:
            file.write(b"\n" if path.endswith((".ctl", "Header")) else bytes(1000))
        yield


@harm
def a_folder(place, _, path):
    os.rename(path, path + ".kept")
    os.mkdir(path)
    try:
        yield
    finally:
        os.rmdir(path)
        os.rename(path + ".kept", path)


@harm
def requests(place, number, path, calls, error, count=1, effect=inject.FAILS):
    """Makes the request with this number fail."""
    with inject.failing(calls, path, error, number, count, effect=effect) as plan:
        yield plan


@harm
def calls(place, _, path, which, error, folder=False):
    """Makes all calls of a kind fail, also those for the index file, which the reader would otherwise use."""
    place, name = os.path.split(path)
    with inject.failing(which, place if folder else path, error) as plan:
        with inject.failing(which, os.path.join(place, ".%s.patchio" % name), error):
            yield plan


@harm
def newer(place, _, path, seconds=None, in_place=False):
    """Replaces all files by generation 1. seconds: difference of the new times from the old times; None: the new times are now."""
    changed = []
    for folder, _, names in os.walk(place.generations[1]):
        for name in names:
            source = os.path.join(folder, name)
            changed.append((source, os.path.join(place.folder, os.path.relpath(source, place.generations[1]))))
    before = {target: os.stat(target) for _, target in changed}
    take(changed, before, seconds, in_place)
    try:
        yield
    finally:
        back = [(os.path.join(place.generations[0], os.path.relpath(source, place.generations[1])), target) for source, target in changed]
        take(back, before, None if seconds is None else 2 * seconds, in_place)


def take(files, before, seconds, in_place):
    for source, target in files:
        if in_place:
            with open(source, "rb") as new, open(target, "r+b") as old:
                old.write(new.read())
                old.truncate()
        else:
            shutil.copy(source, target + ".new")
            os.replace(target + ".new", target)
        if seconds is not None:
            os.utime(target, ns=(before[target].st_atime_ns, before[target].st_mtime_ns + int(seconds * 1e9)))


@harm
def dated(place, _, path, seconds):
    """Sets the times of the files to `seconds` from now, as if the clock had been wrong."""
    before = {}
    for folder, _, names in os.walk(place.folder):
        for name in names:
            file = os.path.join(folder, name)
            before[file] = os.stat(file)
            os.utime(file, (time.time() + seconds,) * 2)
    try:
        yield
    finally:
        for file, state in before.items():
            if os.path.exists(file):
                os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


ESTALE, EIO, EACCES, EMFILE, EINTR = errno.ESTALE, errno.EIO, errno.EACCES, errno.EMFILE, errno.EINTR
