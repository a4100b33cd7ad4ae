"""Reads one file with one reader in pvbatch, and prints seconds, those of a second reader, cells, the sum of the values and memory as JSON.

usage: pvbatch peer_read.py KIND PATH ARRAY
"""
import os
import sys
import time

import numpy
from vtkmodules.util.numpy_support import vtk_to_numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from in_paraview import *  # noqa: E402

kind, path, array_name = sys.argv[1:4]


def only(name):
    reader = PatchReader(FileName=[path], Blocks="As patches")
    reader.UpdatePipelineInformation()
    reader.CellArrayStatus = [name]
    return reader


makers = {
    "PatchIO": lambda: patch_reader(path, "As patches"),  # like the others
    "PatchIO merged": lambda: patch_reader(path),
    "PatchIO 16 threads": lambda: patch_reader(path, "As patches", ThreadsPerRank=16),
    "PatchIO only": lambda: only(array_name),
    "AMReX": lambda: amrex_reader([path]),
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


before = memory("VmRSS")
begin = time.perf_counter()
reader = open_and_read()
alone = time.perf_counter() - begin
reader.UpdatePipeline()  # includes the filter that ParaView adds to each reader
seconds = time.perf_counter() - begin
added = memory("VmRSS") - before

total, cells = 0.0, 0
for block in grids_of(reader):
    array = block.GetCellData().GetArray(array_name)
    if array:
        total += float(numpy.sum(vtk_to_numpy(array), dtype=numpy.float64))
        cells += block.GetNumberOfCells()
bytes_read = report_data_of(reader)["bytes"] if kind.startswith("PatchIO") else None
Delete(reader)
begin = time.perf_counter()
reader = open_and_read()
again = time.perf_counter() - begin
print_json({"seconds": seconds, "alone": alone, "again": again, "cells": cells, "sum": total, "memory": added, "bytes_read": bytes_read})
