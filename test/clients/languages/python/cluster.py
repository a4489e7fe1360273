"""redis-py on a cluster: it holds a lock while the primary of the lock's slot dies, and releases it on the promoted replica."""
import sys
import time

from redis.cluster import ClusterNode, RedisCluster
from redis.exceptions import RedisError

PORTS = [int(port) for port in sys.argv[1].split(",")]


def connect():
    return RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", port) for port in PORTS], decode_responses=True)


def eventually(what, action):
    """The first answer that is no error: the client may still know the dead primary."""
    for _ in range(1200):
        try:
            return action()
        except RedisError:
            time.sleep(0.1)
    print(f"never: {what}")
    return None


client = connect()
lock = client.lock("redis-py", timeout=600)
print("acquired:", lock.acquire(blocking=False))
print("held redis-py", flush=True)
sys.stdin.readline()
print("still held:", eventually("the client to follow", lock.owned))
second = connect()
print("refused:", second.lock("redis-py", timeout=600).acquire(blocking=False), second.set("redis-py", "x", nx=True))
lock.release()
print("released:", client.exists("redis-py"))
print("taken again:", second.lock("redis-py", timeout=600).acquire(blocking=False))
