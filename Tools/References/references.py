#!/usr/bin/env python3
"""Writes references to the bytes of all values of a data set, with the Python package patchio; implements `patchio references`.

usage: references.py DATA OUT.json [--prefix TEXT] [--listed-only]
"""
import argparse
import json
import os
import sys
import warnings


def report(text):
    print("patchio: " + text, file=sys.stderr)


def write_references(found, out):
    """Writes the references to a temporary file, and renames the file to `out`, so that `out` is always complete."""
    part = out + ".part"
    try:
        with open(part, "w") as file:
            json.dump(found, file)
        os.replace(part, out)
    finally:
        if os.path.exists(part):
            os.remove(part)


def main(words=None):
    parser = argparse.ArgumentParser(prog="patchio references")
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--prefix")
    parser.add_argument("--listed-only", action="store_true")
    arguments = parser.parse_args(words)
    try:
        import patchio
    except ImportError as error:
        report("The Python package patchio, which writes the references, is missing for %s: %s. Install the package, see PythonPackage.md in "
            "the guide, or set PYTHONPATH." % (sys.executable, str(error).rstrip(".")))
        return 1
    warnings.showwarning = lambda message, *_: report("warning: %s" % message)
    try:
        found = patchio.open(arguments.data, listed_only=arguments.listed_only).references(arguments.prefix)
        write_references(found, arguments.out)
    except (patchio.Error, OSError) as error:
        report(str(error))
        return 1
    arrays = sum(name.endswith(".zarray") for name in found["refs"])
    print("%s: %d array%s, %d chunks" % (arguments.out, arrays, "" if arrays == 1 else "s", sum(not name.split("/")[-1].startswith(".") for name in found["refs"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
