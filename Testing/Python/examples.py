#!/usr/bin/python3
"""Runs one of the example scripts on Data/linadv_3d and compares its output with values that h5py reads.

usage: examples.py movie|slices|time_series|pyvista_blocks|neighbours REPOSITORY SCRATCH [RANKS]

The first two run in pvbatch (PATCHIO_PLUGIN), the others need the package patchio (PYTHONPATH).
"""
import csv
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

import numpy as np

repository, scratch = (os.path.abspath(path) for path in sys.argv[2:4])
sys.path.insert(0, os.path.join(repository, "Testing", "Formats", "SAMRAI"))
import dump_writer  # noqa: E402
import reference  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

EXAMPLES = os.path.join(repository, "Documentation", "Examples")
DATA = os.path.join(repository, "Data", "linadv_3d", "dumps.visit")
SUMMARIES = sorted(glob.glob(os.path.join(repository, "Data", "linadv_3d", "*", "summary.samrai")))


def run(command, code=0, words="", **environment):
    with tempfile.TemporaryDirectory() as sessions:    # session folder of MPI
        done = subprocess.run(command, env={**os.environ, "TMPDIR": sessions, **environment}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, flush=True)
    expect(done.returncode == code and words in done.stdout and "Traceback" not in done.stdout, "exit status %d, not %d; or no '%s'",
           done.returncode, code, words)
    return done.stdout


def run_in_pvbatch(name, ranks, *arguments, **expected):
    return run([os.path.join(repository, "Testing", "ParaView", "pvbatch.sh"), ranks, os.path.join(EXAMPLES, name)] + list(arguments),
               PATCHIO_PVBATCH_MODE="root", **expected)


def run_in_python(name, *arguments, **expected):
    run([os.path.join(repository, "Testing", "ParaView", "with_display.sh"), sys.executable, os.path.join(EXAMPLES, name)]
        + list(arguments), **expected)


def colours_of(path):
    """Returns the distinct colours of a PNG with 8 bits per channel, from the raw bytes after the filters, to detect an empty
    picture."""
    with open(path, "rb") as file:
        content = file.read()
    expect(content[:8] == b"\x89PNG\r\n\x1a\n", "%s is no PNG", path)
    packed, at = b"", 8
    while at < len(content):
        size = int.from_bytes(content[at:at + 4], "big")
        packed += content[at + 8:at + 8 + size] if content[at + 4:at + 8] == b"IDAT" else b""
        at += size + 12
    return len(np.unique(np.frombuffer(zlib.decompress(packed), np.uint8)))


def check_pictures(name, count):
    paths = ["%s.%04d.png" % (os.path.join(scratch, name), number) for number in range(count)]
    missing = [path for path in paths if not os.path.exists(path)]
    if expect(not missing, "no %s", missing):
        contents = set()
        for path in paths:
            expect(colours_of(path) > 50, "%s: hardly anything in it", path)
            with open(path, "rb") as file:
                contents.add(file.read())
        expect(len(contents) == count, "only %d of %d pictures differ", len(contents), count)
    expect(len(glob.glob(os.path.join(scratch, name + ".*.png"))) == count, "more pictures than steps")


def visible_cells(summary):
    """Returns, for each patch, level, values as [k, j, i], flags of cells that no finer level covers, spacing, position of its
    corner."""
    meta, arrays = reference.read_truth(summary)
    for p, box in enumerate(meta["patches"]):
        shape = [box["upper"][a] - box["lower"][a] + 1 for a in (2, 1, 0)]
        dx = np.array(meta["spacing"][box["level"]])
        yield (arrays["p%d/uval" % p].reshape(shape), arrays["b%d" % p].reshape(shape) == 0, dx,
               np.array(meta["origin"]) + np.array(box["lower"]) * dx)


def check_movie():
    with open(os.path.join(scratch, "broken.h5"), "w") as file:
        file.write("no HDF5")
    run_in_pvbatch("movie.py", sys.argv[4], DATA, os.path.join(scratch, "movie"), "uval")
    check_pictures("movie", len(SUMMARIES))
    run_in_pvbatch("movie.py", "1", DATA, os.path.join(scratch, "other"), "density", code=1, words="unknown variable 'density'. The variables are: uval")
    expect(not glob.glob(os.path.join(scratch, "other*")), "pictures of a variable that does not exist")
    # Each message appears once: not also in ParaView's log, and without messages of other ranks about the exit of one rank.
    said = run_in_pvbatch("movie.py", "1", os.path.join(scratch, "broken.h5"), os.path.join(scratch, "other"), code=1, words="broken.h5")
    expect("ERR|" not in said and said.count("expected") == 1, "not one message")
    said = run_in_pvbatch("movie.py", "2", code=1, words="pvbatch movie.py")
    expect("SIGTERM" not in said and said.count("usage:") == 1, "not one message")
    if shutil.which("ffmpeg"):
        expect(os.path.getsize(os.path.join(scratch, "movie.mp4")) > 1000, "no movie")


def check_slices():
    run_in_pvbatch("slices.py", sys.argv[4], DATA, os.path.join(scratch, "slice"), "uval", "y", "0.401")
    check_pictures("slice", len(SUMMARIES))
    at = 0.401 * 0.5    # the domain is 0 to 0.5 along y
    for number, summary in enumerate(SUMMARIES):
        wanted = []
        for values, visible, dx, corner in visible_cells(summary):
            j = int(np.floor((at - corner[1]) / dx[1]))
            for k, i in np.argwhere(visible[:, j]) if 0 <= j < values.shape[1] else []:
                wanted.append((values[k, j, i], corner[0] + (i + 0.5) * dx[0], at, corner[2] + (k + 0.5) * dx[2]))
        with open("%s.%04d.csv" % (os.path.join(scratch, "slice"), number)) as file:
            rows = list(csv.DictReader(file))
        columns = ["uval", "Points:0", "Points:1", "Points:2"]
        expect(sorted(rows[0]) == sorted(columns), "columns %s", list(rows[0]))
        found = np.array([[row[name] for name in columns] for row in rows], float)
        wanted = np.array(wanted)
        if expect(found.shape == wanted.shape, "step %d: %s rows instead of %s", number, found.shape, wanted.shape):
            order = [np.lexsort(np.round(table[:, 1:], 6).T) for table in (found, wanted)]
            expect(np.allclose(found[order[0]], wanted[order[1]], rtol=1e-5, atol=1e-6), "step %d: other values", number)


def check_time_series():
    out = os.path.join(scratch, "table.csv")
    run_in_python("time_series.py", code=2, words="DATA OUT.csv")
    run_in_python("time_series.py", "/nowhere/dumps.visit", out, code=1, words="/nowhere/dumps.visit: No such file or directory; expected")
    expect(not os.path.exists(out), "a table of nothing")
    run_in_python("time_series.py", DATA, out)
    with open(out) as file:
        rows = list(csv.DictReader(file))
    expect(len(rows) == len(SUMMARIES), "%d rows", len(rows))
    for row, summary in zip(rows, SUMMARIES):
        patches = list(visible_cells(summary))
        values = np.concatenate([v[visible] for v, visible, _, _ in patches]).astype(float)
        volumes = np.concatenate([np.full(visible.sum(), dx.prod()) for _, visible, dx, _ in patches])
        integral = (values * volumes).sum()
        wanted = [values.min(), values.max(), integral / volumes.sum(), integral]
        expect(np.isclose(volumes.sum(), 0.25), "the truth has holes, or is there twice")
        found = [float(row[name]) for name in ("min", "max", "mean", "integral")]
        expect(np.allclose(found, wanted, rtol=1e-6), "step %s: %s instead of %s", row["step"], found, wanted)
        expect(row["variable"] == "uval" and row["component"] == "0", "row %s", row)
    check_overlaps()


def check_overlaps():
    """Checks overlapping patches of a level: each place counts once, with the value of the patch with the lowest number."""
    levels = [dump_writer.Level([((0, 0), (3, 3)), ((2, 0), (7, 3))]),
              dump_writer.Level([((4, 2), (9, 5)), ((8, 2), (11, 5)), ((8, 2), (9, 5))], (2, 2))]
    tag = dump_writer.Variable("tag", lambda x, patch: 1.0 + x[0] + 100.0 * patch.level + 1000.0 * patch.number)
    dump_writer.write_series(os.path.join(scratch, "overlap"), [dump_writer.Dump(levels, [tag], dx=(0.5, 0.25, 0))])
    tags = np.full((8, 16), np.nan)   # on cells of level 1
    for level, width in ((0, 2), (1, 1)):
        boxes = list(enumerate(levels[level].boxes))
        for number, (lower, upper) in reversed(boxes):
            middles = 0.25 * width * (np.arange(lower[0], upper[0] + 1) + 0.5)
            rows, columns = (slice(lower[a] * width, (upper[a] + 1) * width) for a in (1, 0))
            tags[rows, columns] = np.repeat(1.0 + middles + 100.0 * level + 1000.0 * number, width)
    out = os.path.join(scratch, "overlap.csv")
    run_in_python("time_series.py", os.path.join(scratch, "overlap", "dumps.visit"), out)
    with open(out) as file:
        row = next(csv.DictReader(file))
    found = [float(row[name]) for name in ("min", "max", "mean", "integral")]
    expect(np.allclose(found, [tags.min(), tags.max(), tags.mean(), tags.sum() / 32], rtol=1e-6), "overlaps: %s", found)


def check_pyvista_blocks():
    picture = os.path.join(scratch, "blocks.png")
    run_in_python("pyvista_blocks.py", code=2, words="DATA [PICTURE.png")
    run_in_python("pyvista_blocks.py", DATA, picture, "density", code=1, words="unknown variable 'density'. The variables are: uval")
    if importlib.util.find_spec("pyvista") is None:
        run_in_python("pyvista_blocks.py", DATA, picture, code=1, words="needs pyvista. Install it with")
        if not failed:
            print("skipped: pyvista is not installed")
            sys.exit(77)
    else:
        run_in_python("pyvista_blocks.py", DATA, picture, words="X Bounds:   0.000e+00, 1.000e+00")
        expect(colours_of(picture) > 50, "hardly anything in the picture")
        import grids
        grids.scratch = scratch
        os.remove(picture)
        run_in_python("pyvista_blocks.py", grids.write_points(), picture, "p", words="N Blocks:   1")
        expect(colours_of(picture) > 2, "no points in the picture")


def check_neighbours():
    """Runs the cells of the notebook as a script."""
    missing = [name for name in ("pyvista", "xarray", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        print("skipped: %s not installed" % ", ".join(missing))
        sys.exit(77)
    with open(os.path.join(EXAMPLES, "neighbours.ipynb")) as file:
        cells = ["".join(cell["source"]) for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    script = os.path.join(scratch, "neighbours.py")
    with open(script, "w") as file:
        file.write("\n\n".join(cells + ['print("%d pictures; highest value %.4f" % (len(plt.get_fignums()), blocks.get_data_range("uval")[1]))']))
    highest = max(values.max() for values, _, _, _ in visible_cells(SUMMARIES[-1]))
    run_in_python(script, PATCHIO_EXAMPLE=DATA, MPLBACKEND="Agg", words="3 pictures; highest value %.4f" % highest)


def main():
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    {"movie": check_movie, "slices": check_slices, "time_series": check_time_series,
     "pyvista_blocks": check_pyvista_blocks, "neighbours": check_neighbours}[sys.argv[1]]()
    if not failed:
        print("passed: %s" % sys.argv[1])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
