"""Compares the rates of one rank with NT = 2, 4, 8, 16 threads and with one thread, for many small patches in the page cache."""
import os

from measuring import interleave, make_dump, ratios, read_dump, remember

COUNTS = (1, 2, 4, 8, 16)


def run(report, folder, rounds):
    """./dev bench threads"""
    summary = make_dump(folder, "threads", patches=20250, size=16)
    read_dump(summary, sidecar=True, steps=0)
    remember(os.path.dirname(os.path.dirname(summary)))
    # The second of two steps reads into reused memory, so that threads share only the copies.
    found = interleave({count: (lambda count=count: read_dump(summary, threads=count, steps=2, sidecar=True)["read"][1])
                        for count in COUNTS}, 2 * rounds)
    for count in COUNTS[1:]:
        report.figure("page cache, 20,250 patches of 16^3: rate of NT = %d / NT = 1" % count, ratios(found[1], found[count]))
    report.data["seconds"] = {str(count): seconds for count, seconds in found.items()}
