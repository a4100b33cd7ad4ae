"""Faults of the program patchio and of the writer of the Python package. Each function tests a fault of table.py. A Bench provides
folders, and runs programs with the library for faults. stranger.py, which shares no code with PatchIO, reads the containers."""
import errno
import functools
import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

import harms
import inject
import memory
import readers
import series

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Formats", "Container"))
import stranger  # noqa: E402

LONGEST = 60
MOST_ALLOCATIONS, MANY_STEPS = 5000, 1000


class Bench:
    def __init__(self, options, folder, sound, expect):
        self.options, self.folder, self.sound, self.expect = options, folder, sound, expect
        self.made = 0
        os.makedirs(folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def place(self, name="samrai"):
        """Makes a new copy of a series, with new files."""
        self.made += 1
        place = series.Place(self.path("%s%d" % (name, self.made)), name)
        place.generations = self.sound[name]
        shutil.copytree(place.generations[0], place.folder)
        return place

    def start(self, *command, ranks=1, **settings):
        launch = ["mpirun", "-np", str(ranks), "--oversubscribe"] if ranks > 1 else []
        return subprocess.Popen(launch + [self.options.program, *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)

    def run(self, *command, **settings):
        """Returns the exit code and the output. A hang is a fault."""
        process = self.start(*command, **settings)
        try:
            text = process.communicate(timeout=LONGEST)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return "a hang", process.communicate()[0]
        return process.returncode, text

    def fails(self, says, *command, **settings):
        """Expects that the program ends with 1 and one message, which contains all texts in `says`."""
        code, text = self.run(*command, **settings)
        words = [says] if isinstance(says, str) else says
        self.expect(code == 1 and all(word in text for word in words), "%s: exit code %s, expected %s, found %s", command[0], code, words, text[-600:])
        return text

    def works(self, *command, **settings):
        code, text = self.run(*command, **settings)
        self.expect(code == 0, "%s: exit code %s, %s", command[0], code, text[-600:])
        return text

    def holds(self, container, steps, generation=0):
        """Expects that the container has these steps, with the values of the formula."""
        found = {step.step: step for step in stranger.read(container)} if os.path.exists(container + "/index") else {}
        self.expect(sorted(found) == list(steps), "%s: steps %s instead of %s", container, sorted(found), list(steps))
        for number, step in found.items():
            same = {(row["level"], tuple(int(n) for n in row["lower"])): values[..., 0]
                    for row, values in ((step.rows[row], values) for row, _, values in step.values())}
            self.expect(readers.same(same, series.truth(series.FORMAT["samrai"], number, generation)), "%s: step %d has other values", container, number)


ALL_STEPS = range(series.STEPS)


# ---- writing ----

def full_disk(bench):
    """Fills a file system, with the right to mount one. long_files_forbidden() tests the rest."""
    place, target = bench.place(), bench.path("small")
    os.makedirs(target)
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", target], check=False, capture_output=True).returncode != 0:
        return
    try:
        bench.fails([target + "/run.pio", "No space left"], "convert", place.opened, target + "/run.pio")
        subprocess.run(["mount", "-o", "remount,size=10m", target], check=True)
        bench.works("convert", place.opened, target + "/run.pio")
        bench.holds(target + "/run.pio", ALL_STEPS)
    finally:
        subprocess.run(["umount", "-l", target], check=True)


def long_files_forbidden(bench):
    """Limits the size of files (ulimit -f). There must be a message in addition to the system's signal."""
    place, target = bench.place(), bench.path("run.pio")
    bench.fails([target, "File too large"], "convert", place.opened, target, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
    bench.works("convert", place.opened, target)
    bench.holds(target, ALL_STEPS)


def hurt_target(bench, calls, error, numbers):
    place = bench.place()
    for number in numbers:
        target = bench.path("run%d.pio" % number)
        with inject.failing(calls, "run%d.pio" % number, error, number) as plan:
            code, text = bench.run("convert", place.opened, target)
        if plan.hit():
            bench.expect(code == 1 and "run%d.pio" % number in text and os.strerror(error) in text, "%s %d: exit code %s, %s", calls, number, code, text)
            bench.works("convert", place.opened, target)
        bench.holds(target, ALL_STEPS)


quota = functools.partial(hurt_target, calls="write", error=errno.EDQUOT, numbers=(1, 4, 9))
sync_fails = functools.partial(hurt_target, calls="sync", error=errno.EIO, numbers=(1, 2, 4))
rename_fails = functools.partial(hurt_target, calls="rename", error=errno.EIO, numbers=(1, 2))
target_read_only = functools.partial(hurt_target, calls="create", error=errno.EROFS, numbers=(1, 2, 3))


def target_vanishes(bench):
    """Removes the container between two steps that a script writes."""
    import patchio
    target = bench.path("run.pio")

    def write(step):
        patches = series.truth(series.FORMAT["samrai"], step)
        patchio.write(target, {"u": list(patches.values())}, step=step, lower=[lower for _, lower in patches], level=[level for level, _ in patches])
    write(0)
    shutil.rmtree(target)
    write(1)
    bench.holds(target, [1])
    with inject.failing("write", target, errno.ENOSPC):
        try:
            write(2)
            bench.expect(False, "patchio.write: nothing was said of a full disk")
        except patchio.Error as error:
            bench.expect(target in str(error) and "No space left" in str(error), "patchio.write: %s", error)
    write(2)
    bench.holds(target, [1, 2])


def source_breaks(bench):
    """Removes a file of the second step during the conversion, and restores it later."""
    place, target = bench.place(), bench.path("run.pio")
    with harms.gone("values")(place):
        bench.fails([os.path.basename(place.file("values")), "No such file"], "convert", place.opened, target)
    bench.works("convert", place.opened, target)
    bench.holds(target, ALL_STEPS)


def source_read_error(bench):
    place = bench.place()
    for number in (1, 6, 12):
        target = bench.path("run%d.pio" % number)
        with inject.failing("read", "processor_cluster", errno.EIO, number):
            bench.fails(["processor_cluster", "Input/output error"], "convert", place.opened, target)
        bench.works("convert", place.opened, target)
        bench.holds(target, ALL_STEPS)


def export_full_disk(bench):
    place = bench.place()
    for form in ("vtkhdf", "vtm"):
        target = bench.path(form)
        with inject.failing("write", target, errno.ENOSPC, 2):
            bench.fails([target, "No space left"], "export", place.opened, target, "--format", form)
        bench.works("export", place.opened, target, "--format", form, "--overwrite")


def interrupted(bench):
    """Sends Ctrl-C during a write."""
    place, target = bench.place(), bench.path("run.pio")
    with inject.failing("write", "run.pio", 50, effect=inject.WAITS):
        process = bench.start("convert", place.opened, target)
        while process.poll() is None and not glob.glob(target + "/step.000000.hdf"):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        process.wait(LONGEST)
    bench.expect(process.returncode != 0, "Ctrl-C: it ended with 0")
    bench.works("convert", place.opened, target)
    bench.holds(target, ALL_STEPS)


# ---- sidecars ----

def sidecar_hurt(bench, calls, error, says, numbers=(1,)):
    """Lets the writing of index files fail. Values must be right, the report must have the reason, and the next read must write the
    index file."""
    for number in numbers:
        place = bench.place()
        time.sleep(2.2)
        with inject.failing(calls, ".patchio", error, number) as plan:
            reader = readers.Reader(place)
            for step in range(place.format.steps):
                bench.expect(readers.same(reader.values(step), place.truth(step)), "%s %d: step %d", calls, number, step)
            reader.values()
            text = reader.step.report_text
        bench.expect(plan.hit() and says in text, "%s %d: hit %d, the report is %s", calls, number, plan.hit(), text)
        after = readers.prepared(place)
        bench.expect(".patchio" in after.step.report_text, "%s %d, later: %s", calls, number, after.step.report_text)


# Index files can be written neither beside the data nor in the user's cache.
sidecars_unwritable = functools.partial(sidecar_hurt, calls="create", error=errno.EROFS, says="not saved: ")
sidecars_full = functools.partial(sidecar_hurt, calls="write", error=errno.ENOSPC, says="No space left", numbers=(1, 3))
sidecars_rename_fails = functools.partial(sidecar_hurt, calls="rename", error=errno.EIO, says="not saved: ")


def folder_read_only(bench):
    """Makes the folder of the data read-only. The index file must go to the user's cache."""
    place = bench.place()
    time.sleep(2.2)
    with inject.failing("create", os.path.basename(place.folder), errno.EACCES):
        reader = readers.prepared(place)
    bench.expect(os.environ["XDG_CACHE_HOME"] in reader.step.report_text, "the report is %s", reader.step.report_text)
    bench.expect(not glob.glob(place.folder + "/**/.*.patchio", recursive=True), "sidecars beside the data")


def sidecar_unreadable(bench):
    """Makes an index file unreadable. There must be a warning, and the values must be right."""
    place = bench.place()
    time.sleep(2.2)
    readers.prepared(place)
    for calls, error in (("open", errno.EACCES), ("read", errno.EIO), ("read", errno.ESTALE)):
        with inject.failing(calls, ".patchio", error) as plan:
            text = readers.look(readers.open_and_read(place), place, None, 0)
        bench.expect(text == "right" and plan.hit(), "%s: %s, %d hits", os.strerror(error), text, plan.hit())
    readers.prepared(place)


# ---- two programs at once ----

def two_indexers(bench):
    """Runs two programs that slowly write the index files of one series at the same time."""
    place = bench.place()
    time.sleep(2.2)
    with inject.failing("write", ".patchio", 20, effect=inject.WAITS):
        both = [bench.start("index", "--rebuild", place.opened) for _ in range(2)]
        for process in both:
            text = process.communicate(timeout=LONGEST)[0]
            bench.expect(process.returncode == 0, "index: exit code %d, %s", process.returncode, text)
    states = bench.works("info", place.opened)
    bench.expect("corrupt" not in states and "stale" not in states, "info: %s", states)
    reader = readers.prepared(place)
    bench.expect("from the index file" in reader.step.report_text, "the report is %s", reader.step.report_text)


def two_readers(bench):
    """Opens one series without index files in several threads at the same time."""
    place, seen = bench.place(), []
    time.sleep(2.2)
    processes = [subprocess.Popen([sys.executable, "-B", os.path.abspath(__file__), place.folder, place.name], env=dict(os.environ),
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(3)]
    for process in processes:
        seen.append(process.communicate(timeout=LONGEST)[0].strip())
    bench.expect(seen == ["right"] * 3, "three readers saw %s", seen)


def read_while_converting(bench):
    """Reads a container repeatedly while its steps are written."""
    place, target = bench.place(), bench.path("run.pio")
    container, counts = series.Place(bench.folder, "container"), set()
    with inject.failing("write", "run.pio", 10, effect=inject.WAITS):
        process = bench.start("convert", place.opened, target)
        while process.poll() is None:
            counts.add(steps_of(bench, container))
    bench.expect(process.returncode == 0, "convert: %s", process.stdout.read())
    bench.expect(steps_of(bench, container) == series.STEPS and counts, "%s steps were seen", counts)


def steps_of(bench, container):
    """Returns the number of steps that a reader sees now, which must all be right; 0 if it reports that there are none yet."""
    import patchio
    try:
        data = patchio.open(container.opened)
    except patchio.Error as error:
        bench.expect("run.pio" in str(error), "a message without the name: %s", error)
        return 0
    for step in data:
        read = step.read("u")
        found = {(int(step.patches["level"][p]), tuple(int(n) for n in step.patches["lower"][p])): values for p, values in read.items()}
        bench.expect(readers.same(found, container.truth(step.number)), "step %d has other values", step.number)
    return len(data)


def overwritten_while_open(bench):
    """Runs convert --overwrite while a reader has the container open. The reader must get the old values, the new values or a
    message, but no mixture."""
    import patchio
    place = bench.place("container")
    time.sleep(2.2)
    reader = readers.prepared(place)
    folder, name = os.path.split(place.generations[1])
    newer = series.Place(os.path.join(folder, name.replace("container", "samrai")), "samrai")
    with inject.failing("write", "run.pio", 5, effect=inject.WAITS):
        process = bench.start("convert", newer.opened, place.path("run.pio"), "--overwrite")
        while process.poll() is None:
            try:
                found = reader.values()
            except patchio.Error as error:
                bench.expect("run.pio" in str(error), "meanwhile: %s", error)
            else:    # a single read, because the next one may find other files
                texts = [readers.look(lambda: found, place, None, generation) for generation in (0, 1)]
                bench.expect("right" in texts, "meanwhile: values of neither")
    bench.expect(process.returncode == 0, "convert: %s", process.stdout.read())
    text = readers.look(readers.open_and_read(place), place, None, 1)
    bench.expect(text == "right", "opened once more: %s", text)
    bench.holds(place.path("run.pio"), ALL_STEPS, 1)


# ---- memory, and many steps ----

def memory_runs_out(bench):
    """Lets each allocation of a kilobyte or more fail while a series is opened, indexed and read, and while a step is written.
    Allocations of Python may fail, too, so a MemoryError is accepted."""
    import patchio
    place, values = bench.place("samrai"), series.truth(series.FORMAT["samrai"], 0)
    container = bench.place("container")
    time.sleep(2.2)
    reader = readers.prepared(place)
    target = bench.path("run.pio")

    def write():
        patchio.write(target, {"u": list(values.values())}, lower=[lower for _, lower in values], level=[level for level, _ in values], overwrite=True)

    def opened_anew(where):
        for path in glob.glob(where.folder + "/**/.*.patchio", recursive=True):
            os.remove(path)
        return readers.look(readers.open_and_read(where), where, None, 0)

    stages = {"read": lambda: readers.look(reader.values, place, None, 0), "open": lambda: readers.look(readers.open_and_read(place), place, None, 0),
              "index": lambda: opened_anew(place), "container": lambda: opened_anew(container), "write": write}
    for stage, work in stages.items():
        messages = set()
        for number in range(1, MOST_ALLOCATIONS):
            text = "right"
            with inject.failing("memory", "", errno.ENOMEM, number, 1, least=1024) as plan:
                try:
                    text = work() or "right"
                except (MemoryError, SystemError, patchio.Error) as error:
                    text = str(error) or "MemoryError"
                hit = plan.hit()
            bench.expect(text != "wrong values", "%s, allocation %d: wrong values", stage, number)
            messages.add(text)
            if not hit:
                break
        bench.expect(any("memory" in text for text in messages), "%s: %s", stage, messages)
        print("   %s: %d allocations, %s" % (stage, number, sorted(messages)), flush=True)
        text = work()
        bench.expect(text in ("right", None), "%s, with memory: %s", stage, text)
    bench.holds(target, [0])


def little_memory(bench):
    """Limits the memory (ulimit -v). The program must end with a message, or succeed. It must not be killed."""
    path, target = bench.path("big.ctl"), bench.path("run.pio")
    with open(path, "w") as file:
        file.write("dset ^big.dat\noptions little_endian\nundef -999\nxdef 512 linear 0 1\nydef 512 linear 0 1\nzdef 256 linear 0 1\n"
                   "tdef 1 linear 12z28feb2016 12hr\nvars 1\nu 256 99 wind\nendvars\n")
    with open(bench.path("big.dat"), "wb") as file:
        file.truncate(4 * 512 * 512 * 256)     # a hole of 256 MiB
    seen = []
    for mebibytes in (400, 500, 600, 700, 800, 900, 1000, 3000):
        limit = mebibytes << 20
        code, text = bench.run("convert", path, target, "--overwrite", preexec_fn=lambda b=limit: resource.setrlimit(resource.RLIMIT_AS, (b, b)))
        seen.append(code)
        ours = "patchio: " in text
        # Below some hundred megabytes, MPI itself cannot start.
        bench.expect(code == 0 or code == 1 and ours and "memory" in text or mebibytes < 800 and not ours, "%d MiB: exit code %s, %s", mebibytes, code, text[-500:])
    bench.expect(seen[-1] == 0 and 1 in seen, "exit codes %s", seen)


def thousand_steps(bench):
    """Reads many steps with one reader and with new readers, and writes many steps."""
    import patchio
    place, values = bench.place(), series.truth(series.FORMAT["samrai"], 0)
    time.sleep(2.2)
    reader, sizes = readers.prepared(place), []
    for number in range(MANY_STEPS):
        step = number % series.STEPS
        found = (readers.Reader(place) if number % 10 == 0 else reader).values(step)
        bench.expect(readers.same(found, place.truth(step)), "step %d: other values", number)
        if number % 10 == 5:
            patchio.write(bench.path("run.pio"), {"u": list(values.values())}, lower=[lower for _, lower in values],
                          level=[level for level, _ in values], overwrite=True)
        sizes.append(memory.resident())
    memory.check_growth(bench.expect, sizes)


if __name__ == "__main__":
    here = series.Place(sys.argv[1], sys.argv[2])
    print(readers.look(readers.open_and_read(here), here, None, 0))
