"""Measures the seconds of each stage in pvbatch, from the file to the image, for 10,125 and 20,250 patches on 1 and 2 ranks:
stages that are linear in the number of patches take twice as long."""
from measuring import Spread, make_dump, pvbatch


def run(report, folder, rounds):
    """./dev bench stages"""
    for patches in (10125, 20250):
        summary = make_dump(folder, "stages_%d" % patches, patches=patches, size=16)
        for ranks in (1, 2):
            found = pvbatch("many_patches.py", summary, 8, ranks=ranks, timeout=900)
            for name, seconds in found.items():
                report.figure("%d patches, %d ranks x 8 threads, seconds: %s" % (patches, ranks, name), Spread([seconds]))
