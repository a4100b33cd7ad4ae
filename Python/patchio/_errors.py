"""Errors about files."""
import contextlib
import errno
import os

from ._core import Error

Error.__module__ = __package__
Error.__doc__ = "An error in a file, a name or a number. The message says what to do."


class MissingFile(Error, FileNotFoundError):
    """An error about a file that does not exist. `filename` is the name of the file, or None if the message has no file name."""

    def __init__(self, message):
        super().__init__(message)
        name, reason, _ = message.partition(": " + os.strerror(errno.ENOENT))
        self.errno, self.filename = errno.ENOENT, name if reason else None

    def __str__(self):
        return self.args[0]


@contextlib.contextmanager
def as_missing_file():
    """A context manager that converts errors about missing files to MissingFile."""
    try:
        yield
    except Error as error:
        if os.strerror(errno.ENOENT) in str(error):
            raise MissingFile(str(error)) from None
        raise


def path_text(path):
    """Returns a path as printable text. Bytes that are not UTF-8 become escapes such as \\xff, as in messages of the compiled part."""
    return os.fsencode(str(path)).decode(errors="backslashreplace")


def step_error(step, text, *details):
    """Returns an Error whose message is the path of the step and `text` % `details`."""
    return Error("%s: %s" % (path_text(step.path), text % details))
