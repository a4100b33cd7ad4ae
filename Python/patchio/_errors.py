"""Errors, and checks of what a caller gave."""
import contextlib
import errno
import operator
import os

from ._core import Error

Error.__module__ = __package__
Error.__doc__ = "What is wrong with a file, a name or a number, and what to do about it."


class MissingFile(Error, FileNotFoundError):
    """A file that is not there: `filename`."""

    def __init__(self, message):
        super().__init__(message)
        name, expected, _ = message.partition(": expected")
        self.errno, self.filename = errno.ENOENT, name if expected else None

    def __str__(self):
        return self.args[0]


@contextlib.contextmanager
def missing_files():
    """Errors about files that are not there become MissingFile."""
    try:
        yield
    except Error as error:
        if os.strerror(errno.ENOENT) in str(error):
            raise MissingFile(str(error)) from None
        raise


def step_error(step, text, *details):
    """An Error that names the step's file."""
    return Error("%s: %s" % (step.path, text % details))


def whole(value, words):
    """A whole number as int; otherwise raises TypeError, which begins with these words."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError("%s, not %r" % (words, value)) from None
