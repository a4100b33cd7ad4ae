#!/usr/bin/env python3
"""Tests of `patchio tune`: tune_test.py --program PATCHIO --data DATA --python PYTHON

Its output must follow from profiles that the test writes.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "AMReX"))
from plotfile_writer import write_plotfile  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--program", "--data", "--python"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    index = os.path.join(options.data, "linadv_2d", "dumps.visit")
    failures = []

    def expect(condition, message):
        if not condition:
            failures.append(message)

    with tempfile.TemporaryDirectory() as place:
        profiles = os.path.join(place, "profiles")
        os.makedirs(profiles)
        environment = dict(os.environ, PATCHIO_PROFILE_DIR=profiles, PATCHIO_SITE_PROFILES="", HWLOC_COMPONENTS="-gl", HWLOC_HIDE_ERRORS="2",
                           OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

        def tune(*arguments):
            done = subprocess.run([options.program, "tune", "--seconds", "0.1"] + list(arguments), env=environment, timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            return done.returncode, done.stdout, done.stderr

        def found(*arguments):
            code, out, err = tune("--json", *arguments)
            expect(code == 0, "exit code %d: %s" % (code, err))
            return json.loads(out) if code == 0 else {}

        def profile(**members):
            with open(os.path.join(profiles, "one.json"), "w") as file:
                json.dump(members, file)

        # Without a measurement, all policies have the same numbers, and there is a hint.
        unknown = found(index)
        mount = unknown["mount"]["point"]
        expect(index.startswith(mount), "%s does not lie on %s" % (index, mount))
        expect("profile" not in unknown, "a profile out of nowhere")
        expect(len({p["start"] for p in unknown["policies"].values()}) == 1, "policies differ without a profile")
        expect(unknown["step_bytes"] > 0, "a step without bytes")
        expect("patchio probe" in tune(index)[1], "no word of the probe")

        # A step of 8^3 floats, and one of 8^3 doubles.
        for real, size in (("f4", 4), ("f8", 8)):
            plotfile = os.path.join(place, real)
            write_plotfile(plotfile, ((0, 0, 0), (7, 7, 7)), [[((0, 0, 0), (7, 7, 7))]], names=["density"], real=real)
            for path in (os.path.join(plotfile, "Header"), plotfile):    # a folder may be a data set
                step_bytes = found(path).get("step_bytes")
                expect(step_bytes == 8 ** 3 * size, "%s: %s bytes" % (path, step_bytes))

        # A profile made by hand: N* = 40 for 8 ranks.
        profile(mount=mount, best_concurrency=40)
        known = found(index, "--ranks", "8")
        expect("concurrency_range" not in known["profile"], "a concurrency range without a measurement")
        balanced, polite = known["policies"]["balanced"], known["policies"]["polite"]
        expect(balanced == {"start": 40, "threads_of_rank": 5, "least": 8, "most": 8 * 256}, "balanced: %s" % balanced)
        left = max(8, round(40 - known["load"]["others"]))
        expect(polite["most"] == left and polite["start"] == left, "polite: %s with NC %s" % (polite, known["load"]))
        text = tune(index, "--ranks", "8")[1]
        expect("N* = 40" in text and "5 threads in each of 8 ranks" in text, text)

        # A table of threads by ranks.
        profile(mount=mount, threads_of_ranks={"1": 12, "4": 6})
        expect(found(index)["policies"]["balanced"]["start"] == 12, "1 rank of the table")
        expect(found(index, "--ranks", "4")["policies"]["balanced"]["start"] == 24, "4 ranks of the table")

        # Beyond the end of the table, the text refers to the table instead of the fastest number.
        text = tune(index, "--ranks", "100")[1]
        expect("beyond its end at 4 ranks" in text and "fastest" not in text, text)
        # The output has no quantities that were not measured.
        expect("A read takes" not in text and "latency" not in found(index)["profile"], "a latency out of nowhere: %s" % text)

        # This folder is not a data set, but it is on a storage. Damaged profiles are named and ignored.
        with open(os.path.join(profiles, "one.json"), "w") as file:
            file.write("{\"mount\": ")
        broken = found(os.path.dirname(index))
        expect("step_bytes" not in broken, "a folder has a step")
        expect(any("one.json" in note for note in broken["notes"]), "notes: %s" % broken["notes"])
        text = tune(index)[1]
        expect("no profile yet" not in text and "no usable profile" in text, text)
        profile(mount=mount, best_concurrency=40, source="measured", measured_at="2020-01-01T00:00:00Z")
        text = tune(index)[1]
        expect("no usable profile" in text and "the profile has expired" in text, text)

        # Without F(N), there is no plot.
        profile(mount=mount, best_concurrency=40)
        picture = os.path.join(place, "curve.png")
        code, out, err = tune(index, "--plot", picture, "--python", options.python)
        expect(code == 1 and "Cannot draw F(N)" in err and not os.path.exists(picture), "a picture of nothing: %s" % err)

        # A measured F(N), and the first numbers of the policies: N* = 16, without and with other load.
        rates = {n: 40e6 * n if n <= 16 else 640e6 * (16 / n) ** 0.5 for n in (1, 2, 4, 8, 16, 32, 64, 100)}
        now = time.time()
        profile(mount=mount, source="measured", measured_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)), ranks=1,
                latency_seconds=2e-3, request_bytes_per_second=46e6,
                samples=[{"in_flight": n, "bytes_per_second": [rate, 1.01 * rate]} for n, rate in rates.items()])
        probed = found(index)
        curve = probed["profile"]["curve"]
        expect(curve[-1][0] == 100, "F ends at %s, though 100 was measured" % curve[-1][0])
        expect(abs(probed["profile"]["concurrency"] - 16) <= 1, "N* = %d" % probed["profile"]["concurrency"])
        starts = {name: policy["start"] for name, policy in probed["policies"].items()}
        expect(starts["balanced"] <= probed["profile"]["concurrency"] and starts["greedy"] >= starts["balanced"], "%s" % starts)
        text = tune(index)[1]
        least, most = probed["profile"]["concurrency_range"]
        expect(8 <= least <= 16 <= most <= 32, "N* from %d to %d" % (least, most))
        expect("90 %% confidence interval of N*: %d to %d\n" % (least, most) in text, text)
        expect("F(N*) = 6" in text and "A read takes 2 ms, plus the time of its bytes at 46.0 MB/s" in text, text)

        # The user's mistakes.
        for arguments in (["/nowhere/at/all"], [__file__], [index, "--ranks", "0"], [index, "--plot", "/nowhere/a.png"],
                          [index, "--seconds", "nan"], [index, "--seconds", "-1"]):
            code, out, err = tune(*arguments)
            expect(code != 0 and err.startswith("patchio: "), "%s: exit code %d, %s" % (arguments, code, err))

        # The picture, if it can be drawn.
        code, out, err = tune(index, "--plot", picture[:-4], "--python", options.python)
        if os.path.exists(picture):
            with open(picture, "rb") as file:
                expect(file.read(8) == b"\x89PNG\r\n\x1a\n", "the picture is no PNG")
            expect("plot: " + picture in out, "not a word where the picture is: %s" % out)
            expect(not os.path.exists(picture + ".json"), "the data of the picture stay")
        else:
            expect(code == 1 and "matplotlib" in err, "no picture, and not a word why: %s" % err)
    for failure in failures:
        print("FAILED: " + failure)
    sys.exit(1 if failures else 0)


main()
