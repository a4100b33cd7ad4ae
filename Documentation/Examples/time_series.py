"""Writes a table of minimum, maximum, mean and integral of all variables over time. It needs numpy, but not ParaView.

    PYTHONPATH=build/release/python python3 time_series.py DATA OUT.csv

Each place counts once, with its finest data: the script omits cells that a finer level or another patch of the same level covers
(Step.covered()). Means and integrals weight cells by their volume (area in two dimensions). If volumes are unknown (nodes, lists of
points, deformed patches), all values of all levels have the same weight, and the integral is empty.
"""
import csv
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks
import patchio


def cell_volumes(step, patch):
    """Returns the volumes of all cells of a patch in the shape of its values, or None if they are unknown."""
    level = step.patches["level"][patch]
    if step.grid == "curvilinear" or step.level_roles[level] == "points":
        return None
    widths = [np.diff(nodes) for nodes in step.nodes(patch)[:step.dimension]]
    volumes = np.ones([len(width) for width in reversed(widths)])
    for axis, width in enumerate(reversed(widths)):
        volumes *= width.reshape([-1 if a == axis else 1 for a in range(len(widths))])
    return volumes


def statistics(step, variable, arrays):
    """Returns minimum, maximum, mean and integral of one component. `arrays`: {patch: array}."""
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


def rows_of(step):
    if not step.variables:
        checks.fail("%s has no variables" % step.path)
    for name, variable in step.variables.items():
        arrays = step.read(name)  # one variable at a time needs less memory
        for component in range(variable.components):
            one = arrays if variable.components == 1 else {p: a[..., component] for p, a in arrays.items()}
            yield [step.number, step.time, name, component] + statistics(step, variable, one)


def main():
    path, out = checks.arguments(__doc__, 2, 2)
    checks.output(out)
    done = 0
    try:
        data = patchio.open(path)
        with open(out, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["step", "time", "variable", "component", "min", "max", "mean", "integral"])
            for step in data:
                table.writerows(list(rows_of(step)))
                done += 1
    except patchio.Error as fault:
        checks.fail("%s%s" % (fault, "\n%s ends after %d of %d steps." % (out, done, len(data)) if done else ""))
    except OSError as fault:
        checks.fail("writing %s failed: %s" % (out, fault.strerror))
    print("%d step%s" % (done, "" if done == 1 else "s"))


if __name__ == "__main__":
    main()
