"""Draws the same scenes with patches and with merged blocks, and compares the pictures.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP pictures_of_blocks.py DATA OUTPUT

Surfaces, slices and thresholds show unchanged cells, so nearly all pixels must be equal to the last bit. Contours are compared with
ghost layers, because they have cracks between patches without them.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pictures  # noqa: E402
from paraview.simple import *  # noqa: E402
from pictures import UVAL, draw, open_at, pixels, show  # noqa: E402


def threshold(data, view):
    cells = Threshold(Input=open_at(data + "/linadv_3d/dumps.visit", 2), Scalars=UVAL, LowerThreshold=20, UpperThreshold=200)
    show(cells, view, "Surface", UVAL)


def surface(data, view):
    show(open_at(data + "/linadv_3d/dumps.visit", 2), view, "Surface", UVAL)


def surface_of_plane(data, view):
    show(open_at(data + "/linadv_2d/dumps.visit", 3), view, "Surface", UVAL)


def slice_across(data, view):
    cut = Slice(Input=open_at(data + "/linadv_3d/dumps.visit", 2))
    cut.SliceType.Origin = [0.61, 0.26, 0.27]
    cut.SliceType.Normal = [0.2, 0.1, 1]
    show(cut, view, "Surface", UVAL)


def clip(data, view):
    clipped = Clip(Input=open_at(data + "/linadv_3d/dumps.visit", 2))
    clipped.ClipType.Origin = [0.61, 0.26, 0.27]
    clipped.ClipType.Normal = [1, 0.7, 0.4]
    show(clipped, view, "Surface", UVAL)


def volume_of_one_level(data, view):
    show(open_at(data + "/linadv_3d/dumps.visit", 2, LevelRange=[2, 2]), view, "Volume", UVAL)


def contour(data, view):
    nodes = CellDatatoPointData(Input=open_at(data + "/linadv_3d/dumps.visit", 2), PassCellData=1)
    show(Contour(Input=nodes, ContourBy=["POINTS", "uval"], Isosurfaces=[30, 60]), view, "Surface", ("POINTS", "uval"))


EXACT = [surface, surface_of_plane, slice_across, clip, threshold]
# Scene, settings, least relevant difference of a channel, and the share of pixels that may differ: at edges, because the order of
# ranks differs; in contours, whose normals end at the border of a block; in volumes, which are interpolated within a block and
# blended rank by rank.
SCENES = [(s, settings, 1, 0.003) for s in EXACT for settings in ({}, dict(AddGhostLayer=1))]
SCENES += [(contour, dict(AddGhostLayer=1), 24, 0.01), (volume_of_one_level, {}, 24, 0.1)]
MODES = {"patches": dict(Blocks="As patches"), "merged": dict(Blocks="Merged"),
         "small": dict(Blocks="Merged up to Maximum Block Cells", MaximumBlockCells=3000)}


def share_of_difference(a, b, least):
    """Returns the share of different pixels among those drawn in either picture, and the number of these."""
    background = a[0, 0]
    drawn = (a != background).any(2) | (b != background).any(2)
    return float((abs(a - b) >= least).any(2).sum() / max(1, drawn.sum())), int(drawn.sum())


def main():
    data, output = sys.argv[1:3]
    os.makedirs(output, exist_ok=True)
    failed = 0
    for scene, settings, least, limit in SCENES:
        seen = {}
        for mode, properties in MODES.items():
            if mode == "small" and not settings:
                continue    # this scene needs ghost layers
            pictures.settings_of_all = {**properties, **settings}
            path = os.path.join(output, "%s%s_%s.png" % (scene.__name__, "_layer" if settings else "", mode))
            draw(scene, data, path)
            seen[mode] = pixels(path)
        for mode in list(seen)[1:]:
            share, drawn = share_of_difference(seen["patches"], seen[mode], least)
            good = share <= limit and drawn > 2000
            failed += not good
            print("%s %s %s, %s: %.5f of %d pixels differ" % ("passed" if good else "FAILED", scene.__name__, settings, mode, share, drawn), flush=True)
    # Checks that cracks would be detected: without ghost layers, patches have cracks.
    pictures.settings_of_all = MODES["patches"]
    path = os.path.join(output, "contour_with_cracks.png")
    draw(contour, data, path)
    share, _ = share_of_difference(pixels(path), pixels(os.path.join(output, "contour_layer_merged.png")), 24)
    failed += share < 0.05
    print("%s cracks: %.5f of the pixels differ" % ("FAILED" if share < 0.05 else "passed", share))
    if failed:
        sys.exit("FAILED: %d pictures; see %s" % (failed, output))


main()
