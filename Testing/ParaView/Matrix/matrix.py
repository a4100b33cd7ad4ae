#!/usr/bin/python3
"""Every filter that people use on data sets of every format: what comes out must be what the raw files say.

usage: matrix.py NP TRUTHDIR SERIES[,SERIES...] MODE[,MODE...] SCRATCH [CHECK...]

TRUTHDIR holds what Testing/Formats/*/reference.py saved; SERIES is a part of a path in it, MODE a value of the reader's
property Blocks, CHECK the name of one in checks.py (all by default). Each series and mode has a session of pvbatch on NP ranks.
Where one crashes, that check has failed and another session does the rest. Needs PATCHIO_PLUGIN, as pvbatch.sh does.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TROUBLE = re.compile(r"ERR\||ERROR:|^fault |Loguru caught|Traceback")


def run_session(np, *arguments):
    """[(check, lines)] of one session, and whether it came to its end."""
    command = [os.path.join(HERE, "..", "pvbatch.sh"), np, os.path.join(HERE, "session.py"), *arguments]
    found, whole = [("start", [])], False
    session = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
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
    """Names of the checks that have failed."""
    failed, done = [], []
    print("%s, %s, %s ranks" % (series, mode, np), flush=True)
    while True:
        found, whole = run_session(np, truth, series, mode, scratch, "--but=" + ",,".join(done), *wanted)
        for name, lines in found:
            trouble = [line for line in lines if TROUBLE.search(line)]
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
