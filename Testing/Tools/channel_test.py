#!/usr/bin/env python3
"""Tests of `patchio index`, `info` and `verify`: channel_test.py CASE --program PATCHIO --mpiexec MPIEXEC --data DATA

Each case works on a copy of linadv_2d of DATA in a separate directory.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import run_case  # noqa: E402
for module in ("AMReX", "KWave"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Formats", module))
TIMEOUT = 60    # seconds of one command; a wait for a pipe exceeds it


def sidecar_of(path):
    """Returns the path of the index file: beside the file, hidden from dialogs."""
    return os.path.join(os.path.dirname(path), ".%s.patchio" % os.path.basename(path))


class Bench:
    def __init__(self, options):
        self.options = options
        self.place = tempfile.mkdtemp(prefix="channel_")
        self.folder = os.path.join(self.place, "series")
        shutil.copytree(os.path.join(options.data, "linadv_2d"), self.folder,
                        ignore=shutil.ignore_patterns("*.patchio"))
        self.index = os.path.join(self.folder, "dumps.visit")
        self.environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                                HWLOC_COMPONENTS="-gl", HWLOC_HIDE_ERRORS="2", XDG_CACHE_HOME=os.path.join(self.place, "cache"),
                                OMPI_MCA_odls_base_sigkill_timeout="0")    # seconds that mpirun waits after a rank has failed
        self.environment.pop("PATCHIO_METADATA_DIR", None)

    def run(self, arguments, ranks=1):
        launch = [self.options.mpiexec, "-n", str(ranks), "--oversubscribe"] if ranks > 1 else []
        with tempfile.TemporaryDirectory() as sessions:
            done = subprocess.run(launch + [self.options.program] + arguments, timeout=TIMEOUT, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, universal_newlines=True,
                                  env=dict(self.environment, TMPDIR=sessions))
        return done.returncode, done.stdout, done.stderr

    def must(self, arguments, ranks=1):
        code, out, err = self.run(arguments, ranks)
        assert code == 0, "%s: exit code %d\n%s%s" % (arguments, code, out, err)
        assert err == "", "%s complains: %s" % (arguments, err)
        return out

    def info(self, wanted=0):
        code, out, err = self.run(["info", "--json", self.index])
        assert code == wanted, err
        return json.loads(out)

    def states(self, wanted=0):
        return [step["sidecar"]["state"] for step in self.info(wanted)["steps"]]

    def sidecars(self):
        return sorted(glob.glob(self.folder + "/**/.*.patchio", recursive=True))

    def summaries(self):
        return sorted(glob.glob(self.folder + "/*/summary.samrai"))


def complaints(text):
    return len(re.findall(r"^patchio: ", text, re.MULTILINE))


def warnings(text):
    return len(re.findall(r"^warning: ", text, re.MULTILINE))


def case_index(bench):
    """Tests one line per step, with the facts that h5py finds. The second time, there is nothing to do."""
    lines = bench.must(["index", bench.index]).splitlines()
    summaries = bench.summaries()
    assert len(lines) == len(summaries) == 5, lines
    for line, summary in zip(lines, summaries):
        with h5py.File(summary, "r") as file:
            patches = int(file["BASIC_INFO/number_global_patches"][0])
            step = int(file["BASIC_INFO/time_step_number"][0])
        # uval, uval_node and the two components of flux.
        wanted = r"step %d: %d patches, 3 variables, %d data sets, [\d.]+ s, %s \((\d+) bytes\)$" % (
            step, patches, 4 * patches, re.escape(sidecar_of(summary)))
        match = re.match(wanted, line)
        assert match and int(match.group(1)) == os.path.getsize(sidecar_of(summary)), line
    assert bench.sidecars() == sorted([sidecar_of(bench.index)] + [sidecar_of(s) for s in summaries])
    before = [os.stat(path).st_ino for path in bench.sidecars()]
    assert all("up to date: " in line for line in bench.must(["index", bench.index]).splitlines())
    assert before == [os.stat(path).st_ino for path in bench.sidecars()], "written again without need"
    assert not any("up to date" in line for line in bench.must(["index", "--rebuild", bench.index]).splitlines())


def case_step(bench):
    """Tests one step only; a missing step is a wrong command line."""
    lines = bench.must(["index", "--step", "15", bench.index]).splitlines()
    assert len(lines) == 1 and lines[0].startswith("step 15: ")
    assert bench.states() == ["absent", "valid", "absent", "absent", "absent"]
    for ranks in (1, 2):
        code, _, err = bench.run(["index", "--step", "16", bench.index], ranks)
        assert code == 1 and "has no step 16" in err and complaints(err) == 1, err


def case_info(bench):
    """Tests that info prints the facts that h5py finds, before and after indexing, and writes no files."""
    before = bench.info()
    assert bench.sidecars() == []
    bench.must(["index", bench.index])
    after = bench.info()
    assert before["format"] == after["format"] == "SAMRAI"
    for one, two, summary in zip(before["steps"], after["steps"], bench.summaries()):
        with h5py.File(summary, "r") as file:
            basic = file["BASIC_INFO"]
            assert one["time"] == two["time"] == float(basic["time"][0])
            counts = [int(n) for n in basic["number_patches_at_level"][...]]
            boxes = file["extents/patch_extents"][...]
        assert [level["patches"] for level in two["levels"]] == counts
        sizes = [np.array(b["upper"]) - np.array(b["lower"]) + 1 for b in boxes]
        cells = int(sum(s[0] * s[1] for s in sizes))
        nodes = int(sum((s[0] + 1) * (s[1] + 1) for s in sizes))
        values = {v["name"]: v["values"] for v in two["variables"]}
        assert values == {"uval": cells, "uval_node": nodes, "flux": 2 * cells}, values
        assert one["bytes"] == two["bytes"] == 4 * sum(values.values())
        assert one["variables"] == two["variables"] and one["levels"] == two["levels"]
        check_places(two, summary)
        assert two["sidecar"] == {"state": "valid", "path": sidecar_of(summary),
                                  "bytes": os.path.getsize(sidecar_of(summary))}
    assert after["bounds"] == [0, 1, 0, 0.5, 0, 0] and after["times"] == [0, after["steps"][-1]["time"]]
    text = bench.must(["info", bench.index])
    assert text.count("index file valid") == 5 and "format: SAMRAI" in text
    # In short form: the files have 0.30000000000000004.
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("  step ")] == [
        "  step %d, time %s" % pair for pair in zip((0, 15, 30, 45, 60), ("0", "0.15", "0.3", "0.45", "0.6"))], text
    text = bench.must(["info", "--step", "15", bench.index])
    assert text.count("\n  step ") == 1 and "Step 15, time 0.15" in text and "steps: 5" in text, text
    # ParaView does not show times that do not increase.
    assert after["time_values"] == [step["time"] for step in after["steps"]] and after["notes"] == [], after["notes"]
    for summary in bench.summaries():
        with h5py.File(summary, "r+") as file:
            file["BASIC_INFO/time"][0] = 7
    same = bench.info()
    assert same["times"] == [7, 7] and same["time_values"] == [0, 15, 30, 45, 60], same
    assert "use the step numbers instead, 0 to 60." in bench.must(["info", bench.index])
    # A single summary is a series of one step.
    one = json.loads(bench.must(["info", "--json", bench.summaries()[2]], 2))
    assert [step["step"] for step in one["steps"]] == [30]


def check_places(step, summary):
    """Checks that places, types and ranges are those of the files."""
    with h5py.File(summary, "r") as file:
        patches = file["extents/patch_extents"][...]
        levels = file["extents/patch_map"]["level_number"]
        spacings = file["BASIC_INFO/dx"][...]
        ratios = file["BASIC_INFO/ratios_to_coarser_levels"][...]
        ranges = {name: file["extents/%s-Extents" % name][...] for name in ("uval", "uval_node")}
    cluster = sorted(glob.glob(os.path.dirname(summary) + "/processor_cluster.*"))[0]
    with h5py.File(cluster, "r") as file:
        types = []
        file.visititems(lambda name, item: types.append(item.dtype.name) if name.split("/")[-1] == "uval" or
                        name.split("/")[-1].startswith("uval.") else None)

    def bounds(chosen):
        return [float(value) for axis in range(3)
                for value in (min(chosen["xlo"][:, axis]), max(chosen["xup"][:, axis]))]

    for number, level in enumerate(step["levels"]):
        np.testing.assert_allclose(level["bounds"], bounds(patches[levels == number]), atol=1e-14)
        assert level["spacing"][:2] == list(spacings[number][:2]) and level["role"] == "refinement", level
        assert number == 0 or level["ratio"][:2] == list(ratios[number][:2]), level
    np.testing.assert_allclose(step["bounds"], bounds(patches), atol=1e-14)
    variables = {variable["name"]: variable for variable in step["variables"]}
    assert set(types) == {variables["uval"]["type"]} and "range" not in variables["flux"], variables
    for name, found in ranges.items():
        np.testing.assert_allclose(variables[name]["range"], [min(found["min"]), max(found["max"])], rtol=1e-6)


def case_verify(bench):
    """Tests that verify accepts valid data, and names each missing or cut file and each index file that does not fit."""
    def faults(*wanted):
        for ranks in (1, 2) if len(wanted) == 2 else (1,):
            code, out, err = bench.run(["verify", bench.index], ranks)
            lines = out.splitlines()
            assert code == 1 and len(lines) == len(wanted) and complaints(err) == 1, (code, out, err)
            assert all(begin in line and name in line for line, (begin, name) in zip(lines, wanted)), (wanted, out)
            assert "%d fault%s in " % (len(wanted), "" if len(wanted) == 1 else "s") in err, err

    arrays = sum(variable["patches"] for step in bench.info()["steps"] for variable in step["variables"])
    sound = "intact: 5 steps, %d arrays in %d files\n" % (
        arrays, len(glob.glob(bench.folder + "/*/processor_cluster.*")))
    assert bench.must(["verify", bench.index]) == sound
    bench.must(["index", bench.index])
    assert bench.must(["verify", bench.index]) == sound
    clusters = [sorted(glob.glob(os.path.dirname(summary) + "/processor_cluster.*")) for summary in bench.summaries()]
    sidecars = [sidecar_of(summary) for summary in bench.summaries()]
    with h5py.File(clusters[1][0], "r") as file:
        lost = []
        file.visititems(lambda name, item: lost.append(name) if isinstance(item, h5py.Dataset) and "flux.01" not in name
                        else None)
    os.remove(clusters[1][0])
    stale = "is stale: "
    faults(("step 15: %d arrays cannot be read. " % len(lost), clusters[1][0]), ("step 15: ", sidecars[1] + " " + stale))
    code, out, err = bench.run(["info", bench.index])
    assert code == 1 and "fault: step 15: %d arrays cannot be read. %s" % (len(lost), clusters[1][0]) in out, out
    info = json.loads(bench.run(["info", "--json", bench.index])[1])
    assert not info["sound"] and info["steps"][1]["faults"][0]["arrays"] == len(lost), info["steps"][1]
    bench.must(["verify", "--step", "30", bench.index])
    check_one_step(bench)
    os.remove(sidecars[1])
    with open(clusters[2][0], "r+b") as file:
        file.truncate(os.path.getsize(clusters[2][0]) // 2)
    os.remove(sidecars[2])
    faults(("step 15: ", clusters[1][0]), ("step 30: ", clusters[2][0]))
    os.remove(bench.summaries()[4])
    with open(sidecars[3], "r+b") as file:
        file.truncate(1000)
    os.utime(sidecars[0])    # only the times of the data count
    faults(("Skipping a dump. ", "visit_dump.00060"), ("step 15: ", clusters[1][0]), ("step 30: ", clusters[2][0]),
           ("step 45: ", sidecars[3] + " is corrupted: "))


def check_one_step(bench):
    """Checks that faults of one dump do not count for another one, and are reported if this dump is requested."""
    lost = bench.summaries()[3]
    hidden = lost + ".hidden"
    os.rename(lost, hidden)
    code, out, err = bench.run(["verify", "--step", "30", bench.index])
    assert code == 0 and out.startswith("intact: 1 step") and warnings(err) == 1 and lost in err, (code, out, err)
    assert json.loads(bench.must(["info", "--json", "--step", "30", bench.index]))["sound"]
    for command in ("info", "verify"):
        code, out, err = bench.run([command, "--step", "45", bench.index])
        assert code == 1 and "has no step 45, but 4 steps, " in err and "Skipping a dump. " + lost in err, (code, err)
    os.rename(hidden, lost)


def case_remove(bench):
    """Tests that index --remove removes all index files in all places, and nothing else."""
    def all_files():
        return sorted(os.path.join(where, name) for where, folders, files in os.walk(bench.place) for name in folders + files)

    nothing = "No index files found for %s.\n" % bench.index
    assert bench.must(["index", "--remove", bench.index]) == nothing
    before = all_files()
    bench.must(["index", bench.index])
    chosen = os.path.join(bench.place, "chosen")
    bench.environment["PATCHIO_METADATA_DIR"] = chosen
    bench.must(["index", "--rebuild", bench.index])
    assert len(os.listdir(chosen)) == 6
    stray = sidecar_of(bench.summaries()[0]) + ".host.1.tmp"
    with open(stray, "w"):
        pass
    os.utime(stray, (1, 1))
    out = bench.must(["index", "--remove", "--step", "15", bench.index])
    assert out.count("removed: ") == 2 and "2 index files removed." in out and "visit_dump.00015" in out, out
    kept = all_files()
    code, out, err = bench.run(["index", "--remove", "--step", "16", bench.index])
    assert code == 1 and "has no step 16, but 5 steps" in err and out == "" and all_files() == kept, (code, out, err)
    lost = bench.summaries()[1]    # a dump that can no longer be opened
    os.remove(lost)
    before.remove(lost)
    out = bench.must(["index", "--remove", bench.index], 2)
    assert out.count("removed: ") == 10 and "10 index files removed." in out, out
    assert all_files() == sorted(before + [chosen]), all_files()
    del bench.environment["PATCHIO_METADATA_DIR"]
    # The index files in the cache folder.
    for summary in bench.summaries():
        os.makedirs(sidecar_of(summary) + "/in_the_way")
    bench.run(["index", bench.index])
    cache = os.path.join(bench.place, "cache/patchio")
    assert len(os.listdir(cache)) == 4
    code, out, err = bench.run(["index", "--remove", bench.index])
    assert code == 1 and "cannot remove the index file" in err and complaints(err) == 1, (out, err)
    for summary in bench.summaries():
        shutil.rmtree(sidecar_of(summary))
    bench.must(["index", "--remove", bench.index])
    assert os.listdir(cache) == [], os.listdir(cache)


def case_old_names(bench):
    """Tests that index files with old names, without a dot, are used, and that new ones replace them."""
    def old_names():
        return sorted(os.path.join(os.path.dirname(path), os.path.basename(path)[1:]) for path in wanted)

    def all_sidecars():
        return sorted(glob.glob(bench.folder + "/**/*.patchio*", recursive=True)) + bench.sidecars()

    bench.must(["index", bench.index])
    wanted = bench.sidecars()
    assert len(wanted) == 6 and all_sidecars() == wanted, all_sidecars()
    for path in wanted:
        os.rename(path, os.path.join(os.path.dirname(path), os.path.basename(path)[1:]))
    assert bench.states() == ["valid"] * 5
    assert [step["sidecar"]["path"] for step in bench.info()["steps"]] == [s + ".patchio" for s in bench.summaries()]
    assert all("up to date: " in line for line in bench.must(["index", bench.index], 2).splitlines())
    assert all_sidecars() == old_names(), all_sidecars()
    # An outdated and a damaged index file: the new ones are used, and the old ones are removed.
    os.utime(glob.glob(os.path.dirname(bench.summaries()[0]) + "/processor_cluster.*")[0], (1, 1))
    with open(bench.summaries()[1] + ".patchio", "r+b") as file:
        file.truncate(1000)
    code, _, err = bench.run(["index", bench.index])
    assert code == 0 and warnings(err) == 1 and bench.summaries()[1] + ".patchio" in err, err
    made = [sidecar_of(summary) for summary in bench.summaries()[:2]]
    assert bench.sidecars() == made and len(all_sidecars()) == 6, all_sidecars()
    assert bench.states() == ["valid"] * 5
    bench.must(["index", "--rebuild", bench.index], 2)
    assert all_sidecars() == wanted, all_sidecars()
    # Both are removed, and the remains of a killed writer.
    for path in old_names() + [old_names()[0] + ".host.1.tmp"]:
        shutil.copy(wanted[0], path)
        os.utime(path, (1, 1))
    assert "12 index files removed." in bench.must(["index", "--remove", bench.index])
    assert all_sidecars() == [], all_sidecars()


def case_amrex(bench):
    """Tests that info describes a plotfile as it was written, and that cut files are found, also under finer patches."""
    from plotfile_writer import tiles, write_plotfile
    path = os.path.join(bench.place, "plt00010")
    boxes = [tiles((0, 0, 0), (15, 11, 7), (8, 4, 8)), tiles((8, 4, 4), (23, 15, 11), (8, 8, 4))]
    write_plotfile(path, ((0, 0, 0), (15, 11, 7)), boxes, ((2, 2, 2),), names=["a", "b"], real="f4", step=10, time=0.1,
                   corner=[1, 2, 3], spacing=[0.5, 0.25, 0.125])
    info = json.loads(bench.must(["info", "--json", path]))
    (step,) = info["steps"]
    coarse, fine = step["levels"]
    np.testing.assert_allclose(coarse["bounds"], [1, 9, 2, 5, 3, 4])
    np.testing.assert_allclose(fine["bounds"], [3, 7, 2.5, 4, 3.25, 3.75])
    assert coarse["spacing"] == [0.5, 0.25, 0.125] and fine["spacing"] == [0.25, 0.125, 0.0625]
    assert fine["ratio"] == [2, 2, 2] and fine["cells"] == 16 * 12 * 8 and fine["patches"] == len(boxes[1])
    assert step["time"] == 0.1 and step["files"] == 4 and {v["type"] for v in step["variables"]} == {"float32"}
    # Reads the values of all FABs after their headers with numpy.
    found = {"a": [], "b": []}
    for name in glob.glob(path + "/Level_*/Cell_D_*"):
        with open(name, "rb") as file:
            data = file.read()
        for start in [match.start() for match in re.finditer(b"FAB ", data)]:
            end = data.index(b"\n", start) + 1
            numbers = [int(n) for n in re.findall(rb"-?\d+", data[data.rindex(b"((", start, end):end])]
            cells = int(np.prod(np.array(numbers[3:6]) - numbers[:3] + 1))
            values = np.frombuffer(data, "<f4", 2 * cells, end).reshape(2, cells)
            found["a"].append(values[0])
            found["b"].append(values[1])
    for variable in step["variables"]:
        all_values = np.concatenate(found[variable["name"]])
        assert variable["values"] == all_values.size
        np.testing.assert_allclose(variable["range"], [all_values.min(), all_values.max()], rtol=1e-6)
    assert "time 0.1" in bench.must(["info", path])
    check_names(bench, path)
    check_headers(bench, path)
    cut = path + "/Level_0/Cell_D_00000"
    with open(cut, "r+b") as file:
        file.truncate(os.path.getsize(cut) - 1)
    for command in ("info", "verify"):
        code, out, err = bench.run([command, path])
        # A FAB, here with two components, is either complete or missing.
        assert code == 1 and "2 arrays cannot be read. %s: expected " % cut in out, (command, out, err)


def check_headers(bench, path):
    """Checks that verify compares each FAB's header with its box, because the distances between FABs do not distinguish FABs of
    equal size."""
    copy = path + "_exchanged"
    shutil.copytree(path, copy)
    with open(copy + "/Level_0/Cell_H") as file:
        text = file.read()
    places = re.findall(r"FabOnDisk: Cell_D_00000 \d+", text)[:2]
    with open(copy + "/Level_0/Cell_H", "w") as file:
        file.write(text.replace(places[0], "X").replace(places[1], places[0]).replace("X", places[1]))
    container = copy + ".pio"
    for command in (["verify", copy], ["convert", copy, container]):
        code, out, err = bench.run(command)
        assert code == 1 and "%s/Level_0/Cell_D_00000: expected a FAB of ((" % copy in out + err, (command, out, err)
    assert not os.path.exists(container)
    assert bench.must(["verify", path]).startswith("intact: ")
    shutil.rmtree(copy)


def check_names(bench, path):
    """Checks that different spellings of a path give the same index files, and that they are removed again."""
    folder, name = os.path.split(path)
    # A series of two plotfiles.
    second = os.path.join(folder, "plt00020")
    shutil.copytree(path, second)
    before = sorted(os.listdir(bench.place))
    wanted = [sidecar_of(path)] + [os.path.join(one, ".Header.patchio") for one in (path, second)]
    here = os.getcwd()
    for number, typed in enumerate((path, path + "/", path + "//./", ".", "./", "sub/..")):
        os.chdir(path if typed[0] != "/" else here)
        os.makedirs("sub", exist_ok=True) if typed == "sub/.." else None
        bench.must(["index", typed])
        found = sorted(set(glob.glob(bench.place + "/**/.*.patchio", recursive=True) + glob.glob(path + "/.*") +
                           glob.glob(bench.place + "/**/*.patchio", recursive=True)))
        assert found == sorted(wanted), (typed, found)
        assert json.loads(bench.must(["info", "--json", typed]))["path"] == path
        out = bench.must(["index", "--remove", path + "/" * (number % 2)])
        assert "3 index files removed." in out, (typed, out)
    os.chdir(here)
    shutil.rmtree(second)
    os.rmdir(os.path.join(path, "sub"))
    assert sorted(os.listdir(bench.place)) == [one for one in before if one != "plt00020"]
    assert name in os.listdir(folder)


def case_kwave(bench):
    """Tests that info describes a k-Wave output as h5py reads it."""
    import make_cases
    path = os.path.join(bench.place, "out.h5")
    with make_cases.start(path) as file:
        make_cases.domain(file)
        make_cases.cuboids(file)
    (step, *more) = json.loads(bench.must(["info", "--json", path]))["steps"]
    with h5py.File(path, "r") as file:
        size = [int(file[name][0, 0, 0]) for name in ("Nx", "Ny", "Nz")]
        spacing = [float(file[name][0, 0, 0]) for name in ("dx", "dy", "dz")]
        corners = file["sensor_mask_corners"][...].reshape(-1, 6).astype(int)
        sampled = file["p/1"].shape[0]
        time_step = float(file["dt"][0, 0, 0])
    assert len(more) == sampled - 1 and more[0]["time"] - step["time"] == time_step
    domain, sensor = step["levels"]

    def bounds(first, last):    # bounds of the cells around points, which count from 1
        return [(n - 1 + side - size[axis] // 2) * spacing[axis] for axis in range(3)
                for n, side in ((first[axis], -0.5), (last[axis], 0.5))]

    np.testing.assert_allclose(domain["bounds"], bounds([1, 1, 1], size))
    np.testing.assert_allclose(sensor["bounds"], bounds(corners[:, :3].min(axis=0), corners[:, 3:].max(axis=0)))
    assert sensor["role"] == "separate" and sensor["patches"] == len(corners) and domain["spacing"] == spacing
    assert all(one["variables"] == step["variables"] and one["levels"] == step["levels"] for one in more), more[0]
    text = bench.must(["info", path])
    check_sensor(bench)
    assert "%d more steps in the same file, up to step" % (sampled - 1) in text and "of this file" not in text, text
    assert "\nStep %d, time " % more[-1]["step"] in text and text.count("\nStep ") == 1, text
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) - 100)
    for command in ("info", "verify"):
        code, _, err = bench.run([command, path])
        assert code == 1 and path in err and complaints(err) == 1, err


def check_sensor(bench):
    """Checks that points beyond the domain, and a series with fewer steps or points than the others, are faults."""
    import make_cases
    path, container = os.path.join(bench.place, "points.h5"), os.path.join(bench.place, "points.pio")

    def shorter(steps, points):
        def edit(file):
            values = file["ux"][:, :file["ux"].shape[1] - steps, :file["ux"].shape[2] - points]
            del file["ux"]
            make_cases.put(file, "ux", values)
        return edit

    for edit, text in ((None, None), (lambda file: file["sensor_mask_index"].__setitem__((0, 0, 1), 10 ** 9), "found point 1000000000"),
                       (shorter(1, 0), "points.h5: ux ("), (shorter(0, 1), "points.h5: ux (")):
        with make_cases.start(path) as file:
            make_cases.points(file)
            edit and edit(file)
        code, out, err = bench.run(["verify", path])
        assert code == (1 if edit else 0) and (not text or text in out + err), (text, out, err)
        code, out, err = bench.run(["convert", path, container, "--overwrite"])
        assert code == (1 if edit else 0) and (not text or text in out + err), (text, out, err)


def case_grads(bench):
    """Tests that for a template, info shows dates, axes, and each missing or cut file once."""
    path = os.path.join(bench.place, "model.ctl")
    with open(path, "w") as file:
        file.write("dset ^m%h2.dat\noptions template little_endian\nundef -1\nxdef 4 linear 100 2.5\nydef 3 linear -5 5\n"
                   "zdef 2 levels 1000 500\ntdef 5 linear 06z1jan2000 1hr\nvars 2\nu 2 99 u\nps 0 99 p\nendvars\n")
    data = [os.path.join(bench.place, "m%02d.dat" % hour) for hour in range(6, 11)]
    for name in data:
        np.arange(36, dtype="<f4").tofile(name)
    info = json.loads(bench.must(["info", "--json", path]))
    assert info["dates"] == ["2000-01-01 06:00", "2000-01-01 10:00"] and info["step_count"] == 5
    first = info["steps"][0]
    levels, surface = first["levels"]
    height = 7 * np.log(2)    # height of 500 hPa above 1000 hPa
    np.testing.assert_allclose(levels["bounds"], [100, 107.5, -5, 5, 0, height])
    np.testing.assert_allclose(surface["bounds"], [100, 107.5, -5, 5, -height / 2, -height / 2])
    assert first["axes"][0]["positions"] == [100, 102.5, 105, 107.5] and first["axes"][2]["labels"][1:] == [1000, 500]
    text = bench.must(["info", path])
    assert "dates 2000-01-01 06:00 to 2000-01-01 10:00" in text and "4 more steps in the same file" in text, text
    assert "4 along x, 3 along y, 2 along z (levels 1000 to 500)" in text and "of this file" not in text, text
    assert re.findall(r"\nStep \d+, time (.*)\n", text) == ["2000-01-01 10:00"], text
    assert all(step["bytes"] == 144 and len(step["variables"]) == 2 for step in info["steps"]), info["steps"][1:]
    assert bench.must(["verify", path]).startswith("intact: 5 steps, 10 arrays in 5 files")
    os.remove(data[1])
    with open(data[3], "r+b") as file:
        file.truncate(100)
    for command in ("info", "verify"):
        code, out, err = bench.run([command, path])
        assert code == 1 and out.count(data[1]) == 1 and out.count(data[3]) == 1, (command, out, err)


def case_without(bench):
    """Tests that info and index agree that formats whose files have all locations need no index files."""
    path = os.path.join(bench.place, "a.ctl")
    with open(path, "w") as file:
        file.write("dset ^a.dat\noptions little_endian\nundef -1\nxdef 2 linear 0 1\nydef 2 linear 0 1\nzdef 1 linear 0 1\n"
                   "tdef 2 linear 1jan2000 1hr\nvars 1\nu 0 99 u\nendvars\n")
    np.arange(8, dtype="<f4").tofile(os.path.join(bench.place, "a.dat"))
    said = "no index file needed: %s lists the locations of all values" % path
    assert said in bench.must(["index", path])
    assert said in bench.must(["info", path])
    steps = json.loads(bench.must(["info", "--json", path]))["steps"]
    assert len(steps) == 2 and steps[0]["sidecar"] == {"state": "not needed"}, steps
    assert not glob.glob(bench.place + "/.*.patchio")


def case_states(bench):
    """Tests that stale, damaged and incomplete index files are distinguished, and that indexing replaces them all."""
    bench.must(["index", bench.index])
    paths = [sidecar_of(summary) for summary in bench.summaries()]
    cluster = sorted(glob.glob(os.path.dirname(paths[0]) + "/processor_cluster.*"))[0]
    os.utime(cluster, (1, 1))
    with open(paths[1], "r+b") as file:
        file.truncate(os.path.getsize(paths[1]) - 64)
    with open(paths[2], "r+b") as file:
        file.seek(20)
        file.write(b"\0")
    with open(paths[3], "r+b") as file:
        file.seek(1000)
        file.write(b"damaged!")
    assert bench.states() == ["stale", "corrupted", "unfinished", "corrupted", "valid"], bench.states()
    for step, path in zip(bench.info()["steps"][:4], paths):
        assert step["sidecar"]["path"] == path and path not in step["sidecar"]["reason"], step
    assert "index file stale, %s (the index file is outdated, because %s has changed.)" % (paths[0], cluster) in bench.must(["info", bench.index])
    code, out, err = bench.run(["index", bench.index])
    assert code == 0 and warnings(err) == 3 and complaints(err) == 0, err
    assert all(path in err for path in paths[1:4]) and paths[0] not in err
    assert paths[2] + ": the index file is incomplete, because its writer was interrupted. PatchIO ignores" in err, err
    assert bench.states() == ["valid"] * 5
    assert bench.run(["index", bench.index])[2] == ""
    # Both the series and the step of a single dump have this message.
    with open(paths[1], "r+b") as file:
        file.truncate(100)
    for name in (bench.summaries()[1], os.path.relpath(bench.summaries()[1])):
        assert bench.run(["info", name])[1].count("corrupted") == 1
    err = bench.run(["index", os.path.relpath(bench.summaries()[1])])[2]
    assert warnings(err) == 1 and err.count(" PatchIO ignores this index file.") == 1, err


def case_nowhere(bench):
    """Tests that indexing fails with a message if nothing can be written. The cache folder is the second choice."""
    for summary in bench.summaries():
        os.makedirs(sidecar_of(summary) + "/in_the_way")
    bench.must(["index", bench.index])
    assert not glob.glob(bench.folder + "/**/.*.tmp", recursive=True)
    in_cache = glob.glob(os.path.join(bench.place, "cache/patchio/*-summary.samrai.patchio"))
    assert len(in_cache) == 5, in_cache
    assert bench.states() == ["valid"] * 5
    bench.environment["PATCHIO_METADATA_DIR"] = "/dev/null/nothing"
    for ranks in (1, 2):
        code, out, err = bench.run(["index", bench.index], ranks)
        assert code == 1 and out.count("not saved: ") == 6, (out, err)
        assert "5 of 5 steps have no index file, and neither has the series." in err and complaints(err) == 1, err
    # No file can be made there. The name of the temporary file is not known.
    bench.environment["PATCHIO_METADATA_DIR"] = "/proc"
    code, out, _ = bench.run(["index", bench.summaries()[0]])
    assert code == 1 and re.search(r"not saved: /proc/\w+-summary\.samrai\.patchio: No such file or directory; expected a file that can be written\.", out), out
    # Not in the current folder.
    bench.environment["PATCHIO_METADATA_DIR"] = os.path.relpath(os.path.join(bench.place, "chosen"))
    bench.must(["index", bench.index])
    assert all(step["sidecar"]["path"].startswith(os.path.join(bench.place, "chosen/"))
               for step in bench.info()["steps"])


def case_series(bench):
    """Tests that indexing fails with a message if only the index file of the series cannot be written. The steps are indexed."""
    os.makedirs(sidecar_of(bench.index) + "/in_the_way")
    bench.must(["index", bench.index])
    (cached,) = glob.glob(os.path.join(bench.place, "cache/patchio/*-dumps.visit.patchio"))
    os.remove(cached)
    os.makedirs(cached + "/in_the_way")
    for ranks in (1, 2):
        code, out, err = bench.run(["index", "--rebuild", bench.index], ranks)
        assert code == 1 and len(re.findall("^series: 5 steps, not saved: ", out, re.MULTILINE)) == 1, (out, err)
        assert out.count("not saved: ") == 1 and cached in out, out
        assert "the series has no index file." in err and complaints(err) == 1, err
        assert bench.states() == ["valid"] * 5
    # A single step has no index file of a series.
    bench.must(["index", bench.summaries()[0]])


def case_broken(bench):
    """Tests that a dump with a missing file is not indexed, and other dumps are."""
    victim = sorted(glob.glob(os.path.dirname(bench.summaries()[1]) + "/processor_cluster.*"))[1]
    os.remove(victim)
    code, out, err = bench.run(["index", bench.index], 2)
    assert code == 1 and "1 of 5 steps have no index file" in err, err
    assert len(re.findall(r"not saved: \d+ arrays cannot be located", out)) == 1, out
    assert "located. %s: No such file or directory; expected a readable file. Check the name" % victim in out, out
    assert bench.states(1) == ["valid", "absent", "valid", "valid", "valid"]


def case_pipes(bench):
    """Tests that a pipe in place of a file is an error that names it, without waiting for its writer."""
    def pipe(path):
        os.remove(path)
        os.mkfifo(path)
        return "%s: expected a file, found a pipe or a device" % path

    cluster = sorted(glob.glob(os.path.dirname(bench.summaries()[1]) + "/processor_cluster.*"))[1]
    message = pipe(cluster)
    for ranks in (1, 2):
        code, out, err = bench.run(["index", "--rebuild", bench.index], ranks)
        assert code == 1 and message in out and "1 of 5 steps have no index file" in err, (out, err)
    message = pipe(bench.summaries()[0])
    code, out, err = bench.run(["info", bench.index])
    assert code == 1 and "steps: 4" in out and "warning: Skipping a dump. " + message in out, out
    for command in ("index", "info", "verify"):
        code, out, err = bench.run([command, bench.summaries()[0]])
        assert code == 1 and message in err, (command, out, err)
    message = pipe(bench.index)
    code, out, err = bench.run(["info", bench.index])
    assert code == 1 and message in err, err
    other = os.path.join(bench.place, "other.visit")
    os.mkfifo(other)
    code, out, err = bench.run(["info", other])
    assert code == 1 and other + ": expected a file, found a pipe" in err, err


def case_errors(bench):
    """Tests that each mistake of the user gives one message."""
    for wanted, arguments, message in [
            (2, ["index"], "path"), (1, ["info", bench.place + "/none"], "No such file"),
            (1, ["index", bench.place + "/none"], "No such file"),
            (1, ["verify", bench.place + "/none"], "No such file"), (2, ["verify"], "path"),
            (1, ["index", bench.options.program], "expected a PatchIO container (folder NAME.pio), or a SAMRAI dumps.visit"),
            (1, ["info", bench.folder], "found a folder of another kind. Give the name of a file in the folder"),
            (1, ["info", "--step", "16", bench.index], "has no step 16, but 5 steps, numbered 0 to 60"),
            (2, ["info", "--step", "x", bench.index], "--step"),
            (2, ["indx", bench.index], "Unknown subcommand 'indx'."), (2, ["-x"], "Unknown option '-x'."),
            (2, ["index", "--step", "9" * 20, bench.index], "--step: expected a step number, found " + "9" * 20),
            (1, ["index", "--step", "-1", bench.index], "has no step -1"),
            (2, ["index", "--remove", "--rebuild", bench.index], "excludes"),
            (2, ["index", "--threads", "0", bench.index], "--threads")]:
        # Errors while the command line is parsed, while data are read, and later.
        for ranks in (1, 2) if message in ("path", "expected a PatchIO container (folder NAME.pio), or a SAMRAI dumps.visit", "--step") else (1,):
            code, out, err = bench.run(arguments, ranks)
            assert code == wanted and message in err and complaints(err) == 1, (arguments, code, out, err)
    for ranks in (1, 2):
        code, out, err = bench.run([], ranks)
        assert code == 2 and out == "" and err.lower().count("subcommands:") == 1 and complaints(err) == 0, (code, out, err)
    # Lost output is an error.
    for arguments in (["info", bench.index], ["info", "--json", bench.index], ["verify", bench.index], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([bench.options.program] + arguments, stdout=full, stderr=subprocess.PIPE, text=True,
                                  env=bench.environment, timeout=TIMEOUT, check=False)
        assert done.returncode == 1 and "standard output: expected to write all output" in done.stderr, arguments
    for command in ("info", "index", "verify", "tune"):
        out = bench.must([command, "--help"])
        assert all(name in out for name in ("SAMRAI", "AMReX", "k-Wave", "GrADS")), out


if __name__ == "__main__":
    run_case(globals(), Bench, "program", "mpiexec", "data")
