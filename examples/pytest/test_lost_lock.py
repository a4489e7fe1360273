"""A lock that is lost in a failover, on demand. Needs Node.js, and `pip install -r requirements.txt`."""

import os
import re
import subprocess

import pytest
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry


@pytest.fixture
def ports():
    """Starts a primary with a replica: the port that leads to the primary, and the one that answers LAB."""
    command = os.environ.get("LOSTLOCK", "npx --no -- lostlock").split()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen([*command, "--lab", "--port", "0", "--exit-with-parent"], text=True, **pipes)
    found = {}
    for line in process.stdout:
        ready = re.search(r"(Lab ready|Ready to accept connections) tcp (\d+)", line)
        if ready:
            found[ready[1]] = int(ready[2])
        if "Ready to accept connections" in line:
            break
    yield found["Ready to accept connections"], found["Lab ready"]
    process.stdin.close()
    process.wait()


def test_two_clients_hold_one_lock(ports):
    lab = Redis(port=ports[1], protocol=3, decode_responses=True)
    client = Redis(port=ports[0], retry=Retry(ConstantBackoff(0.05), 100))
    lab.execute_command("LAB", "SYNC")
    lab.execute_command("LAB", "HOLD", "redis-1", "redis-2")  # The replica receives nothing from now on.
    assert client.set("lock", "A", nx=True, px=30_000)
    lab.execute_command("LAB", "FAILOVER", "CRASH")
    assert client.set("lock", "B", nx=True, px=30_000)  # A still believes that it holds the lock.
    [lost] = lab.execute_command("LAB", "LOST")
    assert (lost["key"], lost["holder"]) == ("lock", "A")
