"""Writes VTKHDF files with VTK's own vtkHDFWriter, and saves the data that VTK's own vtkHDFReader finds in these and in given
files. Runs in a separate process, in a Python with the newest VTK (pip install vtk).

usage: vtk_files.py FOLDER [FILE...] (FOLDER/truth: an .npz for each file, and truth.json, which describes the files)

Each npz has "<step>/<grid>/<what>": of images extent, origin, spacing; of meshes points, types, and of each list of cells
connectivity and offsets; cell/NAME and point/NAME. A file without steps has step 0.
"""
import itertools
import json
import os
import sys
import warnings

import numpy as np
import vtk
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ParaView"))
from leaves import leaves  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)
TIMES = [0.0, 0.5, 2.0]
# Cell types that vtkCellTypeSource makes.
SOURCES = [vtk.VTK_LINE, vtk.VTK_QUADRATIC_EDGE, vtk.VTK_CUBIC_LINE, vtk.VTK_TRIANGLE, vtk.VTK_QUADRATIC_TRIANGLE, vtk.VTK_QUAD,
           vtk.VTK_QUADRATIC_QUAD, vtk.VTK_BIQUADRATIC_QUAD, vtk.VTK_TETRA, vtk.VTK_QUADRATIC_TETRA, vtk.VTK_HEXAHEDRON,
           vtk.VTK_QUADRATIC_HEXAHEDRON, vtk.VTK_TRIQUADRATIC_HEXAHEDRON, vtk.VTK_WEDGE, vtk.VTK_QUADRATIC_WEDGE, vtk.VTK_PYRAMID,
           vtk.VTK_QUADRATIC_PYRAMID, vtk.VTK_PENTAGONAL_PRISM, vtk.VTK_HEXAGONAL_PRISM, vtk.VTK_LAGRANGE_CURVE, vtk.VTK_LAGRANGE_TRIANGLE,
           vtk.VTK_LAGRANGE_QUADRILATERAL, vtk.VTK_LAGRANGE_TETRAHEDRON, vtk.VTK_LAGRANGE_HEXAHEDRON, vtk.VTK_LAGRANGE_WEDGE,
           vtk.VTK_BEZIER_CURVE, vtk.VTK_BEZIER_TRIANGLE, vtk.VTK_BEZIER_QUADRILATERAL, vtk.VTK_BEZIER_TETRAHEDRON,
           vtk.VTK_BEZIER_HEXAHEDRON, vtk.VTK_BEZIER_WEDGE]
# Cells of all other types, made by hand with arbitrary points.
BY_HAND = [(vtk.VTK_VERTEX, 1), (vtk.VTK_POLY_VERTEX, 4), (vtk.VTK_POLY_LINE, 5), (vtk.VTK_TRIANGLE_STRIP, 6), (vtk.VTK_POLYGON, 5),
           (vtk.VTK_PIXEL, 4), (vtk.VTK_VOXEL, 8), (vtk.VTK_TRIQUADRATIC_PYRAMID, 19), (vtk.VTK_QUADRATIC_LINEAR_QUAD, 6),
           (vtk.VTK_QUADRATIC_LINEAR_WEDGE, 12), (vtk.VTK_BIQUADRATIC_QUADRATIC_WEDGE, 18), (vtk.VTK_BIQUADRATIC_QUADRATIC_HEXAHEDRON, 24),
           (vtk.VTK_BIQUADRATIC_TRIANGLE, 7)]


def fill(data, time=0.0):
    """Adds two arrays of cells and two of points, whose numbers depend on place and time."""
    for attributes, count, kind in ((data.GetCellData(), data.GetNumberOfCells(), "c"), (data.GetPointData(), data.GetNumberOfPoints(), "p")):
        attributes.Initialize()
        for suffix, components, dtype in (("s", 1, "f8"), ("v", 3, "f4"), ("i", 1, "i4")):
            values = np.arange(count * components, dtype=dtype).reshape(count, components) + np.dtype(dtype).type(10 * time)
            array = numpy_to_vtk(values.ravel() if components == 1 else values, deep=True)
            array.SetName(kind + suffix)
            attributes.AddArray(array)
    return data


def image(widths, time=0.0):
    data = vtk.vtkImageData()
    data.SetExtent(*[bound for axis, width in enumerate(widths) for bound in (axis, axis + width)])
    data.SetOrigin(1, 2, 3)
    data.SetSpacing(0.5, 1, 2)
    return fill(data, time)


def cells_of_type(kind, time=0.0):
    source = vtk.vtkCellTypeSource()
    source.SetCellType(kind)
    source.SetBlocksDimensions(2, 2, 2)
    if vtk.VTK_LAGRANGE_CURVE <= kind <= vtk.VTK_BEZIER_WEDGE:
        source.SetCellOrder(3)
    source.Update()
    return fill(source.GetOutput(), time)


def cells_by_hand(kinds):
    """Makes cells of the types in turn."""
    data, points = vtk.vtkUnstructuredGrid(), vtk.vtkPoints()
    for kind, nodes in kinds:
        ids = [points.InsertNextPoint(n % 3, n // 3 % 3, n // 9 + kind) for n in range(nodes)]
        data.InsertNextCell(kind, nodes, ids)
    data.SetPoints(points)
    return fill(data)


def mixed(time=0.0, polyhedra=False):
    joined = vtk.vtkAppendFilter()
    for kind in (vtk.VTK_HEXAHEDRON, vtk.VTK_QUADRATIC_TETRA, vtk.VTK_WEDGE, vtk.VTK_QUAD) + ((vtk.VTK_POLYHEDRON,) if polyhedra else ()):
        joined.AddInputData(cells_of_type(kind))
    joined.Update()
    return fill(joined.GetOutput(), time)


def poly(lists, time=0.0):
    """Makes polygonal data. lists: letters of v(ertices), l(ines), p(olygons), s(trips)."""
    data, points = vtk.vtkPolyData(), vtk.vtkPoints()
    for n in range(12):
        points.InsertNextPoint(n % 4, n // 4 % 3, time)
    data.SetPoints(points)
    for letter, put, cells in (("v", data.SetVerts, [[0], [5, 6]]), ("l", data.SetLines, [[0, 1], [1, 2, 3]]),
                               ("p", data.SetPolys, [[0, 1, 5], [1, 2, 6, 5], [4, 5, 9, 8]]), ("s", data.SetStrips, [[6, 7, 10, 11]])):
        if letter in lists:
            array = vtk.vtkCellArray()
            for cell in cells:
                array.InsertNextCell(len(cell), cell)
            put(array)
    return fill(data, time)


def several(make):
    """Makes a partitioned data set."""
    data = vtk.vtkPartitionedDataSet()
    for number, one in enumerate(make):
        data.SetPartition(number, one)
    return data


def collection(kind, parts):
    data = kind()
    for number, one in enumerate(parts):
        data.SetBlock(number, one) if data.IsA("vtkMultiBlockDataSet") else data.SetPartition(number, 0, one)
    return data


class Source(VTKPythonAlgorithmBase):
    """A time series of the data sets make(time)."""

    def __init__(self, make):
        self.make = make
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType=make(TIMES[0]).GetClassName())

    def RequestInformation(self, request, inputs, outputs):
        info, pipeline = outputs.GetInformationObject(0), vtk.vtkStreamingDemandDrivenPipeline
        info.Set(pipeline.TIME_STEPS(), TIMES, len(TIMES))
        info.Set(pipeline.TIME_RANGE(), [TIMES[0], TIMES[-1]], 2)
        if self.OutputType == "vtkImageData":
            info.Set(pipeline.WHOLE_EXTENT(), self.make(TIMES[0]).GetExtent(), 6)
        return 1

    def RequestData(self, request, inputs, outputs):
        info, wanted = outputs.GetInformationObject(0), vtk.vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
        time = info.Get(wanted) if info.Has(wanted) else TIMES[0]
        data = vtk.vtkDataObject.GetData(outputs)
        data.ShallowCopy(self.make(time))
        data.GetInformation().Set(vtk.vtkDataObject.DATA_TIME_STEP(), time)
        return 1


def cases():
    """Yields name, data object or Source to write, settings of the writer (Set...()), and PatchIO's message if it does not support
    the file"""
    for widths in itertools.product((0, 1, 4), (0, 1, 3), (0, 1, 5)):
        yield "image_%d_%d_%d" % widths, image(widths), {}, None
    for widths in ((4, 3, 0), (4, 0, 5), (0, 3, 5), (4, 0, 0), (0, 0, 0), (4, 3, 5)):
        yield "image_steps_%d_%d_%d" % widths, Source(lambda time, widths=widths: image(widths, time)), {}, None
        yield "image_packed_%d_%d_%d" % widths, image(widths), {"CompressionLevel": 5, "ChunkSize": 7}, None
    for kind in SOURCES:
        yield "cells_%d" % kind, cells_of_type(kind), {}, None
    for kind, nodes in BY_HAND:
        yield "cell_%d" % kind, cells_by_hand([(kind, nodes)]), {}, None
    polyhedra = r"cells of type 42 \(polyhedra\) in 'VTKHDF/PolyhedronToFaces'"
    yield "cells_all", cells_by_hand(BY_HAND), {}, None
    yield "cells_mixed", mixed(), {}, None
    yield "cells_42", cells_of_type(vtk.VTK_POLYHEDRON), {}, polyhedra
    yield "cells_mixed_42", mixed(polyhedra=True), {}, polyhedra
    yield "cells_none", fill(vtk.vtkUnstructuredGrid()), {}, None
    for level in (0, 1, 9):
        yield "cells_packed_%d" % level, mixed(), {"CompressionLevel": level, "ChunkSize": 10}, None
        yield "poly_packed_%d" % level, poly("vlps"), {"CompressionLevel": level, "ChunkSize": 10}, None
    for count in range(5):
        for lists in itertools.combinations("vlps", count):
            yield "poly_" + ("".join(lists) or "none"), poly(lists), {}, None
    grid = cells_of_type(vtk.VTK_HEXAHEDRON)

    def steady(time):
        data = vtk.vtkUnstructuredGrid()
        data.ShallowCopy(grid)  # the same points and cells
        return fill(data, time)

    series = [("steady", steady), ("changing", lambda time: cells_of_type(vtk.VTK_TETRA if time == 0.5 else vtk.VTK_HEXAHEDRON, time)),
              ("poly", lambda time: poly("vlps", time)), ("lists", lambda time: poly("vp" if time == 0.5 else "ls", time))]
    for name, make in series:
        yield "steps_" + name, Source(make), {}, None
        yield "steps_packed_" + name, Source(make), {"CompressionLevel": 4, "ChunkSize": 10}, None
        if name != "lists":    # VTK 9.7.2 writes wrong offsets for lists that are empty at some steps
            yield "steps_outside_" + name, Source(make), {"UseExternalTimeSteps": True}, \
                "virtual data set of a mesh without 'NumberOfPoints' in 'VTKHDF/" if name == "steady" else None
    yield "steps_42", Source(lambda time: cells_of_type(vtk.VTK_POLYHEDRON, time)), {}, polyhedra
    for name, parts in (("cells", [grid, mixed(), cells_by_hand(BY_HAND)]), ("poly", [poly("vlps"), poly("p"), poly("ls")])):
        yield "parts_" + name, several(parts), {}, None
        yield "parts_packed_" + name, several(parts), {"CompressionLevel": 4, "ChunkSize": 10}, None
        outside = [poly("vlps")] * 3 if name == "poly" else parts    # wrong offsets for lists that are empty in some
        yield "parts_outside_" + name, several(outside), {"UseExternalPartitions": True}, None
        for kind in (vtk.vtkMultiBlockDataSet, vtk.vtkPartitionedDataSetCollection):
            for outside in (False, True):
                yield "%s_%s_%d" % (kind.__name__, name, outside), collection(kind, parts), {"UseExternalComposite": outside}, \
                    "VTKHDF file of type '%s'" % kind.__name__[3:]


def write(path, what, options):
    writer = vtk.vtkHDFWriter()
    writer.SetFileName(path)
    if isinstance(what, Source):
        writer.SetInputConnection(what.GetOutputPort())
        writer.SetWriteAllTimeSteps(True)
    else:
        writer.SetInputDataObject(what)
    for name, value in options.items():
        getattr(writer, "Set" + name)(value)
    if not writer.Write():
        raise RuntimeError("vtkHDFWriter cannot write " + path)


def describe(grid):
    """Returns the arrays of a grid by their names."""
    arrays = {}
    lists = []
    if grid.IsA("vtkImageData"):
        arrays = {"extent": grid.GetExtent(), "origin": grid.GetOrigin(), "spacing": grid.GetSpacing()}
    else:
        arrays["points"] = vtk_to_numpy(grid.GetPoints().GetData()) if grid.GetNumberOfPoints() else np.zeros((0, 3))
        if grid.IsA("vtkPolyData"):
            lists = [("Vertices/", grid.GetVerts()), ("Lines/", grid.GetLines()), ("Polygons/", grid.GetPolys()), ("Strips/", grid.GetStrips())]
        elif grid.GetNumberOfCells():
            lists = [("", grid.GetCells())]
            arrays["types"] = vtk_to_numpy(grid.GetCellTypes() if hasattr(grid, "GetCellTypes") and grid.GetCellTypes.__doc__.count("DataArray")
                                           else grid.GetCellTypesArray())
    for name, cells in lists:
        if cells.GetNumberOfCells():
            arrays[name + "connectivity"] = vtk_to_numpy(cells.GetConnectivityArray())
            arrays[name + "offsets"] = vtk_to_numpy(cells.GetOffsetsArray())
    for place, attributes in (("cell/", grid.GetCellData()), ("point/", grid.GetPointData())):
        for i in range(attributes.GetNumberOfArrays()):
            arrays[place + attributes.GetArrayName(i)] = vtk_to_numpy(attributes.GetAbstractArray(i))
    return {name: np.array(values) for name, values in arrays.items()}


def written(source):
    """Returns the expected data. The reader of VTK 9.7 reads offsets from a wrong place if a list of cells is empty at some
    steps."""
    return TIMES, {"%d/0/%s" % (step, name): values for step, time in enumerate(TIMES) for name, values in describe(source.make(time)).items()}


def read(path):
    """Returns all output of vtkHDFReader: times, and the arrays of all steps."""
    reader = vtk.vtkHDFReader()
    reader.SetFileName(path)
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()) or [0.0]
    arrays = {}
    for step, time in enumerate(times):
        reader.UpdateTimeStep(time)
        for number, grid in enumerate(leaves(reader.GetOutputDataObject(0))):
            for name, values in describe(grid).items():
                arrays["%d/%d/%s" % (step, number, name)] = values
    return list(times), arrays


def main():
    folder, *given = sys.argv[1:]
    os.makedirs(folder + "/truth")
    table = []

    def keep(name, path, unsupported, what=None):
        told = {"name": name, "path": path, "unsupported": unsupported}
        if unsupported is None:
            told["times"], arrays = written(what) if name in ("steps_lists", "steps_packed_lists") else read(path)
            np.savez(folder + "/truth/%s.npz" % name, **arrays)
        table.append(told)

    for name, what, options, unsupported in cases():
        path = os.path.join(folder, name + ".vtkhdf")
        write(path, what, options)
        keep(name, path, unsupported, what)
    for path in given:
        keep("given_" + os.path.basename(path), path, None)
    with open(folder + "/truth/truth.json", "w") as file:
        json.dump(table, file)
    print("%d files by VTK %s" % (len(table), vtk.vtkVersion.GetVTKVersion()))


if __name__ == "__main__":
    main()
