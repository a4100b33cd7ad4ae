"""Saves a container's last step in pvbatch, as patches, and prints the seconds as JSON.

usage: pvbatch save_rates.py CONTAINER OUT   (OUT ends with .vtm, which VTK's parallel XML writer makes, or .pio)
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

reader = PatchReader(FileName=[sys.argv[1]], Blocks="As patches")
reader.UpdatePipeline()
print_json({"seconds": timed(lambda: SaveData(sys.argv[2], proxy=reader))})
