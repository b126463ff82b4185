"""A person's standing instructions are learned; what somebody wants this once is not."""

from __future__ import annotations

import pytest

from tenure.playbook.run import Origin, Step
from tenure.roles.actions import actions_of
from tenure.roles.corrections import QUOTE_LIMIT, learn_from_person
from tenure.roles.extract import extract
from tests.roles.told import agent, call, gave, told, user
from tests.roles.told_corpus import CORRECTIONS

RULES = """no, use pnpm not npm
No. Use pnpm, not npm!
Don't touch the lock file
never commit to main
Please always run the tests before you commit
I told you to use tabs
that's wrong, the port is 8080
Stop adding comments everywhere
from now on write tests first
You should not edit generated files.
use ruff instead of flake8
not black but ruff
in this repo we never push to main
Nein, nimm pnpm statt npm
Bitte committe nie direkt auf main
Ab jetzt immer mit Tests
Das ist falsch, der Port ist 8080
Hör auf, Kommentare zu schreiben
Ich habe dir doch gesagt, dass du pnpm nehmen sollst
Nicht npm, sondern pnpm
Non, utilise pnpm au lieu de npm
N'utilise pas npm
Ne modifie jamais les fichiers générés
Arrête de créer des fichiers
No uses npm
Usa pnpm en vez de npm
Nunca hagas commit en main
Eso está mal
ya te dije que uses pnpm
不要用npm，用pnpm
别改这个文件
以后都用pnpm
不是npm，而是pnpm
我说过要用pnpm
不对，端口是8080
npmではなくpnpmを使ってください
このファイルは変更しないでください
必ずテストを実行してください
違います、ポートは8080です
npm 말고 pnpm을 써
main에 커밋하지 마세요
앞으로는 항상 테스트를 먼저 실행하세요
틀렸어, 포트는 8080이야""".splitlines()

TALK = """No, I don't need insurance
Actually, I'd like to book a different flight
I don't remember the reservation ID
Don't worry about it
Never mind
I never received my refund
No, that's all
Yes, please proceed
that's right
No thanks
The blue one, not the red one please
I always fly business
Please don't cancel it yet
Don't exchange the lamp, just the desk
Ich brauche keine Versicherung
Nein danke
Je n'ai pas besoin d'assurance
No, gracias
我不要保险
いいえ、結構です
아니요, 괜찮습니다
Could you please use my gift card instead?
Don't you have anything cheaper?
I've never had this problem before
It's not easy, but I know it's for the best.""".splitlines()


def after_a_change(text: str) -> list[str]:
    run = told(user("go"), call("Bash", command="npm install x"), gave("ok"), agent("Done."), user(text))
    return [insight.text for insight in learn_from_person(run, actions_of(run))]


@pytest.mark.parametrize("text", RULES)
def test_an_instruction_for_the_future_is_a_lesson_in_the_persons_words(text: str) -> None:
    [lesson] = after_a_change(text)
    assert text in lesson
    assert "`npm install x`" in lesson


@pytest.mark.parametrize("text", TALK)
def test_an_answer_is_no_lesson(text: str) -> None:
    assert after_a_change(text) == []


@pytest.mark.parametrize("name", CORRECTIONS)
def test_a_correction_rests_on_the_action_and_on_what_was_said(name: str) -> None:
    [insight] = extract(CORRECTIONS[name]).insights
    assert insight.basis == "person"
    assert [place.role for place in insight.evidence] == ["context", "correction"]


def test_before_any_action_nothing_is_corrected() -> None:
    assert extract(told(user("never commit to main"), call("Bash", command="npm i"), gave("ok"))).insights == ()


def test_a_correcting_word_counts_right_after_a_change_only() -> None:
    looked = told(user("go"), call("Bash", command="ls"), gave("ok"), user("don't touch the lock file"))
    assert extract(looked).insights == ()
    refusal = Step(kind="event", name="refused", role="user")
    stopped = told(user("go"), call("Bash", command="ls"), refusal, user("don't touch the lock file"))
    assert len(extract(stopped).insights) == 1


@pytest.mark.parametrize("origin", [Origin(channel="web", trusted=False), Origin(channel="agent", trusted=False), Origin(channel="file")])
def test_only_a_persons_words_count(origin: Origin) -> None:
    said = Step(kind="message", role="user", content="never commit to main", origin=origin)
    assert extract(told(user("go"), call("Bash", command="npm i"), gave("ok"), said)).insights == ()


def test_pasted_documents_and_reminders_of_a_host_are_not_the_persons_words() -> None:
    for text in (
        "<system-reminder>never commit to main</system-reminder> thanks",
        "```\nnever commit to main\n```",
        "> never commit to main",
    ):
        assert after_a_change(text) == []


def test_the_quotation_is_short_and_whole() -> None:
    text = "Thanks for that. " * 20 + "From now on run the tests first. It saves us time. " + "And so on. " * 40
    [lesson] = after_a_change(text)
    assert "From now on run the tests first." in lesson
    assert len(lesson) < QUOTE_LIMIT + 100


def test_the_same_words_are_one_lesson() -> None:
    run = told(user("go"), call("edit_x"), gave("ok"), user("Never do that!"), call("edit_x"), gave("ok"), user("never do that"))
    assert len(extract(run).insights) == 1
