"""A program of the tests: a lock of two commands, without any library. Its first argument says what is wrong with it."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), *[".."] * 3, "integrations", "pytest"))
import lostlock  # noqa: E402

KIND = sys.argv[1]
RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
worlds = 0


def count(world, redis):
    """Counts without a lock."""
    operation = world.invoke("update") if KIND == "updates" else world.invoke("add", 1)
    read = int(redis.command("GET", "counter") or 0)
    redis.command("SET", "counter", read + 1)
    operation.ok({"read": read, "wrote": read + 1} if KIND == "updates" else read + 1)
    redis.close()


def do_once(world, redis):
    """Does a job, unless its mark says that somebody has it or has done it."""
    if redis.command("SET", "job", world.client, "NX", "EX", 600) == "OK":
        with world.enter("job", once=True) as job:
            job.write()
    redis.close()


def client(world):
    global worlds
    worlds += 1
    if KIND == "raises":
        raise ValueError("this program never takes its lock")
    redis = lostlock.Resp.from_url(world.url)
    if KIND in ("adds", "updates"):
        return count(world, redis)
    if KIND == "once":
        return do_once(world, redis)
    print(f"{world.client} begins in process {os.getpid()}", flush=True)
    mine = f"{world.client}{time.time()}"
    end = time.monotonic() + 3
    lease = 60_000 if KIND == "long" else world.lease_ms
    while redis.command("SET", "stock:lock", mine, "PX", lease, "NX") != "OK":
        if time.monotonic() > end:
            raise TimeoutError("no lock")
        time.sleep(0.02)
    # Only a program that lives on from world to world forgets its fence.
    fenced = KIND == "fenced" or (KIND == "remembers" and worlds == 1)
    fence = redis.command("INCR", "stock:fence") if fenced else None
    with world.enter("stock", fence=fence) as stock:
        world.sleep(0.05)
        stock.write()
    if KIND == "dels":
        redis.command("DEL", "stock:lock")
    else:
        redis.command("EVAL", RELEASE, 1, "stock:lock", mine)
    redis.close()


if KIND == "starts-others":
    subprocess.Popen(["sleep", "1000"])
if KIND == "ends":
    sys.exit("this program ends at once")
lostlock.play(client, threads=4 if KIND == "threads" else 1)
