"""Runs the checks of one data set in one session of pvbatch; matrix.py calls it.

usage: Testing/ParaView/pvbatch.sh NP session.py TRUTHDIR SERIES MODE SCRATCH --but=CHECK,,CHECK... [CHECK...]

Runs on each rank. Prints "begin CHECK" before each check, so that a crash has a name.
"""
import os
import sys
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.dirname(here)]

from paraview import simple  # noqa: E402

from checks import CHECKS, Case  # noqa: E402
from on_ranks import rank  # noqa: E402
from scene import find_series  # noqa: E402


def say(text, *details):
    if rank == 0:
        print(text % details, flush=True)


def main():
    truth, name, mode, scratch = sys.argv[1:5]
    done, wanted = sys.argv[5][6:].split(",,"), sys.argv[6:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    os.makedirs(scratch, exist_ok=True)
    series = find_series(truth, name)
    if series is None:
        return say("fault there is no %s in %s", name, truth)
    reader = simple.PatchReader(FileName=[series.path], Blocks=mode)
    reader.UpdatePipelineInformation()
    case = Case(reader, series, len(series.times) - 1, scratch)
    case.update(reader, False)
    for title, function, needs in CHECKS:
        if set(needs) <= case.has and title not in done and (title in wanted or not wanted):
            say("begin %s", title)
            case.faults, begun = [], time.time()
            try:
                function(case)
            except Exception:
                if rank == 0:
                    traceback.print_exc(file=sys.stdout)
                case.faults.append("an exception")
            for fault in case.faults[:3]:
                say("fault %s", fault)
            case.clean()
            say("end %s (%.1f s)", title, time.time() - begun)
    say("all done")


main()
sys.stdout.flush()
