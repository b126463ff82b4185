"""Limits: requests of a key, wrong keys from an address."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.serving.service.limits import Buckets
from tenure.stores.in_memory import InMemoryStore
from tests.serving.service import services


@given(st.integers(1, 600), st.lists(st.floats(0, 5), max_size=200))
def test_a_bucket_never_grants_more_than_its_size_and_what_flowed_in(per_minute: int, waits: list[float]) -> None:
    now = 0.0
    buckets = Buckets(lambda: now)
    granted = 0
    for wait in waits:
        now += wait
        granted += buckets.take("k", per_minute).granted
    assert granted <= per_minute + now * per_minute / 60 + 1e-6


def test_a_key_has_its_limit_and_is_told_when_to_come_again() -> None:
    now = [0.0]
    with services.service(InMemoryStore(), rate=100, seconds=lambda: now[0]) as service:
        key = service.key("acme", "reader", rate=3)
        replies = [service("GET", "/v1/metrics", key=key) for _ in range(4)]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
        assert [reply.headers["ratelimit-remaining"] for reply in replies] == ["2", "1", "0", "0"]
        assert (replies[3].headers["retry-after"], replies[3].json()["type"].rpartition("/")[2]) == ("20", "rate")
        assert service("GET", "/v1/metrics", scope="acme").status_code == 200
        now[0] = 20.0
        assert service("GET", "/v1/metrics", key=key).status_code == 200


def test_wrong_keys_from_an_address_are_not_looked_up_for_ever_and_a_known_key_goes_on() -> None:
    with services.service(InMemoryStore(), failures=3, seconds=lambda: 0.0) as service:
        assert service("GET", "/v1/metrics").status_code == 200
        assert [service("GET", "/v1/metrics", key="tnr_x").status_code for _ in range(5)] == [401, 401, 401, 429, 429]
        assert service("GET", "/v1/metrics").status_code == 200
