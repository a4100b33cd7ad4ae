"""Shows meshes of VTKHDF files in ParaView, compares each partition with the reference values of mesh_reference.py, and applies
filters whose results follow from the formulas of meshes.py.

usage: Testing/ParaView/pvbatch.sh NP Testing/Formats/VTKHDF/mesh_conformance.py TRUTHDIR
"""
import json
import os
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from conformance import compared, expect, finish, leaves, rank, sum_over_ranks  # noqa: E402

LISTS = {"": "GetCells", "Vertices/": "GetVerts", "Lines/": "GetLines", "Polygons/": "GetPolys", "Strips/": "GetStrips"}


def same(found, want, where):
    want = want.reshape(found.shape) if found.size == want.size else want
    if expect(found.shape == want.shape and np.array_equal(found, want), "%s: %s instead of %s", where, found[:5], want[:5]):
        compared[0] += want.size


def blocks_of(output):
    """Returns (number of the partition, grid) of this rank's blocks."""
    pieces = output.GetBlock(0)
    return [(i, pieces.GetPieceAsDataObject(i)) for i in range(pieces.GetNumberOfPieces()) if pieces.GetPieceAsDataObject(i)]


def cells_of(grid, group):
    cells = getattr(grid, LISTS[group])()
    return vtk_to_numpy(cells.GetOffsetsArray()), vtk_to_numpy(cells.GetConnectivityArray())


def check_partition(grid, truth, number, data, where):
    part = {name.split("/", 1)[1]: truth[name] for name in truth.files if name.startswith("p%d/" % number)}
    points = grid.GetPoints().GetData()
    same(vtk_to_numpy(points) if points.GetNumberOfTuples() else np.zeros(0), part["Points"], where + " points")
    for group in LISTS:
        if group + "Connectivity" in part and len(part[group + "Offsets"]) > 1:
            offsets, connectivity = cells_of(grid, group)
            same(offsets, part[group + "Offsets"], where + " " + group + "offsets")
            same(connectivity, part[group + "Connectivity"], where + " " + group + "connectivity")
    if "Types" in part and len(part["Types"]):
        same(vtk_to_numpy(grid.GetCellTypesArray()), part["Types"], where + " types")
    for name, folder in data.items():
        attributes = grid.GetPointData() if folder == "PointData" else grid.GetCellData()
        if expect(attributes.HasArray(name), "%s: no array '%s'", where, name):
            array = attributes.GetArray(name)
            expect(array.GetDataTypeAsString().startswith("unsigned") == (part[name].dtype.kind == "u"), "%s: another type of '%s'", where, name)
            same(vtk_to_numpy(array), part[name], "%s '%s'" % (where, name))


def check_file(entry, folder):
    reader = simple.PatchReader(FileName=[entry["path"]])
    reader.UpdatePipelineInformation()
    times = list(reader.TimestepValues)
    several = len(entry["times"]) > 1
    expect(not several or times == entry["times"], "%s: times %s instead of %s", entry["path"], times, entry["times"])
    order = list(range(len(entry["times"])))
    name, mesh_times = os.path.basename(os.path.dirname(entry["path"])), set()
    for step in order + order[::-1] + order[:1]:
        where = "%s step %d" % (name, step)
        truth = np.load(os.path.join(folder, entry["steps"][step]))
        reader.UpdatePipeline(entry["times"][step])
        blocks = blocks_of(reader.GetClientSideObject().GetOutputDataObject(0))
        for number, grid in blocks:
            check_partition(grid, truth, number, entry["data"], "%s partition %d" % (where, number))
        mesh_times.add(tuple(grid.GetMeshMTime() for _, grid in blocks))
        shown, = sum_over_ranks([len(blocks)])
        partitions = len({name.split("/")[0] for name in truth.files})
        expect(shown == partitions, "%s: %d partitions instead of %d", where, shown, partitions)
    # Filters keep their results if the time of the mesh does not change.
    stays = not name.startswith("changing")
    expect((len(mesh_times) == 1) == stays or not blocks, "%s: %d meshes in the course of time", name, len(mesh_times))
    simple.Delete(reader)


def check_choice(entry):
    """Checks that the mesh and its flags are read even if no array is selected."""
    reader = simple.PatchReader(FileName=[entry["path"]])
    reader.UpdatePipelineInformation()
    expect("vtkGhostType" not in reader.CellArrayStatus.Available, "flags are offered as an array")
    reader.CellArrayStatus, reader.PointArrayStatus = [], []
    reader.UpdatePipeline()
    for _, grid in blocks_of(reader.GetClientSideObject().GetOutputDataObject(0)):
        names = [grid.GetCellData().GetArrayName(i) for i in range(grid.GetCellData().GetNumberOfArrays())]
        expect("vtkGhostType" in names and "c" not in names and grid.GetNumberOfCells() > 0, "with nothing chosen there is %s", names)
        expect(grid.GetCellGhostArray() is not None, "VTK does not know the flags")
    simple.Delete(reader)


# ---- filters --------------------------------------------------------------------------------------------

def update(source, time):
    source.UpdatePipeline(time)
    return leaves(source.GetClientSideObject().GetOutputDataObject(0))


def points_and_field(grids):
    """Returns all points with their values of p."""
    grids = [g for g in grids if g.GetNumberOfPoints()]
    if not grids:
        return np.zeros((0, 3)), np.zeros(0)
    return (np.concatenate([vtk_to_numpy(g.GetPoints().GetData()) for g in grids]).astype(float),
            np.concatenate([vtk_to_numpy(g.GetPointData().GetArray("p")) for g in grids]).astype(float))


def check_linear(grids, time, where):
    """Checks that p follows the formula at all points of a filter. Returns the number of points on all ranks."""
    points, values = points_and_field(grids)
    expect(np.allclose(values, points @ [1, 10, 100] + time, atol=1e-3), "%s: p is not the formula's", where)
    compared[0] += len(points)
    return sum_over_ranks([len(points)])[0]


def integral(source, time, name):
    filtered = simple.IntegrateVariables(Input=source)
    grids = update(filtered, time)
    mine = [g for g in grids if g.GetNumberOfCells()]
    value = mine[0].GetCellData().GetArray(name).GetTuple1(0) if rank == 0 else 0
    simple.Delete(filtered)
    return value


def check_filters(entry, surface):
    reader = simple.PatchReader(FileName=[entry["path"]])
    reader.UpdatePipelineInformation()
    where = os.path.basename(os.path.dirname(entry["path"]))
    for time in entry["times"]:
        reader.UpdatePipeline(time)
        for make, name in ((lambda: simple.Slice(Input=reader, SliceType="Plane"), "slice"),
                           (lambda: simple.ExtractSurface(Input=reader), "surface"),
                           (lambda: simple.Contour(Input=reader, ContourBy=["POINTS", "p"], Isosurfaces=[20.0 + time]), "contour")):
            source = make()
            if name == "slice":
                source.SliceType.Origin, source.SliceType.Normal = [1.25, 0, 0], [1, 0, 0]
            found = check_linear(update(source, time), time, "%s %s at %g" % (where, name, time))
            expect(found > 0, "%s %s at %g: nothing", where, name, time)
            simple.Delete(source)
        size = integral(reader, time, "Area" if surface else "Volume")
        expect(rank or abs(size - (33 if surface else 66)) < 1e-9, "%s: integrates to %g", where, size)
        probe = simple.ProbeLocation(Input=reader, ProbeType="Fixed Radius Point Source")
        probe.ProbeType.Center, probe.ProbeType.NumberOfPoints, probe.ProbeType.Radius = [3.5, 1.25, 0 if surface else 1.5], 1, 0
        grid = update(probe, time)[0]
        if rank == 0:
            value = grid.GetPointData().GetArray("p").GetTuple1(0)
            wanted = 3.5 + 12.5 + (0 if surface else 150) + time
            expect(abs(value - wanted) < 1e-6, "%s: probe gives %g instead of %g", where, value, wanted)
        simple.Delete(probe)
    simple.Delete(reader)


def main():
    folder, = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    with open(os.path.join(folder, "meshes.json")) as file:
        table = json.load(file)
    for entry in table:
        check_file(entry, folder)
        name = os.path.basename(os.path.dirname(entry["path"]))
        if name == "ghost_boxes":
            check_choice(entry)
        if name in ("packed_boxes", "ghost_boxes", "steady_boxes", "carpets", "steady_carpets"):
            check_filters(entry, "carpets" in name)
    finish("meshes: %d files" % len(table))


if __name__ == "__main__":
    main()
