"""The fixture `explore`: what it finds, how clients run, and what it says when it cannot run them."""

import asyncio
import os
import sys
import time

import pytest

import lostlock

pytest_plugins = ["pytester"]

#: A lock of two commands with `lostlock.Resp`, so that these tests need no Redis client. Its release deletes whatever is there.
CLIENT = '''
import time
import lostlock

def client(world):
    redis = lostlock.Resp.from_url(world.url)
    end = time.monotonic() + 5
    while redis.command("SET", "stock:lock", world.client, "PX", world.lease_ms, "NX") != "OK":
        if time.monotonic() > end:
            raise TimeoutError("no lock")
        time.sleep(0.02)
    print("printed by", world.client)
    with world.enter("stock") as stock:
        world.sleep(0.05)
        stock.write()
    redis.command("DEL", "stock:lock")
    redis.close()
'''


def test_a_lost_lock_fails_the_test_with_its_story(pytester):
    pytester.makepyfile(
        CLIENT
        + '''
def test_lock(explore):
    explore(client, clients=2, faults=["client-pause"], promises=["mutual-exclusion"], lease=1.5, worlds=24, seconds=60)
'''
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    for part in ("mutual-exclusion is broken (client-pause)", "is paused for", "repeats", "prevented by", "printed by A"):
        assert part in text


def test_promises_of_ones_own_get_the_history_of_a_world(explore):
    histories = []

    def client(world):
        with world.enter("stock") as stock:
            world.sleep(0.01)
            stock.write()

    def nobody_enters_after_a_reset(history):
        histories.append(history)
        if history["faults"]:
            return {"what": "a connection was reset", "clients": ["A"]}
        return None

    def nothing_is_divided(history):
        return len(history["visits"]) // len([visit for visit in history["visits"] if visit["client"] == "nobody"])

    def names_are_data(history):
        return {visit["client"] for visit in history["visits"]}

    report = explore(
        client, clients=2, how="threads", faults=["connection-reset"], promises=[nobody_enters_after_a_reset], lease=1.5,
        worlds=4, side_by_side=1, check=False,
    )
    assert [finding["promise"] for finding in report.findings] == ["nobody_enters_after_a_reset"]
    assert "a connection was reset" in report.text
    assert {"visits", "lives", "operations", "writes", "faults", "lines", "endedAt"} <= histories[0].keys()
    assert [visit["client"] for visit in histories[0]["visits"]] == ["A", "B"]
    report = explore(
        client, clients=1, how="threads", faults=["connection-reset"], lease=1.5, worlds=1, check=False,
        promises=["mutual-exclusion", nothing_is_divided, names_are_data],
    )
    assert "the promise nothing_is_divided throws Error: ZeroDivisionError" in report.text
    assert "the promise names_are_data throws Error: TypeError" in report.text
    with pytest.raises(lostlock.LostlockError, match="sideBySide"):
        explore(client, how="threads", side_by_side=0)
    with pytest.raises(lostlock.LostlockError, match="mutual-exklusion"):
        explore(client, how="threads", promises=["mutual-exklusion", nothing_is_divided])
    with pytest.raises(ValueError, match="has no name"):
        explore(client, promises=[lambda history: None])


def test_a_client_that_nobody_can_import_is_refused(explore):
    def client(world):
        pass

    with pytest.raises(ValueError, match="top level of a module.*how='threads'"):
        explore(client)
    with pytest.raises(ValueError, match="how='tasks'"):
        explore(client, how="tasks")


def test_clients_are_threads_of_this_process(explore):
    played = set()

    def client(world):
        played.add(world.client)
        redis = lostlock.Resp.from_url(world.url)
        fence = redis.command("INCR", "fence")
        with world.enter("stock", fence=fence) as stock:
            world.sleep(0.01)
            stock.write()
        redis.close()

    report = explore(
        client, clients=2, how="threads", faults=["connection-reset"], promises=["mutual-exclusion"], lease=1.5, worlds=3,
        side_by_side=1, check=False,
    )
    assert {"A", "B"} <= played
    assert report.worlds == 3
    assert "client-death" not in report.text


@pytest.mark.parametrize("how", ["threads", "asyncio"])
def test_a_world_in_which_this_process_stands_still_is_discarded(explore, how):
    played = []

    def stall(world):
        played.append(world.client)
        # Every second time: the world without faults must be good, and so must those that count.
        if world.client == "A" and played.count("A") % 2 == 0:
            # No other thread runs meanwhile.
            sum(range(3 * 10**7))

    def client(world):
        stall(world)
        with world.enter("stock", shared=True):
            world.sleep(0.01)

    async def task(world):
        stall(world)
        async with world.enter("stock", shared=True):
            await world.sleep(0.01)

    report = explore(
        client if how == "threads" else task, clients=1, how=how, faults=["restart-disk"], promises=["mutual-exclusion"], lease=1.5,
        worlds=2, side_by_side=1, check=False,
    )
    assert report.worlds == 2
    assert report.data["coverage"]["programs"]["discarded"] > 0


def test_clients_are_tasks_of_an_event_loop(explore):
    threads = set()

    async def client(world):
        threads.add(asyncio.get_running_loop())
        async with world.enter("stock", shared=True) as stock:
            await world.sleep(0.01)
            await stock.write()
        operation = await world.invoke("add", world.client)
        await operation.ok()

    report = explore(
        client, clients=2, how="asyncio", faults=["restart-disk"], promises=["mutual-exclusion"], lease=1.5, worlds=2,
        side_by_side=1, check=False,
    )
    assert report.worlds == 2
    assert len(threads) == 1


def test_what_the_client_raises_is_told(pytester):
    pytester.makepyfile(
        '''
def client(world):
    raise ValueError("no lock here")

def test_lock(explore):
    explore(client, clients=1)
'''
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    assert "no lock here" in result.stdout.str()


def test_it_ends_before_pytest_timeout(explore, monkeypatch):
    begun = time.monotonic()
    monkeypatch.setattr(explore, "_limit", lambda: begun + 25)
    report = explore(client_of_this_module, clients=1, faults=["restart-disk"], lease=1.5, seconds=600, check=False)
    assert time.monotonic() - begun < 25
    assert report.worlds > 0


def test_pytest_timeout_is_heard(pytester):
    pytest.importorskip("pytest_timeout")
    pytester.makepyfile(
        CLIENT
        + '''
import pytest

@pytest.mark.timeout(30)
def test_lock(explore):
    report = explore(client, clients=1, faults=["restart-disk"], lease=1.5, seconds=600, check=False)
    assert report.worlds > 0
'''
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_explorations_of_several_workers_take_turns(pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(
        """
import time
import pytest

@pytest.mark.parametrize("number", [0, 1])
def test_lock(explore, number):
    def client(world):
        with open("acts", "a") as acts:
            acts.write(f"{time.monotonic()} {number}\\n")
        with world.enter("stock", shared=True):
            world.sleep(0.3)

    explore(client, clients=1, how="threads", faults=["restart-disk"], lease=1.5, worlds=12, side_by_side=1, check=False)
"""
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider", "-n", "2").assert_outcomes(passed=2)
    acts = sorted(line.split() for line in (pytester.path / "acts").read_text().splitlines())
    order = [number for _, number in acts]
    turns = [number for i, number in enumerate(order) if i == 0 or order[i - 1] != number]
    assert len(order) > 24
    assert len(turns) == 2, order


def client_of_this_module(world):
    with world.enter("stock", shared=True) as stock:
        world.sleep(0.01)
        stock.write()


def test_the_engine_ends_with_the_tests(pytester, lostlock_command):
    if sys.platform != "linux":
        pytest.skip("reads /proc")
    pytester.makepyfile(
        CLIENT
        + '''
import os, signal, threading

def begins(world):
    open("begun", "w").close()
    client(world)

def die_when_clients_run():
    while not os.path.exists("begun"):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGKILL)

def test_lock(explore):
    threading.Thread(target=die_when_clients_run, daemon=True).start()
    explore(begins, clients=2, lease=1.5, seconds=60)
'''
    )
    pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert (pytester.path / "begun").exists()
    end = time.monotonic() + 20
    while processes_with(str(pytester.path)) and time.monotonic() < end:
        time.sleep(0.1)
    assert processes_with(str(pytester.path)) == []


def processes_with(text):
    """The ids of the processes whose arguments have this text."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/cmdline", "rb") as arguments:
                    if text.encode() in arguments.read():
                        found.append(int(name))
            except OSError:
                pass
    return found
