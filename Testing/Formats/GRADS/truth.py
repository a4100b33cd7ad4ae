"""The expected output of ParaView for a GrADS data set: one npz, which make_cases.py or reference.py writes and conformance.py
reads. Needs numpy only."""
import json

import numpy as np

SCALE_HEIGHT = 7.0


def heights(levels):
    """Returns the positions of levels: decreasing levels are pressures, and others are numbered."""
    levels = np.asarray(levels, float)
    if len(levels) > 1 and levels[-1] > 0 and np.all(np.diff(levels) < 0):
        return SCALE_HEIGHT * np.log(1000 / (levels * (0.01 if levels[0] > 2000 else 1)))
    return np.arange(len(levels), dtype=float)


class Truth:
    """The expected values. arrays[step][name]: values as [level, y, x]; undefined floats are NaN. deep: names of variables on
    levels; all others are on the surface."""

    def __init__(self, ctl, x, y, levels, hours, dates, arrays, deep, steps=None):
        self.ctl, self.x, self.y, self.levels = ctl, np.asarray(x, float), np.asarray(y, float), list(levels)
        self.hours, self.dates, self.arrays, self.deep = list(hours), list(dates), arrays, set(deep)
        self.steps = list(range(len(self.hours))) if steps is None else list(steps)    # numbers among the steps of TDEF

    def z(self, name):
        """Returns the positions of the nodes of a variable's array along z."""
        high = heights(self.levels)
        if name in self.deep:
            return high
        any_deep = bool(self.deep)
        return np.array([high[0] - 0.5 * (high[1] - high[0]) if any_deep else 0.0])

    def goes_around(self):
        """Returns whether the last column is one cell away from the first one, around the globe."""
        cell = (self.x[-1] - self.x[0]) / max(len(self.x) - 1, 1)
        return len(self.x) > 2 and abs(len(self.x) * cell - 360) < 0.5 * cell

    def on_grid(self, step, name):
        """Returns the values on all levels; NaN (0 for integers) above the levels of the variable."""
        values = self.arrays[step][name]
        if name not in self.deep:
            return values[:1]
        fill = np.nan if values.dtype.kind == "f" else 0
        out = np.full((len(self.levels),) + values.shape[1:], fill, values.dtype)
        count = min(len(self.levels), len(values))
        out[:count] = values[:count]
        return out

    def save(self, path):
        meta = {"ctl": self.ctl, "levels": self.levels, "hours": self.hours, "dates": self.dates,
                "deep": sorted(self.deep), "steps": self.steps}
        flat = {"%d/%s" % (t, n): a for t, arrays in enumerate(self.arrays) for n, a in arrays.items()}
        np.savez(path, meta=np.frombuffer(json.dumps(meta).encode(), np.uint8), x=self.x, y=self.y, **flat)

    @staticmethod
    def load(path):
        with np.load(path) as stored:
            data = {name: stored[name] for name in stored.files}
        meta = json.loads(data.pop("meta").tobytes().decode())
        x, y = data.pop("x"), data.pop("y")
        arrays = [{} for _ in meta["hours"]]
        for name, values in data.items():
            step, variable = name.split("/", 1)
            arrays[int(step)][variable] = values
        return Truth(meta["ctl"], x, y, meta["levels"], meta["hours"], meta["dates"], arrays, meta["deep"],
                     meta["steps"])


def save_all(folder, truths):
    """Saves one npz per data set, and their list."""
    import os
    os.makedirs(folder, exist_ok=True)
    names = []
    for i, truth in enumerate(truths):
        names.append("%02d.npz" % i)
        truth.save(os.path.join(folder, names[-1]))
    with open(os.path.join(folder, "truths.json"), "w") as f:
        json.dump(names, f)


def load_all(folder):
    import os
    with open(os.path.join(folder, "truths.json")) as f:
        return [Truth.load(os.path.join(folder, name)) for name in json.load(f)]
