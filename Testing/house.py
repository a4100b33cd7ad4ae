#!/usr/bin/env python3
"""Checks the source files. Fails if a production file has more than 800 lines, or a function more than 80; if more headers than
MOST_LONELY have a single user, because such a header belongs into the file that includes it; if a source file of Core does not
include its own header first, which shows that the header compiles by itself; if a format includes another format; if the README of a room
names files or names that do not exist; and if CMakePresets.json names targets that no CMake file names. (The include paths ensure that no room includes a room above it.)

    house.py REPOSITORY
"""
import ast
import json
import pathlib
import re
import sys
import tempfile

FOLDERS = ["Core", "Readers", "Filters", "Writers", "Plugin", "Tools", "Python", "Documentation/Examples"]
ALL_FOLDERS = FOLDERS + ["Simulation", "Testing"]
SUFFIXES = {".h", ".cxx", ".py", ".xml", ".in", ".cmake", ".txt"}
MOST_OF_FILE, MOST_OF_FUNCTION = 800, 80
MOST_LONELY = 16
TYPE = re.compile(r"^\s*(template\b.*|)\s*(class|struct|enum|union)\b")


def functions_of_cxx(lines):
    """Yields (first line, last line, from 1) of each body whose braces are on separate lines, which is clang-format's style for
    functions."""
    for at, line in enumerate(lines):
        if line.strip() != "{":
            continue
        first = at - 1    # the head of the function may have several lines
        while first > 0 and lines[first - 1].strip() and not re.search(r"[;{}:]$|^\s*(//|#)", lines[first - 1]):
            first -= 1
        indent = line[:len(line) - len(line.lstrip())]
        end = next((i for i in range(at, len(lines)) if lines[i].startswith(indent + "}")), at)
        if not any(TYPE.match(head) for head in lines[first:at]):
            yield first + 1, end + 1


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            # The lines of the docstring do not count.
            said = node.body[0].end_lineno - node.body[0].lineno + 1 if ast.get_docstring(node) else 0
            yield node.lineno + said, node.end_lineno


def faults_of(path):
    text = path.read_text()
    lines = text.splitlines()
    if len(lines) > MOST_OF_FILE:
        yield "%s has %d lines: split it by subject, %d at most" % (path, len(lines), MOST_OF_FILE)
    found = functions_of_cxx(lines) if path.suffix in (".h", ".cxx") else functions_of_python(text) if path.suffix == ".py" else ()
    for first, last in found:
        if last - first + 1 > MOST_OF_FUNCTION:
            yield "%s:%d: a function of %d lines: split it, %d at most" % (path, first, last - first + 1, MOST_OF_FUNCTION)


def include_faults(core):
    for path in sorted(core.rglob("*.cxx")):
        includes = re.findall(r'^#include [<"]([^">]+)', path.read_text(), re.MULTILINE)
        header = path.with_suffix(".h")
        if header.exists() and includes[:1] != [str(header.relative_to(core))]:
            yield "%s must include %s first" % (path, header.name)
    for folder in sorted((core / "Formats").iterdir()):
        for path in sorted(folder.glob("*.*")) if folder.is_dir() else ():
            for other in re.findall(r'^#include "Formats/(\w+)/', path.read_text(), re.MULTILINE):
                if other != folder.name:
                    yield "%s includes a header of the format %s" % (path, other)


def readme_faults(core):
    """Yields the names in a room's README that are neither a file in the room nor a name in its sources."""
    for page in sorted(core.glob("*/README.md")):
        known = " ".join(path.read_text() for path in page.parent.rglob("*.*") if path.suffix in (".h", ".cxx")) + " ".join(path.stem for path in core.rglob("*.*"))
        for name in re.findall(r"`([A-Z]\w+)(?:\(\))?`", page.read_text()):
            if not re.search(r"\b%s\b" % name, known) and not (core / name).is_dir():
                yield "%s names %s, which is not there" % (page, name)


def preset_faults(root):
    texts = " ".join(path.read_text() for name in ALL_FOLDERS for path in (root / name).rglob("*")
                     if path.name == "CMakeLists.txt" or path.suffix == ".cmake")
    for preset in json.loads((root / "CMakePresets.json").read_text())["buildPresets"]:
        for target in preset.get("targets", ()):
            if not re.search(r"\b%s\b" % target, texts):
                yield "CMakePresets.json: the preset %s builds the target %s, which is not there" % (preset["name"], target)


def lonely_headers(root):
    """Returns the headers that a single file includes in addition to their own source. Classes of VTK and Qt need headers of their own, and so do
    the formats, whose headers a generated file includes."""
    texts = {path: path.read_text() for name in ALL_FOLDERS for path in sorted((root / name).rglob("*"))
             if path.suffix in (".h", ".cxx", ".c")}
    users = {}
    for path, text in texts.items():
        for name in set(re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)):
            users.setdefault(name.rsplit("/", 1)[-1], set()).add(path)
    for path in texts:
        if path.suffix == ".h" and "Testing" not in path.parts and not re.match(r"vtk|pq|.*Format\.h$", path.name):
            others = users.get(path.name, set()) - {path.with_suffix(".cxx")}
            if len(others) == 1:
                yield path


def self_test(folder):
    """Checks that each of these files gives the stated number of faults."""
    body = "\n".join("  int a%d;" % i for i in range(MOST_OF_FUNCTION - 2))
    cases = [("fits.cxx", "void F()\n{\n%s}\n" % body, 0), ("long.cxx", "void F(int a,\n    int b)\n{\n%s\n}\n" % body, 1),
             ("member.h", "class A\n{\n  void F()\n  {\n%s\n  }\n  int b;\n};\n" % body, 1), ("type.h", "struct A\n{\n%s\n\n};\n" % body, 0),
             ("file.xml", "<a />\n" * (MOST_OF_FILE + 1), 1), ("long.py", "def f():\n%s\n" % ("    a = 1\n" * MOST_OF_FUNCTION), 1)]
    for name, text, count in cases:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        assert len(list(faults_of(path))) == count, name
    core = pathlib.Path(folder, "Core")
    for name, text in (("Formats/A/A.h", ""), ("Formats/A/A.cxx", '#include <vector>\n#include "Formats/A/A.h"\n'),
                       ("Formats/B/B.h", '#include "Formats/A/A.h"\n'), ("Formats/B/B.cxx", '#include "Formats/B/B.h"\n')):
        (core / name).parent.mkdir(parents=True, exist_ok=True)
        (core / name).write_text(text)
    assert len(list(include_faults(core))) == 2
    (core / "Formats/README.md").write_text("`A` and `Nothing`")
    assert len(list(readme_faults(core))) == 1
    pathlib.Path(folder, "CMakePresets.json").write_text('{"buildPresets": [{"name": "a", "targets": ["all_tests", "tests"]}]}')
    (core / "CMakeLists.txt").write_text("add_executable(all_tests a.cxx)")
    assert len(list(preset_faults(core.parent))) == 1


def main():
    with tempfile.TemporaryDirectory() as folder:
        self_test(folder)
    files = [file for name in FOLDERS for file in sorted(pathlib.Path(sys.argv[1], name).rglob("*")) if file.suffix in SUFFIXES]
    faults = [fault for file in files for fault in faults_of(file)]
    core = pathlib.Path(sys.argv[1], "Core")
    faults += [*include_faults(core), *readme_faults(core), *preset_faults(pathlib.Path(sys.argv[1]))]
    lonely = list(lonely_headers(pathlib.Path(sys.argv[1])))
    if len(lonely) > MOST_LONELY:
        faults += ["%s has a single user: put it there" % path for path in lonely]
    print("\n".join(faults) or "passed: %d files, %d headers with one user" % (len(files), len(lonely)))
    return 1 if faults or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
