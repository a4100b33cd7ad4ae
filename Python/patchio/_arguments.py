"""Checks and conversions of arguments.

`value` is the value of the argument `name`. If a conversion is impossible, the function raises TypeError or ValueError, usually
with the message "NAME must be CONDITION, not VALUE".
"""
import operator
import os
import re
import reprlib

import numpy as np

_INT64_MIN, _INT64_MAX = -2**63, 2**63 - 1    # the compiled part has whole numbers of 64 bits
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def _short_repr(value):
    """Returns repr(value), shortened for messages."""
    try:
        return _SHORT.repr(value)
    except ValueError:    # Python does not convert numbers of more than 4300 digits to text
        return "a value of type %s" % type(value).__name__


def argument_error(error_class, name, condition, value):
    """Returns an error of `error_class`, TypeError or ValueError, for an argument."""
    return error_class("%s must be %s, not %s" % (name, condition, _short_repr(value)))


def flag(value, name):
    """Returns a bool. Raises TypeError for texts, numbers and arrays, because Python would convert "no" to True."""
    if not isinstance(value, (bool, np.bool_)):
        raise argument_error(TypeError, name, "True or False", value)
    return bool(value)


def text(value, name, condition="text"):
    """Returns a str that files can store. Raises ValueError for NUL, which ends names in HDF5, and for surrogates, which UTF-8 lacks."""
    if not isinstance(value, str):
        raise argument_error(TypeError, name, condition, value)
    if re.search("[\0\ud800-\udfff]", value):
        raise argument_error(ValueError, name, condition + " without NUL characters and surrogates", value)
    return value


def choice(value, name, choices):
    """Returns `value`, which must be one of the texts `choices`."""
    condition = "%s or %r" % (", ".join(map(repr, choices[:-1])), choices[-1])
    if text(value, name, condition) not in choices:
        raise argument_error(ValueError, name, condition, value)
    return value


def file_name(value, name, condition="a file name"):
    """Returns the bytes of a file name, from a str or a pathlib.Path."""
    if not isinstance(value, (str, os.PathLike)):
        raise argument_error(TypeError, name, condition, value)
    try:
        encoded = os.fsencode(value)
    except UnicodeEncodeError:
        encoded = b""
    if not encoded or b"\0" in encoded:
        raise argument_error(ValueError, name, condition, value)
    return encoded


def integer(value, name, condition, low=_INT64_MIN, high=_INT64_MAX):
    """Returns an int from `low` to `high`. Raises TypeError for a bool, which may be an element of a mask."""
    try:
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise argument_error(TypeError, name, condition, value)
    if not low <= number <= high:
        raise argument_error(ValueError, name, condition, value)
    return number


def as_list(value):
    """Returns the values of an iterable as a list. A text or another single value becomes a list of one value."""
    return list(value) if np.iterable(value) and not isinstance(value, (str, bytes)) else [value]


def array(value, name, condition, kinds):
    """Returns an array whose type has one of these kinds (see numpy.dtype.kind). An empty array may have any type."""
    if np.ma.is_masked(value):
        raise ValueError("%s must have no masked values. Fill them first, for example with array.filled(numpy.nan)" % name)
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):    # lists of unequal lengths
        raise argument_error(TypeError, name, condition, value) from None
    if found.size and found.dtype.kind not in kinds:
        raise argument_error(TypeError, name, condition, value)
    return found


def integers(value, name, condition, low=_INT64_MIN, high=_INT64_MAX):
    """Returns an array of ints from `low` to `high`."""
    values = array(value, name, condition, "iuO")
    return np.array([integer(number, name, condition, low, high) for number in values.ravel().tolist()], np.int64).reshape(values.shape)


def numbers(value, name, condition, valid=np.isfinite):
    """Returns an array of floats. `valid` is a function that must return True for all of the floats."""
    values = array(value, name, condition, "iufO")
    try:
        found = np.array([float(number) for number in values.ravel().tolist()], float).reshape(values.shape)
    except (TypeError, ValueError, OverflowError):
        raise argument_error(TypeError, name, condition, value) from None
    if not np.all(valid(found)):
        raise argument_error(ValueError, name, condition, value)
    return found


def number(value, name, condition, valid=np.isfinite):
    """Returns a float. `valid` is a function that must return True for the float."""
    found = numbers(value, name, condition, valid)
    if found.ndim:
        raise argument_error(TypeError, name, condition, value)
    return float(found)
