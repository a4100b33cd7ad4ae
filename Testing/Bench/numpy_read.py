"""Reads one variable of all patches of a SAMRAI dump into numpy arrays, and prints the seconds as JSON.

usage: numpy_read.py patchio|h5py SUMMARY VARIABLE [WARM_MEGABYTES]

The time includes opening, but not importing. patchio needs PYTHONPATH. The program first allocates and frees WARM_MEGABYTES of memory.
"""
import json
import os
import sys
import time

import numpy as np


def read_with_patchio(summary, variable):
    import patchio
    begin = time.perf_counter()
    step = patchio.open(summary)[0]
    opened = time.perf_counter()
    arrays = step.read(variable)
    read = time.perf_counter()
    del arrays
    arrays = step.read(variable)   # as in a loop over time steps: memory is reused
    again = time.perf_counter()
    return list(arrays.values()), {"open": opened - begin, "read": read - opened, "again": again - read}


def read_with_h5py(summary, variable):
    import h5py
    begin = time.perf_counter()
    with h5py.File(summary) as file:
        places = file["/extents/patch_map"][:]
        boxes = file["/extents/patch_extents"][:]
    shapes = (boxes["upper"] - boxes["lower"] + 1)[:, ::-1].tolist()
    opened = time.perf_counter()

    def read():
        files, arrays = {}, []
        for place, shape in zip(places, shapes):
            number = int(place["file_cluster_number"])
            if number not in files:
                files[number] = h5py.File(os.path.join(os.path.dirname(summary), "processor_cluster.%05d.samrai" % number))
            values = files[number]["processor.%05d/level.%05d/patch.%05d/%s" % (
                place["processor_number"], place["level_number"], place["patch_number"], variable)]
            arrays.append(values.astype("<f4")[:].reshape(shape))   # files are big-endian; the library converts values
        for file in files.values():
            file.close()
        return arrays

    arrays = read()
    first = time.perf_counter()
    del arrays
    arrays = read()
    again = time.perf_counter()
    return arrays, {"open": opened - begin, "read": first - opened, "again": again - first}


def main():
    how, summary, variable = sys.argv[1:4]
    warm = np.ones(int(sys.argv[4]) << 20, np.uint8) if len(sys.argv) > 4 else None
    del warm
    arrays, seconds = {"patchio": read_with_patchio, "h5py": read_with_h5py}[how](summary, variable)
    print(json.dumps({**seconds, "bytes": sum(values.nbytes for values in arrays), "arrays": len(arrays),
                      "sum": float(sum(values.sum(dtype=float) for values in arrays))}))


if __name__ == "__main__":
    main()
