"""What Python clients and lock libraries hear: run beside redis-server and beside lostlock, it must print the same lines."""
import asyncio
import sys
import threading
import time

import pottery
import redis
import redis.asyncio
import redis.sentinel
import redis_lock

PORT = int(sys.argv[1])
SENTINELS = [int(port) for port in sys.argv[2].split(",")]


def tell(what, value):
    print(f"{what}: {value!r}")


def refusal(action):
    try:
        return action()
    except redis.exceptions.RedisError as error:
        return f"{type(error).__name__}: {error}"


def lock_of_the_client(client):
    lock = client.lock("lock", timeout=5, blocking_timeout=1)
    tell("acquire", (lock.acquire(), lock.owned(), lock.locked()))
    tell("another", client.lock("lock", timeout=5, blocking_timeout=0.05).acquire())
    tell("extend", (lock.extend(5), lock.reacquire()))
    tell("release", lock.release())
    tell("release twice", refusal(lock.release))


def transactions(client):
    with client.pipeline(transaction=True) as pipe:
        pipe.watch("watched")
        pipe.multi()
        pipe.set("watched", 1)
        pipe.incr("watched")
        tell("exec", pipe.execute())
    with client.pipeline(transaction=True) as pipe:
        pipe.watch("watched")
        client.set("watched", 9)
        pipe.multi()
        pipe.get("watched")
        tell("exec of what changed", refusal(pipe.execute))
    with client.pipeline(transaction=False) as pipe:
        for number in range(1000):
            pipe.set(f"key:{number}", number)
        tell("pipeline", len(pipe.execute()))
    tell("scan", sorted(client.scan_iter("key:99*")))


def messages(client):
    with client.pubsub() as pubsub:
        pubsub.subscribe("news")
        pubsub.psubscribe("n*")
        told = [pubsub.get_message(timeout=2) for _ in range(2)]
        tell("publish", client.publish("news", "hello"))
        tell("messages", told + [pubsub.get_message(timeout=2) for _ in range(2)])


def scripts(client):
    script = client.register_script("return {KEYS[1], ARGV[1], redis.call('incr', KEYS[1]), 1.5}")
    client.script_flush()
    tell("script", script(keys=["counted"], args=["argument"]))
    name = f"library{client.get_connection_kwargs()['protocol']}"
    tell("load", client.function_load(f"#!lua name={name}\nredis.register_function('{name}', function(k, a) return a[1] end)"))
    tell("fcall", client.fcall(name, 0, "argument"))
    tell("error", refusal(lambda: client.eval("return redis.call('lpush', KEYS[1], 1)", 1, "watched")))


def data(client):
    tell("set", (client.set("s", "1", nx=True, px=60_000, get=True), client.getex("s", ex=10), client.getdel("s")))
    tell("hash", (client.hset("h", mapping={"a": "1", "b": "2"}), client.hgetall("h")))
    tell("zset", (client.zadd("z", {"a": 1.5, "b": 2}), client.zrange("z", 0, -1, withscores=True), client.zpopmin("z")))
    tell("stream", (client.xadd("x", {"a": 1}, id="1-1"), client.xrange("x"), client.xread({"x": "0"}, count=1)))
    tell("group", (client.xgroup_create("x", "g", "0"), client.xreadgroup("g", "c", {"x": ">"}), client.xpending("x", "g")))
    tell("geo", (client.geoadd("geo", (13.361389, 38.115556, "Palermo")), client.geopos("geo", "Palermo")))
    tell("bits", client.bitfield("bits").set("u8", 0, 255).get("u8", 0).execute())
    tell("blocked", client.blpop(["nothing"], timeout=0.05))
    tell("object", (client.memory_usage("h"), client.object("encoding", "h"), client.acl_whoami()))


def contend():
    """Eight threads on one lock: how many had it, and how often two had it at once."""
    client = redis.Redis(port=PORT)
    turns, inside, overlaps = [], [], []

    def work():
        for _ in range(25):
            with client.lock("contended", timeout=30, sleep=0.001):
                inside.append(1)
                if len(inside) > 1:
                    overlaps.append(1)
                turns.append(1)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell("contended", (len(turns), len(overlaps)))


async def asynchronously():
    client = redis.asyncio.Redis(port=PORT, protocol=3)
    async with client.lock("async", timeout=30):
        tell("async lock", await client.get("async") is not None)
    await client.aclose()


def eventually(what, action):
    """The first answer that is neither an error nor false: a failover takes its time."""
    for _ in range(1200):
        try:
            answer = action()
            if answer:
                return answer
        except redis.exceptions.RedisError:
            pass
        time.sleep(0.1)
    print(f"never: {what}")
    return None


def behind_sentinels():
    """A lock in hand while the Sentinels replace the primary."""
    sentinel = redis.sentinel.Sentinel([("127.0.0.1", port) for port in SENTINELS], socket_timeout=5)
    client = sentinel.master_for("mymaster", socket_timeout=5, decode_responses=True)
    lock = client.lock("behind", timeout=600)
    tell("lock behind Sentinels", lock.acquire(blocking=False))
    tell("copies", client.wait(2, 30_000))
    tell("replicas", len(sentinel.discover_slaves("mymaster")))
    before = sentinel.discover_master("mymaster")
    sentinels = [redis.Redis(port=port) for port in SENTINELS]

    def failed_over():
        named = {one.sentinel_get_master_addr_by_name("mymaster") for one in sentinels}
        if sentinels[0].sentinel_get_master_addr_by_name("mymaster") == before:
            # Refused while it goes on, and begun anew if it was given up.
            sentinels[0].sentinel_failover("mymaster")
        # A Sentinel that names the old primary still would send the client back to it.
        return len(named) == 1 and before not in named

    eventually("a failover", failed_over)
    eventually("the client to follow", lambda: client.info("server")["tcp_port"] == sentinel.discover_master("mymaster")[1])
    tell("still held", (lock.owned(), client.set("behind", "x", nx=True)))
    tell("release", lock.release())


for protocol in (2, 3):
    redis_client = redis.Redis(port=PORT, protocol=protocol, decode_responses=True)
    redis_client.flushall()
    for part in (lock_of_the_client, transactions, messages, scripts, data):
        part(redis_client)
contend()
asyncio.run(asynchronously())
with redis_lock.Lock(redis.Redis(port=PORT), "renewed", expire=10, auto_renewal=True) as renewed:
    tell("python-redis-lock", renewed.locked())
with pottery.Redlock(key="printer", masters={redis.Redis(port=PORT)}, auto_release_time=10) as redlock:
    tell("pottery's Redlock", redlock.locked() > 0)
behind_sentinels()
