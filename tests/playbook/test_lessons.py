"""Ids, sections and normal forms of lessons."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.playbook.lessons import lesson_id, normalised, section_name, section_slug, short_ids, text_digest
from tests.strategies import any_texts, texts


@pytest.mark.parametrize(
    ("delta_id", "section", "text", "count", "expected"),
    [
        ("01JXAMPLE0000000000000000A", "invoices", "Convert each line at the invoice-date rate.", 0, "inv-upvys2goxaprw"),
        ("01JXAMPLE0000000000000000A", "tool rules", "caf\u00e9  \n", 1, "tr-ldsaqr2qin4pr"),
        ("0", "請求書", "請求書はPDF/Aで保存", 0, "les-mkuu3tidxruq2"),
    ],
)
def test_ids_are_the_same_in_every_version(delta_id: str, section: str, text: str, count: int, expected: str) -> None:
    assert lesson_id(delta_id, section, text, count) == expected


@given(any_texts(), any_texts(), any_texts(), st.integers(0, 9))
def test_ids_have_their_form_whatever_the_text(delta_id: str, section: str, text: str, count: int) -> None:
    assert re.fullmatch(r"[a-z0-9]{1,4}-[a-z2-7]{13}", lesson_id(delta_id, section, text, count))


@given(any_texts(8))
def test_the_normal_form_is_its_own_normal_form(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once
    assert normalised(f" \n{text}\u2028") == once
    assert text_digest(once) == text_digest(text)
    assert bool(once) == bool(text.strip())


@given(any_texts(8))
def test_a_section_name_is_one_visible_line_and_stays_as_it_is(section: str) -> None:
    name = section_name(section)
    assert name
    assert section_name(name) == name
    assert len(name.splitlines()) == 1
    assert not name.startswith(("#", " "))
    assert not name.endswith((":", " "))


@pytest.mark.parametrize(
    ("section", "slug"),
    [
        ("invoices", "inv"),
        ("tool rules", "tr"),
        ("STRATEGIES AND HARD RULES", "sahr"),
        ("a b c d e f", "abcd"),
        ("ab", "ab"),
        ("請求書", "les"),
        ("", "les"),
    ],
)
def test_an_id_begins_with_what_its_section_is_called(section: str, slug: str) -> None:
    assert section_slug(section) == slug


@given(
    st.lists(
        st.one_of(
            st.builds(lesson_id, st.sampled_from("ab"), st.just("invoices"), texts(1), st.just(0)),
            st.sampled_from(("ctx-1", "ctx-12", "x")),
        ),
        max_size=8,
    )
)
def test_short_ids_tell_lessons_apart(ids: list[str]) -> None:
    shown = short_ids(ids)
    assert set(shown) == set(ids)
    for full, short in shown.items():
        assert full.startswith(short)
        assert [other for other in shown if other.startswith(short)] == [full] or short == full


def test_short_ids_grow_where_they_must() -> None:
    ids = ["inv-abcdefghijklm", "inv-abcdefgz22222", "inv-zzzzzzzzzzzzz", "inv-abcdef", "ctx-00263"]
    assert short_ids(ids, least=6) == {
        "inv-abcdefghijklm": "inv-abcdefgh",
        "inv-abcdefgz22222": "inv-abcdefgz",
        "inv-zzzzzzzzzzzzz": "inv-zzzzzz",
        "inv-abcdef": "inv-abcdef",
        "ctx-00263": "ctx-00263",
    }


@given(st.text(st.characters(), max_size=40))
def test_the_normal_form_has_single_spaces_whatever_white_space_came_in(text: str) -> None:
    assert normalised(text) == re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()
