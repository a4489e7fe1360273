"""The `explore` fixture: runs the engine on a client of a test, and fails the test with the story of what breaks."""

import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

import lostlock

#: How a client may run.
HOWS = ("processes", "threads", "asyncio")

#: What is left of a test's time-out for the engine to end and to report, in seconds.
_MARGIN = 3

#: How many worlds this process plays at a time, unless the test says so. Each client of a world takes a thread or a task.
_WORLDS_HERE = 4


class Report:
    """What an exploration has found. `findings` are dictionaries with promise, cause, sentence, story, replay and more."""

    def __init__(self, data, text):
        self.data = data
        self.text = text
        self.findings = data["findings"]
        self.verdict = data["verdict"]
        self.worlds = data["worlds"]
        self.reasons = data["reasons"]

    def __str__(self):
        return self.text


class Explorations:
    """What the fixture `explore` is."""

    def __init__(self, command, request):
        self._command = command
        self._request = request
        self._begun = time.monotonic()

    def __call__(
        self,
        client,
        clients=3,
        faults=None,
        promises=None,
        *,
        how="processes",
        seconds=None,
        worlds=None,
        lease=None,
        replicas=None,
        primaries=None,
        on=None,
        accept=None,
        seed=None,
        fresh=False,
        stop_at_first=False,
        side_by_side=None,
        allow=(),
        check=True,
    ):
        """Explores `client`, a function of one World (or a coroutine function of one AsyncWorld), and returns the Report.

        clients: how many, or their names. faults, promises, accept: lists of names, as in docs/explore.md.
        promises may also have functions of your own: each is called with the history of a world, and returns what is wrong with it.
        how: 'processes' (the client must be importable), 'threads' or 'asyncio' (it may be anything, and cannot be killed).
        seconds, worlds: how much to play; the default is the setting lostlock_seconds, and less than pytest-timeout allows.
        lease: in seconds, the lease that the client is told to use.
        stop_at_first: True to end with the first finding that repeats.
        on: real servers in place of lostlock's nodes, such as 'redis-server', or the path of one.
        allow: the reasons for which an inconclusive report passes. check: False returns the report whatever it says.
        """
        __tracebackhide__ = True
        if how not in HOWS:
            raise ValueError(f"how={how!r}: must be one of {', '.join(HOWS)}")
        if how != "processes" and side_by_side is None:
            side_by_side = _WORLDS_HERE
        own = [promise for promise in promises or () if callable(promise)]
        if own:
            promises = [promise for promise in promises if not callable(promise)] or None
        for promise in own:
            if not getattr(promise, "__name__", "<").isidentifier():
                raise ValueError(f"promises: {promise!r} has no name: define it with def")
        flags = []
        for name, value in (
            ("clients", clients if isinstance(clients, int) else ",".join(clients)),
            ("faults", None if faults is None else ",".join(faults)),
            ("promises", None if promises is None else ",".join(promises)),
            ("judge", ",".join(promise.__name__ for promise in own) if own else None),
            ("accept", None if accept is None else ",".join(accept)),
            ("lease", None if lease is None else round(lease * 1000)),
            ("worlds", worlds),
            ("replicas", replicas),
            ("primaries", primaries),
            ("on", on),
            ("seed", seed),
            ("side-by-side", side_by_side),
            ("name", self._request.node.name),
        ):
            if value is not None:
                flags += [f"--{name}", str(value)]
        flags += [flag for flag, given in (("--fresh", fresh), ("--stop-at-first", stop_at_first)) if given]
        with _one_engine(self._request):
            limit = self._limit()
            ms = self._milliseconds(seconds, limit)
            if how == "processes":
                program = [sys.executable, "-c", "import lostlock_explore; lostlock_explore.run()", *_place(client)]
                report = self._run([*flags, "--ms", str(ms), "--", *program], limit, own, None)
            else:
                names = clients if isinstance(clients, int) else len(clients)
                report = self._run([*flags, "--ms", str(ms), "--attach"], limit, own, (client, how, names, side_by_side))
        if check:
            _judge(report, allow)
        return report

    def _limit(self):
        """When the test must have ended because of pytest-timeout, on the monotonic clock; None for never."""
        marker = self._request.node.get_closest_marker("timeout")
        config = self._request.config
        limit = None
        if marker is not None:
            limit = marker.args[0] if marker.args else marker.kwargs.get("timeout")
        if limit is None:
            limit = config.getoption("timeout", None)
        if limit is None:
            with contextlib.suppress(ValueError, KeyError):
                limit = config.getini("timeout")
        limit = float(limit or 0)
        return self._begun + limit if limit > 0 else None

    def _milliseconds(self, seconds, limit):
        if seconds is None:
            seconds = float(self._request.config.getini("lostlock_seconds"))
        if limit is not None:
            # The world without faults, and the repetitions of findings, come beside.
            seconds = min(seconds, max(1.0, (limit - time.monotonic() - _MARGIN) * 0.7))
        return max(1, round(seconds * 1000))

    def _run(self, arguments, limit, own, attached):
        """Runs the engine. own: promises that this process judges. attached: what this process plays itself."""
        with tempfile.TemporaryDirectory(prefix="lostlock-") as folder:
            file = os.path.join(folder, "report.json")
            engine = subprocess.Popen(
                [*self._command, "explore", "--json", file, "--exit-with-parent", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=dict(os.environ, PYTHONPATH=os.pathsep.join(path or os.getcwd() for path in sys.path)),
                start_new_session=True,
            )
            errors = []
            listener = threading.Thread(target=lambda: errors.append(engine.stderr.read()), daemon=True)
            listener.start()
            # It ends before pytest-timeout does, and reports what it has found.
            timer = None
            if limit is not None:
                timer = threading.Timer(max(0.1, limit - time.monotonic() - _MARGIN), engine.send_signal, [signal.SIGINT])
                timer.daemon = True
                timer.start()
            text = []
            try:
                for line in engine.stdout:
                    if own and line.startswith("LOSTLOCK_JUDGE="):
                        words = (lostlock.judge, own, line.strip().partition("=")[2])
                        threading.Thread(target=_quietly, args=words, daemon=True).start()
                    elif attached is not None and line.startswith("LOSTLOCK_LAB="):
                        _attach(line.strip().partition("=")[2], *attached)
                    else:
                        text.append(line)
                engine.wait()
            finally:
                if timer is not None:
                    timer.cancel()
                if engine.poll() is None:
                    engine.stdin.close()  # The engine ends with its standard input.
                    try:
                        engine.wait(10)
                    except subprocess.TimeoutExpired:
                        # The whole group: npx starts the engine as a process of its own.
                        os.killpg(engine.pid, signal.SIGKILL)
                        engine.wait()
                listener.join(5)
                for pipe in (engine.stdin, engine.stdout, engine.stderr):
                    pipe.close()
            if not os.path.exists(file):
                raise lostlock.LostlockError("".join(errors).strip() or f"the engine ended with status {engine.returncode}")
            with open(file, encoding="utf8") as found:
                return Report(json.load(found)[0], "".join(text).rstrip())


def _judge(report, allow):
    """Fails the test for a broken promise, and for a report that proves nothing."""
    __tracebackhide__ = True
    output = report.data["output"]["lines"]
    printed = "\n\nprinted by the clients:\n" + "\n".join(output[:20]) if output else ""
    if report.verdict == "broken":
        pytest.fail(f"{report.text}{printed}", pytrace=False)
    left = [reason for reason in report.reasons if reason["kind"] not in allow]
    if left:
        named = ", ".join(sorted({repr(reason["kind"]) for reason in left}))
        pytest.fail(f"{report.text}\n\nTo accept that: explore(..., allow=[{named}]){printed}", pytrace=False)


@contextlib.contextmanager
def _one_engine(request):
    """Under pytest-xdist, the explorations of all workers take turns: each of them needs the whole machine."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    import fcntl

    # The folder that the workers of a run share. pytest removes it some runs later.
    path = request.getfixturevalue("tmp_path_factory").getbasetemp().parent / "lostlock.lock"
    with open(path, "w", encoding="utf8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _place(client):
    """Where another process finds the client: module, file and name. Raises ValueError for one that it cannot import."""
    name = getattr(client, "__qualname__", "")
    module = getattr(client, "__module__", None)
    if not name or module is None or "<" in name:
        raise ValueError(
            f"{name or client!r} cannot be imported by another process: define it at the top level of a module, "
            "or run it with how='threads' or how='asyncio'"
        )
    return [module, inspect.getsourcefile(client) or "", name]


def _found(module, file, name):
    """Imports the client that `_place` has named."""
    loaded = None
    if module != "__main__":
        with contextlib.suppress(ImportError):
            loaded = importlib.import_module(module)
    if loaded is None or os.path.realpath(getattr(loaded, "__file__", None) or "") != os.path.realpath(file):
        spec = importlib.util.spec_from_file_location("lostlock_client", file)
        loaded = importlib.util.module_from_spec(spec)
        sys.path.insert(0, os.path.dirname(file))
        spec.loader.exec_module(loaded)
    for part in name.split("."):
        loaded = getattr(loaded, part)
    return loaded


def run():
    """The program that the fixture starts: it plays the client that its arguments name."""
    lostlock.play(_found(*sys.argv[1:4]))


def _attach(url, client, how, clients, side_by_side):
    """Plays the clients in threads of this process, or as tasks of one event loop, until the engine ends."""
    play = lostlock.play_in_threads if how == "threads" else lostlock.play_in_loop
    count = (clients + 1) * side_by_side
    threading.Thread(target=_quietly, args=(play, client, url, count), daemon=True).start()


def _quietly(play, *words):
    # The engine ends when it is done, and the connection with it.
    with contextlib.suppress(lostlock.LostlockError, OSError):
        play(*words)
