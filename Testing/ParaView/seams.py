"""Tests iso-surfaces of merged blocks with a ghost layer: they must be closed between blocks and ranks.

usage: Testing/ParaView/pvbatch.sh NP seams.py SPHERE

SPHERE comes from make_sphere.py. Runs on each rank, with the triangles of all ranks. The surface of each level must equal
that of the series with the level as one patch. Without ghost layers, there must be cracks, which shows that the test detects them.
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from make_sphere import BOUNDS  # noqa: E402
from on_ranks import DUPLICATECELL, expect, finish, from_all_ranks, leaves  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
GRID = 1e-4    # points that are closer count as equal; cells are 0.5 and 1 wide
RADIUS = 5.0
sphere = sys.argv[1]


def triangles_of(tree, level):
    """Returns the corners [triangle, corner, axis] of this rank's part, without triangles of ghost cells."""
    out = [np.zeros((0, 3, 3))]
    for surface in leaves(tree.GetBlock(level)):
        if surface.GetNumberOfPolys():
            corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
            ghosts = surface.GetCellData().GetArray("vtkGhostType")
            drawn = vtk_to_numpy(ghosts) & DUPLICATECELL == 0 if ghosts else np.ones(len(corners), bool)
            out.append(vtk_to_numpy(surface.GetPoints().GetData())[corners[drawn]].astype(float))
    return np.concatenate(out)


class Surface:
    """Unique points, triangles as numbers of points, and the edges of a single triangle."""

    def __init__(self, triangles):
        places, numbers = np.unique(np.round(triangles.reshape(-1, 3) / GRID).astype(int), axis=0, return_inverse=True)
        self.points, t = places * GRID, numbers.reshape(-1, 3)
        self.triangles = t[(t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 0] != t[:, 2])]
        edges = np.sort(np.concatenate([self.triangles[:, [0, 1]], self.triangles[:, [1, 2]], self.triangles[:, [2, 0]]]), axis=1)
        self.edges, self.uses = np.unique(edges, axis=0, return_counts=True)

    def open_edges(self, boxes):
        """Returns the number of edges with a single triangle that are not on the border of one of the boxes (lower, upper)."""
        ends = self.points[self.edges[self.uses == 1]]
        on_border = np.zeros(len(ends), bool)
        for box in boxes:
            for bound in box:
                on_border |= (np.abs(ends - bound) < 2 * GRID).all(1).any(1)
        return int((~on_border).sum())

    def area(self):
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()


def contour(series, levels, **properties):
    """Collective: returns the surfaces of the levels."""
    reader = PatchReader(FileName=[os.path.join(sphere, series, "dumps.visit")], LevelRange=levels, **properties)
    nodes = CellDatatoPointData(Input=reader, PassCellData=1)
    surface = Contour(Input=nodes, ContourBy=["POINTS", "distance"], Isosurfaces=[RADIUS])
    surface.UpdatePipeline()
    tree = surface.GetClientSideObject().GetOutputDataObject(0)
    triangles = [np.concatenate(from_all_ranks(triangles_of(tree, level))) for level in range(levels[0], levels[1] + 1)]
    for proxy in (surface, nodes, reader):
        Delete(proxy)
    return [Surface(t) for t in triangles]


def check_same(found, want, levels, where):
    for level, a, b in zip(range(levels[0], levels[1] + 1), found, want):
        name = "levels %s, %s, level %d" % (levels, where, level)
        expect(len(a.triangles) == len(b.triangles) > 100, "%s: %d triangles instead of %d", name, len(a.triangles), len(b.triangles))
        expect(abs(a.area() - b.area()) < 1e-3, "%s: area %.4f instead of %.4f", name, a.area(), b.area())
        near = all(np.min(np.abs(b.points - p).max(1)) < 3 * GRID for p in a.points)
        expect(near, "%s: points elsewhere", name)
        # A coarse surface also ends where the finer level begins.
        borders = BOUNDS[level:levels[1] + 1]
        expect(a.open_edges(borders) == 0 and (a.uses <= 2).all(), "%s: %d open edges, %d of more than two triangles", name,
               a.open_edges(borders), (a.uses > 2).sum())


SMALL = dict(Blocks="Merged up to Maximum Block Cells", MaximumBlockCells=300)
for levels in ([0, 0], [1, 1], [0, 1]):
    # If both levels are shown, there are coarser values beyond the border of the finer level.
    want = contour("whole", levels, Blocks="As patches", AddGhostLayer=int(levels == [0, 1]))
    for blocks in (dict(Blocks="Merged"), SMALL, dict(Blocks="As patches")):
        check_same(contour("patches", levels, AddGhostLayer=1, **blocks), want, levels, blocks)
    for surface in contour("patches", levels, **SMALL):
        expect(surface.open_edges(BOUNDS) > 0, "levels %s: no cracks without a ghost layer", levels)
finish("seams")
