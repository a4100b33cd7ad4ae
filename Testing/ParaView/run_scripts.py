"""Runs several test scripts in one session of pvbatch, because starting the session takes longer than most scripts.

usage: Testing/ParaView/pvbatch.sh NP Testing/ParaView/run_scripts.py + SCRIPT [ARGUMENT...] [+ SCRIPT [ARGUMENT...]]...

SCRIPT is a path from the folder Testing. Each script gets its own modules, pipelines and index files. The name of each script is
printed before it runs, so that a crash or hang has a name. Failed scripts are listed; if there are none, "all N scripts passed" is
printed last.
"""
import os
import runpy
import sys
import time
import traceback

from paraview import simple
from vtkmodules.vtkParallelCore import vtkMultiProcessController

TESTING = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
controller = vtkMultiProcessController.GetGlobalController()
rank, ranks = controller.GetLocalProcessId(), controller.GetNumberOfProcesses()


def say(text):
    if rank == 0:
        print(text, flush=True)


def run(script, arguments):
    """Runs a script. Returns whether it passed; None if the ranks may no longer be in step."""
    path = os.path.join(TESTING, script)
    sys.argv = [path] + arguments
    kept, environment = list(sys.path), dict(os.environ)
    sys.path.insert(0, os.path.dirname(path))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, flush=True)
            return False if ranks == 1 else None
        return not end.code
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        return False if ranks == 1 else None
    finally:
        sys.path[:] = kept
        os.environ.update(environment)
        for name, module in list(sys.modules.items()):
            if (getattr(module, "__file__", None) or "").startswith(TESTING):
                del sys.modules[name]
    return True


def main(words):
    scripts = []
    for word in words:
        if word == "+":
            scripts.append([])
        else:
            scripts[-1].append(word)
    metadata, failed = os.environ["PATCHIO_METADATA_DIR"], []
    # The plugin cannot be loaded twice. Its names are already in paraview.simple then.
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    simple.LoadPlugin = lambda *_, **__: None
    for number, (script, *arguments) in enumerate(scripts):
        name = " ".join([script] + [os.path.basename(a) for a in arguments])
        say("begin " + name)
        os.environ["PATCHIO_METADATA_DIR"] = os.path.join(metadata, str(number)) if metadata else ""
        began = time.monotonic()
        passed = run(script, arguments)
        say("%.1f s" % (time.monotonic() - began))
        if not passed:
            failed.append(name)
            print("FAILED on rank %d: %s" % (rank, name), flush=True)
        if passed is None:
            print("not run after it: %s" % ", ".join(s[0] for s in scripts[number + 1:]), flush=True)
            break
        simple.ResetSession()
    if not failed:
        say("all %d scripts passed" % len(scripts))
    return 1 if failed else 0


status = main(sys.argv[1:])
if status:
    sys.exit(status)
