#!/usr/bin/python3
"""Runs the unchanged Python code of README.md and of the pages in PAGES, one block after another, in pvbatch on NP ranks. Blocks
that import the package patchio run in Python without ParaView, if the package was built. Blocks that connect to a server are left
out.

usage: PATCHIO_PLUGIN=... PATCHIO_PVBATCH_MODE=root readme_snippets.py NP REPOSITORY SCRATCH

The blocks run in a folder with the files that they name: PatchIO.so, and dumps.visit, a copy of linadv_3d.
"""
import os
import re
import shutil
import subprocess
import sys

# In this order, because a later block may use the reader of an earlier one. Testing/Python/behaviour.py runs the Python of
# PythonPackage.md.
PAGES = ["README.md"] + ["Documentation/Guide/%s.md" % name for name in ("TimeSeries", "LargeData", "Report")]
# An exception ends pvbatch with status 1.
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
    for path in re.findall(r'LoadPlugin\([a-z.]*\(?"([^"]*)"', "".join(blocks)):
        link = os.path.dirname(os.path.join(scratch, path))
        if not os.path.exists(link):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.dirname(os.path.abspath(os.environ["PATCHIO_PLUGIN"])), link)
    with open(os.path.join(scratch, "snippets.py"), "w") as file:
        file.write("\n".join(blocks) + AFTERWARDS)


def run(command, scratch, **environment):
    # Relative paths must be valid on each rank, so the folder is entered before any rank starts.
    result = subprocess.run(command, cwd=scratch, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, **environment})
    print(result.stdout, flush=True)
    if result.returncode != 0:
        sys.exit("FAILED: exit status %d" % result.returncode)
    return result.stdout


def main():
    ranks, repository, scratch = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    sources = {name: blocks_of(os.path.join(repository, name)) for name in PAGES}
    for name, found in sources.items():
        if not found:
            sys.exit("FAILED: %s has no Python that can run here" % name)
    blocks = sum(sources.values(), [])
    plain = [block for block in blocks if "import patchio" in block]
    make_folder([block for block in blocks if block not in plain], repository, scratch)
    pvbatch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pvbatch.sh")
    if "passed: " not in run([pvbatch, ranks, "snippets.py"], scratch):
        sys.exit("FAILED: the snippets did not come to their end")
    package = os.path.abspath(os.path.join(os.environ["PATCHIO_PLUGIN"], "../../../../../python"))
    if not plain or not os.path.isdir(package):
        print("the package patchio was not built, or no block uses it")
        return
    run([sys.executable, "-c", "\n".join(plain)], scratch, PYTHONPATH=package)


if __name__ == "__main__":
    main()
