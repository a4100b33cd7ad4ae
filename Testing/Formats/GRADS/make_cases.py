#!/usr/bin/python3
"""Writes small GrADS data sets, one for each feature of descriptors, with numpy only.

usage: make_cases.py FOLDER TRUTHFOLDER

The reference values are those that the files were made from, without reading the files.
"""
import os
import sys
from datetime import datetime, timedelta

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from truth import Truth, save_all  # noqa: E402

UNDEF = 9.999e20
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
EPOCH = datetime(1970, 1, 1)


class Case:
    """A data set: fields of random values with holes, and the form of its files."""

    def __init__(self, name, nx=12, ny=9, levels=(1000, 850, 500, 200), times=3, variables=None, start=datetime(2017, 2, 27, 18),
                 step=timedelta(hours=6), dtype="<f4", options="little_endian", undef=UNDEF):
        self.name, self.nx, self.ny, self.levels, self.undef = name, nx, ny, list(levels), undef
        self.variables = variables or [("ps", 0), ("u", len(levels)), ("q", 2), ("ts", 1)]
        self.times = [start + i * step for i in range(times)]
        self.dtype, self.options = np.dtype(dtype), options
        self.sequential = "sequential" in options
        self.members = []
        self.header = {"file": 0, "time": 0, "trailer": 0, "field": 0, "field_trailer": 0}
        self.extra = []    # additional lines of the descriptor
        self.codes = "99"
        self.x = 70 + 0.5 * np.arange(nx)
        self.y = 15 + 0.25 * np.arange(ny)
        self.xdef = "xdef %d linear 70.0 0.5" % nx
        self.ydef = "ydef %d linear 15.0 0.25" % ny
        self.zdef = ("zdef 1 linear %g 1" % levels[0] if len(levels) == 1 else
                     "zdef %d levels\n  %s" % (len(levels), "\n  ".join("%g" % v for v in levels)))
        self.tdef = "tdef %d linear %s %s" % (times, grads_date(start), grads_step(step))
        self.dset = "^%s.dat" % name
        self.hours = [(t - EPOCH).total_seconds() / 3600 for t in self.times]
        self.dates = [t.strftime("%Y-%m-%d %H:%M") for t in self.times]
        self.seed = sum(map(ord, name))

    # ---- values ----

    def values(self, step, member, variable):
        """Returns the stored values as [level, y, x], including the numbers for "undefined"."""
        name, levels = self.variables[variable]
        dice = np.random.default_rng([self.seed, step, member, variable])
        shape = (max(levels, 1), self.ny, self.nx)
        if self.dtype.kind != "f":
            info = np.iinfo(self.dtype)
            return dice.integers(info.min, info.max, shape, endpoint=True).astype(self.dtype.newbyteorder("="))
        values = (dice.standard_normal(shape) * 30 + 250).astype(np.float32)
        holes = dice.random(shape)
        values[(holes >= 0.08) & (holes < 0.09)] = np.nan
        if self.undef is None:
            return values
        values[holes < 0.05] = np.float32(self.undef)
        values[(holes >= 0.05) & (holes < 0.07)] = np.float32(self.undef) * np.float32(1 + 4e-6)    # undefined within the tolerance
        values[(holes >= 0.07) & (holes < 0.08)] = np.float32(self.undef) * np.float32(1 + 4e-5)    # defined, beyond the tolerance
        return values

    def shown(self, step, member, variable):
        values = self.values(step, member, variable)
        if values.dtype.kind == "f":
            wide = values.astype(np.float64)
            undefined = np.isnan(wide)
            if self.undef is not None:
                undefined |= np.abs(wide - self.undef) <= abs(self.undef) / 1e5
            values[undefined] = np.nan
        return values

    # ---- files ----

    def field(self, values):
        data = values.astype(self.dtype).tobytes()
        if self.sequential:
            marker = np.array([len(data)], np.dtype("u4").newbyteorder(self.dtype.byteorder)).tobytes()
            data = marker + data + marker
        return b"h" * self.header["field"] + data + b"t" * self.header["field_trailer"]

    def record(self, step, member, variable):
        values = self.values(step, member, variable)
        values = values[::-1] if "zrev" in self.options else values
        values = values[:, ::-1] if "yrev" in self.options else values
        return b"".join(self.field(v) for v in values)

    def time(self, step, member=0):
        head = b"T" * self.header["time"]
        if head and self.sequential:
            marker = np.array([len(head)], np.dtype("u4").newbyteorder(self.dtype.byteorder)).tobytes()
            head = marker + head + marker
        return (head + b"".join(self.record(step, member, v) for v in range(len(self.variables))) +
                b"E" * self.header["trailer"])

    def descriptor(self):
        lines = ["dset %s" % self.dset, "* a comment", "@ global String comment made up", "title %s" % self.name]
        if self.undef is not None:
            lines.append("undef %.6g" % self.undef)
        if self.options:
            lines.append("options %s" % self.options)
        for key, word in (("file", "fileheader"), ("time", "theader"), ("trailer", "trailerbytes"),
                          ("field", "xyheader"), ("field_trailer", "xytrailer")):
            if self.header[key]:
                lines.append("%s %d" % (word, self.header[key]))
        lines += [self.xdef, self.ydef, self.zdef, self.tdef] + self.extra
        if self.members:
            lines.append("edef %d names %s" % (len(self.members), " ".join(self.members)))
        lines.append("vars %d" % len(self.variables))
        lines += ["%s %d %s made up, 'with' words" % (n, levels, self.codes) for n, levels in self.variables]
        return "\n".join(lines + ["endvars"]) + "\n"

    def write(self, folder, files=None, ctl=None):
        """Writes the data set. files: name -> bytes; the default is one file with all values."""
        where = os.path.join(folder, self.name)
        os.makedirs(where, exist_ok=True)
        if files is None:
            data = b"F" * self.header["file"]
            for m in range(max(len(self.members), 1)):
                data += b"".join(self.time(t, m) for t in range(len(self.times)))
            files = {self.dset[1:]: data}
        for name, data in files.items():
            with open(os.path.join(where, name), "wb") as f:
                f.write(data)
        path = os.path.join(where, ctl or self.name + ".ctl")
        with open(path, "w") as f:
            f.write(self.descriptor())
        return path

    def truth(self, path, keep=None, gone=()):
        """Returns the reference values. keep: steps that exist. gone: (step, member) with a missing file."""
        steps = range(len(self.times)) if keep is None else keep
        arrays = []
        for step in steps:
            arrays.append({})
            for m in range(max(len(self.members), 1)):
                for v, (name, _) in enumerate(self.variables):
                    if (step, m) not in gone:
                        suffix = "_" + self.members[m] if self.members else ""
                        arrays[-1][name + suffix] = self.shown(step, m, v)
        deep = [n + s for n, levels in self.variables if levels > 1 and len(self.levels) > 1
                for s in (["_" + m for m in self.members] or [""])]
        return Truth(path, self.x, self.y, self.levels, [self.hours[s] for s in steps],
                     [self.dates[s] for s in steps], arrays, deep, steps)


def grads_date(date):
    return "%02d:%02dz%02d%s%04d" % (date.hour, date.minute, date.day, MONTHS[date.month - 1], date.year)


def grads_step(step):
    minutes = int(step.total_seconds() / 60)
    return "%dmn" % minutes if minutes % 60 else "%dhr" % (minutes // 60)


def simple_cases(folder):
    yield Case("plain")
    yield Case("big_sequential", dtype=">f4", options="sequential big_endian", undef=-9.99e33)
    yield Case("yrev", options="yrev little_endian")
    yield Case("zrev", options="zrev little_endian")
    yield Case("all_reversed", dtype=">f4", options="yrev sequential zrev big_endian")
    yield Case("surface_only", variables=[("a", 0), ("b", 1)], levels=(1000,))
    yield Case("one_column", nx=1, ny=1)
    yield Case("cross_section", nx=1)
    yield Case("one_row", ny=1, options="little_endian yrev")
    yield Case("model_levels", levels=(1, 2, 3, 4, 5), variables=[("pi", 5), ("th", 4), ("u", 3)])
    yield Case("deep_only", variables=[("u", 4), ("v", 4)])
    yield Case("pascals_levels", levels=(100000, 50000, 10000), variables=[("t", 3)])
    yield Case("no_undef", undef=None)
    for name, dtype, code in (("bytes", "u1", "1"), ("shorts", ">i2", "2,-1"), ("words", ">u2", "2"), ("ints", ">i4", "4")):
        case = Case(name, dtype=dtype, options="big_endian", undef=-999)
        case.codes = "-1,40," + code
        yield case
    case = Case("headers", dtype=">f4", options="big_endian")
    case.header = {"file": 12, "time": 8, "trailer": 20, "field": 4, "field_trailer": 16}
    yield case
    case = Case("sequential_headers", dtype=">f4", options="big_endian sequential")
    case.header.update(time=8, field=40, file=4)
    yield case
    case = Case("ensemble", times=2)
    case.members = ["c00", "p01", "p02"]
    yield case
    case = Case("lambert")
    case.extra = ["pdef 12 9 lcc 30 110 6 5 30 60 110 30000 30000"]
    case.xdef, case.ydef = "xdef 40 linear 60 1", "ydef 30 linear 10 1"
    case.x, case.y = np.arange(12.0), np.arange(9.0)
    yield case
    case = Case("gaussian", ny=9)
    case.ydef = "ydef 9 gausr15 5"
    case.y = gaussian(40)[4:13]
    yield case
    case = Case("latitudes")
    case.y = np.array([-60, -30.5, -10, -2, 0, 3, 20, 44, 80.25])
    case.ydef = "YDEF 9 LEVELS -60 -30.5\n   -10 -2 0 3\n 20 44\n80.25"
    yield case
    # Around the globe: closed on a sphere.
    case = Case("globe", nx=36, ny=19)
    case.x, case.xdef = 10.0 * np.arange(36) - 180, "xdef 36 linear -180 10"
    case.y, case.ydef = 10.0 * np.arange(19) - 90, "ydef 19 linear -90 10"
    yield case
    # Around the globe, with the first column again at the end: not closed.
    case = Case("cyclic", nx=37)
    case.x, case.xdef = 10.0 * np.arange(37), "xdef 37 linear 0 10"
    yield case


def gaussian(count):
    return np.degrees(np.arcsin(np.polynomial.legendre.leggauss(count)[0]))


def special_truths(folder):
    # One file per step, with names like those of GRAPES. The second file is missing.
    case = Case("grapes", dtype=">f4", options="template sequential big_endian", times=4, step=timedelta(hours=12))
    case.dset = "^postvar%iy4%im2%id2%ih2%f3%n2"
    names = ["postvar2017022718%03d00" % h for h in (0, 12, 24, 36)]
    path = case.write(folder, {names[t]: case.time(t) for t in (0, 2, 3)}, "post.ctl_201702271800000")
    yield case.truth(path, keep=[0, 2, 3])

    # One file per day with several steps.
    case = Case("days", options="template little_endian", times=10)
    case.dset = "^day%y4%m2%d2.dat"
    days = {}
    for t, time in enumerate(case.times):
        days.setdefault(time.strftime("day%Y%m%d.dat"), []).append(t)
    yield case.truth(case.write(folder, {n: b"".join(case.time(t) for t in ts) for n, ts in days.items()}))

    # One file per member and step. The file of one member at one step is missing.
    case = Case("members", options="template little_endian", times=3)
    case.members, case.dset = ["one", "two"], "^%e_%t2.dat"
    files = {"%s_%02d.dat" % (m, t + 1): case.time(t, i) for t in range(3) for i, m in enumerate(case.members)}
    del files["two_02.dat"]
    yield case.truth(case.write(folder, files), gone=[(1, 1)])

    # File names by ranges of steps.
    case = Case("ranges", options="template little_endian", times=5)
    case.dset, case.extra = "^%ch", ["chsub 1 2 first%y2.dat", "chsub 3 5 second.dat"]
    yield case.truth(case.write(folder, {"first17.dat": case.time(0) + case.time(1),
                                         "second.dat": case.time(2) + case.time(3) + case.time(4)}))

    # A file that is still being written.
    case = Case("growing", times=5)
    data = b"".join(case.time(t) for t in range(3))
    yield case.truth(case.write(folder, {"growing.dat": data[:-7]}), keep=[0, 1])

    # All times of a variable follow each other.
    case = Case("outside", options="big_endian", dtype=">f4")
    case.codes = "-1,20"
    data = b"".join(case.record(t, 0, v) for v in range(len(case.variables)) for t in range(3))
    yield case.truth(case.write(folder, {"outside.dat": data}))

    # Steps of a month, in a calendar without leap years.
    case = Case("months", times=14, options="365_day_calendar little_endian", start=datetime(2016, 1, 15))
    case.tdef = "tdef 14 linear 00z15jan2016 1mo"
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    case.hours, case.dates = [], []
    for t in range(14):
        year, month = 2016 + t // 12, t % 12
        case.hours.append(24.0 * (365 * (year - 1970) + sum(lengths[:month]) + 14))
        case.dates.append("%d-%02d-15 00:00" % (year, month + 1))
    yield case.truth(case.write(folder))

    # Fields that are cut into patches.
    for name, dtype, options in (("cut", "<f4", "little_endian"), ("cut_sequential", ">f4", "sequential big_endian"),
                                 ("cut_reversed", "<f4", "yrev zrev little_endian")):
        case = Case(name, nx=300, ny=400, levels=(1000, 925, 850, 700, 500, 400, 300, 200, 100), times=1, dtype=dtype,
                    options=options)
        case.variables = [("ps", 0), ("u", 9), ("q", 5)]
        yield case.truth(case.write(folder))

    # Around the globe, in several patches.
    case = Case("globe_cut", nx=720, ny=361, times=1, variables=[("u", 4)])
    case.x, case.xdef = 0.5 * np.arange(720), "xdef 720 linear 0 0.5"
    case.y, case.ydef = 0.5 * np.arange(361) - 90, "ydef 361 linear -90 0.5"
    yield case.truth(case.write(folder))


def main():
    folder, truths = sys.argv[1:]
    made = [case.truth(case.write(folder)) for case in simple_cases(folder)]
    made += list(special_truths(folder))
    save_all(truths, made)
    print("%d data sets" % len(made))


if __name__ == "__main__":
    main()
