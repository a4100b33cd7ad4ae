"""Tests which reader ParaView chooses for files of all formats, and for other files with such names.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Formats/opened_by_name.py CASES     (CASES: the folder of all formats' cases)
"""
import os
import sys
import tempfile

from paraview import servermanager, simple

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from expectations import expect, failed  # noqa: E402

OURS, AMREX = "PatchReader", "AMReXGridReader"
LEGACY = ("# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 8\n"
          "SCALARS a float 1\nLOOKUP_TABLE default\n" + "0 " * 8 + "\n")
CHOSEN = {"grads/plain/plain.ctl": OURS, "grads/grapes/post.ctl_201702271800000": OURS, "grads/plain/plain.dat": None, "kwave/index/out.h5": OURS,
          "amrex/double_3d/plt00010": AMREX, "amrex/double_3d/plt00010/Header": OURS}
# Which readers ParaView offers, in this order.
OFFERED = {"amrex/double_3d/plt00010": [AMREX, OURS], "vtkhdf/amr_3d/amr.vtkhdf": [OURS], "vtkhdf/image_2d/image.hdf": [OURS]}
# Names and texts of files, and whether PatchIO opens them. If they are empty or damaged, PatchIO's message is better than a list of all readers.
MADE = [("control.ctl", "LOAD DATA INFILE x\n", False), ("notes.ctl_old", "nothing of that kind\n", False), ("empty.ctl", "", True), ("empty.visit", "", True),
        ("zeros.h5", "\0" * 100, True), ("Header", "something else\n", False), ("grid.vtk", LEGACY, False)]
factory = servermanager.vtkSMProxyManager.GetProxyManager().GetReaderFactory()
session = servermanager.ActiveConnection.Session


def chosen(path):
    """Returns the name of the proxy that ParaView chooses by itself, or None."""
    return factory.GetReaderName() if factory.TestFileReadability(path, session) and factory.CanReadFile(path, session) else None


def offered(path):
    found = factory.GetReaders(path, session)
    return [found.GetString(i + 1) for i in range(0, found.GetNumberOfStrings(), 3)]


simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
cases = sys.argv[1]
for name, wanted in CHOSEN.items():
    reader = chosen(os.path.join(cases, name))
    expect(reader == wanted if wanted else reader != OURS, "%s is opened by %s", name, reader)
for name, wanted in OFFERED.items():
    readers = offered(os.path.join(cases, name))
    expect([reader for reader in readers if reader in wanted] == wanted, "%s: ParaView offers %s", name, readers)
with tempfile.TemporaryDirectory() as folder:
    for name, text, ours in MADE:
        path = os.path.join(folder, name)
        with open(path, "w") as file:
            file.write(text)
        expect((chosen(path) == OURS) == ours and (OURS in offered(path)) == ours, "%s is opened by %s of %s", name, chosen(path), offered(path))
    expect(chosen(path) == "LegacyVTKFileReader", "%s is opened by %s", path, chosen(path))
    foreign = os.path.join(folder, "foreign.h5")    # a valid HDF5 file of an unknown format
    with open(os.path.join(cases, "kwave/index/out.h5"), "rb") as known, open(foreign, "wb") as file:
        file.write(known.read().replace(b"kspaceFirstOrder-OMP v1.3", b"another program of a sort").replace(b"major_version", b"minor_virsion"))
    expect(chosen(foreign) != OURS, "%s is opened by %s", foreign, chosen(foreign))
if failed:
    sys.exit(1)
print("passed: opened by name")
