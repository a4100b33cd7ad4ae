"""Tests that no part of a k-Wave file is read twice when arrays are turned off and on and steps are shown again. Checks the bytes
in the report, and compares all values with the reference values of reference.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/KWave/interactive.py TRUTHDIR NAME...

The files must be older than 2 s.
"""
import os
import re
import sys

import numpy as np
from paraview import simple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import conformance  # noqa: E402
from conformance import at_step, check_tree, expect, sum_over_ranks  # noqa: E402

UNITS = {"byte": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def split(key):
    part, _, name = key.partition("/")
    return part, name


class Session:
    def __init__(self, truth, name):
        self.truth, self.name = truth, name
        self.reader = simple.PatchReader(FileName=[str(truth["path"])], ThreadMode="Fixed", StorageLatency=0,
                                         PointLists="Points", Grids="All", PartialArrays=1, ComposeVectors=0)
        self.reader.UpdatePipelineInformation()
        self.times = list(self.reader.TimestepValues)
        self.arrays = sorted(set(self.reader.GetProperty("CellArrayStatus").Available))

    def bytes_of(self, name, step):
        return sum(at_step(name, values, step).nbytes for key, values in self.truth.items() if split(key)[1] == name)

    def show(self, names, step, setting):
        """Collective: shows the arrays. Returns the bytes that were read."""
        self.reader.CellArrayStatus = names
        self.reader.UpdatePipeline(self.times[step])
        shown = {k: v for k, v in self.truth.items() if split(k)[1] in names + ["", "places", "lower", "upper"]}
        where = "%s step %d, %s" % (self.name, step, setting)
        check_tree(self.reader.GetClientSideObject().GetOutputDataObject(0), shown, step, False, where)
        self.reader.UpdatePropertyInformation()
        report = self.reader.GetProperty("IOReport").GetData()
        amount, unit = re.search("^Bytes read: ([0-9.]+) (\\w+)", report, re.MULTILINE).groups()
        return float(amount) * UNITS[unit]


def check_file(path):
    truth = {k: v for k, v in np.load(path).items() if k != "none"}
    name = os.path.basename(path)[:-4]
    session = Session(truth, name)
    last = len(session.times) - 1
    everything = session.arrays
    for step in range(last + 1):
        expect(session.show(everything, step, "forwards") > 0, "%s step %d: nothing is read", name, step)
    for step in list(reversed(range(last))) + [last]:
        found = session.show(everything, step, "back")
        expect(found == 0, "%s step %d: %g bytes read again", name, step, found)
    whole = sum(session.bytes_of(array, 1) for array in everything)
    for array in everything:
        rest = [n for n in everything if n != array]
        if sum_over_ranks(1) > 1:
            # The whole domain is one patch, whose weight grows with the number of arrays. Cuboids move to other ranks once because
            # of it.
            moved = session.show(rest, 1, array + " off") + session.show(everything, 1, array + " on")
            expect(moved <= 2 * whole, "%s off and on: %g of %g bytes move", array, moved, whole)
        found = [session.show(rest, 1, array + " off"), session.show(everything, 1, array + " on")]
        expect(found == [0, 0], "%s off and on: %s bytes read", array, found)
    simple.ReloadFiles(session.reader)
    session.show(everything[:1], 1, "after Reload")
    for n in range(1, len(everything)):
        found, least = session.show(everything[:n + 1], 1, "one more"), session.bytes_of(everything[n], 1)
        # Whole chunks are read, which may exceed the displayed part. For contiguous arrays, only this part is read.
        most = least if "contiguous" in name else float("inf")
        expect(0.994 * least <= found <= 1.006 * most, "%s: %s reads %g bytes instead of %g", name, everything[n], found, least)
    simple.Delete(session.reader)


def main():
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    for name in sys.argv[2:]:
        check_file(os.path.join(sys.argv[1], name + ".out.h5.npz"))
    faults = sum_over_ranks(len(conformance.failed))
    if conformance.controller.GetLocalProcessId() == 0:
        print("k-Wave: %d files, %d faults" % (len(sys.argv) - 2, faults), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    status = main()
    if status:
        sys.exit(status)
