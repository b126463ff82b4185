"""Secrets and personal data go, everything else stays: by a labelled set, by laws, on real data, and in time."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.evaluation.redaction_lines import labelled_lines
from tenure.governance.redaction import redact, redact_all, redact_operation, redact_operations, redact_run, redact_step, redact_value
from tenure.governance.secret_fields import field_kind, is_secret
from tenure.playbook.delta import Add, Merge, Retire, Tally, Update
from tenure.playbook.lessons import Evidence
from tenure.playbook.run import Origin, Outcome, Run, Step, Task
from tests.governance.redaction_cases import ALNUM, CARD, KEPT, SECRETS, Case, fake, jwt, pem
from tests.strategies import any_texts
from tests.timing import assert_growth, assert_within, seconds

MARK = r"\[redacted:[a-z0-9-]+\]"


def _is_clean(case: Case, text: str) -> bool:
    """Whether each secret is gone, and all around it is there."""
    around = MARK.join(re.escape(piece) for piece in case.line.split("{}"))
    return re.fullmatch(around, text, re.DOTALL) is not None


@pytest.mark.parametrize("case", SECRETS, ids=lambda case: f"{case.kind}: {case.line[:30]}".encode("ascii", "replace").decode())
def test_a_secret_goes_and_the_rest_of_its_line_stays(case: Case) -> None:
    text = redact(case.text).text
    assert not any(secret in text for secret in case.secrets)
    assert _is_clean(case, text), text


@pytest.mark.parametrize("text", KEPT, ids=lambda text: text[:30].encode("ascii", "replace").decode())
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    found = redact(text)
    assert found.text == text
    assert found.counts == {}


def test_recall_and_precision_on_the_labelled_set_are_at_least_98_percent() -> None:
    hit = sum(not any(secret in redact(case.text).text for secret in case.secrets) for case in SECRETS)
    false = sum(redact(text).text != text for text in KEPT)
    assert len(SECRETS) + len(KEPT) >= 150
    assert len({case.kind for case in SECRETS}) >= 25
    assert hit / len(SECRETS) >= 0.98
    assert hit / (hit + false) >= 0.98


@pytest.mark.parametrize("frame", ["{}", "x\n{}\ny", '"{}"', "({})", "see {}.", "a, {}; b", "{}\r\n", "\t{}"])
def test_a_secret_goes_wherever_it_stands_in_a_text(frame: str) -> None:
    leaks = [
        case.line for case in SECRETS if any(len(secret) > 7 and secret in redact(frame.format(case.text)).text for secret in case.secrets)
    ]
    assert leaks == []


@pytest.mark.parametrize("frame", ["{}", "x\n{}\ny", "a\t{}\r\n", '"{}"'])
def test_a_secret_goes_from_json_inside_json(frame: str) -> None:
    cases = [case for case in SECRETS if case.text.isascii()]  # a name written as \\uXXXX is read when the JSON is
    leaks = []
    for case in cases:
        once = json.dumps({"stdout": frame.format(case.text)})
        for whole in (once, json.dumps(once)):
            left = redact(whole).text
            if any(len(secret) > 7 and json.dumps(secret)[1:-1] in left.replace("\\\\", "\\") for secret in case.secrets):
                leaks.append(whole)
    assert leaks == []


def test_json_stays_json() -> None:
    for case in SECRETS:
        for text in (case.text, f"x\n{case.text}\ty", f'"{case.text}"'):
            whole = json.dumps({"stdout": text, "n": 1})
            assert set(json.loads(redact(whole).text)) == {"stdout", "n"}, text


def test_marks_name_the_kind_and_are_counted() -> None:
    found = redact(f"password: hunter2 and bob@corp.example and eve@corp.example and {CARD}")
    assert found.text == "password: [redacted:password] and [redacted:email] and [redacted:email] and [redacted:card]"
    assert found.counts == {"password": 1, "email": 2, "card": 1}


def test_a_text_without_a_hit_comes_back_as_the_same_object() -> None:
    for text in ("", "x", "Convert each line at the invoice-date rate.", *KEPT):
        assert redact(text).text is text


def test_a_key_cut_off_before_its_end_goes_and_the_words_after_it_stay() -> None:
    lines = pem(lines=5)
    cut = redact("\n".join([*lines[:3], lines[3][:20]]) + "\n... output cut, 12 lines more").text
    assert not any(line[:16] in cut for line in lines[1:4])
    assert cut.endswith("\n... output cut, 12 lines more")


def _tricky(more: bool = False) -> st.SearchStrategy[str]:
    """Texts of pieces between which rules could meet; more: of the labelled lines too."""
    labelled = [line.text for line in labelled_lines() if len(line.text) < 160]
    pieces = [case.text for case in SECRETS] + list(KEPT) + (labelled if more else [])
    glue = [
        "",
        " ",
        "\n",
        '"',
        "'",
        ":",
        "=",
        "@",
        "://",
        ".",
        "-",
        "_",
        "+",
        "(",
        ")",
        "\\n",
        "\\",
        "&",
        ";",
        ",",
        "4",
        "a",
        "[redacted:",
        "]",
        "password",
        "token ",
        "sk-",
        "eyJ",
        "\ud800",
        "\u0130",
        "\x00",
    ]
    return st.lists(st.one_of(st.sampled_from(pieces), st.sampled_from(glue), any_texts(2)), max_size=6).map("".join)


@given(_tricky(more=True))
def test_a_second_pass_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(any_texts(8))
def test_redaction_is_total(text: str) -> None:
    found = redact(text)
    assert (found.text == text) == (not found.counts)


@given(st.lists(_tricky(more=True), max_size=5))
def test_many_texts_at_once_are_redacted_as_each_alone(texts: list[str]) -> None:
    assert redact_all(texts) == [redact(text).text for text in texts]


@given(_tricky(), st.sampled_from([case for case in SECRETS if case.kind not in ("age key", "private key")]), _tricky())
def test_lines_around_a_secret_do_not_hide_it(before: str, case: Case, after: str) -> None:
    text = redact(f"{before}\n\n{case.text}\n\n{after}").text
    long = [secret for secret in case.secrets if len(secret) >= 12 and secret not in before + after]
    assert not any(secret in text for secret in long)


# ---- values -------------------------------------------------------------------------------------------


_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), _tricky()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(st.sampled_from(["password", "api_key", "name", "value", "note", "token"]), any_texts(2)), inner, max_size=3
        ),
    ),
    max_leaves=8,
)


@given(_JSON)
def test_a_value_keeps_its_shape(value: Any) -> None:
    clean = redact_value(value)
    assert _shape(clean) == _shape(value)
    assert redact_value(clean) == clean


def _shape(value: Any) -> Any:
    if isinstance(value, dict):
        return ["object", *map(_shape, value.values())]
    return ["list", *map(_shape, value)] if isinstance(value, list) else "leaf"


def test_values_of_secret_fields_go_and_names_stay() -> None:
    value = {
        "user": "bob",
        "password": "tiger77",
        "pin": 12,
        "nested": [{"apiKey": fake(ALNUM, 20, "v1")}, {"client_secret": fake(ALNUM, 20, "v2"), "max_tokens": 4000}],
        "env": [{"name": "DB_PASSWORD", "value": "k8s-pw-77aa1"}, {"name": "PORT", "value": "8080"}],
        "headers": {"Authorization": "Bearer " + fake(ALNUM, 30, "v3"), "Accept": "application/json"},
    }
    assert redact_value(value) == {
        "user": "bob",
        "password": "[redacted:password]",
        "pin": 12,
        "nested": [{"apiKey": "[redacted:api-key]"}, {"client_secret": "[redacted:secret]", "max_tokens": 4000}],
        "env": [{"name": "DB_PASSWORD", "value": "[redacted:password]"}, {"name": "PORT", "value": "8080"}],
        "headers": {"Authorization": "Bearer [redacted:authorization]", "Accept": "application/json"},
    }


def test_words_and_names_in_secret_fields_stay() -> None:
    value = {
        "password": "required",
        "token": "spotify_access_token",
        "api_key": "str",
        "secret": True,
        "access_token": None,
        "tokens": ["a", "b"],
    }
    assert redact_value(value) is value


def test_a_number_as_password_goes() -> None:
    assert redact_value({"password": 123456, "passcode": 9}) == {"password": "[redacted:password]", "passcode": 9}


def test_a_name_that_is_a_secret_goes_and_two_of_them_stay_two() -> None:
    clean = redact_value({"bob@corp.example": 1, "eve@corp.example": 2})
    assert list(clean.values()) == [1, 2]
    assert not any("@" in name for name in clean)


def test_depth_is_not_bounded() -> None:
    deep: Any = "bob@corp.example"
    for _ in range(5000):
        deep = [deep]
    clean = redact_value(deep)
    for _ in range(5000):
        clean = clean[0]
    assert clean == "[redacted:email]"


def test_any_mapping_and_tuple_is_read() -> None:
    assert redact_value(MappingProxyType({"a": ("x", "bob@corp.example")})) == {"a": ["x", "[redacted:email]"]}


@pytest.mark.parametrize(
    "name",
    [
        "password",
        "DB_PASSWORD",
        "dbpassword",
        "newPassword",
        "user.password",
        "--password",
        "pwd",
        "PGPASSWORD",
        "password2",
        "PASSWORD_PROD",
        "passphrase",
    ],
)
def test_names_of_passwords_are_known(name: str) -> None:
    assert field_kind(name) == "password"


@pytest.mark.parametrize(
    "name",
    [
        "api_key",
        "apiKey",
        "X-Api-Key",
        "APIKEY",
        "token",
        "access_token",
        "accessToken",
        "GITHUB_TOKEN",
        "client_secret",
        "clientSecret",
        "SECRET_KEY",
        "private_key",
        "Authorization",
        "signingKey",
        "AccountKey",
        "jwt_secret",
    ],
)
def test_names_of_keys_and_tokens_are_known(name: str) -> None:
    assert field_kind(name)


@pytest.mark.parametrize(
    "name",
    [
        *"max_tokens tokens token_type tokenizer token_count next_page_token pageToken password_policy password_length".split(),
        "has_passwords",
        *"primary_key foreign_key public_key cache_key key keys keyboard monkey author auth_method secretary secret_name passenger".split(),
        *"passport api_key_id token_url cookie_consent session_id".split(),
        "",
    ],
)  # fmt: skip
def test_names_that_speak_of_no_secret_are_known_too(name: str) -> None:
    assert field_kind(name) == ""


def test_a_secret_value_is_told_from_a_word() -> None:
    assert is_secret("hunter2", "password")
    assert not is_secret("required", "password")
    assert not is_secret("spotify_access_token", "token")
    assert is_secret("get_token()", "password") == is_secret("get_token()", "password", literal=True)
    assert not is_secret("get_token()", "token", literal=False)


# ---- runs and operations ---------------------------------------------------------------------------------


def _run(**changes: Any) -> Run:
    fields: dict[str, Any] = {
        "id": "run-1",
        "task": Task(text="write to bob@corp.example", kind="mail", key="bob@corp.example"),
        "steps": (
            Step(kind="tool_call", name="login", arguments={"user": "bob", "password": "tiger77"}, call_id="call_abc123DEF456ghi789"),
            Step(kind="tool_result", name="login", content=f"token={fake(ALNUM, 40, 'r1')}", error="bad key sk-" + fake(ALNUM, 48, "r2")),
            Step(kind="message", role="user", content="thanks", origin=Origin(channel="mail", document="eve@corp.example")),
        ),
        "outcome": Outcome(success=True, feedback="sent to bob@corp.example", signal="human", expected=jwt("r3")),
        "origin": Origin(document="https://u:p4ss@host/x"),
    }
    return Run(**{**fields, **changes})


def test_nothing_secret_is_left_in_a_run() -> None:
    run = redact_run(_run())
    told = repr(run)
    assert not any(secret in told for secret in ("@corp", "tiger77", fake(ALNUM, 40, "r1"), fake(ALNUM, 48, "r2"), jwt("r3"), "p4ss"))
    assert run.steps[0].arguments == {"user": "bob", "password": "[redacted:password]"}
    assert run.steps[0].call_id == "call_abc123DEF456ghi789"
    assert run.origin.document == "https://u:[redacted:url-password]@host/x"
    assert redact_run(run) == run


def test_a_key_that_holds_a_secret_becomes_empty_and_another_stays() -> None:
    assert redact_run(_run()).task.key == ""
    assert redact_run(_run(task=Task(text="x", key="task-7"))).task.key == "task-7"


def test_a_clean_run_comes_back_as_the_same_object() -> None:
    run = _run(
        task=Task(text="book a flight"),
        steps=(Step(kind="message", content="ok", arguments={"a": [1, {"b": "c"}]}),),
        outcome=Outcome(),
        origin=Origin(),
    )
    assert redact_run(run) is run
    assert redact_step(run.steps[0]) is run.steps[0]


def test_texts_of_operations_are_redacted_and_their_ids_kept() -> None:
    add = Add(
        section="mail to bob@corp.example",
        text="Use password: hunter2",
        id="ctx-1",
        applies_when="jane@corp.example writes",
        avoid="token=" + fake(ALNUM, 40, "o1"),
        tool_order=("login", "bob@corp.example"),
        evidence=(Evidence(run="r", step=1),),
        author="person:jane@corp.example",
    )
    clean = redact_operation(add)
    assert (clean.id, clean.evidence, clean.author) == (add.id, add.evidence, add.author)
    assert clean.text == "Use password: [redacted:password]"
    assert clean.tool_order == ("login", "[redacted:email]")
    assert "@corp" not in clean.section + clean.applies_when
    assert redact_operation(Update(id="a", text="pw: none")) == Update(id="a", text="pw: none")
    for same in (Tally(id="a", helpful=1), Merge(ids=("a", "b"), into="a"), Retire(id="a", reason="old")):
        assert redact_operation(same) is same


# ---- real data, and time -----------------------------------------------------------------------------------


def test_every_lesson_of_a_real_playbook_stays(shared_data: Path) -> None:
    text = (shared_data / "playbooks" / "appworld_online_trained_playbook.txt").read_text(encoding="utf-8")
    assert redact(text).counts == {}


def test_in_real_runs_only_the_mail_addresses_of_profiles_go(shared_data: Path) -> None:
    files = sorted((shared_data / "tau-airline").glob("*.json"))
    kinds: Counter[str] = Counter()
    for file in files:
        text = file.read_text(encoding="utf-8")
        found = redact(text)
        kinds.update(found.counts)
        assert json.loads(found.text) == redact_value(json.loads(text))
    assert set(kinds) <= {"email"}


@pytest.mark.parametrize(
    "piece",
    [
        "a", "1", " ", "\n", "@", "a@", "a@a.", ":", "://", "://a:b@", "://a:", "+", "+1", "+1 ", "(", "(555) ", "4111 ", "41", "-",
        "_", ".", "=", "\"", "\\", "\\n", "\u4e2d", "\ud800", "sk-", "sk-a", "sk-ab1-", "eyJ", "eyJ.", "eyJaaaaaaaaa.", "-eyJ", "AKIA",
        "ghp_", "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaa", "xoxb-1", "SG.aaaaaaaaaaaaaaaa.", "password", "password=", "password:",
        "password: a ", "token=token=", "token:token:", "\"token\":", "\\\"token\\\":", "key", "api_key ", "pass", "passen",
        "secret=a1:", "authorization:", "authorization: bearer ", "bearer ", "cookie: a=b;", "cookie:", "set-cookie: a=", "PRIVATE KEY",
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "BEGIN ", "Private-Lines: 1\n", "sig=", "&sig=a", "mysql -p",
        "curl -u a:", " -p", "hooks.slack.com/services/", "1//0", ":AA", "12345678:AA", "8Q~", "DE89", "DE89 3704 ", "tel ",
        "phone: 1 ", "\u5bc6\u7801", "\u5bc6\u7801:", "?", "[redacted:", "[redacted:password]", "a.b.c.d@", "%40",
        "MMMMMMMMMMMMMMMMMMMMMMMM.", "-us1", ".atlasv1.", "user: a\npassword: b\n", "user=a password=", "--password abcd\n", "[a]\n",
        "PASSWORD=a ", "login a password bcde ", "otp: 1", "code 1", "verification code 1", " is your ", "recovery codes: a1b2-c3d4 ",
        "backup codes:\n1", "seed: abcd abcd ", "totp ", "2fa ABC2 ", "echo a | sudo -S ", "<<< abcd", "exp a/", "a:5432:a:a:", ":*:",
        "insert into a (password) values ('", "insert into a (", "call 0", "01 02 03 ", "?code=", "creds: a/", "use a / b1!cd ", "kty",
        "<RSAKeyValue>", "\"d\":\"", "net user a ", "WIFI:", "auth=(\"a\",", "key=",
    ],
    ids=lambda piece: piece[:24].encode("ascii", "backslashreplace").decode(),
)  # fmt: skip
@pytest.mark.parametrize("size", [400_000, pytest.param(2_000_000, marks=pytest.mark.full)])
def test_time_grows_with_the_length_of_any_text(piece: str, size: int) -> None:
    """Four times the text takes four times as long; what grows with the square takes sixteen."""

    def taken(characters: int) -> float:
        text = piece * (characters // len(piece))
        return seconds(lambda: redact(text))

    assert_growth(taken, size // 4, size, at_most=7, floor=0.02)


def test_ordinary_text_is_read_fast() -> None:
    line = "2024-05-15 15:00:00 user mia_li_3668 booked HAT136 for 250.00, reservation ZFA04Y, see /v1/items/42?limit=10 (ok)\n"
    text = line * 20_000
    assert_within(len(text) / 5e6, lambda: seconds(lambda: redact(text)))  # 5 MB a second; 15 and more on an idle machine


def test_operations_redacted_together_come_out_as_each_alone() -> None:
    some = (
        Add("s", "mail bob@example.com", applies_when="password: hunter2hunter2", tool_order=("a", "bob@example.com")),
        Tally("a", helpful=1),
        Update(id="b", text="nothing to hide"),
        Add("s", f"card {CARD}"),
    )
    together = redact_operations(some)
    assert together == tuple(redact_operation(one) for one in some) != some
    assert together[1] is some[1]
    assert together[2] is some[2]
