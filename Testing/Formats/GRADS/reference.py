#!/usr/bin/python3
"""The reference reader for real GrADS data sets, with numpy only, according to the documentation of GrADS.

usage: reference.py TRUTHFOLDER FOLDER     (all descriptors below FOLDER)

Supports the features of the shared data: no templates and no ensembles. check_reference.py compares it with GrADS.
"""
import glob
import os
import re
import sys
from datetime import datetime, timedelta

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from truth import Truth, save_all  # noqa: E402

DESCRIBING = "*.ctl*"
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def read_date(text):
    found = re.fullmatch(r"(?:(\d+)(?::(\d+))?z)?(\d+)?([a-z]{3})(\d{4})", text.lower())
    hour, minute, day, month, year = found.groups()
    return datetime(int(year), MONTHS.index(month) + 1, int(day or 1), int(hour or 0), int(minute or 0))


def read_step(text):
    count, unit = re.fullmatch(r"(\d+)(mn|hr|dy)", text.lower()).groups()
    return timedelta(minutes=int(count) * {"mn": 1, "hr": 60, "dy": 1440}[unit])


def tokens_of(path):
    """Returns the words after each keyword, including those of the following lines."""
    known = {"dset", "title", "undef", "options", "xdef", "ydef", "zdef", "tdef", "vars", "xyheader", "endvars"}
    entries, last = [], None
    for line in open(path):
        words = line.split()
        if not words or line[0] in "*@":
            continue
        if words[0].lower() in known and not (last == "vars" and words[0].lower() != "endvars"):
            last = words[0].lower()
            entries.append((last, words[1:], []))
        else:
            entries[-1][2].append(words)
    return {k: (w, more) for k, w, more in entries}


def read_axis(entry):
    words, more = entry
    if words[1].lower() == "linear":
        return float(words[2]) + float(words[3]) * np.arange(int(words[0]))
    numbers = words[2:] + sum(more, [])
    return np.array(numbers[:int(words[0])], float)


def read(path):
    text = tokens_of(path)
    options = " ".join(text["options"][0]).lower()
    x, y, z = (read_axis(text[k]) for k in ("xdef", "ydef", "zdef"))
    count, _, start, step = text["tdef"][0]
    times = [read_date(start) + t * read_step(step) for t in range(int(count))]
    variables = [(w[0], int(w[1]), w[2]) for w in text["vars"][1]]
    undef = float(text["undef"][0][0])
    xyheader = int(text["xyheader"][0][0]) if "xyheader" in text else 0
    order = ">" if "big_endian" in options else "<"
    values = x.size * y.size
    mark = 4 if "sequential" in options else 0
    field = np.dtype([("head", "V%d" % (xyheader + mark)), ("data", order + "f4", (y.size, x.size)), ("tail", "V%d" % mark)])
    raw = np.fromfile(os.path.join(os.path.dirname(path), text["dset"][0][0].lstrip("^")), field)["data"]
    outside = variables[0][2] == "-1,20"
    fields = [max(n, 1) for _, n, _ in variables]
    arrays = []
    for t in range(len(times)):
        arrays.append({})
        for v, (name, _, _) in enumerate(variables):
            before = sum(fields[:v])
            first = len(times) * before + t * fields[v] if outside else t * sum(fields) + before
            data = raw[first:first + fields[v]].astype("f4")
            data = data[:, ::-1] if "yrev" in options else data
            wide = data.astype(float)
            arrays[-1][name] = np.where(np.isnan(wide) | (np.abs(wide - undef) <= abs(undef) / 1e5), np.float32(np.nan), data)
    hours = [(t - datetime(1970, 1, 1)).total_seconds() / 3600 for t in times]
    deep = [n for n, levels, _ in variables if levels > 1]
    assert values
    return Truth(path, x, y, z, hours, [t.strftime("%Y-%m-%d %H:%M") for t in times], arrays, deep)


def main():
    truths, folder = sys.argv[1:]
    found = sorted(glob.glob(os.path.join(folder, "**", "*.ctl"), recursive=True))
    if not found:
        sys.exit("no descriptor below %s" % folder)
    save_all(truths, [read(path) for path in found])
    print("%d data sets" % len(found))


if __name__ == "__main__":
    main()
