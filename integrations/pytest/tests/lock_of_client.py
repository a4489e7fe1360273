"""A program of versions.py: the lock of redis-py or valkey-py, whichever its argument names."""

import importlib
import sys

import lostlock

module = importlib.import_module(sys.argv[1])
connect = module.Valkey.from_url if sys.argv[1] == "valkey" else module.Redis.from_url


def client(world):
    r = connect(world.url)
    with r.lock("stock:lock", timeout=world.lease, sleep=0.02):
        with world.enter("stock") as stock:
            world.sleep(0.05)
            stock.write()
    r.close()


lostlock.play(client)
