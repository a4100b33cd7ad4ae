"""Reads results of `patchio probe` for judge_probe.py and plot_probe.py, and computes statistics of repeated measurements.

Documentation/Guide/StorageProbe.md describes the members of result.json. Rates are in KB/s, 1 KB = 1000 bytes.
"""
import collections
import functools
import json
import math
import os
import re
import stat

VIEWS = ("own", "whole", "interleaved")
MOST_BYTES = 256 << 20    # maximum size of a result file


class Fault(Exception):
    """An error in the user's arguments or files."""


def count_text(count, name):
    return "%d %s%s" % (count, name, "" if count == 1 else "s")


def is_write(function):
    return "write" in function


def mean(values):
    return sum(values) / len(values)


# ---- results ------------------------------------------------------------------------------------------------------

Key = collections.namedtuple("Key", "function view file block")    # a measured point; sizes in bytes


def sort_key(key):
    return key.function, VIEWS.index(key.view), key.file, key.block


class Result:
    """A result of patchio probe. `rates`: {key: rates of the repetitions}; `errors`: {key: why the point has no rate}; both sorted by
    function, view, file and block. `raw`: the content of the file."""

    def __init__(self, raw):
        require(isinstance(raw, dict) and raw.get("schema") == "patchio-probe", "JSON without the schema patchio-probe")
        require(raw["version"] == 1, "version %s instead of 1" % json.dumps(raw["version"]))
        self.raw, self.rates, self.errors = raw, {}, {}
        check_conditions(raw)
        points = {}
        for point in raw["points"]:
            key = key_of(point)
            require(key not in points, "a point that occurs twice")
            points[key] = point
        for key in sorted(points, key=sort_key):
            if "kb_per_s" in points[key]:
                self.rates[key] = rates_of(points[key]["kb_per_s"]["all"])
            else:
                self.errors[key] = text_of(points[key], "error")
        for feature in raw["features"]:
            check_feature(feature)
        for row in raw["influence"]:
            integer(row, "block_bytes", 1)
            for name in ("readers", "writers"):
                integer(row, name)
            for name in ("read_alone", "write_alone", "read_both", "write_both"):
                rates_of(row[name + "_kb_per_s"])
        if "flight" in raw:
            check_flight(raw["flight"])
        self.machine, self.ranks, self.label = raw["machine"], raw["machine"]["ranks"], raw["label"]
        self.complete, self.why_incomplete = raw["complete"], raw.get("why_incomplete", "")

    def curves(self):
        """Returns {(function, view, file): [(block, rates)]}, with the blocks in ascending order."""
        curves = collections.defaultdict(list)
        for key, rates in self.rates.items():
            curves[key[:3]].append((key.block, rates))
        return curves


def require(good, what):
    if not good:
        raise ValueError(what)


def number(value, name, least=0):
    found = value[name]
    require(type(found) in (int, float) and math.isfinite(found) and found >= least, "%s = %s" % (name, found))
    return found


def integer(value, name, least=0, most=1 << 64):
    require(type(value[name]) is int and least <= value[name] < most, "an invalid whole number in %s" % name)
    return value[name]


def boolean(value, name):
    require(isinstance(value[name], bool), "a value of %s that is neither true nor false" % name)
    return value[name]


def text_of(value, name):
    require(isinstance(value[name], str), "a value of %s that is not a text" % name)
    return value[name]


def rates_of(values):
    require(isinstance(values, list) and values, "a missing list of rates")
    for value in values:
        require(type(value) in (int, float) and math.isfinite(value) and value > 0, "a rate of %s KB/s" % value)
    return values


def key_of(point):
    """Returns the key of a point or, with block 0, of a feature."""
    require(re.fullmatch("[A-Za-z0-9_]{1,63}", text_of(point, "function")), "a function without a valid name")
    require(text_of(point, "view") in VIEWS, "a view without a valid name")
    block = integer(point, "block_bytes", 1) if "first" not in point else 0
    return Key(point["function"], point["view"], integer(point, "file_bytes"), block)


def check_conditions(raw):
    boolean(raw, "complete")
    for name in ["label"] + ["why_incomplete"] * (not raw["complete"]):
        text_of(raw, name)
    for name in ("host", "system", "directory", "file_system", "mpi", "mpi_io"):
        text_of(raw["machine"], name)
    for name in ("ranks", "hosts"):
        integer(raw["machine"], name, 1, 1 << 30)
    for name in ("piece_bytes", "in_flight"):
        integer(raw["settings"], name)
    boolean(raw["settings"], "sync")


def check_feature(feature):
    key_of(feature)
    for shown in ["first"] + ["again"] * boolean(feature, "stable"):
        text_of(feature[shown], "kind")
        integer(feature[shown], "block_bytes", 1)
        number(feature[shown], "height")
    for point in feature["refined"]:
        integer(point, "block_bytes", 1)
        rates_of(point["kb_per_s"])


def check_flight(flight):
    integer(flight, "request_bytes")
    for name in ["samples"] + ["fitted"] * ("best" in flight):
        for sample in flight[name]:
            integer(sample, "in_flight", 1, 1 << 30)
            rates_of([sample["kb_per_s"]])
    require(flight["samples"], "no rates of concurrent requests")
    if "best" in flight:
        for name in ("best", "best_least", "best_most"):
            integer(flight, name, 1)


def load(path):
    """Reads and checks a result, because any program may have written the file. Raises Fault."""
    expected = "expected a result of patchio probe, found"
    try:
        # Without O_NONBLOCK, opening a pipe would wait for its writer.
        with open(path, encoding="utf-8", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode):
                raise Fault("%s: %s a pipe or a device. Check the path." % (path, expected))
            if state.st_size > MOST_BYTES:
                raise Fault("%s: %s %d bytes, too large for a result." % (path, expected, state.st_size))
            raw = json.load(file)
    except OSError as error:
        raise Fault("%s: %s; expected a result of patchio probe. Check the name." % (path, error.strerror)) from error
    except (ValueError, RecursionError) as error:
        raise Fault("%s: %s text that is not JSON. Give a result.json of patchio probe." % (path, expected)) from error
    try:
        return Result(raw)
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        what = "no member %s" % error if isinstance(error, KeyError) else str(error)
        raise Fault("%s: %s %s." % (path, expected, re.sub("[^ -~]", "?", what))) from error


# ---- statistics ---------------------------------------------------------------------------------------------------

SIGNIFICANCE_LEVEL = 0.01    # probability that a ratio lies outside of its interval

# A ratio and its 99 % confidence interval, which is 0 to infinity for a single value. `count`: number of values behind the ratio.
Ratio = collections.namedtuple("Ratio", "value low high count")

# The common scatter of several sets of repetitions: squared deviations of logarithms, each from the mean of its own set.
Noise = collections.namedtuple("Noise", "squares freedom")


@functools.lru_cache(maxsize=None)
def student_tail(tail, freedom):
    """Returns the value that a Student t variable with `freedom` >= 1 degrees of freedom, a whole number, exceeds with probability
    `tail`, 0 < tail < 0.5. The distribution is a finite sum (M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964,
    26.7.3 and 26.7.4), in an angle that bisection finds."""
    low, high = 0.0, math.pi / 2
    odd = freedom % 2
    for _ in range(60):
        angle = (low + high) / 2
        term, total = math.cos(angle) if odd else 1.0, 0.0
        for k in range(1 + odd, freedom, 2):
            total += term
            term *= math.cos(angle) ** 2 * k / (k + 1)
        inside = math.sin(angle) * total
        inside = (angle + inside) * 2 / math.pi if odd else inside
        low, high = (angle, high) if (1 - inside) / 2 > tail else (low, angle)
    return math.sqrt(freedom) * math.tan(low)


def log_mean(values):
    """Returns the mean of the logarithms of positive values, and the sum of squared deviations."""
    logs = [math.log(value) for value in values]
    return mean(logs), sum((each - mean(logs)) ** 2 for each in logs)


def noise_of(sets):
    """Returns the noise of several sets of repetitions."""
    return Noise(sum(log_mean(each)[1] for each in sets), sum(len(each) - 1 for each in sets))


def interval(logarithm, error, freedom, count, tests=1):
    if freedom < 1:
        return Ratio(math.exp(logarithm), 0.0, math.inf, count)
    reach = student_tail(SIGNIFICANCE_LEVEL / 2 / max(1, tests), freedom) * error
    return Ratio(math.exp(logarithm), math.exp(logarithm - reach), math.exp(logarithm + reach), count)


def ratio_of_pairs(pairs, noise, tests=1):
    """Returns the geometric mean of the ratios `after` / `before` of pairs of sets of positive values. The confidence interval follows
    from `noise`, the scatter of the values, not from the differences between the pairs. `tests`: the number of ratios that are judged
    together, so that all of them are correct with 99 % probability."""
    logarithm = mean([log_mean(after)[0] - log_mean(before)[0] for before, after in pairs])
    variances = sum(1 / len(before) + 1 / len(after) for before, after in pairs) / len(pairs) ** 2
    variance = noise.squares / noise.freedom if noise.freedom >= 1 else 0
    least = min(len(each) for pair in pairs for each in pair)
    return interval(logarithm, math.sqrt(variance * variances), noise.freedom, least, tests)


def ratio_of(before, after):
    """Returns the ratio of the geometric means, `after` / `before`. The interval follows from the scatter of both sets."""
    single = min(len(before), len(after)) < 2
    return ratio_of_pairs([(before, after)], Noise(0, 0) if single else noise_of([before, after]))


def mean_ratio(ratios):
    """Returns the geometric mean of independent ratios; 1 with a count of 0 if there are none. The confidence interval follows
    from the scatter of the ratios."""
    if not ratios:
        return Ratio(1.0, 0.0, math.inf, 0)
    logarithm, squares = log_mean(ratios)
    freedom = len(ratios) - 1
    error = math.sqrt(squares / freedom / len(ratios)) if freedom >= 1 else 0
    return interval(logarithm, error, freedom, len(ratios))


def is_bounded(ratio):
    return ratio.low > 0 and math.isfinite(ratio.high)
