"""Compares the output of Patch Reader with that of ParaView's own readers of a format.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Formats/peer.py AMReX|VTKHDF FOLDER
"""
import glob
import os
import shutil
import sys
import tempfile

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from conformance import compared, expect, finish, leaves, output_of  # noqa: E402

# ParaView 5.11's reader of plotfiles supports only headers of version 1, without ghosts, gaps and nodes (it crashes, or gives wrong
# data), names without blanks, and one refinement ratio for all axes. It uses the domain's corner as the position of index 0. Its reader
# of VTKHDF does not support 2-D AMR, levels with different arrays, and images with cells or with another first index than 0. It shows AMR
# without arrays at nodes. It does not support several steps in a file, polygonal data, partitions without points, and cell types of other
# sizes.
BEYOND_IT = {"AMReX": ("headers_", "no_headers", "hv2", "hv3", "hv4", "ghosts_", "odd_headers", "nodes_", "aniso_", "blank_names", "offset_3d"),
             "VTKHDF": ("amr_2d", "missing_3d", "image_2d", "image_3d", "/flat_", "/kept_", "packed_image", "image_steps", "packed_steps", "one_step",
                        "steady_amr", "changing_amr", "respelled_amr", "user_block", "/meshes/")}
ITS_MESHES = ("boxes", "packed_boxes", "bare_boxes")


def arrays_of(data):
    names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    return {n: vtk_to_numpy(data.GetAbstractArray(n)) for n in names if n != "vtkGhostType"}


def compare_arrays(want, found, where):
    for name, values in want.items():
        expect(name in found and np.array_equal(found[name], values), "%s: '%s' differs", where, name)
        compared[0] += values.size


def compare(path, its, ours):
    for reader in (its, ours):
        reader.UpdatePipeline()
    want, found = leaves(output_of(its)), leaves(output_of(ours))
    expect(len(want) == len(found), "%s: %d blocks, its %d", path, len(found), len(want))
    for number, grids in enumerate(zip(want, found)):
        where = "%s block %d" % (path, number)
        bounds = [grid.GetBounds() for grid in grids]
        expect(np.allclose(*bounds, rtol=1e-12, atol=1e-12), "%s: bounds %s, its %s", where, bounds[1], bounds[0])
        for kind in ("GetCellData", "GetPointData"):
            compare_arrays(*(arrays_of(getattr(grid, kind)()) for grid in grids), where)


def mesh_of(reader):
    """Returns all arrays of a mesh, by name. The reader of ParaView 5.11 joins the partitions in one grid."""
    reader.UpdatePipeline()
    grids = leaves(output_of(reader))
    before = np.cumsum([0] + [g.GetNumberOfPoints() for g in grids])
    found = {"points": [vtk_to_numpy(g.GetPoints().GetData()) for g in grids],
             "types": [vtk_to_numpy(g.GetCellTypesArray()) for g in grids],
             "nodes": [vtk_to_numpy(g.GetCells().GetConnectivityArray()) + first for g, first in zip(grids, before)]}
    for kind in ("GetPointData", "GetCellData"):
        for grid in grids:
            for name, values in arrays_of(getattr(grid, kind)()).items():
                found.setdefault("%s '%s'" % (kind, name), []).append(values)
    return {name: np.concatenate(values) for name, values in found.items()}


def amrex(path, _):
    its = simple.AMReXBoxLibGridReader(FileNames=[path])
    its.Level = 30
    its.UpdatePipelineInformation()
    its.CellArrayStatus = its.CellArrayStatus.Available
    ours = simple.PatchReader(FileName=[path], Blocks="As patches", ListedDumpsOnly=1, ComposeVectors=0)
    compare(path, its, ours)
    its_times, times = (list(np.atleast_1d(np.asarray(reader.TimestepValues, float))) for reader in (its, ours))
    expect(its_times in ([], times), "%s: times %s, its %s", path, times, its_times)


def vtkhdf(path, scratch):
    copy = shutil.copy(path, os.path.join(scratch, path.replace("/", "_") + ".hdf"))    # ParaView's reader rejects other endings
    its = simple.VTKHDFReader(FileName=[copy])
    if "/meshes/" in path:
        compare_arrays(mesh_of(its), mesh_of(simple.PatchReader(FileName=[path], ComposeVectors=0)), path)
    else:
        compare(path, its, simple.PatchReader(FileName=[path], Blocks="As patches", ComposeVectors=0))


def main():
    kind, folder = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))
    if kind == "AMReX":
        found = [os.path.dirname(os.path.dirname(path)) for path in glob.glob(folder + "/**/Level_0/Cell_H", recursive=True)]
    else:
        found = glob.glob(folder + "/**/*.*hdf", recursive=True)
    paths = [path for path in sorted(found) if not any(name in path for name in BEYOND_IT[kind])]
    if kind == "VTKHDF":
        paths += [os.path.join(folder, "meshes", name, "mesh.vtkhdf") for name in ITS_MESHES]
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            {"AMReX": amrex, "VTKHDF": vtkhdf}[kind](path, scratch)
    expect(compared[0] > 10000, "only %d values were compared", compared[0])
    finish("peer: %d files" % len(paths))


if __name__ == "__main__":
    main()
