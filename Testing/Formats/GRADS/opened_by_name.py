"""Tests which reader File > Open chooses for descriptors, and for other files with such names.

usage: Testing/ParaView/pvbatch.sh 1 Testing/Formats/GRADS/opened_by_name.py CASES
"""
import os
import sys
import tempfile

from paraview import servermanager, simple

faults = 0


def reader_of(path):
    """Returns the name of the proxy that ParaView chooses by itself, or None."""
    factory = servermanager.vtkSMProxyManager.GetProxyManager().GetReaderFactory()
    session = servermanager.ActiveConnection.Session
    if factory.TestFileReadability(path, session) and factory.CanReadFile(path, session):
        return factory.GetReaderName()
    return None


def expect(path, ours):
    global faults
    name = reader_of(path)
    if (name == "PatchReader") != ours:
        faults += 1
        print("FAILED %s: opened by %s" % (path, name))


def main():
    simple.LoadPlugin(os.environ["PATCHIO_PLUGIN"], remote=False, ns=vars(simple))
    cases = sys.argv[1]
    expect(os.path.join(cases, "plain", "plain.ctl"), True)
    expect(os.path.join(cases, "grapes", "post.ctl_201702271800000"), True)
    expect(os.path.join(cases, "plain", "plain.dat"), False)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("control.ctl", "LOAD DATA INFILE x\n"), ("notes.ctl_old", "nothing of that kind\n"),
                           ("empty.ctl", ""), ("empty.visit", ""), ("zeros.h5", "\0" * 100)):
            path = os.path.join(folder, name)
            with open(path, "w") as f:
                f.write(text)
            expect(path, name in ("empty.ctl", "empty.visit", "zeros.h5"))    # opened by PatchIO, which reports the damage
        path = os.path.join(folder, "grid.vtk")    # still opened by ParaView's own reader
        with open(path, "w") as f:
            f.write("# vtk DataFile Version 3.0\nx\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\n"
                    "ORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 8\nSCALARS a float 1\nLOOKUP_TABLE default\n" + "0 " * 8 + "\n")
        expect(path, False)
        if reader_of(path) != "LegacyVTKFileReader":
            print("FAILED the legacy reader is %s" % reader_of(path))
    if not faults:
        print("passed: opened by name")


main()
