"""Reads the output of `patchio export --format vtm` with VTK's own readers, and compares it with the reference values of h5py and
numpy.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh 1 exported.py PROGRAM SCRATCH TRUTH...

TRUTH: folders made by reference.py or make_cases.py, each with the name of its format. Each series is exported by one rank, and
some also by three ranks, which must write the same files, byte by byte.
"""
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import numpy as np
from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet
from vtkmodules.vtkIOXML import vtkXMLMultiBlockDataReader

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "VTKHDF"), os.path.join(HERE, "SAMRAI")]
import conformance as suite  # noqa: E402
from conformance import expect  # noqa: E402
from expected import REFINEDCELL, Truth  # noqa: E402
import mesh_conformance  # noqa: E402

PROGRAM, SCRATCH = sys.argv[1:3]
INCOMPLETE = ("index_missing", "grapes", "members", "growing")    # series with missing files: exported in part, with status 1
SOME = 8    # each eighth series, and these, which are of other kinds
OF_OTHER_KINDS = ("/carpets/", "/ghost_boxes/", "/corners/")
exported = []
OWN = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))}
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader",
       "HWLOC_COMPONENTS": "-gl", "PMIX_MCA_gds": "hash", "OMPI_MCA_ess_singleton_isolated": "1"}


def of_folder(format_name):
    """Returns the module conformance.py of a format. An import by name would return another module."""
    path = os.path.join(HERE, format_name, "conformance.py")
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location(format_name + "_conformance", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def export(path, *options, ranks=1):
    """Exports a series. Returns the folder, or None after a failure, and the output of the program."""
    folder = os.path.join(SCRATCH, "ranks%d" % ranks)
    shutil.rmtree(folder, ignore_errors=True)
    launch = ["mpirun", "-np", str(ranks), "--oversubscribe"] if ranks > 1 else []
    result = subprocess.run(launch + [PROGRAM, "export", "--format", "vtm", path, folder, *options], env={**OWN, **MPI}, timeout=120, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    status = int("--steps" not in options and os.path.basename(os.path.dirname(path)) in INCOMPLETE)
    expect(result.returncode == status and ("is incomplete" in result.stdout) == bool(status), "%s: export ends with %d, expected %d: %s", path,
           result.returncode, status, result.stdout[-300:])
    return folder


def export_all(path, times, numbers=None):
    """Exports a series with one rank, or also with three. Returns the paths of the steps, in the order of time."""
    folder = export(path)
    exported.append(path)
    if len(exported) % SOME == 1 or any(kind in path for kind in OF_OTHER_KINDS):
        differences = subprocess.run(["diff", "-rq", folder, export(path, ranks=3)], text=True, capture_output=True).stdout
        expect(not differences, "%s: three ranks write other files: %s", path, differences[:500])
    found = set(os.listdir(folder))
    names = ["step.%06d" % number for number in numbers] if numbers is not None else sorted(n[:-4] for n in found if n.endswith(".vtm"))
    expect(len(names) == len(times) and found == {"steps.pvd"} | set(names) | {name + ".vtm" for name in names}, "%s: there is %s", path, sorted(found))
    reader = simple.PVDReader(FileName=folder + "/steps.pvd")
    shown = list(np.atleast_1d(np.asarray(reader.TimestepValues, float))) if len(times) > 1 else times
    expect(np.allclose(shown, times, rtol=1e-12, atol=1e-12) if len(shown) == len(times) else False, "%s: times %s instead of %s", path, shown, times)
    reader.UpdatePipeline(times[-1])
    tree = reader.GetClientSideObject().GetOutputDataObject(0)
    expect(tree.IsA("vtkMultiBlockDataSet") and tree.GetNumberOfCells() == read(folder + "/%s.vtm" % names[-1]).GetNumberOfCells(),
           "%s: steps.pvd shows another step", path)
    simple.Delete(reader)
    return [os.path.join(folder, name + ".vtm") for name in names]


def read(path):
    reader = vtkXMLMultiBlockDataReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def blocks_of(tree):
    """Returns [(number and name of the level, number and name of the piece, grid)]."""
    def name(data, i):
        return data.GetMetaData(i).Get(vtkCompositeDataSet.NAME())
    return [(level, name(tree, level), piece, name(tree.GetBlock(level), piece), tree.GetBlock(level).GetBlock(piece))
            for level in range(tree.GetNumberOfBlocks()) for piece in range(tree.GetBlock(level).GetNumberOfBlocks())]


# ---- boxes: SAMRAI, AMReX, containers, VTKHDF -----------------------------------------------------------

def ending_at_zero(grid):
    """Returns whether the grid ends at index 0. ParaView 5.11 crashes when it draws other grids with hidden cells."""
    upper = np.array(grid["extent"][1::2])
    grid["extent"] = (np.array(grid["extent"]) - np.repeat(upper, 2)).tolist()
    if "origin" in grid:
        grid["origin"] = grid["origin"] + upper[:grid["dim"]] * grid["spacing"]
    return grid


def check_boxes(path, truth):
    blocks, sizes = blocks_of(read(path)), truth.meta["level_sizes"]
    expect([sum(b[0] == level for b in blocks) for level in range(len(sizes))] == sizes, "%s: levels of %s", path, [b[:4] for b in blocks][:9])
    levels = {info["level"] for info in truth.patches}
    visible = 0
    for patch, (level, level_name, piece, name, grid) in enumerate(blocks):
        where = "%s %s %s" % (path, level_name, name)
        expect(level_name == "level %d" % level and name == "patch %d" % piece, "%s: the names", where)
        want = ending_at_zero(truth.grid(patch)) if truth.ghost_types(patch)[0].any() else truth.grid(patch)
        if "points" in want:
            suite.check_grid(grid, want, where)
        elif expect(grid.IsA("vtkImageData") and list(grid.GetExtent()) == want["extent"], "%s: a %s of %s", where, grid.GetClassName(), grid.GetExtent()):
            suite.check_position(grid, want, want["extent"], where)
        for cell, data, tuples in ((True, grid.GetCellData(), grid.GetNumberOfCells()), (False, grid.GetPointData(), grid.GetNumberOfPoints())):
            suite.check_arrays(data, suite.with_blanks(truth, patch, levels, (0, 0, 0), cell, tuples), tuples, where)
        suite.check_ghosts(grid, *truth.ghost_types(patch), where)
        if "spacing" in want:
            visible += (truth.ghost_types(patch)[0] == 0).sum() * np.prod(want["spacing"])
    return visible


def check_filters(path, truth, visible):
    """Checks that ParaView's filters count each place once, and that the surface can be drawn."""
    reader = simple.XMLMultiBlockDataReader(FileName=[path])
    surface = simple.ExtractSurface(Input=reader)
    surface.UpdatePipeline()
    bounds = [proxy.GetDataInformation().GetBounds() for proxy in (reader, surface)]
    expect(np.allclose(*bounds, rtol=1e-6), "%s: the surface is in %s, not in %s", path, *bounds)
    simple.Delete(surface)
    integrated = simple.IntegrateVariables(Input=reader)
    integrated.UpdatePipeline()
    array = integrated.GetClientSideObject().GetOutputDataObject(0).GetCellData().GetArray("Volume" if truth.dim == 3 else "Area")
    found = array.GetTuple1(0) if array else 0
    expect(abs(found - visible) <= 1e-9 * visible, "%s: integrates to %r instead of %r", path, found, visible)
    simple.Delete(integrated)
    simple.Delete(reader)


def check_choice(path, truth, name):
    """Checks the export of one level and one variable, in which no cells of this level are hidden."""
    step = truth.meta["step"]
    blocks = blocks_of(read(os.path.join(export(path, "--levels", "0", "0", "--variables", name, "--steps", str(step)), "step.%06d.vtm" % step)))
    expect(len(blocks) == truth.meta["level_sizes"][0], "%s, level 0: %d blocks", path, len(blocks))
    for patch, (_, _, _, _, grid) in enumerate(blocks):
        found = {data.GetArrayName(i) for data in (grid.GetCellData(), grid.GetPointData()) for i in range(data.GetNumberOfArrays())}
        flags = grid.GetCellGhostArray()
        expect(found - {"vtkGhostType"} == {name} and (not flags or not (vtk_to_numpy(flags) & REFINEDCELL).any()), "%s, level 0: %s", path, found)


def boxes(folder):
    table = [entry for entry in suite.series_in(folder) if entry["steps"]]
    for entry in table:
        truths = [Truth(os.path.join(folder, step["npz"])) for step in entry["steps"]]
        paths = export_all(entry["index"], entry["times"], [truth.meta["step"] for truth in truths])
        for path, truth in zip(paths, truths):
            visible = check_boxes(path, truth)
        if visible:
            check_filters(path, truth, visible)
        several = len(truth.meta["level_sizes"]) > 1
        for name in sorted({**truth.data(0, True), **truth.data(0, False)})[:1] if several and len(exported) % 3 == 1 else ():
            check_choice(entry["index"], truth, name)
    return len(table)


# ---- the others -----------------------------------------------------------------------------------------

def only_blank(data, names, where):
    for name in names:
        values = vtk_to_numpy(data.GetArray(name))
        expect(np.isnan(values).all() if values.dtype.kind == "f" else not values.any(), "%s: '%s' has values", where, name)


def grads(folder):
    module = of_folder("GRADS")
    truths = module.load_all(folder)
    for truth in truths:
        checker = module.Checker(truth)
        for step, path in enumerate(export_all(truth.ctl, truth.hours)):
            held, names = {}, set(truth.arrays[step])
            for _, group, _, name, grid in blocks_of(read(path)):
                where = "%s %s %s" % (path, group, name)
                extent = grid.GetExtent()
                dims = [extent[2 * a + 1] - extent[2 * a] + 1 for a in (2, 1, 0)]
                first = (extent[4] + (group == "surface"), extent[2], extent[0])
                index = [np.arange(f, f + n) for f, n in zip(first, dims)]
                data = grid.GetPointData()
                found = {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())}
                expect(found == names, "%s: %s instead of %s", where, sorted(found), sorted(names))
                mine = {n for n in names if (n in truth.deep) == (group == "levels")}
                for array in sorted(mine & found):
                    want = truth.on_grid(step, array)[np.ix_(*index)]
                    values = vtk_to_numpy(data.GetArray(array)).reshape(dims)
                    expect(module.same(values, want), "%s: '%s' differs", where, array)
                    held.setdefault(array, np.zeros(truth.on_grid(step, array).shape, bool))[np.ix_(*index)] = True
                    suite.compared[0] += values.size
                only_blank(data, found - mine, where)
                checker.check_positions(grid, index, truth.z(sorted(mine)[0]), where, False)
            expect(set(held) == names and all(have.all() for have in held.values()), "%s: not all values are there", path)
    return len(truths)


def kwave(folder):
    module = of_folder("KWave")

    def check_names(data, wanted, where):
        found = {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())} - {"vtkGhostType"}
        only_blank(data, found - set(wanted), where)
        return expect(found >= set(wanted), "%s: arrays %s instead of %s", where, sorted(found), sorted(wanted))
    module.check_names = check_names
    files = sorted(glob.glob(folder + "/*.npz"))
    for file in files:
        truth = {key: value for key, value in np.load(file).items() if key != "none"}
        for step, path in enumerate(export_all(str(truth["path"]), list(truth["times"]), truth["steps"])):
            right = 0
            for _, level, _, name, grid in blocks_of(read(path)):
                where = "%s %s %s" % (path, level, name)
                if level == "domain":
                    right += module.check_box(grid, truth, "domain", (0, 0, 0), step, where)
                elif name.startswith("cuboid"):
                    part = name.replace(" ", "")
                    right += module.check_box(grid, truth, part, truth[part + "/lower"], step, where)
                else:
                    first, last = (int(n) for n in name.replace("points ", "").split(" to "))
                    right += module.check_points(grid, truth, "points" if level == "sensor" else level, np.arange(first - 1, last), step, where)
            expect(right == module.wanted_values(truth, step), "%s: %d values of %d", path, right, module.wanted_values(truth, step))
            suite.compared[0] += right
    return len(files)


def meshes(folder):
    with open(os.path.join(folder, "meshes.json")) as file:
        table = json.load(file)
    for entry in table:
        for step, path in enumerate(export_all(entry["path"], entry["times"], range(len(entry["times"])))):
            truth, blocks = np.load(os.path.join(folder, entry["steps"][step])), blocks_of(read(path))
            expect(len(blocks) == len({name.split("/")[0] for name in truth.files}), "%s: %d partitions", path, len(blocks))
            for _, _, number, name, grid in blocks:
                mesh_conformance.check_partition(grid, truth, number, entry["data"], "%s %s" % (path, name))
    return len(table)


def main():
    os.makedirs(SCRATCH, exist_ok=True)
    for folder in sys.argv[3:]:
        before, name = suite.compared[0], os.path.basename(folder)
        series = {"grads": grads, "kwave": kwave, "vtkhdf_meshes": meshes}.get(name.replace("_real", ""), boxes)(folder)
        print("exported: %s, %d series, %d values, %d faults so far" % (name, series, suite.compared[0] - before, len(suite.failed)), flush=True)
        expect(series > 0 and suite.compared[0] > before, "%s: nothing was compared", name)
    sys.exit(1 if suite.failed else 0)


if __name__ == "__main__":
    main()
