#!/usr/bin/python3
"""Tests VTKHDF files that h5py writes: images with flat axes, and unsupported files. `patchio info`, `patchio verify` and reading must
give the same messages, and all values must be those that were written.

usage: written_by_h5py.py --info patchio FOLDER     (PYTHONPATH: the package patchio)
"""
import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import warnings

import h5py
import numpy as np
import patchio

from make_cases import root_of, write_image
import meshes
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from expectations import expect, failed  # noqa: E402

programs, folder = {}, ""


def path_of(name):
    return os.path.join(folder, name)


def outside(name):
    """Returns a path in another folder."""
    os.makedirs(folder + "_outside", exist_ok=True)
    return os.path.join(folder + "_outside", name)


def said_by(command, path, *options):
    """Returns the exit status and the text."""
    done = subprocess.run([programs["info"], command, *options, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return done.returncode, done.stdout


def opened(path):
    """Returns the series, or None, and the message."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            return patchio.open(path), "\n".join(str(one.message) for one in caught)
        except patchio.Error as error:
            return None, str(error)


def check_flat_images():
    """Tests the bounds for each combination of flat axes, with all axes stored and without the flat ones. compare_core.py compares the
    values."""
    for widths in itertools.product((0, 4), (0, 3), (0, 5)):
        for thin in (True, False):
            path = path_of("flat.vtkhdf")
            extent = [bound for axis, width in enumerate(widths) for bound in (axis, axis + width)]
            write_image(path, extent, {"cs": ("CellData", 1, "f4"), "ps": ("PointData", 1, "f8")}, spacing=(0.5, 1, 2), thin=thin)
            series, said = opened(path)
            where = "image of %s cells, %s" % (widths, "without flat axes" if thin else "with all axes")
            expect(series is not None and said == "", "%s: %s", where, said)
            if series is None:
                continue
            lower = np.array([0, 1, 2]) * (0.5, 1, 2)
            bounds = np.ravel(np.column_stack([lower, lower + np.array(widths) * (0.5, 1, 2)]))
            expect(np.allclose(series.bounds, bounds), "%s: bounds %s instead of %s", where, series.bounds, bounds)
            status, text = said_by("verify", path)
            expect(status == 0 and text.startswith("intact: "), "%s: verify: %s", where, text)


def gathered(file, name):
    """Makes a virtual data set."""
    source = outside("source.h5")
    with h5py.File(source, "w") as other:
        other["a"] = VALUES
    layout = h5py.VirtualLayout(VALUES.shape, VALUES.dtype)
    layout[:] = h5py.VirtualSource(source, "a", VALUES.shape)
    file.create_virtual_dataset(name, layout)


def scattered(file, name):
    """Makes a virtual data set with the planes of an image in two other files."""
    layout = h5py.VirtualLayout(VALUES.shape, VALUES.dtype)
    for z, values in enumerate(VALUES):
        with h5py.File(path_of("plane%d.h5" % z), "w") as other:
            other["a"] = values
        layout[z] = h5py.VirtualSource("plane%d.h5" % z, "a", values.shape)
    file.create_virtual_dataset(name, layout)


def stored(dtype=None, **storage):
    def add(file, name):
        file.create_dataset(name, data=VALUES.astype(dtype or VALUES.dtype), **storage)
    return add


def filtered(file, name):
    """Makes a data set with a filter that is not installed. lzf is not suitable: h5py has it, and may share the HDF5 library with
    PatchIO."""
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    settings.set_chunk((1, 3, 4))
    settings.set_filter(32017, h5py.h5z.FLAG_OPTIONAL)
    array = h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple(VALUES.shape), settings)
    for z, values in enumerate(VALUES):
        array.write_direct_chunk((z, 0, 0), values.tobytes())


def linked(file, name):
    file[name] = h5py.ExternalLink(path_of("source.h5"), "/a")


VALUES = np.arange(4 * 3 * 2.).reshape(2, 3, 4)
LEFT_OUT = [("virtual", gathered, "virtual data set of files in other folders"), ("linked", linked, "external link"),
            ("scattered", scattered, "virtual data set that takes the values of a patch from several data sets"),
            ("sz", filtered, r"filter 32017 \(sz\)"),
            ("half", stored("f2"), "type float16"), ("complex", stored("c16"), "type compound"), ("text", stored("S3"), "type text"),
            ("truth", stored("?"), "type enumeration"), ("flattened", lambda file, name: file.create_dataset(name, data=VALUES.ravel()), "shape 24")]


def check_same_answer(path, pattern, left):
    """Expects the same text from info, verify and reading: a warning if other arrays are left, otherwise an error."""
    series, said = opened(path)
    expect((series is not None) == left, "%s: reading: %s", path, said)
    expect(re.fullmatch(pattern, said), "%s: reading says '%s'", path, said)
    for command in (["info"], ["verify"], ["verify", "--step", "0"]):
        status, text = said_by(command[0], path, *command[1:])
        expect(status == 1 and said in text, "%s: %s: %d, %s", path, " ".join(command), status, text)
        expect("intact: " not in text and "damaged" not in text, "%s: %s: %s", path, " ".join(command), text)
        expect(text.count("not supported: ") == 1, "%s: %s says it several times: %s", path, " ".join(command), text)
    return series


def check_left_out():
    for name, add, why in LEFT_OUT:
        path = path_of("left_out.vtkhdf")
        write_image(path, (0, 4, 0, 3, 0, 2), {"good": ("CellData", 1, "f8")})
        with h5py.File(path, "r+") as file:
            add(file, "VTKHDF/CellData/" + name)
        pattern = "%s: not supported: %s.* in 'VTKHDF/CellData/%s'. PatchIO skips the array." % (re.escape(path), why, name)
        series = check_same_answer(path, pattern, left=True)
        if name == "sz":    # an index file must not hide the message
            series = check_same_answer(path, pattern, left=True)
        if series is None:
            continue
        expect(list(series.variables) == ["good"], "%s: variables %s", name, list(series.variables))
        with h5py.File(path, "r") as file:
            expect(np.array_equal(series[0].read("good")[0], file["VTKHDF/CellData/good"][()]), "%s: 'good' differs", name)


def check_large_chunks():
    """Tests an image with one chunk of 70 MB, and with three small ones. No patch may have a part of a chunk."""
    for (depth, width), planes, patches in (((270, 256), 270, 1), ((192, 128), 64, 2)):
        path = path_of("chunks_of_%d.vtkhdf" % planes)
        values = np.arange(depth * width**2, dtype="f4").reshape(depth, width, width)
        write_image(path, (0, width, 0, width, 0, depth), {})
        with h5py.File(path, "r+") as file:
            file.require_group("VTKHDF/CellData").create_dataset("a", data=values, chunks=(planes, width, width), compression=1, shuffle=True)
        series, said = opened(path)
        read = series[0].read("a") if series else {}
        expect(len(read) == patches, "%s: %d patches, not %d: %s", path, len(read), patches, said)
        expect(np.array_equal(np.concatenate([read[p].ravel() for p in sorted(read)]) if read else 0, values.ravel()), "%s: other values", path)


def check_names_on_the_terminal():
    """Tests names with control characters, which must not be printed to the terminal."""
    path = path_of("escapes.vtkhdf")
    write_image(path, (0, 4, 0, 3, 0, 2), {"good": ("CellData", 1, "f8")})
    with h5py.File(path, "r+") as file:
        file.move("VTKHDF/CellData/good", "VTKHDF/CellData/a\x1b[2J\nb")
    status, text = said_by("info", path)
    expect(status == 0 and "a?[2J?b" in text and "\x1b" not in text, "%s: %r", path, text)


def check_dates_as_field_data():
    """Tests field data with the name of the time that are not a number."""
    path = path_of("dated.vtkhdf")
    for time in (None, 2.5):
        write_image(path, (0, 4, 0, 3, 0, 2), {"good": ("CellData", 1, "f8")}, time=time)
        with h5py.File(path, "r+") as file:
            file["VTKHDF/FieldData/Time"] = np.array([b"2024-01-01"])
        series, said = opened(path)
        expect(series is not None and said == "" and list(series.times) == [time or 0], "%s: %s", path, said)


def check_one_warning_for_many():
    """Tests an array that is unsupported on all levels, and a series of files."""
    paths = [path_of("many_%d.vtkhdf" % number) for number in range(3)]
    for path in paths:
        write_image(path, (0, 4, 0, 3, 0, 2), {"good": ("CellData", 1, "f8"), "half": ("CellData", 1, "f2")})
    _, said = opened(paths)
    expect(said.count("not supported: ") == 1 and said.endswith("The same applies to 2 more files."), "a series: %s", said)


def check_meshes():
    """Tests polyhedra, and the mesh's own arrays as virtual data sets or of an unsupported type."""
    def polyhedra(file):
        file["VTKHDF/PolyhedronToFaces"] = np.arange(6)
        file["VTKHDF/Types"][0] = 42

    def elsewhere(name):
        def change(file):
            source = outside("mesh_source.h5")
            with h5py.File(source, "w") as other:
                other["a"] = file[name][()]
                layout = h5py.VirtualLayout(file[name].shape, file[name].dtype)
            layout[:] = h5py.VirtualSource(source, "a", layout.shape)
            del file[name]
            file.create_virtual_dataset(name, layout)
        return change

    def half(file):
        points = file["VTKHDF/Points"][()]
        del file["VTKHDF/Points"]
        file["VTKHDF/Points"] = points.astype("f2")

    for name, change, why in (("polyhedra", polyhedra, r"cells of type 42 \(polyhedra\) in 'VTKHDF/PolyhedronToFaces'"),
                              ("virtual_points", elsewhere("VTKHDF/Points"), "virtual data set of files in other folders in 'VTKHDF/Points'"),
                              ("virtual_counts", elsewhere("VTKHDF/NumberOfCells"), "virtual data set of files in other folders in 'VTKHDF/NumberOfCells'"),
                              ("half_points", half, "type float16 in 'VTKHDF/Points'")):
        path = path_of(name + ".vtkhdf")
        meshes.one(path, "UnstructuredGrid", meshes.BOXES)
        with h5py.File(path, "r+") as file:
            change(file)
        check_same_answer(path, "%s: not supported: %s. Open the file with ParaView's own VTKHDF reader." % (re.escape(path), why), left=False)


def check_other_types():
    for kind in ("PartitionedDataSetCollection", "MultiBlockDataSet", "HyperTreeGrid"):
        path = path_of(kind + ".vtkhdf")
        with h5py.File(path, "w") as file:
            root_of(file, kind)
        check_same_answer(path, "%s: not supported: VTKHDF file of type '%s'. Open the file with ParaView's own reader." % (re.escape(path), kind), left=False)


def check_truncated():
    """Tests truncated files: the message must have the actual and the expected size, also for a container's step, which is read
    without the HDF5 library."""
    image, container = path_of("whole.vtkhdf"), path_of("whole.pio")
    write_image(image, (0, 20, 0, 20, 0, 20), {"a": ("CellData", 1, "f8")})
    subprocess.run([programs["info"], "convert", image, container], check=True, stdout=subprocess.DEVNULL, timeout=60)
    step, = [os.path.join(container, name) for name in os.listdir(container) if name.startswith("step.")]
    for opens, cut in ((image, image), (container, step)):
        size = os.path.getsize(cut)
        os.truncate(cut, 3000)
        for command in ("info", "verify"):
            status, text = said_by(command, opens)
            expect(status == 1 and "%s: expected a complete HDF5 file, found the file truncated: 3000 of %d bytes." % (cut, size) in text, "%s: %s: %s", opens, command, text)


def prepare(description):
    """Reads the command line, and makes the folder anew. Returns its path."""
    global folder
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--info", required=True)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    programs["info"], folder = arguments.info, os.path.abspath(arguments.folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.environ["PATCHIO_METADATA_DIR"] = os.path.join(folder, "metadata")
    os.environ["TMPDIR"] = os.path.join(folder, "sessions")    # a separate session folder of MPI
    os.makedirs(os.environ["TMPDIR"])
    return folder


def main():
    prepare(__doc__)
    for check in (check_flat_images, check_left_out, check_large_chunks, check_names_on_the_terminal, check_dates_as_field_data, check_one_warning_for_many, check_meshes, check_other_types, check_truncated):
        check()
    if failed:
        raise SystemExit("%d faults" % len(failed))
    print("written_by_h5py: all is as it was written, or said not to be supported")


if __name__ == "__main__":
    main()
