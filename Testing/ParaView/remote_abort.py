"""A client that stops reads of its pvserver at chosen moments, with the message that Esc in the GUI sends.

usage: with_slow_storage.sh ... with_server.sh RANKS pvpython remote_abort.py
"""
import os
import sys
import traceback

from paraview import servermanager
from paraview.simple import *

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..")]
from expectations import require  # noqa: E402
from slow_reads import cells, past, storage  # noqa: E402

Connect("127.0.0.1", int(os.environ["PATCHIO_PORT"]))
LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
session = servermanager.ActiveConnection.Session
# As in Plugin/Server/vtkPVPatchReader.h.
TAG, TEXT = 1346457409, "PatchIO: stop reading 5d0e81c3f97a46b2"


def send_abort():
    session.GetController(session.DATA_SERVER_ROOT).Send(TEXT, len(TEXT), 1, TAG)


def update_and_abort(proxy, time, stage="Reading", slow="load 1000000", fast="load 0"):
    """Updates, and sends one abort at the first progress text of a stage. For the stage of reading, the abort must have an effect.
    Returns the messages of the server."""
    handler = session.GetProgressHandler()
    words = []

    def on_progress(*_):
        text = handler.GetLastProgressText() or ""
        if text.startswith(stage) and not any(word.startswith(stage) for word in words):
            try:
                send_abort()
            except BaseException:
                # Inside an observer, an exception does not end the program.
                traceback.print_exc()
                os._exit(1)
        words.append(text)

    observer = handler.AddObserver("ProgressEvent", on_progress)
    storage(slow)
    proxy.UpdatePipeline(time)
    storage(fast)
    handler.RemoveObserver(observer)
    return words


def new_reader():
    return PatchReader(FileName=[os.environ["PATCHIO_DATASET"]], CacheMemory=0, Prefetch=0)


def check_stop():
    reader = new_reader()
    times = reader.TimestepValues[:]
    reader.UpdatePipeline(times[1])
    whole = cells(reader)
    reader.UpdatePipeline(times[0])
    words = update_and_abort(reader, times[1])
    require(any(word.startswith("Reading") for word in words), "progress: %s", words)
    require(past(reader) == [False, False, True] and cells(reader) == 0, "stopped: %s, %d cells", past(reader), cells(reader))
    reader.SMProxy.InvokeCommand("ReadAgain")
    reader.UpdatePipeline(times[1])
    require(past(reader)[3:] == [False] and cells(reader) == whole > 0, "again: %s, %d cells", past(reader), cells(reader))
    Delete(reader)


def check_locating():
    """Checks that locating the values can be stopped, too."""
    reader = new_reader()
    reader.MetadataChannel = "Off"
    times = reader.TimestepValues[:]
    reader.UpdatePipeline(times[0])
    words = update_and_abort(reader, times[1], "Locating", "set latency 30", "set latency 0")
    require(any(word.startswith("Locating") for word in words), "progress: %s", words)
    require(not any(word.startswith("Reading") for word in words), "it went on: %s", words)
    require(past(reader) == [False, True] and cells(reader) == 0, "stopped: %s, %d cells", past(reader), cells(reader))
    reader.UpdatePipeline(times[2])
    require(past(reader)[2:] == [False] and cells(reader) > 0, "after it: %s, %d cells", past(reader), cells(reader))
    Delete(reader)


def check_other_moments():
    """Checks that the message has no effect if nothing is read, neither now nor later."""
    reader = new_reader()
    times = reader.TimestepValues[:]
    for time in times:
        send_abort()
        send_abort()
        reader.UpdatePipeline(time)
    send_abort()
    require(past(reader) == [False] * len(times) and cells(reader) > 0, "%s, %d cells", past(reader), cells(reader))
    slice_ = Slice(Input=reader)
    slice_.SliceType.Origin = [0.5, 0.5, 0.5]
    send_abort()
    slice_.UpdatePipeline(times[0])
    require(cells(slice_) > 0, "an empty slice")
    Delete(slice_)
    Delete(reader)


def check_two_readers():
    """Checks that one message ends all reads of one request."""
    readers = [new_reader(), new_reader()]
    times = readers[0].TimestepValues[:]
    group = GroupDatasets(Input=readers)
    group.UpdatePipeline(times[0])
    update_and_abort(group, times[1])
    for reader in readers:
        require(past(reader) == [False, True], "two readers at once: %s", past(reader))
    group.UpdatePipeline(times[2])
    for reader in readers:
        require(past(reader) == [False, True, False] and cells(reader) > 0, "after it: %s", past(reader))


check_stop()
check_locating()
check_other_moments()
check_two_readers()
print("passed: reads of a pvserver end")
