"""What all suites share: interleaved runs, cold caches, ratios, goals, results as JSON and pictures."""
import datetime
import json
import os
import platform
import random
import statistics
import subprocess
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))


def programs():
    return os.environ["PATCHIO_PROGRAMS"]


def say(text):
    print(text, flush=True)


# ---- running -------------------------------------------------------------------------------------------------

def run(command, ranks=None, environment=None, timeout=600):
    """Standard output of a program; with `ranks` under mpirun. Fails loudly."""
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
    """What a script of this folder prints as its line "JSON ..." in ParaView's pvbatch; rank 0 alone runs it, as users do."""
    settings = dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT=str(timeout))
    settings.update(environment or {})
    command = [os.path.join(here, "..", "ParaView", "pvbatch.sh"), str(ranks), os.path.join(here, script)]
    done = subprocess.run(command + [str(each) for each in arguments], env=settings, stdout=subprocess.PIPE, text=True,
                          check=True)
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("JSON ")][-1][5:])


def read_dump(summary, ranks=1, **options):
    """patchio_bench_read; options are its own."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            arguments.append(option)
        elif value is not None and value is not False:
            arguments += [option, str(value)]
    return run_json([programs() + "/patchio_bench_read", summary] + arguments, ranks=ranks)


def make_dump(folder, name, ranks=1, **options):
    """A dump of patchio_bench_make, made once; the path of its summary."""
    dump = os.path.join(folder, name)
    summary = os.path.join(dump, "visit_dump.00000", "summary.samrai")
    if not os.path.exists(os.path.join(dump, "dumps.visit")):
        say("making %s" % dump)
        arguments = [item for key, value in options.items() for item in ("--" + key.replace("_", "-"), str(value))]
        run([programs() + "/patchio_bench_make", dump] + arguments, ranks=ranks)
        os.sync()
        time.sleep(2.5)  # sidecars of files that are younger are not kept
    return summary


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
    """Runs all ways in turn, `rounds` times, so that a busy machine slows all alike; each time in another order, so
    that none always comes after the same. ways: name -> function. Returns name -> list of what the function returned;
    `before(name)` runs untimed ahead of each."""
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
    """Median, least and most of the ratios of interleaved runs, or of plain numbers."""

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
    """Round by round."""
    return Spread(a / b for a, b in zip(over, under))


# ---- results -------------------------------------------------------------------------------------------------

def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")]
    with open("/proc/meminfo") as meminfo:
        memory = int(meminfo.readline().split()[1]) // 1024

    def said(command):
        """What a program prints; nothing where it fails or is not there."""
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
    """What a suite found: rows with goals, series for plots; written as JSON, pictures and a table."""

    def __init__(self, suite, folder, quick=False):
        """`quick`: figures without a goal may be left out."""
        self.suite = suite
        self.quick = quick
        self.folder = os.path.join(folder, suite)
        os.makedirs(self.folder, exist_ok=True)
        self.machine = machine()
        self.rows = []
        self.data = {}

    def goal(self, measure, least, spread):
        """A figure that must be at least this; the median of the ratios counts."""
        self.rows.append({"measure": measure, "goal": ">= %g" % least, "measured": spread.as_json(), "text": str(spread),
                          "met": spread.median >= least})

    def at_most(self, measure, most, spread, every=False):
        """The median counts; with `every` the largest of all values."""
        self.rows.append({"measure": measure, "goal": "<= %g" % most, "measured": spread.as_json(), "text": str(spread),
                          "met": (spread.most if every else spread.median) <= most})

    def figure(self, measure, spread):
        """A figure without a goal."""
        self.rows.append({"measure": measure, "goal": "", "measured": spread.as_json(), "text": str(spread), "met": True})

    def skipped(self, measure, why):
        self.rows.append({"measure": measure, "goal": "", "measured": None, "text": "skipped: " + why, "met": True})

    def finish(self):
        with open(os.path.join(self.folder, "results.json"), "w") as out:
            json.dump({"suite": self.suite, "machine": self.machine, "rows": self.rows, "data": self.data}, out, indent=1)
        say("\n" + self.table())
        say("results and pictures: %s" % self.folder)

    def table(self):
        lines = ["| %s: measure | goal | measured: median (least to most) | |" % self.suite, "|---|---|---|---|"]
        for row in self.rows:
            verdict = "" if not row["goal"] else ("met" if row["met"] else "MISSED")
            lines.append("| %s | %s | %s | %s |" % (row["measure"], row["goal"], row["text"], verdict))
        return "\n".join(lines)

    def missed(self):
        """Rows that fall short of their goals."""
        return [row for row in self.rows if not row["met"]]

    def not_measured(self):
        return [row for row in self.rows if row["measured"] is None]

    def plot(self, name, draw, **size):
        """draw(axes) on a fresh figure, saved as NAME.png."""
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
        figure, axes = pyplot.subplots(figsize=size.get("figsize", (7, 4.5)), layout="constrained")
        draw(axes)
        axes.grid(alpha=0.3)
        figure.savefig(os.path.join(self.folder, name + ".png"), dpi=100)
        pyplot.close(figure)
