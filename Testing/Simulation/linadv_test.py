#!/usr/bin/env python3
"""Tests of `patchio-linadv`: linadv_test.py CASE --program PROGRAM --mpiexec MPIEXEC --checker FILE

Each case runs the program in a separate directory and reads the dumps without code of PatchIO.
"""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "SAMRAI"))
import reference  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import run_case  # noqa: E402

TIMEOUT = 50


class Runner:
    def __init__(self, options):
        self.program, self.mpiexec, self.checker = options.program, options.mpiexec, options.checker
        self.place = tempfile.mkdtemp(prefix="linadv_")

    def path(self, name):
        return os.path.join(self.place, name)

    def command(self, arguments, ranks=1):
        launch = [self.mpiexec, "-n", str(ranks), "--oversubscribe"] if ranks > 1 else []
        # MPI jobs that share a session folder may remove it while another job uses it.
        with tempfile.TemporaryDirectory() as sessions:
            done = subprocess.run(launch + [self.program] + arguments, env=dict(environment(), TMPDIR=sessions),
                                  timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        return done.returncode, done.stdout, done.stderr

    def linadv(self, name, options, ranks=1):
        """Runs the program, expects success, and returns the directory with the dumps."""
        code, _, complaint = self.command(["--output", self.path(name)] + options.split(), ranks)
        assert code == 0, "linadv %s on %d ranks: exit code %d\n%s" % (options, ranks, code, complaint)
        return self.path(name)


class Patch:
    """A patch. level; lower, upper: inclusive cells, one number per axis; values: {component name: array}."""

    def __init__(self, level, lower, upper, values):
        self.level, self.lower, self.upper, self.values = level, lower, upper, values

    @property
    def box(self):
        return (self.level, tuple(int(i) for i in self.lower), tuple(int(i) for i in self.upper))


class Dump:
    """One dump, completely in memory. Arrays have axis 0 first: values[i, j(, k)]."""

    def __init__(self, path):
        summary = reference.Summary(path)
        d = summary.dim
        self.path, self.dimension, self.time, self.step, self.levels = path, d, summary.time, summary.step, len(summary.level_sizes)
        self.origin, self.spacing, self.ratio = summary.corner[:d], summary.dx[:, :d], summary.ratios[:, :d]
        clusters = reference.Clusters(os.path.dirname(path), summary)
        self.patches = []
        for p, row in enumerate(summary.map):
            values = {}
            for variable in summary.variables:
                shape = summary.dims(p, variable["cell"], variable["ghosts"])[:d]
                columns = reference.read_variable(clusters.patch(p), variable).T
                for c, column in enumerate(columns):
                    name = variable["name"] + (".%02d" % c if len(columns) > 1 else "")
                    values[name] = column.reshape(shape, order="F")
            self.patches.append(Patch(int(row["level_number"]), summary.lower[p, :d], summary.upper[p, :d], values))
        clusters.close()
        with h5py.File(path, "r") as file:
            self.ranks = int(file["BASIC_INFO/number_processors"][0])
            self.ranges = {name: file["extents/%s-Extents" % name][:] for name in self.patches[0].values}

    def on_level(self, level):
        return [p for p in self.patches if p.level == level]

    def level_array(self, level, name):
        """Returns the level's cells as one array over its whole index space; NaN outside patches."""
        size = np.max([p.upper for p in self.on_level(0)], axis=0) + 1
        for ratio in self.ratio[1:level + 1]:
            size = size * ratio
        whole = np.full(size, np.nan)
        for p in self.on_level(level):
            whole[tuple(slice(a, b + 1) for a, b in zip(p.lower, p.upper))] = p.values[name]
        return whole

    def centres(self, level, shape):
        """Returns the cell centres of a level: one array per axis, for broadcasting."""
        axes = [self.origin[a] + (np.arange(n) + 0.5) * self.spacing[level][a] for a, n in enumerate(shape)]
        return np.meshgrid(*axes, indexing="ij", sparse=True)


def read_series(directory):
    """Returns the dumps that dumps.visit names, in its order."""
    with open(os.path.join(directory, "dumps.visit")) as index:
        return [Dump(os.path.join(directory, line.rstrip("\n"))) for line in index]


def environment():
    result = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                  OMPI_MCA_odls_base_sigkill_timeout="0")    # seconds that mpirun waits after a rank has failed
    result.setdefault("TZ", "UTC")
    return result


# ---- what must hold for every dump ----

def check_level_zero(dump):
    whole = dump.level_array(0, "uval")
    assert not np.isnan(whole).any(), dump.path + ": level 0 has holes"
    assert whole.size == sum(p.values["uval"].size for p in dump.on_level(0)), dump.path + ": level 0 overlaps"


def check_restriction(dump, name="uval"):
    """Checks that fine patches lie on coarse patches, whose cells have the mean of the fine cells."""
    for level in range(1, dump.levels):
        ratio = dump.ratio[level]
        coarse = dump.level_array(level - 1, name)
        for p in dump.on_level(level):
            assert not (p.lower % ratio).any() and not ((p.upper + 1) % ratio).any(), dump.path + ": box cuts a cell"
            shape = [n for a in range(dump.dimension) for n in ((p.upper[a] + 1 - p.lower[a]) // ratio[a], ratio[a])]
            fine = p.values[name].astype(float).reshape(shape)
            mean = fine.mean(axis=tuple(range(1, 2 * dump.dimension, 2)))
            below = coarse[tuple(slice(a // r, (b + 1) // r) for a, b, r in zip(p.lower, p.upper, ratio))]
            assert np.allclose(mean, below, rtol=1e-5, atol=1e-5), "%s: level %d is not the mean" % (dump.path, level - 1)


def check_ranges(dump):
    for name, ranges in dump.ranges.items():
        for p, entry in zip(dump.patches, ranges):
            values = p.values[name]
            assert entry["data_is_defined"] == 1
            assert (np.float32(entry["min"]), np.float32(entry["max"])) == (values.min(), values.max()), name


def check_shared_nodes(dump):
    """Checks that touching patches of one level have the same values at their common nodes."""
    if "uval_node" not in dump.ranges:
        return
    for level in range(dump.levels):
        whole = np.full(np.array(dump.level_array(level, "uval").shape) + 1, np.nan)
        for p in dump.on_level(level):
            part = tuple(slice(a, b + 2) for a, b in zip(p.lower, p.upper))
            assert (np.isnan(whole[part]) | (whole[part] == p.values["uval_node"])).all(), "%s: shared nodes differ" % dump.path
            whole[part] = p.values["uval_node"]


def check_flux(dump, velocity):
    if "flux.00" in dump.ranges:
        for p in dump.patches:
            for axis in range(dump.dimension):
                assert np.allclose(p.values["flux.%02d" % axis], velocity[axis] * p.values["uval"], rtol=1e-6)


def check_dump(dump, velocity):
    check_level_zero(dump)
    check_restriction(dump)
    check_ranges(dump)
    check_shared_nodes(dump)
    check_flux(dump, velocity)


def check_same(first, second):
    """Checks that two dumps are equal to the last bit, for any owners of the patches."""
    assert [d.step for d in first] == [d.step for d in second]
    for a, b in zip(first, second):
        assert (a.time, a.levels) == (b.time, b.levels)
        assert [p.box for p in a.patches] == [p.box for p in b.patches], "%s and %s: boxes" % (a.path, b.path)
        for p, q in zip(a.patches, b.patches):
            for name in p.values:
                assert np.array_equal(p.values[name], q.values[name]), "%s and %s: %s" % (a.path, b.path, name)


def compare_ranks(run, options, velocity, counts):
    reference = None
    for ranks in counts:
        series = read_series(run.linadv("ranks_%d" % ranks, options, ranks))
        assert all(d.ranks == ranks for d in series)
        if reference is None:
            reference = series
            for dump in series:
                check_dump(dump, velocity)
        else:
            check_same(reference, series)
    return reference


# ---- the cases ----

def case_ranks_2d(run):
    series = compare_ranks(run, "--cells 32,24 --patch 8 --levels 3 --steps 40 --node-variable --vector-variable "
                           "--variables 2 --velocity 1,-0.5 --centre 0.3,0.5", (1, -0.5), (1, 2, 4))
    assert len(series) == 5 and all(d.levels == 3 for d in series)
    boxes = [set(p.box for p in d.patches) for d in series]
    assert all(a != b for a, b in zip(boxes, boxes[1:])), "the patches do not move"


def case_ranks_3d(run):
    compare_ranks(run, "--cells 16,12,12 --patch 4 --levels 3 --steps 12 --dump-every 12 --periodic --node-variable "
                  "--vector-variable --velocity -1,0.5,1", (-1, 0.5, 1), (1, 2, 4))


def case_uneven(run):
    """Tests smaller last patches, different ratios per axis, a corner that is not 0, and more ranks than patches."""
    options = "--cells 22,10 --patch 12,6 --ratio 2,3 --levels 3 --origin -3,7.5 --spacing 0.5,0.25 --radius 0.6 " \
              "--centre 4,9 --velocity -2,0.3 --steps 12 --dump-every 4"
    compare_ranks(run, options, (-2, 0.3), (1, 3, 9))


def gauss_error(dump, velocity, radius=0.15, start=0.3):
    """Returns the mean of |uval - exact| on the unit square with periodic boundaries, on the finest level everywhere."""
    total = 0.0
    for level in range(dump.levels):
        values = dump.level_array(level, "uval")
        distance2 = 0.0
        for axis, x in enumerate(dump.centres(level, values.shape)):
            d = x - start - velocity[axis] * dump.time
            distance2 = distance2 + (d - np.round(d)) ** 2
        error = np.abs(values - (5 + 75 * np.exp(-2 * distance2 / radius ** 2)))
        if level + 1 < dump.levels:
            finer = dump.level_array(level + 1, "uval")
            error[~np.isnan(finer)[tuple(slice(None, None, r) for r in dump.ratio[level + 1])]] = np.nan
        total += np.nansum(error) * np.prod(dump.spacing[level])
    return total


def case_accuracy(run):
    velocity = (1, -0.7)
    options = "--profile gauss --periodic --velocity 1,-0.7 --patch 16 --dump-every 1000 "
    errors = []
    for cells in (32, 64, 128):
        series = read_series(run.linadv("gauss_%d" % cells, options + "--cells %d --steps %d" % (cells, cells)))
        first, last = (d.level_array(0, "uval") for d in (series[0], series[-1]))
        assert abs(last.mean() / first.mean() - 1) < 1e-6, "mass is lost on %d cells" % cells
        assert gauss_error(series[0], velocity) < 1e-5, "initial data are wrong"
        errors.append(gauss_error(series[-1], velocity))
    assert errors[0] > 3 * errors[1] > 9 * errors[2], "not of second order: errors %s" % errors


def case_refinement(run):
    """Tests that refinement reduces the error and nearly conserves mass."""
    velocity = (1, -0.7)
    options = "--profile gauss --periodic --velocity 1,-0.7 --cells 32 --patch 8 --tag-threshold 0.01 --dump-every 1000 "
    errors = []
    for levels in (1, 2, 3):
        name = "levels_%d" % levels
        series = read_series(run.linadv(name, options + "--levels %d --steps %d" % (levels, 32 * 2 ** (levels - 1))))
        first, last = (d.level_array(0, "uval") for d in (series[0], series[-1]))
        assert abs(last.mean() / first.mean() - 1) < 1e-3, "mass is lost on %d levels" % levels
        errors.append(gauss_error(series[-1], velocity))
    assert errors[0] > 2.5 * errors[1] > 6 * errors[2], "refinement does not help: errors %s" % errors


def case_ball(run):
    """Tests that one level has no new extrema, that the ball is at the right place, and that levels disappear when it has left."""
    series = read_series(run.linadv("ball", "--cells 40 --patch 8 --velocity 1,0.5 --steps 20"))
    for dump in series:
        values = dump.level_array(0, "uval")
        assert values.min() >= 5 - 1e-4 and values.max() <= 80 + 1e-4
        weight = values - 5
        for axis, x in enumerate(dump.centres(0, values.shape)):
            centre = (weight * x).sum() / weight.sum()
            assert abs(centre - (0.3 + (1, 0.5)[axis] * dump.time)) < 1e-3, "the ball is at %g" % centre
    series = read_series(run.linadv("gone", "--cells 24 --patch 8 --levels 2 --steps 100 --dump-every 100"))
    assert [d.levels for d in series] == [2, 1]


def case_many_patches(run):
    directory = run.linadv("many", "--cells 100,88,80 --patch 4", 2)
    dump = read_series(directory)[0]
    assert len(dump.patches) == 11000
    check_level_zero(dump)


def expect_refusal(run, arguments, *fragments, ranks=1, wanted=1):
    code, _, complaint = run.command(arguments, ranks)
    assert code == wanted, "%s: exit code %d" % (arguments, code)
    for fragment in fragments:
        assert fragment in complaint, "%s: no '%s' in\n%s" % (arguments, fragment, complaint)


def case_errors(run):
    out = run.path("never")
    for options, fragments in (
            ("--cells 8,8,8,8", ("--cells",)),
            ("--cells 32,32 --patch 8,8,8", ("--patch", "1 or 2 values")),
            ("--cells x", ("--cells",)),
            ("--cells 1000000,1000000,1000000", ("--patch", "patches on level 0")),
            ("--cells 100000,100000,100000 --patch 4000", ("--cells", "on level 0")),
            ("--patch 0", ("--patch", "found 0")),
            ("--patch -8", ("--patch", "found -8")),
            ("--patch 7 --levels 2", ("--patch", "multiple of the ratio 2")),
            ("--levels 0", ("--levels", "1 to 8")),
            ("--levels 99", ("--levels", "1 to 8")),
            ("--levels 8 --ratio 16", ("--levels", "finest level")),
            ("--ratio 1 --levels 2", ("--ratio", "2 to 16")),
            ("--velocity 0", ("--velocity",)),
            ("--velocity nan", ("--velocity",)),
            ("--steps -1", ("--steps",)),
            ("--spacing 0", ("--spacing",)),
            ("--profile cube", ("--profile",)),
            ("--nonsense", ("--nonsense",))):
        expect_refusal(run, ["--output", out] + options.split(), *fragments, wanted=2)
    expect_refusal(run, [], "Give --output", wanted=2)
    expect_refusal(run, ["--output-config", run.path("nowhere.json")], "nowhere.json", ranks=2)
    assert not os.path.exists(out), "a refused run wrote something"
    expect_refusal(run, ["--output", out, "--levels", "0"], "1 to 8", ranks=2, wanted=2)


def case_output(run):
    """Tests that files in the output directory are not lost without a request."""
    options = ["--cells", "16", "--patch", "8"]
    directory = run.linadv("twice", "--cells 16 --patch 8 --steps 2 --dump-every 1")
    expect_refusal(run, ["--output", directory] + options, directory, "--overwrite")
    run.linadv("twice", "--cells 16 --patch 8 --overwrite")
    assert sorted(os.listdir(directory)) == ["dumps.visit", "visit_dump.00000"]
    open(os.path.join(directory, "thesis.txt"), "w").close()
    expect_refusal(run, ["--overwrite", "--output", directory] + options, "thesis.txt", ranks=2)
    below_file = os.path.join(directory, "thesis.txt", "out")
    expect_refusal(run, ["--output", below_file] + options, below_file, ranks=2)
    assert len(read_series(directory)) == 1


def case_reproducible(run):
    """Tests that equal runs with SOURCE_DATE_EPOCH give equal bytes."""
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    a, b = (run.linadv(name, "--cells 16 --patch 8 --levels 2 --steps 4 --dump-every 2", 2) for name in "ab")
    for folder, _, files in os.walk(a):
        for file in files:
            one = os.path.join(folder, file)
            with open(one, "rb") as f, open(one.replace(a, b), "rb") as g:
                assert f.read() == g.read(), one


def case_checker(run):
    """Runs the checker of the format, which also accepts files that SAMRAI itself wrote."""
    if not os.path.exists(run.checker):
        print("skipped: no check_samrai.py at '%s'" % run.checker)
        sys.exit(77)
    for name, ranks, options in (
            ("2d", 1, "--cells 32 --patch 8 --levels 3 --steps 20 --node-variable --vector-variable"),
            ("2d_uneven", 3, "--cells 22,10 --patch 12,6 --ratio 2,3 --levels 3 --origin -3,7.5 --steps 10"),
            ("3d", 4, "--cells 16,12,12 --patch 4 --levels 3 --steps 6 --node-variable --vector-variable"),
            ("empty_ranks", 4, "--cells 8 --patch 8 --variables 3")):
        run.linadv(name, options, ranks)
    done = subprocess.run([sys.executable, "-B", run.checker, run.place], stdout=subprocess.PIPE, timeout=TIMEOUT,
                          universal_newlines=True)
    assert done.returncode == 0 and "\n0 violations" in done.stdout, done.stdout


if __name__ == "__main__":
    run_case(globals(), Runner, "program", "mpiexec", "checker")
