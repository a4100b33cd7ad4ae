"""Tests inside the ParaView GUI that Esc ends reads from a storage that does not respond.

usage: with_slow_storage.sh ... with_server.sh RANKS gui.sh gui_abort.py RESULT.TXT     (0 RANKS: the builtin server)

xdotool sends the keys from outside, so that the test includes their processing by Qt.
"""
import json
import os
import shutil
import subprocess
import time
import traceback

from paraview import servermanager
from paraview.simple import *


def finish(text):
    """Leaves ParaView at once: closing its window would ask questions."""
    with open(os.environ["PATCHIO_RESULT"], "w") as file:
        file.write(text)
    os._exit(0)


def expect(condition, message, *details):
    if not condition:
        finish("FAILED: " + message % details)


def key(*arguments):
    subprocess.run(["xdotool", *arguments], timeout=20, check=True)


def storage(command):
    with open(os.environ["PATCHIO_STORAGE"], "w") as file:
        file.write(command)


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
            key("keydown", "Escape")
        self.words.append(text)

    def __exit__(self, error, *_):
        self.handler.RemoveObserver(self.observer)
        storage("load 0")
        key("keyup", "Escape")
        if not error:
            expect(any(word.startswith("Reading") for word in self.words), "there was no read to stop: %s", self.words)
            self.seconds = time.time() - self.pressed


def past():
    """Returns, for each read so far, whether it was stopped."""
    reader.UpdatePropertyInformation()
    return [read["cancelled"] for read in json.loads(reader.GetPropertyValue("IOReportData"))["past"]]


def cells():
    return reader.GetDataInformation().GetNumberOfCells()


def take_keyboard():
    """Takes the keyboard focus, because there is no window manager."""
    found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "^ParaView"], timeout=20, check=False,
                           capture_output=True, text=True).stdout.split()
    if not found:
        return False
    key("windowfocus", found[-1])
    return True


def stop_one_read():
    """Stops one read, as when a user goes to another step."""
    expect(past() == [False] and cells() > 0, "nothing is shown at first: %s, %d cells", past(), cells())
    with EscapeDuringRead() as escape:
        scene.AnimationTime = reader.TimestepValues[1]
    expect(past() == [False, True] and cells() == 0, "a read that was stopped: %s, %d cells", past(), cells())
    times.append(escape.seconds)


def apply_again():
    if past() == [False, True]:
        key("key", "alt+a")
        return False
    expect(past() == [False, True, False] and cells() > 0, "Apply after that: %s, %d cells", past(), cells())
    return True


def stop_playing():
    """Checks that stopping a read also stops the animation, so that there is only one more read. ParaView 6.1 begins another one
    while the key is down."""
    scene.AnimationTime = reader.TimestepValues[0]
    before = past()
    with EscapeDuringRead() as escape:
        scene.Play()
    expect(past() in (before + [True], before + [True, True]), "reads before playing: %s, after: %s", before, past())
    expect(scene.AnimationTime < reader.TimestepValues[-1], "it goes on to play, up to %g", scene.AnimationTime)
    times.append(escape.seconds)


def go_on():
    """Checks that the session works afterwards."""
    scene.AnimationTime = reader.TimestepValues[3]
    expect(not past()[-1] and cells() > 0, "the session is broken: %s, %d cells", past(), cells())
    finish("passed: from key to prompt in %s s\n" % ", ".join("%.2f" % seconds for seconds in times))


def next_step(*_):
    """Runs the steps one by one. A step that returns False is repeated."""
    global running
    if running:
        return    # a timer event during a step
    running = True
    try:
        if steps[0]() is not False:
            del steps[0]
    except BaseException:
        finish("FAILED: " + traceback.format_exc())
    running = False


steps = [take_keyboard, stop_one_read, apply_again, stop_playing, go_on]
running = False
times = []
if not shutil.which("xdotool"):
    finish("skipped: no program 'xdotool'\n")
try:
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
    # A Qt timer, made by the view's interactor, so that the GUI processes its events.
    interactor = view.GetInteractor()
    interactor.AddObserver("TimerEvent", next_step)
    interactor.CreateRepeatingTimer(500)
except BaseException:
    finish("FAILED: " + traceback.format_exc())
