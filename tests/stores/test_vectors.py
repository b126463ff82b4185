"""Vectors in memory: the same answers with numpy and without it, and memory that is used as stated."""

from __future__ import annotations

import os
import subprocess
import sys
from array import array
from math import nan
from pathlib import Path

import pytest

from tenure import Add
from tenure.playbook.delta import Operation
from tenure.stores.sql_vectors import Matrices
from tenure.stores.sqlite import open_sqlite
from tenure.stores.vectors import Block, best, pack, unpack
from tenure.testing import WordEmbedder, open_trial
from tests.stores.test_contract_vectors import put, write

SCRIPT = """
import sys
if sys.argv[1] == "without":
    sys.modules["numpy"] = None
from tenure import Add
from tenure.testing import WordEmbedder, open_trial
with open_trial(url=f"sqlite:///{sys.argv[2]}/{sys.argv[1]}.db", embedder=WordEmbedder(48)) as book:
    book.apply([Add("s", f"rule {n} about topic{n % 7} and thing{n % 5}", id=f"ctx-{n:02}") for n in range(40)])
    book.embed()
    with book.store.reading(book.scope) as look:
        found = look.nearest(book.vectors.embedder.embed(["topic3 thing2"])[0], model="words-48", limit=30)
    print(sorted((hit.id, round(hit.cosine, 4)) for hit in found.hits if hit.cosine > 0.3), round(found.lowest, 4), found.compared)
    print(book.context("topic3").search)
    print("numpy" in sys.modules and sys.modules["numpy"] is not None)
"""


def test_the_base_install_searches_vectors_too(tmp_path: Path) -> None:
    pytest.importorskip("numpy")

    def run(how: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, how, str(tmp_path)], capture_output=True, text=True, check=True, env=dict(os.environ)
        )
        return done.stdout.splitlines()

    (*with_numpy, used), (*without, unused) = run("with"), run("without")
    assert with_numpy == without
    assert (used, unused) == ("True", "False")


def test_a_stored_vector_is_what_was_given_scaled_to_length_1() -> None:
    assert list(unpack(pack([3.0, 4.0]))) == pytest.approx([0.6, 0.8])
    assert (pack(None), pack([0.0, 0.0]), pack([])) == (b"", b"", b"")


def test_blocks_are_compared_as_one_and_joined_without_loss() -> None:
    vectors = [pack([1.0, float(n)]) for n in range(6)]
    apart = [Block([0, 1, 2], b"".join(vectors[:3]), 2), Block([3, 4, 5], b"".join(vectors[3:]), 2)]
    asked = unpack(pack([0.0, 1.0]))
    assert best(apart, asked, most=4).found == best([Block.joined(apart)], asked, most=4).found
    assert [row for row, _ in best(apart, asked, most=3, gone={4}).found] == [5, 3, 2]
    assert Block.joined(apart).nbytes == 6 * 2 * 4


def test_a_store_holds_no_more_vectors_than_its_cap_but_those_used_last(tmp_path: Path) -> None:
    store = open_sqlite(f"sqlite:///{tmp_path / 'book.db'}")
    matrices = Matrices(most_bytes=100)
    store._dialect.matrices = matrices
    for number, scope in enumerate(("a/x", "b/x", "c/x")):
        write(store, scope, "01A", *_adds(10))
        put(store, scope, "m", {f"ctx-{n}": [1.0, float(n), float(number)] for n in range(10)})
        with store.reading(scope) as look:
            assert look.nearest([0.0, 1.0, 0.0], model="m").compared == 10
        assert matrices.nbytes == 10 * 3 * 4
    with store.reading("a/x") as look:
        assert look.nearest([0.0, 1.0, 0.0], model="m").compared == 10
    store.close()


def test_another_process_writing_is_seen_by_the_next_question(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'book.db'}"
    mine, theirs = open_sqlite(url), open_sqlite(url)
    write(mine, "a/x", "01A", *_adds(3))
    put(mine, "a/x", "m", {"ctx-0": [1.0, 0.0], "ctx-1": [0.0, 1.0]})
    with mine.reading("a/x") as look:
        assert [hit.id for hit in look.nearest([1.0, 0.0], model="m").hits] == ["ctx-0", "ctx-1"]
    put(theirs, "a/x", "m", {"ctx-2": [2.0, 1.0]})
    with theirs.writing("a/x") as work:
        work.drop_vectors(but="m")
    with mine.reading("a/x") as look:
        assert [hit.id for hit in look.nearest([1.0, 0.0], model="m").hits] == ["ctx-0", "ctx-2", "ctx-1"]
    with theirs.writing("a/x") as work:
        work.drop_vectors(but="none of them")
    with mine.reading("a/x") as look:
        assert look.nearest([1.0, 0.0], model="m").hits == ()
    mine.close()
    theirs.close()


def test_many_small_additions_make_few_blocks() -> None:
    with open_trial(url="sqlite://", embedder=WordEmbedder(8)) as book:
        for number in range(40):
            book.apply(_adds(1, start=number))
            book.embed()
            with book.store.reading(book.scope) as look:
                assert look.nearest([1.0] * 8, model="words-8", limit=100).compared == number + 1
        held = book.store._dialect.matrices  # type: ignore[attr-defined]
        (blocks,) = (one.blocks for one in held._held.values())
        assert len(blocks) <= 6


def _adds(count: int, *, start: int = 0) -> list[Operation]:
    return [Add("s", f"rule {number}", id=f"ctx-{number}") for number in range(start, start + count)]


def test_a_vector_with_nan_that_an_older_version_stored_is_never_near() -> None:
    spoilt = array("f", [nan, 1.0]).tobytes()
    data = b"".join([pack([1.0, 0.0]), spoilt, pack([0.0, 1.0])])
    found = best([Block([1, 2, 3], data, 2), Block([4], spoilt, 2)], unpack(pack([1.0, 0.0])), most=5)
    assert [row for row, _ in found.found] == [1, 3]
    assert (found.count, found.lowest, found.total) == (2, 0.0, 1.0)
