#!/usr/bin/python3
"""Tests each fault of table.py: a message must name file and reason, and the same process must continue and show the right values
when the fault is over. The right values follow from the formula of series.py.

usage: at_work.py GROUP --inject LIBRARY --program PATCHIO [--nightly] [--only NAME...] FOLDER

GROUP: readers (the Python package, in one process), programs. LIBRARY is the library of Inject.c; FOLDER is made anew.
"""
import argparse
import faulthandler
import importlib
import os
import re
import shutil
import sys
import time

import inject
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

LONGEST = 60    # seconds after which a fault counts as a hang
SETTLED = 2.2    # age of files in seconds from which PatchIO saves index files
QUICK_REQUESTS = (1, 2, 3, 5, 8, 13, 21)
MOST_REQUESTS = 300


def make_places(options, names):
    """Returns {(fault, format): place}, each with its own copy of the series. The unharmed generations are beside the copies."""
    import series
    sound, places = series.make_all(options.folder, options.program), {}
    for fault in names:
        for name in fault.formats:
            place = series.Place(os.path.join(options.folder, fault.name, name), name)
            place.generations = sound[name]
            shutil.copytree(sound[name][0], place.folder)
            places[fault.name, name] = place
    time.sleep(SETTLED)
    return places


# ---- readers ----

def met(fault, place, number):
    """Tests one fault in one series. Returns whether the plan hit a call, and whether there was a message."""
    import readers
    where = "%s, %s, request %d" % (fault.name, place.name, number)
    reader = readers.prepared(place)
    with fault.harm(place, number) as plan:
        seen = {"opened before": readers.look(reader.values, place, None, fault.generation),
                "opened now": readers.look(readers.open_and_read(place), place, None, fault.generation)}
        hit = plan.hit() if plan else 1
        for who, text in seen.items():
            check_text(fault, place, text, who, where)
        others = [step for step in range(place.format.steps) if place.format.values(step) != place.format.values(place.step)]
        for step in others if fault.harm.which == "values" and not plan else []:
            text = readers.look(lambda: reader.values(step), place, step, fault.generation)
            expect(text == "right" or changed(fault, text), "%s: step %d, whose files are sound: %s", where, step, text)
    told = sum(text != "right" for text in seen.values())
    after = readers.look(readers.open_and_read(place), place, None, 0)
    expect(after == "right", "%s, when it is over: %s", where, after)
    after = readers.look(reader.values, place, None, 0)
    expect(after == "right" or changed(fault, after), "%s, opened before, when it is over: %s", where, after)
    return hit, told


def changed(fault, text):
    """Returns whether the text asks the user to open the series again, as it may after its files were replaced."""
    import readers
    return fault.may_ask and re.search(readers.CHANGED, text)


def check_text(fault, place, text, who, where):
    import readers
    if fault.says is None:
        expect(text == "right" or changed(fault, text), "%s, %s: %s", where, who, text)
    elif text != "right" or must_tell(fault, who):
        expect(re.search(fault.says, text) and readers.file_of(fault, place) in text, "%s, %s: expected '%s' and '%s', found %s", where, who,
               readers.file_of(fault, place), fault.says, text)


def must_tell(fault, who):
    """Returns whether the fault must cause a message. Some requests do not matter, and readers that have the series open know its
    description."""
    return not fault.harm.counts and (fault.harm.which == "values" or who == "opened now")


def meet(fault, place, options):
    if not fault.harm.counts:
        return met(fault, place, 1)[1]
    messages = 0
    for number in range(1, MOST_REQUESTS) if options.nightly else QUICK_REQUESTS:
        hit, told = met(fault, place, number)
        messages += told
        if not hit:
            break
    return messages


def readers_group(options, faults):
    places = make_places(options, faults)
    for fault in faults:
        messages = 0
        for name in fault.formats:
            print("fault %s, %s" % (fault.name, name), flush=True)
            faulthandler.dump_traceback_later(LONGEST * (MOST_REQUESTS if fault.harm.counts and options.nightly else 1), exit=True)
            messages += meet(fault, places[fault.name, name], options)
            faulthandler.cancel_dump_traceback_later()
        expect(fault.says is None or messages >= (1 if fault.harm.counts else len(fault.formats)), "%s: %d messages", fault.name, messages)


# ---- programs ----

def programs_group(options, faults):
    import programs
    import series
    sound = series.make_all(options.folder, options.program, ("samrai", "container"))
    for fault in faults:
        print("fault " + fault.name, flush=True)
        faulthandler.dump_traceback_later(3 * LONGEST, exit=True)
        begin = time.time()
        bench = programs.Bench(options, os.path.join(options.folder, fault.name), sound, lambda holds, text, *words, n=fault.name: expect(holds, n + ": " + text, *words))
        module, _, function = fault.run.rpartition(".")
        getattr(importlib.import_module(module or "programs"), function)(bench)
        print("   %.1f s" % (time.time() - begin))
        faulthandler.cancel_dump_traceback_later()


GROUPS = {"readers": (readers_group, lambda fault: fault.harm), "programs": (programs_group, lambda fault: fault.run and "." not in fault.run),
          "processes": (programs_group, lambda fault: fault.run and "." in fault.run)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("group", choices=sorted(GROUPS))
    parser.add_argument("--inject", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--nightly", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("folder")
    options = parser.parse_intermixed_args()
    options.folder = os.path.abspath(options.folder)
    if "PATCHIO_INJECT" not in os.environ:
        shutil.rmtree(options.folder, ignore_errors=True)
        os.makedirs(options.folder)
    os.environ["XDG_CACHE_HOME"] = os.path.join(options.folder, "cache")
    os.environ.pop("PATCHIO_METADATA_DIR", None)
    inject.restart_with(options.inject, os.path.join(options.folder, "plans"))
    import table
    run, belongs = GROUPS[options.group]
    faults = [fault for fault in table.FAULTS if belongs(fault) and (not options.only or fault.name in options.only)]
    run(options, faults)
    print("%s: %d faults, %d tests failed" % ("FAILED" if failed else "passed", len(faults), len(failed)))
    return 1 if failed or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
