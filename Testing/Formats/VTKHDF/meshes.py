"""Meshes for the tests: partitions of known shape with values from a formula, and VTKHDF files of them, with h5py only."""
import h5py
import numpy as np

LISTS = ("Vertices", "Lines", "Polygons", "Strips")
# The corners of a hexahedron in VTK's order, and cells of other types that fill it: (type, corners).
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
FILLS = [[(12, [0, 1, 2, 3, 4, 5, 6, 7])],
         [(11, [0, 1, 3, 2, 4, 5, 7, 6])],
         [(13, [0, 3, 1, 4, 7, 5]), (13, [1, 3, 2, 5, 7, 6])],
         [(10, [0, 1, 3, 4]), (10, [1, 2, 3, 6]), (10, [1, 4, 5, 6]), (10, [3, 4, 6, 7]), (10, [1, 3, 4, 6])]]


def field(points, time):
    """Returns a linear field, which filters reproduce exactly."""
    return points @ np.array([1.0, 10.0, 100.0]) + time


class Mesh:
    """A partition: points, and the cells of each list of cells. Unstructured grids have one list, with types."""

    def __init__(self, points, lists, types=None):
        self.points = np.asarray(points, float).reshape(-1, 3)
        self.lists = [[list(cell) for cell in cells] for cells in lists]
        self.types = types

    def cells(self):
        return [cell for cells in self.lists for cell in cells]

    def centres(self):
        return np.array([self.points[cell].mean(axis=0) for cell in self.cells()]).reshape(-1, 3)


def box(lower, cells, mixed=False):
    """Returns a box of cubes of size 1, as hexahedra or as cells of many types in turn."""
    nodes = np.array(cells) + 1
    points = np.stack(np.meshgrid(*(np.arange(n) for n in nodes), indexing="ij"), -1).reshape(-1, 3)
    found, types = [], []
    for number, cube in enumerate(np.ndindex(*cells)):
        corners = np.ravel_multi_index((CORNERS + cube).T, nodes)
        for kind, ids in FILLS[number % len(FILLS) if mixed else 0]:
            found.append(corners[ids])
            types.append(kind)
    return Mesh(points + np.array(lower), [found], types)


def carpet(lower, cells):
    """Returns polygonal data: squares, every third one as two triangles in a strip, a line along the edge, and the corners as
    vertices."""
    nodes = np.array(cells) + 1
    points = np.stack(np.meshgrid(np.arange(nodes[0]), np.arange(nodes[1]), [0.0], indexing="ij"), -1).reshape(-1, 3)
    polygons, strips = [], []
    for number, (i, j) in enumerate(np.ndindex(*cells)):
        a, b = i * nodes[1] + j, (i + 1) * nodes[1] + j
        if number % 3 == 2:
            strips.append([a, b, a + 1, b + 1])
        else:
            polygons.append([a, b, b + 1, a + 1])
    ends = [0, nodes[1] - 1, len(points) - 1]
    return Mesh(points + np.array(lower), [[[e] for e in ends], [list(range(nodes[1]))], polygons, strips])


class Writer:
    """Adds steps to a file. kind: UnstructuredGrid or PolyData."""

    def __init__(self, path, kind, several=False, dtypes=None, repeat_sizes=False, **storage):
        self.file, self.kind, self.several = h5py.File(path, "w"), kind, several
        self.lists = [l + "/" for l in LISTS] if kind == "PolyData" else [""]
        self.dtypes = {"Points": "f8", "Connectivity": "i8", "Offsets": "i8", "Types": "u1", **(dtypes or {})}
        self.repeat_sizes, self.storage = repeat_sizes, storage
        self.columns, self.steps, self.before = {}, {}, None

    def add(self, name, values, dtype):
        self.columns.setdefault(name, []).append(np.asarray(values, dtype))

    def rows(self, name):
        return sum(len(part) for part in self.columns.get(name, []))

    def note(self, name, value):
        self.steps.setdefault(name, []).append(value)

    def sizes(self, parts):
        self.first_part = self.rows("NumberOfPoints")
        for mesh in parts:
            self.add("NumberOfPoints", [len(mesh.points)], "i8")
            for group, cells in zip(self.lists, mesh.lists):
                self.add(group + "NumberOfCells", [len(cells)], "i8")
                self.add(group + "NumberOfConnectivityIds", [sum(map(len, cells))], "i8")

    def geometry(self, parts):
        self.first = (self.rows("Points"), [self.rows(g + "Connectivity") for g in self.lists],
                      [self.rows(g + "Offsets") - self.rows("NumberOfPoints") for g in self.lists])
        self.sizes(parts)
        for mesh in parts:
            self.add("Points", mesh.points, self.dtypes["Points"])
            if mesh.types is not None:
                self.add("Types", mesh.types, self.dtypes["Types"])
            for group, cells in zip(self.lists, mesh.lists):
                self.add(group + "Connectivity", [node for cell in cells for node in cell], self.dtypes["Connectivity"])
                self.add(group + "Offsets", np.cumsum([0] + [len(cell) for cell in cells]), self.dtypes["Offsets"])

    def step(self, time, parts, arrays, keep=()):
        """Adds a step. arrays: name -> (PointData or CellData, function of a mesh and the time). keep: arrays that are not written
        again at this step."""
        if parts is not self.before:
            self.geometry(parts)
        elif self.repeat_sizes:
            self.sizes(parts)
        self.before = parts
        point, connectivity, cell = self.first
        for name, value in (("Values", time), ("PartOffsets", self.first_part), ("NumberOfParts", len(parts)), ("PointOffsets", point),
                            ("CellOffsets", cell), ("ConnectivityIdOffsets", connectivity)):
            self.note(name, value)
        for name, (place, values) in arrays.items():
            stored = place + "/" + name
            if name in keep:
                self.note(place + "Offsets/" + name, self.steps[place + "Offsets/" + name][-1])
                continue
            self.note(place + "Offsets/" + name, self.rows(stored))
            for mesh in parts:
                part = np.asarray(values(mesh, time))
                self.add(stored, part, part.dtype)

    def close(self):
        root = self.file.create_group("VTKHDF")
        old = self.kind == "UnstructuredGrid" and not self.several
        root.attrs["Version"], root.attrs["Type"] = np.array([1, 0] if old else [2, 0]), np.bytes_(self.kind)
        for name, parts in self.columns.items():
            data = np.concatenate(parts)
            root.create_dataset(name, data=data, maxshape=(None,) + data.shape[1:] if self.storage.get("chunks") else None, **self.storage)
        if self.several:
            steps = root.create_group("Steps")
            steps.attrs["NSteps"] = len(self.steps["Values"])
            for name, values in self.steps.items():
                steps[name] = np.array(values)
        self.file.close()


def point_field(mesh, time):
    return field(mesh.points, time)


def cell_field(mesh, time):
    return field(mesh.centres(), time).astype("f4")


def velocity(mesh, time):
    return np.stack([mesh.points[:, 1], mesh.points[:, 2] + time, mesh.points[:, 0]], -1)


def kinds(mesh, time):
    return np.arange(len(mesh.cells()), dtype="u4") + 7


ARRAYS = {"p": ("PointData", point_field), "c": ("CellData", cell_field), "v": ("PointData", velocity), "k": ("CellData", kinds)}
NOTHING = Mesh([], [[]], [])
BOXES = [box((0, 0, 0), (4, 3, 2)), box((4, 0, 0), (2, 3, 2), mixed=True), box((6, 0, 0), (5, 3, 2), mixed=True)]
CARPETS = [carpet((0, 0, 0), (4, 3)), carpet((4, 0, 0), (2, 3)), carpet((6, 0, 0), (5, 3))]


def one(path, kind, parts, arrays=None, **options):
    writer = Writer(path, kind, **options)
    writer.step(0.0, parts, arrays or ARRAYS)
    writer.close()


def several(path, kind, steps, keep=(), **options):
    """Writes a file of several steps. steps: pairs (time, partitions)."""
    writer = Writer(path, kind, several=True, **options)
    for number, (time, parts) in enumerate(steps):
        writer.step(time, parts, ARRAYS, keep if number else ())
    writer.close()


def ghosts(mesh, time):
    """Returns ghost flags: beyond x = 4, the cells of the mesh that begins at 0 belong to the next mesh."""
    return np.array((mesh.points[:, 0].min() == 0) & (mesh.centres()[:, 0] > 4), "u1")


def write_all(path):
    """Writes all meshes. path: function of the name of a folder and of a file."""
    one(path("boxes", "mesh.vtkhdf"), "UnstructuredGrid", BOXES)
    one(path("carpets", "mesh.vtkhdf"), "PolyData", CARPETS)
    narrow = {"Points": "f4", "Connectivity": "i4", "Offsets": "i4"}
    packed = {"chunks": True, "compression": "gzip", "shuffle": True}
    one(path("packed_boxes", "mesh.vtkhdf"), "UnstructuredGrid", BOXES, dtypes=narrow, **packed)
    one(path("packed_carpets", "mesh.hdf"), "PolyData", CARPETS, dtypes={"Connectivity": "i4"}, **packed)
    one(path("unsigned_boxes", "mesh.vtkhdf"), "UnstructuredGrid", BOXES,
        dtypes={"Points": ">f8", "Connectivity": "u8", "Offsets": ">u4", "Types": "i4"})
    one(path("hollow_boxes", "mesh.vtkhdf"), "UnstructuredGrid", [NOTHING, BOXES[0], Mesh([[9, 9, 9]], [[]], []), NOTHING, BOXES[2]])
    one(path("ghost_boxes", "mesh.vtkhdf"), "UnstructuredGrid", [box((0, 0, 0), (6, 3, 2)), box((4, 0, 0), (7, 3, 2))],
        {**ARRAYS, "vtkGhostType": ("CellData", ghosts)})
    one(path("bare_boxes", "mesh.vtkhdf"), "UnstructuredGrid", BOXES[:1], {"p": ARRAYS["p"]})
    times = [0.5, 0.75, 2.0]
    several(path("steady_boxes", "mesh.vtkhdf"), "UnstructuredGrid", [(t, BOXES) for t in times], keep=("k",))
    several(path("steady_carpets", "mesh.vtkhdf"), "PolyData", [(t, CARPETS) for t in times], **packed)
    several(path("repeated_boxes", "mesh.vtkhdf"), "UnstructuredGrid", [(t, BOXES) for t in times], repeat_sizes=True)
    several(path("repeated_carpets", "mesh.vtkhdf"), "PolyData", [(t, CARPETS) for t in times], repeat_sizes=True)
    several(path("changing_boxes", "mesh.vtkhdf"), "UnstructuredGrid",
            [(0.5, BOXES), (0.75, BOXES[1:]), (2.0, [box((0, 0, 0), (4, 3, 2), mixed=True), NOTHING] + BOXES[1:]), (3.0, BOXES[::-1])], **packed)
    moved = [Mesh(mesh.points + [0, 0, 5], mesh.lists) for mesh in CARPETS]
    several(path("changing_carpets", "mesh.vtkhdf"), "PolyData", [(0.5, CARPETS), (0.75, moved), (2.0, CARPETS[:2])])
