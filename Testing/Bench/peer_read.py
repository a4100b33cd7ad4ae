"""Reads one file with one reader in pvbatch, and prints seconds, cells, the sum of the values and memory as JSON.

usage: pvbatch peer_read.py KIND PATH read
"""
import json
import os
import sys
import time

import numpy
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
kind, path = sys.argv[1:3]


def kilobytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


makers = {
    "PatchIO": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Blocks="As patches"),  # as the others
    "XDMF": lambda: XDMFReader(FileNames=[path]),
    "VTKHDF": lambda: VTKHDFReader(FileName=path),
}
before = kilobytes()
begin = time.perf_counter()
reader = makers[kind]()
reader.UpdatePipeline()
seconds = time.perf_counter() - begin
memory = kilobytes() - before

output = reader.GetClientSideObject().GetOutputDataObject(0)
iterator = output.NewIterator() if output.IsA("vtkCompositeDataSet") else None
blocks = []
if iterator:
    iterator.InitTraversal()
    while not iterator.IsDoneWithTraversal():
        blocks.append(iterator.GetCurrentDataObject())
        iterator.GoToNextItem()
else:
    blocks = [output]
total, cells = 0.0, 0
for block in blocks:
    array = block.GetCellData().GetArray("v0")
    if array:
        total += float(numpy.sum(vtk_to_numpy(array), dtype=numpy.float64))
        cells += block.GetNumberOfCells()
print("JSON " + json.dumps({"seconds": seconds, "cells": cells, "sum": total, "kilobytes": memory, "blocks": len(blocks)}))
