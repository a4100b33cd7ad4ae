"""Random states of a session: makes the next state from the previous one.

A state is plain data, so that a line of the log is sufficient to show it again:
  path, step      what is shown
  cells, points   names of the arrays that are read; None: all that are offered
  properties      of the reader, all that are named here
  filter          None, or its kind with its parameters
  event           None, "reload" or "stop", which come before the update
  check           whether the suite of the format compares it, too
"""
# Properties have the form name: (first value, function of a random.Random and the series that returns a new value).
BLOCKS = ["As patches", "Merged", "Merged up to Maximum Block Cells", "Overlapping AMR"]


def switch(random, series):
    return random.randint(0, 1)


def one_of(*choices):
    return lambda random, series: random.choice(choices)


def levels(random, series):
    return sorted([random.choice([0, 0, 0, 1, 2]), random.choice([0, 1, 2, 99, 99])])


def place(random, series):
    low, high = series.bounds[0::2], series.bounds[1::2]
    return [random.uniform(a, b) for a, b in zip(low, high)]


def box(random, series):
    corners = [sorted(pair) for pair in zip(place(random, series), place(random, series))]
    return [x for pair in corners for x in pair]


def normal(random, series):
    return random.choice([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [1, -2, 0.5], [0.3, 0.2, 1]])


def value_array(random, series):
    return random.choice([""] + [name for _, name in sorted(series.scalars)])


def value_range(random, series):
    if not series.scalars:
        return [0, 0]
    least, greatest = series.scalars[random.choice(sorted(series.scalars))]
    return sorted(random.uniform(least, greatest) for _ in range(2))


# Properties that change the output.
PICTURE = {
    "Blocks": ("Merged", one_of(*BLOCKS, "Merged", "Merged")), "MaximumBlockCells": (1000000, one_of(1, 20, 100, 5000, 1000000)),
    "AddGhostLayer": (0, switch), "AddPatchIds": (0, switch), "ComposeVectors": (1, switch), "HideUndefined": (1, switch),
    "PointLists": ("Automatic", one_of("Points", "Image", "Automatic")), "PartialArrays": (0, switch), "ShowDate": (1, switch),
    "Placement": ("Longitude, latitude", one_of("Longitude, latitude", "Sphere")), "ReadGhostCells": (0, switch),
    "Grids": ("Automatic", one_of("Automatic", "All")), "LevelRange": ([0, 99], levels), "BlankRefinedCells": (1, switch),
    "Region": ("Everything", one_of("Everything", "Everything", "Box", "Plane")), "RegionBounds": ([0.0, 1.0] * 3, box),
    "RegionOrigin": ([0.0] * 3, place), "RegionNormal": ([0.0, 0.0, 1.0], normal), "SliceWhileReading": (0, switch),
    "SkipByValue": (0, switch), "ValueArray": ("", value_array), "ValueRange": ([0.0, 0.0], value_range)}
# Properties that must not change the output.
WAY = {
    "ThreadMode": ("Automatic", one_of("Automatic", "From N* and NC", "Fixed")), "ThreadPolicy": ("Balanced", one_of("Polite", "Balanced", "Greedy")),
    "ThreadsPerRank": (4, one_of(1, 2, 3, 7, 16)), "StorageConcurrency": (32, one_of(1, 2, 9, 64)), "OtherLoad": (0, one_of(0, 1, 8, 100)),
    "StorageLatency": (0.02, one_of(0.0, 0.02, 5.0)), "StorageBandwidth": (1000.0, one_of(1.0, 1000.0)),
    "MetadataChannel": ("On", one_of("Off", "On", "Rebuild")), "Prefetch": (1, switch), "PrefetchSteps": (1, one_of(1, 2, 5)),
    "CacheMemory": (-1, one_of(-1, 0, 1, 64)), "MemoryLimit": (0, one_of(0, 8192)), "SkipBrokenPatches": (0, switch),
    "FilterThreading": ("For large blocks", one_of("As ParaView is set", "For large blocks", "Always")),
    "FilterThreadsPerRank": (0, one_of(0, 1, 3))}
# Properties that only the GUI uses, so that the reader does not read again.
OF_GUI = {"ShowDate"}
PROPERTIES = {**PICTURE, **WAY}
# Properties of a read of all arrays, one after another, without caches and index files.
FRESH = dict(ThreadMode="Fixed", ThreadsPerRank=1, MetadataChannel="Off", Prefetch=0, CacheMemory=0)


def defaults():
    return {name: first for name, (first, _) in PROPERTIES.items()}


def first_state(series):
    return dict(path=series.path, step=0, cells=list(series.cells), points=list(series.points), properties=defaults(), filter=None,
                event=None, check=False)


def home_state(series):
    """Returns a fixed state without caches, in which memory is compared."""
    state = first_state(series)
    state["properties"].update(Prefetch=0, CacheMemory=0, MetadataChannel="On")
    return dict(state, event="reload")


class Chance:
    """The random choices. all_series: the series by path. open_series: function that is called with a series before a choice needs
    its bounds."""

    def __init__(self, random, all_series, open_series):
        self.random, self.all, self.open = random, all_series, open_series
        self.ways = [(self.step, 40), (self.property, 30), (self.plane, 4), (self.interest, 4), (self.arrays, 8), (self.file, 6),
                     (self.filter, 10), (self.no_filter, 4), (self.reload, 2), (self.stop, 4), (self.plain, 3)]

    def next(self, state):
        """Returns the next state, which shares no objects with `state`."""
        state = dict(state, properties=dict(state["properties"]), event=None, check=False)
        series = self.all[state["path"]]
        ways, weights = zip(*self.ways)
        self.random.choices(ways, weights)[0](state, series)
        series = self.all[state["path"]]
        if self.random.random() < 0.2:
            state["check"] = True
            state["properties"], everything = series.checkable(state["properties"])
            if everything:
                state["cells"], state["points"] = list(series.cells), list(series.points)
        return state

    def step(self, state, series):
        last, move = len(series.times) - 1, self.random.choice([1, 1, 1, -1, -1, None])
        state["step"] = self.random.randint(0, last) if move is None else min(max(state["step"] + move, 0), last)

    def property(self, state, series):
        for name in self.random.sample(sorted(PROPERTIES), self.random.choice([1, 1, 1, 2, 3])):
            state["properties"][name] = PROPERTIES[name][1](self.random, series)

    def plane(self, state, series):
        state["properties"].update(Region="Plane", RegionOrigin=place(self.random, series), RegionNormal=normal(self.random, series),
                                   SliceWhileReading=switch(self.random, series))

    def interest(self, state, series):
        if series.scalars:
            key = self.random.choice(sorted(series.scalars))
            state["properties"].update(SkipByValue=1, ValueArray=key[1],
                                       ValueRange=sorted(self.random.uniform(*series.scalars[key]) for _ in range(2)))

    def arrays(self, state, series):
        for kind, names in (("cells", series.cells), ("points", series.points)):
            state[kind] = sorted(self.random.sample(names, self.random.randint(0, len(names))))
        if not state["cells"] and not state["points"] or self.random.random() < 0.4:
            state["cells"], state["points"] = list(series.cells), list(series.points)
        if state["filter"] and state["filter"].get("array") and state["filter"]["array"][1] not in state["cells"] + state["points"]:
            state["filter"] = None

    def file(self, state, series):
        other = self.all[self.random.choice(sorted(self.all))]
        self.open(other)
        properties = state["properties"] if self.random.random() < 0.5 else defaults()
        state.update(first_state(other), properties=properties, step=self.random.randrange(len(other.times)))

    def filter(self, state, series):
        kinds = ["Clip", "ExtractSurface"] + ["Slice"] * series.slices
        chosen = [key for key in sorted(series.scalars) if key[1] in state["cells"] + state["points"]]
        contours = [key for key in chosen if key in series.contours]
        made = {"kind": self.random.choice(kinds + ["Threshold"] * 2 * bool(chosen) + ["Contour"] * 2 * bool(contours))}
        if made["kind"] in ("Slice", "Clip"):
            made.update(origin=place(self.random, series), normal=normal(self.random, series))
        elif made["kind"] != "ExtractSurface":
            key = self.random.choice(contours if made["kind"] == "Contour" else chosen)
            made.update(array=list(key), range=sorted(self.random.uniform(*series.scalars[key]) for _ in range(2)))
        state["filter"] = made

    def no_filter(self, state, series):
        state["filter"] = None

    def reload(self, state, series):
        state["event"] = "reload"

    def stop(self, state, series):
        self.step(state, series)
        state["event"] = "stop"

    def plain(self, state, series):
        state["properties"] = defaults()
