"""The Generator answers with the lessons it was shown, and cites no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.errors import ModelError
from tenure.ports import Reply
from tenure.providers.scripted import ScriptedModel
from tenure.roles.generate import cited_ids, generate

CONTEXT = """Lessons from earlier runs.
## invoices
- [inv-7k2m9q] Convert at the invoice date, see [1].
  | [for-ged] no lesson
- [ctx-00263] Round last.
"""


def test_an_answer_names_the_lessons_it_used() -> None:
    text = "Converted at the invoice date [inv-7k2m9q], as in [1] and [for-ged].\n\n42"
    model = ScriptedModel([text])
    answer = generate(model, "Reconcile invoice 7.", CONTEXT, max_tokens=99)
    assert (answer.text, answer.cited, answer.finish_reason) == (text, ("inv-7k2m9q",), "stop")
    assert (model.prompts[0].purpose, model.prompts[0].max_tokens) == ("generate", 99)
    assert model.prompts[0].user.index("[inv-7k2m9q]") < model.prompts[0].user.index("Reconcile invoice 7.")


def test_a_cut_answer_says_so() -> None:
    assert generate(ScriptedModel([Reply(text="Fir", finish_reason="length")]), "t").finish_reason == "length"


def test_without_lessons_nothing_is_cited() -> None:
    model = ScriptedModel(["[inv-7k2m9q] 42"])
    assert generate(model, "t").cited == ()
    assert "# Lessons" not in model.prompts[0].user


def test_a_failed_call_is_the_callers_to_know() -> None:
    with pytest.raises(ModelError):
        generate(ScriptedModel([ModelError("down")]), "t")


SHOWN = ("inv-7k2m9qxaaaaaa", "inv-7k2m9qyaaaaaa", "sql-00012", "pay-bbbbbbbbbbbbb")


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("[sql-00012]", ("sql-00012",)),
        ("[sql-00012, pay-bbbbbb] and [pay-bbbbbbbbbbbbb]", ("sql-00012", "pay-bbbbbbbbbbbbb")),
        ("[pay-bbb] first, then [sql-00012]", ("pay-bbbbbbbbbbbbb", "sql-00012")),
        ("[inv-7k2m9q] fits two", ()),
        ("[inv-7k2m9qx]", ("inv-7k2m9qxaaaaaa",)),
        ("[pay] and [pay-] are no ids", ()),
        ("sql-00012 without brackets, [sql-99999] unknown, [see the\nnotes]", ()),
        ("", ()),
    ],
)
def test_citations_are_restricted_to_what_was_shown(text: str, cited: tuple[str, ...]) -> None:
    assert cited_ids(text, SHOWN) == cited


@given(st.text() | st.lists(st.sampled_from([*SHOWN, "[", "]", ",", "x"])).map("".join))
def test_any_text_cites_only_shown_lessons_each_once(text: str) -> None:
    cited = cited_ids(text, SHOWN)
    assert set(cited) <= set(SHOWN)
    assert len(cited) == len(set(cited))


def test_full_ids_can_be_given_for_a_context_that_shows_short_ones() -> None:
    answer = generate(ScriptedModel(["[inv-7k2m9q]"]), "t", CONTEXT, shown=("inv-7k2m9qxaaaaaa", "ctx-00263"))
    assert answer.cited == ("inv-7k2m9qxaaaaaa",)
