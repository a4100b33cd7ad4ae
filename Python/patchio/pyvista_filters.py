"""PatchIO's filters for PyVista, which finds them by the entry point `pyvista.accessors` of this package (PyVista 0.48 and later).

    mesh = pyvista.read("plt00010")
    mesh.patchio.contour([0.5], "density").plot()

The methods are named like PyVista's and take the same arguments. They take all blocks of a MultiBlock together: they skip hidden cells,
the result is one mesh, and a contour has no cracks between blocks and levels. They need patchio.vtk, built for the VTK that PyVista uses.
"""
import numpy as np
import pyvista
from vtkmodules.vtkCommonCore import VTK_STRING
from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkDataSetAttributes, vtkMultiBlockDataSet, vtkPlane

from ._errors import Error

_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}


def _leaves(data):
    """Returns the data sets in a data object of VTK."""
    if not isinstance(data, vtkMultiBlockDataSet):
        return [] if data is None else [data]
    return [leaf for number in range(data.GetNumberOfBlocks()) for leaf in _leaves(data.GetBlock(number))]


@pyvista.register_dataset_accessor("patchio", pyvista.DataObject)
class PatchFilters:
    """The filters of a data set of PyVista."""

    def __init__(self, mesh):
        self._mesh = mesh

    def slice(self, normal="x", origin=None):
        """Returns the slice by a plane, as pyvista.PolyData. Default of `origin`: the center of the mesh."""
        return self._run("vtkPatchSlice", SetCutFunction=self._plane(normal, origin))

    def clip(self, normal="x", origin=None, invert=True):
        """Returns the part behind a plane, or with invert=False the part before the plane, as pyvista.UnstructuredGrid."""
        return self._run("vtkPatchClip", SetClipFunction=self._plane(normal, origin), SetInsideOut=bool(invert))

    def contour(self, isosurfaces=10, scalars=None, rng=None):
        """Returns contours of an array, as pyvista.PolyData.

        isosurfaces: the values, or their number; that many values are spaced evenly over the range `rng`. Default of `rng`: the range of
        the values of visible cells.
        """
        field, name = self._array(scalars)
        if isinstance(isosurfaces, (int, np.integer)):
            isosurfaces = np.linspace(*(rng or self._range(field, name)), isosurfaces)
        return self._run("vtkPatchContour", field, name, SetValue=list(enumerate(np.atleast_1d(isosurfaces).tolist())))

    def threshold(self, value, scalars=None, invert=False):
        """Returns the cells with values in a range, or of at least a single value, as pyvista.UnstructuredGrid."""
        lower, upper = value if np.ndim(value) else (value, np.inf)
        return self._run("vtkPatchThreshold", *self._array(scalars), SetLowerThreshold=float(lower), SetUpperThreshold=float(upper),
                         SetInvert=bool(invert))

    def extract_surface(self):
        """Returns the outer surface, without faces between blocks, as pyvista.PolyData."""
        return self._run("vtkPatchSurface")

    # ---- arguments ---------------------------------------------------------------------------------------

    def _plane(self, normal, origin):
        plane = vtkPlane()
        if isinstance(normal, str):
            if normal not in _AXES:
                raise ValueError("normal: expected a vector or one of %s, found %r" % (", ".join(_AXES), normal))
            normal = _AXES[normal]
        plane.SetNormal(normal)
        plane.SetOrigin(self._mesh.center if origin is None else origin)
        return plane

    def _array(self, name):
        """Returns the field and the name of an array. Without a name, the mesh must have a single array of numbers."""
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
        """Returns the least and the greatest value of visible cells or points."""
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
        """Runs a filter and returns the only data set of its output."""
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
