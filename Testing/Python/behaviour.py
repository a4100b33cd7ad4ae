#!/usr/bin/python3
"""Tests the guarantees of the package patchio other than right values.

usage: PYTHONPATH=... PATCHIO_METADATA_DIR=... behaviour.py DATA LARGE SCRATCH

DATA: the repository's folder Data. LARGE: a dump of patchio_bench_make, 64 MiB. SCRATCH: an empty folder.
"""
import contextlib
import ctypes
import errno
import gc
import io
import multiprocessing
import os
import pickle
import pydoc
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest
import warnings

import numpy as np
import patchio

data_folder = large = scratch = None
MIB = 1 << 20


def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def resident():
    """Returns the resident bytes of this process, and their maximum since forget_peak()."""
    with open("/proc/self/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return [int(lines[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")]


def linadv():
    return os.path.join(data_folder, "linadv_3d", "dumps.visit")


def copy_of_linadv(name):
    folder = os.path.join(scratch, name)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(data_folder, "linadv_3d"), folder)
    return folder


def read_part(task):
    path, part, parts = task
    step = patchio.open(path)[-1]
    return {p: float(values.sum(dtype=float)) for p, values in step.read("uval", patches=step.part(part, parts)).items()}


def read_part_with_warnings(task):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return read_part(task), " ".join(str(warning.message) for warning in caught)


class Memory(unittest.TestCase):
    def test_no_copy(self):
        step = patchio.open(large)[0]
        forget_peak()
        before = resident()
        arrays = step.read("v0", threads=2)
        wanted = sum(values.nbytes for values in arrays.values())
        self.assertEqual(wanted, 64 * MIB)
        self.assertLess(resident()[1] - before[0], wanted + 24 * MIB)    # a copy would need 64 MiB more
        for values in arrays.values():
            self.assertEqual(type(values.base).__name__, "Memory")      # owner of the memory that the file was read into
            self.assertEqual(values.ctypes.data % 4096, 0)    # suitable for direct reads into the array
            self.assertTrue(values.flags.c_contiguous and values.flags.writeable and not values.flags.owndata)

    def test_arrays_outlive_everything(self):
        data = patchio.open(large)
        step = data[0]
        values = step.read("v0")[7]
        kept = values.copy()
        view = values[3:5]
        address = values.ctypes.data
        del data, step, values
        gc.collect()
        again = patchio.open(large)[0].read("v0")
        self.assertEqual(view.ctypes.data, address + 3 * kept[0].nbytes)
        np.testing.assert_array_equal(view, kept[3:5])
        self.assertFalse(any(np.shares_memory(view, other) for other in again.values()))

    def test_memory_comes_back(self):
        step = patchio.open(large)[0]
        arrays = step.read("v0")
        held = resident()[0]
        del arrays, step
        gc.collect()
        self.assertLess(resident()[0], held - 48 * MIB)

    def test_memory_is_used_again(self):
        step = patchio.open(large)[0]
        first = step.read("v0")
        addresses = {values.ctypes.data for values in first.values()}
        del first
        self.assertTrue(addresses & {values.ctypes.data for values in step.read("v0").values()})

    def test_values_can_be_changed(self):
        step = patchio.open(linadv())[0]
        values = step.read("uval", patches=0)[0]
        kept = values.copy()
        values += 1
        np.testing.assert_array_equal(step.read("uval", patches=0)[0], kept)


class Reading(unittest.TestCase):
    def test_one_process_needs_no_mpi(self):
        patchio.open(linadv())[0].read()
        flag = ctypes.c_int(-1)
        library = ctypes.CDLL("libmpi.so.40")
        library.MPI_Initialized(ctypes.byref(flag))
        self.assertEqual(flag.value, 0)

    def test_processes_divide_the_patches(self):
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            found = pool.map(read_part, [(linadv(), part, 3) for part in range(3)])
        whole = read_part((linadv(), 0, 1))
        self.assertEqual(sum(len(part) for part in found), len(whole))
        self.assertEqual({p: total for part in found for p, total in part.items()}, whole)

    def test_forked_after_a_read(self):
        whole = read_part((linadv(), 0, 1))
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found, words = pool.apply(read_part_with_warnings, [(linadv(), 0, 1)])
        self.assertEqual(found, whole)
        self.assertIn("forked", words)

    def test_order_and_repetition_of_patches(self):
        step = patchio.open(linadv())[-1]
        self.assertEqual(list(step.read("uval", patches=[5, 2, 5])), [5, 2])
        self.assertEqual(step.read("uval", patches=[]), {})
        self.assertEqual(step.read([]), {})
        self.assertEqual(list(step.read("uval", patches=[0, 47], levels=[2])), [47])
        self.assertEqual(list(step.read("uval", levels="level 2")), list(step.read("uval", levels=2)))

    def test_threads_and_report(self):
        step = patchio.open(large, threads=3)[0]
        step.read("v0")
        self.assertEqual((step.report["threads"], step.report["tasks"], step.report["patches"]), (3, 64, 64))
        self.assertGreaterEqual(step.report["bytes"], 64 * MIB)
        self.assertIn("Threads per rank (NT): 3\n", step.report_text)
        step.read("v0", threads=5)
        self.assertEqual(step.report["threads"], 5)
        automatic = patchio.open(large)[0]
        automatic.read("v0")
        self.assertIn("Threads: automatic, balanced\n", automatic.report_text)

    def test_steps(self):
        data = patchio.open(linadv())
        self.assertEqual([step.number for step in data], data.numbers.tolist())
        self.assertEqual(data[-1].number, data.numbers[-1])
        self.assertEqual([step.number for step in data[1:3]], data.numbers[1:3].tolist())
        times = data.times
        for time, want in ((times[1] * 1.01, 1), (times[2] * 0.99, 2), (-1, 0), (np.inf, 3), (-np.inf, 0), (1e17, 3), (1e300, 3),
                           (0.5 * (times[0] + times[1]), 0)):
            self.assertEqual(data.nearest(time).number, data.numbers[want], time)
        self.assertRaisesRegex(ValueError, "not nan", lambda: data.nearest(np.nan))
        self.assertRaises(IndexError, lambda: data[len(data)])
        joined = patchio.open([data.paths[1], data.paths[0]])
        self.assertEqual(joined.numbers.tolist(), data.numbers[:2].tolist())
        folder = copy_of_linadv("unlisted")
        with open(os.path.join(folder, "dumps.visit")) as file:
            listed = file.readlines()
        with open(os.path.join(folder, "dumps.visit"), "w") as file:
            file.writelines(listed[:3])
        self.assertEqual([len(patchio.open(os.path.join(folder, "dumps.visit"), listed_only=only)) for only in (False, True)], [4, 3])

    def test_python_threads_run_meanwhile(self):
        step = patchio.open(large)[0]
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)    # this thread continues only when the other one releases the lock
        try:
            self.assertTrue(any(self.runs_while_reading(step) for _ in range(50)))
        finally:
            sys.setswitchinterval(interval)

    def runs_while_reading(self, step):
        begun, done = threading.Event(), []

        def work():
            begun.set()
            step.read("v0")
            done.append(True)

        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        meanwhile = not done
        thread.join()
        return meanwhile

    def test_threads_that_read_at_once(self):
        data = patchio.open(linadv())
        steps, wanted = [data[i] for i in range(4)], [data[i].read("uval") for i in range(4)]
        found = [[] for _ in steps]

        def work(i):
            for _ in range(20):
                found[i].append(steps[i].read("uval"))

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for mine, want in zip(found, wanted):
            self.assertEqual(len(mine), 20)
            for arrays in mine:
                self.assertTrue(all(np.array_equal(arrays[p], want[p]) for p in want))

    def test_interrupt(self):
        step = patchio.open(large)[0]

        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            with self.assertRaises(KeyboardInterrupt):
                while True:
                    step.read("v0", threads=1)
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertEqual(len(step.read("v0")), 64)

    def test_metadata(self):
        folder = os.environ["PATCHIO_METADATA_DIR"]
        shutil.rmtree(folder, ignore_errors=True)
        for metadata in ("off", "read"):
            patchio.open(linadv(), metadata=metadata)[0].read()
            self.assertFalse(os.path.exists(folder) and os.listdir(folder), metadata)
        patchio.open(linadv())[0].read()
        kept = {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}
        self.assertTrue(kept)
        step = patchio.open(linadv(), metadata="read")[0]
        step.read()
        self.assertIn("from the index file", step.report["metadata"])
        self.assertEqual({name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}, kept)


class Errors(unittest.TestCase):
    def fails(self, words, work, kind=patchio.Error):
        with self.assertRaises(kind) as caught:
            work()
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_what_cannot_be_opened(self):
        self.assertTrue(issubclass(patchio.Error, RuntimeError))
        for kind in (patchio.Error, FileNotFoundError, patchio.MissingFile):
            self.fails(["/nowhere/dumps.visit", "No such file"], lambda: patchio.open("/nowhere/dumps.visit"), kind)
        with self.assertRaises(FileNotFoundError) as caught:
            patchio.open("/nowhere/dumps.visit")
        for fault in (caught.exception, pickle.loads(pickle.dumps(caught.exception))):
            self.assertEqual((fault.errno, fault.filename), (errno.ENOENT, "/nowhere/dumps.visit"))
            self.assertEqual(str(fault), str(caught.exception))
        for path in (None, 3, b"dumps.visit"):
            self.fails(["path must be a file name", repr(path)], lambda: patchio.open(path), TypeError)
        with self.assertRaises(patchio.Error) as caught:
            patchio.open(__file__)
        self.assertNotIsInstance(caught.exception, FileNotFoundError)
        self.fails(["a file of another format", "PatchIO does not support this format"], lambda: patchio.open(__file__))
        self.fails(["The list of paths is empty"], lambda: patchio.open([]))

    def test_a_container_without_the_file_of_its_first_step(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.pio")
            for step in (0, 1):
                patchio.write(path, {"a": np.full((4, 4), float(step))}, step=step, time=step)
            os.remove(os.path.join(path, "step.000000.hdf"))
            data = patchio.open(path)
            self.fails(["step.000000.hdf", "No such file"], lambda: data[0], patchio.MissingFile)
            self.assertEqual((data.format, len(data), data[1].read("a")[0].max()), ("Container", 2, 1))

    def test_what_does_not_exist(self):
        step = patchio.open(linadv())[-1]
        self.fails([step.path, "'nothing'", "uval"], lambda: step.read("nothing"))
        self.fails(["'nothing'"], lambda: step.dtype("nothing"))
        for work in (lambda: step.read("uval", patches=48), lambda: step.read("uval", patches=[0, -1]), lambda: step.nodes(99),
                     lambda: step.covered(-1), lambda: step.positions(48)):
            self.fails([step.path, "has no patch", "48 patches, numbered from 0"], work)
        self.fails([step.path, "has no level 3", "3 levels, numbered from 0"], lambda: step.read("uval", levels=[0, 3]))
        self.fails(["has no level -1"], lambda: step.read("uval", levels=-1))
        self.fails(["'sensor'", "level 0, level 1, level 2"], lambda: step.read("uval", levels="sensor"))
        self.fails(["step index 4 is out of range", "4 steps"], lambda: patchio.open(linadv())[4], IndexError)
        self.fails(["is a box"], lambda: step.positions(0))

    def test_broken_files(self):
        folder = copy_of_linadv("broken")
        step = patchio.open(os.path.join(folder, "dumps.visit"), metadata="off")[-1]
        whole = step.read("uval")
        cluster = os.path.join(os.path.dirname(step.path), "processor_cluster.00001.samrai")
        with open(cluster, "r+b") as file:
            file.truncate(os.path.getsize(cluster) // 2)
        self.fails([cluster], lambda: step.read("uval"))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            rest = step.read("uval", skip_broken=True)
        self.assertIn("cannot be read", str(caught[0].message))
        broken = {fault[0] for fault in step.faults}
        self.assertTrue(broken)
        self.assertEqual(set(rest) | broken, set(whole))
        self.assertFalse(set(rest) & broken)
        self.assertTrue(all(np.array_equal(rest[p], whole[p]) for p in rest))
        self.assertTrue(all(name == "uval" and cluster in message for _, name, message in step.faults))
        step.read("uval", patches=list(rest)[:1])    # does not skip broken arrays, and leaves the attribute `faults`
        self.assertEqual({fault[0] for fault in step.faults}, broken)
        os.remove(cluster)
        self.fails([cluster], lambda: patchio.open(step.path, metadata="off")[0].read(), FileNotFoundError)

    def test_names_that_are_no_utf8(self):
        folder = copy_of_linadv("caf\udce9")
        for path, _, files in os.walk(os.fsencode(folder)):
            for name in files:
                with open(os.path.join(path, name), "r+b") as file:
                    data = file.read()
                    file.seek(0)
                    file.write(data.replace(b"uval", b"uv\xe9l"))
        with patchio.open(os.path.join(folder, "dumps.visit"), metadata="off") as data:
            self.assertTrue(os.path.exists(data.paths[0]))
            step = data[0]
            self.assertEqual([name for name in step.variables if name.startswith("uv")], ["uv\\xe9l"])
            self.assertTrue(np.isfinite(step.read("uv\\xe9l", patches=[0])[0]).all())
            for work in (lambda: step.read("none"), lambda: step.read(patches=99), lambda: step.read(levels=9), lambda: step.positions(0)):
                self.fails(["caf\\xe9/visit_dump"], work)    # can be printed
            self.assertIn("caf\\xe9", data._repr_html_() + step._repr_html_())
        os.remove(data.paths[0])
        self.fails(["No such file"], lambda: patchio.open(data.paths[0]), FileNotFoundError)

    def test_changed_since_it_was_opened(self):
        folder = copy_of_linadv("changed")
        step = patchio.open(os.path.join(folder, "dumps.visit"), metadata="off")[0]
        with open(step.path, "ab") as file:
            file.write(b"\0")
        self.fails([step.path, "the file that was opened"], lambda: step.read("uval"))


class Describing(unittest.TestCase):
    def test_words(self):
        data = patchio.open(linadv())
        self.assertIn("SAMRAI, 4 steps>", repr(data))
        self.assertIn("SAMRAI, 1 step>", repr(patchio.open(data.paths[0])))
        self.assertIn("48 patches on 3 levels, 1 variable>", repr(data[-1]))
        self.assertEqual(list(data.variables), ["uval"])
        self.assertEqual(data.bounds, (0, 1, 0, 0.5, 0, 0.5))
        repository = os.path.dirname(os.path.abspath(data_folder))
        with open(os.path.join(repository, "CMakeLists.txt")) as file:
            self.assertEqual(patchio.__version__, re.search(r"project\(PatchIO VERSION ([0-9.]+)", file.read()).group(1))

    def test_tables_of_notebooks(self):
        data = patchio.open(linadv())
        for shown in (data._repr_html_(), data[0]._repr_html_()):
            for words in ("uval", "level 2", "<table>", "cell"):
                self.assertIn(words, shown)
        self.assertIn("0 to 0.6", data._repr_html_())
        folder = copy_of_linadv("a<b>&c")
        shown = patchio.open(os.path.join(folder, "dumps.visit"))._repr_html_()
        self.assertIn("a&lt;b&gt;&amp;c", shown)
        self.assertNotIn("<b>&", shown)

    def test_closing(self):
        with patchio.open(linadv()) as data:
            step = data[0]
        self.assertEqual(len(step.read("uval")), len(step.patches))
        self.assertRaisesRegex(ValueError, "closed", lambda: data[0])
        self.assertIn("is closed", data._repr_html_())

    def test_what_is_not_installed(self):
        def said(code):
            done = subprocess.run([sys.executable, "-c", code, linadv()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertNotEqual(done.returncode, 0)
            return done.stdout
        self.assertIn("ImportError: patchio needs numpy. Install it with", said("import sys; sys.modules['numpy'] = None; import patchio"))
        for name in ("pyvista", "xarray", "yt"):
            self.assertIn("ImportError: to_%s() needs %s. Install it with 'python3 -m pip install %s'" % (name, name, name), said(
                "import sys; sys.modules['%s'] = None; import patchio; patchio.open(sys.argv[1])[0].to_%s()" % (name, name)))


class Help(unittest.TestCase):
    def test_everything_is_explained(self):
        # Python 3.13 breaks long signatures after the bracket.
        text = re.sub(r"\([\s|]+", "(", pydoc.plain(pydoc.render_doc(patchio)))
        for name in ("open(path", "read(self", "part(self", "covered(self", "nodes(self", "class Error", "nearest(self",
                     "uniform_grid(self", "to_xarray(self", "to_pyvista(self", "to_yt(self", "bounds"):
            self.assertIn(name, text)
        for kind in (patchio.DataSet, patchio.Step):
            for name, member in vars(kind).items():
                self.assertTrue(name.startswith("_") or member.__doc__, "%s.%s has no docstring" % (kind.__name__, name))

    def test_what_the_documentation_shows(self):
        repository = os.path.dirname(os.path.abspath(data_folder))
        with open(os.path.join(repository, "Documentation", "Guide", "PythonPackage.md")) as file:
            shown = re.findall("```python\n(.*?)```", file.read(), re.DOTALL)
        shown.append(textwrap.dedent(re.search(r"    import patchio\n(?:.*\n)*?.*report_text\).*\n", patchio.__doc__).group()))
        self.assertEqual(len(shown), 5)
        before = os.getcwd()
        os.chdir(copy_of_linadv("shown"))
        try:
            for text in shown:
                # The data of the test have one variable with another name.
                text = text.replace('"density"', '"uval"').replace('["uval", "velocity"]', '["uval"]').replace("17", "7")
                # Other packages may not be installed; grids.py tests these lines.
                text = "\n".join(line for line in text.splitlines() if not re.search("pyvista|xarray|to_yt", line))
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(text, {"patchio": patchio})
                self.assertEqual("Read tasks: " in printed.getvalue(), "report_text" in text)
        finally:
            os.chdir(before)


if __name__ == "__main__":
    data_folder, large, scratch = sys.argv[1:4]
    os.makedirs(scratch, exist_ok=True)
    unittest.main(argv=sys.argv[:1] + sys.argv[4:], verbosity=1)
