#!/usr/bin/python3
"""Tests containers whose writer is killed, fails, or is not the only one.

usage: faults.py CASE --program PATCHIO --faults LIBRARY --series DUMPS [--tries N]

CASE: killed, failing, overwritten, repaired, second, targets, exports, damaged, chunks. LIBRARY is WriteFaults.c, to be preloaded.
The expected steps and values are those of a container that was written without faults.
"""
import argparse
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import h5py
import numpy as np
import stranger
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
from expectations import expect, failed  # noqa: E402


def run(arguments, *command, **environment):
    done = subprocess.run([arguments.program, *command], env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=120)
    return done.returncode, done.stdout


def ends(arguments, where, status, words, *command, **environment):
    """Expects the exit status, and the words in the output."""
    code, text = run(arguments, *command, **environment)
    expect(code == status and all(word in text for word in words), "%s: exit code %d, expected %s, found %s", where, code, words, text)


def renew(container, source):
    """Makes the container a copy of the source."""
    shutil.rmtree(container, ignore_errors=True)
    shutil.copytree(source, container)


def values_of(step):
    return {(step.rows[row]["level"], step.rows[row]["number"], variable["name"]): array.tobytes() for row, variable, array in step.values()}


class Truth:
    def __init__(self, arguments, folder):
        self.path = os.path.join(folder, "truth.pio")
        code, text = run(arguments, "convert", arguments.series, self.path)
        assert code == 0, text
        self.steps = {step.step: values_of(step) for step in stranger.read(self.path)}

    def check(self, container, where, steps=None):
        """Checks that the steps in the log are complete, and that no other file can be opened."""
        found = {step.step: step for step in stranger.read(container)} if os.path.exists(container + "/index") and os.path.getsize(container + "/index") else {}
        expect(steps is None or len(found) == steps, "%s: %d steps instead of %s", where, len(found), steps)
        for number, step in found.items():
            expect(values_of(step) == self.steps[number], "%s: step %d has other values", where, number)
        known = {file for step in found.values() for file in step.json["files"]}
        for path in glob.glob(container + "/*.part"):
            try:
                h5py.File(path, "r").close()
                expect(False, "%s: %s can be opened", where, path)
            except OSError:
                pass
        for path in glob.glob(container + "/*.hdf"):
            if os.path.basename(path) not in known:    # not in the log yet: rejected, or the values must be right
                try:
                    file = h5py.File(path, "r")
                except OSError:
                    continue
                with file:
                    number = int(os.path.basename(path).split(".")[1])
                    for name in ("VTKHDF/Level0/CellData/" + n for n in file["VTKHDF/Level0/CellData"]):
                        want = h5py.File(os.path.join(self.path, "step.%06d.hdf" % number), "r")[name][()]
                        expect(np.array_equal(file[name][()], want), "%s: %s of %s has other values", where, name, path)
        return len(found)


def killed(arguments, folder, truth):
    """Kills the program at random moments (kill -9). The conversion must then continue."""
    slow = {"LD_PRELOAD": arguments.faults, "WRITE_FAULT": "slow 10"}
    begin = time.time()
    code, text = run(arguments, "convert", arguments.series, os.path.join(folder, "once.pio"), **slow)
    assert code == 0, text
    seconds, container, resumed = time.time() - begin, os.path.join(folder, "killed.pio"), 0
    for attempt in range(arguments.tries):
        fresh = attempt % 3 == 0
        if fresh:
            shutil.rmtree(container, ignore_errors=True)
        process = subprocess.Popen([arguments.program, "convert", arguments.series, container], env={**os.environ, **slow},
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.2, 1.0) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there = truth.check(container, "try %d" % attempt)
        resumed += 0 < there < len(truth.steps)
        if attempt % 3 == 2:
            ends(arguments, "try %d, resumed" % attempt, 0, [], "convert", arguments.series, container)
            truth.check(container, "try %d, resumed" % attempt, len(truth.steps))
            ends(arguments, "try %d, resumed" % attempt, 0, [], "verify", container)
    print("%d of %d tries ended with some of the steps" % (resumed, arguments.tries))


def failing(arguments, folder, truth):
    """Lets each request to the storage fail in each way."""
    for how in ("ENOSPC", "EIO", "short", "EINTR"):
        for number in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
            container = os.path.join(folder, "failing.pio")
            shutil.rmtree(container, ignore_errors=True)
            code, text = run(arguments, "convert", arguments.series, container, LD_PRELOAD=arguments.faults, WRITE_FAULT="%s %d" % (how, number))
            where = "%s at request %d" % (how, number)
            harmless = how in ("short", "EINTR")
            expect(not harmless or code == 0, "%s: %s", where, text)
            expect(code in (0, 1) and (code == 0 or "failing.pio" in text), "%s: exit code %d, %s", where, code, text)
            truth.check(container, where, len(truth.steps) if code == 0 else None)
            if code != 0:
                expect(not glob.glob(container + "/*.part"), "%s: a part is left", where)
                ends(arguments, where + ", resumed", 0, [], "convert", arguments.series, container)
                truth.check(container, where + ", resumed", len(truth.steps))


def change(path, offset, bits=0x55):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)
        file.seek(offset)
        file.write(bytes([byte[0] ^ bits]))


def overwritten(arguments, folder, truth):
    """Kills convert --overwrite before each change of a file. The old or the new container must remain, and the next run must
    continue."""
    container, first = os.path.join(folder, "overwritten.pio"), str(min(truth.steps))
    for options in ([], ["--compress", "deflate"]):
        begun, there = set(), 0
        for number in range(1, 200):
            renew(container, truth.path)
            code, text = run(arguments, "convert", arguments.series, container, "--overwrite", "--steps", first, *options,
                             LD_PRELOAD=arguments.faults, WRITE_FAULT="kill %d" % number)
            where = "%s killed at %d" % (options, number)
            there = truth.check(container, where)
            expect(there in (1, len(truth.steps)), "%s: %d steps are left", where, there)
            begun.add(there)
            ends(arguments, where, 0, [], "info", container)
            if code != 0 and number % 3 == 0:
                ends(arguments, where + ", resumed", 0, [], "convert", arguments.series, container, *options)
                expect(not glob.glob(container + "/*.part"), "%s, resumed: %s", where, os.listdir(container))
                truth.check(container, where + ", resumed", len(truth.steps))
                ends(arguments, where + ", resumed", 0, [], "verify", container)
            if code == 0:
                break
        expect(code == 0 and there == 1 and begun == {1, len(truth.steps)}, "%s: %d kills, %s steps left, code %d", options, number, begun, code)
        expect(not glob.glob(container + "/*.new.hdf") and len(os.listdir(container)) == 2, "%s: %s", options, os.listdir(container))
        print("%s: killed at each of %d changes" % (options, number - 1))


def incomplete(arguments, folder, truth):
    """Converts a source that lacks a step. The exit code must show this, and a container with this step must not be replaced."""
    container, copy = os.path.join(folder, "incomplete.pio"), os.path.join(folder, "source")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(os.path.dirname(arguments.series), copy)
    series = os.path.join(copy, os.path.basename(arguments.series))
    broken = sorted(glob.glob(copy + "/visit_dump.*/summary.samrai"))[1]
    os.truncate(broken, os.path.getsize(broken) - 17)
    shutil.copytree(truth.path, container)
    ends(arguments, "a source that lacks a step", 1, ["was not replaced", broken], "convert", "--overwrite", series, container)
    truth.check(container, "not replaced", len(truth.steps))
    for _ in range(2):
        ends(arguments, "a source that lacks a step", 1, ["is incomplete", broken], "convert", series, container + ".new.pio")
    ends(arguments, "a step of such a source", 0, [], "convert", "--steps", str(min(truth.steps)), series, container + ".one.pio")


def repaired(arguments, folder, truth):
    """Damages a step. The next conversion must write this step again, with a message, and no other step."""
    container = os.path.join(folder, "repaired.pio")
    step = stranger.read(truth.path)[1]
    name = step.json["files"][0]
    path, offset = os.path.join(container, name), step.json["data sets"][0]["offset"]
    edits = [("removed", lambda: os.remove(path), "No such file", False), ("cut", lambda: os.truncate(path, os.path.getsize(path) - 1), "truncated", False),
             ("never completed", lambda: change(path, 1), name, False),
             ("a table", lambda: change(path, step.json["tables"]["boxes"]["offset"]), "boxes", False), ("one bit", lambda: change(path, offset + 3, 1), "that match their checksum", True)]
    for ranks in ((), ("mpirun", "--oversubscribe", "-np", "3")):
        for what, edit, wanted, needs_check in edits:
            renew(container, truth.path)
            before = {file: os.stat(os.path.join(container, file)).st_mtime_ns for file in os.listdir(container) if file not in (name, "index")}
            edit()
            for check in ([], ["--check"])[0 if needs_check else 1 - bool(ranks):]:
                done = subprocess.run([*ranks, arguments.program, "convert", arguments.series, container, *check], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
                found = needs_check <= bool(check)
                where = "%s %s %s" % (" ".join(ranks), what, " ".join(check))
                expect(done.returncode == 0 and ("Step %d is damaged, and the run writes the step again: " % step.step in done.stdout and wanted in done.stdout) == found
                       and done.stdout.count("writes the step again") == found, "%s: %d, %s", where, done.returncode, done.stdout)
                if found:
                    break
            truth.check(container, where, len(truth.steps))
            ends(arguments, where, 0, [], "verify", container)
            after = {file: os.stat(os.path.join(container, file)).st_mtime_ns for file in os.listdir(container) if file not in (name, "index")}
            expect(after == before and os.path.exists(path), "%s: other files were written: %s", where, sorted(os.listdir(container)))


def second(arguments, folder, truth):
    """Starts a second writer, which must be rejected. The output of the first one must be complete."""
    container = os.path.join(folder, "second.pio")
    first = subprocess.Popen([arguments.program, "convert", arguments.series, container], stdout=subprocess.DEVNULL,
                             env={**os.environ, "LD_PRELOAD": arguments.faults, "WRITE_FAULT": "slow 50"})
    while not os.path.exists(container + "/index"):
        time.sleep(0.01)
    code, text = run(arguments, "convert", arguments.series, container)
    expect(first.poll() is None, "the first writer is not slow enough to be met")
    expect(code == 1 and "process %d on " % first.pid in text, "the second writer: exit code %d, %s", code, text)
    expect(first.wait() == 0, "the first writer failed")
    truth.check(container, "two writers", len(truth.steps))


def targets(arguments, folder, truth):
    """Tests targets that cannot be, or should not be, written."""
    other = os.path.join(folder, "other.pio")
    os.makedirs(other)
    open(os.path.join(other, "thesis.tex"), "w").write("years of work")
    ends(arguments, "a folder of something else", 1, ["thesis.tex"], "convert", arguments.series, other, "--overwrite")
    expect(os.listdir(other) == ["thesis.tex"], "a folder of something else: %s", os.listdir(other))
    ends(arguments, "a folder that is not there", 1, ["nowhere"], "convert", arguments.series, os.path.join(folder, "nowhere/x.pio"))
    ends(arguments, "another ending", 0, [], "convert", arguments.series, os.path.join(folder, "x"))
    truth.check(os.path.join(folder, "x"), "another ending", len(truth.steps))
    container = os.path.join(folder, "again.pio")
    run(arguments, "convert", arguments.series, container, "--steps", str(min(truth.steps)))
    truth.check(container, "one step", 1)
    ends(arguments, "steps are added", 0, [], "convert", arguments.series, container)
    truth.check(container, "steps are added", len(truth.steps))
    name = next(v["name"] for v in stranger.read(container)[0].json["variables"])
    some = os.path.join(folder, "some.pio")
    run(arguments, "convert", arguments.series, some, "--variables", name, "--steps", str(min(truth.steps)))
    for target, command in ((some, []), (some, ["--steps", str(max(truth.steps))]), (container, ["--variables", name])):
        before = len(stranger.read(target))
        ends(arguments, "other variables", 1, [target, "'%s' (" % name, "--variables"], "convert", arguments.series, target, *command)
        expect(len(stranger.read(target)) == before, "other variables: steps were written")
    ends(arguments, "the same variables", 0, [], "convert", arguments.series, some, "--variables", name)
    expect(len(stranger.read(some)) == len(truth.steps), "the same variables: %d steps", len(stranger.read(some)))
    for source in (container, container + "/index", truth.path + "/../again.pio"):
        ends(arguments, "into itself", 2, ["must not be the data themselves"], "convert", source, container, "--overwrite")
    truth.check(container, "into itself", len(truth.steps))
    ends(arguments, "one within another", 1, ["within"], "convert", arguments.series, os.path.join(container, "inner.pio"))
    empty = os.path.join(folder, "empty.pio")
    ends(arguments, "no patches", 1, [], "convert", arguments.series, empty, "--levels", "50", "60")
    expect(not os.path.exists(empty), "an empty container is left")
    deformed = os.path.join(os.path.dirname(arguments.series), "../deformed_2d/dumps.visit")
    files = os.path.join(folder, "files")
    ends(arguments, "an export of deformed patches", 1, ["no VTKHDF type can represent"], "export", deformed, files)
    expect(not os.path.exists(files), "an export of deformed patches leaves a folder")
    ends(arguments, "an export", 0, [], "export", arguments.series, files)
    expect(len(os.listdir(files)) == len(truth.steps), "an export: %s", os.listdir(files))
    ends(arguments, "overwriting", 0, [], "convert", arguments.series, container, "--overwrite", "--steps", str(max(truth.steps)))
    truth.check(container, "overwriting", 1)


def bytes_in(folder):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(place, name), "rb") as file:
                found[os.path.relpath(os.path.join(place, name), folder)] = file.read()
    return found


def exports(arguments, folder, truth):
    """Tests exports: steps are replaced only on request, and a failed write leaves no incomplete step."""
    for form in ("vtkhdf", "vtm"):
        target = os.path.join(folder, form)
        command = ("export", arguments.series, target, "--format", form)
        code, text = run(arguments, *command)
        whole = bytes_in(target)
        expect(code == 0 and len(whole) >= len(truth.steps), "%s: %d, %s", form, code, text)
        code, text = run(arguments, *command, "--levels", "0", "0")
        expect(code == 1 and "step." in text and "--overwrite" in text and bytes_in(target) == whole, "%s again: %d, %s", form, code, text)
        code, text = run(arguments, *command, "--levels", "0", "0", "--overwrite")
        expect(code == 0 and sum(map(len, bytes_in(target).values())) < sum(map(len, whole.values())), "%s, overwritten: %d, %s", form, code, text)
        code, text = run(arguments, *command, "--overwrite")
        expect(code == 0 and set(bytes_in(target)) == set(whole), "%s, overwritten once more: %d, %s", form, code, text)
    other = os.path.join(folder, "other", "step.%06d" % min(truth.steps))
    os.makedirs(other)
    open(os.path.join(other, "thesis.tex"), "w").write("years of work")
    ends(arguments, "a folder of something else", 1, [other], "export", arguments.series, os.path.dirname(other), "--format", "vtm", "--overwrite")
    expect(os.listdir(other) == ["thesis.tex"], "a folder of something else: %s", os.listdir(other))
    ends(arguments, "a folder that is not there", 1, ["nowhere"], "export", arguments.series, os.path.join(folder, "nowhere/x"))
    boxes, empty = [[0, 3, 0, 3, 0, 3], [4, 7, 0, 3, 0, 3]], os.path.join(folder, "empty.vtkhdf")
    with h5py.File(empty, "w") as file:    # boxes without variables
        group = file.create_group("VTKHDF")
        group.attrs.update({"Version": [1, 0], "Type": np.bytes_("OverlappingAMR"), "GridDescription": np.bytes_("XYZ"), "Origin": [0.0, 0.0, 0.0]})
        group.create_group("Level0").attrs["Spacing"] = [1.0, 1.0, 1.0]
        group["Level0/AMRBox"] = np.array(boxes)
    ends(arguments, "boxes without variables", 0, [], "export", empty, os.path.join(folder, "boxes"))
    with h5py.File(os.path.join(folder, "boxes", "step.000000.hdf"), "r") as file:
        expect(sorted(file["VTKHDF/Level0/AMRBox"][...].tolist()) == boxes, "boxes without variables: %s", file["VTKHDF/Level0/AMRBox"][...])
    os.makedirs(os.path.join(folder, "faults.pio"))    # the name activates faults for files below the folder
    target = os.path.join(folder, "faults.pio", "pieces")
    for how in ("ENOSPC", "EIO", "short", "EINTR"):
        for number in (1, 2, 5, 13, len(whole) - 1, len(whole)):
            shutil.rmtree(target, ignore_errors=True)
            code, text = run(arguments, "export", "--format", "vtm", arguments.series, target, LD_PRELOAD=arguments.faults, WRITE_FAULT="%s %d" % (how, number))
            found, where = bytes_in(target), "%s at request %d" % (how, number)
            harmless = how in ("short", "EINTR")
            expect(code == 0 and found == whole if harmless else code == 1 and "pieces/step" in text, "%s: exit code %d, %s", where, code, text)
            expect(all(found[name] == whole[name] for name in found if name.endswith(".vti")) and not glob.glob(target + "/*.part"), "%s: %s", where, list(found))
            for name in found:
                pieces = [piece for piece in whole if piece.startswith(name[:-4] + "/")]
                expect(not name.endswith(".vtm") or all(piece in found for piece in pieces), "%s: %s lacks pieces", where, name)


def check_vtkhdf(arguments, truth, container, step):
    """Changes numbers that other programs read, but PatchIO does not."""
    def change_value(file, name, number):
        file[name][...] = number

    def change_attribute(file, group, name):
        file[group].attrs.modify(name, file[group].attrs[name] * 2 + 1)

    edits = {"the time": lambda file: change_value(file, "VTKHDF/FieldData/TimeValue", 77), "the origin": lambda file: change_attribute(file, "VTKHDF", "Origin"),
             "the box": lambda file: change_value(file, "VTKHDF/Level0/AMRBox", file["VTKHDF/Level0/AMRBox"][...] + 1),
             "level 0 with cells of": lambda file: change_attribute(file, "VTKHDF/Level0", "Spacing")}
    for word, edit in edits.items():
        renew(container, truth.path)
        with h5py.File(os.path.join(container, step.json["files"][0]), "r+") as file:
            edit(file)
        ends(arguments, word, 1, [step.json["files"][0], word, "other programs cannot"], "verify", container)


def damaged(arguments, folder, truth):
    """Changes bytes. `verify` must find them, and name their place."""
    container = os.path.join(folder, "damaged.pio")
    step = stranger.read(truth.path)[0]
    arrays = sum(1 for one in stranger.read(truth.path) for _ in one.values())
    place = next(s for s in step.json["data sets"] if s["level"] == 0)
    edits = [(step.json["files"][0], place["offset"] + 3, "'%s' on patch" % step.json["variables"][place["variable"]]["name"]),
             (step.json["files"][0], step.json["tables"]["boxes"]["offset"] + 1, "the table 'boxes'"),
             (step.json["files"][0], step.json["tables"]["checksums"]["offset"] + 1, "checksums"),
             (step.json["files"][0], step.json["tables"]["least"]["offset"] + 1, "the table 'least'"),
             (step.json["files"][0], step.json["tables"]["greatest"]["offset"] + step.json["tables"]["greatest"]["bytes"] - 1, "the table 'greatest'"),
             ("index", 60, "damaged"), ("index", 20, "damaged")]
    for name, offset, wanted in edits:
        renew(container, truth.path)
        change(os.path.join(container, name), offset)
        code, text = run(arguments, "verify", container)
        expect(code == 1 and (wanted in text or "no complete step" in text), "%s at %d: exit code %d, %s", name, offset, code, text)
        # Arrays whose checksums cannot be read count, too.
        expect(wanted != "checksums" or ", %d arrays in " % arrays in text, "%s at %d: not %d arrays, %s", name, offset, arrays, text)
    # A step that cannot be opened counts as one fault.
    path = os.path.join(container, step.json["files"][0])
    for edit in (lambda: os.remove(path), lambda: os.truncate(path, 100), lambda: change(path, step.json["tables"]["boxes"]["offset"] + 1)):
        renew(container, truth.path)
        edit()
        code, text = run(arguments, "verify", container)
        expect(code == 1 and len(re.findall("^step ", text, re.M)) == 1 and "1 fault in" in text and "patchio verify" not in text, "exit code %d, %s", code, text)
    # PatchIO locates values without the HDF5 metadata that other programs need.
    renew(container, truth.path)
    with open(os.path.join(container, step.json["files"][0]), "r+b") as file:
        file.seek(100)
        file.write(bytes(400))
    for command in (("verify", container), ("convert", "--check", arguments.series, container)):
        code, text = run(arguments, *command)
        expect(step.json["files"][0] in text and (code == 1) == (command[0] == "verify"), "%s of a damaged description: exit code %d, %s", command, code, text)
    check_vtkhdf(arguments, truth, container, step)
    # A writer must not remove files of steps without a record as if they were the remains of a killed writer.
    for size, wanted in ((None, "damaged records"), (0, "without the log"), (300, "damaged records")):
        renew(container, truth.path)
        files = sorted(os.listdir(container))
        change(os.path.join(container, "index"), 200) if size is None else os.truncate(os.path.join(container, "index"), size)
        ends(arguments, "a log of size %s" % size, 1, [wanted], "convert", arguments.series, container)
        expect(sorted(os.listdir(container)) == files, "a log of size %s is written on", size)
        ends(arguments, "a damaged log is replaced", int(size == 0), [], "convert", "--overwrite", arguments.series, container)
    renew(container, truth.path)
    for name, wanted, is_fault in (("step.999999.hdf", "has no record of this file.*delete this file, and write the step again", True), ("step.999999.part", "can also delete the file", False)):
        open(os.path.join(container, name), "wb").write(b"half a step")
        code, text = run(arguments, "verify", container)
        expect(code == is_fault and name in text and re.search(wanted, text) and ("intact" in text) != is_fault, "%s is left: exit code %d, %s", name, code, text)
        ends(arguments, name, 0, [], "convert", arguments.series, container)
        expect(not os.path.exists(os.path.join(container, name)), "%s stays", name)
    record = b'{"format":"PatchIO container","version":2}'
    with open(os.path.join(container, "index"), "wb") as file:
        file.write(struct.pack("<IHB", zlib.crc32(b"\1" + record), len(record), 1) + record)
    ends(arguments, "a version from the future", 1, ["version 2", "newer"], "info", container)


def chunks(arguments, folder, truth):
    """Changes chunks, which `verify` must find by their place, and HDF5 metadata, which must be harmless."""
    for compression in ("deflate", "zstd"):
        sound, container = os.path.join(folder, compression + ".pio"), os.path.join(folder, "damaged.pio")
        code, text = run(arguments, "convert", arguments.series, sound, "--compress", compression)
        assert code == 0, text
        size = sum(os.path.getsize(path) for path in glob.glob(sound + "/*.hdf"))
        said = re.search(r"written, .* stored in ([0-9.]+) (k|M)B", text)
        expect(said and abs(float(said[1]) * {"k": 1e3, "M": 1e6}[said[2]] - size) < 0.01 * size, "%d bytes of files: %s", size, text)
        truth.check(sound, compression, len(truth.steps))
        code, text = run(arguments, "info", sound)
        expect(code == 0 and ("filter 32015" in text) == (compression == "zstd"), "%s: info says %s", compression, text)
        step = stranger.read(sound)[0]
        name, place = step.json["files"][0], step.json["data sets"][0]
        with h5py.File(os.path.join(sound, name), "r") as file:
            chunk = file[place["name"]].id.get_chunk_info(0)
            begin = min(file[s["name"]].id.get_chunk_info(0).byte_offset for s in step.json["data sets"])
        at = chunk.byte_offset
        # In the middle of the compressed values, their first byte, and random bytes of the file's metadata.
        for offset in [at + chunk.size // 2, at] + random.sample(range(8, begin), 40):
            renew(container, sound)
            change(os.path.join(container, name), offset)
            code, text = run(arguments, "verify", container)
            where = "%s, byte %d of %s" % (compression, offset, name)
            expect(code in (0, 1), "%s: exit code %d, %s", where, code, text)
            if offset >= at and offset < at + chunk.size:
                expect(code == 1 and ("chunk" in text or "that match their checksum" in text) and name in text, "%s: exit code %d, %s", where, code, text)
            if code == 0:    # the change does not affect the values; the HDF5 library may reject the file
                try:
                    found = values_of(stranger.read(container)[0])
                except (OSError, KeyError, RuntimeError):
                    continue
                expect(found == truth.steps[step.step], "%s: other values, and nobody says so", where)
        with open(os.path.join(container, name), "r+b") as file:
            file.truncate(begin + 10)
        ends(arguments, compression + ", cut", 1, [name], "verify", container)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=["killed", "failing", "overwritten", "incomplete", "repaired", "second", "targets", "exports", "damaged", "chunks"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--faults", required=True)
    parser.add_argument("--series", required=True)
    parser.add_argument("--tries", type=int, default=30)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = os.path.join(folder, "sessions")    # a separate session folder of MPI
        os.makedirs(os.environ["TMPDIR"])
        globals()[arguments.case](arguments, folder, Truth(arguments, folder))
    print("%d faults" % len(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
