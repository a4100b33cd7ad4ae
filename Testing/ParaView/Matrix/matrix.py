#!/usr/bin/python3
"""Tests the usual filters on data sets of each format. The results must agree with the raw files.

usage: matrix.py NP TRUTHDIR SERIES[,SERIES...] MODE[,MODE...] SCRATCH [CHECK...]

TRUTHDIR holds what Testing/Formats/*/reference.py saved; SERIES is a part of a path in it, MODE a value of the reader's property
Blocks, CHECK the name of a check in checks.py (default: all). Each series and mode has a session of pvbatch on NP ranks. If a check
crashes, it has failed, and another session runs the other checks. Needs PATCHIO_PLUGIN, like pvbatch.sh.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Checks that only rank 0 runs, like users' scripts. If all ranks ran them, each rank would use the range of its own blocks, and
# ParaView's representations would differ.
BY_ONE_RANK = ["Volume of one level"]
KNOWN = "known limit: "    # followed by the name of the limit and, after a colon, ParaView's message
TROUBLE = re.compile(r"ERR\||ERROR:|^fault |Loguru caught|Traceback")


def run_session(np, who, *arguments):
    """Runs one session. Returns [(check, lines)], and whether the session has finished."""
    command = [os.path.join(HERE, "..", "pvbatch.sh"), np, os.path.join(HERE, "session.py"), *arguments]
    found, whole = [("start", [])], False
    session = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env={**os.environ, "PATCHIO_PVBATCH_MODE": who})
    for line in session.stdout:
        if line.startswith("begin "):
            found.append((line[6:].strip(), []))
        elif line.startswith("end "):
            print("  " + line.strip()[4:], flush=True)
        else:
            found[-1][1].append(line.rstrip())
            whole |= line.startswith("all done")
    session.wait()
    return found, whole and session.returncode == 0


def run(np, truth, series, mode, scratch, wanted):
    """Returns the names of the failed checks."""
    print("%s, %s, %s ranks" % (series, mode, np), flush=True)
    if np == "1":
        return run_sessions(np, "symmetric", [], truth, series, mode, scratch, wanted)
    failed = run_sessions(np, "symmetric", BY_ONE_RANK, truth, series, mode, scratch, wanted)
    by_one = [name for name in BY_ONE_RANK if name in wanted or not wanted]
    return failed + (run_sessions(np, "root", [], truth, series, mode, scratch, by_one) if by_one else [])


def run_sessions(np, who, done, truth, series, mode, scratch, wanted):
    """Returns the names of the failed checks. Each session continues after the check in which the previous session crashed."""
    failed, done = [], list(done)
    while True:
        found, whole = run_session(np, who, truth, series, mode, scratch, "--but=" + ",,".join(done), *wanted)
        for name, lines in found:
            limits = [line for line in lines if line.startswith(KNOWN)]
            said = [line[len(KNOWN):].partition(":")[2].strip() for line in limits]
            trouble = [line for line in lines if TROUBLE.search(line) and not any(text and text in line for text in said)]
            print("".join("  %s: %s\n" % (name, line) for line in limits), end="")
            last = name == found[-1][0] and not whole
            if trouble or last:
                failed.append(name)
                print("FAILED: %s%s" % (name, ", which ended the session" if last else ""))
                print("\n".join("    " + line[:300] for line in (trouble[:4] or lines[-4:])), flush=True)
        done += [name for name, _ in found]
        if whole or found[-1][0] == "start":
            return failed


def main():
    np, truth, series, modes, scratch, *wanted = sys.argv[1:]
    failed = [(s, m, name) for s in series.split(",") for m in modes.split(",") for name in run(np, truth, s, m, scratch, wanted)]
    print("matrix: %d checks failed" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
