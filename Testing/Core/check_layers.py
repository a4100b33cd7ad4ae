#!/usr/bin/env python3
"""Fails when a file of Core includes VTK or ParaView, when a folder of Core includes one that lies above it, or when a source file
does not include its own header first: that is how each header is known to compile by itself.

    check_layers.py CORE_FOLDER
    check_layers.py --self-test
"""
import pathlib
import re
import sys
import tempfile

# Lowest first: a folder may include itself and those before it.
LAYERS = ["Support", "Catalog", "Plan", "Memory", "Decode", "Hdf5", "Io", "Storage", "Tuning", "Report",
          "Container", "Formats", "MetadataChannel", "Session", "Write", "Output", "Examples"]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def fault_of(path, included):
    """Why the file at `path` (relative to Core) must not include `included`; None when it may."""
    folder = path.parts[0]
    if folder not in LAYERS:
        return f"folder '{folder}' is unknown: give it a place in LAYERS"
    if re.match(r"vtk|pq|[Pp]ara[Vv]iew", pathlib.PurePosixPath(included).name):
        return "Core must build without VTK"
    parts = pathlib.PurePosixPath(included).parts
    if len(parts) < 2 or parts[0] not in LAYERS:
        return None  # a system or library header
    if LAYERS.index(parts[0]) > LAYERS.index(folder):
        return f"'{parts[0]}' lies above '{folder}'"
    # Formats do not know each other; only Formats/*.cxx lists them all.
    is_format = folder == "Formats" and len(path.parts) > 2
    if is_format and parts[0] == "Formats" and len(parts) > 2 and parts[1] != path.parts[1]:
        return f"format '{path.parts[1]}' must not know format '{parts[1]}'"
    return None


def faults_in(core):
    faults = []
    files = [file for file in sorted(core.rglob("*")) if file.suffix in (".h", ".hxx", ".cxx", ".txx")]
    if not files:
        return [f"{core}: no sources found"]
    for file in files:
        path = file.relative_to(core)
        found = [(number, match.group(1)) for number, match in
                 enumerate(map(INCLUDE.match, file.read_text().splitlines()), start=1) if match]
        for number, included in found:
            fault = fault_of(path, included)
            if fault:
                faults.append(f"{path}:{number}: includes {included}: {fault}")
        header = path.with_suffix(".h")
        if path.suffix == ".cxx" and file.with_suffix(".h") in files and (not found or found[0][1] != header.as_posix()):
            faults.append(f"{path}: the first header that it includes must be {header}")
    return faults


def self_test():
    """Each of these single files must be judged as stated."""
    cases = [
        ("Support/A.h", "vector", True),
        ("Catalog/A.h", "Support/Error.h", True),
        ("Io/A.cxx", "Io/B.h", True),
        ("Session/A.cxx", "Formats/Format.h", True),
        ("MetadataChannel/A.cxx", "Formats/Format.h", True),
        ("Formats/A.cxx", "MetadataChannel/A.h", False),
        ("Formats/Format.cxx", "Formats/SAMRAI/SamraiFormat.h", True),
        ("Support/A.h", "Catalog/Box.h", False),
        ("Decode/A.cxx", "Io/IoScheduler.h", False),
        ("Io/A.cxx", "Storage/Mount.h", False),
        ("Storage/A.cxx", "Io/Source.h", True),
        ("Hdf5/A.cxx", "Io/Source.h", False),
        ("Formats/SAMRAI/A.cxx", "Session/RankRead.h", False),
        ("Formats/SAMRAI/A.cxx", "Formats/AMReX/B.h", False),
        ("Session/A.cxx", "Session/RankRead.h", True),
        ("Report/A.cxx", "Session/StepRead.h", False),
        ("Session/A.cxx", "vtkDataSet.h", False),
        ("Session/A.cxx", "vtk/vtkDataSet.h", False),
        ("Elsewhere/A.cxx", "vector", False),
    ]
    wrong = []
    for path, included, allowed in cases:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(f'#include "{included}"\n')
            if (not faults_in(pathlib.Path(folder))) != allowed:
                wrong.append(f"{path} including {included} should be {'allowed' if allowed else 'refused'}")
    for first, allowed in (("Support/A.h", True), ("vector", False)):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "Support").mkdir()
            pathlib.Path(folder, "Support/A.h").touch()
            pathlib.Path(folder, "Support/A.cxx").write_text(f'#include "{first}"\n#include "Support/A.h"\n')
            if (not faults_in(pathlib.Path(folder))) != allowed:
                wrong.append(f"Support/A.cxx including {first} first should be {'allowed' if allowed else 'refused'}")
    return wrong


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = self_test() if sys.argv[1] == "--self-test" else faults_in(pathlib.Path(sys.argv[1]))
    print("\n".join(faults))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
