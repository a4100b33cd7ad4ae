"""A reader as a Python plugin, for ParaView versions for which PatchIO's compiled plugin is not built.

paraview.py loads the plugin. The reader supports time steps, arrays, levels, a region and the number of concurrent reads, and divides the
patches over the ranks of a pvserver. Slices, contours and surfaces are those of ParaView. The compiled plugin makes fewer grids, is faster
for many patches, and reports the cost of a read.
"""
import os
import sys

from paraview.util.vtkAlgorithm import VTKPythonAlgorithmBase, smdomain, smhint, smproperty, smproxy
from vtkmodules.vtkCommonCore import vtkDataArraySelection, vtkOutputWindow
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet, vtkMultiBlockDataSet, vtkMultiPieceDataSet
from vtkmodules.vtkCommonExecutionModel import vtkAlgorithm, vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkParallelCore import vtkMultiProcessController

try:
    import patchio
except ImportError:    # loaded by its path, without PYTHONPATH
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    import patchio
from patchio import _grids, _threads

_EXTENSIONS = "visit samrai pio ctl vtkhdf h5"
_MAX_LEVEL = 100


def _property_xml(name, default, label, text, number_type="int", domain=""):
    """Returns the XML of a property with numbers.

    default    the default numbers, one per element of the property
    text       the documentation
    number_type    "int" or "double"
    domain     XML of the domain
    """
    default = " ".join(map(str, default))
    return """<%sVectorProperty name="%s" label="%s" command="Set%s" number_of_elements="%d" default_values="%s">%s
      <Documentation>%s</Documentation></%sVectorProperty>""" % (
        number_type.title(), name, label, name, len(default.split()), default, domain, text, number_type.title())


_FORMS = {0: "patches", 1: "merged", 2: "fewest"}
_CHOICE = """<EnumerationDomain name="enum"><Entry value="0" text="One Per Patch"/><Entry value="1" text="Without Hidden Cells"/>
  <Entry value="2" text="Fewest"/></EnumerationDomain>"""
_SWITCH = '<BooleanDomain name="bool"/>'


@smproxy.reader(name="PatchIOPythonReader", label="PatchIO Python Reader", extensions=_EXTENSIONS, filename_patterns="Header plt*",
                file_description="Patch-based simulation output, by Python")
class PatchIOPythonReader(VTKPythonAlgorithmBase):
    """Reads data of SAMRAI, AMReX, k-Wave, GrADS, VTKHDF and PatchIO containers. The output has one block per level."""

    def __init__(self):
        VTKPythonAlgorithmBase.__init__(self, nInputPorts=0, nOutputPorts=1, outputType="vtkMultiBlockDataSet")
        self._path, self._data, self._step = None, None, None
        self._levels, self._region, self._use_region = (0, _MAX_LEVEL), (0, 1, 0, 1, 0, 1), False
        self._form, self._threads, self._concurrency, self._load = 1, 0, 0, 0
        self._arrays = vtkDataArraySelection()
        self._arrays.AddObserver("ModifiedEvent", lambda *_: self.Modified())

    def _set(self, name, value):
        """Sets the attribute `name`, and marks the reader as modified if the value has changed."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.Modified()

    @smproperty.stringvector(name="FileName", panel_visibility="never")
    @smdomain.filelist()
    @smhint.filechooser(extensions=_EXTENSIONS.split(), file_description="Patch-based simulation output, by Python")
    def SetFileName(self, name):
        """Sets the path of the data: a file, or the folder of a plotfile or container."""
        if name != self._path:
            self._path, self._data, self._step = name, None, None
            self._arrays.RemoveAllArrays()
            self.Modified()

    @smproperty.doublevector(name="TimestepValues", information_only="1", si_class="vtkSITimeStepsProperty")
    def GetTimestepValues(self):
        """Returns the times of the steps."""
        return self._data.times.tolist() if self._data else []

    @smproperty.dataarrayselection(name="Arrays")
    def GetDataArraySelection(self):
        """Returns the selection of the arrays to read."""
        return self._arrays

    @smproperty.xml(_property_xml("LevelRange", (0, _MAX_LEVEL), "Level Range", "The first and the last level to read."))
    def SetLevelRange(self, first, last):
        """Sets the first and the last level to read."""
        self._set("_levels", (first, last))

    @smproperty.xml(_property_xml("UseRegion", (0,), "Use Region", "Read only patches that touch Region Bounds.", domain=_SWITCH))
    def SetUseRegion(self, use):
        """Switches the region on or off."""
        self._set("_use_region", bool(use))

    @smproperty.xml(_property_xml("RegionBounds", (0, 1, 0, 1, 0, 1), "Region Bounds", "The region: lower and upper bound along x, y and z.", "double"))
    def SetRegionBounds(self, *bounds):
        """Sets the region: lower and upper bound along x, y and z."""
        self._set("_region", tuple(bounds))

    @smproperty.xml(_property_xml("Blocks", (1,), "Blocks", "The grids of a level. Without Hidden Cells: few grids, which leave out the cells that finer levels "
                            "cover. Fewest: larger grids, in which such cells are hidden; faster where there are many patches. ParaView's Contour draws "
                            "hidden cells. One Per Patch: each patch is a grid; cells that finer levels cover are hidden.", domain=_CHOICE))
    def SetBlocks(self, form):
        """Sets the form of the blocks, a key of _FORMS."""
        self._set("_form", form)

    @smproperty.xml(_property_xml("ThreadsPerRank", (0,), "Threads Per Rank", "NT: the number of concurrent reads on each rank. 0: from Storage Concurrency or, if "
                            "that is 0, from the profile of the storage.", domain='<IntRangeDomain name="range" min="0" max="%d"/>' % _threads.MAX_THREADS))
    def SetThreadsPerRank(self, threads):
        """Sets NT, the number of concurrent reads on each rank."""
        self._set("_threads", threads)

    @smproperty.xml(_property_xml("StorageConcurrency", (0,), "Storage Concurrency", "N*: the best number of concurrent reads for the storage. "
                            "NT = (N* - NC) / number of ranks. 0: unknown."))
    def SetStorageConcurrency(self, reads):
        """Sets N*, the best number of concurrent reads for the storage."""
        self._set("_concurrency", reads)

    @smproperty.xml(_property_xml("OtherLoad", (0,), "Other Load", "NC: the number of concurrent reads by other programs."))
    def SetOtherLoad(self, reads):
        """Sets NC, the number of concurrent reads by other programs."""
        self._set("_load", reads)

    # ---- reading -----------------------------------------------------------------------------------------

    def _open(self):
        """Opens the data set, unless the data set is open. Only rank 0 writes index files."""
        if self._data is None:
            controller = vtkMultiProcessController.GetGlobalController()
            rank = controller.GetLocalProcessId() if controller else 0
            self._data = patchio.open(self._path, metadata="on" if rank == 0 else "read")
            self._step = self._data[0]
            for name in self._step.variables:
                if not self._arrays.ArrayExists(name):
                    self._arrays.EnableArray(name)

    def _report_error(self, error):
        """Shows an error in VTK's output window. Returns 0, the result of a failed request."""
        vtkOutputWindow.GetInstance().DisplayErrorText("PatchIO: %s\n" % error)
        return 0

    def RequestInformation(self, request, inputs, outputs):
        """Gives the times of the steps to the pipeline. Returns 1, or 0 after an error."""
        info = outputs.GetInformationObject(0)
        info.Set(vtkAlgorithm.CAN_HANDLE_PIECE_REQUEST(), 1)
        if not self._path:
            return self._report_error("the file name is empty. Set FileName.")
        try:
            self._open()
        except (patchio.Error, OSError) as error:
            return self._report_error(error)
        keys, times = vtkStreamingDemandDrivenPipeline, self._data.times.tolist()
        info.Remove(keys.TIME_STEPS())
        for time in times:
            info.Append(keys.TIME_STEPS(), time)
        info.Set(keys.TIME_RANGE(), [times[0], times[-1]], 2)
        return 1

    def RequestData(self, request, inputs, outputs):
        """Reads the patches of this rank at the requested time. Returns 1, or 0 after an error."""
        info = outputs.GetInformationObject(0)
        keys = vtkStreamingDemandDrivenPipeline
        rank, ranks = max(info.Get(keys.UPDATE_PIECE_NUMBER()) or 0, 0), max(info.Get(keys.UPDATE_NUMBER_OF_PIECES()) or 1, 1)
        output = vtkMultiBlockDataSet.GetData(outputs)
        try:
            self._open()
            step = self._data.nearest(info.Get(keys.UPDATE_TIME_STEP())) if info.Has(keys.UPDATE_TIME_STEP()) else self._data[0]
            self._step = step if step.index != self._step.index else self._step
            output.GetInformation().Set(output.DATA_TIME_STEP(), float(self._step.time))
            self._read(output, rank, ranks)
        except (patchio.Error, OSError, ValueError) as error:
            return self._report_error(error)
        return 1

    def _concurrent_reads(self, ranks):
        """Returns NT, the number of concurrent reads of this rank, or None for automatic. ranks: number of ranks."""
        if self._threads > 0:
            return min(self._threads, _threads.MAX_THREADS)
        return min(max((self._concurrency - self._load) // ranks, 1), _threads.MAX_THREADS) if self._concurrency > 0 else None

    def _read(self, output, rank, ranks):
        """Reads the patches of `rank` into the blocks of `output`."""
        step = self._step
        names = [name for name in step.variables if self._arrays.ArrayIsEnabled(name) or not self._arrays.ArrayExists(name)]
        shown = step._core.levels_shown([step._variable_number(name) for name in names])
        levels = [level for level in shown if self._levels[0] <= level <= self._levels[1]]
        patches = [patch for patch in step.part(rank, ranks).tolist() if step.patches["level"][patch] in levels]
        bounds = self._region if self._use_region else None
        grids = _grids.grids_of(step, names, patches, levels, bounds, _FORMS.get(self._form, "merged"), self._concurrent_reads(ranks), copy=True)
        output.SetNumberOfBlocks(len(step.levels))
        for level, name in enumerate(step.level_names):
            pieces = vtkMultiPieceDataSet()
            output.SetBlock(level, pieces)
            output.GetMetaData(level).Set(vtkCompositeDataSet.NAME(), name)
            of_level = [(label, grid) for number, label, grid in grids if number == level]
            pieces.SetNumberOfPieces(len(of_level))
            for number, (label, grid) in enumerate(of_level):
                pieces.SetPiece(number, grid)
                pieces.GetMetaData(number).Set(vtkCompositeDataSet.NAME(), label)
