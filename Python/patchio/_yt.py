"""Steps as data sets of yt."""
import numpy as np

from ._errors import step_error
from ._optional import import_optional

_MAX_CELLS = 1 << 19    # maximum number of cells of a grid of yt


def _refinement_ratio(step, level_count):
    """Returns the refinement ratio of the first `level_count` levels; 2 for one level. Raises Error unless all levels and axes
    have the same whole ratio, as yt requires."""
    spacing = step.levels["spacing"][:level_count, :step.dimension]
    ratios = spacing[:-1] / spacing[1:]
    if not ratios.size:
        return 2
    ratio = int(round(ratios.flat[0]))
    if ratio < 2 or not np.allclose(ratios, ratio, rtol=1e-6):
        raise step_error(step, "to_yt() needs one whole refinement ratio for all levels and axes. Choose "
                               "levels=[0], or use uniform_grid().")
    return ratio


def _split(part, fine):
    """Splits `part`, a tuple (block, lower, upper), into parts of at most _MAX_CELLS cells, because yt reads whole parts.

    fine    number of cells in a coarser cell along x, y, z; parts end at edges of coarser cells
    """
    number, lower, upper = part
    sizes = upper - lower + 1
    axis = int(sizes.argmax())
    middle = (lower[axis] + sizes[axis] // 2) // fine[axis] * fine[axis]
    if sizes.astype(np.int64).prod() <= _MAX_CELLS or not lower[axis] < middle <= upper[axis]:
        return [part]
    end, begin = upper.copy(), lower.copy()
    end[axis], begin[axis] = middle - 1, middle
    return _split((number, lower, end), fine) + _split((number, begin, upper), fine)


def _split_at_parents(step, blocks, ratio):
    """Returns parts of the blocks as (block, lower, upper). Each part is within one part of the next coarser level, because a grid of yt
    has one parent. Raises Error if a patch is not inside the coarser level."""
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
                raise step_error(step, "to_yt() needs patches inside patches of the coarser level, but patch %d is not. Choose "
                                       "levels=[0], or use uniform_grid().", blocks["patch"][number])
            found += [(number, lows[i], highs[i]) for i in inside]
        found = [smaller for part in found for smaller in _split(part, fine)]
        before = np.array([part[1] for part in found]), np.array([part[2] for part in found])
        parts += found
    return parts


def _box_reader(step, name, component, patches, lower, upper):
    """Returns the function by which yt reads the values [i, j, k] of a box of cells."""
    def read(_grid, _field):
        plan = step._core.plan_box(patches, lower, upper)
        values = step._read_blocks(plan, [name])[name][0]
        values = values.reshape((-1,) + values.shape[step.dimension - 2:])    # [k, j, i], also in two dimensions
        return (values if component is None else values[..., component]).T
    return read


def _fields(step, names, patches, lower, upper):
    """Returns {name of a field: function that reads the field} for a box of cells. Each component of a variable is a field."""
    fields = {}
    for name in names:
        components = step.variables[name].components
        for c in range(components):
            label = name if components == 1 else "%s_%s" % (name, "xyz"[c] if components <= 3 else c)
            fields[label] = _box_reader(step, name, c if components > 1 else None, patches, lower.tolist(), upper.tolist())
    return fields


def _check_presence(step, names, patches):
    """Raises Error if a patch lacks one of the variables."""
    for name in names:
        if not step._presence_of(name)[patches].all():
            raise step_error(step, "to_yt() needs variables on every patch, but some patches lack '%s'. Choose other variables or levels.", name)


def to_yt(step, variables, levels):
    """Implements Step.to_yt()."""
    yt = import_optional("yt", "to_yt()")
    if step.mesh or step.grid != "uniform" or "points" in step.level_roles:
        raise step_error(step, "to_yt() supports only uniform grids without lists of points.")
    of_cells = [name for name, variable in step.variables.items() if variable.centering == "cell"]
    names = step._variable_names(variables) if variables is not None else of_cells
    if not names or any(name not in of_cells for name in names):
        raise step_error(step, "to_yt() needs cell variables. The cell variables are: %s.", ", ".join(of_cells) or "none")
    selected = np.array(step._select_patches(None, levels), int)
    _, blocks = step._plan_blocks(names, selected, levels, "filled")
    found = set(blocks["level"].tolist())
    missing = set(range(max(found, default=0) + 1)) - found
    if missing:
        raise step_error(step, "to_yt() needs all levels from 0 up to the finest one, found no patches of level %d.", min(missing))
    _check_presence(step, names, selected)
    of_level = [selected[step.patches["level"][selected] == level].tolist() for level in range(len(step.levels))]
    ratio = _refinement_ratio(step, blocks["level"].max() + 1)
    flat = np.arange(3) >= step.dimension
    spacing = np.where(flat, 1.0, step.levels["spacing"])
    origin = np.where(flat, 0.0, step.origin)
    grids = []
    for number, lower, upper in _split_at_parents(step, blocks, ratio):
        level = int(blocks["level"][number])
        grids.append({"left_edge": origin + lower * spacing[level], "right_edge": origin + (upper + 1) * spacing[level], "level": level,
                      "dimensions": upper - lower + 1, **_fields(step, names, of_level[level], lower, upper)})
    coarse = blocks[blocks["level"] == 0]
    lower, upper = coarse["lower"].min(0), coarse["upper"].max(0) + 1
    box = np.stack([origin + lower * spacing[0], origin + upper * spacing[0]], 1)
    return yt.load_amr_grids(grids, upper - lower, bbox=box, refine_by=ratio, sim_time=float(step.time), periodicity=(False,) * 3,
                             dataset_name="%s, step %d" % (step.path, step.number))
