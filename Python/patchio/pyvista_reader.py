"""The reader that PyVista finds by the entry points `pyvista.readers` of this package.

    mesh = pyvista.read("dumps.visit", levels=(0, 1), bounds=(0, 1, 0, 1, 0, 0.5))

    reader = pyvista.get_reader("run.pio")
    reader.set_active_time_value(reader.time_values[-1])
    reader.disable_all_cell_arrays()
    reader.enable_cell_array("density")
    mesh = reader.read()                 # a pyvista.MultiBlock

PyVista chooses this reader for the extensions `.visit`, `.samrai`, `.pio` and `.ctl`, and for names without an extension, such as the
folder plt00010. Other files need force_ext=".patchio": pyvista.read("out.h5", force_ext=".patchio").
"""
import os

import pyvista

from . import _arguments
from . import open as open_data


class _Source(pyvista.BaseVTKReader):
    """A reader with the methods of VTK's readers that PyVista calls.

    data, step    the open DataSet and the active Step
    levels, bounds, blocks    see PatchReader
    disabled      names of the variables that are not read
    """

    def __init__(self):
        super().__init__()
        self.data = self.step = None
        self.levels = self.bounds = None
        self.blocks = "merged"
        self.disabled = set()

    def SetFileName(self, filename):
        """Opens the data set of a file or folder. The active step is the step of the path or, if the path is a series, the first step."""
        self.data = open_data(str(filename))
        names = [os.path.realpath(os.path.join(filename, *more)) for more in ((), ("Header",))]
        steps = [index for index, path in enumerate(self.data.paths) if os.path.realpath(path) in names]
        self.step = self.data[steps[0] if steps else 0]

    SetDirectoryName = SetFileName

    def UpdateInformation(self):
        """Does nothing: SetFileName() opens the data set."""

    def GetClassName(self):
        """Returns the name of the reader in messages of PyVista."""
        return "patchio"

    def variable_names(self, centering):
        """Returns the names of the variables with this centering, "cell" or "node"."""
        return [name for name, variable in self.step.variables.items() if variable.centering == centering]

    def set_status(self, name, on):
        """Switches a variable on or off. Raises Error for an unknown name, as Step.read() does."""
        self.step._variable_number(name)
        (self.disabled.discard if on else self.disabled.add)(name)

    def level_list(self):
        """Returns the attribute `levels` as the argument `levels` of Step.to_pyvista(): a first and a last level become a list."""
        if self.levels is None or isinstance(self.levels, str) or not isinstance(self.levels, (tuple, list)):
            return self.levels
        first, last = _arguments.integers(self.levels, "levels", "a level, or the first and the last level", 0).tolist()
        return list(range(first, min(last, len(self.step.levels) - 1) + 1))

    def Update(self):
        """Reads the enabled variables of the active step."""
        names = [name for name in self.step.variables if name not in self.disabled]
        self._data_object = self.step.to_pyvista(names, levels=self.level_list(), bounds=self.bounds, blocks=self.blocks)

    def GetNumberOfCellArrays(self):
        return len(self.variable_names("cell"))

    def GetCellArrayName(self, number):
        return self.variable_names("cell")[number]

    def GetNumberOfPointArrays(self):
        return len(self.variable_names("node"))

    def GetPointArrayName(self, number):
        return self.variable_names("node")[number]

    def GetCellArrayStatus(self, name):
        return name not in self.disabled

    GetPointArrayStatus = GetCellArrayStatus
    SetCellArrayStatus = SetPointArrayStatus = set_status


def _source_property(name, text):
    """Returns a property of PatchReader whose value is the attribute `name` of the reader's _Source. text: documentation."""
    return property(lambda self: getattr(self.reader, name), lambda self, value: setattr(self.reader, name, value), doc=text)


class PatchReader(pyvista.BaseReader, pyvista.PointCellDataSelection, pyvista.TimeReader):
    """Reads all formats of PatchIO into a pyvista.MultiBlock, see Step.to_pyvista()."""

    _class_reader = _Source

    levels = _source_property("levels", "The level to read, by number or name, or the first and the last level; None: all.")
    bounds = _source_property("bounds", "Six numbers: only patches that touch this region are read. None: all.")
    blocks = _source_property("blocks", '"merged", "fewest" or "patches", see Step.to_pyvista().')

    @property
    def number_time_points(self):
        """The number of steps."""
        return len(self.reader.data)

    def time_point_value(self, time_point):
        """Returns the time of a step."""
        return float(self.reader.data.times[time_point])

    @property
    def active_time_value(self):
        """The time of the step that read() reads."""
        return float(self.reader.step.time)

    def set_active_time_value(self, time_value):
        """Sets the active step to the step with the nearest time."""
        self.reader.step = self.reader.data.nearest(time_value)

    def set_active_time_point(self, time_point):
        """Sets the active step by its index."""
        self.reader.step = self.reader.data[time_point]


class PlainNameReader(PatchReader):
    """Reads AMReX plotfiles, whose paths have no extension. Other paths without an extension behave as without patchio."""

    def __new__(cls, path):
        """Returns this reader for a plotfile, and PyVista's reader for a folder of DICOM files. Raises ValueError for other paths."""
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        if os.path.isfile(os.path.join(folder, "Header")):
            return super().__new__(cls)
        if os.path.isdir(path) and os.listdir(path) and all(name.endswith(".dcm") for name in os.listdir(path)):
            return pyvista.DICOMReader(path)
        raise ValueError("%s has no extension and is not a plotfile of AMReX" % path)
