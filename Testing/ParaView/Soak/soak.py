"""Runs a long session: changes properties, steps, files and filters at random, as in the GUI, and compares each output with that of
a fresh reader; sometimes also, by the suite of the format, with the values that h5py and numpy find in the files.

usage: Testing/ParaView/pvbatch.sh NP Testing/ParaView/Soak/soak.py LOG TRUTHDIR... [--seconds S] [--changes N] [--seed N]
                                                                        [--replay LOG [--last N]] [--memory PERCENT]

TRUTHDIR: from the reference.py of a format; one that is not there is left out. Runs on every rank, S seconds and at least N changes.
It prints its seed: the same seed with the same series makes the same changes, so --seconds 0 --changes N makes N of them again. LOG gets a line for each change before it is made; --replay shows the states of
such a file again, --last N its last N. A change that takes longer than LIMIT_S ends the run with the stack of Python: a hang.
Memory is measured in one state, every HOME changes: see memory.py; --memory: the growth that is a fault.
"""
import argparse
import collections
import faulthandler
import json
import os
import random
import sys
import time

from paraview import simple

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from conformance_of import Boxes, conformance, series_in  # noqa: E402
from memory import Memory  # noqa: E402
from on_ranks import output_of, rank, ranks, sum_over_ranks  # noqa: E402
from shown import Seen  # noqa: E402
from states import FRESH, OF_GUI, PICTURE, Chance, first_state, home_state  # noqa: E402

LIMIT_S = 180
HOME = 40
MOST_CELLS = 300000    # limit for a series, because larger ones take too long


def say(text):
    if rank == 0:
        print(text, flush=True)


def make_filter(made, source):
    """Makes a filter of ParaView that PatchIO replaces, on a reader."""
    if made["kind"] == "Slice":
        made_of = simple.Slice(Input=source, SliceType="Plane")
        made_of.SliceType.Origin, made_of.SliceType.Normal = made["origin"], made["normal"]
    elif made["kind"] == "Clip":
        made_of = simple.Clip(Input=source, ClipType="Plane")
        made_of.ClipType.Origin, made_of.ClipType.Normal = made["origin"], made["normal"]
    elif made["kind"] == "Contour":
        made_of = simple.Contour(Input=source, ContourBy=made["array"], Isosurfaces=[made["range"][0]])
    elif made["kind"] == "Threshold":
        made_of = simple.Threshold(Input=source, Scalars=made["array"], LowerThreshold=made["range"][0], UpperThreshold=made["range"][1])
    else:
        made_of = simple.ExtractSurface(Input=source)
    return made_of


def makers():
    """Returns functions that make a filter of each kind on one of ParaView's sources."""
    plane, values = dict(origin=[1, 1, 1], normal=[0, 1, 0]), dict(array=["POINTS", "RTData"], range=[100, 200])
    made = [dict(kind="Slice", **plane), dict(kind="Clip", **plane), dict(kind="Contour", **values), dict(kind="Threshold", **values),
            dict(kind="ExtractSurface")]
    return {one["kind"]: lambda source, one=one: make_filter(one, source) for one in made}


def listen_to_errors(reader):
    """Returns a growing list of the reader's errors. The observer must not refer to the reader, because a cycle of references would
    keep both."""
    errors = []

    def hear(caller, event, text):
        errors.append(text)
    hear.CallDataType = "string0"
    reader.GetClientSideObject().AddObserver("ErrorEvent", hear)
    return errors


class Shower:
    """A reader with the filter of its state, if any. lasting: whether it shows more than one state. changes: properties that
    replace those of each state."""
    readers, filters = 0, collections.Counter()    # numbers of objects made so far

    def __init__(self, state, names, lasting, **changes):
        self.names, self.lasting, self.changes, self.made, self.filter = names, lasting, changes, None, None
        self.reader = simple.PatchReader(FileName=[state["path"]], **self.properties_of(state))
        self.errors = listen_to_errors(self.reader)
        Shower.readers += 1

    def properties_of(self, state):
        return {**{name: state["properties"][name] for name in self.names}, **self.changes}

    def set(self, state):
        if list(self.reader.FileName) != [state["path"]]:
            self.reader.FileName = [state["path"]]
            self.reader.UpdatePipelineInformation()
        for name, value in self.properties_of(state).items():
            if self.reader.GetPropertyValue(name) != value:
                setattr(self.reader, name, value)

    def update(self, state, time_value):
        """Updates twice, because a step may have arrays that were not in the lists before."""
        for _ in range(2):
            self.reader.CellArrayStatus, self.reader.PointArrayStatus = state["cells"], state["points"]
            self.reader.UpdatePipeline(time_value)
            self.reader.UpdatePropertyInformation()
        if self.made != state["filter"]:
            self.remove_filter()
            if state["filter"]:
                self.made, self.filter = state["filter"], make_filter(state["filter"], self.reader)
                Shower.filters[self.made["kind"], self.lasting] += 1
        if self.filter:
            self.filter.UpdatePipeline(time_value)

    def stop(self, time_value, on_rank):
        """Starts a read and stops it at its first progress event."""
        vtk_reader = self.reader.GetClientSideObject()

        def stop(caller, event):
            if rank == on_rank:
                caller.SetAbortExecute(1)
        simple.ReloadFiles(self.reader)
        observer = vtk_reader.AddObserver("ProgressEvent", stop)
        self.reader.UpdatePipeline(time_value)
        vtk_reader.RemoveObserver(observer)
        vtk_reader.SetAbortExecute(0)
        self.reader.SMProxy.InvokeCommand("ReadAgain")
        del self.errors[:]

    def seen(self, bounds):
        return Seen(output_of(self.filter), bounds) if self.filter else Seen(output_of(self.reader))

    def remove_filter(self):
        if self.filter:
            simple.Delete(self.filter)
        self.made = self.filter = None

    def delete(self):
        self.remove_filter()
        simple.Delete(self.reader)


class Soak:
    def __init__(self, arguments):
        self.log = open(arguments.log, "w") if rank == 0 else None
        self.all = {series.path: series for folder in arguments.truths if os.path.isdir(folder) for series in series_in(folder)
                    if series.values < MOST_CELLS}
        self.shower, self.asked, self.number, self.faults, self.checked = None, None, 0, 0, 0

    def open(self, series):
        """Sets the bounds of the series, from a reader that only opens it."""
        if series.bounds is None:
            reader = simple.PatchReader(FileName=[series.path], MetadataChannel="Off")
            reader.UpdatePipelineInformation()
            series.bounds = list(reader.GetPropertyValue("DomainBounds"))
            simple.Delete(reader)

    def fault(self, text, state):
        self.faults += 1
        print("FAILED rank %d, change %d: %s\n  %s" % (rank, self.number, text, json.dumps(self.short(state))), flush=True)

    def short(self, state):
        """Returns the state without the values of the first state."""
        first = first_state(self.all[state["path"]])
        properties = {n: v for n, v in state["properties"].items() if v != first["properties"][n]}
        return {**{n: v for n, v in state.items() if n == "path" or v != first[n]}, "properties": properties}

    def show(self, state):
        self.number += 1
        if self.log:
            self.log.write(json.dumps(self.short(state)) + "\n")
            self.log.flush()
        faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=2)
        series = self.all[state["path"]]
        self.open(series)
        time_value = series.times[state["step"]]
        if self.shower is None:
            self.shower = Shower(state, list(state["properties"]), True)
        # A filter for another file would look for its arrays in this file.
        if list(self.shower.reader.FileName) != [state["path"]]:
            self.shower.remove_filter()
        self.shower.set(state)
        if state["event"] == "reload":
            simple.ReloadFiles(self.shower.reader)
        if state["event"] == "stop":
            self.shower.stop(time_value, self.number % ranks)
        self.shower.update(state, time_value)
        self.compare(state, time_value)
        if state["check"]:
            self.check(series, state)
        faulthandler.cancel_dump_traceback_later()

    def compare(self, state, time_value):
        fresh = Shower(state, list(PICTURE), False, **FRESH)
        fresh.set(state)
        fresh.update(state, time_value)
        bounds = self.all[state["path"]].bounds
        differs = self.shower.seen(bounds).differs(fresh.seen(bounds))
        if differs:
            self.fault("not what a fresh reader shows: %s" % ", ".join(map(str, differs)), state)
        # An unchanged reader does not read, and does not repeat messages.
        properties = {name: value for name, value in state["properties"].items() if name not in OF_GUI}
        asked = {name: value for name, value in {**state, "properties": properties}.items() if name not in ("filter", "check", "event")}
        if (state["event"] or asked != self.asked) and bool(self.shower.errors) != bool(fresh.errors):
            self.fault("errors %s, of a fresh reader %s" % (self.shower.errors, fresh.errors), state)
        self.asked = asked
        del self.shower.errors[:]
        fresh.delete()

    def check(self, series, state):
        if Seen(output_of(self.shower.reader)).converted:
            return    # by ParaView, not what the reader made
        before = len(conformance.failed)
        series.check(self.shower.reader, state, "change %d, %s step %d" % (self.number, series.path, state["step"]))
        self.checked += 1
        if len(conformance.failed) > before:
            self.fault("not what is in the files: %s" % conformance.failed[before], state)

    def run(self, arguments, memory):
        """Shows random states until the time is over on rank 0, and at least the requested number."""
        chance = Chance(random.Random(arguments.seed), self.all, self.open)
        home = self.all[sorted(path for path, series in self.all.items() if isinstance(series, Boxes))[0]]
        state = home_state(home)
        self.show(state)
        end = time.time() + arguments.seconds
        while sum_over_ranks(rank == 0 and not self.over(arguments, end)):
            state = chance.next(state)
            self.show(state)
            if self.number % HOME == 0:
                self.show(home_state(home))
                memory.measure(Shower.readers, Shower.filters)

    def over(self, arguments, end):
        return self.number >= arguments.changes and time.time() > end

    def replay(self, arguments):
        with open(arguments.replay) as file:
            lines = [json.loads(line) for line in file]
        for line in lines[-arguments.last:]:
            first = first_state(self.all[line["path"]])
            self.show({**first, **line, "properties": {**first["properties"], **line["properties"]}})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log")
    parser.add_argument("truths", nargs="+")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--changes", type=int, default=0)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--replay")
    parser.add_argument("--last", type=int, default=0)
    parser.add_argument("--memory", type=float, default=0)
    arguments = parser.parse_args()
    if arguments.seed is None:
        arguments.seed = int(sum_over_ranks(int(time.time()) % 1000000 if rank == 0 else 0))
    memory = Memory(makers() if arguments.memory else {})
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    soak = Soak(arguments)
    say("soak: seed %d, %d series, log %s" % (arguments.seed, len(soak.all), arguments.log))
    if arguments.replay:
        soak.replay(arguments)
    else:
        soak.run(arguments, memory)
    growth = memory.growth()
    say("soak: %d changes, %d compared with the files, %s" % (soak.number, soak.checked, memory.text()))
    if arguments.memory and growth > arguments.memory:
        print("FAILED rank %d: memory grew by %.2f %%" % (rank, growth), flush=True)
        soak.faults += 1
    failed = sum_over_ranks(soak.faults)
    say("soak: %d faults, %d values compared with the files" % (failed, sum_over_ranks(conformance.compared[0])))
    return 1 if failed or not soak.number else 0


if __name__ == "__main__":
    status = main()
    if status:
        sys.exit(status)
