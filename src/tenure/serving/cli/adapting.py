"""`tenure learn --agent` and `tenure learn --task`: an agent practises in epochs; the playbook that validates best is kept."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenure.errors import UserError
from tenure.serving.cli.interrupts import Interrupts
from tenure.serving.cli.layout import Column
from tenure.serving.cli.output import Cell, counted, money
from tenure.serving.cli.request import INTERRUPTED, OK, Request, existing

if TYPE_CHECKING:
    from tenure.learning.adapting import Adapted, Progress
    from tenure.learning.practice import Instance, Practice
    from tenure.wiring import Tenure

WHY_STOPPED = {
    "epochs": "All epochs are done.",
    "patience": "Ended early: {patience} epochs in a row were no better than the best.",
    "perfect": "Ended early: every validation instance is solved, and nothing is left to gain.",
    "spend": "Ended early: a spend cap is reached. What it has spent: {spend}",
    "interrupted": "Interrupted. The best until then is kept.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Practising:
    """What was asked for besides `Request`.

    Attributes:
        agent, scorer: `MODULE:NAME`, or none.
        task: a keyless task, or none.
        train, validation: files, or none.
        epochs, patience: as given; none takes the default.
        model, base_url: for reflection.
        dry_run: act and learn on a copy that is thrown away.
    """

    agent: str | None
    scorer: str | None
    task: str | None
    train: str | None
    validation: str | None
    epochs: int | None
    patience: int | None
    model: str | None
    base_url: str | None
    dry_run: bool

    @property
    def asked(self) -> bool:
        """Whether an agent is to act.

        Raises:
            UserError: an option stands there that needs one, and none does.
        """
        if self.agent is not None or self.task is not None:
            return True
        if self.epochs is not None:
            raise UserError(
                "--epochs needs an agent: a later epoch acts on the tasks again, and a recorded run is learned once. "
                "Name one: --agent MODULE:FUNCTION or --task NAME, with --train FILE"
            )
        for name in ("train", "validation", "patience", "scorer"):
            if getattr(self, name) is not None:
                raise UserError(
                    f"--{name} needs an agent that acts: --agent MODULE:FUNCTION or --task NAME. Recorded runs are named as PATH."
                )
        return False


def adapt(
    request: Request, asked: Practising, opened: Callable[[Request, str | None, str | None, bool], Any], check: Callable[[Tenure], None]
) -> int:
    """Practise, and say what came of it.

    Args:
        request: what every command is given.
        asked: what is to be practised.
        opened: opens the playbook to learn into, or for a dry run its copy.
        check: refuses a scope in which learning is switched off.
    """
    from tenure.learning import adapting

    began = time.perf_counter()
    _check(asked)
    epochs, patience = asked.epochs or adapting.EPOCHS, asked.patience or adapting.PATIENCE
    assert asked.train is not None  # checked
    train_file, validation_file = existing([asked.train])[0], existing([asked.validation])[0] if asked.validation else None
    request.terminal.for_now("Loading ...")
    with _from_here(), opened(request, asked.model, asked.base_url, asked.dry_run) as at_hand:
        check(at_hand)
        practice, train, validation, book = _practice(asked, at_hand, train_file, validation_file)
        parts = 1 + bool(validation)
        total = epochs * len(train) + (epochs + 1) * len(validation) if validation else epochs * len(train)
        with request.terminal.progress("Practising", total) as show, Interrupts() as interrupts:

            def tell(now: Progress) -> None:
                interrupts.check()
                before = max(0, now.epoch - 1) * len(train) + now.epoch * len(validation) if validation else (now.epoch - 1) * len(train)
                before += len(train) if now.part == "validation" and now.epoch and parts > 1 else 0
                best = f", best {now.best:.3f}" if now.best is not None else ""
                show(before + now.done, f"epoch {now.epoch}, {now.part} {now.done} of {now.total}{best}")

            adapted = adapting.adapt(book, practice, train, validation, epochs=epochs, patience=patience, tell=tell)
        scope = book.scope
    if request.as_json:
        request.terminal.document(_json(request, asked, adapted, scope, time.perf_counter() - began))
    else:
        _show(request, asked, adapted, patience)
    return INTERRUPTED if adapted.stopped == "interrupted" else OK


def _check(asked: Practising) -> None:
    if asked.agent is not None and asked.task is not None:
        raise UserError("--agent and --task both name who acts. Name one of them.")
    if asked.train is None:
        raise UserError("There is nothing to practise on. Name a file of instances: --train FILE")
    if asked.task is not None and asked.scorer is not None:
        raise UserError("A task has a scorer of its own. Leave --scorer out.")
    if asked.task is not None and asked.model is not None:
        raise UserError(f"Task '{asked.task}' is acted on by plain code; no model has a part in it. Leave --model out.")
    if asked.patience is not None and asked.validation is None:
        raise UserError("--patience counts epochs without a better validation score. Give instances to validate by: --validation FILE")


def _practice(
    asked: Practising, book: Tenure, train: Path, validation: Path | None
) -> tuple[Practice, Sequence[Instance], Sequence[Instance], Tenure]:
    """Who acts on what, and the playbook that learns from it."""
    from tenure.learning.practice import AgentPractice, read_instances

    if asked.task is not None:
        from tenure.evaluation.practice import TaskPractice
        from tenure.wiring import Tenure

        task = TaskPractice(asked.task, train, validation)
        # Its writer is plain code, and no model whose tokens would be metered.
        return task.reads(book.store, book.scope), task.train, task.validation, Tenure(book.store, book.scope, model=task.model)
    assert asked.agent is not None
    instances = read_instances(train), read_instances(validation) if validation is not None else ()
    agent, scorer = _made(_named(asked.agent, "--agent"), asked.agent)
    if asked.scorer is not None:
        scorer = _named(asked.scorer, "--scorer")
        scorer = scorer() if inspect.isclass(scorer) else scorer
    if scorer is None and not any(one.expected for one in instances[0]):
        raise UserError(
            f"No instance of '{train}' has an 'expected' answer to compare with, and there is no scorer. Name one: --scorer MODULE:FUNCTION"
        )
    return AgentPractice(agent, scorer), *instances, book


@contextmanager
def _from_here() -> Iterator[None]:
    """Modules of the working directory can be imported, as in `python -m`."""
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)


def _named(name: str, option: str) -> Any:
    """What `MODULE:NAME` names; the module may be a file.

    Raises:
        UserError: it cannot be imported, or does not have it.
    """
    module_name, colon, attribute = name.rpartition(":")
    if not colon or not module_name or not attribute:
        raise UserError(f"{option} '{name}': write MODULE:FUNCTION, such as my_agent:act or agents/booking.py:act")
    try:
        module = _module(module_name)
    except ModuleNotFoundError as exc:
        if exc.name is not None and not f"{module_name}.".startswith(f"{exc.name}."):
            raise UserError(f"{option} '{name}': importing '{module_name}' failed: {exc}") from exc
        raise UserError(f"{option} '{name}': there is no module '{module_name}' in this directory or the Python environment.") from exc
    except Exception as exc:  # whatever a user's module may raise while it is loaded
        raise UserError(f"{option} '{name}': importing '{module_name}' raised {type(exc).__name__}: {exc}") from exc
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            public = ", ".join(one for one in vars(module) if not one.startswith("_") and callable(getattr(module, one))) or "nothing"
            raise UserError(f"{option} '{name}': '{module_name}' has no '{attribute}'. What can be called there: {public}")
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    if not name.endswith(".py"):
        return importlib.import_module(name)
    path = Path(name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"No file '{name}'", name=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _made(found: Any, name: str) -> tuple[Any, Any]:
    """An agent and its scorer, if it has one, from what was named: itself, or what it makes when it is called without arguments."""
    if inspect.isclass(found) or (callable(found) and not hasattr(found, "act") and not _takes(found, 2) and _takes(found, 0)):
        try:
            found = found()
        except Exception as exc:  # whatever a user's function may raise
            raise UserError(f"--agent '{name}' raised {type(exc).__name__}: {exc}") from exc
    agent, scorer = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if not hasattr(agent, "act") and not (callable(agent) and _takes(agent, 2)):
        raise UserError(
            f"--agent '{name}' is no agent: it has to be a function (task, context), an object with act(task, context), "
            "or a function without arguments that gives one, alone or with a scorer."
        )
    own = agent if callable(getattr(agent, "score", None)) else None
    return agent, scorer if scorer is not None else own


def _takes(function: Callable[..., Any], number: int) -> bool:
    """Whether a function can be called with so many arguments by position."""
    try:
        inspect.signature(function).bind(*range(number))
    except (TypeError, ValueError):
        return False
    return True


def _json(request: Request, asked: Practising, adapted: Adapted, scope: str, seconds: float) -> dict[str, Any]:
    from tenure.project import find_database, without_password
    from tenure.serving.wire import usage_json

    last = adapted.epochs[-1] if adapted.epochs else None
    best = next((one for one in adapted.epochs if one.epoch == adapted.best), None)
    return {
        "epochs": [asdict(one) for one in adapted.epochs],
        "best_epoch": adapted.best,
        "best_score": adapted.score,
        "start_score": adapted.epochs[0].score if adapted.epochs and adapted.epochs[0].epoch == 0 else None,
        "lessons": best.lessons if best is not None else None,
        "runs": sum(one.runs for one in adapted.epochs),
        "added": sum(one.added for one in adapted.epochs),
        "kept_version": adapted.kept,
        "version": adapted.version,
        "taken_back": adapted.taken_back,
        "stopped": adapted.stopped,
        "interrupted": adapted.stopped == "interrupted",
        "last_epoch": last.epoch if last is not None else 0,
        "usage": usage_json(adapted.usage),
        "problems": list(adapted.problems),
        "scope": scope,
        "database": without_password(find_database(request.db).url),
        "agent": asked.agent or asked.task,
        "seconds": round(seconds, 3),
        "dry_run": asked.dry_run,
    }


def _show(request: Request, asked: Practising, adapted: Adapted, patience: int) -> None:
    terminal = request.terminal
    validated = asked.validation is not None
    rows: list[Sequence[Cell]] = []
    for one in adapted.epochs:
        kept = one.epoch == adapted.best
        scores = (_score(one.score),) if validated else ()
        changed = (
            (f"{one.runs:,}", f"{one.added:,}", f"{one.merged:,}", f"{one.revised:,}", f"{one.retired:,}") if one.epoch else ("-",) * 5
        )
        rows.append((str(one.epoch), *scores, _score(one.train_score), *changed, f"{one.lessons:,}", "kept" if kept else ""))
    terminal.heading("Practised" + (" (dry run: nothing is written)" if asked.dry_run else ""))
    titles = ("epoch", *(("validation",) if validated else ()), "training", "runs", "added", "merged", "revised", "retired", "lessons")
    terminal.table([*(Column(title=title, right=True) for title in titles), Column(title="")], rows)
    if asked.task is not None:
        from tenure.evaluation.tasks.listed import TASKS

        terminal.text(TASKS[asked.task].said)
    terminal.say(WHY_STOPPED[adapted.stopped].format(patience=patience, spend=request.command("spend")))
    if validated and adapted.best == 0 and len(adapted.epochs) > 1:
        terminal.say("No epoch was better than the playbook as it was, so it stays as it was.")
    if adapted.taken_back and not asked.dry_run:
        terminal.say(
            f"What came after version {adapted.kept} was taken back, as version {adapted.version}. "
            f"To have it again: {request.command(f'rollback {adapted.version - 1}')}"
        )
    if not validated:
        terminal.say("Without --validation there is nothing to choose by: the playbook is what the last epoch left.")
    if adapted.usage.calls and asked.task is None:  # of a task, plain code is asked in place of a model
        terminal.say(f"Reflection took {counted(adapted.usage.calls, 'model call')}, {money(adapted.usage.cost_usd)}.")
    for problem in adapted.problems:
        terminal.warn(problem)
    terminal.say("To keep it, leave out --dry-run." if asked.dry_run else f"See the lessons: {request.command('show')}")


def _score(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
