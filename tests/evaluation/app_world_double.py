"""A double of the package `appworld`: its calls as its 0.1.3 has them, with two tasks that are done by printing a word."""

from __future__ import annotations

import contextlib
import io
from types import SimpleNamespace
from typing import Any

__version__ = "double"

TASKS = {"aaaa_1": ("Say the word of the day.", "sesame"), "aaaa_2": ("Say the word of the night.", "moon")}


def load_task_ids(dataset_name: str = "train") -> list[str]:
    if dataset_name != "dev":
        raise Exception(f"The dataset file (/data/datasets/{dataset_name}.txt) doesn't exist.")  # as the package does
    return list(TASKS)


class AppWorld:
    """One task: code is run for real, in a namespace that stays."""

    def __init__(self, task_id: str, experiment_name: str = "", max_interactions: int = 1000) -> None:
        instruction, self._wanted = TASKS[task_id]
        supervisor = SimpleNamespace(first_name="Ada", last_name="L", email="ada@example.com", phone_number="1")
        self.task = SimpleNamespace(instruction=instruction, supervisor=supervisor, app_descriptions={"supervisor": "Knows you."})
        self._said: str | None = None
        self._names: dict[str, Any] = {"apis": SimpleNamespace(supervisor=SimpleNamespace(complete_task=self._complete))}

    def __enter__(self) -> AppWorld:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, code: str) -> str:
        output = io.StringIO()
        try:
            with contextlib.redirect_stdout(output):
                exec(code, self._names)  # the package runs code too; here it is the test's own
        except Exception as exc:  # noqa: BLE001  # whatever the code raises is what the agent sees
            return f"Execution failed. Traceback:\n{exc!r}"
        return output.getvalue() or "Execution successful."

    def task_completed(self) -> bool:
        return self._said is not None

    def evaluate(self) -> Any:
        success = self._said == self._wanted
        failures = [] if success else [{"requirement": "assert the word is said", "trace": "...", "label": None}]
        return SimpleNamespace(success=success, pass_count=1 + success, num_tests=2, failures=failures)

    def _complete(self, answer: str = "", status: str = "success") -> None:
        self._said = answer
