#!/usr/bin/python3
"""Tests patchio.write(), with a program that is based only on the documentation of containers; its error messages; and the
notebooks.

usage: PYTHONPATH=... writing.py SCRATCH EXAMPLES PROGRAM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest.mock
import warnings

import numpy as np
import patchio

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

SCRATCH, EXAMPLES, PROGRAM = map(os.path.abspath, sys.argv[1:])
TYPES = ["float32", "float64", "int32", "int64", "int16", "uint16", "uint8"]


def refused(kind, words, *arguments, **named):
    try:
        patchio.write(*arguments, **named)
        expect(False, "%s: was not refused", words)
    except kind as error:
        expect(words in str(error), "'%s' instead of '%s'", error, words)


def check(path, steps):
    """Checks a container. steps: {number: {name: [array per patch]}}."""
    found = {step.step: step for step in stranger.read(path)}
    expect(sorted(found) == sorted(steps), "%s: steps %s", path, sorted(found))
    for number, arrays in steps.items():
        count = 0
        for row, variable, values in found[number].values():
            info = found[number].rows[row]
            patch = sum(sum(level["patches"]) for level in found[number].json["levels"][:info["level"]]) + info["number"]
            want = arrays[variable["name"]][patch]
            expect(values.dtype == want.dtype and values.ravel().tobytes() == want.tobytes(), "%s: step %d, '%s' on patch %d", path, number, variable["name"], patch)
            count += 1
        expect(count == sum(a is not None for patches in arrays.values() for a in patches), "%s: step %d has %d arrays", path, number, count)


def boxes(path):
    random = np.random.default_rng(1)
    single = {name: random.integers(0, 99, (3, 4, 5)).astype(name) for name in TYPES}
    single["vector"], single["node"] = random.random((3, 4, 5, 3)), random.random((4, 5, 6)).astype("f4")
    single["turned"] = random.random((5, 4, 3)).T    # not contiguous
    patchio.write(path, single, nodes=["node"], step=5, time=0.25, spacing=(1, 2, 3), origin=(-1, 0, 1))
    several = {"a": [random.random((2, 3, 4)) for _ in range(4)], "b": [random.random((2, 3, 4, 2)) if p != 1 else None for p in range(4)]}
    patchio.write(path, several, lower=[[0, 0, 0], [4, 0, 0], [8, 0, 0], [5, 2, 1]], level=[0, 0, 0, 1], step=6, ratio=4)
    check(path, {5: {name: [np.ascontiguousarray(array)] for name, array in single.items()}, 6: several})
    data = patchio.open(path, metadata="off")
    expect(data.times.tolist() == [0.25, 6.0], "times %s", data.times)
    expect(data[0].dimension == 3 and np.allclose(data[1].patches["lower"][3], [5, 2, 1]), "boxes")
    json_of = stranger.read(path)[0].json
    expect(json_of["levels"][0]["spacing"] == [1, 2, 3] and json_of["origin"] == [-1, 0, 1], "spacing and origin")
    expect(stranger.read(path)[1].json["levels"][1]["spacing"] == [0.25, 0.25, 0.25], "spacing of level 1")
    patchio.write(path, {"flat": single["float32"][0]}, overwrite=True)
    check(path, {0: {"flat": [single["float32"][0]]}})
    expect(patchio.open(path, metadata="off")[0].dimension == 2, "two dimensions")


def verified(path):
    """Checks that a changed value is detected on request, and affects only its own array."""
    patchio.write(path, {"u": [np.ones((2, 3, 4)), np.ones((2, 3, 4))]}, lower=[[0, 0, 0], [4, 0, 0]], overwrite=True)
    step = stranger.read(path)[0]
    with open(os.path.join(path, step.json["files"][0]), "r+b") as file:
        file.seek(step.json["data sets"][0]["offset"] + 7)
        file.write(b"\x40")
    broken, sound = (step.rows[row]["number"] for row in (0, 1))
    expect(patchio.open(path)[0].read("u")[broken][0, 0, 0] == 65536, "the value was not changed")
    data = patchio.open(path, verify=True)[0]
    try:
        data.read("u")
        expect(False, "a changed value was read")
    except patchio.Error as error:
        expect("values of 'u' on patch %d of level 0 that match their checksum" % broken in str(error) and path in str(error), "the message: %s", error)
    with warnings.catch_warnings(record=True):
        expect(list(data.read("u", skip_broken=True)) == [sound], "with skip_broken: %s", data.faults)


def compressed(path):
    random = np.random.default_rng(2)
    values = {"noise": [random.integers(0, 2**63, n * 4096) for n in (1, 2)], "smooth": [np.arange(n * 4096, dtype="f4") // 9 for n in (1, 2)]}
    values = {name: [array.reshape(-1, 64, 64) for array in patches] for name, patches in values.items()}
    for number, (choice, want) in enumerate({"off": [None, None], "deflate": ["deflate"] * 2, "zstd": ["zstd"] * 2, "auto": [None, "deflate"]}.items()):
        patchio.write(path, values, lower=[[0, 0, 0], [0, 0, 1]], step=number, compress=choice)
        found = [place.get("compression") for place in stranger.read(path)[number].json["data sets"]]
        expect(found == want, "compress=%r gives %s", choice, found)
        for name, patches in patchio.open(path, metadata="off")[number].read().items():
            for patch, array in patches.items():
                expect(array.tobytes() == values[name][patch].tobytes(), "compress=%r: '%s' on patch %d", choice, name, patch)
    check(path, {number: values for number in range(4)})
    refused(ValueError, "not 'gzip'", path, values, lower=[[0, 0, 0], [0, 0, 1]], step=9, compress="gzip")


def faulty(path):
    a = np.zeros((2, 3, 4))
    patchio.write(path, {"a": a}, step=1)
    refused(patchio.Error, "an unused step number, found 1", path, {"a": a}, step=1)
    refused(patchio.Error, "nowhere", os.path.join(SCRATCH, "nowhere/x.pio"), {"a": a})
    refused(ValueError, "rising order", path, {"a": [a, a]}, lower=[[0, 0, 0]] * 2, level=[1, 0], step=2)
    refused(ValueError, "one shape", path, {"a": a, "b": a[1:]}, step=2)
    refused(ValueError, "one type", path, {"a": [a, a.astype("f4")]}, lower=[[0, 0, 0], [4, 0, 0]], step=2)
    refused(ValueError, "not a name in values", path, {"a": a}, nodes=["b"], step=2)
    refused(ValueError, "no cells", path, {"a": a[:0]}, step=2)
    two = {"a": [a, a]}
    refused(ValueError, "time must be a finite number, not nan", path, {"a": a}, step=2, time=np.nan)
    refused(ValueError, "step must be a whole number from 0", path, {"a": a}, step=-1)
    refused(ValueError, "step must be a whole number from 0", path, {"a": a}, step=2**63)
    refused(ValueError, "patches 0 and 1 overlap on level 0: cells (0, 0, 0) to (3, 2, 1) and (3, 2, 1) to (6, 4, 2)", path, two, lower=[[0, 0, 0], [3, 2, 1]], step=2)
    refused(ValueError, "patches 1 and 2 overlap on level 1", path, {"a": [a] * 3}, lower=[[0, 0, 0], [0, 0, 0], [0, 0, 1]], level=[0, 1, 1], step=2)
    refused(ValueError, "ratio must be a whole number from 1 to 1024, or one for each of the 1 levels above 0, not 0", path, two, lower=[[0, 0, 0]] * 2, level=[0, 1], ratio=0, step=2)
    refused(TypeError, "ratio must be a whole number from 1 to 1024, or one for each of the 1 levels above 0, not 1.5", path, two, lower=[[0, 0, 0]] * 2, level=[0, 1], ratio=1.5, step=2)
    refused(ValueError, "spacing must be above 0, not 0", path, {"a": a}, spacing=0, step=2)
    refused(ValueError, "spacing must be a finite number, or one for each axis", path, {"a": a}, spacing=(1, np.nan, 1), step=2)
    refused(ValueError, "origin must be a finite number, or one for each axis", path, {"a": a}, origin=np.inf, step=2)
    refused(TypeError, "'b' must be a list of arrays, one per patch", path, {"a": [a], "b": a}, step=2)
    refused(TypeError, "'a' on patch 0 must have one of the types float32", path, {"a": a > 0}, step=2)
    refused(ValueError, "'a' has 0 components", path, {"a": np.zeros((2, 3, 4, 0))}, step=2)
    refused(ValueError, "the name of a variable must not be empty", path, {"": a}, step=2)
    refused(ValueError, "threads must be a whole number from 1", path, {"a": a}, threads=0, step=2)
    refused(ValueError, "'a' on patch 0 has 1 axes", path, {"a": a[0, 0]}, step=2)
    check(path, {1: {"a": [a]}})


def ranges(path):
    """Checks that the ranges of a container are exact, and that `patchio info` shows two different numbers differently."""
    large = np.arange(64).reshape(4, 4, 4)
    values = {"exact": 7027698305728913 + 0 * large, "down": -10**15 + large, "beyond": 2**53 + 1 + 0 * large, "unsigned": np.uint64(2**64 - 1) + 0 * large.astype(np.uint64),
              "close": 1 + 1e-12 * large, "plain": 0.1 * large}
    patchio.write(path, values)
    want = {"exact": [7027698305728913] * 2, "down": [-10**15, -10**15 + 63], "beyond": [2**53, 2**53 + 2], "unsigned": [2**64 - 2048, 2**64], "close": [1, 1 + 1e-12 * 63],
            "plain": [0, 0.1 * 63]}
    info = subprocess.run([PROGRAM, "info", "--json", path], stdout=subprocess.PIPE, check=True).stdout
    found = {v["name"]: v["range"] for v in json.loads(info)["steps"][0]["variables"]}
    expect(found == want, "ranges %s instead of %s", found, want)
    text = subprocess.run([PROGRAM, "info", path], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
    for name, words in (("exact", "7027698305728913"), ("down", "-1000000000000000 to -999999999999937"), ("close", "1 to 1.0000000001"), ("plain", "0 to 6.3")):
        expect(re.search(r"^ *%s .*64 +%s$" % (name, re.escape(words)), text, re.MULTILINE), "info says nothing of '%s': %s: %s", name, words, text)


def flat_vectors(path):
    """Checks that an ambiguous shape, a vector in two dimensions or a scalar in three, is not accepted silently."""
    flat = np.random.default_rng(3).random((20, 30, 2))
    refused(ValueError, "'u' has the shape (20, 30, 2): give dimension=2", path, {"u": flat})
    refused(ValueError, "dimension must be 2 or 3, not 4", path, {"u": flat}, dimension=4)
    refused(ValueError, "lower has 3 numbers per patch, but dimension is 2", path, {"u": [flat]}, lower=[[0, 0, 0]], dimension=2)
    patchio.write(path, {"u": flat}, step=0, dimension=2)
    patchio.write(path, {"u": flat}, step=1, dimension=3)
    patchio.write(path, {"u": flat, "p": flat[..., 0]}, step=2)    # the scalar determines the shape
    patchio.write(path, {"u": [flat]}, lower=[[0, 0]], step=3)
    steps = patchio.open(path, metadata="off")
    expect([step.dimension for step in steps] == [2, 3, 2, 2], "dimensions %s", [step.dimension for step in steps])
    found = [step.read("u")[0].shape for step in steps]
    expect(found == [(20, 30, 2), (20, 30, 2), (20, 30, 2), (20, 30, 2)], "shapes %s", found)


def run_notebook(name, folder):
    """Runs the cells of a notebook one after another, like Jupyter. Returns their variables."""
    os.makedirs(folder)
    os.chdir(folder)
    names = {}
    with open(os.path.join(EXAMPLES, name)) as file:
        for cell in json.load(file)["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), name, "exec"), names)
    return names


def notebooks():
    run_notebook("containers.ipynb", os.path.join(SCRATCH, "containers"))
    expect(os.path.exists("wave.pio/index"), "the notebook wrote nothing")
    # The plot packages may not be installed.
    drawn = unittest.mock.MagicMock()
    drawn.pyplot = drawn
    drawn.subplots.return_value = (unittest.mock.MagicMock(), unittest.mock.MagicMock())
    stand_ins = {"matplotlib": drawn, "matplotlib.pyplot": drawn, "IPython": drawn, "IPython.display": drawn}
    with unittest.mock.patch.dict(sys.modules, stand_ins):
        shown = run_notebook("live.ipynb", os.path.join(SCRATCH, "live"))["shown"]
    # The middle of cell 4 + 3 n.
    expect(len(shown) == 8 and np.allclose(shown, [(n, (4.5 + 3 * n) / 32) for n in range(8)]), "the live notebook showed %s", shown)


def main():
    shutil.rmtree(SCRATCH, ignore_errors=True)
    os.makedirs(SCRATCH)
    boxes(os.path.join(SCRATCH, "boxes.pio"))
    verified(os.path.join(SCRATCH, "verified.pio"))
    compressed(os.path.join(SCRATCH, "compressed.pio"))
    ranges(os.path.join(SCRATCH, "ranges.pio"))
    faulty(os.path.join(SCRATCH, "faulty.pio"))
    flat_vectors(os.path.join(SCRATCH, "flat.pio"))
    notebooks()
    print("%d faults" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
