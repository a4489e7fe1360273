"""pytest fixtures that start lostlock: a server for each test, one for the whole run, and a pair whose primary a test can crash."""

import os
import re
import shlex
import socket
import subprocess
import tempfile
import threading

import pytest

_READY = re.compile(r"(Lab ready|Node \S+ ready|Ready to accept connections) tcp (\d+)")


class LostlockError(Exception):
    """The server did not start, or answered with an error."""


class Resp:
    """A connection that sends commands and reads replies, for tests that use no Redis client. Threads may share it."""

    def __init__(self, host, port):
        self._turn = threading.Lock()
        self._socket = socket.create_connection((host, port), timeout=30)
        self._input = self._socket.makefile("rb")

    def command(self, *words):
        """Sends one command and returns its reply. Raises LostlockError for an error reply."""
        parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        head = b"*%d\r\n" % len(parts)
        request = head + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        with self._turn:
            self._socket.sendall(request)
            reply = self._read()
        if isinstance(reply, LostlockError):
            raise reply
        return reply

    def close(self):
        """Closes the connection."""
        self._input.close()
        self._socket.close()

    def _read(self):
        line = self._input.readline()
        if not line.endswith(b"\r\n"):
            raise LostlockError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode()
        if kind == b"-":
            return LostlockError(rest)
        if kind == b":":
            return int(rest)
        if kind == b"$":
            if rest == "-1":
                return None
            return self._input.read(int(rest) + 2)[:-2].decode(errors="replace")
        if kind == b"*":
            return None if rest == "-1" else [self._read() for _ in range(int(rest))]
        if kind == b"%":
            return {self._read(): self._read() for _ in range(int(rest))}
        if kind == b"_":
            return None
        return rest


class Server:
    """A running lostlock: `url`, `host` and `port` are the address for clients."""

    def __init__(self, process, ports):
        self._process = process
        self._ports = ports
        # A server whose pipe is full would wait, so its log is read to the end.
        self._log = threading.Thread(target=self._drain, name="lostlock's log", daemon=True)
        self._log.start()
        self.host = "127.0.0.1"
        self.port = ports["Ready to accept connections"]
        self.url = f"redis://{self.host}:{self.port}"

    def _drain(self):
        for _ in self._process.stdout:
            pass

    def connect(self):
        """Opens a plain connection, for tests that use no Redis client."""
        return Resp(self.host, self.port)

    def stop(self):
        """Stops the server. Standard input ends, and the server with it, also when the tests are killed."""
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._log.join(timeout=30)
        self._process.stdout.close()


class Pair(Server):
    """A primary with replicas. `url` leads to the primary, also after a failover."""

    def __init__(self, process, ports):
        super().__init__(process, ports)
        self._lab = Resp(self.host, ports["Lab ready"])
        self._lab.command("HELLO", 3)
        self._held = []

    def lab(self, *words):
        """Sends a LAB command, such as lab("CRASH", "redis-1"), and returns its reply."""
        return self._lab.command("LAB", *words)

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

    def stop(self):
        self._lab.close()
        super().stop()


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
                return (Pair if "--lab" in flags else Server)(process, ports)
        process.stdin.close()
        status = process.wait(timeout=30)
        errors.seek(0)
        raise LostlockError(f"{' '.join(command)} ended with status {status}: {errors.read().strip()}")


def pytest_addoption(parser):
    """Adds the setting `lostlock_command`."""
    parser.addini("lostlock_command", "the command that starts lostlock", default="npx --no -- lostlock")


@pytest.fixture(scope="session")
def lostlock_command(pytestconfig):
    """The words that start lostlock: from the environment's LOSTLOCK, or the setting lostlock_command."""
    return shlex.split(os.environ.get("LOSTLOCK") or pytestconfig.getini("lostlock_command"))


@pytest.fixture
def lostlock(lostlock_command, request):
    """A server for this test. The marker `lostlock("--requirepass", "secret")` adds flags."""
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


def pytest_configure(config):
    """Declares the marker."""
    config.addinivalue_line("markers", "lostlock(*flags): flags for the server of this test")


def _flags(request):
    marker = request.node.get_closest_marker("lostlock")
    return [str(flag) for flag in marker.args] if marker else []
