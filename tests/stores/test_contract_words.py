"""Laws of every store: what is a word, what is an identifier, and how a hit is weighed and explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.fusion import Candidate
from tenure.playbook.delta import Add, Delta
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run, Task
from tenure.ports import Hit, Store
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.sqlite import open_sqlite
from tenure.stores.weighing import ENOUGH_HOLDERS, Searched, Weighed, candidate, weigh
from tests.stores.contract import fresh_scope, keep_operations, nasty_texts

TEXTS = {
    "hooks": "Commit with the hooks on; git commit --no-verify is for emergencies.",
    "hooks in words": "Verify every commit, and have no hook left out.",
    "cpp": "Build the C++ part first.",
    "c": "Build the C part first.",
    "adr": "Decide as ADR-0005 says.",
    "other adr": "Decide as ADR-0006 says, and 0005 of the lines.",
    "uuid": "Replay run 3f2b8c1e-9a7d-4e21-8f00-aa12bb34cc56 before the others.",
    "path": "Edit src/app.py, never the built copy.",
    "other path": "Edit app in src with py.",
    "snake": "Set `max_retries` to 3.",
    "in words": "Set a max of three retries.",
    "fx": "多币种发票按开票日汇率换算后再求和",
    "pdf": "請求書はＰＤＦ/Ａで保存",
    "refund": "환불은 7일 이내",
    "city": "Send parcels for Zürich by rail.",
}


def search(store: Store, scope: str, text: str, *, limit: int = 20) -> list[Hit]:
    with store.reading(scope) as look:
        return list(look.search(text, limit=limit))


def ids(hits: list[Hit]) -> list[str]:
    return [hit.lesson.id for hit in hits]


@pytest.fixture(scope="module")
def shelf(store: Store) -> tuple[Store, str]:
    scope = fresh_scope()
    keep_operations(store, scope, *(Add("s", text, id=name) for name, text in TEXTS.items()))
    with store.writing(scope) as work:
        for name, text in TEXTS.items():
            work.keep_run(Run(id=name, task=Task(text=text)), learned=True)
    return store, scope


@pytest.mark.parametrize(
    ("asked", "wanted", "held"),
    [
        ("may I use --no-verify?", "hooks", "--no-verify"),
        ("C++", "cpp", "c++"),
        ("what of ADR-0005", "adr", "adr-0005"),
        ("3F2B8C1E-9A7D-4E21-8F00-AA12BB34CC56", "uuid", "3f2b8c1e-9a7d-4e21-8f00-aa12bb34cc56"),
        ("edit 'src/app.py'", "path", "src/app.py"),
        ("max_retries", "snake", "max_retries"),
    ],
)
def test_what_holds_an_identifier_exactly_comes_first_and_says_so(shelf: tuple[Store, str], asked: str, wanted: str, held: str) -> None:
    store, scope = shelf
    hits = search(store, scope, asked)
    assert ids(hits)[:1] == [wanted]
    assert hits[0].identifiers == (held,)
    assert all(not hit.identifiers for hit in hits[1:])
    with store.reading(scope) as look:
        cases = look.cases_like(asked, limit=20)
    assert [(case.run, case.identifiers) for case in cases[:1]] == [(wanted, (held,))]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("汇率", "fx"),
        ("請求", "pdf"),
        ("保存", "pdf"),
        ("PDF", "pdf"),
        ("환불", "refund"),
        ("ｒａｉｌ", "city"),
        ("zurich", "city"),
        ("ZÜRICH", "city"),
        ("parcel", "city"),
    ],
)
def test_script_width_case_accent_and_ending_do_not_matter(shelf: tuple[Store, str], asked: str, wanted: str) -> None:
    store, scope = shelf
    assert ids(search(store, scope, asked)) == [wanted]
    with store.reading(scope) as look:
        assert [case.run for case in look.cases_like(asked, limit=20)] == [wanted]


def test_a_hit_names_the_words_it_holds_in_the_questions_order(shelf: tuple[Store, str]) -> None:
    store, scope = shelf
    (best, *_) = search(store, scope, "by which rail do I send a parcel?")
    assert (best.lesson.id, best.words) == ("city", ("rail", "send", "parcel"))


def test_a_question_of_little_words_alone_still_finds_them(shelf: tuple[Store, str]) -> None:
    store, scope = shelf
    assert set(ids(search(store, scope, "what is for the zebra"))) >= {"hooks", "city"}
    assert ids(search(store, scope, "is for rail")) == ["city"]


def test_a_score_is_the_share_of_the_question_that_is_held(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "count umbrellas", id="half"), Add("s", "unrelated text", id="none"))
    (alone,) = search(store, scope, "umbrellas")
    (beside,) = search(store, scope, "umbrellas zebras giraffes")
    assert 0 < beside.score < alone.score < 1
    assert beside.score < alone.score / 2


def test_the_words_of_a_task_count_less_than_the_lessons_own(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.keep_run(Run(id="r1", task=Task(text="umbrellas")), learned=True)
        work.keep_run(Run(id="r2", task=Task(text="parasols")), learned=True)
        work.admit(
            Delta(
                "01A",
                [
                    Add("s", "parasols", id="by-task", evidence=(Evidence(run="r1"),)),
                    Add("s", "umbrellas", id="by-text", evidence=(Evidence(run="r2"),)),
                ],
            )
        )
    assert ids(search(store, scope, "umbrellas")) == ["by-text", "by-task"]
    assert ids(search(store, scope, "parasols")) == ["by-task", "by-text"]


def test_an_identifier_of_a_source_task_finds_the_lesson_behind_those_that_hold_it_themselves(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.keep_run(Run(id="r1", task=Task(text="port it to C++")), learned=True)
        work.admit(
            Delta(
                "01A", [Add("s", "build twice", id="by-task", evidence=(Evidence(run="r1"),)), Add("s", "C++ is slow to build", id="own")]
            )
        )
    hits = search(store, scope, "C++")
    assert [(hit.lesson.id, hit.identifiers) for hit in hits] == [("own", ("c++",)), ("by-task", ("c++",))]
    assert hits[0].score > hits[1].score


def test_what_a_lesson_says_to_avoid_is_searched(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "count by hand", id="ctx-1", avoid="umbrellas"))
    assert ids(search(store, scope, "umbrellas")) == ["ctx-1"]


def test_a_task_that_is_told_later_makes_run_and_lessons_findable(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.keep_run(Run(id="r1", task=Task(text="")), learned=True)
        work.admit(Delta("01A", [Add("s", "look twice", id="ctx-1", evidence=(Evidence(run="r1"),))]))
        work.keep_run(Run(id="r1", task=Task(text="dunning letters")), learned=True)
    assert ids(search(store, scope, "dunning")) == ["ctx-1"]
    with store.reading(scope) as look:
        assert [case.run for case in look.cases_like("dunning", limit=3)] == ["r1"]


def test_another_scopes_rows_change_neither_hits_nor_scores(shelf: tuple[Store, str]) -> None:
    store, scope = shelf
    asked = "build the C++ part, set max_retries"
    before = search(store, scope, asked)
    other = fresh_scope()
    keep_operations(store, other, *(Add("s", f"build part {number} and set max_retries") for number in range(20)))
    assert search(store, scope, asked) == before


_words = st.sampled_from(
    [
        "count",
        "counting",
        "rows",
        "the",
        "汇率",
        "汇率换算",
        "日本語で",
        "환불",
        "get_user",
        "C++",
        "--force",
        "ADR-0005",
        "src/a.py",
        "Straße",
        "é",
        "Ⅷ",
        "x",
    ]
)
_said = st.lists(_words, max_size=6).map(" ".join) | nasty_texts


@given(lessons=st.lists(st.tuples(_said.filter(str.strip), _said, _said), max_size=6), asked=_said)
@settings(max_examples=60, deadline=None)
def test_all_stores_give_the_same_hits_with_the_same_scores(
    two: tuple[Store, Store], lessons: list[tuple[str, str, str]], asked: str
) -> None:
    scope = fresh_scope()
    seen = []
    for store in two:
        with store.writing(scope) as work:
            for number, (text, avoid, task) in enumerate(lessons):
                work.keep_run(Run(id=f"r{number}", task=Task(text=task)), learned=True)
                add = Add(f"s{number}", text, id=f"ctx-{number}", avoid=avoid, evidence=(Evidence(run=f"r{number}"),))
                work.admit(Delta(f"01{number}", [add]))
        with store.reading(scope) as look:
            hits = [(hit.lesson.id, round(hit.score, 9), hit.words, hit.identifiers) for hit in look.search(asked, limit=9)]
            cases = [(case.run, round(case.score, 9), case.words, case.identifiers) for case in look.cases_like(asked, limit=9)]
        seen.append((hits, cases))
    assert seen[0] == seen[1]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    return InMemoryStore(), open_sqlite(f"sqlite:///{tmp_path_factory.mktemp('words') / 'book.db'}")


def test_a_score_stays_when_the_database_gets_a_second_scope(tmp_path: Path) -> None:
    # With one scope alone the text index is asked without its wall.
    store = open_sqlite(f"sqlite:///{tmp_path / 'book.db'}")
    keep_operations(store, "acme/a", Add("s", "umbrellas here", id="mine"))
    alone = search(store, "acme/a", "umbrellas here")
    keep_operations(store, "globex/a", *(Add("s", f"umbrellas there {number}") for number in range(30)))
    assert search(store, "acme/a", "umbrellas here") == alone != []
    assert search(store, "acme/b", "umbrellas") == []
    store.close()


class _Common:
    """An index in which one word is held by very many, and another by few."""

    exact = False

    def __init__(self) -> None:
        self.asked_for: list[str] = []

    def size(self) -> int:
        return 10 * ENOUGH_HOLDERS

    def held_by(self, token: str) -> int:
        return {"common": 5 * ENOUGH_HOLDERS, "rare": 3}.get(token, 0)

    def holders(self, tokens: list[str], marks: list[str], most: int) -> list[int]:
        self.asked_for = list(tokens)
        return [1, 2]

    def lengths(self, most: int) -> list[float]:
        return [2.0]

    def take(self, rows: list[int], wanted: list[str], marks: list[str]) -> dict[int, Candidate]:
        texts = {1: ("a", Searched(said="rare other")), 2: ("b", Searched(said="rare common"))}
        return {row: candidate(*texts[row], wanted, marks) for row in rows}


def test_a_word_that_very_many_hold_puts_none_forward_beside_a_rare_one_but_counts() -> None:
    index = _Common()
    found: list[Weighed] = weigh(index, "common rare absent", limit=5)  # type: ignore[arg-type]
    assert index.asked_for == ["rare"]
    assert [(one.row, one.words) for one in found] == [(2, ("common", "rare")), (1, ("rare",))]
    weigh(index, "common", limit=5)  # type: ignore[arg-type]
    assert index.asked_for == ["common"]
