"""Writes small plotfiles like AMReX for the tests, with numpy and the standard library only."""
import os
import shutil

import numpy as np

REALS = {("f8", False): "((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))",
         ("f8", True): "((8, (64 11 52 0 1 12 0 1023)),(8, (1 2 3 4 5 6 7 8)))",
         ("f4", False): "((8, (32 8 23 0 1 9 0 127)),(4, (4 3 2 1)))",
         ("f4", True): "((8, (32 8 23 0 1 9 0 127)),(4, (1 2 3 4)))"}


def value(level, component, index, seed=0):
    """Returns the value of a cell (or node), which depends on all of its indices and has a fraction that float32 cannot
    represent."""
    i, j, k = index
    return (1 + level) * 1000.0 + 100.0 * component + np.sin(0.1 * i + seed) + 0.37 * j - 1.0 / (3 + k * k) + seed


def box_text(lower, upper, nodal):
    def tuple_text(numbers):
        return "(%s)" % ",".join(str(int(n)) for n in numbers)
    return "(%s %s %s)" % (tuple_text(lower), tuple_text(np.asarray(upper) + nodal), tuple_text([int(nodal)] * len(lower)))


def fab_values(level, components, lower, upper, ghosts, nodal, dtype, seed, function=value):
    """Returns the values of the function, component slowest, axis 0 fastest."""
    axes = [np.arange(lo - g, up + nodal + g + 1) for lo, up, g in zip(lower, upper, ghosts)]
    axes += [np.zeros(1)] * (3 - len(axes))
    i, j, k = axes[0][None, None, :], axes[1][None, :, None], axes[2][:, None, None]
    return np.stack([function(level, c, (i, j, k), seed) + np.zeros([len(a) for a in axes[::-1]]) for c in range(components)]).astype(dtype)


def write_level(folder, number, boxes, case):
    """Writes Level_<number>/Cell_H and its data files."""
    path = os.path.join(folder, "Level_%d" % number)
    os.makedirs(path)
    dtype = np.dtype(case["real"]).newbyteorder(">" if case["big"] else "<")
    real, version, nodal, ghosts = REALS[case["real"], case["big"]], case["version"], case["nodal"], case["ghosts"]
    places, lows, highs = [None] * len(boxes), [None] * len(boxes), [None] * len(boxes)
    order = list(range(len(boxes)))
    if case["shuffled"]:
        order = order[1::2] + order[0::2][::-1]
    for at, b in enumerate(order):
        lower, upper = boxes[b]
        values = fab_values(number, len(case["names"]), lower, upper, ghosts, nodal, dtype, case["seed"], case["function"])
        name = "Cell_D_%05d" % (at % case["files"])
        grown = box_text(np.array(lower) - ghosts, np.array(upper) + ghosts, nodal)
        header = "FAB %s%s %d\n" % (real, grown, len(case["names"])) if version == 1 else ""
        if case["odd_headers"] and at % 3 == 1:
            header = header.replace(") (", ")  (")    # longer than any header
        with open(os.path.join(path, name), "ab") as out:
            places[b] = (name, out.tell())
            out.write(header.encode())
            out.write(values.tobytes())
            if case["odd_headers"] and at % 4 == 2:
                out.write(b"\0" * 8)                   # a gap
        flat = values.reshape(len(values), -1).astype(float)
        lows[b], highs[b] = flat.min(axis=1), flat.max(axis=1)
    with open(os.path.join(path, "Cell_H"), "w") as out:
        width = str(ghosts[0]) if len(set(ghosts)) == 1 else "(%s)" % ",".join(str(g) for g in ghosts)
        out.write("%d\n1\n%d\n%s\n(%d 0\n" % (version, len(case["names"]), width, len(boxes)))
        for lower, upper in boxes:
            out.write(box_text(lower, upper, nodal) + "\n")
        out.write(")\n%d\n" % len(boxes))
        for name, offset in places:
            out.write("FabOnDisk: %s %d\n" % (name, offset))
        out.write("\n")
        for rows in (lows, highs) if version in (1, 3) else ():
            out.write("%d,%d\n" % (len(boxes), len(case["names"])))
            for row in rows:
                out.write("".join("%.17e," % v for v in row) + "\n")
            out.write("\n")
        if version == 4:
            for row in (np.min(lows, axis=0), np.max(highs, axis=0)):
                out.write("".join("%.17e," % v for v in row) + "\n")
        if version > 1:
            out.write(real + "\n")


DEFAULTS = {"real": "f8", "big": False, "version": 1, "nodal": False, "ghosts": None, "files": 2, "shuffled": False,
            "odd_headers": False, "seed": 0, "function": value, "names": ["density"], "time": 0.5, "step": 1, "corner": None, "spacing": None,
            "shifted": True}    # False: the corners of boxes are those of old AMReX versions, as if the domain began at 0


def write_plotfile(folder, domain, levels, ratios=(), **changes):
    """Writes a plotfile. domain: (lower, upper) of level 0. levels: a list of boxes (lower, upper) per level. ratios: one per finer
    level, with a number per axis."""
    case = {**DEFAULTS, **changes}
    dim = len(domain[0])
    case["ghosts"] = list(case["ghosts"] or [0] * dim)
    corner = np.array(case["corner"] or [0.25] * dim)
    spacing = np.array(case["spacing"] or [0.5, 0.25, 0.125][:dim])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    lower, upper = np.array(domain[0]), np.array(domain[1])
    domains, cells = [(lower, upper)], [spacing]
    for ratio in ratios:
        ratio = np.array(ratio)
        domains.append((domains[-1][0] * ratio, (domains[-1][1] + 1) * ratio - 1))
        cells.append(cells[-1] / ratio)
    with open(os.path.join(folder, "Header"), "w") as out:
        out.write("HyperCLaw-V1.1\n%d\n%s\n%d\n%.17g\n%d\n" % (len(case["names"]), "\n".join(case["names"]), dim, case["time"], len(levels) - 1))
        out.write("%s \n%s \n" % (" ".join("%.17g" % c for c in corner),
                                  " ".join("%.17g" % c for c in corner + spacing * (upper - lower + 1))))
        out.write(" ".join(str(r[0]) for r in ratios) + "\n")
        out.write(" ".join(box_text(lo, up, 0) for lo, up in domains) + " \n")
        out.write(" ".join(str(case["step"]) for _ in levels) + " \n")
        for dx in cells:
            out.write(" ".join("%.17g" % d for d in dx) + " \n")
        out.write("0\n0\n")
        for number, boxes in enumerate(levels):
            out.write("%d %d %.17g\n%d\n" % (number, len(boxes), case["time"], case["step"]))
            for lo, up in boxes:
                for axis in range(dim):
                    first = domains[number][0][axis] if case["shifted"] else 0
                    ends = [corner[axis] + (i - first) * cells[number][axis] for i in (lo[axis], up[axis] + 1)]
                    out.write("%.17g %.17g\n" % tuple(ends))
            out.write("Level_%d/Cell\n" % number)
    for number, boxes in enumerate(levels):
        write_level(folder, number, boxes, case)


def tiles(lower, upper, size):
    """Returns boxes of `size` cells that fill lower .. upper."""
    starts = [range(lo, up + 1, s) for lo, up, s in zip(lower, upper, size)]
    grid = np.stack(np.meshgrid(*starts, indexing="ij"), -1).reshape(-1, len(lower))
    return [([int(n) for n in start], [int(min(n + s - 1, up)) for n, s, up in zip(start, size, upper)]) for start in grid]
