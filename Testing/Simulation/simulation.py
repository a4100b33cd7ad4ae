#!/usr/bin/python3
"""A Python interface of patchio.h for tests, with Open MPI and its world communicator only.

    import simulation
    mpi = simulation.Mpi("libpatchio_output.so")
    with mpi.output('{"channels": [{"path": "run.pio"}]}') as out:
        out.grid(3, (0, 0, 0), (1, 1, 1))
        out.patches([(0, (0, 0, 0), (7, 7, 7))])
        out.variable("density", np.float64)
        out.write(0, 0.0, [array])
    mpi.end()

Arrays have the axes z, y, x and components. A call that fails raises Failed with patchio_error().

usage: simulation.py LIBRARY CONFIGURATION STEPS
       (each rank writes a cube of 4 cells along each axis; see output.py. Rank 0 copies the container PATH to PATH.flushed after
       patchio_flush(), before the output is closed)
"""
import ctypes
import json
import shutil
import sys

import numpy as np

TYPES = {"float32": 0, "float64": 1, "int32": 2, "int64": 3}


class Failed(Exception):
    pass


class Patch(ctypes.Structure):
    _fields_ = [("level", ctypes.c_int32), ("lower", ctypes.c_int32 * 3), ("upper", ctypes.c_int32 * 3)]


class Mpi:
    def __init__(self, library):
        self.library = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        self.library.patchio_open.restype = ctypes.c_void_p
        self.library.patchio_error.restype = ctypes.c_char_p
        self.calls = ctypes.CDLL(None)
        self.calls.MPI_Init(None, None)
        self.world = ctypes.byref(ctypes.c_byte.in_dll(self.calls, "ompi_mpi_comm_world"))
        rank = ctypes.c_int()
        self.calls.MPI_Comm_rank(self.world, ctypes.byref(rank))
        self.rank = rank.value

    def output(self, configuration):
        return Output(self, configuration)

    def end(self):
        self.calls.MPI_Finalize()


class Output:
    def __init__(self, mpi, configuration):
        self.library = mpi.library
        self.handle = None
        self.handle = ctypes.c_void_p(self.library.patchio_open(configuration.encode(), mpi.world))
        self.check(not self.handle)

    def check(self, code, handle=None):
        if code:
            raise Failed(self.library.patchio_error(handle).decode())

    def compute(self):
        """Returns whether this is a compute rank. On an I/O rank, writes until the run ends."""
        null = ctypes.addressof(ctypes.c_byte.in_dll(ctypes.CDLL(None), "ompi_mpi_comm_null"))
        compute = ctypes.c_void_p()
        self.check(self.library.patchio_compute(self.handle, ctypes.byref(compute)), self.handle)
        return compute.value != null

    def grid(self, dimension, origin, spacing, ratios=((1, 1, 1),)):
        numbers = [n for ratio in ratios for n in ratio]
        self.check(self.library.patchio_grid(self.handle, dimension, (ctypes.c_double * 3)(*origin), (ctypes.c_double * 3)(*spacing), len(ratios),
                                             (ctypes.c_int32 * len(numbers))(*numbers)), self.handle)

    def patches(self, patches):
        mine = (Patch * len(patches))(*[Patch(level, (ctypes.c_int32 * 3)(*lower), (ctypes.c_int32 * 3)(*upper)) for level, lower, upper in patches])
        self.check(self.library.patchio_patches(self.handle, len(patches), mine), self.handle)

    def variable(self, name, dtype, components=1, nodes=False, ghosts=(0, 0, 0)):
        self.check(self.library.patchio_variable(self.handle, name.encode(), None, TYPES[np.dtype(dtype).name], components, int(nodes),
                                                 (ctypes.c_int32 * 3)(*ghosts)), self.handle)

    def write(self, step, time, arrays):
        """Writes a step. arrays: for each variable, the array of each patch, or None if the patch does not have the variable; None
        for NULL instead of the list."""
        pointers = None if arrays is None else (ctypes.c_void_p * len(arrays))(*[None if array is None else array.ctypes.data for array in arrays])
        self.check(self.library.patchio_write(self.handle, ctypes.c_int64(step), ctypes.c_double(time), pointers), self.handle)

    def flush(self):
        self.check(self.library.patchio_flush(self.handle), self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.check(self.library.patchio_close(self.handle))


def main(library, configuration, steps):
    mpi = Mpi(library)
    with mpi.output(configuration) as out:
        out.grid(3, (0, 0, 0), (1, 1, 1))
        out.patches([(0, (4 * mpi.rank, 0, 0), (4 * mpi.rank + 3, 3, 3))])
        out.variable("a", "float64")
        for step in range(int(steps)):
            out.write(step, 0.5 * step, [1000.0 * step + 100 * mpi.rank + np.arange(64)])
        out.flush()
        if mpi.rank == 0:
            with open(configuration) as file:
                path = json.load(file)["channels"][0]["path"]
            shutil.copytree(path, path + ".flushed")
    mpi.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
