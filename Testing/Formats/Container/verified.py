"""Tests Verify Values: a patch with changed values counts as damaged on all ranks, and the message names it.

usage: [mpiexec -np N] pvbatch verified.py CASES SCRATCH
"""
import os
import shutil
import sys

from paraview.simple import PatchReader, UpdatePipeline
from vtkmodules.vtkCommonCore import vtkLogger, vtkOutputWindow, vtkStringOutputWindow

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "../../ParaView")]
import stranger  # noqa: E402
from on_ranks import controller, expect, finish, output_of, patches_of_tree, rank, ranks, sum_over_ranks  # noqa: E402

vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)    # the errors are expected
cases, scratch = sys.argv[1:]
container = os.path.join(scratch, "verified_%d.pio" % ranks)
step = stranger.read(os.path.join(cases, "amr_3d/run.pio"))[0]
place = step.json["data sets"][-1]
row = next(r for r, info in enumerate(step.rows) if info["level"] == place["level"])
broken = sum(info["level"] < place["level"] for info in step.rows) + step.rows[row]["number"]
name = step.json["variables"][place["variable"]]["name"]
if rank == 0:
    shutil.rmtree(container, ignore_errors=True)
    shutil.copytree(os.path.join(cases, "amr_3d/run.pio"), container)
    with open(os.path.join(container, step.json["files"][0]), "r+b") as file:
        file.seek(place["offset"] + 1)
        byte = file.read(1)[0] ^ 1
        file.seek(place["offset"] + 1)
        file.write(bytes([byte]))
controller.Barrier()


def opened(**properties):
    reader = PatchReader(FileName=[container], **properties)
    reader.CellArrayStatus, reader.PointArrayStatus = list(reader.CellArrayStatus.Available), list(reader.PointArrayStatus.Available)
    return reader


def shown(reader):
    """Collective: returns the text of all messages on this rank, and the number of ranks that show each patch."""
    window, before = vtkStringOutputWindow(), vtkOutputWindow.GetInstance()
    vtkOutputWindow.SetInstance(window)
    try:
        UpdatePipeline(proxy=reader)
    except RuntimeError as error:
        print(error)
    finally:
        vtkOutputWindow.SetInstance(before)
    merged = reader.Blocks == "Merged"
    mine = patches_of_tree(output_of(reader)) if output_of(reader).GetNumberOfBlocks() and not merged else {}
    return window.GetOutput(), [sum_over_ranks(patch in mine) for patch in range(len(step.rows))]


words = "values of '%s' on patch %d of level %d that match their checksum" % (name, step.rows[row]["number"], place["level"])
first = opened(Blocks="As patches", CacheMemory=1)
text, held = shown(first)
expect(words not in text and all(count == 1 for count in held), "not verified: %s, %s", text, held)
first.VerifyValues = 1    # values that were cached without a check must not be shown now
text, held = shown(first)
expect(rank > 0 or words in text, "verified: '%s'", text)
expect(not any(held), "verified: patches are shown: %s", held)
text, held = shown(opened(Blocks="As patches", VerifyValues=1, SkipBrokenPatches=1))
expect(rank > 0 or words in text, "broken patches skipped: '%s'", text)
expect(held == [patch != broken for patch in range(len(held))], "broken patches skipped: %s, without %d", held, broken)
text, held = shown(opened(Blocks="Merged", VerifyValues=1, SkipBrokenPatches=1))
expect(rank > 0 or words in text, "merged: '%s'", text)
vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_INFO)
finish("verified")
