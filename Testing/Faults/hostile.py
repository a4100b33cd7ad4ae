#!/usr/bin/python3
"""Tests the guarantees of SECURITY.md with malicious files.

usage: hostile.py --info patchio --read patchio_read_patch_data --source REPOSITORY

Each function test_... tests one guarantee. No file in the folder "outside" beside the data may change, and none of its contents may
be displayed.
"""
import argparse
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "Formats", "KWave")]
import make_cases as kwave  # noqa: E402
from expectations import expect, failed  # noqa: E402

LONGEST = 60
MOST_MEMORY = 512 << 20    # greatest memory of a process in bytes
runs = 0
options = None


def run(command, scratch, **settings):
    """Returns the output. The program must end by itself, with 0 or 1, and must not need much memory."""
    global runs
    runs += 1
    environment = {**os.environ, "HOME": scratch + "/home", "XDG_CACHE_HOME": scratch + "/home/cache", "TMPDIR": scratch + "/home", **settings}
    environment.pop("PATCHIO_METADATA_DIR", None)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(["timeout", "--kill-after=5", str(LONGEST)] + command, stdout=said, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
        said.seek(0)
        text = said.read().decode(errors="replace")
    code = os.waitstatus_to_exitcode(status)
    child.returncode = code
    expect(code in (0, 1), "%s ended with %d: %s" % (" ".join(command[:3]), code, text[-800:]))
    expect(usage.ru_maxrss * 1024 < MOST_MEMORY or "Sanitizer" in text, "%s took %d MB" % (" ".join(command[:3]), usage.ru_maxrss >> 10))
    return text


def open_and_read(path, scratch, index=False):
    text = run([options.info, "info", path], scratch)
    if index:
        text += run([options.info, "index", path], scratch)
    described = first_summary(path) if path.endswith(".visit") else path + "/Header" if os.path.isdir(path) else path
    return text + run([options.read, described, "2", scratch + "/home/out"], scratch)


def sidecar_of(path):
    return os.path.join(os.path.dirname(path), ".%s.patchio" % os.path.basename(path))


def first_summary(index):
    return sorted(glob.glob(os.path.dirname(index) + "/visit_dump.*/summary.samrai"))[0]


def state_of(folder):
    """Returns all names with the contents of their files."""
    state = {}
    for path, folders, files in os.walk(folder):
        for name in folders + files:
            full = os.path.join(path, name)
            plain = os.path.isfile(full) and not os.path.islink(full)
            state[full] = os.readlink(full) if os.path.islink(full) else hashlib.md5(open(full, "rb").read()).hexdigest() if plain else "folder"
    return state


class Place:
    """A folder "data" with a series of SAMRAI, and a folder "outside" with another one and a victim."""

    def __enter__(self):
        self.held = tempfile.TemporaryDirectory()
        self.scratch = self.held.name
        self.data, self.outside = self.scratch + "/data", self.scratch + "/outside"
        os.makedirs(self.scratch + "/home")
        for folder in (self.data, self.outside):
            shutil.copytree(options.source + "/Data/linadv_2d", folder, ignore=shutil.ignore_patterns("*.patchio"))
        for path, _, files in os.walk(self.scratch):
            for name in files:
                os.utime(os.path.join(path, name), (1e9, 1e9))
        with open(self.outside + "/victim", "w") as file:
            file.write("precious")
        self.index = self.data + "/dumps.visit"
        self.before = state_of(self.outside)
        return self

    def __exit__(self, *_):
        expect(state_of(self.outside) == self.before, "something outside was changed")
        self.held.cleanup()


def test_writes_only_sidecars():
    with Place() as place:
        before = state_of(place.data)
        open_and_read(place.index, place.scratch, index=True)
        after = {name: what for name, what in state_of(place.data).items() if not name.endswith(".patchio")}
        expect(after == before, "something else than sidecars was written beside the data")
        expect(os.path.exists(sidecar_of(place.index)), "no sidecar was written, so this says nothing")


def test_writes_through_no_link():
    with Place() as place:
        summary = first_summary(place.index)
        os.symlink(place.outside + "/victim", sidecar_of(place.index))
        os.symlink(place.outside + "/victim", sidecar_of(summary))
        second = sorted(glob.glob(place.data + "/visit_dump.*/summary.samrai"))[1]
        os.symlink(place.outside + "/new", sidecar_of(second))
        open_and_read(place.index, place.scratch, index=True)
        for path in (summary, second):
            expect(not os.path.islink(sidecar_of(path)), "a link in the place of a sidecar was left: %s" % path)


def test_dumps_lie_below_their_index():
    with Place() as place:
        outside = os.path.relpath(first_summary(place.outside + "/dumps.visit"), place.data)
        for line in (outside, place.outside + "/" + os.path.basename(os.path.dirname(outside)) + "/summary.samrai", "a/../" + outside):
            with open(place.index, "w") as file:
                file.write(line + "\n")
            text = run([options.info, "info", place.index], place.scratch)
            expect("expected names of dumps in its folder" in text, "nobody says that a dump lies elsewhere: %s" % text[-500:])
            expect("outside/visit_dump" not in text.replace(line, ""), "a dump outside is shown: %s" % text[-500:])


def test_no_external_links_and_values():
    with Place() as place:
        summary = first_summary(place.index)
        other = os.path.relpath(first_summary(place.outside + "/dumps.visit"), os.path.dirname(summary))
        with h5py.File(summary, "r+") as file:
            del file["BASIC_INFO/time"]
            file["BASIC_INFO/time"] = h5py.ExternalLink(other, "/BASIC_INFO/time")
        expect("not supported: external link" in run([options.read, summary, "1", "-"], place.scratch), "an external link is followed")
        with h5py.File(summary, "r+") as file:
            del file["BASIC_INFO/time"]
            file.create_dataset("BASIC_INFO/time", (1,), "f8", external=[(place.outside + "/victim", 0, 8)])
        expect("not supported: values in external files" in run([options.read, summary, "1", "-"], place.scratch), "values of another file are read")
        with h5py.File(place.outside + "/values.h5", "w") as file:
            file["a"] = np.ones((4, 4, 4), "f4")
        place.before = state_of(place.outside)
        for number, source in enumerate(("../outside/values.h5", place.outside + "/values.h5", "x/../../outside/values.h5")):
            path = "%s/virtual%d.h5" % (place.data, number)
            make_kwave(path, (4, 4, 4), 4, write=True)
            layout = h5py.VirtualLayout((4, 4, 4), "f4")
            layout[:] = h5py.VirtualSource(source, "a", (4, 4, 4))
            with h5py.File(path, "r+") as file:
                del file["p_final"]
                file.create_virtual_dataset("p_final", layout)
            expect("files in other folders" in run([options.read, path, "1", "-"], place.scratch), "values are taken from %s" % source)


def make_plotfile(folder, prefix, data):
    os.makedirs(folder + "/Level_0")
    with open(folder + "/Header", "w") as file:
        file.write("HyperCLaw-V1.1\n1\nu\n2\n0.5\n0\n1 2 \n5 4 \n\n((0,0) (7,3) (0,0)) \n12 \n0.5 0.5 \n0\n0\n0 1 0.5\n12\n1 5\n2 4\n%s\n" % prefix)
    with open(folder + "/Level_0/Cell_H", "w") as file:
        file.write("1\n1\n1\n0\n(1 0\n((0,0) (7,3) (0,0))\n)\n1\nFabOnDisk: %s 0\n\n1,1\n0,\n\n1,1\n1,\n" % data)
    with open(folder + "/Level_0/Cell_D_00000", "wb") as file:
        file.write(b"FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))((0,0) (7,3) (0,0)) 1\n" + np.full(32, 1.5).tobytes())


def test_plotfiles_stay_in_their_folder():
    with Place() as place:
        make_plotfile(place.scratch + "/plt0", "Level_0/Cell", "Cell_D_00000")
        expect("xpected" not in open_and_read(place.scratch + "/plt0", place.scratch), "not even the sound plotfile is read")
        for number, (prefix, data) in enumerate((("../plt0/Level_0/Cell", "Cell_D_00000"), ("Level_0/Cell", "../../plt0/Level_0/Cell_D_00000"),
                                                 (place.scratch + "/plt0/Level_0/Cell", "Cell_D_00000"))):
            path = "%s/plt%d" % (place.scratch, number + 1)
            make_plotfile(path, prefix, data)
            expect("xpected" in open_and_read(path, place.scratch), "names of a plotfile lead out of it: %s %s" % (prefix, data))


def make_kwave(path, shape, n, version=None, write=False, scaleoffset=None):
    with kwave.start(path, size=(n, n, n), libver=version) as file:
        file.create_dataset("p_final", shape, "f4", chunks=(1,) + tuple(min(s, 64) for s in shape[1:]), scaleoffset=scaleoffset)
        if write:
            file["p_final"][...] = 1.5


def test_the_user_says_what_the_library_may_see():
    with Place() as place:
        for version in (None, "latest"):
            for filtered in (None, "scaleoffset"):
                path = "%s/%s_%s.h5" % (place.scratch, version, filtered)
                make_kwave(path, (4, 4, 4), 4, version, write=True, scaleoffset=3 if filtered else None)
                for wish in ("", "strict", "trust"):
                    text = run([options.read, path, "1", "-"], place.scratch, PATCHIO_HDF5=wish)
                    refused = "not supported: filter 6 (scaleoffset)" in text
                    expect(refused == (filtered is not None and wish == "strict"), "%s, %s: %s" % (version, wish, text[-500:]))


def huge(folder):
    """Makes small files that claim to be large."""
    make_kwave(folder + "/grid.h5", (1 << 20,) * 3, 1 << 20)
    make_kwave(folder + "/list.h5", (1, 1, 1 << 40), 4)
    with open(folder + "/grid.ctl", "w") as file:
        file.write("dset ^a.bin\nundef -999\nxdef 2000000000 linear 0 1\nydef 2000000000 linear 0 1\nzdef 1 linear 0 1\n"
                   "tdef 1000000000 linear 12z28feb2016 12hr\nvars 1\nu 0 99 wind\nendvars\n")
    make_plotfile(folder + "/plt9", "Level_0/Cell", "Cell_D_00000")
    for name, old, new in (("Header", "0 1 0.5", "0 2000000000 0.5"), ("Level_0/Cell_H", "(1 0", "(2000000000 0")):
        text = open(folder + "/plt9/" + name).read()
        with open(folder + "/plt9/" + name, "w") as file:
            file.write(text.replace(old, new))
    with h5py.File(folder + "/image.vtkhdf", "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"], root.attrs["Type"] = np.array([1, 0]), np.bytes_("ImageData")
        root.attrs["WholeExtent"] = np.array([0, 1 << 20] * 3)
        root.attrs["Origin"], root.attrs["Spacing"], root.attrs["Direction"] = np.zeros(3), np.ones(3), np.eye(3).ravel()
        root.create_dataset("PointData/u", ((1 << 20) + 1,) * 3, "f4", chunks=(1, 64, 64))
    return [folder + "/" + name for name in ("grid.h5", "list.h5", "grid.ctl", "plt9", "image.vtkhdf")]


def test_small_files_take_little_memory():
    with Place() as place:
        for path in huge(place.scratch):
            open_and_read(path, place.scratch)
        summary = first_summary(place.index)
        # Texts that were never written take no space in the file, but would take a terabyte of memory.
        with h5py.File(summary, "r+") as file:
            group = file.require_group("materials")
            group.create_dataset("material_names", (1 << 28,), "S4096", chunks=(16,))
            group.create_dataset("material_number_ghosts", data=np.zeros(3, "i4"))
        text = open_and_read(summary, place.scratch)
        expect("material_names" in text, "nobody says that the names are too many: %s" % text[-500:])


def test_waits_for_no_pipe():
    with Place() as place:
        for name in (place.index, first_summary(place.index), glob.glob(place.data + "/visit_dump.*/processor_cluster*")[0]):
            os.rename(name, name + ".kept")
            os.mkfifo(name)
            run([options.info, "info", place.index], place.scratch)
            os.remove(name)
            os.rename(name + ".kept", name)


def test_nothing_runs_programs():
    calls = re.compile(r"\b(system|popen|posix_spawnp?|execv[pe]*|execl[pe]*|v?fork|dlopen)\s*\(")
    seen = 0
    for folder in ("Core", "Readers", "Filters", "Writers", "Plugin"):
        for path in glob.glob("%s/%s/**/*.*" % (options.source, folder), recursive=True):
            if path.endswith((".cxx", ".h")):
                seen += 1
                # Gate.cxx (PatchIO.so) loads the plugin's library, and does not read data. A child process that reads values with
                # the HDF5 library does not run another program.
                allowed = {"Gate.cxx": "dlopen", "LibraryFile.cxx": "fork"}.get(os.path.basename(path))
                for line in open(path, errors="replace"):
                    call = calls.search(line.split("//")[0])
                    expect(not call or call.group(1) == allowed, "%s: %s" % (path, line.strip()))
    expect(seen > 300, "the sources were not found")


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--info", required=True)
    parser.add_argument("--read", required=True)
    parser.add_argument("--source", required=True)
    options = parser.parse_args()
    promises = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for promise in promises:
        print(promise.__name__, flush=True)
        promise()
    print("%s: %d promises, %d programs run, %d faults" % ("FAILED" if failed else "passed", len(promises), runs, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
