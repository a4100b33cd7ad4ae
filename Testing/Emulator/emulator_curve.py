"""Compares the emulated storage with its model: F(N) measured through the mount, and F(N) from the formula.

usage: emulator_curve.py [--seconds S] [--picture FILE.png]

The script looks for programs in $PATCHIO_PROGRAMS or on the PATH.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import emulator

THREADS = [1, 2, 4, 8, 16, 32, 64, 128]
# With these streams, the rate of the storage stays far below the limit of FUSE on two cores.
STORAGES = [{"latency": 2, "stream": 50, "concurrency": 16, "contention": 0.5},
            {"latency": 2, "stream": 12, "concurrency": 64, "contention": 0.5}]
REQUESTS = [1 << 20, 1 << 17]
FILE_BYTES = 256 << 20


def modelled(storage, request, own, others=0):
    """Returns P in MB/s from the formula of Emulator/README.md; this implementation is independent on purpose."""
    alone = request / (storage["latency"] * 1e-3 + request / (storage["stream"] * 1e6)) / 1e6
    in_flight = own + others
    over = max(1, in_flight / storage["concurrency"])
    return own * alone / over / over ** storage["contention"]


def measured(mount, request, own, seconds):
    program = shutil.which("patchio_pread_rate", path=os.environ.get("PATCHIO_PROGRAMS", os.environ.get("PATH")))
    if not program:
        sys.exit("emulator_curve.py: patchio_pread_rate is missing. Set PATCHIO_PROGRAMS")
    run = subprocess.run([program, os.path.join(mount, "data"), "--threads", str(own), "--request", str(request),
                          "--seconds", str(seconds), "--warm-up", "0.5"], stdout=subprocess.PIPE, check=True)
    return json.loads(run.stdout)


def curve(mount, storage, request, seconds, others=0):
    points = []
    for own in THREADS:
        found = measured(mount.mount, request, own, seconds)
        expected = modelled(storage, request, own, others)
        points.append({"N": own, "measured": found["MB_per_s"], "model": expected})
        print("  %4d %4d %10.1f %10.1f %+7.1f %%" % (own, others, found["MB_per_s"], expected,
                                                     100 * (found["MB_per_s"] / expected - 1)), flush=True)
    return points


def measure(folder, seconds):
    curves = []
    for storage in STORAGES:
        with emulator.slow_storage(folder, **storage) as mount:
            for request, others in [(request, 0) for request in REQUESTS] + [(REQUESTS[0], storage["concurrency"] // 2)]:
                print("%s, requests of %d KiB\n     N   NC   MB/s        model     off by" % (storage, request >> 10))
                mount.load(others)
                points = curve(mount, storage, request, seconds, others)
                curves.append({"storage": storage, "request": request, "NC": others, "points": points})
    return curves


def draw(curves, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(STORAGES), figsize=(9, 3.6), sharey=True)
    for axis, storage in zip(axes, STORAGES):
        for color, one in enumerate(c for c in curves if c["storage"] == storage):
            own = [point["N"] for point in one["points"]]
            label = "%d KiB%s" % (one["request"] >> 10, ", NC = %d" % one["NC"] if one["NC"] else "")
            axis.plot(own, [point["model"] for point in one["points"]], "-", color="C%d" % color, linewidth=1)
            axis.plot(own, [point["measured"] for point in one["points"]], "o", color="C%d" % color, label=label)
        axis.set_xscale("log", base=2)
        axis.set_xlabel("N, requests in flight")
        axis.set_title("N* = %d, %g ms, %g MB/s a request" % (storage["concurrency"], storage["latency"],
                                                           storage["stream"]), fontsize=9)
        axis.axvline(storage["concurrency"], color="grey", linewidth=0.5)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("MB/s (dots: measured, lines: model)")
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3, help="time per point")
    parser.add_argument("--picture", help="PNG to write")
    arguments = parser.parse_args()
    lacking = emulator.missing()
    if lacking:
        sys.exit("emulator_curve.py: this machine lacks " + lacking)
    with tempfile.TemporaryDirectory(prefix="patchio_curve_") as folder:
        with open(os.path.join(folder, "data"), "wb") as file:
            for _ in range(FILE_BYTES >> 20):
                file.write(os.urandom(1 << 20))
        curves = measure(folder, arguments.seconds)
    if arguments.picture:
        draw(curves, arguments.picture)


if __name__ == "__main__":
    main()
