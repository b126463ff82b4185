"""What agents read of a memory: rules word for word, and names that are names and nothing else."""

from __future__ import annotations

import pytest

from tenure import Tenure
from tenure.memory_tree.root import SAID
from tenure.ranking import estimate_tokens
from tests.learning.test_memory import NOON, Told
from tests.learning.test_mirror import opened


@pytest.fixture
def book() -> Tenure:
    return opened(None, Told(NOON))


def test_the_root_says_a_rule_word_for_word(book: Tenure) -> None:
    book.memory.log("Never deploy on Fridays; the rota is empty then.", type="feedback", topic="releases")
    book.memory.log("Ask before\ndeleting", type="user", topic="safety")
    root = book.memory.start().root
    assert "- releases: Never deploy on Fridays; the rota is empty then. (feedback, today, knowledge/releases)" in root
    assert "- safety: Ask before deleting. (user, today, knowledge/safety)" in root


def test_the_newest_of_a_topic_comes_first_and_what_is_cut_is_marked(book: Tenure) -> None:
    book.memory.log("Tag releases.", type="feedback", topic="releases")
    book.memory.log("Never deploy on Fridays.", type="feedback", topic="releases")
    book.memory.log("Never " + "very " * SAID + "long.", type="feedback", topic="long")
    root = book.memory.start().root
    assert "- releases: Never deploy on Fridays. Tag releases. (feedback" in root
    (line,) = (line for line in root.split("\n") if line.startswith("- long:"))
    assert line.startswith("- long: Never very very")
    assert "very… (feedback" in line


def test_rules_have_their_keywords_where_the_cap_has_no_room_for_more(book: Tenure) -> None:
    for n in range(120):
        book.memory.log(f"Never do thing {n} before the other {n} is done and signed.", type="feedback", topic=f"rule {n:03d}")
    root = book.memory.start().root
    assert estimate_tokens(root) <= 3_000
    assert 5 < root.count(": Never do thing") < 120
    assert ": never, " in root
    assert "more named topics" in root


@pytest.mark.parametrize("topic", ["a\u202eb", "a\x1b[31mb", "a\x00b", "<!-- tenure: {} -->", "<tenure-context>"])
@pytest.mark.parametrize("type", ["feedback", "project", "log"])
def test_a_topic_is_no_structure_on_any_page(book: Tenure, topic: str, type: str) -> None:
    book.memory.log("We ship on Fridays.", type=type, topic=topic)
    book.memory.compact()
    day = book.memory.topics()[0].last
    node = book.memory.node(day)
    assert node is not None
    for page in (book.memory.start().text, book.memory.recall("when do we ship").text, node.text):
        assert topic not in page
        assert not any(c in page for c in "\u202e\x1b\x00")
        assert "<!--" not in page
        assert "<tenure" not in page


@pytest.mark.parametrize("topic", ["../../etc/passwd", "/etc/passwd", "..\\x", "a\u202eb"])
def test_where_to_look_never_leads_out_of_knowledge(book: Tenure, topic: str) -> None:
    book.memory.log("We ship on Fridays.", type="feedback", topic=topic)
    root = book.memory.start().root
    (where,) = (word.rstrip(")") for word in root.split() if word.startswith("knowledge/"))
    assert ".." not in where
    assert "//" not in where
    assert "\\" not in where
    assert "We ship on Fridays." in book.memory.read("knowledge", name=where.removeprefix("knowledge/"))


def test_recall_lists_no_note_that_shares_no_word_with_the_question(book: Tenure) -> None:
    book.memory.log("Never deploy on Fridays; the rota is empty then.", type="feedback", topic="releases")
    book.memory.checkpoint(request="fix the login", decisions="sessions stay in Redis", outcome="fixed in 3f2a", topic="login")
    book.memory.flush("The replica lags by two minutes.")
    found = [one.text for one in book.memory.recall("when may we deploy").found]
    assert found == ["Never deploy on Fridays; the rota is empty then."]
    assert book.memory.recall("what about 3f2a").found[0].text.startswith("Request: fix the login")


def test_what_was_said_around_an_answer_is_still_found(book: Tenure) -> None:
    book.memory.log("When may we deploy the ledger?", session="talk", role="user")
    book.memory.log("Mondays to Thursdays, 2026 only, says Ada of the operations desk in Lyon.", session="talk", role="user")
    assert any("Ada" in one.text for one in book.memory.recall("deploy").found)
