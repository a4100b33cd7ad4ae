"""The package patchio.vtk: the reader against numpy, the filters against known areas and volumes, the writer, and PyVista's accessor.

usage: vtk_classes.py PACKAGE DATA SCRATCH
       vtk_classes.py PACKAGE DATA pyvista      (skipped without PyVista)

PACKAGE: the folder of the package patchio. DATA: Data/linadv_3d/dumps.visit, whose domain is 1 x 0.5 x 0.5.
"""
import itertools
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "ParaView"), sys.argv[1]]
import patchio  # noqa: E402
from leaves import leaves  # noqa: E402
from patchio import _grids, vtk  # noqa: E402
from values import check_values, compared, expect, failed  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # noqa: E402
from vtkmodules.vtkCommonCore import VTK_ID_TYPE, VTK_STRING, VTK_UNSIGNED_LONG, vtkPoints  # noqa: E402
from vtkmodules.vtkCommonDataModel import (vtkCellArray, vtkDataObject, vtkImageData, vtkMultiBlockDataSet, vtkPlane, vtkPolyData,  # noqa: E402
                                           vtkRectilinearGrid, vtkStructuredGrid)
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter  # noqa: E402

VOLUME = 0.25
CENTER = (0.5, 0.25, 0.25)


def opened(path):
    reader = vtk.vtkPatchReader()
    reader.AddFileName(path)
    reader.Update()
    return reader


def array_of(grid, name):
    return vtk_to_numpy(grid.GetCellData().GetArray(name))


def visible(grid):
    """Returns which cells of a grid are not hidden."""
    flags = grid.GetCellData().GetArray("vtkGhostType")
    return vtk_to_numpy(flags) == 0 if flags else np.ones(grid.GetNumberOfCells(), bool)


def size_of(output, name):
    """Returns the area or volume of all visible cells."""
    total = 0
    for leaf in leaves(output):
        sizes = vtkCellSizeFilter()
        sizes.SetInputDataObject(leaf)
        sizes.Update()
        total += array_of(sizes.GetOutput(), name)[visible(leaf)].sum()
    return total


def close(found, want, tolerance, what):
    compared[0] += 1
    expect(abs(found - want) <= tolerance * want, "%s: %g instead of %g", what, found, want)


def check_reader(path):
    """Values of all patches, level by level, and the volume of the visible cells."""
    reader = opened(path)
    step = patchio.open(path)[0]
    output = reader.GetOutputDataObject(0)
    for level in range(output.GetNumberOfBlocks()):
        numbers = np.nonzero(step.patches["level"] == level)[0]
        for name, variable in step.variables.items():
            if variable.centering != "cell":
                continue
            want = np.sort(np.concatenate([step.read(name, patches=[number])[number].ravel() for number in numbers]))
            found = [array_of(grid, name).ravel() for grid in leaves(output.GetBlock(level))]
            check_values(np.sort(np.concatenate(found)), want, "%s of level %d" % (name, level))
    close(size_of(output, "Volume"), VOLUME, 1e-9, "volume")
    return reader


def check_blocks(path):
    """All forms of blocks have the same visible cells, with the same values."""
    step, shown = patchio.open(path)[-1], {}
    for form in ("patches", "merged", "fewest"):
        grids = [grid for _, _, grid in _grids.grids_of(step, ["uval"], None, None, blocks=form)]
        shown[form] = np.sort(np.concatenate([array_of(grid, "uval")[visible(grid)] for grid in grids]))
        close(sum(size_of(grid, "Volume") for grid in grids), VOLUME, 1e-9, "volume of blocks=%s" % form)
        check_values(shown[form], shown["patches"], "blocks=%s" % form)


def add_distance(output):
    """Adds the distance from the center to all cells."""
    for grid in leaves(output):
        bounds, sizes = grid.GetBounds(), [n - 1 for n in grid.GetDimensions()]
        axes = [np.linspace(bounds[2 * a], bounds[2 * a + 1], sizes[a] + 1) for a in range(3)]
        x, y, z = [(axis[1:] + axis[:-1]) / 2 - CENTER[a] for a, axis in enumerate(axes)]
        array = numpy_to_vtk(np.sqrt(x[None, None, :] ** 2 + y[None, :, None] ** 2 + z[:, None, None] ** 2).ravel(), 1)
        array.SetName("distance")
        grid.GetCellData().AddArray(array)


def run(kind, data, **settings):
    """Returns the output of a filter whose input is `data`."""
    made = getattr(vtk, kind)()
    for setter, value in settings.items():
        getattr(made, setter)(*(value if isinstance(value, tuple) else (value,)))
    made.SetInputDataObject(data)
    made.Update()
    return made.GetOutputDataObject(0)


def check_filters(output):
    """Slice, clip, threshold, contour and surface of known size."""
    add_distance(output)
    plane = vtkPlane()
    plane.SetOrigin(0.5, 0.26, 0.25)
    plane.SetNormal(0, 1, 0)
    close(size_of(run("vtkPatchSlice", output, SetCutFunction=plane), "Area"), 0.5, 1e-6, "slice")
    close(size_of(run("vtkPatchClip", output, SetClipFunction=plane), "Volume"), 0.24 * 0.5, 1e-6, "clip")
    close(size_of(run("vtkPatchSurface", output), "Area"), 2.5, 1e-6, "surface")
    by_distance = {"SetInputArrayToProcess": (0, 0, 0, vtkDataObject.CELL, "distance")}
    ball = run("vtkPatchThreshold", output, SetUpperThreshold=0.2, **by_distance)
    inside = sum((array_of(grid, "distance")[visible(grid)] <= 0.2).sum() for grid in leaves(output))
    expect(sum(leaf.GetNumberOfCells() for leaf in leaves(ball)) == inside, "threshold: not %d cells", inside)
    contour = run("vtkPatchContour", output, SetValue=(0, 0.2), **by_distance)
    close(size_of(contour, "Area"), 4 * np.pi * 0.04, 0.03, "area of the sphere")


def errors_of(algorithm):
    """Returns a list that gets the errors of an algorithm from now on."""
    said = []

    def collect(_object, _event, text):
        said.append(text)

    collect.CallDataType = VTK_STRING
    algorithm.AddObserver("ErrorEvent", collect)
    return said


def check_errors():
    """A missing file gives an error event."""
    reader = vtk.vtkPatchReader()
    said = errors_of(reader)
    reader.AddFileName("/nonexistent/dumps.visit")
    reader.Update()
    expect(any("/nonexistent/dumps.visit: No such file" in text for text in said), "errors %s", said)


def writer_of(path):
    """Returns a writer, and the list of its errors."""
    writer = vtk.vtkPatchWriter()
    writer.SetFileName(path)
    return writer, errors_of(writer)


def add(attributes, name, values):
    array = numpy_to_vtk(np.asarray(values), deep=1)
    array.SetName(name)
    attributes.AddArray(array)


def image(time, values=64):
    """Returns an image of 4 x 4 x 4 cells with the cell array "a", which has `values` values, and the time `time` as field data."""
    grid = vtkImageData()
    grid.SetDimensions(5, 5, 5)
    add(grid.GetCellData(), "a", np.arange(float(values)))
    add(grid.GetFieldData(), "time", [time])
    return grid


def rectilinear(heights, labels=None):
    """Returns a rectilinear grid of 4 x 4 cells per layer."""
    grid = vtkRectilinearGrid()
    grid.SetDimensions(5, 5, len(heights))
    grid.SetXCoordinates(numpy_to_vtk(np.arange(5.0), deep=1))
    grid.SetYCoordinates(numpy_to_vtk(np.arange(5.0), deep=1))
    grid.SetZCoordinates(numpy_to_vtk(np.array(heights, float), deep=1))
    if labels:
        add(grid.GetFieldData(), "levels", labels)
    return grid


def written(path, data, points=None):
    """Writes data and returns the leaves of the container. `points`: the point array to write; None: all arrays."""
    writer, said = writer_of(path)
    writer.SetInputDataObject(data)
    if points:
        writer.ChooseArraysOn()
        writer.GetPointDataArraySelection().EnableArray(points)
    expect(writer.Write() == 1, "%s: %s", path, said)
    compared[0] += 1
    return leaves(opened(path).GetOutputDataObject(0))


def check_failed_writes(folder):
    """The next call writes a step whose write failed. A container of an earlier run is replaced, also if the first write failed."""
    path = os.path.join(folder, "failed.pio")
    rotated = image(2.0)    # not supported
    rotated.SetDirectionMatrix(0, 1, 0, -1, 0, 0, 0, 0, 1)
    cases = (((image(0.0), image(1.0), rotated, image(2.0)), [1, 1, 0, 1], [0, 1, 2]), ((rotated, image(5.0)), [0, 1], [5]))
    for background, (grids, done, times) in itertools.product((False, True), cases):
        writer, said = writer_of(path)
        writer.SetWriteInBackground(background)
        found = []
        for grid in grids:
            writer.SetInputDataObject(grid)
            found.append(writer.Write())
        del writer    # waits for the last write
        expect(found == done and len(said) == 1, "failed writes: %s instead of %s, errors %s", found, done, said)
        check_values(patchio.open(path).times, np.array(times, float), "times after a failed write")


def check_written_steps(reader, folder):
    """If a call repeats a step of an earlier call, the call begins a new container. A stride may be the greatest int."""
    writer, said = writer_of(os.path.join(folder, "steps.pio"))
    writer.SetInputConnection(reader.GetOutputPort())
    writer.WriteAllTimeStepsOn()
    for first, last, stride, numbers in ((2, 2, 1, [32]), (0, -1, 1, [0, 16, 32, 48]), (1, -1, 2**31 - 1, [16])):
        writer.SetMinTimeStep(first)
        writer.SetMaxTimeStep(last)
        writer.SetTimeStepStride(stride)
        expect(writer.Write() == 1, "steps %s: %s", numbers, said)
        check_values(patchio.open(writer.GetFileName()).numbers, np.array(numbers), "numbers of steps")


def check_hidden(folder):
    """Hidden cells stay hidden in grids with undefined points. Hidden points with values get an array of flags."""
    grid = rectilinear(range(5))
    hidden, values = np.zeros(125, np.uint8), np.arange(125.0)
    hidden[0], values[0] = 2, np.nan
    add(grid.GetPointData(), "vtkGhostType", hidden)
    add(grid.GetPointData(), "undefined", values)
    cells = np.zeros(64, np.uint8)
    cells[[0, 63]] = 32    # at the hidden point, as in the reader's output, and in the opposite corner
    add(grid.GetCellData(), "vtkGhostType", cells)
    found = written(os.path.join(folder, "hidden_cell.pio"), grid)
    close(sum(visible(leaf).sum() for leaf in found), 62, 0, "visible cells")
    expect(not any(leaf.GetPointData().HasArray("ghost flags") for leaf in found), "flags of undefined points")
    add(grid.GetPointData(), "defined", np.arange(125.0))
    for points in (None, "defined"):
        found = written(os.path.join(folder, "hidden_point.pio"), grid, points)
        expect(all(leaf.GetPointData().HasArray("ghost flags") for leaf in found), "no flags of defined points")


def check_labels(folder):
    """Grids that lie one above the other, each with its own indices, keep the labels of their layers."""
    tree, labels = vtkMultiBlockDataSet(), {0: 1000, 1: 850, 2: 700, 3: 500}
    for block, heights in enumerate(((0, 1, 2), (2, 3))):
        tree.SetBlock(block, rectilinear(heights, [float(labels[height]) for height in heights]))
        add(tree.GetBlock(block).GetCellData(), "a", np.arange(16.0 * (len(heights) - 1)))
    for leaf in written(os.path.join(folder, "labels.pio"), tree):
        kept = leaf.GetFieldData().GetArray("levels")
        expect(kept is not None, "no labels")
        check_values(vtk_to_numpy(kept), np.array([labels[height] for height in vtk_to_numpy(leaf.GetZCoordinates())], float), "labels")


def check_integer_positions(folder):
    """Positions of integer types, among them numbers that other types cannot represent."""
    corner, cube, vertices = vtkPolyData(), vtkStructuredGrid(), vtkCellArray()
    vertices.InsertNextCell(8, list(range(8)))
    corner.SetVerts(vertices)
    cube.SetDimensions(2, 2, 2)
    for grid, kind, dtype, far in ((cube, VTK_ID_TYPE, np.int64, 2**24 + 1), (corner, VTK_UNSIGNED_LONG, np.uint64, 2**63 + 1)):
        positions, points = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, far)], dtype), vtkPoints()
        points.SetData(numpy_to_vtk(positions, deep=1, array_type=kind))
        grid.SetPoints(points)
        add(grid.GetCellData(), "a", [1.0])
        leaf, = written(os.path.join(folder, grid.GetClassName() + ".pio"), grid)
        check_values(vtk_to_numpy(leaf.GetPoints().GetData()), positions, "positions of " + grid.GetClassName())


def check_sizes(folder):
    """Arrays that are shorter than their grid are errors."""
    short = rectilinear(range(5))
    short.SetZCoordinates(numpy_to_vtk(np.arange(3.0), deep=1))
    flags = image(0.0)
    add(flags.GetCellData(), "vtkGhostType", np.full(32, 32, np.uint8))
    for grid, words in ((image(0.0, 32), "'a' has values for 32 cells, but the grid has 64"), (short, "5 points along axis 2"),
                        (flags, "'vtkGhostType' has values for 32 cells")):
        writer, said = writer_of(os.path.join(folder, "sizes.pio"))
        writer.SetInputDataObject(grid)
        expect(writer.Write() == 0 and any(words in text for text in said), "%s: %s", words, said)


def check_pyvista(path):
    """The accessor of PyVista against PyVista's own filters, and against known areas."""
    try:
        import pyvista
        from pyvista import register_dataset_accessor  # noqa: F401
    except ImportError as error:
        print("skipped: no PyVista with accessors: %s" % error)
        sys.exit(77)
    mesh = pyvista.wrap(vtk.multiblock(opened(path).GetOutputDataObject(0)))
    for mesh in (mesh, patchio.open(path)[0].to_pyvista()):
        add_distance(mesh)
        close(mesh.patchio.slice("y", (0.5, 0.26, 0.25)).area, 0.5, 1e-6, "slice")
        close(mesh.patchio.clip("y", (0.5, 0.26, 0.25), invert=False).volume, 0.24 * 0.5, 1e-6, "clip")
        close(mesh.patchio.extract_surface().area, 2.5, 1e-6, "surface")
        sphere = mesh.patchio.contour([0.2], "distance")
        close(sphere.area, 4 * np.pi * 0.04, 0.03, "area of the sphere")
        expect(isinstance(sphere, vtkPolyData) and sphere.n_open_edges == 0, "the sphere has open edges")
        ball = mesh.patchio.threshold((0, 0.2), "distance")
        expect(0 < ball.n_cells and ball["distance"].max() <= 0.2, "threshold")
        expect(mesh.patchio.contour(3, "distance").n_cells > sphere.n_cells, "three contours")
        for call, fault in (("contour([1], 'nothing')", "'nothing'"), ("slice('w')", "normal")):
            try:
                eval("mesh.patchio." + call)
                expect(False, "%s: no error", call)
            except ValueError as error:
                expect(fault in str(error), "%s: %s", call, error)


def main():
    path, scratch = sys.argv[2:4]
    if scratch == "pyvista":
        check_pyvista(path)
    else:
        os.makedirs(scratch, exist_ok=True)
        check_blocks(path)
        reader = check_reader(path)
        check_written_steps(opened(path), scratch)
        for check in (check_failed_writes, check_hidden, check_labels, check_integer_positions, check_sizes):
            check(scratch)
        check_filters(reader.GetOutputDataObject(0))
        check_errors()
    print("%s: %d values compared" % ("FAILED" if failed or compared[0] < 8 else "passed", compared[0]))


main()
