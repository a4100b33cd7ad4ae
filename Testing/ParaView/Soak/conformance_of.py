"""The series of the soak test, their reference values from h5py and numpy, and the comparisons by the suites of the formats."""
import glob
import importlib.util
import json
import os
import sys

import numpy as np

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Formats")
sys.path[:0] = [FORMATS, os.path.join(FORMATS, "SAMRAI"), os.path.join(FORMATS, "GRADS")]
import conformance  # noqa: E402
import expected  # noqa: E402
import merged  # noqa: E402
import truth as grads_truth  # noqa: E402


def suite(folder, name):
    """Returns the suite of a format. Several suites have the same module name."""
    spec = importlib.util.spec_from_file_location(folder.lower() + "_" + name, os.path.join(FORMATS, folder, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


grads, kwave, meshes = suite("GRADS", "conformance"), suite("KWave", "conformance"), suite("VTKHDF", "mesh_conformance")
merged.hidden_may_be_zero = True
# The properties that all suites need: all values, as in the files.
PLAIN = dict(PartialArrays=1, ComposeVectors=0, ReadGhostCells=0, Region="Everything", SliceWhileReading=0, SkipByValue=0)
ALL_LEVELS = dict(LevelRange=[0, 99])


class Series:
    """A series. path; times; values: number of values; cells, points: names of arrays; scalars: {(association, name): (least,
    greatest)}."""

    def __init__(self, path, times, arrays):
        """arrays: (whether of cells, name, values) of all steps."""
        self.path, self.times, self.scalars, names, self.values = path, list(times), {}, (set(), set()), 0
        for cell, name, values, scalar in arrays:
            self.values += values.size
            names[int(not cell)].add(name)
            known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
            if scalar and known.size:
                key = ("CELLS" if cell else "POINTS", name)
                least, greatest = self.scalars.get(key, (np.inf, -np.inf))
                self.scalars[key] = (min(least, float(known.min())), max(greatest, float(known.max())))
        self.cells, self.points = sorted(names[0]), sorted(names[1])
        self.bounds = None    # set when the reader first opens the series
        self.contours, self.slices = sorted(self.scalars), True    # allowed filters

    def checkable(self, properties):
        """Returns the properties, changed where the suite cannot compare, and whether all arrays must be read."""
        return {**properties, **PLAIN}, False


class Boxes(Series):
    def __init__(self, entry, folder):
        self.truths = [expected.Truth(os.path.join(folder, step["npz"])) for step in entry["steps"]]
        arrays = ((v["cell"], v["name"], t.arrays["p%d/%s" % (p, v["name"])], v.get("components", 1) == 1)
                  for t in self.truths for v in t.variables for p in range(len(t.patches)) if "p%d/%s" % (p, v["name"]) in t.arrays)
        super().__init__(entry["index"], entry["times"], arrays)
        self.deformed = any(t.meta["deformed"] for t in self.truths)

    def checkable(self, properties):
        changed = dict(PLAIN, AddPatchIds=int(not self.deformed))
        if properties["Blocks"] == "Overlapping AMR":
            changed["Blocks"] = "As patches"
        if self.deformed:
            changed.update(ALL_LEVELS)
        return {**properties, **changed}, False

    def check(self, reader, state, where):
        truth, properties = self.truths[state["step"]], state["properties"]
        levels = [l for l in range(len(truth.meta["level_sizes"])) if properties["LevelRange"][0] <= l <= properties["LevelRange"][1]]
        selected, blanking = state["cells"] + state["points"], bool(properties["BlankRefinedCells"])
        if self.deformed:
            conformance.check_output(reader, truth, levels, (0, 0, 0), blanking, selected, where)
        else:
            merged.check_output(reader, merged.Shown(truth, levels=levels, blanking=blanking, selected=selected,
                                                     layer=bool(properties["AddGhostLayer"])), where)


class Grads(Series):
    def __init__(self, truth):
        self.truth = truth
        super().__init__(truth.ctl, truth.hours, ((False, n, a, True) for arrays in truth.arrays for n, a in arrays.items()))
        with open(truth.ctl) as file:
            self.projected = "pdef" in file.read().lower()

    def checkable(self, properties):
        changed = dict(PLAIN, Grids="All", HideUndefined=1, AddPatchIds=0, **ALL_LEVELS)
        if self.projected:
            changed["Placement"] = "Longitude, latitude"
        return {**properties, **changed}, False

    def check(self, reader, state, where):
        grads.Checker(self.truth).check_step(reader, state["step"], state["points"], where, state["properties"]["Placement"] == "Sphere")


class KWave(Series):
    def __init__(self, path):
        with np.load(path) as stored:
            self.truth = {name: stored[name] for name in stored.files if name != "none"}
        arrays = [(name.split("/")[1], values) for name, values in self.truth.items()
                  if "/" in name and name.split("/")[1] not in ("places", "lower", "upper")]
        super().__init__(str(self.truth["path"]), self.truth["times"], ((True, name, values, True) for name, values in arrays))

    def checkable(self, properties):
        lists = "Image" if properties["PointLists"] == "Image" else "Points"
        blocks = "As patches" if properties["Blocks"] == "Overlapping AMR" else properties["Blocks"]
        return {**properties, **PLAIN, **ALL_LEVELS, "Grids": "All", "PointLists": lists, "AddPatchIds": 0, "Blocks": blocks}, True

    def check(self, reader, state, where):
        tree = reader.GetClientSideObject().GetOutputDataObject(0)
        kwave.check_tree(tree, self.truth, state["step"], state["properties"]["PointLists"] == "Image", where)


class Mesh(Series):
    def __init__(self, entry, folder):
        self.entry, self.truths = entry, []
        for name in entry["steps"]:
            with np.load(os.path.join(folder, name)) as stored:
                self.truths.append({n: stored[n] for n in stored.files})
        arrays = ((where == "CellData", name, values, values.ndim == 1) for t in self.truths for n, values in t.items()
                  for name, where in entry["data"].items() if n.endswith("/" + name))
        super().__init__(entry["path"], entry["times"], arrays)
        # ParaView 5.11 first converts cell data to point data, and its vtkCellDataToPointData hangs or crashes for poly data with
        # vertices, lines and polygons.
        self.contours = [key for key in self.contours if key[0] == "POINTS"]
        # In ParaView's slices of poly data with lines and polygons, cells have values of other cells, or undefined ones.
        self.slices = "carpets" not in entry["path"]

    def checkable(self, properties):
        return {**properties, **PLAIN, **ALL_LEVELS, "AddPatchIds": 0, "PartialArrays": 0}, True

    def check(self, reader, state, where):
        class Files(dict):
            files = property(lambda self: list(self))
        truth = Files(self.truths[state["step"]])
        for number, grid in meshes.blocks_of(reader.GetClientSideObject().GetOutputDataObject(0)):
            meshes.check_partition(grid, truth, number, self.entry["data"], "%s partition %d" % (where, number))


def series_in(folder):
    """Returns the series in a folder of reference values of any format."""
    def table(name):
        with open(os.path.join(folder, name)) as file:
            return json.load(file)

    if os.path.exists(os.path.join(folder, "series.json")):
        return [Boxes(entry, folder) for entry in table("series.json") if entry["steps"]]
    if os.path.exists(os.path.join(folder, "truths.json")):
        return [Grads(truth) for truth in grads_truth.load_all(folder)]
    if os.path.exists(os.path.join(folder, "meshes.json")):
        return [Mesh(entry, folder) for entry in table("meshes.json")]
    return [KWave(path) for path in sorted(glob.glob(folder + "/*.npz"))]
