"""Draws whole frames in one run of pvbatch, on all its ranks. For each requested image, it opens and draws a series ("open"), and
then draws its next step ("step"). Each frame shows a step that was not read before. Prints, as JSON, the seconds of each frame.
suites/end_to_end.py runs it.

usage: pvbatch whole_frame.py WAY ARRAY CONCURRENCY PICTURES KIND=SERIES...
       WAY          one of WAYS below
       CONCURRENCY  N*, which the ranks share
       PICTURES     folder for the images of the last steps, named by their position in the list
       KIND=SERIES  slice, contour or volume, and the series to draw
"""
import os
import sys
import time

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

SECONDS = "seconds of reading"  # as in one_level.py


# ---- readers -------------------------------------------------------------------------------------------------

def one_level(series, array, *_):
    """Returns a source in which each rank reads its patches one after another with the HDF5 library."""
    begin = "import sys; sys.path.insert(0, %r); import one_level; one_level." % HERE
    return ProgrammableSource(OutputDataSetType="vtkMultiblockDataSet",
                              ScriptRequestInformation=begin + "tell_times(self, %r)" % series,
                              Script=begin + "read(self, %r, %r)" % (series, array))


def two_level(series, array, concurrency, blocks="Merged"):
    """Returns PatchIO's reader, with NT = (N* - NC) / NP threads."""
    reader = PatchReader(FileName=[series], Blocks=blocks, ThreadMode="From N* and NC", StorageConcurrency=concurrency)
    if "Prefetch" in reader.ListProperties():
        reader.Prefetch = 0  # a frame reads only its own step
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = [array]
    return reader


def while_reading(series, array, concurrency, kind):
    """Returns PatchIO's reader, which makes slices itself."""
    reader = two_level(series, array, concurrency)
    if kind == "slice":
        low, high = (numpy.array(list(reader.GetPropertyValue("DomainBounds"))[first::2]) for first in (0, 1))
        reader.Region, reader.SliceWhileReading = "Plane", 1
        reader.RegionOrigin, reader.RegionNormal = place_of_slice(low, high), NORMAL
    return reader


def amrex(series, array, *_):
    """Returns ParaView's AMReX reader of all steps."""
    folder = os.path.dirname(series)
    steps = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    return amrex_reader([step for step in steps if os.path.isdir(step)], [array])


WAYS = {
    "one-level": one_level,
    "as patches": lambda series, array, concurrency, _: two_level(series, array, concurrency, "As patches"),
    "merged": lambda series, array, concurrency, _: two_level(series, array, concurrency),
    "slice while reading": while_reading,
    "amrex": amrex,
}
WITHOUT_PATCHIO = ("one-level", "amrex")    # these use ParaView's own filters and surfaces
NORMAL = [1, 0, 0]


def place_of_slice(low, high):
    return list(low + 0.511 * (high - low))    # not on faces of cells or patches


# ---- frames --------------------------------------------------------------------------------------------------

class Stages:
    """Seconds of consecutive stages."""

    def __init__(self):
        self.seconds = {}
        self.last = time.perf_counter()

    def done(self, name):
        now = time.perf_counter()
        self.seconds[name] = now - self.last
        self.last = now


class Frames:
    """One kind of image of one series."""

    def __init__(self, kind, array, view, own):
        self.kind = kind
        self.own = own    # True: uses ParaView's own filters
        self.array = array
        self.view = view
        self.reader = self.source = None

    def facts(self):
        """Returns bounds and ranges of all ranks, which ParaView gathers after each update of a reader."""
        return self.reader.GetDataInformation()

    def range(self):
        return self.facts().GetCellDataInformation().GetArrayInformation(self.array).GetComponentRange(0)

    def slowest_rank(self):
        """Returns the seconds of the read of the slowest rank, or None for readers without this array."""
        found = self.facts().GetFieldDataInformation().GetArrayInformation(SECONDS)
        return found.GetComponentRange(0)[1] if found else None

    def make_source(self):
        """Makes the displayed source: a filter of the reader, or the reader itself for a volume."""
        self.source = self.reader
        if self.kind == "slice" and not ("SliceWhileReading" in self.reader.ListProperties() and self.reader.SliceWhileReading):
            bounds = numpy.array(self.facts().GetBounds())
            self.source = plane_slice(self.reader, place_of_slice(bounds[0::2], bounds[1::2]), NORMAL)
        elif self.kind == "contour":
            where = "POINTS" if self.own else "CELLS"
            data = CellDatatoPointData(Input=self.reader) if self.own else self.reader
            self.source = Contour(Input=data, ContourBy=[where, self.array], Isosurfaces=[sum(self.range()) / 2])

    def show(self):
        display = show(self.source, self.view, "POINTS" if self.kind == "contour" else "CELLS", self.array,
                       "Volume" if self.kind == "volume" else "Surface")
        if self.kind != "volume":
            display.Ambient, display.Diffuse = 1, 0
        for function in (GetColorTransferFunction(self.array), GetOpacityTransferFunction(self.array)):
            function.RescaleTransferFunction(*self.range())

    def open(self, make, first):
        """Makes the image of a step from the name of the series. Returns the seconds, and the times of all steps."""
        stages = Stages()
        self.reader = make()
        times = times_of(self.reader)
        self.reader.UpdatePipeline(times[first])
        self.facts()
        stages.done("read")
        self.make_source()
        self.source.UpdatePipeline(times[first])
        stages.done("filter")
        look_at(self.view, self.facts().GetBounds())
        self.view.ViewTime = times[first]
        self.show()
        Render(self.view)
        stages.done("render")
        return dict(stages.seconds, whole=sum(stages.seconds.values()), slowest_rank=self.slowest_rank()), times

    def step(self, moment):
        """Shows another step of the same image, like a script or the play button. Returns the seconds."""
        begin = time.perf_counter()
        self.view.ViewTime = moment
        Render(self.view)
        return {"whole": time.perf_counter() - begin, "slowest_rank": self.slowest_rank()}

    def close(self):
        Hide(self.source, self.view)
        for proxy in {self.source, self.reader}:
            Delete(proxy)


def main():
    way, array, concurrency, pictures = sys.argv[1:5]
    set_fast_extraction(way not in WITHOUT_PATCHIO)
    view = make_view()
    Render(view)  # the first image pays for OpenGL
    found, first = [], {}
    for word in sys.argv[5:]:
        kind, series = word.split("=", 1)
        frames = Frames(kind, array, view, way in WITHOUT_PATCHIO)
        opened, times = frames.open(lambda: WAYS[way](series, array, int(concurrency), kind), first.get(series, 0))
        stepped = frames.step(times[first.get(series, 0) + 1])
        first[series] = first.get(series, 0) + 2
        SaveScreenshot(os.path.join(pictures, "%d.png" % len(found)), view)
        found.append({"open": opened, "step": stepped, "cells": frames.facts().GetNumberOfCells()})
        frames.close()
    print_json(found)


if __name__ == "__main__":
    # The scripts of a ProgrammableSource leave names like "sum" and "array" in __main__; therefore the code runs in a module.
    import whole_frame
    whole_frame.main()
