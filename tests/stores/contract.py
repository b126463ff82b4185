"""What every adapter of the Store port is asked with: the adapters, values of every kind, and everything a look can see.

A new adapter is one line in `ADAPTERS`; the laws are in the `test_contract*.py` files.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tenure.playbook.apply import apply
from tenure.playbook.delta import Add, Delta, Merge, Operation, Pin, Restore, Retire, Tally, Update
from tenure.playbook.lessons import KINDS, Evidence, lesson_id
from tenure.playbook.notation import dumps
from tenure.playbook.render import Core, Line
from tenure.playbook.run import RELIABILITY, STEP_KINDS, Draw, Origin, Outcome, Run, Step, Task
from tenure.playbook.state import Playbook
from tenure.ports import FailedReply, HeldChange, LedgerEntry, Reading, Store, Usage, Writing
from tenure.stores.in_memory import InMemoryStore
from tests import postgres


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A way to have a store.

    Attributes:
        name: as the tests show it.
        open: the store that lives in a folder; opening it again finds what was kept.
        durable: whether what it keeps outlives the process.
        missing: why it cannot be had here; empty if it can.
    """

    name: str
    open: Callable[[Path], Store]
    durable: bool
    missing: str = ""


def _open_sqlite(folder: Path) -> Store:
    from tenure.stores.sqlite import open_sqlite

    return open_sqlite(f"sqlite:///{folder / 'book.db'}")


def _open_postgres(folder: Path) -> Store:
    from tenure.stores.postgres import open_postgres

    return open_postgres(postgres.database_of(folder).url)


ADAPTERS = {
    one.name: one
    for one in (
        Adapter(name="in_memory", open=lambda _: InMemoryStore(), durable=False),
        Adapter(name="sqlite", open=_open_sqlite, durable=True),
        Adapter(name="postgres", open=_open_postgres, durable=True, missing=postgres.MISSING),
    )
}

_numbers = itertools.count(1)


def fresh_scope() -> str:
    """A scope of a tenant that no other test of this process has."""
    return f"tenant{next(_numbers)}/desk"


# -- what a look can see ------------------------------------------------------------------------------


def seen(look: Reading) -> dict[str, Any]:
    """All that the methods of a look say about its own scope, as values that can be compared."""
    run_ids = list(look.run_ids())
    return {
        "lessons": list(look.lessons(live=False)),
        "live": list(look.lessons()),
        "playbook": dumps(look.playbook()),
        "version": look.version(),
        "newest": look.newest_delta_id(),
        "ledger": [(entry.version, plain(entry.delta), entry.writer, entry.digest) for entry in look.ledger()],
        "wrong": list(look.verify_ledger()),
        "run_ids": run_ids,
        "runs": [look.run(run_id) for run_id in run_ids],
        "learned": [look.learned_steps(run_id) for run_id in run_ids],
        "unlearned": list(look.unlearned()),
        "held": [list(look.held(state=state)) for state in ("open", "approved", "rejected")],
        "failed": list(look.failed_replies()),
        "core": look.core(),
        "setting": look.setting("mark"),
        "counts": dict(look.counts()),
        "sizes": dict(look.sizes()),
    }


def look_at(store: Store, scope: str) -> dict[str, Any]:
    """All that a look at a scope says."""
    with store.reading(scope) as look:
        return seen(look)


def fill(transaction: Writing, mark: str = "m") -> None:
    """One of everything, under ids that every filled scope has; texts carry the mark."""
    transaction.keep_run(
        Run(
            id="r1",
            task=Task(text=f"sort the prices {mark}", key="k", kind="sorting"),
            steps=(Step(kind="message", role="user", content=mark),),
            outcome=Outcome(success=True, signal="test"),
            ended="2026-03-15T10:00:00+00:00",
        ),
        learned=False,
    )
    transaction.admit(
        Delta(
            "01A",
            [
                Add("s", f"put the smallest number first {mark}", id="ctx-1", about="subject", evidence=(Evidence(run="r1", step=0),)),
                Add("s", f"a second statement {mark}"),
                Add("s", f"a third one {mark}", status="held"),
                Retire("ctx-1") if mark == "retired" else Tally("ctx-1", helpful=1),
            ],
            key="run:r1",
        )
    )
    transaction.hold(
        HeldChange(id="h1", operation=Add("s", f"held {mark}"), reason="untrusted", author="extractive", run="r1", at="2026-03-15")
    )
    transaction.keep_failed_reply(FailedReply(id="f1", run="r1", purpose="reflect", reason="cut", reply=f'{{"text": "{mark}'))
    transaction.keep_core(Core(lines=(Line(id="ctx-1", section="s", text=f"- {mark}"),)))
    transaction.set("mark", mark)


def keep_operations(store: Store, scope: str, *operations: Any, delta: str = "01A") -> None:
    """The operations, as one delta of a scope."""
    with store.writing(scope) as transaction:
        transaction.admit(Delta(delta, operations))


# -- deltas as values ---------------------------------------------------------------------------------


def plain(delta: Delta) -> Delta:
    """A delta in the form in which deltas from different stores compare: time as text, no scope."""
    return replace(delta, at=delta.time, scope="")


def fold(deltas: Sequence[Delta]) -> Playbook:
    """The playbook that deltas make, one after another."""
    book = Playbook()
    for delta in deltas:
        book = apply(book, delta).playbook
    return book


def fold_ledger(entries: Sequence[LedgerEntry]) -> str:
    """The playbook that a ledger makes, as canonical text."""
    return dumps(fold([entry.delta for entry in entries]))


# -- values of every kind -----------------------------------------------------------------------------

NASTY = (
    "\n", "\r\n", "\x00", "\x07", "\x1f", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff", " ", "a", "B",
    "## OTHERS", "[x-1] helpful=9 harmful=0 ::", "</tenure>", "[forgotten]", '{"sealed": "00"}', "sha256:00",
    "'", '"', "''", "%", "_", "\\", "{", "}", "$1", ":name", "?", " AND ", "NEAR(", "*", "col:", "--", ";", "snake_case",
    "é", "e\u0301", "😀", "👩\u200d👧", "汇率", "日本語", "환불", "שלום",
)  # fmt: skip
"""What has broken files, prompts, queries and logs."""

characters = st.characters(exclude_categories=["Cs"])
nasty_texts = st.lists(st.sampled_from(NASTY) | st.text(characters, max_size=4), max_size=5).map("".join)
full_texts = nasty_texts.filter(lambda text: bool(text.strip()))
texts = st.sampled_from(["count the rows", "sum first", "求和前换算"]) | full_texts
sections = st.sampled_from(["s", "tool rules", ""]) | nasty_texts
evidence = st.lists(
    st.builds(Evidence, run=st.sampled_from(["r1", "r2"]), step=st.integers(-1, 3), role=st.sampled_from(["source", "error"])), max_size=2
).map(tuple)
times = st.sampled_from(["", "2026-03-15T10:00:00+00:00", "2026-03-16T10:00:00+09:00"])

_adds = st.builds(
    Add,
    section=sections,
    text=texts | st.sampled_from(["", " \n"]),
    id=st.none() | st.sampled_from(["ctx-1", "ctx-2", "not an id"]),
    applies_when=nasty_texts,
    kind=st.none() | st.sampled_from([*KINDS, "no kind"]),
    status=st.sampled_from(["active", "provisional", "held"]),
    avoid=nasty_texts,
    tool_order=st.lists(nasty_texts, max_size=2).map(tuple),
    about=st.sampled_from(["", "subject"]) | nasty_texts,
    evidence=evidence,
    origin=nasty_texts,
    author=nasty_texts,
)


def _others(known: Sequence[str]) -> st.SearchStrategy[Operation]:
    ids, counts = st.sampled_from(known), st.integers(-2, 3)
    return st.one_of(
        st.builds(
            Update,
            id=ids,
            text=st.none() | texts,
            applies_when=st.none() | nasty_texts,
            status=st.none() | st.sampled_from(["active", "provisional", "held"]),
            verdict=st.none() | st.just("confirmed"),
            about=st.none() | st.sampled_from(["", "subject", "another"]),
            evidence=evidence,
        ),
        st.builds(Tally, id=ids, helpful=counts, harmful=counts, shown=counts, support=counts, evidence=evidence),
        st.builds(Merge, ids=st.lists(ids, max_size=3), into=ids, text=st.none() | texts, reason=nasty_texts),
        st.builds(Retire, id=ids, reason=nasty_texts),
        st.builds(Restore, id=ids, unmerge=st.booleans(), status=st.sampled_from(["active", "provisional"])),
        st.builds(Pin, id=ids, pinned=st.booleans()),
    )


@st.composite
def delta_lists(draw: st.DrawFn, *, most: int = 6) -> list[Delta]:
    """Deltas that build on each other, with ids in any order, some keys and ids twice, and faulty operations among good ones."""
    known = ["ctx-1", "ctx-2", "nobody-1"]
    deltas: list[Delta] = []
    for number in draw(st.permutations(range(1, most + 1)))[: draw(st.integers(1, most))]:
        delta_id = f"01D{number:03}"
        operations: list[Operation] = []
        for _ in range(draw(st.integers(0, 4))):
            op = draw(_adds | _others(known))
            operations.append(op)
            if isinstance(op, Add):
                known.append(lesson_id(delta_id, op.section, op.text, 0))
        deltas.append(
            Delta(
                delta_id,
                operations,
                key=draw(st.sampled_from([None, None, None, "k1", "k2"])),
                author=draw(nasty_texts),
                cause=draw(st.sampled_from(["run", "import", "refine"])),
                at=draw(times),
                note=draw(nasty_texts),
            )
        )
        if draw(st.integers(0, 5)) == 0:
            deltas.append(draw(st.sampled_from(deltas)))
    return deltas


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | nasty_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(nasty_texts, inner, max_size=3),
    max_leaves=6,
)
origins = st.builds(Origin, principal=nasty_texts, channel=st.sampled_from(["api", "web"]), document=nasty_texts, trusted=st.booleans())
steps = st.builds(
    Step,
    kind=st.sampled_from(STEP_KINDS),
    role=st.sampled_from(["user", "assistant", "tool", ""]),
    name=nasty_texts,
    arguments=st.dictionaries(nasty_texts, _json, max_size=3),
    content=nasty_texts,
    error=nasty_texts,
    call_id=nasty_texts,
    origin=st.none() | origins,
    at=times,
)
outcomes = st.builds(
    Outcome,
    score=st.none() | st.floats(0, 1),
    success=st.none() | st.booleans(),
    feedback=nasty_texts,
    signal=st.sampled_from(sorted(RELIABILITY)),
    reliability=st.none() | st.floats(0, 1),
    expected=nasty_texts,
    at=times,
)
_lesson_ids = st.lists(nasty_texts.filter(bool), max_size=3, unique=True).map(tuple)
draws = st.builds(
    Draw,
    lesson=nasty_texts.filter(bool),
    withheld=st.booleans(),
    chance=st.sampled_from([0.05, 0.25, 0.9]),
    reason=st.sampled_from(["holdout", "release"]),
    text=st.sampled_from(["", "0a1b"]),
)
runs = st.builds(
    Run,
    id=nasty_texts.filter(bool),
    task=st.builds(Task, text=nasty_texts, kind=nasty_texts, key=nasty_texts),
    steps=st.lists(steps, max_size=4).map(tuple),
    shown=_lesson_ids,
    withheld=_lesson_ids,
    cited=_lesson_ids,
    draws=st.lists(draws, max_size=3, unique_by=lambda one: one.lesson).map(tuple),
    outcome=outcomes,
    origin=origins,
    session=nasty_texts,
    started=times,
    ended=times,
)
cores = st.builds(
    Core,
    lines=st.lists(st.builds(Line, id=nasty_texts, section=nasty_texts, text=nasty_texts), max_size=3).map(tuple),
    tail=st.lists(st.builds(Line, id=nasty_texts, section=nasty_texts, text=nasty_texts), max_size=3).map(tuple),
    left_out=st.frozensets(nasty_texts, max_size=3),
    generations=st.lists(st.integers(0, 3), max_size=3).map(tuple),
)
usages = st.builds(
    Usage,
    calls=st.integers(0, 5),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    cost_usd=st.none() | st.decimals(0, 100, places=9) | st.just(Decimal("0.0000002")),
)
