"""Draws the project's own data sets in several ways and compares the pictures with the baselines.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP pictures.py DATA OUTPUT BASELINES [--update]

The baselines are the same for any number of ranks, because the rank that read a patch must not be visible. --update writes the
baselines; check them before you commit them.
"""
import os
import sys

import numpy as np
from paraview.simple import *

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from leaves import pixels_of  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())

# Edges of compositing and of text differ by a few pixels; a missing patch is thousands.
LARGEST_DIFFERENCE = 0.003  # share of pixels that differ visibly
LARGEST_VOLUME_DIFFERENCE = 0.02    # because ranks blend their volumes one after another, in 8 bits
VISIBLE = 24                # of 255
BACKGROUND = [0.32, 0.34, 0.43]


def open_at(path, index, **settings):
    reader = PatchReader(FileName=[path], **settings)
    time = reader.TimestepValues[index]
    reader.UpdatePipeline(time)
    GetAnimationScene().AnimationTime = time
    return reader


def show(source, view, representation, colour=None):
    display = Show(source, view)
    display.SetRepresentationType(representation)
    if colour:
        ColorBy(display, colour)
        # A fixed range, because ranks must agree on colours, and a wrong value must be visible. ParaView 6 has other default
        # colours.
        colours = GetColorTransferFunction(colour[1])
        colours.ApplyPreset("Cool to Warm", True)
        colours.RescaleTransferFunction(*RANGES[colour[1]])
    else:
        display.ColorArrayName = [None, ""]
    display.SetScalarBarVisibility(view, False)
    return display


RANGES = {"uval": (5, 80), "uval_node": (5, 80), "flux": (0, 90), "level": (0, 2)}
UVAL = ("CELLS", "uval")


def surface_first_step(data, view):
    show(open_at(data + "/linadv_3d/dumps.visit", 0), view, "Surface With Edges", UVAL)


def surface_last_step(data, view):
    show(open_at(data + "/linadv_3d/dumps.visit", -1), view, "Surface", ("FIELD", "level"))


def slice_third_step(data, view):
    cut = Slice(Input=open_at(data + "/linadv_3d/dumps.visit", 2))
    cut.SliceType.Origin = [0.61, 0.26, 0.27]
    cut.SliceType.Normal = [0.2, 0.1, 1]
    show(cut, view, "Surface With Edges", UVAL)


def contour_second_step(data, view):
    nodes = CellDatatoPointData(Input=open_at(data + "/linadv_3d/dumps.visit", 1))
    show(Contour(Input=nodes, ContourBy=["POINTS", "uval"], Isosurfaces=[30, 60]), view, "Surface", ("POINTS", "uval"))


def contour_of_cells(data, view):
    contour = Contour(Input=open_at(data + "/linadv_3d/dumps.visit", 2), ContourBy=UVAL, Isosurfaces=[30, 60])
    show(contour, view, "Surface", ("POINTS", "uval"))


def clip_third_step(data, view):
    clip = Clip(Input=open_at(data + "/linadv_3d/dumps.visit", 2))
    clip.ClipType.Origin = [0.61, 0.26, 0.27]
    clip.ClipType.Normal = [-1, 0.7, 0.4]
    show(clip, view, "Surface", UVAL)


def threshold_third_step(data, view):
    reader = open_at(data + "/linadv_3d/dumps.visit", 2)
    show(Threshold(Input=reader, Scalars=UVAL, LowerThreshold=20, UpperThreshold=60), view, "Surface With Edges", UVAL)


def volume_of_one_level(data, view):
    show(open_at(data + "/linadv_3d/dumps.visit", 2, LevelRange=[2, 2]), view, "Volume", UVAL)


def outline_of_patches(data, view):
    # In one colour, because outlines of different levels overlap.
    show(open_at(data + "/linadv_3d/dumps.visit", 2, Blocks="As patches"), view, "Outline")


def plane_cells(data, view):
    show(open_at(data + "/linadv_2d/dumps.visit", 3), view, "Surface With Edges", UVAL)


def plane_nodes(data, view):
    show(open_at(data + "/linadv_2d/dumps.visit", 1), view, "Surface", ("POINTS", "uval_node"))


def plane_contour(data, view):
    reader = open_at(data + "/linadv_2d/dumps.visit", 3)
    show(Contour(Input=reader, ContourBy=UVAL, Isosurfaces=[15, 30, 45, 60]), view, "Surface", ("POINTS", "uval"))


def plane_vectors(data, view):
    reader = open_at(data + "/linadv_2d/dumps.visit", 2)
    show(reader, view, "Surface", ("CELLS", "flux"))


SCENES = [surface_first_step, surface_last_step, slice_third_step, contour_second_step, contour_of_cells, clip_third_step, threshold_third_step,
          volume_of_one_level, outline_of_patches, plane_cells, plane_nodes, plane_contour, plane_vectors]


def draw(scene, data, path):
    view = CreateRenderView(ViewSize=[400, 300])
    view.OrientationAxesVisibility = view.UseColorPaletteForBackground = 0
    view.Background = BACKGROUND
    scene(data, view)
    view.ResetCamera()
    if not scene.__name__.startswith("plane"):
        camera = view.GetActiveCamera()
        camera.Azimuth(30)
        camera.Elevation(25)
        view.ResetCamera()
    Render(view)
    SaveScreenshot(path, view)
    for proxy in list(GetSources().values()):
        Delete(proxy)
    Delete(view)


def difference(path, baseline):
    """Returns the share of pixels without a similar pixel in the baseline at the same place or beside it."""
    new, old = pixels_of(path), pixels_of(baseline)
    if new.shape != old.shape:
        return 1.0
    least = np.full(new.shape[:2], 999)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            shifted = np.roll(np.roll(old, dy, 0), dx, 1)
            least = np.minimum(least, np.abs(new - shifted).max(2))
    return float((least > VISIBLE).mean())


def main():
    data, output, baselines = sys.argv[1:4]
    update = "--update" in sys.argv
    os.makedirs(baselines if update else output, exist_ok=True)
    failed = 0
    for scene in SCENES:
        name = scene.__name__ + ".png"
        path = os.path.join(baselines if update else output, name)
        draw(scene, data, path)
        share = 0.0 if update else difference(path, os.path.join(baselines, name))
        blank = len(np.unique(pixels_of(path).reshape(-1, 3), axis=0)) < 4
        limit = LARGEST_VOLUME_DIFFERENCE if name.startswith("volume") else LARGEST_DIFFERENCE
        good = share <= limit and not blank
        failed += not good
        print("%s %s: %.4f of the pixels differ%s" % ("passed" if good else "FAILED", name, share, ", blank" if blank else ""))
    if failed:
        sys.exit("FAILED: %d pictures; see %s" % (failed, output))


if __name__ == "__main__":
    main()
