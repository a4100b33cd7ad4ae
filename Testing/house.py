#!/usr/bin/env python3
"""Fails when a production file has more than 450 lines, or a function in it more than 50, so that each can be read at once.

    house.py REPOSITORY
"""
import ast
import pathlib
import re
import sys
import tempfile

FOLDERS = ["Core", "Readers", "Extract", "Writers", "Plugin", "Tools", "Python", "Documentation/Examples"]
SUFFIXES = {".h", ".cxx", ".py", ".xml", ".in", ".cmake", ".txt"}
MOST_OF_FILE, MOST_OF_FUNCTION = 450, 50
TYPE = re.compile(r"^\s*(template\b.*|)\s*(class|struct|enum|union)\b")


def functions_of_cxx(lines):
    """(first line, last line, from 1) of each body whose braces have lines of their own, as clang-format sets those of functions."""
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
            # What a docstring says is not the function's length.
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


def self_test(folder):
    """Each of these must give as many faults as stated."""
    body = "\n".join("  int a%d;" % i for i in range(MOST_OF_FUNCTION - 2))
    cases = [("fits.cxx", "void F()\n{\n%s}\n" % body, 0), ("long.cxx", "void F(int a,\n    int b)\n{\n%s\n}\n" % body, 1),
             ("member.h", "class A\n{\n  void F()\n  {\n%s\n  }\n  int b;\n};\n" % body, 1), ("type.h", "struct A\n{\n%s\n\n};\n" % body, 0),
             ("file.xml", "<a />\n" * (MOST_OF_FILE + 1), 1), ("long.py", "def f():\n%s\n" % ("    a = 1\n" * MOST_OF_FUNCTION), 1)]
    for name, text, count in cases:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        assert len(list(faults_of(path))) == count, name


def main():
    with tempfile.TemporaryDirectory() as folder:
        self_test(folder)
    files = [file for name in FOLDERS for file in sorted(pathlib.Path(sys.argv[1], name).rglob("*")) if file.suffix in SUFFIXES]
    faults = [fault for file in files for fault in faults_of(file)]
    print("\n".join(faults) or "passed: %d files" % len(files))
    return 1 if faults or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
