"""Common functions of all suites: interleaved runs, cold caches, ratios, goals, results as JSON and images."""
import datetime
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
sys.path.insert(1, os.path.join(root, "Testing", "Emulator"))
from emulator import options_of  # noqa: E402


def programs():
    return os.environ["PATCHIO_PROGRAMS"]


def say(text):
    print(text, flush=True)


# ---- running -------------------------------------------------------------------------------------------------

def run(command, ranks=None, environment=None, timeout=600):
    """Returns the standard output of a program, which runs under mpirun if `ranks` is given. Raises RuntimeError if the program fails."""
    if ranks and ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + command
    settings = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", HWLOC_COMPONENTS="-gl", HWLOC_HIDE_ERRORS="2",
                    PMIX_MCA_gds="hash", **(environment or {}))
    done = subprocess.run(command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, check=False)
    if done.returncode != 0:
        raise RuntimeError("%s ended with %d:\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stdout


def run_json(command, **how):
    return json.loads(run(command, **how).splitlines()[-1])


def pvbatch(script, *arguments, ranks=1, timeout=600, environment=None):
    """Runs a script of this folder in ParaView's pvbatch and returns its line "JSON ..."; only rank 0 runs the script, as for users."""
    settings = dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT=str(timeout))
    settings.update(environment or {})
    command = [os.path.join(here, "..", "ParaView", "pvbatch.sh"), str(ranks), os.path.join(here, script)]
    done = subprocess.run(command + [str(each) for each in arguments], env=settings, stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("JSON ")][-1][5:])


def read_dump(summary, ranks=1, **options):
    """Runs patchio_bench_read with these options and returns its JSON."""
    return run_json([programs() + "/patchio_bench_read", summary] + options_of(options), ranks=ranks)


def make_dump(folder, name, ranks=1, **options):
    """Makes a dump with patchio_bench_make, if it is missing. Returns the path of its summary."""
    dump = os.path.join(folder, name)
    summary = os.path.join(dump, "visit_dump.00000", "summary.samrai")
    if not os.path.exists(os.path.join(dump, "dumps.visit")):
        say("making %s" % dump)
        run([programs() + "/patchio_bench_make", dump] + options_of(options), ranks=ranks)
        settle()
    return summary


def settle():
    """Waits until new files are so old that PatchIO writes index files for them."""
    os.sync()
    time.sleep(2.5)


def folder_of(summary):
    """Returns the folder of a series, from the summary of a dump."""
    return os.path.dirname(os.path.dirname(summary))


def unpack(folder, archive, name):
    """Returns the path of the data set `name`, which is unpacked once, or None if its archive is missing."""
    packed = os.path.join(os.environ.get("PATCHIO_DATA") or os.path.join(root, "..", "shared", "data"), "large", archive + ".tar.zst")
    path = os.path.join(folder, name)
    if not os.path.exists(path) and os.path.exists(packed):
        say("unpacking %s" % packed)
        with tempfile.TemporaryDirectory(dir=folder) as partial:
            subprocess.run(["tar", "--zstd", "-xf", packed, "-C", partial], check=True)
            os.rename(os.path.join(partial, name), path)
    return path if os.path.exists(path) else None


def find_sphere(report, folder, what="sphere"):
    """Returns the last dump of linadv_sphere_3d, or None, which the report lists."""
    path = unpack(folder, "samrai_linadv_sphere_3d", "linadv_sphere_3d")
    if not path:
        report.skipped(what, "large/samrai_linadv_sphere_3d.tar.zst is missing in $PATCHIO_DATA or ../shared/data")
        return None
    return os.path.join(path, "visit_dump.00002", "summary.samrai")


def files_below(folder):
    return sorted(os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)


def forget(folder):
    """Drops the files' pages from the page cache."""
    for path in files_below(folder):
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def remember(folder):
    """Brings the files' pages into the page cache."""
    for path in files_below(folder):
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def interleave(ways, rounds, before=None):
    """Runs all functions in turn, `rounds` times, so that a busy machine slows all alike. Each round has another order, so
    that a function does not always follow the same one. ways: name -> function. Returns name -> list of results;
    `before(name)` runs before each function."""
    results = {name: [] for name in ways}
    for number in range(rounds):
        order = list(ways)
        random.Random(number).shuffle(order)
        for name in order:
            if before:
                before(name)
            results[name].append(ways[name]())
    return results


# ---- numbers -------------------------------------------------------------------------------------------------

class Spread:
    """Median, minimum and maximum of the ratios of interleaved runs, or of plain numbers."""

    def __init__(self, values):
        self.values = list(values)
        self.median = statistics.median(self.values)
        self.least = min(self.values)
        self.most = max(self.values)

    def __str__(self):
        return "%.3g (%.3g to %.3g)" % (self.median, self.least, self.most)

    def as_json(self):
        return {"median": self.median, "least": self.least, "most": self.most, "values": self.values}


def ratios(over, under):
    """Returns the ratios of each round."""
    return Spread(a / b for a, b in zip(over, under))


def column(runs, *names):
    """Returns the sum of these results of each run."""
    return [sum(run[name] for name in names) for run in runs]


def ratios_of(over, under, *names):
    """Returns the ratios of the sums of these results, of each round."""
    return ratios(column(over, *names), column(under, *names))


# ---- results -------------------------------------------------------------------------------------------------

def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    with open("/proc/meminfo") as meminfo:
        memory = int(meminfo.readline().split()[1]) // 1024

    def said(command):
        """Returns the output of a program; empty if it fails or is missing."""
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        except FileNotFoundError:
            return ""
        return done.stdout.strip()

    return {"cores": os.cpu_count(), "model": models[0] if models else platform.machine(), "memory_mib": memory,
            "kernel": platform.release(), "commit": said(["git", "-C", root, "describe", "--always", "--dirty"]),
            "date": datetime.datetime.now().isoformat(timespec="seconds"), "load_before": os.getloadavg()[0],
            "versions": {name: said(["dpkg-query", "-W", "-f=${Version}", package])
                         for name, package in (("HDF5", "libhdf5-openmpi-[0-9]*"), ("libdeflate", "libdeflate0"), ("ParaView", "paraview"),
                                               ("libfuse", "libfuse3-[0-9]*"), ("Open MPI", "libopenmpi[0-9]*"))}}


class Report:
    """Results of a suite: rows with goals, data for plots; written as JSON, images and a table."""

    def __init__(self, suite, folder, quick=False):
        """quick: the suite may omit rows without a goal."""
        self.suite = suite
        self.quick = quick
        self.folder = os.path.join(folder, suite)
        os.makedirs(self.folder, exist_ok=True)
        self.machine = machine()
        self.rows = []
        self.data = {}

    def goal(self, measure, least, spread):
        """Adds a row whose median must be at least `least`."""
        self.rows.append({"measure": measure, "goal": ">= %g" % least, "measured": spread.as_json(), "text": str(spread),
                          "met": spread.median >= least})

    def at_most(self, measure, most, spread, every=False):
        """Adds a row whose median must be at most `most`; with `every`, the maximum of all values."""
        self.rows.append({"measure": measure, "goal": "<= %g" % most, "measured": spread.as_json(), "text": str(spread),
                          "met": (spread.most if every else spread.median) <= most})

    def figure(self, measure, spread):
        """Adds a row without a goal."""
        self.rows.append({"measure": measure, "goal": "", "measured": spread.as_json(), "text": str(spread), "met": True})

    def skipped(self, measure, why):
        self.rows.append({"measure": measure, "goal": "", "measured": None, "text": "skipped: " + why, "met": True})

    def finish(self):
        with open(os.path.join(self.folder, "results.json"), "w") as out:
            json.dump({"suite": self.suite, "machine": self.machine, "rows": self.rows, "data": self.data}, out, indent=1)
        say("\n" + self.table())
        say("results and images: %s" % self.folder)

    def table(self):
        lines = ["| %s: measure | goal | measured: median (minimum to maximum) | |" % self.suite, "|---|---|---|---|"]
        for row in self.rows:
            verdict = "" if not row["goal"] else ("met" if row["met"] else "MISSED")
            lines.append("| %s | %s | %s | %s |" % (row["measure"], row["goal"], row["text"], verdict))
        return "\n".join(lines)

    def missed(self):
        """Returns the rows that fall short of their goals."""
        return [row for row in self.rows if not row["met"]]

    def not_measured(self):
        return [row for row in self.rows if row["measured"] is None]

    def plot(self, name, draw, **size):
        """Calls draw(axes) on a new figure and saves it as NAME.png."""
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=size.get("figsize", (7, 4.5)), layout="constrained")
        draw(axes)
        axes.grid(alpha=0.3)
        figure.savefig(os.path.join(self.folder, name + ".png"), dpi=100)
        pyplot.close(figure)
