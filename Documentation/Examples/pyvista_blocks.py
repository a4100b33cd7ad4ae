"""The patches of the last time step as a pyvista.MultiBlock, without ParaView, and a picture of them if wanted.

    PYTHONPATH=build/release/python python3 pyvista_blocks.py DATA [PICTURE.png]

Needs pyvista (python3 -m pip install pyvista); uniform grids.
"""
import sys

import numpy as np
import patchio

try:
    import pyvista
except ImportError:
    sys.exit("skipped: pyvista is not installed (python3 -m pip install pyvista)")


def blocks_of(step, names=None):
    """A pyvista.ImageData for each patch; its arrays are those that were read, not copies."""
    arrays = step.read(names if names is None else list(names))
    blocks = pyvista.MultiBlock()
    for number, patch in enumerate(step.patches):
        nodes = step.nodes(number)
        block = pyvista.ImageData(dimensions=[len(axis) for axis in nodes], origin=[axis[0] for axis in nodes],
                                  spacing=step.levels["spacing"][patch["level"]])
        for name, of_patches in arrays.items():
            if number in of_patches:
                variable = step.variables[name]
                data = block.cell_data if variable.centering == "cell" else block.point_data
                # Axis x is fastest in both, so that a flat view is all it takes.
                data[name] = of_patches[number].reshape((-1, variable.components) if variable.components > 1 else -1)
        # Coarse cells under finer ones, and those that another patch has, are not drawn: 8 stands for REFINEDCELL of VTK.
        covered = step.covered(number)
        if covered.any():
            block.cell_data["vtkGhostType"] = np.where(covered, 8, 0).astype(np.uint8).ravel()
        blocks.append(block, "level %d, patch %d" % (patch["level"], patch["number"]))
    return blocks


if __name__ == "__main__":
    last = patchio.open(sys.argv[1])[-1]
    blocks = blocks_of(last)
    print(blocks)
    if len(sys.argv) > 2:
        plotter = pyvista.Plotter(off_screen=True)
        plotter.add_mesh(blocks.slice(normal="y"), scalars=next(iter(last.variables)), show_edges=True)
        plotter.camera_position = "xz"
        plotter.screenshot(sys.argv[2])
