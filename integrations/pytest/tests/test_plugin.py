"""The fixtures start the packaged server, pass flags, lose a lock, and leave no process behind."""

import shlex
import socket
import sys

import pytest

pytest_plugins = ["pytester"]


@pytest.mark.parametrize("turn", [1, 2])
def test_every_test_has_a_server_of_its_own(lostlock, turn):
    redis = lostlock.connect()
    assert redis.command("SET", "my:lock", turn, "PX", 30_000, "NX") == "OK"
    assert redis.command("SET", "my:lock", "B", "PX", 30_000, "NX") is None
    redis.close()
    assert lostlock.url == f"redis://127.0.0.1:{lostlock.port}"


@pytest.mark.parametrize("expected", [1, 2])
def test_the_server_of_the_run_keeps_its_data(lostlock_session, expected):
    redis = lostlock_session.connect()
    assert redis.command("INCR", "tests") == expected
    redis.close()


def test_the_server_is_gone_after_its_test(lostlock_command):
    from pytest_lostlock import start

    server = start(lostlock_command)
    server.stop()
    with pytest.raises(OSError):
        socket.create_connection((server.host, server.port), timeout=5)


@pytest.mark.lostlock("--requirepass", "secret")
def test_a_marker_adds_flags(lostlock):
    from pytest_lostlock import LostlockError

    redis = lostlock.connect()
    with pytest.raises(LostlockError, match="NOAUTH"):
        redis.command("GET", "k")
    assert redis.command("AUTH", "secret") == "OK"
    redis.close()


def test_a_lock_is_lost_in_a_failover(lostlock_pair):
    lostlock_pair.hold()
    first = lostlock_pair.connect()
    assert first.command("SET", "my:lock", "A", "PX", 30_000, "NX") == "OK"
    first.close()
    [lost] = lostlock_pair.failover()
    assert (lost["key"], lost["holder"]) == ("my:lock", "A")
    second = lostlock_pair.connect()
    assert second.command("SET", "my:lock", "B", "PX", 30_000, "NX") == "OK"
    second.close()


@pytest.mark.lostlock("--replicas", "2")
def test_a_hold_stops_every_replica_and_a_failover_returns_its_own_losses_only(lostlock_pair):
    for holder in ["A", "B"]:
        lostlock_pair.hold()
        redis = lostlock_pair.connect()
        assert redis.command("SET", f"lock:{holder}", holder) == "OK"
        redis.close()
        assert [lost["holder"] for lost in lostlock_pair.failover()] == [holder]
        lostlock_pair.release()
        for node in lostlock_pair.lab("NODES"):
            if node["state"] == "down":
                lostlock_pair.lab("RESTART", node["name"])
    assert len(lostlock_pair.lab("LOST")) == 2


def test_several_threads_may_use_the_lab_of_a_pair(lostlock_pair):
    from concurrent.futures import ThreadPoolExecutor

    def ask(turn):
        return lostlock_pair.lab("CLOCK", "redis-1") if turn % 2 else lostlock_pair.lab("ACTOR", f"client-{turn % 8}")

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(400)))
    assert {type(reply) for reply in replies[1::2]} == {int}
    assert {type(reply) for reply in replies[::2]} == {str}


def test_a_long_log_does_not_stop_the_server(lostlock):
    redis = lostlock.connect()
    for _ in range(200):
        redis.command("EVAL", f"redis.log(redis.LOG_WARNING, '{'x' * 1000}')", 0)
    assert redis.command("PING") == "PONG"
    redis.close()


def test_a_command_that_does_not_start_is_an_error_with_its_reason():
    from pytest_lostlock import LostlockError, start

    failing = [sys.executable, "-c", "import sys; sys.exit('no such program here')"]
    with pytest.raises(LostlockError, match="status 1: no such program here"):
        start(failing)


def test_the_setting_names_the_command(pytester, monkeypatch, lostlock_command):
    monkeypatch.delenv("LOSTLOCK", raising=False)
    pytester.makeini(f"[pytest]\nlostlock_command = {shlex.join(lostlock_command)}\n")
    pytester.makepyfile("def test_it(lostlock):\n    assert lostlock.connect().command('PING') == 'PONG'\n")
    pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
