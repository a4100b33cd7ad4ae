#!/usr/bin/python3
"""Runs the Python of README.md and UserGuide.md as it stands there, one block after another, in pvbatch on NP ranks.
Blocks that connect to a server are left out.

usage: PATCHIO_PLUGIN=... PATCHIO_PVBATCH_MODE=root readme_snippets.py NP REPOSITORY SCRATCH

They run in a folder that has what they name: PatchIO.so at that path, and dumps.visit, a copy of linadv_3d.
"""
import os
import re
import shutil
import subprocess
import sys

# A later block may go on with the reader of an earlier one. An exception ends pvbatch with status 1.
AFTERWARDS = '''
if reader.GetDataInformation().GetNumberOfCells() == 0 or "Patches: " not in reader.GetPropertyValue("IOReport"):
    raise RuntimeError("nothing was read")
print("passed: the Python of the documentation")
'''


def blocks_of(path):
    with open(path) as file:
        found = re.findall(r"^```python\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    return [block for block in found if "Connect(" not in block]


def make_folder(blocks, repository, scratch):
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(os.path.join(repository, "Data", "linadv_3d"), scratch)
    for path in re.findall(r'LoadPlugin\("([^"]*)"', "".join(blocks)):
        link = os.path.dirname(os.path.join(scratch, path))
        if not os.path.exists(link):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.dirname(os.path.abspath(os.environ["PATCHIO_PLUGIN"])), link)
    with open(os.path.join(scratch, "snippets.py"), "w") as file:
        file.write("\n".join(blocks) + AFTERWARDS)


def main():
    ranks, repository, scratch = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    sources = [blocks_of(os.path.join(repository, name)) for name in ("README.md", "Documentation/UserGuide.md")]
    if not all(sources):
        sys.exit("FAILED: README.md or UserGuide.md has no Python that can run here")
    make_folder(sum(sources, []), repository, scratch)
    pvbatch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pvbatch.sh")
    # Relative paths are those of every rank, so the folder is entered before any rank starts.
    result = subprocess.run([pvbatch, ranks, "snippets.py"], cwd=scratch, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    print(result.stdout, flush=True)
    if result.returncode != 0 or "passed: " not in result.stdout:
        sys.exit("FAILED: exit status %d" % result.returncode)


if __name__ == "__main__":
    main()
