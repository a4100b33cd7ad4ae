"""Faults of whole processes: killed clients, stopped servers, killed ranks. Each function is a fault of table.py."""
import contextlib
import glob
import os
import random
import signal
import subprocess
import time

import inject

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 90
SLOW = 1000    # milliseconds of a request
HURT = ("LD_PRELOAD", "PATCHIO_INJECT")


def left_by(processes):
    """Returns the files that the processes have left in the memory file system; their names contain process numbers."""
    return [path for path in glob.glob("/dev/shm/patchio-*") if any("-%d-" % number in path for number in processes)]


class Servers:
    """The processes of one fault; the end of the block ends all of them."""

    def __init__(self, bench):
        self.bench, self.started = bench, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            try:
                os.killpg(process.pid, signal.SIGCONT)
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()

    def start(self, *command, hurt=False):
        environment = {name: value for name, value in os.environ.items() if hurt or name not in HURT}
        path = self.bench.path("said%d" % len(self.started))
        with open(path, "w") as said:
            process = subprocess.Popen(command, env=environment, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        process.path, process.text = path, ""
        self.started.append(process)
        return process

    def serve(self, *options, ranks=1):
        """Starts a pvserver with injected faults. Returns the process and its port."""
        for _ in range(3):
            port = random.randint(20000, 40000)
            launch = ["mpirun", "-np", str(ranks), "--oversubscribe"] if ranks > 1 else []
            server = self.start(*launch, "pvserver", "--server-port=%d" % port, *options, hurt=True)
            if self.says(server, "Accepting connection"):
                return server, str(port)
        raise AssertionError("no pvserver came up: " + server.text)

    @staticmethod
    def text_of(process):
        with open(process.path, errors="replace") as said:
            process.text = said.read()
        return process.text

    @staticmethod
    def sees(process, what, seconds=LONGEST):
        """Returns whether `what` becomes true in time, and before the process ends."""
        end = time.time() + seconds
        while time.time() < end:
            done = process.poll() is not None
            if what():
                return True
            if done:
                return False
            time.sleep(0.05)
        return False

    def says(self, process, words):
        """Returns whether the process prints the words in time."""
        return self.sees(process, lambda: words in self.text_of(process))

    def ends(self, process, seconds=LONGEST):
        """Returns whether the process ends in time."""
        end = time.time() + seconds
        while time.time() < end:
            if process.poll() is not None:
                self.text_of(process)
                return True
            time.sleep(0.05)
        return False

    def client(self, port, place, *steps):
        return self.start("pvpython", os.path.join(HERE, "client.py"), port, place.folder, *[str(step) for step in steps])

    def sees_right(self, port, place, when):
        client = self.client(port, place, 1, 2)
        self.bench.expect(self.ends(client) and client.text.count("right\n") == 2, "%s: a client saw %s", when, client.text[-800:])


@contextlib.contextmanager
def slow_client(servers, server, port, place, *steps):
    """Starts a client whose read on the server takes a long time."""
    with inject.failing("read", "processor_cluster", SLOW, effect=inject.WAITS) as plan:
        client = servers.client(port, place, *steps)
        reads = servers.sees(client, lambda: plan.hit() > 0) and server.poll() is None and client.poll() is None
        servers.bench.expect(reads, "there is no read to be disturbed: %s", servers.text_of(client)[-500:])
        yield client


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def client_killed(bench):
    """Kills the client of a pvserver, which must then end, too."""
    place = bench.place()
    with Servers(bench) as servers:
        server, port = servers.serve()
        with slow_client(servers, server, port, place, 1, 2) as client:
            kill(client)
        bench.expect(servers.ends(server), "the server of a client that is gone goes on for ever")
        _, port = servers.serve()
        servers.sees_right(port, place, "the next server")


def one_of_clients_killed(bench):
    """Kills the second client of a pvserver; the first one must continue to read."""
    place, go = bench.place(), bench.path("go")
    with Servers(bench) as servers:
        server, port = servers.serve("--multi-clients")
        first = servers.client(port, place, 1, go, 2)
        bench.expect(servers.says(first, "right"), "the first client saw %s", first.text[-800:])
        with slow_client(servers, server, port, place, 0, 1, 2) as client:
            kill(client)
        open(go, "w").close()
        bench.expect(servers.ends(first) and first.text.count("right\n") == 2, "the first client saw %s; the server said %s", first.text[-800:],
                     servers.text_of(server)[-400:])


def server_killed(bench):
    place = bench.place()
    with Servers(bench) as servers:
        server, port = servers.serve()
        with slow_client(servers, server, port, place, 1, 2) as client:
            os.killpg(server.pid, signal.SIGKILL)
            bench.expect(servers.ends(client), "a client of a server that is gone waits for ever")
        bench.expect(client.text.count("right\n") < 2 and "Error" in client.text, "the client said: %s", client.text[-500:])
        _, port = servers.serve()
        servers.sees_right(port, place, "the next server")


def server_stopped(bench):
    """Stops a pvserver for some seconds."""
    place = bench.place()
    with Servers(bench) as servers:
        server, port = servers.serve()
        with slow_client(servers, server, port, place, 1, 2) as client:
            os.killpg(server.pid, signal.SIGSTOP)
            time.sleep(3)
            bench.expect(client.poll() is None, "the client did not wait: %s", client.text[-500:])
            os.killpg(server.pid, signal.SIGCONT)
        bench.expect(servers.ends(client) and client.text.count("right\n") == 2, "the client saw %s", client.text[-800:])


def ranks_of(process, name):
    """Returns the descendants of the process with this name."""
    found, parents = [], {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % entry) as file:
                text = file.read()
        except OSError:
            continue
        parents[int(entry)] = (int(text.rsplit(")", 1)[1].split()[1]), text[text.index("(") + 1:text.rindex(")")])
    for number, (parent, what) in parents.items():
        while parent in parents and parent != process.pid:
            parent = parents[parent][0]
        if parent == process.pid and what.startswith(name):
            found.append(number)
    return sorted(found)


def rank_killed(bench):
    """Kills one of two ranks that index a series. mpirun must end, and the remaining files must be harmless."""
    place = bench.place()
    time.sleep(2.2)
    with Servers(bench) as servers:
        with inject.failing("read", "processor_cluster", SLOW, effect=inject.WAITS) as plan:
            job = servers.start("mpirun", "-np", "2", "--oversubscribe", bench.options.program, "index", place.opened, hurt=True)
            reads = servers.sees(job, lambda: plan.hit() > 0)
            ranks = ranks_of(job, "patchio")
            bench.expect(len(ranks) >= 2 and reads, "there are no ranks to be killed: %s, %d requests", ranks, plan.hit())
            os.kill(ranks[-1], signal.SIGKILL)
            bench.expect(servers.ends(job) and job.returncode != 0, "mpirun: exit code %s, %s", job.returncode, job.text[-500:])
        bench.expect("signal 9" in job.text, "mpirun said: %s", job.text[-500:])
        bench.expect(not left_by(ranks), "left behind: %s", left_by(ranks))
    bench.works("index", place.opened, ranks=2)
    import readers
    bench.expect("from the index file" in readers.prepared(place).step.report_text, "no sidecar")


def rank_of_server_killed(bench):
    place = bench.place()
    with Servers(bench) as servers:
        server, port = servers.serve(ranks=2)
        with slow_client(servers, server, port, place, 1, 2) as client:
            ranks = ranks_of(server, "pvserver")
            bench.expect(len(ranks) >= 2, "ranks %s", ranks)
            os.kill(ranks[-1], signal.SIGKILL)
            bench.expect(servers.ends(server) and "signal 9" in server.text, "mpirun said: %s", server.text[-500:])
            bench.expect(servers.ends(client), "the client waits for ever")
        _, port = servers.serve(ranks=2)
        servers.sees_right(port, place, "the next server")
