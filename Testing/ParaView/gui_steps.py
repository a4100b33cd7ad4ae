"""Common functions of scripts that run inside the ParaView GUI, started by gui.sh: steps with pauses in which the windows settle."""
import os
import shutil
import subprocess
import traceback


def finish(text):
    """Leaves ParaView at once: closing its window would ask questions."""
    with open(os.environ["PATCHIO_RESULT"], "w") as file:
        file.write(text)
    os._exit(0)


def expect(condition, message, *details):
    if not condition:
        finish("FAILED: " + message % details)


def xdotool(*arguments):
    """Sends keys from outside, so that a test includes their processing by Qt. Returns what the program prints."""
    return subprocess.run(["xdotool", *arguments], timeout=20, check=True, stdout=subprocess.PIPE, text=True).stdout


def has_xdotool():
    return shutil.which("xdotool") is not None


def take_keyboard():
    """Takes the keyboard focus, because there is no window manager."""
    xdotool("windowfocus", xdotool("search", "--onlyvisible", "--name", "^ParaView").split()[-1])


class Steps:
    """Runs functions one by one, with time for other timers between them. A function that returns False is repeated."""

    def __init__(self, steps, tries):
        self.steps, self.running, self.most, self.tries = steps, False, tries, 0

    def next_step(self, *_):
        if self.running:
            return    # a timer event during a step
        self.running = True
        try:
            self.tries += 1
            if self.steps[0]() is not False:
                del self.steps[0]
                self.tries = 0
            expect(self.tries < self.most, "in vain: %s", self.steps[0].__name__)
        except BaseException:
            finish("FAILED: " + traceback.format_exc())
        self.running = False


def run(begin, steps, milliseconds, tries=1000):
    """Runs `begin`, which returns a view, and the steps. A Qt timer, made by the view's interactor, lets the GUI process its events."""
    try:
        interactor = begin().GetInteractor()
        interactor.AddObserver("TimerEvent", Steps(steps, tries).next_step)
        interactor.CreateRepeatingTimer(milliseconds)
    except BaseException:
        finish("FAILED: " + traceback.format_exc())
