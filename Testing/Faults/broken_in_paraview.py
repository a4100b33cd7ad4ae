"""Opens the damaged files of a format (broken_files.py, broken.py) in ParaView. After an error, nothing may be displayed, and the
session must still display the valid files.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Faults/broken_in_paraview.py FORMAT CASESDIR
"""
import os
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "Formats"), os.path.join(here, "..", "Formats", sys.argv[1])]
import broken  # noqa: E402  before modules that put other folders first
import broken_files  # noqa: E402
import conformance  # noqa: E402
from faults import Messages, points_of, update  # noqa: E402
from paraview import simple  # noqa: E402
from vtkmodules.vtkCommonCore import vtkLogger  # noqa: E402

MUTATIONS = 15
cases = sys.argv[2]
complained, shown = [], []


def show(path):
    """Returns the errors and warnings, the report, and the number of displayed points."""
    with Messages() as messages:
        reader = simple.PatchReader(FileName=[path], Grids="All")
    text = messages.text + update(reader)
    points, report = points_of(reader), conformance.report_of(reader)
    simple.Delete(reader)
    return text, report, points


def check(path, what, must_complain):
    print("broken: " + what, flush=True)
    text, report, points = show(path)
    complaint = "ERROR" in text or "Warning" in text or "Skipping" in report or "skipped" in report or "skips" in report
    conformance.expect(not must_complain or complaint, "%s: nobody says anything: %s", what, report)
    conformance.expect("ERROR" not in text or points == 0, "%s: %d points in spite of an error: %s", what, points, text)
    (complained if "ERROR" in text else shown).append(what)


vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)    # hides the expected errors on the terminal
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
with tempfile.TemporaryDirectory() as folder:
    for what, path, must_complain in broken_files.broken_copies(broken, cases, folder):
        check(path, what, must_complain)
    for name, path, wanted in broken.contradictions(cases, folder):
        check(path, name, wanted is not None or name in getattr(broken, "SEEN_IN_PARAVIEW", ()))
    for what, path in broken_files.mutations(broken, cases, folder, MUTATIONS):
        check(path, what, False)
for opened in broken.SOUND:
    text, _, points = show(os.path.join(cases, opened))
    conformance.expect(not text and points > 0, "%s, sound: %d points: %s", opened, points, text)
conformance.expect(complained, "no error at all")
print("%s: %d files were complained of, %d shown, %d faults" % (sys.argv[1], len(complained), len(shown), len(conformance.failed)))
sys.exit(1 if conformance.failed else 0)
