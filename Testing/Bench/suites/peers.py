"""Compares PatchIO with ParaView's own readers of the same values, in pvbatch on one rank: XDMF for the same HDF5 files, VTKHDF for
a copy, and its AMReX reader for plotfiles. Debian's ParaView does not read SAMRAI dumps, because it is built without the
VisItBridge."""
import os

import plotfiles
from measuring import interleave, make_dump, pvbatch, ratios_of, read_dump, remember, say

PATCHES, SIZE = 2000, 32


def write_xdmf(path, summary):
    """Writes a collection of uniform grids, without time, that refers to the data sets of the cluster files."""
    import h5py
    with h5py.File(summary) as file:
        extents = file["/extents/patch_extents"][:]
        places = file["/extents/patch_map"][:]
    folder = os.path.dirname(summary)
    with open(path, "w") as out:
        out.write('<?xml version="1.0"?>\n<Xdmf Version="2.0"><Domain><Grid GridType="Collection">\n')
        for extent, place in zip(extents, places):
            lower = extent["lower"]
            name = "%s/processor_cluster.%05d.samrai:/processor.%05d/level.%05d/patch.%05d/v0" % (
                folder, place["file_cluster_number"], place["processor_number"], place["level_number"], place["patch_number"])
            out.write('<Grid Name="p%d"><Topology TopologyType="3DCoRectMesh" Dimensions="%d %d %d"/>'
                      '<Geometry GeometryType="ORIGIN_DXDYDZ"><DataItem Dimensions="3" Format="XML">%d %d %d</DataItem>'
                      '<DataItem Dimensions="3" Format="XML">1 1 1</DataItem></Geometry>'
                      '<Attribute Name="v0" Center="Cell"><DataItem Dimensions="%d %d %d" NumberType="Float" Precision="4" '
                      'Format="HDF">%s</DataItem></Attribute></Grid>\n'
                      % ((place["patch_number"],) + (SIZE + 1,) * 3 + tuple(lower[::-1]) + (SIZE,) * 3 + (name,)))
        out.write("</Grid></Domain></Xdmf>\n")


def write_vtkhdf(path, summary):
    """Writes the same patches as level 0 of an overlapping AMR into one VTKHDF file, in native byte order."""
    import h5py
    import numpy
    with h5py.File(summary) as file:
        extents = file["/extents/patch_extents"][:]
        places = file["/extents/patch_map"][:]
    clusters = {}
    with h5py.File(path, "w") as out:
        group = out.create_group("VTKHDF")
        group.attrs["Version"] = numpy.array([1, 0])
        group.attrs.create("Type", b"OverlappingAMR", dtype=h5py.string_dtype("ascii", 14))
        group.attrs.create("GridDescription", b"XYZ", dtype=h5py.string_dtype("ascii", 3))
        group.attrs["Origin"] = numpy.zeros(3)
        level = group.create_group("Level0")
        level.attrs["Spacing"] = numpy.ones(3)
        boxes = numpy.empty((len(extents), 6), "i4")
        boxes[:, 0::2] = extents["lower"]
        boxes[:, 1::2] = extents["upper"]
        level["AMRBox"] = boxes
        values = level.create_group("CellData").create_dataset("v0", (len(extents) * SIZE ** 3,), "f4")
        for i, place in enumerate(places):
            number = place["file_cluster_number"]
            if number not in clusters:
                clusters[number] = h5py.File("%s/processor_cluster.%05d.samrai" % (os.path.dirname(summary), number))
            data = clusters[number]["processor.%05d/level.%05d/patch.%05d/v0" % (
                place["processor_number"], place["level_number"], place["patch_number"])]
            values[i * SIZE ** 3:(i + 1) * SIZE ** 3] = data[:]


def run(report, folder, rounds):
    """./dev bench peers"""
    summary = make_dump(folder, "peers", patches=PATCHES, size=SIZE)
    data = os.path.dirname(os.path.dirname(summary))
    paths = {"PatchIO": summary, "XDMF": os.path.join(data, "same.xmf"), "VTKHDF": os.path.join(data, "copy.vtkhdf")}
    if not os.path.exists(paths["XDMF"]):
        write_xdmf(paths["XDMF"], summary)
    if not os.path.exists(paths["VTKHDF"]):
        write_vtkhdf(paths["VTKHDF"], summary)
    read_dump(summary, sidecar=True, steps=0)
    remember(data)
    ways = {name: (lambda name=name: pvbatch("peer_read.py", name, paths[name], "v0")) for name in paths}
    found = interleave(ways, min(rounds, 5))
    cells = {name: {run["cells"] for run in runs} for name, runs in found.items()}
    sums = {name: {round(run["sum"], -3) for run in runs} for name, runs in found.items()}
    say("cells %s, sums %s" % (cells, sums))
    for name in ("XDMF", "VTKHDF"):
        if cells[name] != cells["PatchIO"] or sums[name] != sums["PatchIO"]:
            report.skipped(name, "its reader shows different values: the sum is %s for %s cells" % (sums[name], cells[name]))
            continue
        report.goal("%d patches of %d^3, open to data in ParaView: PatchIO / ParaView's %s reader" % (PATCHES, SIZE, name), 1,
                    ratios_of(found[name], found["PatchIO"], "seconds"))
    report.data["peers"] = found
    plotfiles.run(report, folder, rounds)
