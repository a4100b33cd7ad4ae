#!/usr/bin/python3
"""How much of each folder and file of Core the corpus of the fuzzers reaches: branches (edges between blocks) of its functions, the most
that one target reaches in each.

usage: coverage.py BUILD [TARGET...]
"""
import collections
import glob
import os
import re
import subprocess
import sys

FOLDERS = ("Container", "Formats", "Hdf5Index", "MetadataChannel", "Output/OutputConfig", "Storage/Profile", "Support/Hdf5", "Support/Text",
           "Catalog", "Decode", "Session")
FUNCTION = re.compile(r"(COVERED|UNCOVERED)_FUNC: hits: \d+ edges: (\d+)/(\d+) (.*) \S*?/(Core/\S+?):\d+", re.M)


def main():
    build, targets = sys.argv[1], sys.argv[2:]
    targets = targets or [os.path.basename(path) for path in sorted(glob.glob(build + "/corpus/*"))]
    reached, edges = {}, {}
    for target in targets:
        done = subprocess.run([build + "/Testing/Fuzz/patchio_fuzz", "-runs=0", "-print_coverage=1", "-timeout=60", "-max_len=65536", build + "/corpus/" + target,
                               build + "/seeds/" + target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PATCHIO_FUZZ_TARGET": target, "ASAN_OPTIONS": "detect_leaks=0"})
        for _, hit, all_edges, name, file in FUNCTION.findall(done.stdout.decode(errors="replace")):
            key = (os.path.normpath(file), name)
            reached[key] = max(reached.get(key, 0), int(hit))
            edges[key] = int(all_edges)
    by_file = collections.defaultdict(lambda: [0, 0])
    for key, count in edges.items():
        for name in (key[0], next((folder for folder in FOLDERS if key[0].startswith("Core/" + folder)), "")):
            by_file[name][0] += reached[key]
            by_file[name][1] += count
    for name, (hit, count) in sorted(by_file.items()):
        if name:
            print("%-55s %6d of %6d edges, %3.0f %%" % (name, hit, count, 100 * hit / max(count, 1)))


if __name__ == "__main__":
    main()
