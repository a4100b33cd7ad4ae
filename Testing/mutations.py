"""Puts faults into the code, one at a time, builds, and reports which of them the tests find.

usage: mutations.py [--number N] [--seed S] [--minutes M] [--build FOLDER] [FOLDER ...]

FOLDER: the sources to change; Core and Filters by default. Run the program in a separate copy of the sources, because the program
writes each fault into a file, and then restores the file. A fault that does not compile is replaced by another fault. Examine each
surviving fault: some change nothing that a user could notice. Documented in README.md here."""
import argparse
import os
import random
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# (pattern, replacement). Templates, includes, comments and texts are left out.
FAULTS = [(r" <= ", " < "), (r" < (?!<)", " <= "), (r" >= ", " > "), (r" > (?!>)", " >= "), (r" == ", " != "), (r" != ", " == "),
          (r" && ", " || "), (r" \|\| ", " && "), (r" \+ 1\b", ""), (r" - 1\b", ""), (r" \+ (?=[a-z(])", " - "), (r" - (?=[a-z(])", " + "),
          (r" \* (?=[a-z(])", " / "), (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"std::min\b", "std::max"), (r"std::max\b", "std::min"),
          (r"\bcontinue;", ";"), (r" \+= ", " -= "), (r"\bif \((?=[a-z!])(?!constexpr)([^;{}]*)\) \{$", r"if (!(\1)) {")]
# (folder of the fault, what is built, tests), tried in turn: quick tests first.
STAGES = [("Core", "Testing/Core/all", ["-R", r"^core\.", "-LE", "mpi"]), ("Filters", "Testing/Filters/all", ["-R", r"^filters\."]),
          ("", "all", ["-R", r"\.(cases_1|broken_files|conformance|matrix|values|references|exported)$|^(container|output|python|tools)\.", "-E", "probe", "-LE", "nightly"]),
          ("", "all", ["-R", r"^paraview\.(scripts_1|drawn_surfaces_1|user_1|demo)$"])]


def candidates(folders):
    """Returns (file, line number, pattern, replacement) of all faults that can be put into the sources."""
    files = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    found = []
    for file in (name for name in files if name.endswith(".cxx")):
        with open(os.path.join(ROOT, file)) as text:
            for number, line in enumerate(text):
                code = line.split("//")[0]
                if re.match(r"\s*(#|\*|/\*|template|static_assert|assert|using)", line) or '"' in code or "operator" in code:
                    continue
                found += [(file, number, pattern, new) for pattern, new in FAULTS if re.search(pattern, code.rstrip("\n"))]
    return found


def with_fault(text, number, pattern, new):
    lines = text.split("\n")
    code, slashes, comment = lines[number].partition("//")
    lines[number] = re.sub(pattern, new, code, count=1) + slashes + comment
    return "\n".join(lines), lines[number].strip()


def run(command, timeout):
    return subprocess.run(["timeout", "--kill-after=10", str(timeout)] + command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)


def found_by(build, file):
    """Builds and tests. Returns the name of the first test that fails, "" if none fails, or None if the fault does not compile."""
    for folder, target, tests in STAGES:
        if not file.startswith(folder):
            continue
        if run(["ninja", "-C", build, target], 1800).returncode != 0:
            return None
        done = run(["ctest", "--test-dir", build, "-j2", "--stop-on-failure", "--timeout", "200", *tests], 3000)
        failed = re.search(r"Test +#\d+: (\S+) \.*\s*\**(?:Failed|Exception|Timeout|Not Run|SEGFAULT|.*\*\*\*)", done.stdout)
        if done.returncode != 0:
            return failed.group(1) if failed else "ctest"
    return ""


def main():
    parser = argparse.ArgumentParser(description="Puts faults into the code and reports which of them the tests find.")
    parser.add_argument("folders", nargs="*", default=["Core", "Filters"])
    parser.add_argument("--number", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=1e9, help="begins no further fault after this time")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    arguments = parser.parse_args()
    faults, begin, survived, tried = candidates(arguments.folders), time.time(), [], 0
    random.Random(arguments.seed).shuffle(faults)
    for file, number, pattern, new in faults:
        if tried == arguments.number or time.time() - begin > 60 * arguments.minutes:
            break
        path = os.path.join(ROOT, file)
        with open(path) as source:
            before = source.read()
        changed, line = with_fault(before, number, pattern, new)
        try:
            with open(path, "w") as source:
                source.write(changed)
            test = found_by(arguments.build, file)
        finally:
            with open(path, "w") as source:
                source.write(before)
        if test is None:
            continue
        tried += 1
        print("%s %s:%d: %s%s" % ("found" if test else "SURVIVED", file, number + 1, line, " (%s)" % test if test else ""), flush=True)
        survived += [] if test else [line]
    print("%d of %d faults found, %.0f min" % (tried - len(survived), tried, (time.time() - begin) / 60))
    return 1 if tried == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
