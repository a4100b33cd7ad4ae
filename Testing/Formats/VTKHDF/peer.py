"""Compares the output of Patch Reader for VTKHDF files with that of ParaView's own reader, and checks which reader ParaView
chooses.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Formats/VTKHDF/peer.py FOLDER
"""
import glob
import os
import shutil
import sys
import tempfile

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ParaView"))
from leaves import leaves  # noqa: E402

# ParaView 5.11's reader does not support 2-D AMR, levels with different arrays, and images with cells or with another first index
# than 0. It shows AMR without arrays at nodes. It does not support several steps in a file, polygonal data, partitions without
# points, and cell types of other sizes.
BEYOND_IT = ("amr_2d", "missing_3d", "image_2d", "image_3d", "/flat_", "/kept_", "packed_image", "image_steps", "packed_steps", "one_step", "steady_amr",
             "changing_amr", "/meshes/")
ITS_MESHES = ("boxes", "packed_boxes", "bare_boxes")


def output_of(reader):
    reader.UpdatePipeline()
    return reader.GetClientSideObject().GetOutputDataObject(0)


def arrays_of(data):
    names = [data.GetArrayName(i) for i in range(data.GetNumberOfArrays())]
    return {n: vtk_to_numpy(data.GetAbstractArray(n)) for n in names if n != "vtkGhostType"}


def compare(path, scratch):
    """Returns the number of values compared."""
    hdf = shutil.copy(path, os.path.join(scratch, "copy.hdf"))    # the reader rejects other endings
    its = simple.VTKHDFReader(FileName=[hdf])
    ours = simple.PatchReader(FileName=[path], Blocks="As patches", ComposeVectors=0)
    want, found = leaves(output_of(its)), leaves(output_of(ours))
    assert len(want) == len(found), "%s: %d blocks, its %d" % (path, len(found), len(want))
    compared = 0
    for number, (its_grid, our_grid) in enumerate(zip(want, found)):
        where = "%s block %d" % (path, number)
        bounds = np.array(its_grid.GetBounds()), np.array(our_grid.GetBounds())
        assert np.allclose(*bounds, rtol=1e-12, atol=1e-12), "%s: bounds %s, its %s" % (where, bounds[1], bounds[0])
        for its_data, our_data in ((its_grid.GetCellData(), our_grid.GetCellData()), (its_grid.GetPointData(), our_grid.GetPointData())):
            our_arrays = arrays_of(our_data)
            for name, values in arrays_of(its_data).items():
                assert name in our_arrays and np.array_equal(our_arrays[name], values), "%s: '%s' differs" % (where, name)
                compared += values.size
    simple.Delete(its)
    simple.Delete(ours)
    return compared


def mesh_of(grids):
    """Returns all arrays of the grids of a mesh, concatenated, by name."""
    before = np.cumsum([0] + [g.GetNumberOfPoints() for g in grids])
    found = {"points": [vtk_to_numpy(g.GetPoints().GetData()) for g in grids],
             "types": [vtk_to_numpy(g.GetCellTypesArray()) for g in grids],
             "nodes": [vtk_to_numpy(g.GetCells().GetConnectivityArray()) + first for g, first in zip(grids, before)]}
    for kind in ("GetPointData", "GetCellData"):
        for grid in grids:
            for name, values in arrays_of(getattr(grid, kind)()).items():
                found.setdefault("%s '%s'" % (kind, name), []).append(values)
    return {name: np.concatenate(values) for name, values in found.items()}


def compare_mesh(path, scratch):
    """Compares a mesh. The reader of ParaView 5.11 joins the partitions in one grid."""
    its = simple.VTKHDFReader(FileName=[shutil.copy(path, os.path.join(scratch, "copy.hdf"))])
    ours = simple.PatchReader(FileName=[path], ComposeVectors=0)
    want, found = mesh_of(leaves(output_of(its))), mesh_of(leaves(output_of(ours)))
    for name, values in want.items():
        assert np.array_equal(values, found.get(name)), "%s: %s differ" % (path, name)
    simple.Delete(its)
    simple.Delete(ours)
    return sum(values.size for values in want.values())


def readers_for(path):
    factory = servermanager.vtkSMProxyManager.GetProxyManager().GetReaderFactory()
    found = factory.GetReaders(path, servermanager.ActiveConnection.Session)
    return [found.GetString(i + 1) for i in range(0, found.GetNumberOfStrings(), 3)]


def main():
    folder, = sys.argv[1:]
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))
    compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(glob.glob(folder + "/**/*.*hdf", recursive=True)):
            if not any(name in path for name in BEYOND_IT):
                compared += compare(path, scratch)
        for name in ITS_MESHES:
            compared += compare_mesh(os.path.join(folder, "meshes", name, "mesh.vtkhdf"), scratch)
    assert compared > 10000, "only %d values were compared" % compared
    amr = os.path.join(folder, "amr_3d", "amr.vtkhdf")
    assert "PatchReader" in readers_for(amr), readers_for(amr)
    assert "PatchReader" in readers_for(os.path.join(folder, "image_2d", "image.hdf"))
    print("peer: %d values are those of ParaView's reader" % compared)


if __name__ == "__main__":
    main()
