"""The source-only rule: a revised text says what its source or the old lesson says, in any spelling and script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.facts import facts, joined, statements
from tenure.playbook.grounding import MARK, Grounds
from tests.strategies import any_texts

CJK = "多币种发票按开票日汇率换算"


def grounds(source: str = "", *, old: str = "", current: str = "", tools: tuple[str, ...] = ()) -> Grounds:
    return Grounds(source=[source], old=[old], current=[current], tools=tools)


def supported(text: str, source: str) -> bool:
    (judged,) = grounds(source).judge(text).judged
    return judged.supported


# -- statements --------------------------------------------------------------------------------------


@given(any_texts(12))
def test_splitting_a_text_loses_nothing(text: str) -> None:
    pieces = statements(text)
    assert joined(pieces) == (text if pieces else "")
    assert pieces or not text.strip()
    assert all(piece.text and piece.text == piece.text.strip() for piece in pieces)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Sort first. Then sum.", ["Sort first.", "Then sum."]),
        ("- ", ["-"]),
        ("smallest. 77. smallest", ["smallest.", "77. smallest"]),
        ("12. Sort first.\n13. Sum.", ["Sort first.", "Sum."]),
        ("Pass 3.5, e.g. as `a. b`; then stop", ["Pass 3.5, e.g. as `a. b`;", "then stop"]),
        ("先换算。再求和！完", ["先换算。", "再求和！", "完"]),
        ("- one\n- two\n3. three", ["one", "two", "three"]),
        ('He says "No. Never." here. Go', ['He says "No. Never." here.', "Go"]),
        ("Use app.py v1.2.3 on 15. März 2026. Done", ["Use app.py v1.2.3 on 15. März 2026.", "Done"]),
        ("Take 12. Then go", ["Take 12.", "Then go"]),
        ("See no. 7 first. Is it no. Then stop", ["See no. 7 first.", "Is it no.", "Then stop"]),
    ],
)
def test_statements_are_sentences_lines_and_what_a_semicolon_parts(text: str, pieces: list[str]) -> None:
    assert [piece.text for piece in statements(text)] == pieces


# -- facts --------------------------------------------------------------------------------------------

SAME_THOUSAND = ("1,000", "1000", "1 000", "1'000", "1_000", "1.000", "1k", "1 thousand", "１０００", "١٠٠٠", "1,000.00", "1千")


@pytest.mark.parametrize("said", SAME_THOUSAND)
@pytest.mark.parametrize("there", SAME_THOUSAND)
def test_a_number_is_the_same_in_every_spelling(said: str, there: str) -> None:
    assert supported(f"take {said} rows", f"there were {there} rows")


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("2.5 million", "2,500,000"), ("3万", "30000"), ("12,50", '{"amount":12.5}'), ("3rd", "field 3"), ("two", "2 of them"),
        ("5 %", "5 percent"), ("10", "pages 10-20"), ("20", "pages 10-20"), ("2026-03-15", "on March 15, 2026"),
        ("15.03.2026", "2026-03-15T10:00:00Z"), ("15 mars 2026", "2026年3月15日"), ("03/04/2026", "4 March 2026"),
        ("March 15", "2026-03-15"),
        ("2026년 3월 15일", "15. März 2026"), ("`get_order`", "calls get_order"), ("“Final  Draft”", "the final draft"),
        ("GitHub", "on github"),
        ("Anna's", "Anna said"), ("utf-8", "in UTF-8"), ("src/app.py", "edited src/app.py twice"), ('"12,50"', "12.5"),
        ("「請求書」", "請求書はPDF"),
    ],
)  # fmt: skip
def test_equal_facts_are_equal_however_they_are_spelled(said: str, there: str) -> None:
    assert supported(f"take {said} here", there)


@pytest.mark.parametrize(
    ("said", "there"),
    [
        ("1,000", "100"), ("1001", "1,000"), ("-5", "5"), ("0.05", "5 %"), ("2026-03-16", "2026-03-15"), ("March 15, 2026", "March 15"),
        ("`get_order`", "get_orders"), ("Berlin", "in Paris"), ("utf-16", "utf-8"), ("“no refunds”", "no quick refunds"), ("seven", "6"),
        ("3.11.2", "3.11.3"), ("12", "112"), ("ADR-0005", "ADR-0006"), ("「見積書」", "請求書はPDF"), ("3万", "3"),
    ],
)  # fmt: skip
def test_other_facts_are_not_supported(said: str, there: str) -> None:
    assert not supported(f"take {said} here", there)


def test_a_tools_name_is_a_fact_even_if_it_is_a_plain_word() -> None:
    (judged,) = grounds("calls charge", tools=("charge", "refund")).judge("then refund it").judged
    assert judged.unsupported == ("refund",)


def test_german_nouns_are_no_names() -> None:
    assert [fact.said for fact in facts("zuerst die Rechnung und dann das Konto bei GitHub prüfen") if fact.kind == "name"] == ["GitHub"]


# -- grounding ----------------------------------------------------------------------------------------

words = st.sampled_from("sort rank price score ascending descending first last 12 77 1,000 Bob `x_y` 汇率换算 付款日期 請求書".split())
sentences = st.lists(words, min_size=1, max_size=6).map(lambda picked: " ".join(picked) + ".")
paragraphs = st.lists(sentences, min_size=1, max_size=4).map(" ".join)


@given(paragraphs, paragraphs)
def test_what_the_source_says_is_grounded_and_leaks_nothing(source: str, current: str) -> None:
    found = grounds(source, current=current).judge(source)
    assert (found.grounded, found.leaked) == (1.0, 0.0)
    assert found.text == source


@given(paragraphs, paragraphs, paragraphs, paragraphs)
def test_no_word_that_occurs_only_in_the_current_run_is_kept(proposed: str, source: str, old: str, current: str) -> None:
    tested = grounds(source, old=old, current=current)
    found = tested.judge(proposed)
    assert tested.leaks(found.text) == ()
    assert 0.0 <= found.grounded <= 1.0
    assert 0.0 <= found.leaked <= 1.0
    assert found.hypotheses == found.text.count(MARK)
    assert found.dropped == round(found.leaked * len(found.judged))


@given(paragraphs, paragraphs, paragraphs)
def test_judging_what_was_kept_keeps_it(proposed: str, source: str, current: str) -> None:
    tested = grounds(source, current=current)
    once = tested.judge(proposed).text
    assert tested.judge(once).text == once


def test_the_second_task_of_alike_wording_adds_no_word_of_its_own() -> None:
    tested = grounds(
        "sort prices ascending", old="put the smallest number first", current="rank scores descending: put the biggest number first"
    )
    found = tested.judge(
        "Put the smallest number first when prices are sorted ascending. When scores are ranked descending, put the biggest first."
    )
    assert found.text == "Put the smallest number first when prices are sorted ascending."
    assert (found.grounded, found.leaked) == (0.5, 0.5)


def test_an_unsupported_statement_is_marked_and_a_leaked_one_dropped() -> None:
    found = grounds(CJK, current="按付款日换算").judge("按开票日汇率换算。超过 3 张时分批。按付款日换算。")
    assert found.text == f"按开票日汇率换算。{MARK}超过 3 张时分批。"
    assert (found.hypotheses, found.dropped) == (1, 1)


def test_a_guess_of_the_old_lesson_does_not_become_knowledge_by_being_repeated() -> None:
    found = grounds("sort prices", old=f"Sort prices. {MARK}Stop at 40 rows.").judge("Sort prices. Stop at 40 rows.")
    assert found.text == f"Sort prices. {MARK}Stop at 40 rows."
