"""Tests that the examples for ParaView end with one message, and without a picture, if they cannot fulfil a request.

usage: pvbatch example_faults.py REPOSITORY SCRATCH
"""
import contextlib
import io
import os
import runpy
import shutil
import sys

import numpy as np
from paraview import simple
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

repository, scratch = (os.path.abspath(path) for path in sys.argv[1:3])
EXAMPLES = os.path.join(repository, "Documentation", "Examples")
DATA = os.path.join(repository, "Data", "linadv_3d", "dumps.visit")
sys.path.insert(0, EXAMPLES)


def run(script, *given):
    """Runs a script like a separate process. Returns (exit code, output)."""
    sys.modules.pop("checks", None)
    sys.argv = [os.path.join(EXAMPLES, script)] + list(given)
    code, said = 0, io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            runpy.run_path(sys.argv[0], run_name="__main__")
        except SystemExit as end:
            code = end.code or 0
        except Exception as fault:  # noqa: B902
            sys.excepthook(type(fault), fault, fault.__traceback__)
            code = 1
    for left in list(simple.GetSources().values()) + simple.GetRenderViews():
        simple.Delete(left)
    return code, said.getvalue()


def fails(code, words, script, *given):
    before = sorted(os.listdir(scratch))
    found, said = run(script, *given)
    what = " ".join((script,) + given)
    expect(found == code, "%s: exit code %d: %s", what, found, said)
    expect(words in said, "%s: says '%s', not '%s'", what, said, words)
    expect("Traceback" not in said, "%s: %s", what, said)
    expect(sorted(os.listdir(scratch)) == before, "%s: leaves %s", what, set(os.listdir(scratch)) - set(before))


def damaged():
    """Makes a copy of the data with a truncated last step."""
    folder = os.path.join(scratch, "damaged")
    shutil.copytree(os.path.dirname(DATA), folder)
    cut = os.path.join(folder, "visit_dump.00048", "processor_cluster.00001.samrai")
    os.truncate(cut, os.path.getsize(cut) // 2)
    return os.path.join(folder, "dumps.visit"), cut


def write_grads():
    """Writes two levels and a surface."""
    with open(os.path.join(scratch, "a.ctl"), "w") as file:
        file.write("dset ^a.dat\nundef -9\noptions little_endian\nxdef 4 linear 10 2\nydef 3 linear -1 1\nzdef 2 levels 900 300\n"
                   "tdef 1 linear 00z01jan2000 1dy\nvars 3\nu 2 99 x\nps 0 99 x\nnone 2 99 x\nendvars\n")
    values = np.concatenate([np.arange(36), np.full(24, -9)])
    values.astype("<f4").tofile(os.path.join(scratch, "a.dat"))
    return os.path.join(scratch, "a.ctl")


def check_colours():
    """Checks that each picture of slices.py has the range of its own step, which is that of the values in its table."""
    out, found, usual = os.path.join(scratch, "coloured"), [], simple.SaveScreenshot

    def save(path, view):
        points = simple.GetColorTransferFunction("uval").RGBPoints
        found.append((points[0], points[-4]))
        usual(path, view)

    simple.SaveScreenshot = save
    code, said = run("slices.py", DATA, out, "uval", "x", "0.4")
    simple.SaveScreenshot = usual
    tables = [np.genfromtxt("%s.%04d.csv" % (out, number), delimiter=",", names=True)["uval"] for number in range(len(found))]
    wanted = [(values.min(), values.max()) for values in tables]
    expect(code == 0 and len(set(wanted)) > 2, "slices.py: exit code %d, ranges %s: %s", code, wanted, said)
    # ParaView widens a range with a single value by some thousandths.
    expect(np.allclose(found, wanted, rtol=1e-3), "slices.py: colours from and to %s instead of %s", found, wanted)


def check_patches():
    """Checks that the surface and the patches of both finer levels are visible, although there are only a few large ones."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOImage import vtkPNGReader
    out = os.path.join(scratch, "patches.png")
    code, said = run("patches.py", DATA, out)
    picture = vtkPNGReader()
    picture.SetFileName(out)
    picture.Update()
    red, green, blue = vtk_to_numpy(picture.GetOutput().GetPointData().GetScalars()).astype(float)[:, :3].T
    seen = {"surface": red > 1.7 * np.maximum(green, blue), "level 1": np.minimum(green, blue) > 1.7 * red,
            "level 2": (red > green) & (green > 0.6 * red) & (green > 1.7 * blue)}
    shares = {name: pixels.mean() for name, pixels in seen.items()}
    expect(code == 0 and shares["surface"] > 0.01 and min(shares["level 1"], shares["level 2"]) > 0.05,
           "patches.py: exit code %d, shares of the picture %s: %s", code, shares, said)


def main():
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(scratch)
    out = os.path.join(scratch, "out.png")
    for script in ("movie.py", "slices.py", "demo.py", "plotfile.py", "kwave.py", "grads.py"):
        fails(2, "pvbatch " + script, script)
    for script in ("movie.py", "slices.py", "demo.py"):
        fails(1, "unknown variable 'density'. The variables are: uval", script, DATA, out, "density")
    fails(1, "unknown variable 'density'. The variables are: uval", "plotfile.py", DATA, "density", out)
    fails(1, "unknown variable 'p'. The variables are: uval", "kwave.py", DATA, out)
    fails(1, "unknown variable 'q'. The variables are: uval", "grads.py", DATA, "q", "500", out)
    fails(1, "linadv_3d/dumps.visit is not a GrADS data set", "grads.py", DATA, "uval", "500", out)
    fails(1, "/nowhere/dumps.visit does not exist", "movie.py", "/nowhere/dumps.visit", out)
    fails(1, "nowhere of ", "movie.py", DATA, os.path.join(scratch, "nowhere", "out"))
    fails(1, "PatchIO does not support this format", "movie.py", __file__, out)
    path, cut = damaged()
    fails(1, cut, "movie.py", path, out)
    fails(1, cut, "plotfile.py", path, "uval", out)
    fails(1, cut, "demo.py", path, out)
    flat = os.path.join(repository, "Data", "linadv_2d", "dumps.visit")
    fails(1, "flat along z", "slices.py", flat, out, "uval", "z")
    fails(2, "AXIS is x, y or z", "slices.py", DATA, out, "uval", "q")
    fails(2, "FRACTION must be a number", "slices.py", DATA, out, "uval", "z", "half")
    model = write_grads()
    fails(1, "unknown level 5. The levels are: 900, 300", "grads.py", model, "u", "5", out)
    fails(1, "no value of 'none'", "grads.py", model, "none", "300", out)
    fails(1, "has no cell variable", "demo.py", model, out)
    fails(1, "'ps' is a surface variable", "grads.py", model, "ps", "300", out)
    code, said = run("grads.py", model, "u", "400", out)
    expect(code == 0 and os.path.getsize(out) > 1000, "grads.py: exit code %d: %s", code, said)
    expect("Level 400 does not exist; showing the nearest level, " in said, "grads.py shows another level without a word: %s", said)
    check_colours()
    check_patches()
    if not failed:
        print("passed: examples say what is wrong")
    # Not sys.exit(): see Fault in checks.py.
    assert not failed, failed


main()
