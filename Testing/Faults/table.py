#!/usr/bin/python3
"""The list of faults that happen while people work. Documentation/Faults.md is made from it, at_work.py and at_work_in_paraview.py
run it.

usage: table.py --page [FILE]                 prints the page, or writes it
       table.py --check FILE BUILDFOLDER      is the page this list, and are the tests that it names there?
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
SEVERAL = ("samrai", "container", "amrex", "grads")         # those with files that say where the values are


@dataclasses.dataclass
class Fault:
    name: str
    what: str                          # what happens
    sees: str                          # what the user sees
    do: str                            # what the user can do
    harm: Optional[Callable] = None    # what is done to the files of a series; all readers meet it
    says: Optional[str] = None         # the message must match it; None: there is no message, and the values are right
    formats: Sequence[str] = ALL
    generation: int = 0                # of the files that are there meanwhile
    run: Optional[str] = None          # a function that tests it: of programs.py, or as module.function
    session: Optional[str] = None      # a function of at_work_in_paraview.py
    by: Sequence[str] = ()             # tests of other suites that test it already
    against: str = "reader"
    may_ask: bool = False              # a series that is open may say that its files have changed, and ask for Reload Files
    nightly: bool = False              # takes long; the quick part has another one like it


RESTORE = "Restore the file, then *Reload Files* (F5) or the next read"
COPY = "Copy the file once more, then *Reload Files* (F5)"
AGAIN = "Read again: *Reload Files* (F5), or the next read"
RELOAD = "*Reload Files* (F5)"
CONVERT = "Give the same command again: it goes on where it was"
MISSING = "No such file or directory|found none"
OLD_TIME, NEW_TIME = -86400, 86400     # seconds

FILES = [
    Fault("values_gone", "A file with values is missing", "The file, and \"No such file or directory\"; other steps are shown",
          RESTORE, harms.gone("values"), MISSING),
    Fault("description_gone", "The file that describes a step is missing", "The file, and \"No such file or directory\"", RESTORE,
          harms.gone("describing"), MISSING, SEVERAL),
    Fault("values_are_a_folder", "A folder lies where a file with values was", "Its name, and \"found a folder\"", RESTORE,
          harms.a_folder("values"), "a folder|found none|expected", ALL),
    Fault("values_cut", "A file with values is cut off, or shrinks while it is open", "The file, and how much of it is there", COPY,
          harms.cut("values", 0.5), r"expected .*, found "),
    Fault("values_empty", "A file with values is empty", "The file, and what was expected in it", COPY, harms.cut("values", 0), r"expected .*, found "),
    Fault("description_cut", "The file that describes a step is cut off", "The file, and what was expected in it", COPY,
          harms.cut("describing", 0.3), r"expected |has ", ("samrai", "amrex", "grads")),
    Fault("description_empty", "The file that describes a step is empty", "The file, and what was expected in it", COPY,
          harms.cut("describing", 0), r"expected |has ", SEVERAL),
    Fault("log_torn", "The log of a container ends in the middle of a step's record", "The steps before it; the next writer goes on there", "Nothing",
          harms.cut("describing", 0.9), None, ("container",)),
    Fault("values_grow", "A file with values becomes longer while it is open", "The values that were there, or that the file has changed", RELOAD,
          harms.grown("values"), None, may_ask=True),
    Fault("values_unreadable", "A file with values may not be read", "The file, and \"Permission denied\"", "Ask its owner for the right to read it",
          harms.calls("values", "open", EACCES), "Permission denied"),
    Fault("description_unreadable", "The file that describes a step may not be read", "The file, and \"Permission denied\"",
          "Ask its owner for the right to read it", harms.calls("describing", "open", EACCES), "Permission denied", SEVERAL),
    Fault("replaced", "A newer run replaces all files", "The newer values, or that the file has changed", RELOAD, harms.newer("values"),
          None, generation=1, may_ask=True),
    Fault("written_over", "A newer run writes into the same files, to the same sizes", "The newer values, or that the file has changed", RELOAD,
          harms.newer("values", in_place=True), None, generation=1, may_ask=True),
    Fault("replaced_same_times", "Other files take the place of the old ones, with the same sizes and times", "The newer values, or that the file has changed",
          RELOAD, harms.newer("values", seconds=0), None, generation=1, may_ask=True),
    Fault("clock_behind", "Newer files are older than those before: the clock of the machine that wrote them was wrong",
          "The newer values, or that the file has changed", RELOAD, harms.newer("values", seconds=OLD_TIME, in_place=True), None, generation=1, may_ask=True),
    Fault("clock_ahead", "Files have times in the future", "Nothing: the values are correct", "Nothing", harms.dated("values", NEW_TIME), None, may_ask=True),
]

STORAGE = [
    Fault("read_error", "The storage fails at any one request (EIO)", "The file, the bytes, and \"Input/output error\"", AGAIN,
          harms.requests("values", "read", EIO), "Input/output error"),
    Fault("description_read_error", "The storage fails at any one request for the description of a step", "The file, and \"Input/output error\"", AGAIN,
          harms.requests("describing", "read", EIO), "Input/output error", SEVERAL),
    Fault("storage_down", "The storage fails at every request", "The file, the bytes, and \"Input/output error\"", AGAIN,
          harms.calls("values", "read", EIO), "Input/output error"),
    Fault("open_error", "The storage fails when a file is opened", "The file, and \"Input/output error\"", AGAIN, harms.calls("values", "open", EIO),
          "Input/output error"),
    Fault("stale_handle", "A network file system has lost a file that is open (ESTALE)", "The file, and \"Stale file handle\"", AGAIN,
          harms.requests("values", "read", ESTALE), "Stale file handle"),
    Fault("stale_name", "A network file system has lost a file that is to be opened (ESTALE)", "The file, and \"Stale file handle\"", AGAIN,
          harms.calls("values", "open", ESTALE), "Stale file handle"),
    Fault("stale_state", "A network file system cannot describe a file (ESTALE)", "The file, and \"Stale file handle\", or the values", AGAIN,
          harms.requests("values", "state", ESTALE), "Stale file handle|expected "),
    Fault("too_many_files", "The process has reached its limit of open files", "The file, and \"Too many open files\"", "Raise the limit (`ulimit -n`)",
          harms.calls("values", "open", EMFILE), "Too many open files"),
    Fault("interrupted_reads", "A signal interrupts a request (EINTR)", "Nothing", "Nothing", harms.requests("values", "read", EINTR), None),
    Fault("short_reads", "The storage returns fewer bytes than requested", "Nothing", "Nothing",
          harms.requests("values", "read", 0, count=0, effect=inject.SHORT), None),
]

SIDECARS = [
    Fault("sidecars_unwritable", "Neither the data's folder nor the user's cache can be written", "The line *Metadata* of the report", "Set `PATCHIO_METADATA_DIR`",
          run="sidecars_unwritable"),
    Fault("folder_read_only", "The data's folder cannot be written", "Nothing: the index files are written to `~/.cache/patchio`", "Nothing", run="folder_read_only"),
    Fault("sidecars_full", "The disk is full when an index file is written", "The line *Metadata* of the report", "Make room", run="sidecars_full"),
    Fault("sidecars_rename_fails", "An index file cannot be renamed", "The line *Metadata* of the report", "Nothing", run="sidecars_rename_fails"),
    Fault("sidecar_unreadable", "An index file cannot be read", "A warning; the values are read without it", "Nothing", run="sidecar_unreadable"),
    Fault("sidecar_damaged", "An index file is damaged, truncated or forged", "A warning; it is written again", "Nothing",
          by=["core.DumpChannel", "tools.channel_states"]),
    Fault("indexer_killed", "`patchio index` is killed while it writes", "Nothing: index files are complete or missing", "Nothing",
          by=["tools.channel_killed"], against="tools"),
    Fault("two_indexers", "Two programs write the index files of one series at once", "Nothing", "Nothing", run="two_indexers", against="tools"),
    Fault("two_readers", "Several programs open a series at once, for the first time", "Nothing", "Nothing", run="two_readers"),
]

WRITING = [
    Fault("full_disk", "The disk is full", "The container, and \"No space left on device\"; earlier steps are complete", "Make room. " + CONVERT,
          run="full_disk", against="convert"),
    Fault("write_fails", "The storage fails at any one request to write, or writes less than it should", "The container, and the reason", CONVERT,
          by=["container.failing"], against="convert"),
    Fault("long_files_forbidden", "The size of files is limited (`ulimit -f`)", "The container, and \"File too large\"", "Raise the limit. " + CONVERT,
          run="long_files_forbidden", against="convert"),
    Fault("quota", "The user's quota is used up", "The container, and \"Disk quota exceeded\"", "Make room. " + CONVERT, run="quota", against="convert"),
    Fault("sync_fails", "The storage fails to flush written data (fsync)", "The container, and \"Input/output error\"", CONVERT,
          run="sync_fails", against="convert"),
    Fault("rename_fails", "The file of a step cannot be renamed", "The container, and the reason", CONVERT, run="rename_fails", against="convert"),
    Fault("target_read_only", "The target's file system cannot be written", "The container, and \"Read-only file system\"", "Choose another place",
          run="target_read_only", against="convert"),
    Fault("target_vanishes", "A container is removed while a script adds steps to it", "A new container with the steps that come; of a full disk a message",
          "Write the lost steps again", run="target_vanishes", against="Python's write"),
    Fault("source_breaks", "A file is missing while its series is converted", "The file, and \"No such file or directory\"", "Restore it. " + CONVERT,
          run="source_breaks", against="convert"),
    Fault("source_read_error", "The storage fails while a series is converted", "The file, and \"Input/output error\"", CONVERT,
          run="source_read_error", against="convert"),
    Fault("export_full_disk", "The disk is full while files for other programs are written", "The folder, and \"No space left on device\"",
          "Make room; export with `--overwrite`", run="export_full_disk", against="export"),
    Fault("interrupted", "Ctrl-C while a container is written", "Earlier steps are complete", CONVERT, run="interrupted", against="convert"),
    Fault("writer_killed", "The writer of a container is killed", "Earlier steps are complete", CONVERT, by=["container.killed"], against="convert"),
    Fault("second_writer", "Two programs write one container", "The second one: which process writes it", "Wait for the first one",
          by=["container.second"], against="convert"),
    Fault("read_while_converting", "A container is read while it is written", "The complete steps", RELOAD + ", or *Follow*",
          run="read_while_converting", against="convert"),
    Fault("overwritten_while_open", "A container that is open is overwritten", "The old values, the new ones, or that the file has changed", RELOAD,
          run="overwritten_while_open", against="convert"),
    Fault("save_data_fails", "Save Data cannot write: a full disk, no rights, a storage that fails", "The container and the reason, in ParaView's messages",
          "Save once more", session="save_data", against="Save Data"),
    Fault("background_full_disk", "The disk is full while steps are saved in the background", "The step and the reason, at the next call", "Make room",
          by=["paraview.user_1"], against="Save Data"),
    Fault("simulation_full_disk", "The disk of a simulation is full", "Its next call: the step and \"No space left on device\"; it goes on", "Make room",
          by=["output.failing"], against="patchio.h"),
    Fault("simulation_killed", "A rank of a simulation is killed", "Earlier steps are complete", "Run on in another container", by=["output.killed"],
          against="patchio.h"),
    Fault("simulation_slow", "The storage is slower than a simulation", "It waits, and after `wait seconds` a message", "Raise `memory`", by=["output.slow"],
          against="patchio.h"),
]

PROCESSES = [
    Fault("client_killed", "The client of a pvserver vanishes while it reads", "The server ends", "Start a server again", run="processes.client_killed",
          against="pvserver"),
    Fault("one_of_clients_killed", "One of several clients (`--multi-clients`) vanishes while the server reads for it", "The server serves the others", "Nothing",
          run="processes.one_of_clients_killed", against="pvserver", nightly=True),
    Fault("server_killed", "The pvserver is killed while it reads", "The client ends, or says that the connection is closed", "Start both again",
          run="processes.server_killed", against="pvserver"),
    Fault("server_stopped", "The pvserver is stopped for some time", "The client waits, and then shows the values", "Nothing", run="processes.server_stopped",
          against="pvserver"),
    Fault("rank_killed", "A rank of an MPI job is killed while it indexes a series", "mpirun ends, and says which rank was killed by which signal", "Start the job again",
          run="processes.rank_killed", against="tools"),
    Fault("rank_of_server_killed", "A rank of a pvserver is killed while it reads", "mpirun ends the server, and the client ends", "Start both again",
          run="processes.rank_of_server_killed", against="pvserver", nightly=True),
    Fault("abandoned_read", "The user stops a read while the storage hangs", "\"Cancelled\", immediately", RELOAD, by=["paraview.remote_abort_1", "paraview.scripts_1"]),
]

MEMORY = [
    Fault("memory_runs_out", "Memory runs out while a series is opened, indexed or read, or a container written", "A message that says so", "Work on less at once",
          run="memory_runs_out", against="Python"),
    Fault("little_memory", "The memory of a job is limited (`ulimit -v`)", "A message that says so", "Ask for more, or convert some variables at a time", run="little_memory",
          against="convert"),
    Fault("memory_in_filters", "Memory runs out in a slice, clip, threshold or surface", "An error of the filter, whose output is empty", "Show less, or on more ranks; " + RELOAD,
          session="memory_in_filters", against="filters"),
    Fault("steps_in_paraview", "Steps are shown and sliced again and again, for a day", "Nothing: the memory stays constant within 1 %", "Nothing",
          session="steps_in_paraview", against="ParaView"),
    Fault("hostile_sizes", "A small file claims to hold terabytes", "The file, and what is wrong with it", "Do not trust it", by=["faults.hostile"]),
    Fault("thousand_steps", "A thousand steps are read and written by one process", "Nothing: the memory stays constant within 1 %", "Nothing",
          run="thousand_steps", against="Python"),
]

PARTS = {"Files": FILES, "Storage": STORAGE, "Sidecars": SIDECARS, "Writing": WRITING, "Processes": PROCESSES, "Memory": MEMORY}
FAULTS = [fault for part in PARTS.values() for fault in part]

INTRODUCTION = """# Faults while people work

This page describes what happens when a file vanishes, a disk is full or a server dies while you work. In each case a message names the file and the reason,
ParaView or the program continues (unless it is the killed one), and the values are correct when the fault is over. Each row is
tested, in the same process, by comparing values with a formula; the last column names the test: a fault of the suite
`Testing/Faults` (`ctest -R faults.at_work`), or a test of another suite.

*Reload Files* is in ParaView's menu *File* (F5). In scripts, use `ReloadFiles(reader)`; in Python without ParaView, open the series
again.

A single failed request may have no effect: if PatchIO can get the values in another way, such as without an index file, it does.
"""
REST = """
## Limits

* **A killed process** prints no message; `mpirun`, the shell or the other side of the connection does. ParaView 5.11 ends a client without a server,
  and a server of one client without its client.
* **A storage that hangs** reports no error. Esc ends the read immediately; the pending requests end when the storage answers.
* **A file that is overwritten in place, with the same size and its old time**, looks unchanged. *Reload Files* reads it.
* **The HDF5 library does not recover when the memory for its own small structures runs out**: it may then reject valid files until the program is
  restarted. VTK ends the program if there is no memory for one of its arrays, so a filter whose output does not fit can end the session; the reader
  checks the available memory before it reads. PatchIO's own structures are tested.
* **If memory runs out in a filter on one of several ranks**, the others may wait; in the reader and the writer all ranks get the message.
"""


def tests_of(fault):
    return list(fault.by) or [fault.name]


def page():
    text = INTRODUCTION
    for part, faults in PARTS.items():
        text += "\n## %s\n\n| fault | what you see | what to do | test |\n|---|---|---|---|\n" % part
        for fault in faults:
            text += "| %s (%s) | %s | %s | %s |\n" % (fault.what, fault.against, fault.sees, fault.do, ", ".join("`%s`" % name for name in tests_of(fault)))
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
