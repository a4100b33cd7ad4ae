"""Least, greatest and mean values and integrals of all variables over time, as a table: needs numpy, but no ParaView.

    PYTHONPATH=build/release/python python3 time_series.py DATA OUT.csv

Each place counts once, with its finest data: cells that a finer level or another patch has are left out. Means and integrals weigh cells
by their volume (area in two dimensions). Where that is not known (nodes, lists of points, deformed patches) means
count each value alike, and there is no integral.
"""
import csv
import sys

import numpy as np
import patchio


def cell_volumes(step, patch):
    """Of all cells of a patch, in an array that fits its values; None where they are not known."""
    level = step.patches["level"][patch]
    if step.grid == "curvilinear" or step.level_roles[level] == "points":
        return None
    widths = [np.diff(nodes) for nodes in step.nodes(patch)[:step.dimension]]
    volumes = np.ones([len(width) for width in reversed(widths)])
    for axis, width in enumerate(reversed(widths)):
        volumes *= width.reshape([-1 if a == axis else 1 for a in range(len(widths))])
    return volumes


def statistics(step, variable, arrays):
    """Least, greatest, mean, integral of one component, given as {patch: array}."""
    least, greatest, total, weight, known = np.inf, -np.inf, 0.0, 0.0, variable.centering == "cell"
    for patch, values in arrays.items():
        keep = np.isfinite(values)
        volumes = cell_volumes(step, patch) if variable.centering == "cell" else None
        if variable.centering == "cell":
            keep &= ~step.covered(patch)
        known = known and volumes is not None
        weights = volumes[keep] if known else np.ones(keep.sum())
        if keep.any():
            least, greatest = min(least, values[keep].min()), max(greatest, values[keep].max())
            total += float((values[keep] * weights).sum(dtype=float))
            weight += float(weights.sum())
    return [least, greatest, total / weight, total if known else ""] if weight else ["", "", "", ""]


def main():
    data = patchio.open(sys.argv[1])
    with open(sys.argv[2], "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["step", "time", "variable", "component", "min", "max", "mean", "integral"])
        for step in data:
            for name, variable in step.variables.items():
                arrays = step.read(name)  # variable by variable: less memory than all at once
                for component in range(variable.components):
                    one = arrays if variable.components == 1 else {p: a[..., component] for p, a in arrays.items()}
                    table.writerow([step.number, step.time, name, component] + statistics(step, variable, one))
    print("%d steps" % len(data))


if __name__ == "__main__":
    main()
