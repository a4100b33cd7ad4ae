"""PatchIO's filters for PyVista. PyVista 0.48 and later finds the filters by the entry point `pyvista.accessors` of this package.

    mesh = pyvista.read("plt00010")
    mesh.patchio.contour([0.5], "density").plot()

The methods have the names and the arguments of PyVista's filters. The methods process all blocks of a MultiBlock together: hidden cells
are skipped, the result is one mesh, and a contour has no cracks between blocks and levels. The methods need patchio.vtk, built for the VTK
that PyVista uses.
"""
import numpy as np
import pyvista
from vtkmodules.vtkCommonCore import VTK_STRING
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkDataSetAttributes, vtkMultiBlockDataSet, vtkPlane

from ._errors import Error

_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}


def _leaves(data):
    """Returns a list of the data sets in a data object of VTK, which may be None."""
    if not isinstance(data, vtkMultiBlockDataSet):
        return [] if data is None else [data]
    return [leaf for number in range(data.GetNumberOfBlocks()) for leaf in _leaves(data.GetBlock(number))]


@pyvista.register_dataset_accessor("patchio", pyvista.DataObject)
class PatchFilters:
    """The filters of a data set of PyVista."""

    def __init__(self, mesh):
        self._mesh = mesh

    def slice(self, normal="x", origin=None):
        """Returns the slice by a plane, as pyvista.PolyData. normal: a vector, or an axis such as "x" or "-x". origin: a point on the plane,
        by default the center of the mesh."""
        return self._run("vtkPatchSlice", SetCutFunction=self._plane(normal, origin))

    def clip(self, normal="x", origin=None, invert=True):
        """Returns the part of the mesh behind a plane or, with invert=False, in front of the plane, as pyvista.UnstructuredGrid. normal,
        origin: see slice()."""
        return self._run("vtkPatchClip", SetClipFunction=self._plane(normal, origin), SetInsideOut=bool(invert))

    def contour(self, isosurfaces=10, scalars=None, rng=None):
        """Returns contours of an array, as pyvista.PolyData.

        isosurfaces    the values of the contours, or the number of values, which are then spaced evenly over the range `rng`
        scalars        name of the array; None: the only array
        rng            minimum and maximum; by default the range of the values of visible cells or points
        """
        field, name = self._array(scalars)
        if isinstance(isosurfaces, (int, np.integer)):
            isosurfaces = np.linspace(*(rng or self._range(field, name)), isosurfaces)
        return self._run("vtkPatchContour", field, name, SetValue=list(enumerate(np.atleast_1d(isosurfaces).tolist())))

    def threshold(self, value, scalars=None, invert=False):
        """Returns the cells whose values of the array `scalars` are in a range, as pyvista.UnstructuredGrid.

        value      the range (minimum, maximum), or the minimum
        scalars    name of the array; None: the only array
        invert     True: returns the other cells
        """
        lower, upper = value if np.ndim(value) else (value, np.inf)
        return self._run("vtkPatchThreshold", *self._array(scalars), SetLowerThreshold=float(lower), SetUpperThreshold=float(upper),
                         SetInvert=bool(invert))

    def extract_surface(self):
        """Returns the outer surface, without faces between blocks, as pyvista.PolyData."""
        return self._run("vtkPatchSurface")

    # ---- arguments ---------------------------------------------------------------------------------------

    def _plane(self, normal, origin):
        """Returns a vtkPlane, see slice(). Raises ValueError for an unknown axis."""
        plane = vtkPlane()
        if isinstance(normal, str):
            if normal not in _AXES:
                raise ValueError("normal: expected a vector or one of %s, found %r" % (", ".join(_AXES), normal))
            normal = _AXES[normal]
        plane.SetNormal(normal)
        plane.SetOrigin(self._mesh.center if origin is None else origin)
        return plane

    def _array(self, name):
        """Returns the association (vtkDataObject.CELL or POINT) and the name of the array `name` or, if `name` is None, of the
        only array of numbers.

        Raises ValueError if the mesh lacks the array or, if `name` is None, has several arrays of numbers.
        """
        fields = {}
        for leaf in _leaves(self._mesh):
            for field, data in ((vtkDataObject.CELL, leaf.GetCellData()), (vtkDataObject.POINT, leaf.GetPointData())):
                for number in range(data.GetNumberOfArrays()):
                    array = data.GetAbstractArray(number)
                    if array.GetDataType() != VTK_STRING and array.GetName() != vtkDataSetAttributes.GhostArrayName():
                        fields.setdefault(array.GetName(), field)
            if name in fields:    # a mesh may have many blocks
                return fields[name], name
        if name is None and len(fields) == 1:
            return next((field, name) for name, field in fields.items())
        raise ValueError("scalars: expected the name of an array, found %r. The mesh has %s" % (name, ", ".join(fields) or "no arrays"))

    def _range(self, field, name):
        """Returns the minimum and the maximum of an array over visible cells or points. Raises ValueError if the array has no
        finite values."""
        ends = []
        for leaf in _leaves(self._mesh):
            data = pyvista.wrap(leaf)
            data = data.cell_data if field == vtkDataObject.CELL else data.point_data
            if name in data:
                values = np.asarray(data[name])
                if vtkDataSetAttributes.GhostArrayName() in data:
                    values = values[np.asarray(data[vtkDataSetAttributes.GhostArrayName()]) == 0]
                values = values[np.isfinite(values)]
                ends += [values.min(), values.max()] if values.size else []
        if not ends:
            raise ValueError("rng: the array %s has no finite values" % name)
        return min(ends), max(ends)

    # ---- filters -----------------------------------------------------------------------------------------

    def _run(self, class_name, field=None, name=None, **settings):
        """Runs a filter of patchio.vtk and returns the result as one data set of PyVista.

        field, name    the array to process, see _array()
        settings       {method of the filter: argument, or list of tuples with the arguments of several calls}

        Raises Error if the filter reports an error, and ImportError without patchio.vtk.
        """
        try:
            from . import vtk
        except ModuleNotFoundError as error:
            raise ImportError("the filters in mesh.patchio need patchio.vtk, which PatchIO's build makes with -DPATCHIO_BUILD_VTK=ON") from error
        vtk_filter = getattr(vtk, class_name)()
        for setter, value in settings.items():
            for arguments in value if isinstance(value, list) else [(value,)]:
                getattr(vtk_filter, setter)(*arguments)
        if name is not None:
            vtk_filter.SetInputArrayToProcess(0, 0, 0, field, name)
        mesh = self._mesh
        if isinstance(mesh, vtkMultiBlockDataSet):    # the output has a mesh for each child of the root
            mesh = vtkMultiBlockDataSet()
            mesh.SetBlock(0, self._mesh)
        errors = []

        def collect(_object, _event, text):
            errors.append(text.strip())

        collect.CallDataType = VTK_STRING
        vtk_filter.AddObserver("ErrorEvent", collect)
        vtk_filter.SetInputDataObject(mesh)
        vtk_filter.Update()
        if errors:
            raise Error("; ".join(errors))
        found = [pyvista.wrap(leaf) for leaf in _leaves(vtk_filter.GetOutputDataObject(0))]
        return found[0] if len(found) == 1 else pyvista.merge(found)
