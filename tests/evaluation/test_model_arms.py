"""Arms with a model, each against its source: calls, what stands in their prompts, the ledger, and the memory after each step."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.evaluation.arms.baselines import Cases, NoMemory
from tenure.evaluation.arms.listed import ARMS
from tenure.evaluation.harness.ports import Observation
from tenure.evaluation.model_arms.ace import AceByModel
from tenure.evaluation.model_arms.cheatsheet import SheetByModel, SynthesisedSheetByModel
from tenure.evaluation.model_arms.engine import TenureByModel
from tenure.evaluation.model_arms.gepa import ANSWERS_EACH, GepaArm
from tenure.evaluation.model_arms.mem_zero import MemZeroByModel
from tenure.evaluation.model_arms.overwrite import OverwriteByModel
from tenure.evaluation.model_arms.reasoning_bank import ReasoningBankByModel
from tenure.evaluation.model_arms.reharness import ReHarnessByModel
from tenure.ports import Prompt, Reply
from tenure.providers.scripted import RuleModel
from tests.evaluation.scripted_arms import RIGHT, Scripted, answer, asked, step, told


def listing(**found: object) -> str:
    return json.dumps(found)


# -- baselines ------------------------------------------------------------------------------------


def test_no_memory_asks_once_an_instance_and_shows_no_notes(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), answer("red")])
    arm = NoMemory(scripted.kit)
    assert [step(arm, place).answer for place in range(2)] == ["blue", "red"]
    assert "# Notes" not in scripted.user(1)
    assert scripted.user(1) == "# Question\n\nWhich colour? crimson apple basket"
    scripted.check_ledger()


def test_cases_stand_before_the_model_with_the_whole_question_and_the_label(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), answer("red"), answer("red")])
    arm = Cases(scripted.kit, most=1)
    step(arm, 0, "crimson apple basket")
    step(arm, 1, "yellow banana crate")
    step(arm, 2, "crimson apple crate")
    assert scripted.purposes == ["generate"] * 3
    assert "Question: Which colour? crimson apple basket\\nAnswer: red" in scripted.user(2)
    assert "banana" not in scripted.user(2)
    scripted.check_ledger()


def test_a_case_without_a_label_says_what_was_done_and_what_came_of_it(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), answer("red")])
    arm = Cases(scripted.kit, most=None)
    arm.respond(asked(0))
    arm.observe(Observation(text="2 of 3 tests pass.", score=0.0))
    arm.respond(asked(1))
    assert "because of blue" in scripted.user(1)
    assert "2 of 3 tests pass." in scripted.user(1)


# -- the agent ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "problem"),
    [("I cannot say {", "ends inside"), ('{"answer": ""}', "no answer"), ('{"answer": ["red"]}', "no answer"), ("", "empty")],
)
def test_a_reply_without_an_answer_is_unreadable_and_says_why(tmp_path: Path, reply: str, problem: str) -> None:
    response = NoMemory(Scripted(tmp_path, [reply]).kit).respond(asked(0))
    assert (response.answer, response.unreadable) == (None, True)
    assert problem in response.problem
    assert response.said == reply


def test_a_bare_answer_is_read_and_one_that_was_cut_off_is_not(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, ["It reads crimson.\nAnswer: red", Reply(text="Answer: red", finish_reason="length")])
    arm = NoMemory(scripted.kit)
    assert arm.respond(asked(0)).answer == "red"
    assert arm.respond(asked(1)).unreadable


def test_a_last_line_that_is_no_option_is_no_answer(tmp_path: Path) -> None:
    from dataclasses import replace

    scripted = Scripted(tmp_path, ["Answer: red", "I am done.", '{"answer": "violet"}'])
    query = replace(asked(0), options=("red", "blue"))
    found = [NoMemory(scripted.kit).respond(query) for _ in range(3)]
    assert [one.answer for one in found] == ["red", None, "violet"], "in the form that was asked for a wrong answer is an answer"
    assert found[1].unreadable


# -- overwrite ------------------------------------------------------------------------------------


def test_overwrite_replaces_its_summary_whole(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), "Crimson is red.", answer("red"), "Red is common."])
    arm = OverwriteByModel(scripted.kit)
    step(arm, 0)
    assert arm.summary == "Crimson is red."
    step(arm, 1)
    assert arm.summary == "Red is common.", "nothing of the old summary but what the model wrote again"
    assert scripted.purposes == ["generate", "summarise"] * 2
    assert "None yet." in scripted.user(1)
    assert "Wrong: it is red." in scripted.user(1)
    assert "Crimson is red." in scripted.user(2)
    assert "Crimson is red." in scripted.user(3)
    assert "2,500 words" in scripted.user(3)
    scripted.check_ledger()
    arm.reset()
    assert (arm.summary, arm.memory_tokens()) == ("", 0)


def test_a_summary_that_was_cut_off_replaces_nothing(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("red"), "Crimson is red.", answer("red"), Reply(text="Crim", finish_reason="length")])
    arm = OverwriteByModel(scripted.kit)
    step(arm, 0)
    step(arm, 1)
    assert arm.summary == "Crimson is red."
    assert arm.asking.unread == ["summarise: it ended with length"]


# -- Dynamic Cheatsheet ---------------------------------------------------------------------------


def test_a_cumulative_sheet_is_rewritten_after_each_answer_and_kept_where_the_tag_is_missing(tmp_path: Path) -> None:
    replies = [answer("blue"), "So:\n<sheet>\nCrimson: red (1)\n</sheet>", answer("red"), "I have nothing to add."]
    scripted = Scripted(tmp_path, replies)
    arm = SheetByModel(scripted.kit)
    step(arm, 0)
    step(arm, 1)
    assert arm.sheet == "Crimson: red (1)"
    assert scripted.purposes == ["generate", "curate"] * 2
    assert "it is red" in scripted.user(1)
    assert '"text": "Crimson: red (1)"' in scripted.user(2)
    assert "Crimson: red (1)" in scripted.user(3)
    assert arm.asking.unread == ["curate: it holds no sheet"]
    scripted.check_ledger()


def test_the_original_sheet_is_told_no_labels(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), "<sheet>x</sheet>"])
    step(SheetByModel(scripted.kit, labels=False), 0)
    assert "it is red" not in scripted.user(1)
    assert '"answer": "blue"' in scripted.user(1)


def test_a_synthesised_sheet_is_made_before_the_answer_from_three_similar_questions(tmp_path: Path) -> None:
    scripted = Scripted(
        tmp_path, [answer("blue"), *[line for place in range(4) for line in (f"<sheet>sheet {place}</sheet>", answer("red"))]]
    )
    arm = SynthesisedSheetByModel(scripted.kit)
    step(arm, 0, "yellow banana crate")
    for place in range(1, 5):
        step(arm, place, f"crimson apple basket {place}")
    assert scripted.purposes == ["generate"] + ["curate", "generate"] * 4
    last = scripted.user(7)
    assert last.count("Which colour? crimson apple basket") == 3 + 1, "three past questions and the next one"
    assert "banana" not in last
    assert "sheet 2" in last
    assert "sheet 3" in scripted.user(8)
    scripted.check_ledger()


# -- ACE ------------------------------------------------------------------------------------------

REFLECTED = listing(
    reasoning="r", error="took blue", root_cause="misread", right_approach="look again", key_insight="Crimson is red.", tags=[]
)
ADDED = listing(reasoning="r", operations=[{"type": "ADD", "section": "colour rules", "content": "Crimson is red."}])


def test_ace_reflects_and_tries_again_until_it_is_right_and_curates_once(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), REFLECTED, answer("red"), ADDED])
    arm = AceByModel(scripted.kit)
    assert step(arm, 0).answer == "blue", "the answer that counts is the one before learning"
    assert scripted.purposes == ["generate", "reflect", "generate", "curate"]
    assert "Wrong: it is red." in scripted.user(1)
    assert "Nothing." in scripted.user(1)
    assert "Reflection on the attempt before: took blue misread look again Crimson is red." in scripted.user(2)
    assert "80,000 tokens" in scripted.user(3)
    assert "Crimson is red." in scripted.user(3)
    assert {name: entry.text for name, entry in arm.playbook.items()} == {"colou-00001": "Crimson is red."}
    scripted.check_ledger()


@pytest.mark.parametrize(("rounds", "calls"), [(1, 3), (2, 5), (3, 7)])
def test_ace_ends_after_its_rounds(tmp_path: Path, rounds: int, calls: int) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), *[REFLECTED, answer("blue")] * (rounds - 1), REFLECTED, ADDED])
    step(AceByModel(scripted.kit, rounds=rounds), 0)
    assert len(scripted.model.prompts) == calls == 1 + rounds + (rounds - 1) + 1
    scripted.check_ledger()


def test_ace_counts_what_was_relied_on_and_only_adds(tmp_path: Path) -> None:
    tagged = listing(key_insight="k", tags=[{"id": "[colou-00001]", "tag": "helpful"}, {"id": "other-9", "tag": "harmful"}])
    more = listing(
        operations=[
            {"type": "ADD", "section": "colour rules", "content": "Yellow is gold."},
            {"type": "UPDATE", "section": "colour rules", "content": "no"},
            {"type": "ADD", "content": ""},
        ]
    )
    scripted = Scripted(tmp_path, [answer("red"), REFLECTED, ADDED, answer("red", 1), tagged, more])
    arm = AceByModel(scripted.kit)
    step(arm, 0)
    step(arm, 1)
    assert "[colou-00001] helpful=0 harmful=0 :: Crimson is red." in scripted.user(3)
    assert "[colou-00001] helpful=0 harmful=0 :: Crimson is red." in scripted.user(4)
    shown = "## colour rules\n[colou-00001] helpful=1 harmful=0 :: Crimson is red."
    assert shown in scripted.user(5), "the Curator sees the counters that the Reflector raised"
    assert [entry.shown(name) for name, entry in arm.playbook.items()] == [
        "[colou-00001] helpful=1 harmful=0 :: Crimson is red.",
        "[colou-00002] helpful=0 harmful=0 :: Yellow is gold.",
    ]


def test_ace_without_labels_has_the_attempt_alone_and_one_round(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), REFLECTED, ADDED])
    step(AceByModel(scripted.kit, labels=False), 0)
    assert scripted.purposes == ["generate", "reflect", "curate"]
    assert RIGHT not in scripted.user(1).replace("Which colour? crimson", "")


def test_ace_goes_on_where_a_reply_cannot_be_read(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("red"), "no JSON", "none here either"])
    arm = AceByModel(scripted.kit)
    step(arm, 0)
    assert arm.playbook == {}
    assert len(arm.asking.unread) == 2


# -- ReasoningBank --------------------------------------------------------------------------------


def items(*contents: str) -> str:
    return listing(items=[{"title": f"T{place}", "description": "When red.", "content": text} for place, text in enumerate(contents)])


def test_reasoning_bank_extracts_by_how_it_ended_and_hands_over_the_items_of_one_task(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), items("a", "b", "c", "d"), answer("red"), items("e"), answer("red"), items()])
    arm = ReasoningBankByModel(scripted.kit)
    step(arm, 0, "crimson apple basket")
    assert arm.bank == {"q0@0": ("T0. When red: a", "T1. When red: b", "T2. When red: c")}, "three items at most"
    step(arm, 1, "yellow banana crate")
    step(arm, 2, "crimson apple crate basket")
    assert scripted.purposes == ["generate", "reflect"] * 3
    systems = [prompt.system for prompt in scripted.model.prompts]
    assert "failed at a question" in systems[1]
    assert "answered a question well" in systems[3]
    assert "T2. When red: c" in scripted.user(4)
    assert "T0. When red: e" not in scripted.user(4)
    assert len(arm.bank) == 2
    scripted.check_ledger()


def test_reasoning_bank_with_its_judge_takes_three_calls_and_sees_no_label(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), listing(success=True), items("a"), answer("blue"), "no verdict"])
    arm = ReasoningBankByModel(scripted.kit, judged=True)
    step(arm, 0)
    assert len(scripted.model.prompts) == 3
    assert "answered a question well" in scripted.model.prompts[2].system
    assert "it is red" not in scripted.user(1) + scripted.user(2)
    step(arm, 1)
    assert len(arm.bank) == 1, "what was not judged is not learned from"


# -- ReHarness ------------------------------------------------------------------------------------


def test_reharness_takes_one_call_to_act_one_for_each_lesson_read_and_one_to_write(tmp_path: Path) -> None:
    revised = listing(verdict="too_general", evidence="e", lesson="In a basket, crimson is red.")
    kept = listing(verdict="confirmed", evidence="e", lesson="something else")
    replies = [
        *(answer("blue"), listing(lesson="Crimson is red.")),
        *(answer("red", 1), revised, listing(lesson="Second.")),
        *(answer("red", 1), kept, kept, listing(lesson="Third.")),
    ]
    scripted = Scripted(tmp_path, replies)
    arm = ReHarnessByModel(scripted.kit, k=2)
    step(arm, 0, "crimson apple basket")
    step(arm, 1, "crimson apple crate")
    assert list(arm.lessons.values()) == ["In a basket, crimson is red.", "Second."]
    step(arm, 2, "crimson apple box")
    assert list(arm.lessons.values()) == ["In a basket, crimson is red.", "Second.", "Third."], "a confirmed lesson stays as it is"
    assert scripted.purposes == ["generate", "reflect", "generate", "revise", "reflect", "generate", "revise", "revise", "reflect"]
    source, test = scripted.user(3).split("# New case")
    assert "crimson apple basket" in source
    assert "Crimson is red." in source
    assert "crimson apple crate" in test
    assert "- In a basket, crimson is red." in scripted.user(4), "the forward write sees the revised lesson"
    scripted.check_ledger()


# -- Mem0-like ------------------------------------------------------------------------------------


def test_facts_are_added_updated_deleted_or_left_alone(tmp_path: Path) -> None:
    def chosen(operation: str, **more: str) -> str:
        return listing(operation=operation, **more)

    replies = [
        *(answer("blue"), listing(facts=["Crimson apples are red.", "Bananas are gold."]), chosen("ADD"), chosen("ADD")),
        *(answer("red"), listing(facts=["Crimson apples in baskets are red."]), chosen("UPDATE", id="f1", text="Crimson apples: red.")),
        *(answer("red"), listing(facts=["Bananas are not gold."]), chosen("DELETE", id="f2")),
        *(answer("red"), listing(facts=["Crimson apples are red."]), chosen("NOOP")),
        *(answer("red"), listing(facts=["Crimson apples."]), chosen("UPDATE", id="f9", text="x")),
        *(answer("red"), listing(facts=[])),
    ]
    scripted = Scripted(tmp_path, replies)
    arm = MemZeroByModel(scripted.kit)
    states = []
    for place in range(6):
        step(arm, place)
        states.append(dict(arm.facts))
    first = {"f1": "Crimson apples are red.", "f2": "Bananas are gold."}
    second = {"f1": "Crimson apples: red.", "f2": "Bananas are gold."}
    assert states == [first, second, *[{"f1": "Crimson apples: red."}] * 4]
    assert scripted.purposes[:7] == ["generate", "reflect", "curate", "curate", "generate", "reflect", "curate"]
    assert '"id": "f1", "text": "Crimson apples are red."' in scripted.user(6)
    assert arm.asking.unread == ["curate: no operation 'UPDATE' on 'f9'"]
    assert "Which colour?" in scripted.user(5).split("# Newest exchange")[0], "the exchanges before stand by"
    scripted.check_ledger()


# -- GEPA -----------------------------------------------------------------------------------------


def test_gepa_says_why_it_cannot_run_where_its_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "gepa" else real(name, *more))
    assert "pip install 'tenure[gepa]'" in ARMS["gepa"].reason(with_model=True)
    assert "plain code cannot" in ARMS["gepa"].reason(with_model=False)


@pytest.mark.skipif(importlib.util.find_spec("gepa") is None, reason="needs the package gepa: pip install 'tenure[gepa]'")
def test_gepa_evolves_an_instruction_on_training_instances_and_then_only_follows_it(tmp_path: Path) -> None:
    asked_for: list[Prompt] = []

    def reply(prompt: Prompt) -> str:
        asked_for.append(prompt)
        if prompt.purpose == "reflect":
            return "Here it is:\n```\nCrimson is red.\n```"
        return answer("red" if "Crimson is red." in prompt.user else "blue")

    scripted = Scripted(tmp_path, [])
    scripted.recorded._model = RuleModel(reply)
    arm = GepaArm(scripted.kit)
    arm.train([asked(place) for place in range(4)])
    assert arm.instruction == "Crimson is red."
    reflections = [prompt for prompt in asked_for if prompt.purpose == "reflect"]
    assert reflections
    assert "Wrong: it is red." in reflections[0].user
    acted = len(asked_for) - len(reflections)
    assert acted <= ANSWERS_EACH * 4 + 4, "the budget is in answers, of which the last batch may pass it"
    before = len(asked_for)
    assert step(arm, 9).answer == "red"
    assert len(asked_for) == before + 1
    assert arm.memory_tokens() > 0


# -- the engine -----------------------------------------------------------------------------------


def test_the_engine_learns_with_its_own_roles_and_cites_by_id(tmp_path: Path) -> None:
    insight = {"text": "Crimson things are red.", "applies_when": "crimson", "kind": "domain_rule", "steps": [0, 1]}
    reflection = listing(insights=[insight], tags=[])
    curation = listing(operations=[{"op": "ADD", "text": insight["text"], "applies_when": "crimson", "kind": "domain_rule", "from": [0]}])
    replies = [answer("blue"), reflection, reflection, curation, answer("red")]
    scripted = Scripted(tmp_path, replies)
    arm = TenureByModel(scripted.kit)
    step(arm, 0)
    assert [lesson.text for lesson in arm.book.playbook.lessons] == ["Crimson things are red."]
    assert scripted.purposes == ["generate", "reflect", "reflect", "curate"]
    assert '"expected_answer": "red"' in scripted.user(1)
    arm.respond(asked(1))
    assert "Crimson things are red." in scripted.user(4)
    scripted.check_ledger()
    arm.reset()
    assert arm.memory_tokens() == 0


def test_the_engine_without_a_reflector_asks_the_model_to_act_alone(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), answer("red")])
    arm = TenureByModel(scripted.kit, without="reflector")
    step(arm, 0)
    step(arm, 1)
    assert scripted.purposes == ["generate", "generate"]


def test_the_engine_without_cases_shows_lessons_alone(tmp_path: Path) -> None:
    scripted = Scripted(tmp_path, [answer("blue"), answer("red")])
    arm = TenureByModel(scripted.kit, without="cases")
    arm.book._model = None
    step(arm, 0)
    step(arm, 1)
    assert "# Notes" not in scripted.user(1)


# -- all of them ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, one in ARMS.items() if one.name != "gepa"])
def test_every_arm_with_a_model_learns_resets_and_counts(name: str, tmp_path: Path) -> None:
    from tenure.evaluation.harness.estimate import Rehearsal

    scripted = Scripted(tmp_path, [])
    stand_in = Rehearsal({f"Which colour? crimson apple {place}": RIGHT for place in range(9)}, "blue")
    scripted.recorded._model = stand_in
    arm = ARMS[name].maker(with_model=True)(scripted.kit)
    for place in range(6):
        response = arm.respond(asked(place, f"crimson apple {place}"))
        assert response.answer in (RIGHT, "blue")
        arm.observe(told(response))
    assert scripted.kit.usage().calls == stand_in.usage.calls >= 6
    assert name in ("none", "tenure-no-reflector") or arm.memory_tokens() > 0  # type: ignore[attr-defined]
    arm.reset()
    assert arm.memory_tokens() == 0  # type: ignore[attr-defined]
    assert arm.respond(asked(8)).memory == ()


SHOWN = (
    "full-history",
    "overwrite",
    "dynamic-cheatsheet",
    "dynamic-cheatsheet-rs",
    "ace",
    "reasoning-bank-judged",
    "reharness",
    "mem0-like",
)


@pytest.mark.parametrize("name", SHOWN)
def test_what_a_model_reads_for_an_arm_is_pinned(name: str, tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    def reply(prompt: Prompt) -> str:
        if "<sheet>" in prompt.system:
            return "<sheet>\nCrimson: red (1)\n</sheet>"
        if prompt.purpose == "generate":
            return answer("blue", 1)
        if prompt.purpose == "summarise":
            return "Crimson is red."
        return listing(
            key_insight="Crimson is red.",
            tags=[],
            success=False,
            items=[{"title": "Look", "description": "At colours.", "content": "Look at the word."}],
            lesson="Crimson is red.",
            verdict="too_general",
            facts=["Crimson apples are red."],
            operation="ADD",
            operations=[{"type": "ADD", "section": "colours", "content": "Crimson is red."}],
        )

    prompts: list[Prompt] = []
    scripted = Scripted(tmp_path, [])

    def noted(prompt: Prompt) -> str:
        prompts.append(prompt)
        return reply(prompt)

    scripted.recorded._model = RuleModel(noted)
    arm = ARMS[name].maker(with_model=True)(scripted.kit)
    step(arm, 0, "crimson apple basket")
    first = len(prompts)
    step(arm, 1, "crimson apple crate")
    told_all = "\n".join(
        f"# {prompt.purpose}, {prompt.max_tokens} tokens at most\n\n## System\n\n{prompt.system}\n\n## User\n\n{prompt.user}\n"
        for prompt in prompts[first:]
    )
    golden(f"bench/{name}.md", told_all)
