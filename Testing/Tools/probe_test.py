#!/usr/bin/env python3
"""Tests of `patchio probe`: probe_test.py CASE --program PATCHIO --mpiexec MPIEXEC --python PYTHON --faults LIBRARY

Sizes are small, because the tests check that results are complete and right, not the rates.
"""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import run_case  # noqa: E402

TIMEOUT = 200   # seconds of one command
READS = ["read_at", "read_at_all", "iread_at", "iread_at_all", "read_at_all_begin", "read", "read_all", "iread",
         "iread_all", "read_all_begin", "read_shared", "iread_shared", "read_ordered", "read_ordered_begin"]
SHARED = [name for name in READS if "shared" in name or "ordered" in name]
SHORT = ["--influence", "0", "--features", "0", "--no-plots"]


class Bench:
    def __init__(self, options):
        self.options = options
        self.place = tempfile.mkdtemp(prefix="probe_")
        self.folder = os.path.join(self.place, "storage")
        os.mkdir(self.folder)
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                HWLOC_COMPONENTS="-gl", HWLOC_HIDE_ERRORS="2", OMPI_MCA_mpi_yield_when_idle="1",
                                PATCHIO_PROFILE_DIR=os.path.join(self.place, "profiles"))

    def command(self, arguments, ranks=1, mca=()):
        launch = [self.options.mpiexec, "-n", str(ranks), "--oversubscribe"] if ranks > 1 or mca else []
        for name, value in mca:
            launch += ["--mca", name, value]
        return launch + [self.options.program, "probe"] + arguments

    def start(self, arguments, ranks=1):
        sessions = tempfile.mkdtemp(dir=self.place)
        return subprocess.Popen(self.command(arguments, ranks), env=dict(self.environment, TMPDIR=sessions),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, arguments, ranks=1, mca=(), **settings):
        sessions = tempfile.mkdtemp(dir=self.place)
        done = subprocess.run(self.command(arguments, ranks, mca), timeout=TIMEOUT, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(self.environment, TMPDIR=sessions, OMPI_MCA_odls_base_sigkill_timeout="0", **settings))
        return done.returncode, done.stdout, done.stderr

    def attempt(self, arguments, ranks, name, codes, **how):
        """Runs a study. Returns the exit code, which must be one of `codes`, the result and the texts. No files may remain on the
        storage."""
        output = os.path.join(self.place, name)
        path = os.path.join(output, "result.json")
        code, out, err = self.run(["--output", output] + arguments, ranks, **how)
        assert code in codes and os.path.exists(path), "%s: exit code %d\n%s%s" % (arguments, code, out, err)
        assert os.listdir(self.folder) == [], os.listdir(self.folder)
        return code, check(path), out, err

    def study(self, arguments, ranks=1, name="out", code=0, **how):
        """Runs a study. Returns the result and the texts."""
        return self.attempt([self.folder] + arguments, ranks, name, [code], **how)[1:]

    def quick(self, seconds, arguments, ranks=1, name="out"):
        """Runs the quick mode. Returns the result and the texts. On a slow machine, doubles the time until N* is found and the
        functions are compared."""
        while seconds <= TIMEOUT / 2:
            code, *found = self.attempt(arguments + ["--seconds", str(seconds)], ranks, name, [0, 1])
            result = found[0]
            if code == 0 and result["complete"]:
                return found
            why = result.get("why_incomplete", "")
            slow = ("time was too short", "its time limit of ")
            assert any(text in why for text in slow), (code, found)
            seconds *= 2
        raise AssertionError("too slow even in %g s: %s" % (seconds / 2, why))


def check(path):
    """Loads a result and checks general properties."""
    with open(path, encoding="utf-8") as file:
        result = json.load(file)
    assert result["schema"] == "patchio-probe" and result["version"] == 1
    assert result["complete"] == ("why_incomplete" not in result)
    for point in result["points"]:
        assert ("error" in point) != ("kb_per_s" in point), point
        if "kb_per_s" not in point:
            continue
        for name in ("kb_per_s", "seconds"):
            values = point[name]["all"]
            assert min(values) > 0 and 1 <= len(values)
            assert point[name]["min"] == min(values) and point[name]["max"] == max(values)
            assert abs(point[name]["mean"] - sum(values) / len(values)) <= 1e-6 * max(values)
        sync = result["settings"]["sync"]
        repetitions = list(zip(point["seconds"]["all"], point["sync_seconds"], point["kb_per_s"]["all"]))
        # If a repetition was cut, `bytes` belongs to the last one alone.
        for seconds, synced, rate in repetitions[-1:] if point["cut"] else repetitions:
            total = seconds + (synced if sync else 0)
            assert abs(rate * 1000 * total / point["bytes"] - 1) < 1e-6, point
    return result


def case_functions(bench):
    """Tests all functions, in all of their views, on 1, 2 and 4 ranks."""
    wanted = {(name, view) for name in READS for view in ("own", "whole", "interleaved") if name not in SHARED}
    wanted |= {(name.replace("read", "write"), view) for name, view in wanted if view != "whole"}
    wanted |= {(name, "own") for name in SHARED} | {(name.replace("read", "write"), "own") for name in SHARED}
    wanted |= {(name, view) for name in ("pread", "pread_direct") for view in ("own", "whole", "interleaved")}
    wanted |= {(name, view) for name in ("pwrite", "pwrite_direct") for view in ("own", "interleaved")}
    for ranks in (1, 2, 4):
        result, out, _ = bench.study(["--full", "--sizes", "256k", "--blocks", "16k", "--repetitions", "1", "--piece",
                                      "4k"] + SHORT, ranks, name="out%d" % ranks)
        assert {(p["function"], p["view"]) for p in result["points"]} == wanted
        assert result["complete"] and result["machine"]["ranks"] == ranks
        for point in result["points"]:
            # Some file systems do not support O_DIRECT.
            assert "kb_per_s" in point or "direct" in point["function"], point
            if "kb_per_s" in point:
                assert point["bytes"] == (262144 * ranks if point["view"] == "whole" else 262144), point
            assert re.search(r"^%s +%s " % (point["function"], point["view"]), out, re.MULTILINE), out


def case_views(bench):
    """Tests odd sizes: blocks that do not divide parts, pieces of one byte, files that ranks cannot divide."""
    some = ["--functions", "read_at,read_all,iread_at_all,read_shared,read_ordered,write_at,write_all,iwrite,"
                           "write_at_all_begin,write_shared,write_ordered,pread,pwrite"]
    for ranks, piece, blocks in ((3, "1", "1000,24"), (2, "12", "4104"), (4, "1000", "8,5000")):
        result, _, _ = bench.study(some + ["--sizes", "50001", "--piece", piece, "--blocks", blocks, "--repetitions",
                                           "1", "--in-flight", "3", "--most-seconds", "100"] + SHORT, ranks)
        errors = [p for p in result["points"] if "error" in p]
        assert errors == [], errors
        unit = int(piece) * 8 * ranks if piece == "1" else {"12": 24, "1000": 1000}[piece] * ranks
        size = 50001 // unit * unit
        for point in result["points"]:
            assert point["file_bytes"] == 50001
            assert point["bytes"] == (size * ranks if point["view"] == "whole" else size), (point, size)


def case_matrices(bench):
    """Tests two file sizes and three block sizes, one of which does not fit into the small file."""
    result, out, _ = bench.study(["--functions", "read_at,pwrite", "--views", "own,interleaved", "--sizes", "64k,1M",
                                  "--blocks", "4k,128k,16k", "--repetitions", "3"] + SHORT, 2)
    assert len(result["points"]) == 2 * 2 * (3 + 2) and len(result["matrices"]) == 4
    for matrix in result["matrices"]:
        assert matrix["block_bytes"] == [4096, 16384, 131072] and matrix["file_bytes"] == [65536, 1048576]
        assert matrix["kb_per_s_mean"][0][2] is None and None not in matrix["kb_per_s_mean"][1]
    assert all(len(point["kb_per_s"]["all"]) == 3 for point in result["points"])
    assert "1. Small blocks are slow." in out and "5. The rate scales" in out
    # Each block takes more than the time limit, so the study skips all blocks after the first, but a single block is the whole file.
    result, _, err = bench.study(["--functions", "pwrite", "--views", "own", "--sizes", "1M", "--blocks", "256k,1M", "--repetitions", "1",
                                  "--most-seconds", "1e-9"] + SHORT, name="cut")
    assert {p["block_bytes"]: (p["bytes"], p["cut"]) for p in result["points"]} == {2**18: (2**18, True), 2**20: (2**20, False)}, result["points"]
    assert "At 1 point, a measurement skipped a part" in err, err


def case_values(bench):
    """Tests that wrong values are errors and not rates, for each cause, and that the other functions are still measured."""
    functions = "read_at,write_at,read_all,write_all,read_shared,write_shared"
    study = ["--functions", functions, "--views", "own,interleaved", "--sizes", "128k", "--blocks", "8k", "--repetitions",
             "2"] + SHORT
    faults = {"read_at": "read a wrong value at byte ", "write_at": "contains a wrong value at byte ",
              "write_all": "moved 0 of", "read_shared": "overlap or leave gaps", "write_shared": "twice",
              "read_all": "rank 1: "}
    for function, message in faults.items():
        code = 0 if function in ("read_all", "write_all") else 1
        result, _, err = bench.study(study, 2, code=code, LD_PRELOAD=bench.options.faults, PROBE_FAULT=function)
        for point in result["points"]:
            bad = point["function"] == function
            assert ("error" in point) == bad, point
            assert not bad or message in point["error"], point
            assert not bad or point["wrong_values"] == (code == 1), point
        assert "warning: %s (" % function in err, err
        assert ("wrong values" in err) == (code == 1), err
    assert bench.study(study, 2, LD_PRELOAD=bench.options.faults)[0]["complete"]


def case_errors(bench):
    """Tests that each mistake of the user gives one message, on any number of ranks. Faults of the storage are not usage errors."""
    found = {"a writable folder", "one storage", "none", "nothing to measure", "--output"}
    for arguments, message in [([], "Give a folder"), ([bench.place + "/none"], "a writable folder"),
                               ([bench.options.program], "a writable folder"),
                               ([bench.folder, "--functions", "reed"], "Unknown function 'reed'"),
                               ([bench.folder, "--blocks", "many"], "--blocks"),
                               ([bench.folder, "--full", "--no-save"], "--no-save"),
                               ([bench.folder, "--test-bytes", "-1"], "found -1"),
                               ([bench.folder, "--sizes", "-5"], "found -5"),
                               ([bench.folder, "--existing", "/proc/self/status"], "one storage"),
                               ([bench.folder, "--existing", bench.folder + "/none"], "none"),
                               ([bench.folder, "--functions", "write", "--views", "whole"], "nothing to measure"),
                               ([bench.folder, "--full", "--output", "/proc/none"], "--output"),
                               (["compare", bench.folder], "results"), (["findings"], "results"),
                               (["findings", bench.place + "/none"], "none"), (["plot", bench.place + "/none"], "none"),
                               (["compare", bench.place + "/none", bench.place], "none")]:
        for ranks in (1, 2):
            if "--output" not in arguments and arguments and arguments[0] not in ("compare", "findings", "plot"):
                arguments = arguments + ["--output", bench.place + "/out"]
            if len(arguments) > 1 and arguments[1] == "--output" and arguments[0] != bench.folder:
                arguments = arguments + ["--full"]
            code, out, err = bench.run(arguments, ranks)
            complaints = len(re.findall(r"^patchio: ", err, re.MULTILINE))
            assert code == (1 if message in found else 2), (arguments, code, out, err)
            assert message in err and complaints == 1, (arguments, code, out, err)
            assert os.listdir(bench.folder) == []
            assert not os.path.exists(bench.place + "/out"), (arguments, err)


def interrupt(bench, ranks, victim, signals):
    """Starts an endless study, waits until there are points, and sends signals. Returns the result."""
    output = os.path.join(bench.place, "out")
    shutil.rmtree(output, ignore_errors=True)
    process = bench.start([bench.folder, "--full", "--sizes", "1M", "--blocks", "4k,64k", "--repetitions", "9999",
                           "--output", output] + SHORT, ranks)
    path = os.path.join(output, "result.json")
    deadline = time.time() + 60
    def so_far():    # each file is always complete, but the matrices may be older or newer than the result
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    while time.time() < deadline and not (os.path.exists(path) and so_far()["points"]):
        time.sleep(0.05)
    before = so_far()
    assert not before["complete"] and before["points"] and os.listdir(bench.folder)
    for number in signals:
        os.kill(victim(process), number)
    out, err = process.communicate(timeout=60)
    after = check(path)
    assert not after["complete"] and len(after["points"]) >= len(before["points"]), (out, err)
    assert [name for name in os.listdir(output) if name.endswith(".tmp")] == []
    return process.returncode, after, err


def rank_of(process):
    """Returns a rank other than rank 0, among the children of mpirun."""
    children = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(process.pid)], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.splitlines()
    pids = [int(line.split()[0]) for line in children if " probe " in line]
    assert len(pids) > 1, children
    return max(pids)


def case_interrupt(bench):
    """Tests Ctrl-C and SIGTERM: the result stays, marked as incomplete, and the test files are removed."""
    # A second signal ends the program at once, but the test files are still removed.
    interrupt(bench, 1, lambda process: process.pid, [signal.SIGINT, signal.SIGINT])
    files = [name for _, _, names in os.walk(bench.folder) for name in names if name.startswith(("data", "cache"))]
    assert files == [], files    # except MPI's own file for shared pointers
    for name in os.listdir(bench.folder):
        shutil.rmtree(os.path.join(bench.folder, name))
    for number in (signal.SIGINT, signal.SIGTERM):
        code, result, err = interrupt(bench, 1, lambda process: process.pid, [number])
        assert code == 1 and "interrupted the probe." in err and result["why_incomplete"] == "it was interrupted", (code, err)
        assert os.listdir(bench.folder) == []
    # mpirun passes the signal on, and kills ranks one second later. At most an empty folder may be left then.
    code, result, err = interrupt(bench, 2, lambda process: process.pid, [signal.SIGINT])
    assert code != 0, err
    files = [name for _, _, names in os.walk(bench.folder) for name in names]
    if files and not mpirun_passes_signals(bench):    # the next probe removes the remains of killed ranks
        check_removal(bench)
    else:
        assert files == [], files


def mpirun_passes_signals(bench):
    """Returns whether ranks receive a Ctrl-C before they are killed. With Open MPI 6.0.0rc2, they do not."""
    heard, ready = [os.path.join(bench.place, name) for name in ("heard", "ready")]
    program = ("import signal, sys, time\nfor number in (signal.SIGINT, signal.SIGTERM):\n"
               "    signal.signal(number, lambda *_: open(%r, 'w').close())\nopen(%r, 'w').close()\ntime.sleep(20)" % (heard, ready))
    process = subprocess.Popen([bench.options.mpiexec, "-n", "1", bench.options.python, "-c", program], env=bench.environment)
    deadline = time.time() + 20
    while time.time() < deadline and not os.path.exists(ready):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    return os.path.exists(heard)


def case_one_rank(bench):
    """Tests that a signal to one rank ends all ranks."""
    code, result, err = interrupt(bench, 4, rank_of, [signal.SIGINT])
    assert code == 1 and result["why_incomplete"] == "it was interrupted", (code, err)
    assert len(re.findall("interrupted the probe.", err)) == 1 and os.listdir(bench.folder) == [], err


def case_opening(bench):
    """Tests that no rank waits for another one after a signal to one rank while the ranks open a file."""
    for victim in range(3):
        # There are few points, so that the third opening is always reached.
        result, _, err = bench.study(["--full", "--functions", "read_at,write_all", "--sizes", "64k", "--blocks", "4k,8k",
                                      "--repetitions", "3"] + SHORT, 3, code=1, LD_PRELOAD=bench.options.faults,
                                     PROBE_FAULT="interrupt_%d" % victim)
        assert result["why_incomplete"] == "it was interrupted" and "interrupted the probe." in err, (victim, result, err)


def case_killed(bench):
    """Tests that the result of a killed study is a valid file, marked as incomplete."""
    code, result, _ = interrupt(bench, 1, lambda process: process.pid, [signal.SIGKILL])
    assert code == -signal.SIGKILL and "killed" in result["why_incomplete"]
    check_removal(bench)


def check_removal(bench):
    """Checks that the next probe finds and removes the remains of a killed one."""
    left = os.listdir(bench.folder)
    assert len(left) == 1 and re.match(r"patchio_probe_.*_\d+$", left[0]), left
    deadline = time.time() + 20
    while time.time() < deadline and os.path.exists("/proc/" + left[0].rsplit("_", 1)[1]):  # mpirun may end before its ranks
        time.sleep(0.05)
    os.mkdir(os.path.join(bench.folder, "patchio_probe_elsewhere_1"))
    code, out, err = bench.run([bench.folder, "--functions", "pread", "--views", "own", "--sizes", "64k", "--blocks", "8k",
                                "--repetitions", "1", "--output", bench.place + "/out"] + SHORT)
    assert code == 0 and "removed %s/%s, the folder of" % (bench.folder, left[0]) in out, (out, err)
    assert bench.folder + "/patchio_probe_elsewhere_1 belongs to a probe on another machine" in err, err
    assert os.listdir(bench.folder) == ["patchio_probe_elsewhere_1"]


def case_compare(bench):
    """Tests that compare finds no differences in equal results, and writes its table."""
    bench.study(["--functions", "read_at,write_at", "--views", "own", "--sizes", "256k", "--blocks", "8k,32k",
                 "--repetitions", "4", "--label", "first"] + SHORT, 2)
    first, table = os.path.join(bench.place, "out/result.json"), os.path.join(bench.place, "ratios.csv")
    code, out, err = bench.run(["compare", first, first, "--csv", table], 2)
    assert code == 0 and "A: first\nB: first" in out and "0 of 4 points differ by more than noise.\n" in out, (out, err)
    with open(table, newline="", encoding="utf-8") as file:
        assert [row["differs"] for row in csv.DictReader(file)] == ["no"] * 4
    empty = os.path.join(bench.place, "empty.json")
    with open(first, encoding="utf-8") as file, open(empty, "w", encoding="utf-8") as copy:
        json.dump(dict(json.load(file), points=[]), copy)
    code, _, err = bench.run(["compare", first, empty])
    assert code == 1 and "nothing" in err or "no measurements in common" in err, err


def case_findings(bench):
    """Tests all five findings with results of two numbers of ranks. Incomplete results must be marked."""
    for ranks in (1, 2):
        bench.study(["--functions", "read_at,read_at_all,write_at,write_at_all,read_shared,read", "--sizes",
                     "64k,256k", "--blocks", "8k,32k", "--repetitions", "1"] + SHORT, ranks, name="out%d" % ranks)
    paths = [os.path.join(bench.place, "out%d/result.json" % ranks) for ranks in (2, 1)]
    code, out, err = bench.run(["findings"] + paths)
    assert code == 0 and err == "", err
    verdicts = re.findall(r"^(\d)\. .*\. (confirmed|refuted|confirmed in part|unclear|not measured)$", out, re.MULTILINE)
    assert [number for number, _ in verdicts] == ["1", "2", "3", "4", "5"], out
    assert "reading, 2 ranks / 1" in out and "write_ordered / write_all: not measured" in out, out
    picture = os.path.join(bench.place, "findings.png")
    code, again, err = bench.run(["findings", "--plot", picture] + paths)
    assert code == 0 and again == out, err
    with open(os.path.join(bench.place, "findings.json"), encoding="utf-8") as file:
        found = json.load(file)
    assert [finding["judged"] for finding in found] == [verdict for _, verdict in verdicts], found
    assert bool(err) != os.path.exists(picture), err    # a picture, or the reason why it is missing
    with open(paths[0], encoding="utf-8") as file:
        part = dict(json.load(file), complete=False, why_incomplete="tired")
    with open(paths[0], "w", encoding="utf-8") as file:
        json.dump(part, file)
    code, out, err = bench.run(["findings", paths[0]])
    assert code == 0 and "is incomplete: tired" in err, err


def case_plots(bench):
    """Tests that plots are made if there is matplotlib. Otherwise, and without any Python, the command that makes them elsewhere is
    printed."""
    study = ["--functions", "read_at,write_at,read_shared", "--sizes", "64k,256k", "--blocks", "8k,32k,16k",
             "--repetitions", "2", "--influence", "0.02", "--features", "1", "--feature-repetitions", "2"]
    result, out, err = bench.study(study + ["--python", "/bin/false"], 2)
    path = os.path.join(bench.place, "out/result.json")
    assert "The findings and plots are missing: PatchIO found no Python 3" in err and "results: " + path in out, (out, err)
    command = re.search(r": python3 (\S*judge_probe.py) (study %s --plots \S*/out/plots)$" % path, err, re.MULTILINE)
    later = subprocess.run([bench.options.python] + " ".join(command.groups()).split(), stdout=subprocess.PIPE, text=True, check=False)
    assert later.returncode == 0 and "1. Small blocks are slow." in later.stdout and "results: " + path in later.stdout, later
    for arguments in (["findings", path], ["compare", path, path], ["plot", path]):
        code, out, err = bench.run(arguments + ["--python", "/bin/false"], 2)
        assert code == 1 and "found no Python 3" in err and "judge_probe.py %s" % " ".join(arguments) in err, err
    check_without_matplotlib(bench, path)
    assert [row["block_bytes"] for row in result["influence"]] == [8192, 16384, 32768]
    for row in result["influence"]:
        assert row["readers"] == row["writers"] == 1
        for name in ("read", "write"):
            alone, both = row[name + "_alone_kb_per_s"], row[name + "_both_kb_per_s"]
            assert len(alone) == len(both) == 2
            assert abs(row[name + "_ratio"] / (sum(both) / sum(alone)) - 1) < 1e-6
    if subprocess.run([bench.options.python, "-c", "import matplotlib"], check=False).returncode:
        print("skipped: no matplotlib")
        sys.exit(77)
    code, out, err = bench.run(["plot", path, "--python", bench.options.python])
    assert code == 0 and err == "", err
    plots = set(os.listdir(os.path.join(bench.place, "out/plots")))
    wanted = {"rates_read_own.png", "rates_read_whole.png", "rates_read_interleaved.png", "rates_write_own.png",
              "rates_write_interleaved.png", "surface_read_at_own.png", "surface_read_at_whole.png",
              "surface_read_at_interleaved.png", "surface_write_at_own.png", "surface_write_at_interleaved.png",
              "surface_read_shared_own.png", "influence.png"}
    assert wanted <= plots <= wanted | {"features.png"}, plots
    for name in plots:
        with open(os.path.join(bench.place, "out/plots", name), "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n", name
    code, _, err = bench.run(["plot", path, path, "-o", bench.place + "/both", "--python", bench.options.python])
    assert code == 0 and len(os.listdir(bench.place + "/both")) == 3, err


def check_without_matplotlib(bench, path):
    """Checks that a Python without matplotlib judges the results, and prints how to make the plots."""
    hidden = os.path.join(bench.place, "hidden")
    os.mkdir(hidden)
    with open(os.path.join(hidden, "matplotlib.py"), "w", encoding="utf-8") as file:
        file.write("raise ImportError(name='matplotlib')\n")
    plots = os.path.join(bench.place, "no plots")
    code, out, err = bench.run(["compare", path, path, "--plots", plots, "--python", bench.options.python], PYTHONPATH=hidden)
    assert code == 0 and "points differ by more than noise" in out and "plots: " not in out, (out, err)
    assert "The plots are missing" in err and "judge_probe.py plot %s %s --output '%s'\n" % (path, path, plots) in err, err


def case_quick(bench):
    """Tests that the quick mode saves a profile that the reader finds."""
    for ranks in (1, 2):
        # In such a short time, N* may be uncertain, so that the profile would not be saved.
        result, out, _ = bench.quick(6, [bench.folder, "--test-bytes", "32M", "--no-plots", "--force"], ranks, "quick%d" % ranks)
        # Both files of the comparison together must not exceed the limit.
        assert all(p["file_bytes"] <= 16 << 20 for p in result["points"])
        check_flight(result)
        assert {p["function"] for p in result["points"]} == {"read_at", "read_at_all", "read", "read_all", "pread"}
        with open(os.path.join(bench.place, "quick%d/profile.json" % ranks), encoding="utf-8") as file:
            text = file.read()
        json.loads(text)
        kept = re.search(r"^PatchIO has saved the profile: (.*)$", out, re.MULTILINE).group(1)
        with open(kept, encoding="utf-8") as file:
            assert file.read() == text
        assert re.search(r"^best: \d+ concurrent requests", out, re.MULTILINE), out
        if ranks == 2:
            check_less_sure(bench, kept, json.loads(text))
        os.remove(kept)
    _, out, err = bench.quick(3, [bench.folder, "--test-bytes", "16M", "--no-save", "--python", bench.options.python],
                              name="unsaved")
    if "The plots are missing" not in err:
        plots = os.listdir(os.path.join(bench.place, "unsaved/plots"))
        assert set(plots) == {"rates.png", "rates_read_own.png"}, plots
    assert "saved the profile" not in out and os.listdir(os.path.join(bench.place, "profiles")) == []
    data = os.path.join(bench.place, "data")
    with open(data, "wb") as file:
        file.write(os.urandom(16 << 20))
    result, _, _ = bench.quick(2, ["--existing", data, "--no-save", "--no-plots"], name="existing")
    assert result["complete"] and result["points"] == []
    check_flight(result)


def check_less_sure(bench, kept, sure):
    """Checks that a short probe without --force does not replace a more certain profile."""
    # The law of a storage with N* = 16, without noise.
    sure["samples"] = [{"in_flight": n, "bytes_per_second": [1e8 * min(n, 16) * (1 + 1e-4 * (p % 2)) for p in range(8)]}
                       for n in (1, 2, 4, 8, 16, 32)]
    with open(kept, "w", encoding="utf-8") as file:
        json.dump(sure, file)
    _, out, _ = bench.quick(3, [bench.folder, "--test-bytes", "16M", "--no-plots"], 2, "short")
    with open(kept, encoding="utf-8") as file:
        assert json.load(file) == sure, out
    assert "The profile is not saved, because " in out and "--force" in out, out


def check_flight(result):
    flight = result["flight"]
    tried = [s["in_flight"] for s in flight["samples"]]
    assert {1, 2, 4} <= set(tried) and min(s["kb_per_s"] for s in flight["samples"]) > 0
    assert flight["best_least"] <= flight["best"] <= flight["best_most"] <= max(tried)
    assert [flight["fitted"][0]["in_flight"], flight["fitted"][-1]["in_flight"]] == [min(tried), max(tried)]


def case_quick_cut(bench):
    """Tests that Ctrl-C in the quick mode keeps the measurements and removes the test files, also after a second Ctrl-C."""
    for number, signals in enumerate(([signal.SIGINT], [signal.SIGINT, signal.SIGINT])):
        output = os.path.join(bench.place, "cut%d" % number)
        process = bench.start([bench.folder, "--test-bytes", "16M", "--seconds", "40", "--output", output])
        path = os.path.join(output, "result.json")
        deadline = time.time() + 100
        # The tables are written after the result.
        while time.time() < deadline and not os.path.exists(os.path.join(output, "matrices.csv")):
            time.sleep(0.05)
        before = check(path)
        assert not before["complete"] and before["flight"]["samples"] and os.listdir(bench.folder)
        for each in signals:
            process.send_signal(each)
        _, err = process.communicate(timeout=60)
        after = check(path)
        assert not after["complete"], after
        assert len(after["flight"]["samples"]) >= len(before["flight"]["samples"])
        if process.returncode == 1:
            assert "interrupted the probe." in err and after["why_incomplete"] == "it was interrupted", err
            assert os.listdir(bench.folder) == [], err
        assert number == 1 or process.returncode == 1, err
        files = [name for _, _, names in os.walk(bench.folder) for name in names]
        assert files == [], files


def case_romio(bench):
    """Tests ROMIO, the other MPI-IO of Open MPI. Functions that it lacks are errors, and do not end the program."""
    version = subprocess.run([bench.options.mpiexec, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        print("skipped: not Open MPI")
        sys.exit(77)
    component = "romio321" if " 4." in version else "romio341"
    if component not in subprocess.run(["ompi_info"], stdout=subprocess.PIPE, text=True, check=False).stdout:
        print("skipped: this Open MPI has no ROMIO")
        sys.exit(77)
    result, _, _ = bench.study(["--full", "--sizes", "128k", "--blocks", "16k", "--repetitions", "1"] + SHORT, 2,
                               mca=[("io", component)])
    assert result["complete"] and result["machine"]["mpi_io"] == "OMPI_MCA_io=" + component
    good = {p["function"] for p in result["points"] if "kb_per_s" in p}
    assert {"read_at", "read_all", "write_at_all", "read_shared", "write_ordered", "pread"} <= good, good
    lacking = {p["function"] for p in result["points"] if p.get("error", "").endswith("the MPI library does not have this function")}
    assert lacking == {"iread_all", "iread_at_all", "iwrite_all", "iwrite_at_all"}, lacking


if __name__ == "__main__":
    run_case(globals(), Bench, "program", "mpiexec", "python", "faults")
