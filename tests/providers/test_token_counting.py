"""Token counts: a real tokenizer where one is at hand, never the network, and a stated estimate otherwise."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import SettingError
from tenure.providers.token_counting import ENCODINGS, EncodingCounter, encoding_of, open_counter, tiktoken_has
from tenure.ranking import estimate_tokens

has_bpe = find_spec("bpe_openai") is not None


def test_the_estimate_says_that_it_is_one() -> None:
    counter = open_counter("estimate")
    assert (counter.name, counter("Check the totals.")) == ("estimate", estimate_tokens("Check the totals."))


def test_auto_always_has_something_that_counts() -> None:
    counter = open_counter()
    assert counter("") == 0
    assert 3 <= counter("Check the totals twice.") <= 8
    assert counter.name == "estimate" or counter.name.startswith("o200k_base (")


@pytest.mark.skipif(not has_bpe, reason="needs the extra tokens")
@pytest.mark.parametrize(("encoding", "tokens"), [("o200k_base", 13), ("cl100k_base", 15)])
def test_a_real_tokenizer_counts_as_its_model_does(encoding: str, tokens: int) -> None:
    counter = open_counter(encoding)
    assert counter.name.startswith(encoding)
    assert counter("tiktoken is great!") == 6  # as OpenAI's own guide to its tokenizers has it
    assert counter("多币种发票按开票日汇率换算") == tokens


@given(st.text())
def test_no_text_is_too_hard(text: str) -> None:
    assert open_counter()(f"{text}\ud800<|endoftext|>") > 0


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("", "o200k_base"),
        ("openai:gpt-4o-mini", "o200k_base"),
        ("openai:gpt-4.1", "o200k_base"),
        ("openai:gpt-4", "cl100k_base"),
        ("openai:gpt-4-turbo", "cl100k_base"),
        ("openai:gpt-3.5-turbo", "cl100k_base"),
        ("anthropic:claude-sonnet-4", "o200k_base"),
    ],
)
def test_the_model_says_which_tokenizer(model: str, encoding: str) -> None:
    assert encoding_of(model) == encoding
    assert encoding in ENCODINGS


def test_an_unknown_tokenizer_is_named() -> None:
    with pytest.raises(SettingError, match="no tokenizer 'p50k'"):
        open_counter("p50k")


@pytest.mark.skipif(find_spec("tiktoken") is None, reason="needs tiktoken")
def test_tiktoken_counts_only_where_its_vocabulary_lies_on_the_disk(tmp_path: Path) -> None:
    """Else its first use would ask the network."""
    assert not tiktoken_has("o200k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(b"")
    assert tiktoken_has("o200k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert not tiktoken_has("cl100k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    assert not tiktoken_has("o200k_base", {"TIKTOKEN_CACHE_DIR": ""})


def test_a_text_is_cut_into_tokens_once() -> None:
    seen: list[str] = []

    def encode(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    counter = EncodingCounter("words", encode)
    assert (counter("a b c"), counter("a b c"), seen) == (3, 3, ["a b c"])


def test_no_tokenizer_is_loaded_before_it_counts() -> None:
    open_counter("estimate")
    assert "tiktoken" not in sys.modules or not tiktoken_has("o200k_base")
