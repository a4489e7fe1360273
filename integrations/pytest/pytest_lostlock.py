"""pytest fixtures that start lostlock: a server, a lab whose primary a test can crash, and explorations of your code with a lock."""

import json
import os
import re
import shlex
import subprocess
import tempfile
import threading
from urllib.parse import quote

import pytest

from lostlock import LostlockError, Resp, engine_command
from lostlock_explore import Explorations

_READY = re.compile(r"(Lab ready|Node \S+ ready|Ready to accept connections) tcp (\d+)")


class Server:
    """A running lostlock: `url`, `host` and `port` are the address for clients."""

    def __init__(self, process, ports, password=None):
        self._process = process
        self._ports = ports
        self._password = password
        self._control = None
        self._turn = threading.Lock()
        # A server whose pipe is full would wait, so its log is read to the end.
        self._log = threading.Thread(target=self._drain, name="lostlock's log", daemon=True)
        self._log.start()
        self.host = "127.0.0.1"
        self.port = ports["Ready to accept connections"]
        login = f":{quote(password, safe='')}@" if password else ""
        self.url = f"redis://{login}{self.host}:{self.port}"

    def _drain(self):
        for _ in self._process.stdout:
            pass

    def connect(self):
        """Opens a plain connection, for tests that use no Redis client."""
        return Resp(self.host, self.port)

    def lab(self, *words):
        """Sends a LAB command, such as lab("ADVANCE", 30000), and returns its reply; records are dictionaries."""
        with self._turn:
            if self._control is None:
                control = Resp(self.host, self._ports.get("Lab ready", self.port))
                control.command("HELLO", 3, *(("AUTH", "default", self._password) if self._password else ()))
                self._control = control
        return self._control.command("LAB", *words)

    def intercept(self, act, *value, client=None, node=None, command=None, key=None, argument=None, nth=None):
        """Adds a rule for requests, and returns its id: intercept("DISCONNECT-AFTER", command="set", key="my:*", nth=1). The acts
        are DISCONNECT, DISCONNECT-AFTER, REPLY-LOST, and with a value ERROR, REPLY and DELAY (milliseconds)."""
        return self.lab("INTERCEPT", "ADD", *_filters(client, node, command, key, argument), *_pair("NTH", nth), act, *value)

    def rules(self):
        """The rules, as dictionaries with id, rule, matches and hits."""
        return self.lab("INTERCEPT", "LIST")

    def remove(self, *ids):
        """Removes rules by their ids."""
        self.lab("INTERCEPT", "REMOVE", *ids)

    def requests(self, client=None, node=None, command=None, key=None, argument=None):
        """The requests of clients, as dictionaries with at, node, client, connection, command and reply. A server that is no pair
        records them from the first call on."""
        return self.lab("REQUESTS", *_filters(client, node, command, key, argument))

    def seed(self, data):
        """Stores keys in one step: a dictionary of keys and values, or what `dump` returned."""
        self.lab("SEED", json.dumps(data))

    def dump(self):
        """Every key, as dictionaries with db, key, type, value and, if the key expires, expiresAt."""
        return json.loads(self.lab("DUMP"))

    def advance(self, ms):
        """Lets time pass at once on the server, in milliseconds. The test's own timers are not moved."""
        self.lab("ADVANCE", ms)

    def stop(self):
        """Stops the server. Standard input ends, and the server with it, also when the tests are killed."""
        if self._control is not None:
            self._control.close()
        self._process.stdin.close()
        try:
            self._process.wait(timeout=30)
        finally:
            self._process.kill()
        self._log.join(timeout=30)
        self._process.stdout.close()


class Pair(Server):
    """A primary with replicas. `url` leads to the primary, also after a failover."""

    def __init__(self, process, ports, password=None):
        super().__init__(process, ports, password)
        self._held = []

    def hold(self):
        """Stops replication: no replica receives anything until `release`."""
        self.lab("SYNC")
        nodes = self.lab("NODES")
        [primary] = [node["name"] for node in nodes if node["role"] == "primary"]
        self._held = [(primary, node["name"]) for node in nodes if node["role"] == "replica"]
        for stream in self._held:
            self.lab("HOLD", *stream)

    def release(self):
        """Delivers what was held."""
        for stream in self._held:
            self.lab("RELEASE", *stream)
        self._held = []

    def failover(self, crash=True):
        """Promotes a replica. Returns the acknowledged writes that this failover has lost, as dictionaries with key, holder
        and client. `lab("LOST")` lists those of all failovers."""
        return self.lab("FAILOVER", *(["CRASH"] if crash else []))["lost"]

    def actor(self, name):
        """A URL for one client, whose links, requests and lost writes have its name."""
        return self.lab("ACTOR", name)

    def holders(self, key):
        """The clients that hold a lock now, or believe so, or are inside, as dictionaries with client, believes, granted, inside and
        so on."""
        return self.lab("HOLDERS", key)

    def overlaps(self):
        """The times in which two clients believed that they held one lock, or were inside one resource, as dictionaries with lock,
        clients, from, to and inside. Empty when no lock was lost."""
        return self.lab("OVERLAPS")

    def enter(self, client, resource, fence=None, shared=False):
        """Says that a client is inside a resource from now on."""
        self.lab("ENTER", client, resource, *_pair("FENCE", fence), *(["SHARED"] if shared else []))

    def leave(self, client, resource):
        """Says that a client has left a resource."""
        self.lab("LEAVE", client, resource)

    def note(self, text, client=None):
        """Adds a sentence to the story."""
        self.lab("NOTE", *([] if client is None else [client]), text)

    def story(self):
        """What happened so far, as sentences."""
        return self.lab("TRACE", "STORY")

    def new(self):
        """Starts the nodes anew, as at the beginning and at the same URL, for the next test."""
        self.lab("NEW")
        self._held = []


def _pair(word, value):
    return [] if value is None else [word, value]


def _filters(client, node, command, key, argument):
    words = {"FROM": client, "ON": node, "COMMAND": command, "KEY": key, "ARGUMENT": argument}
    return [word for name, value in words.items() for word in _pair(name, value)]


def _password(flags):
    found = [flags[i + 1] for i, flag in enumerate(flags[:-1]) if flag == "--requirepass"]
    return found[-1] if found else None


def start(command, *flags):
    """Starts `command` (a list of words) with flags. Returns a Server, or a Pair when --lab is among the flags."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, "--port", "0", "--exit-with-parent", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        ports = {}
        for line in process.stdout:
            ready = _READY.search(line)
            if ready:
                ports[ready[1]] = int(ready[2])
            if "Ready to accept connections" in ports:
                return (Pair if "--lab" in flags else Server)(process, ports, _password(flags))
        process.stdin.close()
        status = process.wait(timeout=30)
        errors.seek(0)
        raise LostlockError(f"{' '.join(command)} ended with status {status}: {errors.read().strip()}")


def pytest_addoption(parser):
    """Adds the setting `lostlock_command`."""
    parser.addini("lostlock_command", "the command that starts lostlock, in place of the engine in the package", default="")
    parser.addini("lostlock_seconds", "how long an exploration plays, in seconds", default="20")


@pytest.fixture(scope="session")
def lostlock_command(pytestconfig):
    """The words that start lostlock: from the environment's LOSTLOCK, or the setting lostlock_command."""
    return shlex.split(os.environ.get("LOSTLOCK") or pytestconfig.getini("lostlock_command")) or engine_command()


@pytest.fixture
def lostlock(lostlock_command, request):
    """An empty server for this test. The marker `lostlock("--requirepass", "secret")` adds flags."""
    server = start(lostlock_command, *_flags(request))
    yield server
    server.stop()


@pytest.fixture(scope="session")
def lostlock_session(lostlock_command):
    """One server for the whole run, with its data."""
    server = start(lostlock_command)
    yield server
    server.stop()


@pytest.fixture
def lostlock_pair(lostlock_command, request):
    """A primary with a replica for this test. The marker `lostlock("--replicas", "2")` adds flags."""
    pair = start(lostlock_command, "--lab", *_flags(request))
    yield pair
    pair.stop()


@pytest.fixture
def lostlock_lab(lostlock_pair):
    """The same pair by another name."""
    return lostlock_pair


@pytest.fixture
def explore(lostlock_command, request):
    """Explores a client: `explore(client, clients=3)`. Fails the test with the story of what breaks. See lostlock_explore.py."""
    return Explorations(lostlock_command, request)


def pytest_configure(config):
    """Declares the marker."""
    config.addinivalue_line("markers", "lostlock(*flags): flags for the server of this test")


def _flags(request):
    marker = request.node.get_closest_marker("lostlock")
    return [str(flag) for flag in marker.args] if marker else []
