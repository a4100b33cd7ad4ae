"""Faults of containers; see Testing/Faults/broken_files.py. Forged records and tables have right checksums."""
import json
import os
import shutil
import struct
import zlib

from stranger import BLOCK, records

SOUND = {"amr_3d/run.pio/step.000000.hdf": ["index", "step.000000.hdf"],
         "groups/run.pio/step.000000.00000.hdf": ["index", "step.000000.00000.hdf", "step.000000.00001.hdf"]}
QUIET = set()


def framed(parts):
    log = b""
    for record in parts:
        first = True
        while first or record:
            left = BLOCK - len(log) % BLOCK
            if left < 7:
                log += bytes(left)
                left = BLOCK
            part, record = record[:left - 7], record[left - 7:]
            kind = bytes([(1 if not record else 2) if first else (4 if not record else 3)])
            log += struct.pack("<IH", zlib.crc32(kind + part), len(part)) + kind + part
            first = False
    return log


def forge(folder, change):
    """Forges a container. change: function of the JSON of the only step, and of the step's first file, open for writing."""
    head, record = records(folder + "/index")
    name, date = struct.unpack_from("<HH", record, 17)
    text = json.loads(record[21 + name + date:])
    with open(os.path.join(folder, text["files"][0]), "r+b") as file:
        change(text, file)
    with open(folder + "/index", "wb") as file:
        file.write(framed([head, record[:21 + name + date] + json.dumps(text).encode()]))


def entry(*path, value):
    def change(text, _):
        for key in path[:-1]:
            text = text[key]
        if value is None:
            del text[path[-1]]
        else:
            text[path[-1]] = value
    return change


def table(name, kind, values):
    """Puts numbers at the beginning of a table."""
    def change(text, file):
        place = text["tables"][name]
        file.seek(place["offset"])
        file.write(struct.pack("<%d%s" % (len(values), kind), *values))
        file.seek(place["offset"])
        place["checksum"] = zlib.crc32(file.read(place["bytes"]))
    return change


EDITS = [
    ("no_files", entry("files", value=[]), "no file"),
    ("file_elsewhere", entry("files", value=["../step.000000.hdf"]), "outside its folder"),
    ("other_file", entry("files", value=["step.000001.hdf"]), "different names"),
    ("no_levels", entry("levels", value=None), "levels"),
    ("levels_of_text", entry("levels", value="three"), None),
    ("patches_negative", entry("levels", 0, "patches", value=[-1]), "impossible number of patches"),
    ("patches_huge", entry("levels", 0, "patches", value=[2**31 - 1]), "impossible number|boxes"),
    ("patches_in_more_files", entry("levels", 0, "patches", value=[1, 1]), "numbers of files"),
    ("ratio_zero", entry("levels", 1, "ratio", value=[0, 0, 0]), "ratio"),
    ("spacing_zero", entry("levels", 0, "spacing", value=[0, 1, 1]), "cell size"),
    ("type_unknown", entry("variables", 0, "type", value="float128"), "float128"),
    ("grid_unknown", entry("grid", value="hexagonal"), "hexagonal"),
    ("role_unknown", entry("variables", 0, "role", value="hero"), "unknown role"),
    ("components_zero", entry("variables", 0, "components", value=0), "components"),
    ("components_huge", entry("variables", 0, "components", value=2**30), None),
    ("dimension_seven", entry("dimension", value=7), None),
    ("offset_behind_the_file", entry("data sets", 0, "offset", value=2**62), "bytes at"),
    ("offset_overflows", entry("data sets", 0, "offset", value=2**64 - 8), "bytes at"),
    ("offset_negative", entry("data sets", 0, "offset", value=-1), None),
    ("values_fewer", entry("data sets", 0, "values", value=3), "no such data set"),
    ("set_of_no_level", entry("data sets", 0, "level", value=9), "an unknown level, variable or file"),
    ("set_of_no_file", entry("data sets", 0, "file", value=-1), "an unknown level, variable or file"),
    ("set_gone", entry("data sets", value=[]), "no such data set"),
    ("table_gone", entry("tables", "boxes", value=None), "boxes"),
    ("table_behind_the_file", entry("tables", "boxes", "offset", value=2**62), "boxes"),
    ("table_short", entry("tables", "numbers", "bytes", value=4), "numbers"),
    ("box_reversed", table("boxes", "i", [5, 1]), "box"),
    ("box_huge", table("boxes", "i", [-2**31, 2**31 - 1] * 3), "box"),
    ("number_twice", table("numbers", "i", [1, 1]), "each patch number"),
    ("number_negative", table("numbers", "i", [-1]), "each patch number"),
]


def contradictions(cases, folder):
    for name, change, wanted in EDITS:
        target = os.path.join(folder, name, "run.pio")
        shutil.copytree(os.path.join(cases, "amr_3d", "run.pio"), target)
        forge(target, change)
        yield name, os.path.join(target, "step.000000.hdf"), wanted
