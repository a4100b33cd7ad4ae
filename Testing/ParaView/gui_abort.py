"""Tests inside the ParaView GUI that Esc ends reads from a storage that does not respond.

usage: with_slow_storage.sh ... with_server.sh RANKS gui.sh gui_abort.py RESULT.TXT     (0 RANKS: the builtin server)

xdotool sends the keys from outside, so that the test includes their processing by Qt.
"""
import os
import time

from gui_steps import expect, finish, has_xdotool, run, take_keyboard, xdotool
from paraview import servermanager
from paraview.simple import *
from slow_reads import cells, past, storage


class EscapeDuringRead:
    """Holds Esc down from the first progress text of reading until the end of the block."""

    def __enter__(self):
        self.words, self.seconds = [], None
        self.handler = servermanager.ActiveConnection.Session.GetProgressHandler()
        self.observer = self.handler.AddObserver("ProgressEvent", self.on_progress)
        storage("load 1000000")
        return self

    def on_progress(self, *_):
        text = self.handler.GetLastProgressText() or ""
        if text.startswith("Reading") and not any(word.startswith("Reading") for word in self.words):
            self.pressed = time.time()
            xdotool("keydown", "Escape")
        self.words.append(text)

    def __exit__(self, error, *_):
        self.handler.RemoveObserver(self.observer)
        storage("load 0")
        xdotool("keyup", "Escape")
        if not error:
            expect(any(word.startswith("Reading") for word in self.words), "there was no read to stop: %s", self.words)
            self.seconds = time.time() - self.pressed


def stop_one_read():
    """Stops one read, as when a user goes to another step."""
    expect(past(reader) == [False] and cells(reader) > 0, "nothing is shown at first: %s, %d cells", past(reader), cells(reader))
    with EscapeDuringRead() as escape:
        scene.AnimationTime = reader.TimestepValues[1]
    expect(past(reader) == [False, True] and cells(reader) == 0, "a read that was stopped: %s, %d cells", past(reader), cells(reader))
    times.append(escape.seconds)


def apply_again():
    if past(reader) == [False, True]:
        xdotool("key", "alt+a")
        return False
    expect(past(reader) == [False, True, False] and cells(reader) > 0, "Apply after that: %s, %d cells", past(reader), cells(reader))
    return True


def stop_playing():
    """Checks that stopping a read also stops the animation, so that there is only one more read. ParaView 6.1 begins another one
    while the key is down."""
    scene.AnimationTime = reader.TimestepValues[0]
    before = past(reader)
    with EscapeDuringRead() as escape:
        scene.Play()
    expect(past(reader) in (before + [True], before + [True, True]), "reads before playing: %s, after: %s", before, past(reader))
    expect(scene.AnimationTime < reader.TimestepValues[-1], "it goes on to play, up to %g", scene.AnimationTime)
    times.append(escape.seconds)


def go_on():
    """Checks that the session works afterwards."""
    scene.AnimationTime = reader.TimestepValues[3]
    expect(not past(reader)[-1] and cells(reader) > 0, "the session is broken: %s, %d cells", past(reader), cells(reader))
    finish("passed: from key to prompt in %s s\n" % ", ".join("%.2f" % seconds for seconds in times))


times = []
if not has_xdotool():
    finish("skipped: no program 'xdotool'\n")


def begin():
    global reader, scene
    if "PATCHIO_PORT" in os.environ:
        Connect("127.0.0.1", int(os.environ["PATCHIO_PORT"]))
        LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
    LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=globals())
    reader = PatchReader(FileName=[os.environ["PATCHIO_DATASET"]], CacheMemory=0, Prefetch=0)
    view = GetActiveViewOrCreate("RenderView")
    Show(reader, view)
    ResetCamera(view)
    Render(view)
    scene = GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()
    return view


run(begin, [take_keyboard, stop_one_read, apply_again, stop_playing, go_on], 500)
