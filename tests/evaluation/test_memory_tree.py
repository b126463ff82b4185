"""The bench of the memory tree: its reader knows nothing but what it has read, and what leads it is what the tree says."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tenure import UserError
from tenure.evaluation.memory_scale import run_memory_scale
from tenure.evaluation.memory_tree import run_memory_tree
from tenure.evaluation.memory_walk import Door, NotNamed, Tree, children, looked_for, walk
from tenure.memory_tree.entries import Entry
from tests.memory_tree.trees import build

ROOT = "# Memory\n## History (log)\n### 2026-03\n- 15: violin teacher\n- 16: tomatoes market"
NODES = {
    "2026-03-15": "# 2026-03-15: 2 sessions\n- #1: violin strings\n- #2: teacher lessons",
    "2026-03-16": "# 2026-03-16: 1 session\n- #1: tomatoes",
    "2026-03-17": "# 2026-03-17: 1 session\n- #1: zebra stripes",
}
COSTS = {"2026-03-15#1": 40, "2026-03-15#2": 5_000, "2026-03-16#1": 20, "2026-03-17#1": 10}
TREE = Tree(root=ROOT, nodes=NODES, session_tokens=COSTS)


def test_the_door_gives_nothing_that_no_text_read_so_far_has_named() -> None:
    door = Door(TREE, 10_000)
    with pytest.raises(NotNamed):
        door.read("2026-03-15")
    assert door.read("") == ROOT
    with pytest.raises(NotNamed):
        door.open_session("2026-03-15#1")
    assert door.read("2026-03-15") is not None
    assert door.open_session("2026-03-15#1")
    for hidden in ("2026-03-17", "2026-03"):
        with pytest.raises(NotNamed):
            door.read(hidden)
    for hidden in ("2026-03-16#1", "2026-03-15#3"):
        with pytest.raises(NotNamed):
            door.open_session(hidden)


def test_all_that_is_read_is_counted_and_a_session_costs_a_turn_at_most() -> None:
    door = Door(TREE, 10_000)
    door.read("")
    before = door.tokens
    door.read("2026-03-15")
    assert 0 < before < door.tokens
    before = door.tokens
    assert door.open_session("2026-03-15#2")
    assert door.tokens == before + 300
    assert door.open_session("2026-03-15#1")
    assert door.tokens == before + 340
    assert door.opened == (("2026-03-15#2", before + 300), ("2026-03-15#1", before + 340))


def test_nothing_is_read_beyond_the_budget() -> None:
    for budget in range(0, 500, 7):
        found = walk(TREE, looked_for("violin strings"), budget)
        assert found.tokens <= budget
        assert all(tokens <= budget for _, tokens in found.opened)
    assert walk(TREE, looked_for("violin strings"), 3).opened == ()


def test_a_walk_goes_where_the_words_lead_first() -> None:
    found = walk(TREE, looked_for("the teacher of the violin gave lessons"), 1_000)
    assert found.opened[0][0] == "2026-03-15#2"
    assert walk(TREE, looked_for("tomatoes"), 1_000).opened[0][0] == "2026-03-16#1"


def test_what_no_text_names_is_never_reached_however_much_may_be_read() -> None:
    found = walk(TREE, looked_for("zebra stripes"), 1_000_000)
    assert {name for name, _ in found.opened} == {"2026-03-15#1", "2026-03-15#2", "2026-03-16#1"}


def test_a_short_history_is_walked_through_its_copies() -> None:
    entries = [
        Entry(id=f"e{day}", at=f"2026-03-{day}T12:00:00.000000+00:00", day=f"2026-03-{day}", text=text, session=f"s{day}", role="user")
        for day, text in ((15, "My violin teacher is called Rosa."), (16, "I planted tomatoes.\n- 2026-03-20: not a day\n## #9"))
    ]
    nodes, root = build(entries, today="2026-03-18")
    tree = Tree(root=root, nodes={name: node.text for name, node in nodes.items()}, session_tokens={"2026-03-15#1": 9, "2026-03-16#1": 9})
    for name, node in nodes.items():
        named = {one.name for one in children(name, node.text)}
        assert not named & {"2026-03-20", f"{name}#9"}, "text of an entry never becomes a name"
    assert walk(tree, looked_for("violin teacher"), 10_000).opened[0][0] == "2026-03-15#1"


SUBJECTS = (
    "violin tomato kayak pottery falcon marathon espresso origami beehive telescope harmonica glacier saffron compass lantern".split()
)
FILLER = "market street window paper garden river morning letter kitchen bottle window ticket summer carpet button silver".split()


def _chats(folder: Path, days: int = 16, each: int = 5) -> tuple[Path, Path]:
    """Day files of chats, each about one thing with a name of its own; and questions that name it."""
    dice = random.Random(3)
    sessions = folder / "sessions"
    sessions.mkdir()
    asked = []
    for day in range(days):
        parts = []
        for n in range(each):
            subject, name = dice.choice(SUBJECTS), f"{dice.choice(SUBJECTS)}{dice.choice(FILLER)}{day}{n}"
            turns = [f"User: I bought a {subject} from {name} for {dice.randint(20, 900)} dollars."]
            turns += [f"Assistant: That sounds like a good {subject}. " + " ".join(dice.choices(FILLER, k=60))]
            turns += [f"User: {' '.join(dice.choices(FILLER, k=80))}." for _ in range(2)]
            parts.append(f"## Session answer_{day}_{n}\n" + "\n".join(turns))
            if n == day % each:
                asked.append(
                    {
                        "question": f"Where did that {subject} come from again, was it {name}?",
                        "should_recall": f"The user bought a {subject} from {name}.",
                        "answer": name,
                        "difficulty": "easy",
                        "answer_session_ids": [f"answer_{day}_{n}"],
                    }
                )
        (sessions / f"2026-{1 + day // 8:02}-{1 + day % 8:02}.md").write_text("\n\n".join(parts), encoding="utf-8")
    questions = folder / "questions.json"
    questions.write_text(json.dumps(asked), encoding="utf-8")
    return sessions, questions


def test_the_bench_reaches_what_the_tree_names_and_next_to_nothing_when_it_is_shuffled(tmp_path: Path) -> None:
    found = run_memory_tree(*_chats(tmp_path))
    assert found["entries"] == 16 * 5 * 4
    assert found["root_tokens"] <= found["root_cap"]
    assert found["reachable_by_fact"] >= 0.9
    assert found["reachable_by_fact_40k"] >= found["reachable_by_fact"]
    assert found["reachable_by_question"] >= 0.9, "the questions name what they ask for"
    assert found["reachable_shuffled"] <= 0.5 * found["reachable_by_fact"]
    assert found["hit_3k"] == found["hit_10k"] == 1.0
    assert 0 < found["tokens_mean"] <= 10_000
    assert found["questions"] == 16
    assert set(found["halves"]) == {f"{name}_{half}" for name in ("reachable_by_fact", "reachable_by_fact_40k") for half in ("odd", "even")}


def test_questions_left_without_their_session_are_not_asked(tmp_path: Path) -> None:
    found = run_memory_tree(
        *_chats(tmp_path, days=6), recall=False, redated=lambda sessions: [one for one in sessions if one.day < "2026-01-04"]
    )
    assert found["questions"] == 3
    assert "hit_3k" not in found


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    sessions, questions = _chats(tmp_path, days=1, each=1)
    questions.write_text("[]")
    with pytest.raises(UserError, match="no question"):
        run_memory_tree(sessions, questions)


def test_the_bench_of_size_gives_all_its_figures_at_a_small_one() -> None:
    found = run_memory_scale(400, days=200)
    assert found["entries"] == 400
    assert found["nodes"] > 200
    for name in ("append_ms_month", "append_ms_decade", "append_growth", "recall_ms_month", "recall_ms_decade", "rebuild_s", "peak_mb"):
        assert found[name] > 0, name
