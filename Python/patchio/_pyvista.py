"""Steps as grids of PyVista."""
from ._optional import import_optional


def to_pyvista(step, variables, patches, levels, bounds, blocks):
    """Implements Step.to_pyvista()."""
    pyvista = import_optional("pyvista", "to_pyvista()")
    from ._grids import grids_of    # needs VTK, which PyVista brings
    found = pyvista.MultiBlock()
    for _, name, grid in grids_of(step, variables, patches, levels, bounds, blocks):
        found.append(pyvista.wrap(grid), name)
    return found
