"""Tests the faults of table.py in one session of ParaView: faults of readers, of Save Data, of filters and of long sessions. Each
must cause a message that names the file, the session must continue, and the cells must be right when the fault is over.

usage: with_faults.sh LIBRARY PLANS Testing/ParaView/pvbatch.sh NP Testing/Faults/at_work_in_paraview.py FOLDER PATCHIO

Runs on each rank. Rank 0 makes FOLDER anew. Values are compared with the formula of series.py at the centres of the cells.
"""
import contextlib
import errno
import faulthandler
import os
import re
import shutil
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "Formats"), os.path.join(HERE, "..", "Formats", "Container")]
import conformance  # noqa: E402
import inject  # noqa: E402
import memory  # noqa: E402
import series  # noqa: E402
import stranger  # noqa: E402
import table  # noqa: E402
from conformance import controller, expect, leaves, output_of, rank, sum_over_ranks  # noqa: E402
from faults import Messages  # noqa: E402
from paraview import simple  # noqa: E402
from vtkmodules.util.numpy_support import vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonCore import vtkLogger  # noqa: E402

LONGEST = 120
FORMATS = ("samrai", "container")
QUICK_REQUESTS = (1, 3, 8)
FEW_ALLOCATIONS, SOME_STEPS = 30, 150


@contextlib.contextmanager
def harmed(block):
    """Collective: rank 0 causes the harm and repairs it. Yields a function that returns how many requests were hit so far."""
    plan = block.__enter__() if rank == 0 else None
    controller.Barrier()
    try:
        yield plan
    finally:
        controller.Barrier()
        if rank == 0:
            block.__exit__(None, None, None)
        controller.Barrier()


# ---- what is shown ----

def centres_of(grid):
    """Returns the centres of the cells as three arrays, axis 0 fastest."""
    extent, origin, spacing = grid.GetExtent(), grid.GetOrigin(), grid.GetSpacing()
    axes = [origin[d] + spacing[d] * (np.arange(extent[2 * d], extent[2 * d + 1]) + 0.5) for d in range(3)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    return x.ravel(), y.ravel(), z.ravel()


def shown(reader, step, generation):
    """Collective: returns "right", "nothing" or "wrong values"."""
    cells, wrong = 0, 0
    tree = output_of(reader)
    for grid in leaves(tree) if tree else []:
        cells += grid.GetNumberOfCells()
        found = grid.GetCellData().GetArray("u")
        right = found and np.array_equal(vtk_to_numpy(found), series.formula(centres_of(grid), step, generation).astype("f4"))
        wrong += 0 if right else 1
    cells, wrong = sum_over_ranks([cells, wrong])
    return "wrong values" if wrong else "right" if cells == series.CELLS else "nothing" if cells == 0 else "%d cells" % cells


class Reader:
    def __init__(self, place, **properties):
        self.place = place
        with Messages() as messages:
            self.proxy = simple.PatchReader(FileName=[place.opened], CacheMemory=0, Prefetch=0, **properties)
        self.said = messages.text

    def look(self, step, generation=0, reload=False):
        """Collective: returns the state of the displayed step, as shown() returns it, and the messages of all ranks."""
        with Messages() as messages:
            if reload:
                self.proxy.SMProxy.InvokeCommand("Reload")
            self.proxy.UpdatePipelineInformation()
            times = [float(t) for t in np.atleast_1d(np.asarray(self.proxy.TimestepValues, float))]
            self.proxy.UpdatePipeline(float(step) if float(step) in times or not times else times[-1])
        text = self.said + messages.text
        self.said = ""
        return shown(self.proxy, step, generation), text

    def end(self):
        simple.Delete(self.proxy)


# ---- faults ----

def said(text, *patterns):
    """Collective: returns whether each pattern is in a message of some rank."""
    return all(sum_over_ranks([int(re.search(pattern, text) is not None) for pattern in patterns]))


def may_differ(fault, text):
    return fault.may_ask and said(text, "Reload")


def check(fault, place, what, who, always):
    state, text = what
    where = "%s, %s, %s" % (fault.name, place.name, who)
    if state == "right" and (fault.says is None or not always):
        return 0
    name = re.escape(os.path.basename(place.file(fault.harm.which)))
    if fault.says is None:
        right = may_differ(fault, text)
    else:
        right = said(text, fault.says, name) and state == "nothing" or said(text, "Skipping|skipped|skips", fault.says, name)
    if rank == 0:
        expect(right, "%s: %s, expected '%s', said %s", where, state, fault.says, text[-600:] or "nothing")
    return 1


def meet(fault, place, number):
    """Collective: tests a fault. Returns whether the plan hit a call."""
    other = 2 if place.step != 2 else 0
    reader = Reader(place)
    for step in (place.step, other):
        state, text = reader.look(step)
        expect(state == "right", "%s, %s, before: %s %s", fault.name, place.name, state, text)
    counts = fault.harm.counts
    with harmed(fault.harm(place, number)) as plan:
        check(fault, place, reader.look(place.step, fault.generation), "opened before", not counts and fault.harm.which == "values")
        now = Reader(place)
        check(fault, place, now.look(place.step, fault.generation), "opened now", not counts)
        hit = sum_over_ranks([plan.hit() if plan else 0])[0]
    for who, each in (("opened before", reader), ("opened then", now)):
        each.look(other)
        state, text = each.look(place.step)
        expect(state == "right" or may_differ(fault, text) or who == "opened then" and fault.says,
               "%s, %s, %s, when it is over: %s %s", fault.name, place.name, who, state, text)
        state, text = each.look(place.step, reload=True)
        expect(state == "right", "%s, %s, %s, reloaded: %s %s", fault.name, place.name, who, state, text)
        each.end()
    return hit


def readers(options, faults):
    sound = {name: [options["folder"] + "/sound/%s%d" % (name, generation) for generation in (0, 1)] for name in FORMATS}
    places = {}
    for fault in faults:
        for name in set(fault.formats) & set(FORMATS):
            place = places[fault.name, name] = series.Place(os.path.join(options["folder"], fault.name, name), name)
            place.generations = sound[name]
    if rank == 0:
        series.make_all(options["folder"], options["program"], FORMATS)
        for place in places.values():
            shutil.copytree(place.generations[0], place.folder)
        time.sleep(2.2)
    controller.Barrier()
    for fault in faults:
        for name in [name for name in FORMATS if (fault.name, name) in places]:
            if rank == 0:
                print("fault %s, %s" % (fault.name, name), flush=True)
            faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
            for number in QUICK_REQUESTS if fault.harm.counts else (1,):
                meet(fault, places[fault.name, name], number)
            faulthandler.cancel_dump_traceback_later()


# ---- Save Data ----

def saved(reader, path):
    """Collective: saves the data. Returns the messages."""
    with Messages() as messages:
        simple.SaveData(path, proxy=reader.proxy)
    return messages.text


def holds(path, step):
    """Returns whether the container has all cells, in boxes of any size, with the values of the formula."""
    cells = 0
    for each in stranger.read(path):
        for row, variable, values in each.values():
            box = each.rows[row]
            if variable["name"] == "u":
                wanted = series.box_values(box["level"], (tuple(box["lower"]), tuple(box["upper"])), step, 0)
                if not np.array_equal(values[..., 0], wanted):
                    return False
                cells += values.size
    return cells == series.CELLS


def save_data(options):
    """Tests each failure of a target. The next Save Data to the target must succeed."""
    place = series.Place(os.path.join(options["folder"], "sound", "samrai0"), "samrai")
    reader = Reader(place)
    expect(reader.look(1)[0] == "right", "Save Data: not even the series is right")
    for calls, error in (("write", errno.ENOSPC), ("write", errno.EIO), ("create", errno.EROFS), ("create", errno.EACCES), ("sync", errno.EIO), ("rename", errno.EIO)):
        name = "%s%d.pio" % (calls, error)
        path = os.path.join(options["folder"], name)
        if rank == 0:
            print("fault save_data: %s, %s" % (calls, os.strerror(error)), flush=True)
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
        with harmed(inject.failing(calls, name, error)):
            text = saved(reader, path)
        right = said(text, re.escape(name), os.strerror(error))
        expect(right, "Save Data, %s: expected %s and %s, said %s", calls, name, os.strerror(error), text)
        text = saved(reader, path)
        controller.Barrier()
        expect(not text, "Save Data, %s, again: %s", calls, text)
        if rank == 0:
            expect(holds(path, 1), "Save Data, %s: other values", calls)
        faulthandler.cancel_dump_traceback_later()
    expect(reader.look(2)[0] == "right", "Save Data: the reader does not go on")
    reader.end()


# ---- memory, and many steps ----

def integral(source, name, time_of_step):
    """Returns the area or volume of the output of a filter. For sessions on one rank."""
    whole = simple.IntegrateVariables(Input=source)
    whole.UpdatePipeline(time_of_step)
    found = whole.CellData[name].GetRange(0)[0] if whole.CellData.GetArray(name) else 0
    simple.Delete(whole)
    return found


def filters_of(reader):
    """Yields pairs (filter, function that returns whether the output of the filter is right)."""
    cut = simple.Slice(Input=reader.proxy)
    cut.SliceType.Origin, cut.SliceType.Normal = [6.1, 0, 0], [1, 0, 0]
    yield cut, lambda: abs(integral(cut, "Area", 1.0) - 256) < 1e-4
    half = simple.Clip(Input=reader.proxy, Invert=0)
    half.ClipType.Origin, half.ClipType.Normal = [6.1, 0, 0], [1, 0, 0]
    yield half, lambda: abs(integral(half, "Volume", 1.0) - 256 * 9.9) < 1e-3
    some = simple.Threshold(Input=reader.proxy, Scalars=["CELLS", "u"], LowerThreshold=0.0, UpperThreshold=1e9)
    yield some, lambda: abs(integral(some, "Volume", 1.0) - 4096) < 1e-3
    skin = simple.ExtractSurface(Input=reader.proxy)
    yield skin, lambda: integral(skin, "Area", 1.0) > 6 * 256 - 1e-3


def memory_in_filters(options):
    """Lets each larger allocation of a filter fail: the filter must report an error, and its output must be right afterwards. Runs
    on one rank, because other ranks would wait."""
    if sum_over_ranks([1])[0] > 1:
        return
    reader = Reader(series.Place(os.path.join(options["folder"], "sound", "samrai0"), "samrai"))
    expect(reader.look(1)[0] == "right", "memory in filters: not even the series is right")
    for source, is_right in filters_of(reader):
        name, told = type(source).__name__, 0
        print("fault memory_in_filters: %s" % name, flush=True)
        faulthandler.dump_traceback_later(LONGEST, exit=True, file=sys.__stderr__)
        for number in range(1, FEW_ALLOCATIONS):
            reader.look(1, reload=True)
            with inject.failing("memory", "", errno.ENOMEM, number, 1, least=8192) as plan:
                with Messages() as messages:
                    source.UpdatePipeline(1.0)
                hit = plan.hit()
            told += "memory" in messages.text
            if not hit:
                break
        reader.look(1, reload=True)
        expect(is_right(), "%s, with memory: other cells", name)
        expect(told > 0, "%s: %d allocations failed, and nothing was said", name, number - 1)
        print("   %d allocations, %d messages" % (number - 1, told), flush=True)
        faulthandler.cancel_dump_traceback_later()
        simple.Delete(source)
    reader.end()


def steps_in_paraview(options):
    """Shows steps and slices of them repeatedly. The memory must not grow."""
    place = series.Place(os.path.join(options["folder"], "sound", "samrai0"), "samrai")
    reader = Reader(place)
    cut = simple.Slice(Input=reader.proxy)
    sizes = []
    for number in range(SOME_STEPS):
        step = number % series.STEPS
        state, text = reader.look(step)
        expect(state == "right", "step %d: %s %s", number, state, text)
        cut.SliceType.Origin = [1 + number % 14, 8, 8]
        cut.UpdatePipeline(float(step))
        sizes.append(memory.resident())
    memory.check_growth(expect, sizes)
    simple.Delete(cut)
    reader.end()


def main(folder, program):
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)    # hides the expected errors on the terminal
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    options = {"folder": os.path.abspath(folder), "program": program}
    os.environ["XDG_CACHE_HOME"] = options["folder"] + "/cache"
    os.environ.pop("PATCHIO_METADATA_DIR", None)
    if rank == 0:
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            if os.path.join(options["folder"], name) != os.environ["PATCHIO_INJECT"]:
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    controller.Barrier()
    faults = [fault for fault in table.FAULTS if fault.harm]
    readers(options, faults)
    sessions = [fault for fault in table.FAULTS if fault.session]
    for fault in sessions:
        globals()[fault.session](options)
    failed, = sum_over_ranks([len(conformance.failed)])
    if rank == 0:
        print("%s: %d faults in ParaView, %d tests failed" % ("FAILED" if failed else "passed", len(faults + sessions), failed), flush=True)
    return 1 if failed or not faults + sessions else 0


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    if status:
        sys.exit(status)
