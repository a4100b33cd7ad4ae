"""Tests that Save Data and extractors write the output of ParaView's own sources and scripts into containers, which return the same
data.

usage: Testing/ParaView/pvbatch.sh NP save_grids.py OUTPUT DATA

Runs on every rank; a source gives each rank a part. OUTPUT gets the containers; DATA is the project's own folder, of SAMRAI.
stranger.py, which is based only on the documentation of the format, also reads the values of one container.
"""
import os
import sys

import numpy as np
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import VTK_EMPTY_CELL
from vtkmodules.vtkFiltersCore import vtkCellCenters

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
for folder in ("AMReX", "Container"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", folder))
import stranger  # noqa: E402
from on_ranks import controller, expect, finish, from_all_ranks, leaves, new_container, output_of, rank, ranks, said_by, sum_over_ranks  # noqa: E402
from plotfile_writer import write_plotfile  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
scratch, data = sys.argv[1:3]
os.makedirs(scratch, exist_ok=True)

RECTILINEAR = """
from vtkmodules.vtkCommonCore import vtkDoubleArray
image, grid = self.GetInputDataObject(0, 0), self.GetOutputDataObject(0)
extent = image.GetExtent()
grid.SetExtent(extent)
for axis, take in enumerate((grid.SetXCoordinates, grid.SetYCoordinates, grid.SetZCoordinates)):
    positions = vtkDoubleArray()
    for i in range(extent[2 * axis], extent[2 * axis + 1] + 1):
        positions.InsertNextValue(i + 0.01 * i * abs(i))
    take(positions)
grid.GetPointData().ShallowCopy(image.GetPointData())
"""
STRUCTURED = """
from vtkmodules.vtkCommonCore import vtkPoints
image, grid = self.GetInputDataObject(0, 0), self.GetOutputDataObject(0)
grid.SetExtent(image.GetExtent())
points = vtkPoints()
for i in range(image.GetNumberOfPoints()):
    x, y, z = image.GetPoint(i)
    points.InsertNextPoint(x + 0.01 * y * z, y - 0.02 * x, z + 0.03 * x)
grid.SetPoints(points)
grid.GetPointData().ShallowCopy(image.GetPointData())
"""
# Independent blocks with arrays of many types; one block has a hole of hidden cells.
TILES = """
import vtk
from vtkmodules.vtkParallelCore import vtkMultiProcessController
controller = vtkMultiProcessController.GetGlobalController()
tree = self.GetOutputDataObject(0)
for tile in range(3):
    tree.SetBlock(tile, None)
    if tile % controller.GetNumberOfProcesses() != controller.GetLocalProcessId():
        continue
    image = vtk.vtkImageData()
    image.SetDimensions(5, 5, 5)
    image.SetOrigin(4 * tile + 0.5, 0, 0)
    for name in ("SignedChar", "UnsignedInt", "LongLong", "UnsignedLong", "IdType", "Short", "UnsignedShort", "Double"):
        array = getattr(vtk, "vtk%sArray" % name)()
        array.SetName(name)
        array.SetNumberOfComponents(2 if name == "Short" else 1)
        array.SetNumberOfTuples(64)
        for i in range(array.GetNumberOfValues()):
            array.SetValue(i, (i + tile) % 100 + (4000000000 if name == "UnsignedInt" else 0))
        image.GetCellData().AddArray(array)
    texts, flags = vtk.vtkStringArray(), vtk.vtkUnsignedCharArray()
    texts.SetName("words")
    texts.SetNumberOfValues(64)
    image.GetCellData().AddArray(texts)
    if tile == 1:
        flags.SetName("vtkGhostType")
        flags.SetNumberOfTuples(64)
        flags.Fill(0)
        flags.SetValue(21, vtk.vtkDataSetAttributes.HIDDENCELL)
        image.GetCellData().AddArray(flags)
    tree.SetBlock(tile, image)
"""


def script(source, text, kind):
    made = ProgrammableFilter(Input=source, OutputDataSetType=kind, Script=text)
    made.UpdatePipeline()
    return made


def arrays_of(attributes):
    return {attributes.GetArrayName(i): attributes.GetArray(i) for i in range(attributes.GetNumberOfArrays())
            if attributes.GetArray(i) and attributes.GetArrayName(i) != "vtkGhostType"}


def rows_of(grid, what):
    """Returns [position and values] of all visible cells, or of their nodes, and the types of the arrays."""
    flags = grid.GetCellData().GetArray("vtkGhostType")
    seen = vtk_to_numpy(flags) == 0 if flags else np.ones(grid.GetNumberOfCells(), bool)
    if what == "cells":
        bare = grid.NewInstance()
        bare.CopyStructure(grid)    # without flags, which would remove centers
        bare.GetCellData().RemoveArray("vtkGhostType")
        centers = vtkCellCenters()
        centers.SetInputData(bare)
        centers.Update()
        points, attributes = centers.GetOutput(), grid.GetCellData()
        solid = np.array([bare.GetCellType(i) != VTK_EMPTY_CELL for i in range(bare.GetNumberOfCells())], bool)    # not empty
        expect(not (seen & ~solid).any(), "visible cells that are empty")
    else:
        points, attributes = grid, grid.GetPointData()
        seen = solid = np.ones(grid.GetNumberOfPoints(), bool)
    arrays = arrays_of(attributes)
    places = np.array([points.GetPoint(i) for i in np.flatnonzero(seen[solid])]).reshape(-1, 3)
    columns = [np.round(places, 6)] + [vtk_to_numpy(arrays[name])[seen].astype(float).reshape(len(places), arrays[name].GetNumberOfComponents()) for name in sorted(arrays)]
    types = {name: (str(vtk_to_numpy(arrays[name]).dtype), arrays[name].GetNumberOfComponents()) for name in arrays}
    return np.hstack(columns), types


def everything(proxy, what):
    """Returns the rows of all ranks, on each rank: sorted, and without duplicates, because blocks share nodes."""
    found = [rows_of(grid, what) for grid in leaves(output_of(proxy)) if grid.GetNumberOfCells()]
    parts = from_all_ranks(np.vstack([rows for rows, _ in found]) if found else np.zeros((0, 0)))
    return np.unique(np.vstack([part for part in parts if part.size]), axis=0), found[0][1] if found else None


def check(name, proxy, points=True):
    path = new_container(scratch, name)
    SaveData(path, proxy=proxy)
    back = PatchReader(FileName=[path], Grids="All")
    back.UpdatePipeline()
    for what in ("cells", "points") if points else ("cells",):
        (saved, types), (found, found_types) = everything(proxy, what), everything(back, what)
        expect(saved.shape == found.shape and np.array_equal(saved, found, equal_nan=True), "%s: %s %s, not %s", name, what, found.shape, saved.shape)
        expect(types == found_types or None in (types, found_types), "%s: %s, not %s", name, found_types, types)
    Delete(back)
    return path


def check_images():
    image = Wavelet(WholeExtent=[-5, 6, -3, 4, 2, 5])
    both = PointDatatoCellData(Input=image, PassPointData=1)
    both.UpdatePipeline()
    path = check("image", both)
    values = {name: np.full([3, 7, 11] if name == "cell" else [4, 8, 12], np.nan, np.float32) for name in ("cell", "node")}
    step, = stranger.read(path)
    for row, variable, array in step.values():
        lower = step.rows[row]["lower"] + (np.array(step.json["origin"]) - [-5, -3, 2]).astype(int)
        part = tuple(slice(a, a + n) for a, n in zip(lower[::-1], array.shape))
        values[variable["centering"]][part] = array[..., 0]
    whole = Wavelet(WholeExtent=[-5, 6, -3, 4, 2, 5]).SMProxy.GetClientSideObject()
    whole.Update()    # one piece with all data, on each rank
    truth = vtk_to_numpy(whole.GetOutput().GetPointData().GetArray("RTData")).reshape(4, 8, 12)
    expect(np.array_equal(values["node"], truth), "image: h5py finds other values at nodes")
    corners = sum(truth[k:k + 3, j:j + 7, i:i + 11].astype(float) for k in (0, 1) for j in (0, 1) for i in (0, 1)) / 8
    expect(np.allclose(values["cell"], corners, rtol=1e-6), "image: h5py finds other values in cells")
    for name, extent in (("flat_z", [-5, 6, -3, 4, 3, 3]), ("flat_x", [2, 2, -3, 4, 2, 5])):
        flat = Wavelet(WholeExtent=extent)
        flat.UpdatePipeline()
        check(name, flat)
    check("rectilinear", script(image, RECTILINEAR, "vtkRectilinearGrid"))
    check("structured", script(image, STRUCTURED, "vtkStructuredGrid"))
    for name, mesh in (("sphere", Sphere()), ("clip", Clip(Input=image))):
        mesh.UpdatePipeline()
        check(name, mesh)


def check_fractal(name, fractal):
    """Checks a source in which some cells under finer cells are visible. In the container, each place must be visible once."""
    path = new_container(scratch, name)
    SaveData(path, proxy=fractal)
    back = PatchReader(FileName=[path])
    back.UpdatePipeline()
    (saved, types), (found, found_types) = everything(fractal, "cells"), everything(back, "cells")
    expect(types == found_types, "%s: %s, not %s", name, found_types, types)
    expect(len({tuple(row) for row in found} - {tuple(row) for row in saved}) == 0, "%s: cells that the source does not have", name)
    volume = sum_over_ranks(np.sum([volume_of(grid) for grid in leaves(output_of(back))]))  # not Python's sum: scripts of filters replace it
    domain = 2.5 * 2.5 * (1 if name == "amr_2d" else 2)
    expect(abs(volume / domain - 1) < 1e-6, "%s: cells of the volume %g in a domain of %g", name, volume, domain)


def volume_of(grid):
    flags = grid.GetCellData().GetArray("vtkGhostType")
    seen = np.count_nonzero(vtk_to_numpy(flags) == 0) if flags else grid.GetNumberOfCells()
    return seen * np.prod([h for h, n in zip(grid.GetSpacing(), grid.GetDimensions()) if n > 1])


def check_trees():
    cases = [("amr_2d", {"Dimensions": 10})]
    if ranks == 1:    # on several ranks, this source of ParaView 5.11 sometimes crashes
        cases.append(("amr_3d", {"Dimensions": 6, "TwoDimensional": 0, "MaximumLevel": 3}))
    for name, options in cases:
        fractal = HierarchicalFractal(**options)
        fractal.UpdatePipeline()
        check_fractal(name, fractal)
    tiles = script(Wavelet(), TILES, "vtkMultiblockDataSet")
    text = said(lambda: check("tiles", tiles, points=False))
    expect(rank > 0 or "The writer skips the cell array 'words'" in text and "The writer skips hidden cells" in text, "tiles: %s", text)
    # Overlapping grids without an order become separate levels with their names.
    small, large = Wavelet(WholeExtent=[0, 4, 0, 4, 0, 4]), Wavelet(WholeExtent=[-2, 4, 0, 4, 0, 4])
    both = GroupDatasets(Input=[small, large], BlockNames=["small", "large"])
    both.UpdatePipeline()
    path = check("beside", both)
    back = PatchReader(FileName=[path], Grids="All")
    back.UpdatePipeline()
    tree = output_of(back)
    names = [tree.GetMetaData(i).Get(tree.NAME()) for i in range(tree.GetNumberOfBlocks())]
    expect(names == ["small", "large"], "levels %s", names)


def check_merged():
    """Checks merged blocks and blocks with ghost layers, also if the user leaves out the array of flags."""
    for i, options in enumerate(({"Blocks": "Merged"}, {"Blocks": "As patches", "AddGhostLayer": 1},
                                 {"Blocks": "Merged", "LevelRange": [1, 2]}, {"Blocks": "As patches", "ReadGhostCells": 1})):
        for name in ("linadv_2d", "linadv_3d"):
            reader = PatchReader(FileName=["%s/%s/dumps.visit" % (data, name)], **options)
            reader.UpdatePipeline(reader.TimestepValues[1])
            check("%s_%d" % (name, i), reader, points=False)
            mesh = MergeBlocks(Input=reader)    # its hidden cells are empty cells with nodes
            mesh.UpdatePipeline()
            check("%s_%d_mesh" % (name, i), mesh, points=False)
            chosen = PassArrays(Input=reader, CellDataArrays=["uval", "vtkGhostType"])
            chosen.UpdatePipeline()
            path = new_container(scratch, "chosen")
            SaveData(path, proxy=reader, ChooseArraysToWrite=1, CellDataArrays=["uval"], PointDataArrays=[])
            back = PatchReader(FileName=[path])
            back.UpdatePipeline()
            expect(back.CellData.keys()[:1] == ["uval"] and not back.PointData.keys(), "chosen: %s, %s", back.CellData.keys(), back.PointData.keys())
            expect(np.array_equal(everything(chosen, "cells")[0], everything(back, "cells")[0]), "%s %s: other cells where arrays are chosen", name, options)


def check_parts():
    """Checks parts of refined data: coarse cells stay hidden even if their finer cells are not written."""
    for name in ("linadv_2d", "linadv_3d"):
        reader = PatchReader(FileName=["%s/%s/dumps.visit" % (data, name)])
        time = reader.TimestepValues[-1]
        reader.UpdatePipeline(time)
        bounds = reader.GetDataInformation().GetBounds()
        for level in (["/Root/level0"], ["/Root/level1"], ["/Root/level0", "/Root/level2"]):
            levels = ExtractBlock(Input=reader, Selectors=level)
            levels.UpdatePipeline(time)
            check("%s_%s" % (name, "_".join(each[-1] for each in level)), levels, points=False)
        for blocks in ("Merged", "As patches"):
            box = [[low + part * (high - low) for part in (0.55, 0.75)] for low, high in zip(bounds[::2], bounds[1::2])]
            part = PatchReader(FileName=["%s/%s/dumps.visit" % (data, name)], Region="Box", RegionBounds=[end for ends in box for end in ends], Blocks=blocks)
            part.UpdatePipeline(time)
            check("%s_region_%s" % (name, blocks[:2]), part, points=False)


def check_few_patches():
    """Saves AMR data when some ranks have no grid."""
    path, domain = os.path.join(scratch, "plt_one"), ((0, 0, 0), (7, 7, 7))
    if rank == 0:
        write_plotfile(path, domain, [[domain]], names=["a"])
    controller.Barrier()
    reader = PatchReader(FileName=[path], Blocks="Overlapping AMR")
    reader.UpdatePipeline()
    check("one_patch", reader, points=False)


def steps_of(path):
    return [(step.step, step.time) for step in stranger.read(path)]


def check_steps():
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    times = reader.TimestepValues[:]
    every = list(zip((0, 16, 32, 48), times))
    path = new_container(scratch, "steps")
    SaveData(path, proxy=reader, WriteTimeSteps=1)
    expect(steps_of(path) == every, "all steps: %s", steps_of(path))
    SaveData(path, proxy=reader, WriteTimeSteps=1, MinTimeStep=1, TimeStepStride=2)
    expect(steps_of(path) == every[1::2], "steps 1 and 3: %s", steps_of(path))
    SaveData(path, proxy=reader, WriteTimeSteps=1, MaxTimeStep=0, Overwrite=0)
    expect(steps_of(path) == every[:2] + every[3:], "one added: %s", steps_of(path))
    reader.UpdatePipeline(times[2])
    SaveData(path, proxy=reader)
    expect(steps_of(path) == every[2:3], "the current step: %s", steps_of(path))
    writer = CreateWriter(path, reader)
    for time in (times[0], times[3], times[0]):
        writer.UpdatePipeline(time)
    expect(steps_of(path) == every[:1], "begun anew: %s", steps_of(path))


def said(work):
    text = said_by(work)
    print("\n".join(line for line in text.splitlines() if "FAILED" in line), flush=True)    # failures of the work itself
    return text


def check_errors():
    image = Wavelet(WholeExtent=[0, 3, 0, 3, 0, 3])
    other, there = new_container(scratch, "other"), new_container(scratch, "there")
    if rank == 0:
        os.mkdir(other)
        open(other + "/mine.txt", "w").close()
    controller.Barrier()
    SaveData(there, proxy=image)
    reader = PatchReader(FileName=[there])
    structured = script(image, STRUCTURED, "vtkStructuredGrid")
    far = Wavelet(WholeExtent=[0, 3, 0, 3, 0, 3], SubsampleRate=1)
    shifted = script(far, "o = self.GetOutputDataObject(0); o.ShallowCopy(self.GetInputDataObject(0, 0)); o.SetOrigin(5.3, 0, 0)", "Same as Input")
    layers = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"], AddGhostLayer=1)
    cases = [("layers", layers, new_container(scratch, "a"), "merged blocks with ghost layers"), ("no folder above", image, scratch + "/none/a.pio", "a folder that can be created"), ("another folder", image, other, "a folder with mine.txt"),
             ("from itself", reader, there, "come from this container"), ("within", image, there + "/a.pio", "within a container"),
             ("mixed", GroupDatasets(Input=[image, structured]), new_container(scratch, "a"), "a uniform grid and a curvilinear grid"),
             ("apart", GroupDatasets(Input=[image, shifted]), new_container(scratch, "a"), "a single lattice"),
             ("triangles", GroupDatasets(Input=[image, Sphere()]), new_container(scratch, "a"), "a uniform grid and a polygonal grid")]
    for what, source, path, words in cases:
        source.UpdatePipeline()
        text = said(lambda: SaveData(path, proxy=source))  # noqa: B023
        expect(rank > 0 or text.count("ERROR") == 1 and words in text, "%s: '%s'", what, text)
    writer = CreateWriter(new_container(scratch, "a"), image).GetClientSideObject()
    if rank == ranks - 1:
        writer.RemoveAllInputs()
    text = said(writer.Write)
    expect(rank > 0 or text.count("ERROR") == 1 and "the writer has no input" in text, "no input on a rank: '%s'", text)
    controller.Barrier()    # rank 0 removes the unfinished container
    expect(not os.path.exists(scratch + "/a.pio") and os.listdir(other) == ["mine.txt"], "something was written in spite of an error")
    expect([n for n, _ in steps_of(there)] == [0], "the container was harmed")


for part in (check_images, check_trees, check_merged, check_parts, check_few_patches, check_steps, check_errors):
    part()
finish("save_grids")
