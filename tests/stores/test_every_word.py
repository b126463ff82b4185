"""Every word of a lesson, of a run's task and of a passage finds it, in every adapter, in any script; and all adapters weigh alike."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.playbook.delta import Add, Delta
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Run, Task
from tenure.ports import Passage, Search, Store
from tenure.stores.in_memory import InMemoryStore
from tenure.stores.search_in_memory import InMemorySearch
from tenure.stores.search_sqlite import SqliteSearch
from tenure.stores.sqlite import open_sqlite
from tenure.terms import indexed_words, search_words, shown, stem
from tests.stores.contract import fresh_scope, keep_operations

STEMMED_AGAIN = (
    "database databases purchased agreed expense expenses license licenses release released response lease course promise university "
    "purchase agree increase purpose these exercise course's appraise wisely enterprise succeed proceed exceed"
)
"""Words whose stem has another stem, and some like them."""


@cache
def english() -> tuple[str, ...]:
    """Words of Tenure's own pages, and of the system's list where there is one: all whose stem has another stem, and some others."""
    pages = Path(__file__).parents[2] / "docs"
    found = set(re.findall(r"[a-z]+", " ".join(page.read_text("utf-8") for page in sorted(pages.rglob("*.md"))).lower()))
    listed = Path("/usr/share/dict/words")
    if listed.exists():
        found.update(re.findall(r"^[a-z]+$", listed.read_text("utf-8"), re.MULTILINE))
    again = sorted(word for word in found if stem(stem(word)) != stem(word))
    chosen = random.Random(1)
    return tuple(
        dict.fromkeys(
            (*STEMMED_AGAIN.split(), *chosen.sample(again, min(150, len(again))), *chosen.sample(sorted(found), min(250, len(found))))
        )
    )


def finds(store: Store, scope: str, asked: str) -> tuple[list[str], list[str]]:
    with store.reading(scope) as look:
        return [hit.lesson.id for hit in look.search(asked, limit=50)], [case.run for case in look.cases_like(asked, limit=50)]


def keep(store: Store, text: str, *, scope: str, name: str) -> None:
    with store.writing(scope) as work:
        work.keep_run(Run(id=f"{name}-run", task=Task(text=text)), learned=True)
    keep_operations(store, scope, Add("s", text, id=name), delta=name)


@pytest.fixture(params=["in_memory", "sqlite"])
def search(request: pytest.FixtureRequest) -> Iterator[Search]:
    made: Search = InMemorySearch() if request.param == "in_memory" else SqliteSearch(":memory:")
    yield made
    made.close()


def test_every_english_word_of_a_lesson_and_of_a_task_finds_it(store: Store) -> None:
    scope = fresh_scope()
    for start in range(0, len(english()), 25):
        keep(store, " ".join(english()[start : start + 25]), scope=scope, name=f"l{start}")
    missed = []
    for place, word in enumerate(english()):
        lessons, runs = finds(store, scope, word)
        name = f"l{place - place % 25}"
        if name not in lessons or f"{name}-run" not in runs:
            missed.append(word)
    assert missed == []


def test_every_english_word_of_a_source_task_finds_the_lesson(store: Store) -> None:
    scope = fresh_scope()
    with store.writing(scope) as work:
        work.keep_run(Run(id="r1", task=Task(text=STEMMED_AGAIN)), learned=True)
        work.admit(Delta("01A", [Add("s", "Look twice", id="l1", evidence=(Evidence(run="r1"),))]))
    assert [word for word in STEMMED_AGAIN.split() if finds(store, scope, word)[0] != ["l1"]] == []


def test_every_english_word_of_a_passage_finds_it(search: Search) -> None:
    search.put("acme/a", [Passage(id=str(place), text=word) for place, word in enumerate(english())])
    missed = [
        word
        for place, word in enumerate(english())
        if str(place) not in [hit.id for hit in search.find("acme/a", word, limit=len(english())).hits]
    ]
    assert missed == []


def test_the_words_that_stand_in_a_sentence_find_it(store: Store) -> None:
    scope = fresh_scope()
    keep(store, "The databases must be purchased and agreed", scope=scope, name="l1")
    keep(store, "Something else", scope=scope, name="l2")
    for asked in ("database", "databases", "purchased", "agreed", "purchases and agreeing"):
        assert finds(store, scope, asked) == (["l1"], ["l1-run"]), asked


SCRIPTS = [
    ("चालान की राशि जाँचें", ["चालान", "राशि", "जाँचें"], ["च", "चलन", "ल"]),
    ("இந்த விலைப்பட்டியல் சரி", ["விலைப்பட்டியல்"], ["வ"]),
    ("שָׁלוֹם לְעוֹלָם", ["שלום", "שָׁלוֹם", "לעולם"], ["ש"]),
    ("دفعت الفَاتُورَةُ أمس", ["الفاتورة", "الفَاتُورَة", "امس"], ["ف"]),
    ("ตรวจสอบใบแจ้งหนี้ทุกปี", ["ใบแจ้งหนี้", "ตรวจสอบ", "ปี"], ["ต่าง"]),
    ("ทำน้ำ", ["ทำ", "น้ำ"], ["ตา"]),
    ("ກວດສອບໃບແຈ້ງໜີ້", ["ໃບແຈ້ງ"], ["ຂຽນ"]),
    ("ពិនិត្យវិក្កយបត្រ", ["វិក្កយបត្រ"], ["ចំ"]),
    ("ငွေတောင်းခံလွှာကိုစစ်ဆေးပါ", ["စစ်ဆေး"], ["သို့"]),
    ("多币种发票按开票日汇率换算", ["汇率", "汇", "率", "算", "多"], ["匯", "率汇"]),
    ("환불은 7일 이내", ["환불", "환", "일"], ["한"]),
    ("換", ["換"], ["算"]),
    ("𠮷野家で払う", ["𠮷野", "𠮷", "家"], ["吉"]),
    ("人々を待つ", ["人々", "人"], ["々人"]),
    ("Ship 🚀 now → pay 50 €", ["🚀", "→", "€", "ship"], ["👩", "←", "$"]),
    ("fly 🇩🇪 👩\u200d🚀 ❤\ufe0f", ["🇩🇪", "👩", "🚀", "❤"], ["🇪🇸"]),
    ("co\u00adop\u200ber\u2060at\ufeffe", ["cooperate", "cooper\u00adate"], ["operate", "co"]),
    ("run --no\u200b-verify", ["--no-verify"], ["--never"]),
    ("die løbes ist", ["løbes"], ["løb"]),
    ("e\u0301te\u0301", ["été", "ete"], ["t"]),
]
"""A text, what finds it, and what does not."""


@pytest.mark.parametrize(("text", "found", "absent"), SCRIPTS)
def test_lessons_and_tasks_of_any_script_are_found_by_their_words(store: Store, text: str, found: list[str], absent: list[str]) -> None:
    scope = fresh_scope()
    keep(store, text, scope=scope, name="l1")
    keep(store, "something unlike it", scope=scope, name="l2")
    assert {asked: finds(store, scope, asked) for asked in found} == {asked: (["l1"], ["l1-run"]) for asked in found}
    assert {asked: finds(store, scope, asked) for asked in absent} == {asked: ([], []) for asked in absent}
    with store.reading(scope) as look:
        (hit,) = look.search(found[0], limit=1)
    assert hit.words or hit.identifiers
    assert all(shown(word) == word for word in hit.words), "words of a hit are shown as people write them"


@pytest.mark.parametrize(("text", "found", "absent"), SCRIPTS)
def test_passages_of_any_script_are_found_by_their_words(search: Search, text: str, found: list[str], absent: list[str]) -> None:
    search.put("acme/a", [Passage(id="p1", text=text), Passage(id="p2", text="something unlike it")])
    for asked in found:
        assert [hit.id for hit in search.find("acme/a", asked, limit=9).hits] == ["p1"], asked
    for asked in absent:
        assert search.find("acme/a", asked, limit=9).hits == (), asked


def test_single_characters_make_no_text_longer(store: Store) -> None:
    scope = fresh_scope()
    keep_operations(store, scope, Add("s", "zebra 汇率换算", id="a"), Add("s", "zebra one two three", id="b"))
    with store.reading(scope) as look:
        scores = [hit.score for hit in look.search("zebra", limit=2)]
    assert scores[0] == scores[1]


_ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.text(
    "aeghsdły øßıкя汇率환ทำน้ำ च\u0947\u200d🚀\u0301é٠½", max_size=20
)


@given(text=_ANY.filter(str.strip))
@settings(max_examples=80, deadline=None)
def test_every_word_of_any_text_finds_it(two: tuple[Store, Store], text: str) -> None:
    for store in two:
        scope = fresh_scope()
        keep(store, text, scope=scope, name="l1")
        for word in dict.fromkeys(shown(one) for one in (*search_words(text), *indexed_words(text))):
            assert finds(store, scope, word) == (["l1"], ["l1-run"]), word


def test_all_stores_agree_on_the_ten_best_of_many(two: tuple[Store, Store]) -> None:
    made = random.Random(3)
    words = [f"{start}{end}" for start in ("data", "purch", "agr", "lic", "un", "rel", "fl", "cour", "tre") for end in english()[:60]]
    weights = [1 / (place + 3) for place in range(len(words))]

    def text(least: int, most: int) -> str:
        return " ".join(made.choices(words, weights, k=made.randint(least, most)))

    scope, count = fresh_scope(), 500
    runs = [Run(id=f"r{number:03}", task=Task(text=text(5, 60))) for number in range(count)]
    adds = [Add("s", text(6, 40), id=f"l{number:03}", evidence=(Evidence(run=f"r{number:03}"),)) for number in range(count)]
    asked = [text(2, 20) for _ in range(40)]
    seen = []
    for store in two:
        with store.writing(scope) as work:
            for run in runs:
                work.keep_run(run, learned=True)
            work.admit(Delta("01A", adds))
        with store.reading(scope) as look:
            seen.append(
                [
                    (
                        [(hit.lesson.id, round(hit.score, 9)) for hit in look.search(one, limit=10)],
                        [(case.run, round(case.score, 9)) for case in look.cases_like(one, limit=10)],
                    )
                    for one in asked
                ]
            )
    assert seen[0] == seen[1]
    assert all(len(lessons) == 10 for lessons, _ in seen[0])


def test_a_score_does_not_depend_on_what_else_a_question_brings_forward(two: tuple[Store, Store]) -> None:
    scope = fresh_scope()
    for store in two:
        keep_operations(
            store,
            scope,
            Add("s", "zebra", id="l1"),
            Add("s", "giraffe " * 90, id="l2"),
            *(Add("s", f"plain text of six words {number}", id=f"m{number}") for number in range(5)),
        )
        with store.reading(scope) as look:
            (alone,) = look.search("zebra", limit=5)
            beside = look.search("zebra giraffe", limit=5)
        # Both words are as rare, so that each is half of the question.
        assert next(hit.score for hit in beside if hit.lesson.id == "l1") == pytest.approx(alone.score / 2)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Store]:
    return InMemoryStore(), open_sqlite(f"sqlite:///{tmp_path_factory.mktemp('words') / 'book.db'}")
