"""Tests that writing in the background, or with an output configuration, gives the same files as writing at once, bit by bit, and
that errors reach the script.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP save_in_background.py DATA SCRATCH
"""
import filecmp
import gc
import json
import os
import resource
import shutil
import sys
import time

import numpy as np
from paraview.simple import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger  # noqa: E402
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]
shutil.rmtree(scratch, ignore_errors=True)
os.makedirs(scratch)


def expect_same(found, expected):
    """Compares two containers. A reader waits for pending writes of the first one."""
    reader = PatchReader(FileName=[found])
    expect(len(reader.TimestepValues) > 0, "%s: no steps", found)
    Delete(reader)
    names, others = (sorted(set(os.listdir(folder)) - {"writer"}) for folder in (expected, found))
    expect(others == names, "%s: %s, not %s", found, others, names)
    differ = filecmp.cmpfiles(found, expected, names, shallow=False)[1:]
    expect(differ == ([], []), "%s differs from %s: %s", found, expected, differ)


def written_by_extractor(source, folder, **properties):
    extractor = CreateExtractor("PatchIO", source)
    extractor.Writer.FileName = "out.pio"
    for name, value in properties.items():
        setattr(extractor.Writer, name, value)
    SaveExtracts(ExtractsOutputDirectory=os.path.join(scratch, folder))
    Delete(extractor)
    return os.path.join(scratch, folder, "out.pio")


def new_writer(source, path, **properties):
    writer = CreateWriter(path, source, **properties)
    said = []

    def hear(_, __, text):
        said.append(text)
    hear.CallDataType = "string0"
    writer.GetClientSideObject().AddObserver("ErrorEvent", hear)
    return writer, said


def write_steps(source, path, times, **properties):
    """Calls the writer for each step, like a Catalyst script. Returns the errors, including those at the end of the writer."""
    writer, said = new_writer(source, path, **properties)
    for each in times:
        writer.UpdatePipeline(each)
    del writer
    gc.collect()
    return said


def check_ways():
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    at_once = written_by_extractor(reader, "at_once")
    expect_same(written_by_extractor(reader, "extracted", WriteInBackground=1), at_once)
    single = written_by_extractor(reader, "single", FileName="out_{timestep:06d}.pio", WriteInBackground=1)
    for number, time_of_step in enumerate(reader.TimestepValues[:]):
        one = PatchReader(FileName=[single.replace("out.pio", "out_%06d.pio" % number)])
        expect(list(one.TimestepValues) == [time_of_step], "a container for each step: %s in %s", one.TimestepValues, one.FileName)
        Delete(one)
    for background in (0, 1):
        SaveData("%s/saved_%d.pio" % (scratch, background), proxy=reader, WriteTimeSteps=1, WriteInBackground=background)
    expect_same(scratch + "/saved_1.pio", scratch + "/saved_0.pio")
    expect_same(scratch + "/saved_1.pio", at_once)
    for kind, folder in (("Deflate", "deflated"), ("Automatic", "automatic")):
        packed = [written_by_extractor(reader, folder + str(background), Compression=kind, WriteInBackground=background) for background in (0, 1)]
        expect_same(packed[1], packed[0])
        kinds = {place.get("compression") for step in stranger.read(packed[0]) for place in step.json["data sets"]}
        expect(kinds == {"deflate"}, "%s: compressed by %s", kind, kinds)
    other = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])    # its times are also played
    for _ in range(2):    # the second run begins the container anew
        played = written_by_extractor(reader, "played")
    found = [(step.step, step.time) for step in stranger.read(played)]
    expect(found == list(zip((0, 16, 32, 48), reader.TimestepValues)), "extracted: %s", found)
    Delete(other)
    Delete(reader)


def check_changes():
    """Checks a source that changes its arrays in place, like simulations."""
    source = ProgrammableSource(OutputDataSetType="vtkImageData")
    source.ScriptRequestInformation = """
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as pipeline
info = self.GetOutputInformation(0)
info.Set(pipeline.TIME_STEPS(), list(range(6)), 6)
info.Set(pipeline.TIME_RANGE(), [0, 5], 2)
info.Set(pipeline.WHOLE_EXTENT(), 0, 127, 0, 127, 0, 99)"""
    source.Script = """
import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as pipeline
info = self.GetOutputInformation(0)
import builtins
if not hasattr(builtins, "patchio_values"):
    builtins.patchio_values = np.zeros(128 * 128 * 100)
builtins.patchio_values[:] = info.Get(pipeline.UPDATE_TIME_STEP())
output.SetExtent(0, 127, 0, 127, 0, 99)
array = numpy_to_vtk(builtins.patchio_values)
array.SetName("time")
self.GetOutputDataObject(0).GetPointData().AddArray(array)"""
    path = scratch + "/changed.pio"
    expect(write_steps(source, path, range(6), WriteInBackground=1) == [], "errors")
    for step in stranger.read(path):
        found = {float(value) for _, _, values in step.values() for value in np.unique(values)}
        expect(found == {step.time}, "step %d has the values %s", step.step, found)
    Delete(source)


def check_configuration():
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    name = reader.CellData.GetArray(0).GetName() if reader.UpdatePipeline() is None else None
    with open(scratch + "/output.json", "w") as file:
        json.dump({"channels": [{"path": "all.pio", "compress": "deflate"}, {"path": "some.pio", "variables": [name], "windows": [{"first": 16, "every": 32}]}]}, file)
    written_by_extractor(reader, "configured", OutputConfiguration=scratch + "/output.json")
    folder = scratch + "/configured/"
    expect_same(folder + "all.pio", scratch + "/deflated0/out.pio")
    expect(sorted(os.listdir(folder)) == ["all.pio", "some.pio"], "files: %s", os.listdir(folder))
    for path, steps in (("all.pio", [0, 16, 32, 48]), ("some.pio", [16, 48])):
        found = stranger.read(folder + path)
        expect([step.step for step in found] == steps, "%s: steps %s", path, [step.step for step in found])
    for wrong, told in (('{"channels": [{"path": "a.pio", "variables": ["none"]}]}', "'none'"), ('{"mode": "ranks"}', "\"ranks\""), ('{"chanels": []}', "chanels"),
                        ('{"channels": [{"path": "a.h5", "format": "kwave", "points": [1], "windows": [{"last": 9}]}]}', "kwave")):
        said = write_steps(reader, scratch + "/wrong/out.pio", reader.TimestepValues[:1], OutputConfiguration=wrong)
        expect(len(said) == 1 and told in said[0], "%s: %s", wrong, said)
    Delete(reader)


def check_full():
    """Simulates a full disk by a limit for the files of rank 0. Later calls must report the failed steps."""
    reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
    reader.UpdatePipeline()
    path = scratch + "/full.pio"
    times = reader.TimestepValues[:]
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    writer, said = new_writer(reader, path, WriteInBackground=1)
    for each in times:
        writer.UpdatePipeline(each)
        time.sleep(0.5)    # until the write has been tried
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, allowed[1]))
    told = list(said)
    del writer
    gc.collect()
    resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    for step in (16, 32):
        expect(any("Step %d " % step in text and "too large" in text for text in told), "a full disk: %s", told)
    expect([step.step for step in stranger.read(path)] == [0], "a full disk: steps %s", [step.step for step in stranger.read(path)])
    Delete(reader)


for part in (check_ways, check_configuration, check_full, check_changes):    # the last one imports names such as max
    print(part.__name__, flush=True)
    part()
if failed:
    sys.exit(1)
print("passed: save_in_background")
