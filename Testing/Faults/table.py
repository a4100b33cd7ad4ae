#!/usr/bin/python3
"""The list of faults that may happen during work. This program makes Documentation/Guide/Faults.md from it; at_work.py and
at_work_in_paraview.py test it.

usage: table.py --page [FILE]                 prints the page, or writes it
       table.py --check FILE BUILDFOLDER checks that the page is up to date and that its tests exist
"""
import dataclasses
import re
import subprocess
import sys
from typing import Callable, Optional, Sequence

import harms
import inject
from harms import EACCES, EINTR, EIO, EMFILE, ESTALE

ALL = ("samrai", "container", "amrex", "kwave", "grads", "vtkhdf")
SEVERAL = ("samrai", "container", "amrex", "grads")         # formats with a file that describes a step


@dataclasses.dataclass
class Fault:
    name: str
    what: str                          # what happens
    sees: str                          # what the user sees
    do: str                            # what the user can do
    harm: Optional[Callable] = None    # damages the files of a series; the test runs with all readers
    says: Optional[str] = None         # pattern of the message; None: no message, correct values
    formats: Sequence[str] = ALL
    generation: int = 0                # generation of the files during the fault
    run: Optional[str] = None          # function of programs.py that tests the fault, or module.function
    session: Optional[str] = None      # function of at_work_in_paraview.py that tests the fault
    by: Sequence[str] = ()             # tests of other suites that test the fault
    against: str = "reader"
    may_ask: bool = False              # an open series may report changed files and ask for Reload Files


RESTORE = "Restore the file, then reload or read again"
COPY = "Copy the file again, then reload"
AGAIN = "Reload, or read again"
RELOAD = "Reload"
CONVERT = "Run again"
MISSING = "No such file or directory|found none"
OLD_TIME, NEW_TIME = -86400, 86400     # seconds

FILES = [
    Fault("values_gone", "A file with values is missing", "The file and \"No such file or directory\"; other steps are shown",
          RESTORE, harms.gone("values"), MISSING),
    Fault("description_gone", "The file that describes a step is missing", "The file and \"No such file or directory\"", RESTORE,
          harms.gone("describing"), MISSING, SEVERAL),
    Fault("values_are_a_folder", "A folder has replaced a file with values", "Its name and \"found a folder\"", RESTORE,
          harms.a_folder("values"), "a folder|found none|expected", ALL),
    Fault("values_cut", "A file with values is truncated or shrinks while it is open", "The file, its expected and its actual size", COPY,
          harms.cut("values", 0.5), r"expected .*, found "),
    Fault("values_empty", "A file with values is empty", "The file and its expected contents", COPY, harms.cut("values", 0), r"expected .*, found "),
    Fault("description_cut", "The file that describes a step is truncated", "The file and its expected contents", COPY,
          harms.cut("describing", 0.3), r"expected |has ", ("samrai", "amrex", "grads")),
    Fault("description_empty", "The file that describes a step is empty", "The file and its expected contents", COPY,
          harms.cut("describing", 0), r"expected |has ", SEVERAL),
    Fault("log_torn", "The log of a container ends in the middle of a step's record", "The earlier steps are shown; the next writer continues after them", "Nothing",
          harms.cut("describing", 0.9), None, ("container",)),
    Fault("values_grow", "A file with values grows while it is open", "The old values, or a message that the file has changed", RELOAD,
          harms.grown("values"), None, may_ask=True),
    Fault("values_unreadable", "The user may not read a file with values", "The file and \"Permission denied\"", "Ask its owner for permission",
          harms.calls("values", "open", EACCES), "Permission denied"),
    Fault("description_unreadable", "The user may not read the file that describes a step", "The file and \"Permission denied\"",
          "Ask its owner for permission", harms.calls("describing", "open", EACCES), "Permission denied", SEVERAL),
    Fault("replaced", "A newer run replaces all files", "The newer values, or a message that the file has changed", RELOAD, harms.newer("values"),
          None, generation=1, may_ask=True),
    Fault("written_over", "A newer run overwrites the files in place, with the same sizes", "The newer values, or a message that the file has changed", RELOAD,
          harms.newer("values", in_place=True), None, generation=1, may_ask=True),
    Fault("replaced_same_times", "Other files with the same sizes and times replace the files", "The newer values, or a message that the file has changed",
          RELOAD, harms.newer("values", seconds=0), None, generation=1, may_ask=True),
    Fault("clock_behind", "Newer files have older times, because the clock of their machine was wrong",
          "The newer values, or a message that the file has changed", RELOAD, harms.newer("values", seconds=OLD_TIME, in_place=True), None, generation=1, may_ask=True),
    Fault("clock_ahead", "Files have times in the future", "No effect: the values are correct", "Nothing", harms.dated("values", NEW_TIME), None, may_ask=True),
]

STORAGE = [
    Fault("read_error", "One request to the storage fails (EIO)", "The file, the bytes and \"Input/output error\"", AGAIN,
          harms.requests("values", "read", EIO), "Input/output error"),
    Fault("description_read_error", "One request for the description of a step fails", "The file and \"Input/output error\"", AGAIN,
          harms.requests("describing", "read", EIO), "Input/output error", SEVERAL),
    Fault("storage_down", "Every request to the storage fails", "The file, the bytes and \"Input/output error\"", AGAIN,
          harms.calls("values", "read", EIO), "Input/output error"),
    Fault("open_error", "The storage fails when PatchIO opens a file", "The file and \"Input/output error\"", AGAIN, harms.calls("values", "open", EIO),
          "Input/output error"),
    Fault("stale_handle", "A network file system has lost an open file (ESTALE)", "The file and \"Stale file handle\"", AGAIN,
          harms.requests("values", "read", ESTALE), "Stale file handle"),
    Fault("stale_name", "A network file system has lost a file before PatchIO opens it (ESTALE)", "The file and \"Stale file handle\"", AGAIN,
          harms.calls("values", "open", ESTALE), "Stale file handle"),
    Fault("stale_state", "A network file system cannot return the attributes of a file (ESTALE)", "The file and \"Stale file handle\", or the values", AGAIN,
          harms.requests("values", "state", ESTALE), "Stale file handle|expected "),
    Fault("too_many_files", "The process has reached its limit of open files", "The file and \"Too many open files\"", "Raise the limit (`ulimit -n`)",
          harms.calls("values", "open", EMFILE), "Too many open files"),
    Fault("interrupted_reads", "A signal interrupts a request (EINTR)", "No effect", "Nothing", harms.requests("values", "read", EINTR), None),
    Fault("short_reads", "The storage returns fewer bytes than requested", "No effect", "Nothing",
          harms.requests("values", "read", 0, count=0, effect=inject.SHORT), None),
]

SIDECARS = [
    Fault("sidecars_unwritable", "PatchIO can write neither to the data's folder nor to the user's cache",
          "The line *Metadata* of the report gives the reason", "Set `PATCHIO_METADATA_DIR`",
          run="sidecars_unwritable"),
    Fault("folder_read_only", "PatchIO cannot write to the data's folder", "No effect: PatchIO writes the index files to `~/.cache/patchio`",
          "Nothing", run="folder_read_only"),
    Fault("sidecars_full", "The disk is full when PatchIO writes an index file", "The line *Metadata* of the report gives the reason",
          "Free some space", run="sidecars_full"),
    Fault("sidecars_rename_fails", "PatchIO cannot rename an index file", "The line *Metadata* of the report gives the reason", "Nothing",
          run="sidecars_rename_fails"),
    Fault("sidecar_unreadable", "PatchIO cannot read an index file", "A warning; PatchIO reads the values without the index file", "Nothing",
          run="sidecar_unreadable"),
    Fault("sidecar_damaged", "An index file is damaged, truncated or forged", "A warning; PatchIO writes the index file again", "Nothing",
          by=["core.DumpChannel", "tools.channel_states"]),
    Fault("indexer_killed", "`patchio index` is killed while it writes", "No effect: index files are complete or missing", "Nothing",
          by=["core.IrregularChannel"], against="tools"),
    Fault("two_indexers", "Two programs write the index files of one series at once", "No effect", "Nothing", run="two_indexers", against="tools"),
    Fault("two_readers", "Several programs open a series at once, for the first time", "No effect", "Nothing", run="two_readers"),
]

WRITING = [
    Fault("full_disk", "The disk is full", "The container and \"No space left on device\"; earlier steps are complete", "Free some space. " + CONVERT,
          run="full_disk", against="convert"),
    Fault("write_fails", "One write request fails, or writes less than requested", "The container and the reason", CONVERT,
          by=["container.failing"], against="convert"),
    Fault("long_files_forbidden", "The size of files is limited (`ulimit -f`)", "The container and \"File too large\"", "Raise the limit. " + CONVERT,
          run="long_files_forbidden", against="convert"),
    Fault("quota", "The user has exceeded the quota", "The container and \"Disk quota exceeded\"", "Free some space. " + CONVERT, run="quota", against="convert"),
    Fault("sync_fails", "The storage fails to flush written data (fsync)", "The container and \"Input/output error\"", CONVERT,
          run="sync_fails", against="convert"),
    Fault("rename_fails", "The writer cannot rename the file of a step", "The container and the reason", CONVERT, run="rename_fails", against="convert"),
    Fault("target_read_only", "The target's file system is read-only", "The container and \"Read-only file system\"", "Choose another place",
          run="target_read_only", against="convert"),
    Fault("target_vanishes", "A container is removed while a script adds steps to it", "A new container with the later steps; a full disk causes a message",
          "Write the lost steps again", run="target_vanishes", against="Python's write"),
    Fault("source_breaks", "A file is missing while its series is converted", "The file and \"No such file or directory\"", "Restore it. " + CONVERT,
          run="source_breaks", against="convert"),
    Fault("source_read_error", "The storage fails while a series is converted", "The file and \"Input/output error\"", CONVERT,
          run="source_read_error", against="convert"),
    Fault("export_full_disk", "The disk is full while PatchIO writes files for other programs", "The folder and \"No space left on device\"",
          "Free some space; export with `--overwrite`", run="export_full_disk", against="export"),
    Fault("interrupted", "Ctrl-C stops the writer of a container", "Earlier steps are complete", CONVERT, run="interrupted", against="convert"),
    Fault("writer_killed", "The writer of a container is killed", "Earlier steps are complete", CONVERT, by=["container.killed"], against="convert"),
    Fault("second_writer", "Two programs write one container", "The second program names the process of the first one", "Wait for the first one",
          by=["container.second"], against="convert"),
    Fault("read_while_converting", "A program reads a container while another one writes it", "The complete steps", RELOAD + ", or *Follow*",
          run="read_while_converting", against="convert"),
    Fault("overwritten_while_open", "A program overwrites an open container", "The old values, the new ones, or a message that the file has changed", RELOAD,
          run="overwritten_while_open", against="convert"),
    Fault("save_data_fails", "Save Data cannot write: full disk, missing permission, failing storage", "The container and the reason, in ParaView's messages",
          "Save again", session="save_data", against="Save Data"),
    Fault("background_full_disk", "The disk is full while steps are saved in the background", "The next call reports the step and the reason", "Free some space",
          by=["paraview.user_1"], against="Save Data"),
    Fault("simulation_full_disk", "The disk of a simulation is full",
          "The next call returns the step and \"No space left on device\"; the simulation continues", "Free some space",
          by=["output.failing"], against="patchio.h"),
    Fault("simulation_killed", "A rank of a simulation is killed", "Earlier steps are complete", "Continue the run in another container", by=["output.killed"],
          against="patchio.h"),
    Fault("simulation_slow", "The storage is slower than a simulation", "The simulation waits; after `wait seconds`, it gets a message",
          "Raise `memory`", by=["output.slow"],
          against="patchio.h"),
]

PROCESSES = [
    Fault("client_killed", "The client of a pvserver is killed while the server reads", "The server ends", "Start a server again", run="processes.client_killed",
          against="pvserver"),
    Fault("one_of_clients_killed", "One of several clients (`--multi-clients`) is killed while the server reads for it",
          "The server continues for the others", "Nothing",
          run="processes.one_of_clients_killed", against="pvserver"),
    Fault("server_killed", "The pvserver is killed while it reads", "The client ends, or reports that the connection is closed", "Start both again",
          run="processes.server_killed", against="pvserver"),
    Fault("server_stopped", "The pvserver is suspended for some time", "The client waits, and then shows the values", "Nothing", run="processes.server_stopped",
          against="pvserver"),
    Fault("rank_killed", "A rank of an MPI job is killed while it indexes a series", "mpirun ends and reports the rank and the signal", "Start the job again",
          run="processes.rank_killed", against="tools"),
    Fault("rank_of_server_killed", "A rank of a pvserver is killed while it reads", "mpirun ends the server, and the client ends", "Start both again",
          run="processes.rank_of_server_killed", against="pvserver"),
    Fault("abandoned_read", "The user stops a read while the storage hangs", "\"Cancelled\" appears immediately", RELOAD,
          by=["paraview.remote_abort_1", "paraview.scripts_1"]),
]

MEMORY = [
    Fault("memory_runs_out", "Memory runs out while PatchIO opens, indexes or reads a series, or writes a container", "A message reports this",
          "Process less data at once",
          run="memory_runs_out", against="Python"),
    Fault("little_memory", "The memory of a job is limited (`ulimit -v`)", "A message reports this",
          "Request more memory, or convert some variables at a time", run="little_memory",
          against="convert"),
    Fault("memory_in_filters", "Memory runs out in a slice, clip, threshold or surface", "The filter reports an error, and its output is empty",
          "Show less, or use more ranks. " + RELOAD,
          session="memory_in_filters", against="filters"),
    Fault("steps_in_paraview", "A long session shows and slices many steps", "No effect: the memory stays constant within 1 %", "Nothing",
          session="steps_in_paraview", against="ParaView"),
    Fault("hostile_sizes", "A small file claims to contain terabytes", "The file and its error", "Do not trust the file", by=["faults.hostile"]),
    Fault("thousand_steps", "One process reads and writes a thousand steps", "No effect: the memory stays constant within 1 %", "Nothing",
          run="thousand_steps", against="Python"),
]

PARTS = {"Files": FILES, "Storage": STORAGE, "Index files": SIDECARS, "Writing": WRITING, "Processes": PROCESSES, "Memory": MEMORY}
FAULTS = [fault for part in PARTS.values() for fault in part]

INTRODUCTION = """# Faults while people work

This page describes what happens when a file vanishes, a disk is full or a server dies while you work. In each case, a message names the file
and the reason, ParaView or the program continues (unless it is killed), and the values are correct when the fault is over. The second column
lists the contents of the message, or the effect. A test checks each row in one process and compares the values with a formula; the last column
names the fault of `ctest -R faults.at_work`, or another test. Rows without a program in brackets are about the reader.

* **Reload**: *File > Reload Files* (F5), in scripts `ReloadFiles(reader)`. In Python without ParaView, open the series again.
* **Run again**: run the same command again; `patchio convert` continues with the missing steps.

A single failed request may have no effect, because PatchIO tries other ways to get the values, such as without an index file.
"""
REST = """
## Limits

* **A killed process** prints no message; `mpirun`, the shell or the other side of the connection does. ParaView 5.11 ends a client that loses its server,
  and a server that loses its only client.
* **A storage that hangs** reports no error. Esc ends the read immediately. The pending requests end when the storage answers.
* **A file that is overwritten in place, with the same size and its old time**, looks unchanged. *Reload Files* reads it.
* **The HDF5 library, which PatchIO uses to write, does not recover when the memory for its own small structures runs out.** It may then refuse to
  write until you restart the program.
* **VTK ends the program if it gets no memory for an array**, so a filter whose output does not fit can end the session. The reader checks the
  available memory before it reads. Tests cover PatchIO's own structures.
* **If memory runs out in a filter on one of several ranks**, the other ranks may wait. In the reader and the writer, all ranks get the message.
"""


def tests_of(fault):
    return list(fault.by) or [fault.name]


def page():
    text = INTRODUCTION
    for part, faults in PARTS.items():
        text += "\n## %s\n\n| fault | message or effect | what to do | test |\n|---|---|---|---|\n" % part
        for fault in faults:
            what = fault.what if fault.against == "reader" else "%s (%s)" % (fault.what, fault.against)
            text += "| %s | %s | %s | %s |\n" % (what, fault.sees, fault.do, ", ".join("`%s`" % name for name in tests_of(fault)))
    return text + REST


def complaints(path, build):
    with open(path) as file:
        if file.read() != page():
            yield "%s is not what this list says: run Testing/Faults/table.py --page %s" % (path, path)
    listed = subprocess.run(["ctest", "--test-dir", build, "-N"], text=True, capture_output=True, check=True).stdout
    known = set(re.findall(r"Test +#\d+: (\S+)", listed))
    for fault in FAULTS:
        if (fault.harm is not None) + (fault.run is not None) + (fault.session is not None) + bool(fault.by) != 1:
            yield "%s needs one of harm, run, session and by" % fault.name
        for name in fault.by:
            if name not in known:
                yield "%s: there is no test %s" % (fault.name, name)
    if len({fault.name for fault in FAULTS}) < max(len(FAULTS), 40):
        yield "%d faults, which is too few, or two have one name" % len(FAULTS)


def main(words):
    if words[:1] == ["--page"]:
        if len(words) > 1:
            with open(words[1], "w") as file:
                file.write(page())
        else:
            print(page(), end="")
        return 0
    found = list(complaints(*words[1:]))
    print("\n".join("FAILED: " + text for text in found) or "passed: %d faults" % len(FAULTS))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
