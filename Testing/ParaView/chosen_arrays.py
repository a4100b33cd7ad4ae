"""Tests that names of arrays that the data lack are reported once, and no others. The same holds for parts of a plotfile that are
left out.

usage: Testing/ParaView/pvbatch.sh NP chosen_arrays.py DATA SCRATCH        DATA: the project's own folder
"""
import os
import shutil
import sys

from paraview import simple
from vtkmodules.vtkCommonCore import vtkLogger

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "Formats", "AMReX")]
from on_ranks import expect, failed, said_by  # noqa: E402
from plotfile_writer import tiles, write_plotfile  # noqa: E402

data, scratch = sys.argv[1:3]
os.makedirs(scratch, exist_ok=True)
simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=vars(simple))


def warned(work, *words):
    text = said_by(work)
    expect(text.count("ArrayStatus.") == len(words) and "ERROR" not in text, "%d warnings: %s", len(words), text)
    for word in words:
        expect(word in text, "no '%s' in: %s", word, text)


def quiet(work):
    text = said_by(work)
    expect(text == "", "something is said: %s", text)


def arrays_of(reader):
    return sorted(reader.CellData.keys()) + sorted(reader.PointData.keys())


def misspelt():
    reader = simple.PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])
    reader.CellArrayStatus = ["UVLA", "flux"]
    reader.PointArrayStatus = ["uval"]
    times = reader.TimestepValues
    warned(lambda: reader.UpdatePipeline(times[1]), "Step 15 has no cell array 'UVLA'. The cell arrays are: 'uval', 'flux'. If no other step has this array, correct CellArrayStatus",
           "'uval' is a cell array. Select it in CellArrayStatus, not in PointArrayStatus.")
    expect("flux" in arrays_of(reader) and "uval" not in arrays_of(reader), "arrays %s", arrays_of(reader))
    quiet(lambda: reader.UpdatePipeline(times[2]))
    reader.CellArrayStatus, reader.PointArrayStatus = ["uval"], ["uval_node"]
    quiet(lambda: reader.UpdatePipeline(times[1]))
    reader.PointArrayStatus = ["uval_nod"]    # after the lists of arrays were filled
    warned(lambda: reader.UpdatePipeline(times[1]), "Step 15 has no point array 'uval_nod'. The point arrays are: 'uval_node'.")
    reader.CellArrayStatus = []
    quiet(lambda: reader.UpdatePipeline(times[1]))
    # Opens other data, whose arrays replace these.
    reader.CellArrayStatus = ["uval"]
    reader.UpdatePipeline(times[1])
    reader.FileName = [os.path.join(scratch, "plt00000")]
    quiet(reader.UpdatePipeline)
    expect(arrays_of(reader) == ["a"], "arrays %s of other data", arrays_of(reader))
    simple.Delete(reader)


def plotfile(number, names, step):
    path = os.path.join(scratch, "plt%05d" % number)
    write_plotfile(path, ((0, 0, 0), (7, 7, 7)), [tiles((0, 0, 0), (7, 7, 7), (4, 4, 4))], (), names=names, real="f4", step=step, time=0.5 * step,
                   corner=[0, 0, 0], spacing=[1, 1, 1])
    return path


def changing():
    """Checks that an array of other steps is not an error, because a state may request it at any step."""
    reader = simple.PatchReader(FileName=[os.path.join(scratch, "plt00000")])
    reader.UpdatePipeline(0)
    quiet(lambda: reader.UpdatePipeline(0.5))
    reader.CellArrayStatus = ["b"]
    quiet(lambda: (reader.UpdatePipeline(0.5), reader.UpdatePipeline(0)))
    simple.Delete(reader)
    reader = simple.PatchReader(FileName=[os.path.join(scratch, "plt00000")], CellArrayStatus=["b"])
    warned(lambda: reader.UpdatePipeline(0), "Step 0 has no cell array 'b'. The cell arrays are: 'a'. If no other step has this array, correct CellArrayStatus.")
    quiet(lambda: reader.UpdatePipeline(0.5))
    expect("b" in arrays_of(reader), "arrays %s", arrays_of(reader))
    quiet(lambda: reader.UpdatePipeline(0))
    simple.Delete(reader)


def left_out():
    """Checks that parts that are left out are in the report and in the log, and do not open a window."""
    path = plotfile(100, ["a"], 100)
    os.makedirs(path + "/electrons")
    with open(path + "/electrons/Header", "w") as file:
        file.write("Version_Two_Dot_Zero_double\n3\n")
    log = os.path.join(scratch, "log.txt")
    vtkLogger.LogToFile(log, vtkLogger.TRUNCATE, vtkLogger.VERBOSITY_INFO)
    reader = simple.PatchReader(FileName=[path], ListedDumpsOnly=1)
    quiet(reader.UpdatePipeline)
    note = "PatchIO skips particles: 'electrons'"
    reader.UpdatePropertyInformation()
    report = reader.GetProperty("IOReport").GetData()
    expect(report.count("Note: " + note) == 1, "report: %s", report)
    vtkLogger.EndLogToFile(log)
    with open(log) as file:
        text = file.read()
    expect(text.count("PatchIO: " + note) == 1, "log: %s", text)
    simple.Delete(reader)


for folder in os.listdir(scratch):
    shutil.rmtree(os.path.join(scratch, folder), ignore_errors=True)
plotfile(0, ["a"], 0)
plotfile(1, ["a", "b"], 1)
misspelt()
changing()
left_out()
print("chosen arrays: %d faults" % len(failed))
if failed:
    sys.exit(1)
