#!/usr/bin/python3
"""Damages valid files of a format, and opens and reads them. A program must end by itself, with 0 or 1. If a file cannot be right,
the program must print one message that names a file.

usage: broken_files.py --info patchio --read patchio_read_patch_data [--mutations N] [--most-memory BYTES] --format FORMAT CASESDIR

FORMAT is a folder of Testing/Formats, CASESDIR comes from its make_cases.py. Its broken.py has
  SOUND           what is opened (a path below CASESDIR) -> files beside it that are broken one after another; all of them matter
  QUIET           pairs of such a file and a way to break it that may go unnoticed
  SEEN_IN_PARAVIEW  names of contradictions that only ParaView must complain of; may be left out
  contradictions  a function of CASESDIR and a scratch folder: yields (name, path that is opened, what must be said or None)
Files are cut off, emptied, removed, replaced by noise, and bytes of theirs are changed at random (seeded).
"""
import argparse
import importlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 60
most_memory = 0    # limit of memory in bytes; 0: no limit, which sanitizers need
checks, complaints, failed = [], [], []


def fail(what, message, text):
    failed.append(what)
    print("FAILED %s: %s: %s" % (what, message, text.strip()[-600:]), flush=True)


def run(command, scratch):
    """Returns the exit status and the output."""
    done = subprocess.run(["timeout", "--kill-after=5", str(LONGEST)] + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TMPDIR": scratch, "PATCHIO_METADATA_DIR": scratch},
                          preexec_fn=lambda: most_memory and resource.setrlimit(resource.RLIMIT_AS, (most_memory, most_memory)))
    return done.returncode, done.stdout.decode(errors="replace")


def check(programs, path, what, wanted=None):
    """Runs all programs on the path. wanted: text that one of the programs must print; None: any result except a crash."""
    info, read = programs
    checks.append(what)
    with tempfile.TemporaryDirectory() as scratch:
        said = ""
        for command in ([info, "info", path], [read, path, "2", os.path.join(scratch, "out")]):
            status, text = run(command, scratch)
            said += text
            if status not in (0, 1) or "Sanitizer" in text or "runtime error" in text:
                fail(what, "%s ended with %d" % (os.path.basename(command[0]), status), text)
            if status == 1 and command[1] == "info":
                messages = re.findall("^patchio: ", text, re.MULTILINE)
                if len(messages) != 1:
                    fail(what, "%d error messages instead of one" % len(messages), text)
    if "HDF5-DIAG" in said:
        fail(what, "the HDF5 library itself speaks", said)
    if wanted is not None:
        complaints.append(what)
        if not re.search(wanted, said):
            fail(what, "nobody says '%s'" % wanted, said)


def cut(share):
    def change(path):
        os.truncate(path, int(os.path.getsize(path) * share))
    return change


def noise(path):
    with open(path, "wb") as file:
        file.write(random.Random(3).randbytes(1000))


WAYS = {"cut at 0.9": cut(0.9), "cut at 0.3": cut(0.3), "emptied": cut(0), "removed": os.remove, "noise": noise}


def copy_of(cases, opened, folder):
    """Copies the folder of the file that is opened. Returns the path of the file in the copy."""
    top = opened.split("/")[0]
    shutil.rmtree(os.path.join(folder, top), ignore_errors=True)
    shutil.copytree(os.path.join(cases, top), os.path.join(folder, top), ignore=shutil.ignore_patterns("*.patchio"))
    return os.path.join(folder, opened)


def broken_copies(table, cases, folder):
    """Breaks each file in each way. Yields (what was done, the path that is opened, whether there must be a message)."""
    for opened, files in table.SOUND.items():
        for file in files:
            for way, change in WAYS.items():
                path = copy_of(cases, opened, folder)
                change(os.path.join(os.path.dirname(path), file))
                yield "%s: %s %s" % (opened, file, way), path, (file, way) not in table.QUIET


def mutations(table, cases, folder, count):
    """Changes some bytes of a file at random. Yields (what was done, the path that is opened)."""
    dice = random.Random(7)
    for number in range(count):
        opened = dice.choice(list(table.SOUND))
        path = copy_of(cases, opened, folder)
        victim = os.path.join(os.path.dirname(path), dice.choice(table.SOUND[opened]))
        with open(victim, "rb") as file:
            data = bytearray(file.read())
        for _ in range(dice.randint(1, 4)):
            data[dice.randrange(min(len(data), dice.choice([200, 2000, 20000])))] = dice.randrange(256)
        with open(victim, "wb") as file:
            file.write(data)
        yield "mutation %d of %s" % (number, opened), path


def check_all(programs, table, cases, mutated):
    with tempfile.TemporaryDirectory() as folder:
        for opened in table.SOUND:
            with tempfile.TemporaryDirectory() as scratch:
                status, text = run([programs[1], copy_of(cases, opened, folder), "2", os.path.join(scratch, "out")], scratch)
                if status:
                    fail(opened, "the sound files cannot be read", text)
        for what, path, must_complain in broken_copies(table, cases, folder):
            check(programs, path, what, "[Ee]xpected|[Nn]o such file|not there|does not|cannot" if must_complain else None)
        for name, path, wanted in table.contradictions(cases, folder):
            check(programs, path, name, wanted)
        for what, path in mutations(table, cases, folder, mutated):
            check(programs, path, what)


def main():
    global most_memory
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--info", required=True)
    parser.add_argument("--read", required=True)
    parser.add_argument("--mutations", type=int, default=15)
    parser.add_argument("--most-memory", type=int, default=0, help="of a process: hostile numbers must not become allocations")
    parser.add_argument("--format", required=True)
    parser.add_argument("cases")
    arguments = parser.parse_args()
    most_memory = arguments.most_memory
    sys.path.insert(0, os.path.join(HERE, "..", "Formats", arguments.format))
    table = importlib.import_module("broken")
    check_all((arguments.info, arguments.read), table, arguments.cases, arguments.mutations)
    print("%s: %d broken files, %d of them must be complained of, %d faults" % (arguments.format, len(checks), len(complaints), len(failed)))
    return 1 if failed or not complaints else 0


if __name__ == "__main__":
    sys.exit(main())
