"""What tests do over the wire: rules, requests, data and time at any server; visits and a new lab at a pair."""

import pytest
from pytest_lostlock import LostlockError


def test_a_rule_breaks_the_connection_after_the_first_set(lostlock):
    rule = lostlock.intercept("DISCONNECT-AFTER", command="set", key="my:*", nth=1)
    redis = lostlock.connect()
    with pytest.raises((LostlockError, OSError)):
        redis.command("SET", "my:lock", "A", "NX")
    redis.close()
    again = lostlock.connect()
    assert again.command("GET", "my:lock") == "A"
    assert [(each["id"], each["hits"]) for each in lostlock.rules()] == [(rule, 1)]
    lostlock.remove(rule)
    assert lostlock.rules() == []
    again.close()


def test_time_passes_and_data_comes_and_goes(lostlock):
    lostlock.seed({"stock": "5", "tags": ["a", "b"]})
    redis = lostlock.connect()
    lostlock.requests()
    assert redis.command("SET", "my:lock", "A", "PX", 30_000, "NX") == "OK"
    lostlock.advance(30_000)
    assert redis.command("GET", "my:lock") is None
    assert [each["command"] for each in lostlock.requests(key="my:*")][-1] == ["get", "my:lock"]
    assert [(each["key"], each["value"]) for each in lostlock.dump()] == [("stock", "5"), ("tags", ["a", "b"])]
    redis.close()


@pytest.mark.lostlock("--requirepass", "sec ret")
def test_a_pair_knows_who_is_inside_and_begins_anew(lostlock_pair):
    lostlock_pair.seed({"stock": "5"})
    lostlock_pair.enter("A", "my:lock", fence=1)
    lostlock_pair.enter("B", "my:lock")
    [overlap] = lostlock_pair.overlaps()
    assert (overlap["clients"], overlap["inside"]) == (["A", "B"], 1)
    lostlock_pair.leave("A", "my:lock")
    lostlock_pair.note("the end")
    assert [each["client"] for each in lostlock_pair.holders("my:lock")] == ["B"]
    assert "the end" in lostlock_pair.story()[-1]
    assert lostlock_pair.actor("A").startswith("redis://:sec%20ret@")
    url = lostlock_pair.url
    lostlock_pair.new()
    assert (lostlock_pair.url, lostlock_pair.dump(), lostlock_pair.overlaps()) == (url, [], [])
