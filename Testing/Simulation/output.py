#!/usr/bin/python3
"""Tests the output of simulations through patchio.h: values, compared with the formula of Client.c, faults, and a program that was
built against the installation.

usage: output.py CASE --client CLIENT --patchio PATCHIO --faults LIBRARY --build BUILD --regional REGIONAL --acoustic ACOUSTIC --careless CARELESS --apart APART --library LIBRARY --linadv LINADV

CASE: values, grads, sensor, sensor_times, sensor_faults, linadv, refusals, careless, apart, stopped, silent, unlike, python, failing, slow, live, killed, installed.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader",
       "HWLOC_COMPONENTS": "-gl", "HWLOC_HIDE_ERRORS": "2", "PMIX_MCA_gds": "hash", "OMPI_MCA_ess_singleton_isolated": "1",
       "OMPI_MCA_odls_base_sigkill_timeout": "0"}    # seconds that mpirun waits after a rank has failed
VARIABLES = {"a": ("float64", 1, 0), "b": ("float32", 1, 1), "c": ("int32", 2, 0), "d": ("float64", 1, 0)}


def run(command, ranks=1, timeout=120, cwd=None, **environment):
    if ranks > 1:
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)] + command
    done = subprocess.run(command, env={**os.environ, **MPI, **environment}, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, cwd=cwd)
    return done.returncode, done.stdout


def config(folder, *channels, **settings):
    path = os.path.join(folder, "output.json")
    with open(path, "w") as file:
        json.dump({"channels": [{"path": os.path.join(folder, "out.pio"), **channel} for channel in channels], **settings}, file)
    return path


def modes(ranks):
    """Returns all modes of output as settings of a configuration: direct, thread, and I/O ranks with both layouts."""
    shared = [{"mode": "ranks", "io ranks": 2, "layout": "shared"}] if ranks > 2 else []
    return [{"mode": "direct"}, {"mode": "thread"}] + ([{"mode": "ranks", "io ranks": 1}] if ranks > 1 else []) + shared


def boxes_of(step):
    """Returns (level, lower corner) of all patches of a step, as in Client.c."""
    first = 2 * (step // 2 % 3)
    coarse = {(0, (8 * i, 8 * j, 0)) for i in range(4) for j in range(4)}
    return coarse | {(1, (8 * (first + i), 8 * j, 0)) for i in range(2) for j in range(2)}


def formula(name, level, step, lower, shape):
    """Returns the values of a patch: z, y, x, component."""
    number = list(VARIABLES).index(name)
    z, y, x, c = np.meshgrid(*(np.arange(n, dtype="f8") for n in shape), indexing="ij")
    values = 100000 * step + 10000 * number + 5000 * level + (lower[0] + x) + 31 * (lower[1] + y) + 7 * (lower[2] + z) + 0.25 * c
    return (4 * values if name == "c" else values).astype(VARIABLES[name][0])


def check(container, steps, names=tuple(VARIABLES)):
    """Checks steps, boxes and values of a container with stranger.py, which is independent of PatchIO."""
    found = stranger.read(container)
    numbers = [step.step for step in found]
    expect(numbers == list(range(len(numbers)) if steps is None else steps), "%s: steps %s instead of %s", container, numbers, steps)
    for step in found:
        expect(step.time == 0.5 * step.step, "%s: time %g of step %d", container, step.time, step.step)
        there = {(row["level"], tuple(int(n) for n in row["lower"])) for row in step.rows}
        expect(there == boxes_of(step.step), "%s: other patches at step %d: %s", container, step.step, there)
        seen = set()
        for row, variable, values in step.values():
            info = step.rows[row]
            seen.add((variable["name"], info["level"]))
            want = formula(variable["name"], info["level"], step.step, [int(n) for n in info["lower"]], values.shape)
            expect(values.dtype == want.dtype and np.array_equal(values, want), "%s: step %d, level %d, other values of %s", container, step.step, info["level"], variable["name"])
        want = {(name, level) for name in names for level in (0, 1) if name != "d" or level == 1}
        expect(seen == want, "%s: step %d has %s instead of %s", container, step.step, sorted(seen), sorted(want))
    return len(found)


def values(options, folder):
    """Tests all modes, one file and several, compressed or not, on several numbers of ranks, and two channels that share variables.
    The files of a number of computing ranks do not depend on the mode and the I/O ranks, to the last bit."""
    some = {"path": os.path.join(folder, "new", "runs", "some.pio"), "variables": ["d", "a"], "windows": [{"first": 1, "last": 1}, {"first": 2, "every": 3}]}
    kinds = ((0, {"mode": "direct"}), (0, {"mode": "thread"}), (1, {"mode": "ranks", "io ranks": 1}), (2, {"mode": "ranks", "io ranks": 2, "layout": "shared"}),
             (2, {"mode": "ranks", "io ranks": 2, "memory": "200 kB"}))
    for ranks in (1, 4):
        for more in ({}, {"ranks a file": 2}, {"compress": "deflate"}):
            first = None
            for servers, settings in kinds:
                where = "%s for %d ranks, %s" % (settings, ranks, more)
                shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
                shutil.rmtree(os.path.join(folder, "new"), ignore_errors=True)
                code, text = run([options.client, config(folder, more, some, **settings), "6"], ranks + servers)
                expect(code == 0 and text == "", "%s: exit code %d, %s", where, code, text)
                found = {}
                for path in glob.glob(os.path.join(folder, "**", "*.pio", "*"), recursive=True):
                    with open(path, "rb") as file:
                        found[os.path.relpath(path, folder)] = file.read()
                if first is None or "ranks a file" in more:    # whose files depend on the ranks that write
                    first = found
                    check(os.path.join(folder, "out.pio"), range(6))
                    check(some["path"], (1, 2, 5), ("d", "a"))
                    code, text = run([options.patchio, "verify", os.path.join(folder, "out.pio")])
                    expect(code == 0, "verify: %s", text)
                expect(found == first, "%s: other bytes in %s", where, [name for name in sorted(set(found) | set(first)) if found.get(name) != first.get(name)])


def grads(options, folder):
    """Tests the maps of the regional model: the bytes do not depend on the ranks and the mode, and the values are those of the
    formula."""
    client, path, first = options.regional, os.path.join(folder, "maps.ctl"), None
    for ranks in (1, 3, 4):
        for mode in modes(ranks):
            channel = {"path": path, "format": "grads", "windows": [{"first": 1, "last": 3, "every": 2}], "overwrite": True, "start": "06:00Z28feb2016", "interval": "1dy"}
            code, text = run([client, config(folder, channel, **mode), "4"], ranks)
            expect(code == 0 and text == "", "%s on %d ranks: exit code %d, %s", mode, ranks, code, text)
            found = np.fromfile(os.path.join(folder, "maps.dat"), "<f4").reshape(2, 50, 80, 120)
            z, y, x = np.meshgrid(np.arange(50.0), np.arange(80.0), np.arange(120.0), indexing="ij")
            for slot, step in enumerate((1, 3)):
                want = 300 - 0.6 * z + 10 * np.sin(0.1 * (x - 2 * step)) * np.cos(0.1 * y)
                expect(np.allclose(found[slot], want, rtol=1e-7, atol=0), "%s on %d ranks: other values at step %d", mode, ranks, step)
            first = found if first is None else first
            expect(found.tobytes() == first.tobytes(), "%s on %d ranks: other bytes than on one", mode, ranks)
    code, text = run([options.patchio, "info", path])
    expect(code == 0 and "2 steps" in text.replace("steps: 2", "2 steps") and "temperature" in text, "info: %s", text)
    with open(path) as file:
        expect("TDEF 2 LINEAR 06:00Z28feb2016 1dy\n" in file.read(), "other times")
    if shutil.which("grads"):
        script = os.path.join(folder, "look.gs")
        with open(script, "w") as file:
            file.write("'open %s'\n'set x 1'\n'set y 1'\n'set z 1'\n'set t 2'\n'display temperature'\nsay result\n'quit'\n" % path)
        code, text = run(["grads", "-blc", "run " + script])
        want = 300 + 10 * np.sin(0.1 * (0 - 2 * 3))
        expect("%.3f" % want in text, "grads says %s, not %.3f", text, want)


CUBOIDS = [((0, 0, 16), (63, 47, 16), 1), ((10, 20, 3), (40, 30, 20), 1), ((0, 0, 0), (63, 47, 31), 5), ((63, 47, 31), (63, 47, 31), 5)]
POINTS = [1, 64, 98304, 70, 5000, 50000] + list(range(30000, 30200, 3))
SENSOR = {"format": "kwave", "windows": [{"first": 2, "last": 4, "every": 2}, {"first": 7, "last": 40}], "points": POINTS,
          "cuboids": [{"lower": lower, "upper": upper, "every": every} for lower, upper, every in CUBOIDS]}


def wave(name, step):
    """Returns the values of acoustic.c: z, y, x."""
    z, y, x = np.meshgrid(*(np.arange(n) - n // 2 for n in (32, 48, 64)), indexing="ij")
    r = np.sqrt(x * x + y * y + z * z)
    p = np.cos(0.5 * r - 0.3 * step) / (1 + r)
    return p if name == "p" else p * x / (1 + r)


def sensor_files(folder):
    return {every: os.path.join(folder, name) for every, name in ((1, "s.h5"), (5, "s.every5.h5"), (0, "s.points.h5"))}


def check_sensor(folder, steps):
    """Checks shapes, times and values with h5py, for a run that should write these steps. Returns the number of steps in each
    file."""
    counts = {}
    for every, path in sensor_files(folder).items():
        wanted = steps[::every or 1]
        with h5py.File(path, "r") as file:
            expect(file.attrs["file_type"] == b"output" and file.attrs["minor_version"] == b"2", "%s: no output of k-Wave", path)
            expect([int(file[name][0, 0, 0]) for name in ("Nx", "Ny", "Nz")] == [64, 48, 32], "%s: another grid", path)
            places = [(lower, upper) for lower, upper, period in CUBOIDS if period == every]
            if every:
                corners = [[n + 1 for corner in place for n in corner] for place in places]
                expect(file["sensor_mask_corners"][0].tolist() == corners, "%s: other cuboids", path)
                boxes = {str(i + 1): tuple(slice(l, u + 1) for l, u in list(zip(*place))[::-1]) for i, place in enumerate(places)}
            else:
                expect(file["sensor_mask_index"][0, 0].tolist() == POINTS, "%s: other points", path)
            count = int(file["t_index"][0, 0, 0]) - int(file["Nt"][0, 0, 0]) + len(file["p/1"] if every else file["p"][0])
            first = int(file["Nt"][0, 0, 0]) - count
            counts[every] = count
            expect(0 < count <= len(wanted), "%s: %d steps of %d", path, count, len(wanted))
            if count > 1:
                dt = 2e-8 * (wanted[count - 1] - wanted[0]) / (count - 1)
                expect(abs(file["dt"][0, 0, 0] / dt - 1) < 1e-6 and first == round(2e-8 * wanted[0] / dt), "%s: dt %g, first step %d", path, file["dt"][0, 0, 0], first)
            for name in ("p", "ux"):
                for slot, step in enumerate(wanted[:count]):
                    field = wave(name, step)
                    found = {key: values[slot] for key, values in file[name].items()} if every else {"": file[name][0, slot]}
                    want = {key: field[box] for key, box in boxes.items()} if every else {"": field.reshape(-1)[np.array(POINTS) - 1]}
                    expect(found.keys() == want.keys(), "%s: data sets %s", path, list(found))
                    for key in want:
                        expect(found[key].dtype == "<f4" and np.allclose(found[key], want[key], rtol=1e-5, atol=1e-7), "%s: other values of %s/%s at step %d", path, name, key, step)
    return counts


def sensor_times(options, folder):
    """Tests times of sampled steps that k-Wave's Nt and dt cannot represent, with h5py and with PatchIO's reader."""
    sys.path.insert(0, os.path.join(options.build, "python"))
    import patchio
    path = os.path.join(folder, "s.h5")
    for windows, sensor in (([{"first": 3, "last": 38, "every": 4}], {"points": [1, 7]}), ([{"first": 3, "last": 38, "every": 4}], {"points": [4]}),
                            ([{"first": 2, "last": 4, "every": 2}, {"first": 7, "last": 40, "every": 3}], {"cuboids": [{"lower": [1, 2, 3], "upper": [1, 2, 3]}, {"lower": [1, 2, 3], "upper": [4, 5, 3]}]}),
                            ([{"first": 5, "last": 5}], {"points": [9, 3]}), ([{"last": 38}], {"points": [1, 2]})):
        wanted = sorted({step for window in windows for step in range(window.get("first", 0), window["last"] + 1, window.get("every", 1))})
        for more in ({}, {"steps at once": 4}):
            channel = {"path": path, "format": "kwave", "overwrite": True, "windows": windows, **sensor, **more}
            code, text = run([options.acoustic, config(folder, channel, mode="direct"), "40"], 2)
            expect(code == 0 and text == "", "%s: exit code %d, %s", windows, code, text)
            steps = [step for step in wanted if step < 40]
            want = [2e-8 * step for step in steps]
            found = patchio.open(path)
            expect([step.time for step in found] == want, "%s: the reader has the times %s", windows, [step.time for step in found])
            last = np.concatenate([np.ravel(array) for array in found[-1].read("p").values()])
            with h5py.File(path, "r") as file:
                written = [array[-1] for array in file["p"].values()] if "cuboids" in sensor else [file["p"][0, -1]]
                expect(np.array_equal(last, np.concatenate([np.ravel(array) for array in written])), "%s: the reader has other values at its last step", windows)
                times = file["sample_times"]
                expect(times.shape == (len(steps), 1, 1, 1) and times.dtype == "<f8" and times[:, 0, 0, 0].tolist() == want, "%s: times %s", windows, times[...].ravel())
                dt = (want[-1] - want[0]) / max(1, len(want) - 1) or want[0]
                expect(abs(file["dt"][0, 0, 0] - dt) < 1e-6 * dt and file["Nt"][0, 0, 0] == file["t_index"][0, 0, 0] == len(want) + round(want[0] / dt), "%s: Nt %s, dt %s", windows,
                       file["Nt"][...], file["dt"][...])
                for slot, step in enumerate(steps):
                    values = file["p/1"][slot, 0, 0, 0] if "cuboids" in sensor else file["p"][0, slot, 0]
                    place = (3, 2, 1) if "cuboids" in sensor else np.unravel_index(sensor["points"][0] - 1, (32, 48, 64))
                    expect(np.isclose(values, wave("p", step)[place], rtol=1e-5), "%s: another value at step %d", windows, step)


def sensor(options, folder):
    """Tests cuboids and points, some with longer periods: the values are those of the formula, and the bytes do not depend on the
    ranks, the mode and the number of steps that are written together."""
    steps = [2, 4] + list(range(7, 23))
    first = None
    for ranks in (1, 4):
        for mode in ("direct", "thread"):
            for more in ({}, {"steps at once": 4}, {"steps at once": 1000}, {"steps at once": 1000, "flush after": 1e-3}):
                channels = [{**SENSOR, **more, "path": os.path.join(folder, "s.h5"), "overwrite": True}]
                if ranks == 4:    # arrays that another channel writes completely
                    channels.append({"path": os.path.join(folder, "all.pio"), "overwrite": True, "variables": ["p"], "windows": [{"first": 4, "every": 9}]})
                code, text = run([options.acoustic, config(folder, *channels, mode=mode), "23"], ranks, SOURCE_DATE_EPOCH="1000000000")
                expect(code == 0 and text == "", "%s on %d ranks, %s: exit code %d, %s", mode, ranks, more, code, text)
                found = [open(path, "rb").read() for path in sensor_files(folder).values()]
                if first is None:
                    expect(check_sensor(folder, steps) == {1: 18, 5: 4, 0: 18}, "other numbers of steps")
                first = first or found
                expect(found == first, "%s on %d ranks, %s: other bytes than on one rank, directly", mode, ranks, more)
    expect([step.step for step in stranger.read(os.path.join(folder, "all.pio"))] == [4, 13, 22], "the other channel has other steps")
    plates = [{"lower": [0, y, 0], "upper": [511, y, 511]} for y in (0, 100, 200)]
    code, text = run([options.patchio, "plan", config(folder, {**SENSOR, "path": "x.h5", "points": [], "cuboids": plates}), "--ranks", "256", "--cells", "512,512,512"])
    expect(code == 0 and "A     256      12.3 kB      3.15 MB       32 " in text and "time steps written at once: 1 (" in text, "patchio plan: %s", text)
    # 65537 x 65537 parts are 2^32 more than 131073.
    whole = config(folder, {**SENSOR, "path": os.path.join(folder, "x.h5")})
    code, text = run([options.patchio, "plan", whole, "--cells", "65537,65537,1", "--ranks", "131073", "--parts", "65537,65537,1"])
    expect(code == 2 and "expected 131073 patches" in text, "patchio plan with too many parts: exit code %d, %s", code, text)
    # A profile by hand, without the cost of a request, does not determine the number of time steps.
    mount = json.loads(run([options.patchio, "tune", "--json", "--seconds", "0", folder])[1])["mount"]["point"]
    os.makedirs(os.path.join(folder, "profiles"))
    with open(os.path.join(folder, "profiles", "hand.json"), "w") as file:
        json.dump({"mount": mount, "best_concurrency": 32}, file)
    code, text = run([options.patchio, "plan", whole, "--cells", "64,48,32"], PATCHIO_PROFILE_DIR=os.path.join(folder, "profiles"))
    expect(code == 0 and "from the profile" not in text and "hand.json has no cost of requests" in text, "patchio plan: exit code %d, %s", code, text)
    mask = os.path.join(folder, "s.every5.h5")
    os.rename(mask, os.path.join(folder, "mask.h5"))
    channel = {"path": mask, "format": "kwave", "mask": os.path.join(folder, "mask.h5"), "windows": [{"first": 2, "last": 2}, {"first": 10, "last": 23, "every": 5}]}
    code, text = run([options.acoustic, config(folder, channel), "23"], 3)
    expect(code == 0 and text == "", "a mask: exit code %d, %s", code, text)
    with h5py.File(mask, "r") as found, h5py.File(channel["mask"], "r") as want:
        for name in ("p/1", "p/2", "ux/1"):
            expect(np.array_equal(found[name], want[name]), "a mask: other values of %s", name)


def sensor_faults(options, folder):
    """Tests that values that cannot be sampled are rejected, and that a full disk and a killed rank leave complete steps."""
    path, files = os.path.join(folder, "s.h5"), sensor_files(folder)
    beyond = {"cuboids": [{"lower": [0, 0, 0], "upper": [64, 0, 0]}]}
    for word, channel, client in (("of cuboid 1", beyond, options.acoustic), ("of the points", {"points": [98305]}, options.acoustic),
                                  ("scalars", {"points": [1], "variables": ["c"]}, options.client), ("on all patches", {"points": [1], "variables": ["d"]}, options.client)):
        for mode in ("direct", "thread"):
            channel = {"path": path, "format": "kwave", "windows": [{"last": 3}], **channel}
            code, said = run([client, config(folder, channel, mode=mode), "2"], 2, timeout=60)
            expect(code == 1 and word in said, "%s, %s: exit code %d, %s", word, mode, code, said)
            expect(not os.path.exists(path), "%s: there is a file", word)
    small = {**SENSOR, "path": path}
    code, said = run([options.acoustic, config(folder, small, memory="300 kB"), "9"], 2)
    expect(code == 1 and '"memory"' in said, "too little memory: exit code %d, %s", code, said)
    for again in (0, 1):
        code, said = run([options.acoustic, config(folder, small), "9"], 2)
        expect(code == again and ("an existing file" in said) == bool(again), "again %d: exit code %d, %s", again, code, said)
    channel = {**SENSOR, "path": path, "overwrite": True, "windows": [{"last": 100000}], "steps at once": 5}
    for mode in ("direct", "thread"):
        code, said = run([options.acoustic, config(folder, channel, mode=mode), "90"], 1, LD_PRELOAD=options.faults, WRITE_FAULT="ENOSPC 150")
        expect(code == 1 and "No space left" in said, "a full disk, %s: exit code %d, %s", mode, code, said)
        counts = check_sensor(folder, list(range(90)))
        expect(all(count < 90 / (every or 1) for every, count in counts.items()), "a full disk, %s: %s steps", mode, counts)
    for delay in (0.3, 0.8):
        for file in files.values():
            os.remove(file)
        process = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "3", options.acoustic, config(folder, channel), "100000"], env={**os.environ, **MPI},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        while not os.path.exists(files[0]) and time.monotonic() < begin + 60:
            time.sleep(0.02)
        time.sleep(delay)
        ranks = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_client(entry, os.path.join(folder, "output.json"), b"patchio_output_acoustic")]
        expect(len(ranks) == 3, "%d ranks are there to be killed", len(ranks))
        os.kill(ranks[1], signal.SIGKILL)
        process.wait(60)
        counts = check_sensor(folder, list(range(100000)))
        expect(counts[1] >= 5 and counts[1] % 5 == 0, "%s steps after a rank was killed", counts)


def linadv(options, folder):
    """Tests patchio-linadv, with changing levels: its output through a configuration equals its dumps, which have 32-bit floats."""
    dumps, ball, other = (os.path.join(folder, name) for name in ("dumps", "ball.pio", "other.pio"))
    command = [options.linadv, "--cells", "16,16,16", "--patch", "8", "--levels", "3", "--steps", "10", "--dump-every", "5", "--node-variable",
               "--vector-variable"]
    for ranks, mode in ((1, "thread"), (3, "thread"), (3, "ranks")):
        shutil.rmtree(ball, ignore_errors=True)
        code, text = run(command + ["--output", dumps, "--overwrite", "--output-config", config(folder, {"path": ball, "windows": [{"every": 5}]}, mode=mode)], ranks)
        expect(code == 0, "%d ranks, %s: exit code %d, %s", ranks, mode, code, text)
        shutil.rmtree(other, ignore_errors=True)
        code, text = run([options.patchio, "convert", os.path.join(dumps, "dumps.visit"), other])
        expect(code == 0, "%s", text)
        found, wanted = stranger.read(ball), stranger.read(other)
        expect([(s.step, s.time) for s in found] == [(s.step, s.time) for s in wanted] and len(found) == 3, "%d ranks: other steps", ranks)
        for ours, theirs in zip(found, wanted):
            ours, theirs = ({(s.rows[row]["level"], tuple(s.rows[row]["lower"]), v["name"]): array for row, v, array in s.values()} for s in (ours, theirs))
            same = ours.keys() == theirs.keys() and all(np.array_equal(np.float32(ours[key]).reshape(-1), theirs[key].reshape(-1)) for key in ours)
            expect(same and len(ours) > 50, "%d ranks: other values", ranks)


def refusals(options, folder):
    """Tests that errors in a configuration or a call are reported on all ranks, and that no rank hangs."""
    out = os.path.join(folder, "out.pio")
    cases = {
        "a JSON text": "{",
        "nowhere.json": os.path.join(folder, "nowhere.json"),
        "/proc/x.pio": '{"channels": [{"path": "/proc/x.pio"}]}',
        "/dev/null/x.pio": '{"channels": [{"path": "/dev/null/x.pio"}]}',
        "Start more": '{"mode": "ranks"}',
        "2 I/O ranks and": '{"mode": "ranks", "io ranks": 2}',
    }
    for word, text in cases.items():
        ranks = 1 if word == "Start more" else 2
        code, said = run([options.client, text, "2"], ranks, timeout=30)
        expect(code == 2 and said.count(", open: ") == ranks and word in said, "%s: exit code %d, %s", word, code, said)
    for word, channel in {"'nothing'": {"variables": ["nothing"]}, "one level": {"path": os.path.join(folder, "x.ctl"), "format": "grads", "variables": ["a"]}}.items():
        for mode in modes(2):
            ranks = 3 if mode["mode"] == "ranks" else 2    # so that two ranks compute
            code, said = run([options.client, config(folder, channel, **mode), "2"], ranks, timeout=60)
            expect(code == 1 and word in said and said.count(word) == 4, "%s, %s: exit code %d, %s", word, mode, code, said)
    for again in (0, 1):
        code, said = run([options.client, config(folder, {}, mode="thread"), "3"], 2)
        expect(code == again and ("found 0, which the container already has" in said) == bool(again), "again %d: exit code %d, %s", again, code, said)
    check(out, range(3))
    code, said = run([options.client, config(folder, {"overwrite": True}), "2"], 2)
    expect(code == 0, "overwrite: exit code %d, %s", code, said)
    check(out, range(2))
    code, said = run([options.client, config(folder, {"overwrite": True}, memory="20 kB", mode="thread"), "4"], 2)
    expect(code == 1 and '"memory" in the output configuration allows' in said, "too little memory for ghosts: exit code %d, %s", code, said)
    code, said = run([options.client, config(folder, {"overwrite": True}, memory="150 kB", mode="ranks"), "4"], 3)
    expect(code == 1 and said.count("on I/O rank 2") == 8 and 'Raise "memory"' in said, "too little memory for a step: exit code %d, %s", code, said)
    code, said = run([options.acoustic, config(folder, {}, mode="ranks")], 2)
    expect(code not in (0, 124) and "patchio_compute()" in said, "a simulation that does not ask who computes: exit code %d, %s", code, said)


def careless(options, folder):
    """Tests that each wrong call is reported on all ranks, that no rank crashes or waits, and that open output is written when MPI
    ends."""
    want = ["needs the configuration", "MPI_COMM_NULL", "The output is NULL", "The output is NULL", "patchio_compute() needs the communicator", "Step 0 has no patches", "Call patchio_grid() before",
            "needs the origin", "spacing -1 along axis 1", "2 or 3", "needs the ratios of 2 levels", "`levels` is 0", "Level 1 has the ratio 0", "no fault",
            "an array of 1 patches", "No rank has declared a patch", "no fault", "Step 0 has no variables", "no fault", "no fault", "Step 0 has no list of arrays", "0 or more, not -1", "Step 0 has the time nan",
            "Step 0 differs between ranks: rank 0 has the time 0, but rank 1 has the time 1"] + 5 * ["no fault"]
    want += ["the count -1", "PatchIO does not write step 7, because patchio_patches() failed: patchio_patches() has the count -1", "no fault",
             "Variable 'g' has 0 components", "Variable 'g' has -1 ghost layers", "Variable 'g' has the type 9", "needs the name",
             "PatchIO does not write step 8, because patchio_variable() failed: Variable 'g' has 0 components"] + ["no fault"] + 2 * ["is closed"] + ["which MPI_Finalize() has ended"]
    for mode in ("direct", "thread"):
        shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
        code, said = run([options.careless, config(folder, {}, mode=mode), "5"], 2, timeout=60, LD_PRELOAD=options.faults, WRITE_FAULT="slow 20")
        expect(code == 0 and all(line.startswith("rank ") for line in said.splitlines()), "%s: exit code %d, %s", mode, code, said)
        for rank in (0, 1):
            lines = [line for line in said.splitlines() if line.startswith("rank %d: " % rank)]
            expect(len(lines) == len(want) and all(word in line for word, line in zip(want, lines)), "%s: rank %d was told %s", mode, rank, "\n".join(lines))
        check_cubes(os.path.join(folder, "out.pio"), 5)


def run_apart(options, folder, what, *more, **settings):
    """Runs Apart.c on ranks 0 to 3 and an I/O rank, if any, with short waits. Returns {rank: {call: (seconds, text)}} and the
    folder of the output."""
    place = tempfile.mkdtemp(dir=folder)
    channel = settings.pop("channel", {"path": os.path.join(place, "out.pio")})
    settings = {"wait seconds": 0.5, **settings}
    command = [options.apart, config(place, {**channel, "path": os.path.join(place, os.path.basename(channel["path"]))}, **settings), what, *more]
    code, said = run(command, 5 if settings.get("mode") == "ranks" else 4, timeout=60)
    told = {}
    for rank, call, seconds, text in re.findall(r"rank (\d), ([^:\n]*), ([0-9.]+) s: (.*)", said):    # mpiexec may join lines of two ranks
        told.setdefault(int(rank), {})[call] = (float(seconds), text)
    return told, said, place, code


SENSORS = [{"path": "s.h5", "format": "kwave", "points": [1, 5, 9, 13], "windows": [{"last": 9}], "steps at once": steps} for steps in (1, 2)]


def apart(options, folder):
    """Tests a rank that makes another call than the others, or passes another step: all ranks must get a message with the rank, the
    place and the difference at once, and no rank may hang."""
    wrote = "rank 2 in %s, ranks 0, 1 and 3 in patchio_write of step 2"
    cases = {"flush": wrote % "patchio_flush", "patches": wrote % "patchio_patches", "finalize": wrote % r"MPI_Finalize \(patchio_close was not called\)",
             "skip": "Step 2 differs between ranks: rank 0 has step 2, but rank 2 has step 3", "number": "rank 0 has step 2, but rank 2 has step 12",
             "time": "rank 0 has the time 2, but rank 2 has the time 2.5", "grid": r"rank 0 has level 0 with cells of \(1, 1, 1\).*rank 2 has level 0 with cells of \(1, 2, 1\)",
             "variable": "rank 0 has variable 0 'a'.*rank 2 has variable 0 'other'"}
    some = {"direct": ("flush", "skip", "variable"), "ranks": ("flush", "finalize", "skip")}
    for mode in ("direct", "thread", "ranks"):
        for what in some.get(mode, cases):
            want = cases[what]
            told, said, _, code = run_apart(options, folder, what, mode=mode)
            for rank in (0, 1, 3) if what == "finalize" else range(4):
                texts = told.get(rank, {})
                expect(texts and re.search(want, next(iter(texts.values()))[1]), "%s, %s: rank %d was told %s", mode, what, rank, texts)
                expect(all(seconds < 2 for seconds, _ in texts.values()), "%s, %s: rank %d waited: %s", mode, what, rank, texts)
            expect(code in (0, 1), "%s, %s: exit code %d, %s", mode, what, code, said)
    for mode in ("direct", "thread"):    # in these modes, ranks agree after gathering steps
        for channel in SENSORS:
            told, said, place, _ = run_apart(options, folder, "skip", mode=mode, channel=channel)
            want = "rank 0 has step [0-9]+, but rank 2 has step|rank 2 in patchio_flush, ranks 0, 1 and 3 in patchio_write"
            expect(all(any(re.search(want, text) for _, text in told.get(rank, {}).values()) for rank in range(4)) or re.search(want, said), "%s, a sensor: %s", mode, said)
            with h5py.File(os.path.join(place, "s.h5"), "r") as file:
                expect(file["p" if "p" in file else "a"].shape[1] <= 2 or file["t_index"][0, 0, 0] <= 2, "%s: steps were mixed: %s", mode, dict(file))
        for more, want in (({"variables": ["a"]}, "selects the variable 'a', which the simulation does not declare"), ({}, cases["variable"])):
            told, said, place, _ = run_apart(options, folder, "variable", mode=mode, channel={**SENSORS[1], **more})
            expect(all(any(re.search(want, text) for _, text in told.get(rank, {}).values()) for rank in range(4)), "%s, a sensor, other variables: %s", mode, said)
            expect(not os.path.exists(os.path.join(place, "s.h5")), "%s: there is a file", mode)


def stopped(options, folder):
    """Tests a rank that stops: the others must get an error that names it soon after the longest wait, and later calls must fail at
    once."""
    cases = [("stop", {"mode": "direct"}), ("stop", {"mode": "thread"}), ("stop", {"mode": "ranks"}), ("stop", {"mode": "direct", "channel": SENSORS[0]}), ("open", {"mode": "thread"}),
             ("stop", {"mode": "direct", "channel": {"path": "m.ctl", "format": "grads", "windows": [{"last": 9}]}})]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(run_apart, options, folder, what, **settings) for what, settings in cases]
    for (what, settings), each in zip(cases, runs):
        told, said, _, code = each.result()
        call, want = ("open", "patchio_open: other ranks did not make this call within 0.5 s") if what == "open" else ("step 2", "patchio_write of step 2: rank 2 did not make this call within 0.5 s")
        for rank in (0, 1, 3):
            seconds, text = told.get(rank, {}).get(call, (0, ""))
            expect(want in text and 0.4 < seconds < 4.9, "%s: rank %d was told after %g s: %s", settings, rank, seconds, text)
            for later in () if what == "open" else ("step 3", "flush"):
                expect(told[rank].get(later, (9, ""))[0] < 0.3 and "rank 2 did not make this call" in told[rank][later][1], "%s: rank %d was told at %s: %s", settings, rank, later, told[rank])
        expect(2 in told and code in (1, 2), "%s: the rank that had stopped was not told: exit code %d, %s", settings, code, said)


def rank_of(process):
    """Returns the rank of a process, which need not have been started in the order of ranks."""
    with open("/proc/%d/environ" % process, "rb") as file:
        return int(re.search(rb"(?:OMPI_COMM_WORLD_RANK|PMIX_RANK|PMI_RANK)=(\d+)", file.read())[1])


def silent(options, folder):
    """Tests an I/O rank that stops: the simulation must wait for it only once, not at each of 60 steps, and must get a message
    about the steps that are not written."""
    path = config(folder, {}, **{"mode": "ranks", "memory": "180 kB", "wait seconds": 1})
    process = subprocess.Popen(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", "3", options.client, path, "60", "5"], env={**os.environ, **MPI}, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    begin = time.monotonic()
    while len(glob.glob(os.path.join(folder, "out.pio", "step.*.hdf"))) < 3 and time.monotonic() < begin + 60:
        time.sleep(0.002)
    ranks = sorted((int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_client(entry, path)), key=rank_of)
    expect(len(ranks) == 3, "%d ranks are there", len(ranks))
    os.kill(ranks[2], signal.SIGSTOP)
    killer = threading.Timer(25, process.kill)
    killer.start()
    closed, said = set(), ""
    for line in process.stdout:
        said += line
        closed.update(re.findall(r"^rank (\d), close", line))
        if len(closed) == 2:
            break
    killer.cancel()
    os.kill(ranks[2], signal.SIGKILL)
    process.kill()
    process.communicate()
    expect(closed == {"0", "1"}, "the simulation did not end: %s", said[-3000:])
    expect(re.search(r"Rank 0 waited 1 s for I/O rank 2 .* The I/O rank has written \d+ of \d+ steps, but not steps? \d+", said), "other messages: %s", said[-3000:])


def unlike(options, folder):
    """Tests configurations that differ between ranks: all ranks must get a message with the key and both values."""
    out = {"path": os.path.join(folder, "out.pio")}
    ours = {"mode": "direct", "wait seconds": 0.5, "channels": [out]}
    for want, theirs in (('"mode" is direct on rank 0, and "mode" is thread on rank 2', {"mode": "thread"}), ('"mode" is direct on rank 0, and "mode" is ranks on rank 2', {"mode": "ranks"}),
                         ('"layout" is independent on rank 0, and "layout" is shared', {"layout": "shared"}), ('"memory" is .* and "memory" is 1000 bytes', {"memory": "1 kB"}),
                         ('"path" of channel 1 is .*out.pio on rank 0, and "path" of channel 1 is .*else.pio', {"channels": [{"path": out["path"].replace("out", "else")}]}),
                         ('"variables" of channel 1 is .* and "variables" of channel 1 is .a.', {"channels": [{**out, "variables": ["a"]}]}),
                         ("a list of 1 on rank 0, and .* a list of 2", {"channels": [out, {"path": out["path"] + "2"}]}),
                         ("no such file|nowhere.json", None)):
        more = json.dumps({**ours, **theirs}) if theirs else os.path.join(folder, "nowhere.json")
        code, said = run([options.apart, json.dumps(ours), "nothing", more], 4, timeout=60)
        expect(code == 2 and len(re.findall(want, said)) == 4 and said.count("open") >= 4, "%s: exit code %d, %s", want, code, said)
    code, said = run([options.apart, json.dumps(ours), "nothing", json.dumps({"channels": [{**out, "name": "channel 1", "windows": []}], "threads": 0, **ours})], 4, timeout=60)
    expect(code == 0, "defaults that are written out: exit code %d, %s", code, said)


def check_cubes(container, count):
    """Checks the output of Careless.c and simulation.py."""
    steps = stranger.read(container)
    expect([step.step for step in steps] == list(range(count)), "%s: steps %s", container, [step.step for step in steps])
    for step in steps:
        for row, _, found in [each for each in step.values() if each[1]["name"] == "a"]:
            rank = int(step.rows[row]["lower"][0]) // 4
            expect(np.array_equal(found.reshape(-1), 1000 * step.step + 100 * rank + np.arange(64)), "%s: other values at step %d", container, step.step)


def python(options, folder):
    """Tests the same output from Python. All steps must be in the container when patchio_flush() has returned."""
    for ranks in (1, 2):
        for path in glob.glob(os.path.join(folder, "out.pio*")):
            shutil.rmtree(path)
        program = [sys.executable, "-B", os.path.join(os.path.dirname(os.path.abspath(__file__)), "simulation.py"), options.library]
        code, said = run(program + [config(folder, {}), "20"], ranks)
        expect(code == 0 and said == "", "%d ranks: exit code %d, %s", ranks, code, said)
        for path in ("out.pio", "out.pio.flushed"):
            check_cubes(os.path.join(folder, path), 20)
        code, said = run(program + [config(folder, {}), "3"], ranks)
        expect(code != 0 and "found 0, which the container already has" in said, "%d ranks, again: exit code %d, %s", ranks, code, said)


def failing(options, folder):
    """Tests a failing write: a later call must report it with the step, earlier steps must stay complete, and the simulation must
    continue."""
    for mode, ranks in (("direct", 1), ("thread", 1), ("ranks", 3)):
        for fault in ("ENOSPC", "EIO"):
            shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
            code, said = run([options.client, config(folder, {}, mode=mode), "6", "150"], ranks, LD_PRELOAD=options.faults, WRITE_FAULT=fault + " 40")
            told = "No space left" if fault == "ENOSPC" else "Input/output error"
            expect(code == 1 and told in said, "%s, %s: exit code %d, %s", mode, fault, code, said)
            count = len(stranger.read(os.path.join(folder, "out.pio")))
            expect(0 < count < 6, "%s, %s: %d steps", mode, fault, count)
            check(os.path.join(folder, "out.pio"), range(count))
            lost = sorted(int(step) for step in re.findall(r"Step (\d+) of the channel 'channel 1' was not written", said))
            simulating = max(1, ranks - 1)
            expect(lost == sorted(simulating * list(range(count, 6))), "%s, %s: %d steps are there, and this was said: %s", mode, fault, count, said)
            expect(all("rank %d, step" % rank in said for rank in range(simulating)), "%s, %s: a rank was told at the end alone: %s", mode, fault, said)


def slow(options, folder):
    """Tests a slow storage: it slows down the simulation, no step is dropped, and a wait that is too long is reported."""
    # Memory for some steps; the second value of each mode is sufficient for one step of a rank, but not for two.
    for mode, ranks, memory in (("thread", 2, "1 MB"), ("thread", 2, "150 kB"), ("ranks", 3, "1 MB"), ("ranks", 3, "180 kB")):
        shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
        code, said = run([options.client, config(folder, {}, mode=mode, memory=memory), "6"], ranks, LD_PRELOAD=options.faults, WRITE_FAULT="slow 5")
        expect(code == 0 and said == "", "%s, %s: exit code %d, %s", mode, memory, code, said)
        check(os.path.join(folder, "out.pio"), range(6))
    for mode, ranks, memory, told in (("thread", 1, "400 kB", "too slow"), ("ranks", 3, "180 kB", "Rank 0 waited 0.3 s for I/O rank 2 to free memory")):
        shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
        settings = {"mode": mode, "memory": memory, "wait seconds": 0.3}
        code, said = run([options.client, config(folder, {}, **settings), "6"], ranks, LD_PRELOAD=options.faults, WRITE_FAULT="slow 200")
        expect(code == 1 and told in said and "0.3 s" in said, "a wait, %s: exit code %d, %s", mode, code, said)
    # A step that does not fit into the memory is written from the simulation's own arrays, before the call returns.
    shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
    settings = {"mode": "thread", "memory": "100 kB", "wait seconds": 0.3}
    code, said = run([options.client, config(folder, {}, **settings), "2"], 1, LD_PRELOAD=options.faults, WRITE_FAULT="slow 200")
    expect(code == 0 and said == "", "own arrays: exit code %d, %s", code, said)
    check(os.path.join(folder, "out.pio"), range(2))


def live(options, folder):
    """Tests that steps appear while the simulation runs, each of them complete."""
    for mode in ("direct", "thread"):
        container = os.path.join(folder, "out.pio")
        shutil.rmtree(container, ignore_errors=True)
        command = ["mpirun", "--oversubscribe", "-np", "2", options.client, config(folder, {}, mode=mode), "12", "150"]
        process, counts = subprocess.Popen(command, env={**os.environ, **MPI}), []
        while process.poll() is None:
            if os.path.exists(container + "/index"):
                try:
                    counts.append(len(stranger.read(container)))
                except StopIteration:    # the log exists, but not its first record
                    continue
                check(container, None)
            time.sleep(0.05)
        expect(process.returncode == 0, "%s: exit code %d", mode, process.returncode)
        expect(len(set(counts)) >= 4 and counts == sorted(counts), "%s: a reader saw %s steps", mode, counts)
        check(container, range(12))


def killed(options, folder):
    """Tests that a killed rank does not damage finished steps, and that the next run continues in another container."""
    for mode, victim, delay in (("thread", 1, 0.4), ("thread", 1, 1.0), ("ranks", 1, 0.4), ("ranks", 2, 0.7)):  # rank 2 is the I/O rank
        shutil.rmtree(os.path.join(folder, "out.pio"), ignore_errors=True)
        path = config(folder, {}, mode=mode)
        process = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "3", options.client, path, "2000", "5"], env={**os.environ, **MPI}, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        container = os.path.join(folder, "out.pio")
        begin = time.monotonic()
        while len(glob.glob(container + "/step.*.hdf")) < 3 and time.monotonic() < begin + 60:
            time.sleep(0.02)
        time.sleep(delay)
        ranks = sorted((int(entry) for entry in os.listdir("/proc") if entry.isdigit() and is_client(entry, path)), key=rank_of)
        expect(len(ranks) == 3, "%d ranks are there to be killed", len(ranks))
        os.kill(ranks[victim], signal.SIGKILL)
        process.wait(60)
        count = len(stranger.read(container))
        expect(count >= 2, "%s: %d steps were finished", mode, count)
        check(container, range(count))


def is_client(number, path, program=b"patchio_output_client"):
    try:
        with open("/proc/%s/cmdline" % number, "rb") as file:
            words = file.read().split(b"\0")
    except OSError:
        return False
    return os.path.basename(words[0]) == program and os.fsencode(path) in words


def installed(options, folder):
    """Tests the example, built against the installation with pkg-config, with CMake, and in Fortran."""
    prefix = os.path.join(folder, "prefix")
    code, text = run(["cmake", "--install", options.build, "--prefix", prefix])
    assert code == 0, text
    examples = os.path.join(prefix, "share", "patchio", "simulation")
    pc = glob.glob(prefix + "/lib*/**/pkgconfig", recursive=True)[0]
    flags = run(["pkg-config", "--cflags", "--libs", "patchio"], PKG_CONFIG_PATH=pc)[1].split()
    built = {"pkg-config": os.path.join(folder, "regional")}
    code, text = run(["mpicc", "-Wall", "-Wextra", "-Werror", examples + "/regional.c", *flags, "-lm", "-o", built["pkg-config"]])
    assert code == 0, text
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
        file.write("cmake_minimum_required(VERSION 3.22)\nproject(client C)\nfind_package(PatchIO REQUIRED)\n"
                   "add_executable(by_cmake %s/regional.c)\ntarget_link_libraries(by_cmake PRIVATE PatchIO::Output m)\n" % examples)
    for command in (["cmake", "-G", "Ninja", "-S", folder, "-B", folder + "/b", "-DCMAKE_PREFIX_PATH=" + prefix], ["cmake", "--build", folder + "/b"]):
        code, text = run(command)
        assert code == 0, text
    built["CMake"] = folder + "/b/by_cmake"
    if shutil.which("mpifort") and shutil.which("gfortran"):
        built["Fortran"] = os.path.join(folder, "wave")
        code, text = run(["mpifort", "-J", folder, examples + "/patchio.f90", examples + "/wave.f90", *flags, "-o", built["Fortran"]])
        assert code == 0, text
    else:
        print("skipped: the example in Fortran: there is no gfortran")
    for how, program in built.items():
        container = os.path.join(folder, "fields.pio")
        for path in (container, container + ".pio"):
            shutil.rmtree(path, ignore_errors=True)
        code, text = run([program, config(folder, {"path": container}), "3"], 2)
        expect(code == 0 and text == "", "%s: exit code %d, %s", how, code, text)
        code, text = run([program, config(folder, {"path": container + ".pio"}, mode="ranks"), "3"], 3)
        expect(code == 0 and text == "", "%s with an I/O rank: exit code %d, %s", how, code, text)
        for steps in (stranger.read(container), stranger.read(container + ".pio")):
            expect(len(steps) == 3 and all(sum(values.size for _, _, values in step.values()) > 1000 for step in steps), "%s: %d steps", how, len(steps))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cases = {"values": values, "grads": grads, "sensor": sensor, "sensor_times": sensor_times, "sensor_faults": sensor_faults, "linadv": linadv, "refusals": refusals,
             "careless": careless, "apart": apart, "stopped": stopped, "silent": silent, "unlike": unlike, "python": python, "failing": failing, "slow": slow, "live": live, "killed": killed, "installed": installed}
    parser.add_argument("case", choices=list(cases))
    for name in ("client", "careless", "apart", "regional", "acoustic", "library", "linadv", "patchio", "faults", "build"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases[options.case](options, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
