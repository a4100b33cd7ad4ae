"""Steps as data sets of yt."""
import numpy as np

from ._errors import step_error
from ._optional import optional


def _refinement(step, used):
    """Returns how many times finer each level is than the one before. Raises Error unless this is one number for all, as yt needs it."""
    spacing = step.levels["spacing"][:used, :step.dimension]
    ratios = spacing[:-1] / spacing[1:]
    if not ratios.size:
        return 2
    ratio = int(round(ratios.flat[0]))
    if ratio < 2 or not np.allclose(ratios, ratio, rtol=1e-6):
        raise step_error(step, "to_yt() needs one whole refinement ratio for all levels and axes. Choose "
                               "levels=[0], or use uniform_grid().")
    return ratio


def _within_parents(step, blocks, ratio):
    """Returns (block, lower, upper) of parts of the blocks, each in one part of the level before: a grid of yt has one parent."""
    parts, before = [], None
    fine = np.where(np.arange(3) < step.dimension, ratio, 1)
    for level in range(int(blocks["level"].max()) + 1):
        found = []
        for number in np.flatnonzero(blocks["level"] == level):
            lower, upper = blocks["lower"][number], blocks["upper"][number]
            if before is None:
                found.append((number, lower, upper))
                continue
            lows, highs = np.maximum(lower, before[0] * fine), np.minimum(upper, before[1] * fine + fine - 1)
            inside = np.flatnonzero((lows <= highs).all(1))
            if (highs[inside] - lows[inside] + 1).prod(1).sum() != (upper - lower + 1).prod():
                raise step_error(step, "to_yt() needs patches inside patches of the coarser level, unlike patch %d. Choose "
                                       "levels=[0], or use uniform_grid().", blocks["patch"][number])
            found += [(number, lows[i], highs[i]) for i in inside]
        before = np.array([part[1] for part in found]), np.array([part[2] for part in found])
        parts += found
    return parts


def _fields(step, names, arrays, number, place):
    """Returns {name of a field: values [i, j, k]} of a part of a block, with a field for each component. Values are not copied."""
    fields = {}
    for name in names:
        components = step.variables[name].components
        if number not in arrays[name]:
            raise step_error(step, "to_yt() needs variables on every patch, unlike '%s'. Choose other variables or levels.", name)
        values = arrays[name][number]
        values = values.reshape((-1,) + values.shape[step.dimension - 2:])    # [k, j, i], also in two dimensions
        for c in range(components):
            label = name if components == 1 else "%s_%s" % (name, "xyz"[c] if components <= 3 else c)
            fields[label] = (values[..., c] if components > 1 else values).T[place]
    return fields


def to_yt(step, variables, levels):
    """Implements Step.to_yt()."""
    yt = optional("yt", "to_yt()")
    if step.mesh or step.grid != "uniform" or "points" in step.level_roles:
        raise step_error(step, "to_yt() supports only uniform grids.")
    of_cells = [name for name, variable in step.variables.items() if variable.centering == "cell"]
    names = step._names(variables) if variables is not None else of_cells
    if not names or any(name not in of_cells for name in names):
        raise step_error(step, "to_yt() needs cell variables. The cell variables are: %s.", ", ".join(of_cells) or "none")
    plan, blocks = step._plan(names, step._wanted(None, levels), levels, "filled")
    if not blocks.size or blocks["level"].min() > 0:
        raise step_error(step, "to_yt() needs all levels from 0 up to the finest one.")
    arrays = step._read_blocks(plan, names)
    ratio = _refinement(step, blocks["level"].max() + 1)
    flat = np.arange(3) >= step.dimension
    spacing = np.where(flat, 1.0, step.levels["spacing"])
    origin = np.where(flat, 0.0, step.origin)
    grids = []
    for number, lower, upper in _within_parents(step, blocks, ratio):
        level, first = int(blocks["level"][number]), blocks["lower"][number]
        place = tuple(slice(low, high + 1) for low, high in zip(lower - first, upper - first))
        grids.append({"left_edge": origin + lower * spacing[level], "right_edge": origin + (upper + 1) * spacing[level], "level": level,
                      "dimensions": upper - lower + 1, **_fields(step, names, arrays, number, place)})
    coarse = blocks[blocks["level"] == 0]
    lower, upper = coarse["lower"].min(0), coarse["upper"].max(0) + 1
    box = np.stack([origin + lower * spacing[0], origin + upper * spacing[0]], 1)
    return yt.load_amr_grids(grids, upper - lower, bbox=box, refine_by=ratio, sim_time=float(step.time), periodicity=(False,) * 3,
                             dataset_name="%s, step %d" % (step.path, step.number))
