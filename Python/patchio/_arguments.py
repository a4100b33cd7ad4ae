"""Checks of arguments.

Each function converts a value. If the conversion is impossible, the function raises TypeError or ValueError, whose message has the
name of the argument, `words` (the condition for the value), and the value.
"""
import operator
import os
import re
import reprlib

import numpy as np

_WHOLE_LOW, _WHOLE_HIGH = -2**63, 2**63 - 1    # the compiled part has whole numbers of 64 bits
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def _shown(value):
    try:
        return _SHORT.repr(value)
    except ValueError:    # Python shows no numbers of more than 4300 digits
        return "a value of type %s" % type(value).__name__


def wrong(kind, name, words, value):
    """Returns an error of this kind, TypeError or ValueError, for an argument."""
    return kind("%s must be %s, not %s" % (name, words, _shown(value)))


def flag(value, name):
    """Returns a bool. Raises TypeError for texts, numbers and arrays, because "no" would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise wrong(TypeError, name, "True or False", value)
    return bool(value)


def text(value, name, words="text"):
    """Returns a str that files can contain: without NUL, which ends names in HDF5, and surrogates, which UTF-8 lacks."""
    if not isinstance(value, str):
        raise wrong(TypeError, name, words, value)
    if re.search("[\0\ud800-\udfff]", value):
        raise wrong(ValueError, name, words + " without NUL characters and surrogates", value)
    return value


def choice(value, name, choices):
    """Returns the value, which must be one of the texts `choices`."""
    words = "%s or %r" % (", ".join(map(repr, choices[:-1])), choices[-1])
    if text(value, name, words) not in choices:
        raise wrong(ValueError, name, words, value)
    return value


def file_name(value, name, words="a file name"):
    """Returns the bytes of a file name, from a str or a pathlib.Path."""
    if not isinstance(value, (str, os.PathLike)):
        raise wrong(TypeError, name, words, value)
    try:
        encoded = os.fsencode(value)
    except UnicodeEncodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise wrong(ValueError, name, words, value)
    return encoded


def whole(value, name, words, low=_WHOLE_LOW, high=_WHOLE_HIGH):
    """Returns an int from `low` to `high`. Raises TypeError for a bool, which may be from a mask."""
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise wrong(TypeError, name, words, value)
    if not low <= number <= high:
        raise wrong(ValueError, name, words, value)
    return number


def several(value):
    """Returns a list of the values of any iterable. A text or another single value becomes a list of one value."""
    return list(value) if np.iterable(value) and not isinstance(value, (str, bytes)) else [value]


def array(value, name, words, kinds):
    """Returns an array whose type has one of these kinds (see numpy.dtype.kind). An empty array may have any type."""
    if np.ma.is_masked(value):
        raise ValueError("%s must have no masked values. Fill them first, for example with array.filled(numpy.nan)" % name)
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):    # lists of unequal lengths
        raise wrong(TypeError, name, words, value) from None
    if found.size and found.dtype.kind not in kinds:
        raise wrong(TypeError, name, words, value)
    return found


def wholes(value, name, words, low=_WHOLE_LOW, high=_WHOLE_HIGH):
    """Returns an array of ints from `low` to `high`."""
    given = array(value, name, words, "iuO")
    return np.array([whole(number, name, words, low, high) for number in given.ravel().tolist()], np.int64).reshape(given.shape)


def numbers(value, name, words, valid=np.isfinite):
    """Returns an array of floats. `valid` must be true for all of them."""
    given = array(value, name, words, "iufO")
    try:
        found = np.array([float(number) for number in given.ravel().tolist()], float).reshape(given.shape)
    except (TypeError, ValueError, OverflowError):
        raise wrong(TypeError, name, words, value) from None
    if not np.all(valid(found)):
        raise wrong(ValueError, name, words, value)
    return found


def number(value, name, words, valid=np.isfinite):
    """Returns a float. `valid` must be true for it."""
    found = numbers(value, name, words, valid)
    if found.ndim:
        raise wrong(TypeError, name, words, value)
    return float(found)
