"""Saves a container's last step in pvbatch, as patches, and prints the seconds as JSON.

usage: pvbatch save_rates.py CONTAINER OUT   (OUT ends with .vtm, which VTK's parallel XML writer makes, or .pio)
"""
import json
import os
import sys
import time

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
reader = PatchReader(FileName=[sys.argv[1]], Blocks="As patches")
reader.UpdatePipeline()
begin = time.perf_counter()
SaveData(sys.argv[2], proxy=reader)
print("JSON " + json.dumps({"seconds": time.perf_counter() - begin}))
