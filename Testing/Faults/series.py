"""Small series of each format for the tests of faults, written with numpy and h5py only. Their values follow from a formula.

A cell with the centre (x, y, z) has the value x + 10 y + 100 z + 1000 step + 100000 generation. Generations are later versions of
the same files.
"""
import os
import shutil
import subprocess
import sys

import h5py
import numpy as np

FORMATS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats")
sys.path[:0] = [os.path.join(FORMATS, name) for name in ("KWave", "AMReX", "SAMRAI")]
import make_cases  # noqa: E402, the cases of k-Wave
from dump_writer import Dump, Level, Variable, write_series  # noqa: E402
from plotfile_writer import write_plotfile  # noqa: E402

STEPS = 3
COARSE = [((x, y, z), (x + 7, y + 7, z + 7)) for z in (0, 8) for y in (0, 8) for x in (0, 8)]
FINE = [((8, 8, 8), (15, 23, 23)), ((16, 8, 8), (23, 23, 23))]
BOXES = [(0, box) for box in COARSE] + [(1, box) for box in FINE]
CELLS = 16 ** 3 + 2 * 8 * 16 * 16


def formula(x, step, generation):
    return x[0] + 10 * x[1] + 100 * x[2] + 1000.0 * step + 100000.0 * generation


def box_values(level, box, step, generation):
    """Returns the values as [z, y, x] in 32-bit floats, which represent them exactly."""
    axes = [(np.arange(lower, upper + 1) + 0.5) / 2 ** level for lower, upper in zip(*box)]
    z, y, x = np.meshgrid(*axes[::-1], indexing="ij")
    return formula((x, y, z), step, generation).astype("f4")


def boxes_of(series):
    return BOXES if series.levels else [(0, ((0, 0, 0), (15, 15, 15)))]


def truth(series, step, generation=0):
    """Returns {(level, lower corner): values}."""
    return {(level, box[0]): box_values(level, box, step, generation) for level, box in boxes_of(series)}


def outside_mpi():
    """Returns the environment for a program that a rank starts, without the variables of MPI."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "PRTE_"))}
    return {**kept, "OMPI_MCA_ess_singleton_isolated": "1"}


# ---- formats ----

class Samrai:
    levels, steps, index = True, STEPS, "dumps.visit"

    def values(self, step):
        return "visit_dump.%05d/processor_cluster.00001.samrai" % step

    def describing(self, step):
        return "visit_dump.%05d/summary.samrai" % step

    def make(self, folder, generation, _):
        levels = [Level(COARSE), Level(FINE, (2, 2, 2))]
        write_series(folder, [Dump(levels, [Variable("u", lambda x, _, s=step: formula(x, s, generation))], step=step, time=float(step), ranks=2)
                              for step in range(STEPS)])


class Container:
    levels, steps, index = True, STEPS, "run.pio/index"

    def values(self, step):
        return "run.pio/step.%06d.hdf" % step

    def describing(self, _):
        return self.index

    def make(self, folder, generation, program):
        """Makes the container with PatchIO, from files that other programs wrote."""
        Samrai().make(folder + "/of", generation, None)
        done = subprocess.run([program, "convert", folder + "/of/dumps.visit", folder + "/run.pio"], text=True, capture_output=True, env=outside_mpi())
        assert done.returncode == 0, done.stderr
        shutil.rmtree(folder + "/of")


class Amrex:
    levels, steps, index = True, STEPS, "plt00000"

    def values(self, step):
        return "plt%05d/Level_0/Cell_D_00000" % step

    def describing(self, step):
        return "plt%05d/Header" % step

    def make(self, folder, generation, _):
        for step in range(STEPS):
            def values(level, _, index, __, s=step):
                return formula([(i + 0.5) / 2 ** level for i in index], s, generation)
            write_plotfile("%s/plt%05d" % (folder, step), ((0, 0, 0), (15, 15, 15)), (COARSE, FINE), ((2, 2, 2),), real="f4", files=1, names=["u"],
                           function=values, time=step, step=step, corner=[0, 0, 0], spacing=[1, 1, 1])


class Kwave:
    levels, steps, index = False, 1, "out.h5"

    def values(self, _):
        return "out.h5"

    describing = values

    def make(self, folder, generation, _):
        os.makedirs(folder, exist_ok=True)
        with make_cases.start(folder + "/out.h5", size=(16, 16, 16)) as file:
            make_cases.put(file, "p_final", box_values(0, ((0, 0, 0), (15, 15, 15)), 0, generation))


class Grads:
    levels, steps, index = False, STEPS, "model.ctl"

    def values(self, _):
        return "model.dat"

    def describing(self, _):
        return "model.ctl"

    def make(self, folder, generation, _):
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/model.ctl", "w") as file:
            file.write("dset ^model.dat\noptions little_endian\nundef -999\nxdef 16 linear 0 1\nydef 16 linear 0 1\nzdef 16 linear 0 1\n"
                       "tdef %d linear 12z28feb2016 12hr\nvars 1\nu 16 99 wind\nendvars\n" % STEPS)
        with open(folder + "/model.dat", "wb") as file:
            for step in range(STEPS):
                file.write(box_values(0, ((0, 0, 0), (15, 15, 15)), step, generation).tobytes())


class Vtkhdf:
    levels, steps, index = True, 1, "run.vtkhdf"

    def values(self, _):
        return "run.vtkhdf"

    describing = values

    def make(self, folder, generation, _):
        os.makedirs(folder, exist_ok=True)
        with h5py.File(folder + "/run.vtkhdf", "w") as file:
            root = file.create_group("VTKHDF")
            root.attrs["Version"], root.attrs["Type"] = np.array([1, 0]), np.bytes_("OverlappingAMR")
            root.attrs["Origin"], root.attrs["GridDescription"] = np.zeros(3), np.bytes_("XYZ")
            for level, boxes in enumerate((COARSE, FINE)):
                group = root.create_group("Level%d" % level)
                group.attrs["Spacing"] = np.full(3, 0.5 ** level)
                group["AMRBox"] = np.array([[n for pair in zip(*box) for n in pair] for box in boxes], "i4")
                group["CellData/u"] = np.concatenate([box_values(level, box, 0, generation).ravel() for box in boxes])


FORMAT = {"samrai": Samrai(), "container": Container(), "amrex": Amrex(), "kwave": Kwave(), "grads": Grads(), "vtkhdf": Vtkhdf()}


def make_all(folder, program, names=tuple(FORMAT)):
    """Returns {format: the folders of its generations}, which the function makes."""
    made = {name: [os.path.join(folder, "sound", "%s%d" % (name, generation)) for generation in (0, 1)] for name in names}
    for name, folders in made.items():
        for generation, place in enumerate(folders):
            FORMAT[name].make(place, generation, program)
    return made


class Place:
    """A copy of a series for one fault. `step` is the damaged step."""

    def __init__(self, folder, name):
        self.folder, self.name, self.format = folder, name, FORMAT[name]
        self.step = min(1, self.format.steps - 1)
        self.opened = self.path(self.format.index)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def file(self, which):
        """Returns the file with the "values" of the step, or the file "describing" it."""
        return self.path(getattr(self.format, which)(self.step))

    def truth(self, step, generation=0):
        return truth(self.format, step, generation)
