"""Prints the last time step as a pyvista.MultiBlock of merged patches, without ParaView, and optionally draws an image of it.

    PYTHONPATH=build/release/python python3 pyvista_blocks.py DATA [PICTURE.png [VARIABLE]]

The script needs pyvista (python3 -m pip install pyvista). The image shows VARIABLE, by default the first, on a slice through the
middle. It shows flat data and lists of points as a whole.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
import patchio


def draw(blocks, variable, picture):
    import pyvista
    bounds = list(blocks.bounds)
    points = any(isinstance(block, pyvista.PolyData) for block in blocks)    # a slice would pass between the points
    cut = blocks if points or bounds[4] == bounds[5] else blocks.slice(normal="z", origin=[
        low + 0.501 * (high - low) for low, high in zip(bounds[::2], bounds[1::2])])
    shown = cut.combine()
    if variable not in shown.array_names:
        checks.fail("the cut through the middle has no value of '%s'" % variable)
    plotter = pyvista.Plotter(off_screen=True)
    plotter.add_mesh(shown, scalars=variable, show_edges=True)
    plotter.camera_position = "xy"
    plotter.screenshot(picture)


def main():
    path, picture, variable = checks.arguments(__doc__, 1, 3)
    checks.output(picture or "")
    try:
        step = patchio.open(path)[-1]
        variable = variable or next(iter(step.variables), None)
        if variable not in step.variables:
            checks.fail("unknown variable '%s'. The variables are: %s" % (variable, ", ".join(step.variables) or "none"))
        present = step.presence[list(step.variables).index(variable)]
        blocks = step.to_pyvista(variable, patches=present.nonzero()[0])
    except (patchio.Error, ImportError) as fault:
        checks.fail(fault)
    print(blocks)
    if picture:
        draw(blocks, variable, picture)


if __name__ == "__main__":
    main()
