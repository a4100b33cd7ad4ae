"""Reads one dump in pvbatch and prints the seconds of the I/O report and the memory of the read as JSON.

usage: pvbatch open_and_read.py SUMMARY THREADS
"""
import json
import os
import sys

from paraview.simple import *

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())


def kilobytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


before = kilobytes()
reader = PatchReader(FileName=[sys.argv[1]], ThreadMode="Fixed", ThreadsPerRank=int(sys.argv[2]))
reader.UpdatePipeline()
reader.UpdatePropertyInformation()
costs = {"kilobytes": kilobytes() - before}
for line in reader.GetPropertyValue("IOReport").splitlines():
    if line.startswith("Seconds: "):
        for item in line[len("Seconds: "):].split(", "):
            name, value = item.split()
            costs[name] = float(value)
print("JSON " + json.dumps(costs))
