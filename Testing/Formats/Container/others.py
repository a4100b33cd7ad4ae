"""Compares the values that VTK's own reader finds in the steps of containers with those of reference.py, bit by bit.

usage: pvbatch others.py TRUTHDIR, or any Python with a VTK: python3 others.py TRUTHDIR
"""
import json
import os
import sys

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader


def levels_of(data):
    """Returns [[grid, ...], ...] for each class of AMR data."""
    return [[grid for grid in (data.GetDataSet(level, i) if hasattr(data, "GetDataSet") else data.GetDataSetAsImageData(level, i)
                               for i in range(data.GetNumberOfDataSets(level) if hasattr(data, "GetNumberOfDataSets") else data.GetNumberOfBlocks(level)))
             if grid] for level in range(data.GetNumberOfLevels())]


def read(path, levels):
    reader = vtkHDFReader()
    reader.SetFileName(path)
    if hasattr(reader, "SetMaximumLevelsToReadByDefaultForAMR"):
        reader.SetMaximumLevelsToReadByDefaultForAMR(0)
    reader.Update()
    return levels_of(reader.GetOutputDataObject(0))


def compare(path, truth):
    """Returns the number of values compared."""
    meta = json.loads(truth["meta"].tobytes().decode())
    found, compared = read(path, len(meta["level_sizes"])), 0
    assert [len(level) for level in found] == meta["level_sizes"], "%s: %s blocks instead of %s" % (path, [len(level) for level in found], meta["level_sizes"])
    for patch, info in enumerate(meta["patches"]):
        spacing = np.array(meta["spacing"][info["level"]])
        corner = np.array(meta["origin"]) + spacing * info["lower"]
        near = [grid for grid in found[info["level"]] if np.allclose(np.array(grid.GetBounds())[::2], corner, atol=1e-6 * spacing.min())]
        assert len(near) == 1, "%s: %d blocks at %s" % (path, len(near), corner)
        for variable in meta["variables"]:
            want = truth.get("p%d/%s" % (patch, variable["name"]))
            array = near[0].GetCellData().GetArray(variable["name"].replace("/", "_"))
            if want is not None and variable["cell"] and array is not None:
                values = vtk_to_numpy(array).reshape(want.shape)
                assert values.dtype == want.dtype and values.tobytes() == want.tobytes(), "%s: '%s' on patch %d differs" % (path, variable["name"], patch)
                compared += values.size
    assert compared, "%s: no array is there" % path
    return compared


def main():
    folder, = sys.argv[1:]
    with open(os.path.join(folder, "series.json")) as file:
        steps = [step for entry in json.load(file) for step in entry["steps"]]
    total = files = 0
    for step in steps:
        truth = dict(np.load(os.path.join(folder, step["npz"])))
        three = json.loads(truth["meta"].tobytes().decode())["dim"] == 3
        if three and "." not in os.path.basename(step["summary"])[12:-4]:    # not for steps with one file per rank
            total += compare(step["summary"], truth)
            files += 1
    assert files >= 5, files
    print("passed: %d values in %d files" % (total, files))


if __name__ == "__main__":
    main()
