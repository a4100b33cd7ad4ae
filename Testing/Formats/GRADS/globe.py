"""Tests that grids around the globe are closed on a sphere: no cell is missing between the last longitude and the first.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/GRADS/globe.py SCRATCH

Runs on every rank (pvbatch --symmetric); the polygons of all ranks are joined. The field is analytic.
"""
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

for folder in (os.path.join(os.path.dirname(os.path.abspath(__file__)), above) for above in ("", "..", "../../ParaView")):
    sys.path.insert(0, folder)
from conformance import expect, failed, rank, ranks, sum_over_ranks  # noqa: E402
from on_ranks import leaves  # noqa: E402

NX, LATITUDES, LEVELS = 36, np.arange(-90, 91, 10.0), [1000, 850, 500]
LONGITUDES = 10.0 * np.arange(NX)
POLE = np.array([0.9, -0.1, 0.3])    # pole of the field, beside the seam
GRID = 1e-3    # points that are closer count as equal


def field():
    """Returns the field as [y, x], the same on all levels."""
    lon, lat = np.radians(LONGITUDES), np.radians(LATITUDES)[:, None]
    places = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat) + 0 * lon], -1)
    return (places @ (POLE / np.linalg.norm(POLE))).astype("<f4")


def write(path, first=0.0, step=10.0):
    with open(path.replace(".ctl", ".dat"), "wb") as data:
        data.write(np.stack([field()] * (len(LEVELS) + 1)).tobytes())
    with open(path, "w") as text:
        text.write("dset ^%s\nundef -9e33\noptions little_endian\nxdef %d linear %.9g %.9g\nydef 19 linear -90 10\n"
                   "zdef 3 levels 1000 850 500\ntdef 1 linear 00z01jan2020 1dy\nvars 2\nu 3 99 u\nps 0 99 ps\nendvars\n"
                   % (os.path.basename(path).replace(".ctl", ".dat"), NX, first, step))


class Cells:
    """The lines or polygons of all ranks, with points merged by position. The constructor is collective."""

    def __init__(self, source, scratch):
        source.UpdatePipeline()
        mine = []
        for data in leaves(source.GetClientSideObject().GetOutputDataObject(0)):
            points = vtk_to_numpy(data.GetPoints().GetData()).astype(float) if data.GetNumberOfPoints() else None
            for c in range(data.GetNumberOfCells()):
                cell = data.GetCell(c)
                mine.append(points[[cell.GetPointId(i) for i in range(cell.GetNumberOfPoints())]])
        path = os.path.join(scratch, "cells_%d.npy")
        np.save(path % rank(), np.array(mine + [None], object), allow_pickle=True)
        sum_over_ranks([0])
        cells = [c for r in range(ranks()) for c in np.load(path % r, allow_pickle=True) if c is not None]
        sum_over_ranks([0])
        self.area = sum(np.linalg.norm(sum(np.cross(c[i] - c[0], c[i + 1] - c[0]) for i in range(1, len(c) - 1))) / 2
                        for c in cells if len(c) > 2)
        names, self.uses, self.places, self.count = {}, {}, [], len(cells)
        for cell in cells:
            ends = [names.setdefault(tuple(np.round(p / GRID).astype(int)), len(names)) for p in cell]
            self.places += [None] * (len(names) - len(self.places))
            for end, place in zip(ends, cell):
                self.places[end] = place
            sides = zip(ends, ends[1:] + ends[:1]) if len(cell) > 2 else [(e,) for e in ends if len(set(ends)) > 1]
            for side in sides:
                if len(side) == 1 or side[0] != side[1]:
                    key = tuple(sorted(side))
                    self.uses[key] = self.uses.get(key, 0) + 1

    def open_sides(self, but=None):
        """Returns the positions of sides (ends of lines) that belong to one cell only. but: test for sides that do not count."""
        sides = [[self.places[e] for e in side] for side, uses in self.uses.items() if uses == 1]
        return [s for s in sides if but is None or not but(s)]


def check(ctl, mode, scratch):
    where = "%s, %s, %d ranks" % (os.path.basename(ctl), mode, ranks())
    reader = simple.PatchReader(FileName=[ctl], Placement="Sphere", Blocks=mode, Grids="All")
    values = field()
    reader.PointArrayStatus = ["u", "ps"]
    reader.UpdatePipeline()
    seam = cells = 0
    for grid in leaves(reader.GetClientSideObject().GetOutputDataObject(0)):
        extent = grid.GetExtent()
        cells += grid.GetNumberOfCells()
        name = "u" if grid.GetPointData().HasArray("u") and extent[5] > extent[4] else "ps"
        shape = [extent[2 * a + 1] - extent[2 * a] + 1 for a in (2, 1, 0)]
        index = [np.arange(extent[2 * a], extent[2 * a + 1] + 1) for a in (1, 0)]
        want = values[np.ix_(index[0], index[1] % NX)]
        found = vtk_to_numpy(grid.GetPointData().GetArray(name)).reshape(shape)
        expect((found == want).all(), "%s: '%s' differs, also behind the seam", where, name)
        if extent[1] == NX:
            seam += shape[0] * shape[1]
            points = vtk_to_numpy(grid.GetPoints().GetData()).reshape(shape + [3])[:, :, -1]
            angle = np.degrees(np.arctan2(points[..., 1], points[..., 0]))
            inside = np.abs(LATITUDES[index[0]]) < 90
            gone = (angle[:, inside] - LONGITUDES[0] + 180) % 360 - 180
            expect(np.abs(gone).max() < 1e-4, "%s: the last column is at %s", where, angle[:, inside])
    seam, cells = sum_over_ranks([seam, cells])
    expect(seam >= len(LATITUDES) * (1 + len(LEVELS)), "%s: %d nodes at the seam", where, seam)
    expect(cells == NX * 18 * 3, "%s: %d cells instead of %d", where, cells, NX * 18 * 3)

    reader.Grids = "surface"
    lon, lat = np.radians(10), np.radians(LATITUDES)
    radius = np.linalg.norm(Cells(simple.ExtractSurface(Input=reader), scratch).places[0])
    chords, ends = 2 * radius * np.sin(lon / 2) * np.cos(lat), radius * np.stack([np.cos(lat) * np.cos(lon / 2), np.sin(lat)])
    area = NX * (np.linalg.norm(np.diff(ends), axis=0) * (chords[1:] + chords[:-1]) / 2).sum()
    for made, what in ((simple.ExtractSurface(Input=reader), "surface"),
                       (simple.Contour(Input=reader, ContourBy=["POINTS", "ps"], Isosurfaces=[0.8]), "contour"),
                       (simple.Slice(Input=reader), "slice")):
        if what == "slice":
            made.SliceType.Origin, made.SliceType.Normal = [1, 2, 3], [0.2, 0.3, 1]
        found = Cells(made, scratch)
        edges = found.open_sides()
        expect(found.count > 10 and not edges, "%s: %d open ends of the %s, one at %s", where, len(edges), what, edges[:1])
        if what == "surface":
            expect(abs(found.area / area - 1) < 1e-5, "%s: area %g instead of %g", where, found.area, area)
        simple.Delete(made)

    # A wall through all levels is open only at the ends of the levels.
    reader.Grids = "levels"
    made = simple.Contour(Input=reader, ContourBy=["POINTS", "u"], Isosurfaces=[0.8])
    radii = 180 / np.pi + 7 * np.log(1000 / np.array(LEVELS))

    def at_end(side):
        far = [np.linalg.norm(p) for p in side]    # chords are below their arcs
        return max(far) <= radii[0] * (1 + 1e-6) or min(far) > radii[1:].mean()
    edges = Cells(made, scratch).open_sides(at_end)
    expect(not edges, "%s: %d open edges of the contour of levels, one at %s", where, len(edges), edges[:1])
    simple.Delete(made)
    reader.Placement, reader.Grids = "Longitude, latitude", "All"
    reader.UpdatePipeline()
    found = [g for g in leaves(reader.GetClientSideObject().GetOutputDataObject(0))]
    (cells,) = sum_over_ranks([sum(g.GetNumberOfCells() for g in found)])
    expect(cells == (NX - 1) * 18 * 3, "%s: %d cells on the plane", where, cells)
    simple.Delete(reader)


def check_open(ctl, scratch):
    """Checks that a region is not closed, nor a globe that has the first column again at its end."""
    reader = simple.PatchReader(FileName=[ctl], Placement="Sphere", Grids="surface")
    reader.UpdatePipeline()
    (cells,) = sum_over_ranks([sum(g.GetNumberOfCells() for g in leaves(reader.GetClientSideObject().GetOutputDataObject(0)))])
    expect(cells == (NX - 1) * 18, "%s: %d cells", ctl, cells)
    simple.Delete(reader)


def main():
    (scratch,) = sys.argv[1:]
    scratch = os.path.join(scratch, "globe_%d" % ranks())
    if rank() == 0:
        os.makedirs(scratch, exist_ok=True)
        write(scratch + "/closed.ctl")
        write(scratch + "/region.ctl", 70.0, 9.0)
        write(scratch + "/cyclic.ctl", 0.0, 360 / 35)
    sum_over_ranks([0])
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    for mode in ("As patches", "Merged"):
        check(scratch + "/closed.ctl", mode, scratch)
    for name in ("region", "cyclic"):
        check_open("%s/%s.ctl" % (scratch, name), scratch)
    (faults,) = sum_over_ranks([len(failed)])
    if rank() == 0:
        print("globe: %d faults" % faults, flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    status = main()
    if status:
        sys.exit(status)
