"""Reads one file with one reader in pvbatch, and prints seconds, those of a second reader, cells, the sum of the values and memory as JSON.

usage: pvbatch peer_read.py KIND PATH ARRAY
"""
import json
import os
import re
import sys
import time

import numpy
from paraview import servermanager
from paraview.simple import *
from vtkmodules.util.numpy_support import vtk_to_numpy

LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=True, ns=globals())
kind, path, array_name = sys.argv[1:4]


def kilobytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def only(name):
    reader = PatchReader(FileName=[path], Blocks="As patches")
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = [name]
    return reader


def all_of_amrex():
    """Returns ParaView's AMReX reader with all levels and arrays; its default is the coarsest level."""
    reader = AMReXBoxLibGridReader(FileNames=[path])
    reader.Level = 30
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = reader.CellArrayStatus.Available
    return reader


makers = {
    "PatchIO": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Blocks="As patches"),  # like the others
    "PatchIO merged": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=os.cpu_count(), Blocks="Merged"),
    "PatchIO 16 threads": lambda: PatchReader(FileName=[path], ThreadMode="Fixed", ThreadsPerRank=16, Blocks="As patches"),
    "PatchIO only": lambda: only(array_name),
    "AMReX": lambda: all_of_amrex(),
    "XDMF": lambda: XDMFReader(FileNames=[path]),
    "XML": lambda: XMLMultiBlockDataReader(FileName=[path]),
    "VTKHDF": lambda: VTKHDFReader(FileName=path),
}


def open_and_read():
    made = makers[kind]()
    made.UpdatePipelineInformation()
    if servermanager.vtkProcessModule.GetProcessModule().GetNumberOfLocalPartitions() == 1:  # with more ranks, the other ranks would not take part
        made.GetClientSideObject().Update()
    return made


before = kilobytes()
begin = time.perf_counter()
reader = open_and_read()
alone = time.perf_counter() - begin
reader.UpdatePipeline()  # includes the filter that ParaView adds to each reader
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
    array = block.GetCellData().GetArray(array_name)
    if array:
        total += float(numpy.sum(vtk_to_numpy(array), dtype=numpy.float64))
        cells += block.GetNumberOfCells()
bytes_read = None
if kind.startswith("PatchIO"):
    reader.UpdatePropertyInformation()
    unit = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}
    words = re.search(r"^Bytes read: ([0-9.]+) (\w+)", reader.GetPropertyValue("IOReport"), re.MULTILINE)
    bytes_read = float(words.group(1)) * unit[words.group(2)]
Delete(reader)
begin = time.perf_counter()
reader = open_and_read()
again = time.perf_counter() - begin
print("JSON " + json.dumps({"seconds": seconds, "alone": alone, "again": again, "cells": cells, "sum": total, "kilobytes": memory, "blocks": len(blocks), "bytes_read": bytes_read}))
