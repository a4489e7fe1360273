"""Ten failures of public reports in Python, and for each a twin without the flaw: `reported.py NAME flawed|sound`.

reported.ts says where each was reported, which faults its example names, and which promises it keeps under them.
"""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "integrations", "pytest"))
import lostlock  # noqa: E402

NAME, FLAWED = sys.argv[1], sys.argv[2] == "flawed"
LOCK = "stock:lock"
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"


class Redis:
    """A small client that connects again after an error, and sends a command again as often as it is told to."""

    def __init__(self, url, retries=0):
        self._url = url
        self._retries = retries
        self._line = None

    def __call__(self, *words):
        for trial in range(self._retries + 1):
            try:
                if self._line is None:
                    self._line = lostlock.Resp.from_url(self._url)
                return self._line.command(*words)
            except (OSError, lostlock.LostlockError) as error:
                if "gone" not in str(error) and "closed" not in str(error) and not isinstance(error, OSError):
                    raise
                self._line = None
                if trial == self._retries:
                    raise ConnectionError(str(error)) from error
                time.sleep(0.02)

    def close(self):
        if self._line is not None:
            self._line.close()


def wait_for(attempt, seconds=3):
    """Tries until it succeeds."""
    end = time.monotonic() + seconds
    while not attempt():
        if time.monotonic() > end:
            raise TimeoutError("no lock")
        time.sleep(0.02)


def work(world, **how):
    with world.enter("stock", **how) as stock:
        world.sleep(0.06)
        stock.write()


def take(redis, world, mine):
    wait_for(lambda: redis("SET", LOCK, mine, "PX", world.lease_ms, "NX") == "OK")


def mine_of(world):
    return f"{world.client}-{time.time_ns()}"


def release_by_del(world, redis):
    """The holder deletes the key, even if another client has it by now."""
    mine = mine_of(world)
    take(redis, world, mine)
    work(world)
    if FLAWED:
        redis("DEL", LOCK)
    else:
        redis("EVAL", RELEASE, 1, LOCK, mine)


def setnx_then_expire(world, redis):
    """A client that dies between the two commands leaves a lock without a lease."""
    mine = mine_of(world)
    if FLAWED:
        wait_for(lambda: redis("SETNX", LOCK, mine) == 1)
        redis("PEXPIRE", LOCK, world.lease_ms)
    else:
        take(redis, world, mine)
    work(world)
    redis("EVAL", RELEASE, 1, LOCK, mine)


def get_then_del(world, redis):
    """Between GET and DEL the lease may end, and another client takes the lock."""
    mine = mine_of(world)
    take(redis, world, mine)
    work(world)
    if FLAWED:
        if redis("GET", LOCK) == mine:
            redis("DEL", LOCK)
    else:
        redis("EVAL", RELEASE, 1, LOCK, mine)


def swallowed_error(world, redis):
    """An error of the server while the lock is taken is logged, and the job runs."""
    mine = mine_of(world)
    try:
        take(redis, world, mine)
    except lostlock.LostlockError as error:
        print(f"could not take the lock: {error}")
        if not FLAWED:
            return
    work(world)
    try:
        redis("EVAL", RELEASE, 1, LOCK, mine)
    except lostlock.LostlockError:
        pass


def candidate_clears_lease(world, redis):
    """A client that refreshes its lock with GETSET takes the lease away, and sets it again by a second command."""
    mine = mine_of(world)
    take(redis, world, mine)
    if FLAWED:
        redis("GETSET", LOCK, mine)
        redis("PEXPIRE", LOCK, world.lease_ms)
    else:
        redis("SET", LOCK, mine, "XX", "PX", world.lease_ms)
    work(world)
    redis("EVAL", RELEASE, 1, LOCK, mine)


def permit_returned_twice(world, redis):
    """A semaphore of two tokens in a list. A client that hears no reply gives its token back a second time."""
    redis("EVAL", "if redis.call('setnx', KEYS[1], '1') == 1 then redis.call('rpush', KEYS[2], 'a', 'b') end", 2, "made", "tokens")
    for _ in range(2):
        found = []

        def attempt():
            token = redis("LPOP", "tokens")
            if token:
                found.append(token)
            return token

        wait_for(attempt)
        work(world, permits=2)
        returning = Redis(world.url, retries=3 if FLAWED else 0)
        try:
            returning("RPUSH", "tokens", found[0])
        finally:
            returning.close()


def script_not_loaded_again(world, redis):
    """The script is loaded once. When the server has forgotten it, the client takes the error for a lock that is taken."""
    script = "if redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end return 0"
    mine = mine_of(world)
    sha = redis("SCRIPT", "LOAD", script)

    def attempt():
        try:
            return redis("EVALSHA", sha, 1, LOCK, mine, world.lease_ms) == 1
        except lostlock.LostlockError as error:
            if not FLAWED and "NOSCRIPT" in str(error):
                return redis("EVAL", script, 1, LOCK, mine, world.lease_ms) == 1
            return False

    for _ in range(2):
        wait_for(attempt, 60)
        work(world)
        redis("EVAL", RELEASE, 1, LOCK, mine)


def tick_runs_twice(world, redis):
    """The lock of a tick is given back when the job is done, and the next process does the same tick again."""
    if redis("SET", "tick:1", mine_of(world), "NX", "PX", world.lease_ms if FLAWED else 60_000) != "OK":
        return
    with world.enter("tick 1", once=True) as tick:
        world.sleep(0.06)
        tick.write()


def reaper(world, redis):
    """One process deletes locks that look old to it, although their holders are at work."""
    mine = mine_of(world)
    if world.client == "C":
        for _ in range(10):
            world.sleep(0.05)
            left = redis("PTTL", LOCK)
            if FLAWED and 0 < left < world.lease_ms * 2 / 3:
                redis("DEL", LOCK)
        return
    take(redis, world, mine)
    work(world)
    redis("EVAL", RELEASE, 1, LOCK, mine)


def failover_loses_lock(world, redis):
    """The lock is on the primary alone when that fails. The twin waits until the replica has it."""
    mine = mine_of(world)
    take(redis, world, mine)
    if not FLAWED and redis("WAIT", 1, 100) < 1:
        redis("EVAL", RELEASE, 1, LOCK, mine)
        raise TimeoutError("no replica has the lock")
    work(world)
    redis("EVAL", RELEASE, 1, LOCK, mine)


def client(world):
    redis = Redis(world.url)
    try:
        globals()[NAME](world, redis)
    finally:
        redis.close()


lostlock.play(client)
