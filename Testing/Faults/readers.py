"""Tests the faults of readers of table.py in the Python package: one process meets all of them, and must continue to read."""
import os
import warnings

import numpy as np
import patchio

CHANGED = r"Reload|[Oo]pen .* again"


class LeftOut(patchio.Error):
    """The series was opened without the step. The text is the message about the step."""


class Reader:
    """A series that stays open, with one of its steps."""

    def __init__(self, place):
        self.place = place
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.data = patchio.open(place.opened)
        self.said = "\n".join(str(warning.message) for warning in said)
        self.step = self.find(place.step)

    def find(self, number):
        if len(self.data) == self.place.format.steps:
            return self.data[number]
        for step in self.data:
            if step.number == number:
                return step
        raise LeftOut(self.said)

    def values(self, step=None):
        """Returns {(level, lower corner): values} of a step; None: the step that stays open."""
        step = self.step if step is None else self.find(step)
        read = step.read(next(iter(step.variables)), threads=2)
        return {(int(step.patches["level"][p]), tuple(int(n) for n in step.patches["lower"][p])): values for p, values in read.items()}


def same(found, wanted):
    return sorted(found) == sorted(wanted) and all(np.array_equal(found[key], wanted[key]) for key in wanted)


def look(make, place, step, generation):
    """Returns the result of a reader: "right", "wrong values", or its message."""
    try:
        found = make()
    except patchio.Error as error:
        return str(error)
    return "right" if same(found, place.truth(place.step if step is None else step, generation)) else "wrong values"


def open_and_read(place):
    return lambda: Reader(place).values()


def prepared(place):
    """Returns a reader that has read all values, after index files were written."""
    reader = Reader(place)
    for step in range(place.format.steps):
        assert same(reader.values(step), place.truth(step)), "%s: not even the sound series is right" % place.folder
    assert same(reader.values(), place.truth(place.step))
    return reader


def file_of(fault, place):
    return os.path.basename(place.file(fault.harm.which))
