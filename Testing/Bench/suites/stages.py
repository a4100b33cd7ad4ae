"""Seconds of each stage in pvbatch, from the file to the picture, for 10,125 and for 20,250 patches on 1 and 2 ranks: what
is linear in the number of patches doubles."""
import json
import os
import subprocess

from measuring import Spread, here, make_dump


def run(report, folder, rounds):
    """./dev bench stages"""
    for patches in (10125, 20250):
        summary = make_dump(folder, "stages_%d" % patches, patches=patches, size=16)
        for ranks in (1, 2):
            done = subprocess.run([os.path.join(here, "..", "ParaView", "pvbatch.sh"), str(ranks),
                                   os.path.join(here, "many_patches.py"), summary, "8"],
                                  env=dict(os.environ, PATCHIO_PVBATCH_MODE="root", PATCHIO_TIMEOUT="900"),
                                  stdout=subprocess.PIPE, text=True, check=True)
            last = [line for line in done.stdout.splitlines() if line.startswith("JSON ")][-1]
            for name, seconds in json.loads(last[5:]).items():
                report.figure("%d patches, %d ranks x 8 threads, seconds: %s" % (patches, ranks, name), Spread([seconds]))
