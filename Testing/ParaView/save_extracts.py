"""Tests that an extractor adds each time step of its data once to a container, and that a second run begins the container anew.
Also tests compression.

usage: PATCHIO_PVBATCH_MODE=root Testing/ParaView/pvbatch.sh NP save_extracts.py DATA SCRATCH
"""
import os
import shutil
import sys

from paraview.simple import *

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger  # noqa: E402

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
data, scratch = sys.argv[1:3]
shutil.rmtree(scratch, ignore_errors=True)

reader = PatchReader(FileName=[data + "/linadv_3d/dumps.visit"])
every = list(zip((0, 16, 32, 48), reader.TimestepValues[:]))
other = PatchReader(FileName=[data + "/linadv_2d/dumps.visit"])    # its times are also played
extractor = CreateExtractor("PatchIO", reader, registrationName="extract")
extractor.Writer.FileName = "extract.pio"
extractor.Writer.Compression = "Deflate"
for _ in range(2):
    SaveExtracts(ExtractsOutputDirectory=scratch)
    found = [(step.step, step.time) for step in stranger.read(scratch + "/extract.pio")]
    if found != every:
        sys.exit("FAILED: extracted %s, not %s" % (found, every))
    kinds = {place.get("compression") for step in stranger.read(scratch + "/extract.pio") for place in step.json["data sets"]}
    if kinds != {"deflate"}:
        sys.exit("FAILED: compressed by %s" % kinds)
print("passed: save_extracts")
