"""Records of a comparison: one JSON line for each instance, one for each model call; enough to go on after an interrupt.

A job is one arm in one order. Its file `ARM-ORDER.jsonl` begins with what it depends on, has a line for each sample, and
ends with a line that says so: without that line the job is done again. Replies of models stand in `ARM-ORDER.calls.jsonl`,
each as it came; a job that is done again is given them back while its prompts are the same, so that nothing is paid for
twice. Replies to arms that are reset before an instance stand in `alone-ORDER`, a file each. Texts that a memory put before
the agent are written once each and named by their place.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from tenure.errors import TenureError, UserError
from tenure.evaluation.harness.sample import Sample
from tenure.ports import LanguageModel, Prompt, Reply, Usage

FORM = 1
"""Of the records; another one is not read."""


def digest_of(value: object) -> str:
    """Short digest of a JSON-like value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False, default=str).encode()).hexdigest()[:16]


class JobRecord:
    """Writes the record of one job; use it with `with`.

    Args:
        path: of the file; what was there is replaced when the first line is written.
        depends: what its samples follow from, for JSON.
    """

    def __init__(self, path: Path, depends: Mapping[str, Any]) -> None:
        self._path, self._depends = path, depends
        self._texts: dict[str, int] = {}
        self._before: tuple[int, ...] = ()
        self._file: IO[str] | None = None
        self._written = 0

    def __enter__(self) -> JobRecord:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open("w", encoding="utf-8")
        self._line({"form": FORM, "depends": dict(self._depends), "digest": digest_of(self._depends)})
        return self

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._file.close()

    def put(self, sample: Sample, memory: Sequence[str]) -> None:
        """Write a sample with the texts that the memory put before the agent."""
        new: dict[int, str] = {}
        names: list[int] = []
        for text in memory:
            if text not in self._texts:
                self._texts[text] = len(self._texts)
                new[self._texts[text]] = text
            names.append(self._texts[text])
        kept = 0
        while kept < min(len(names), len(self._before)) and names[kept] == self._before[kept]:
            kept += 1
        self._before = tuple(names)
        self._line({**sample.to_json(), "memory_kept": kept, "memory_then": names[kept:], **({"texts": new} if new else {})})
        self._written += 1

    def end(self) -> None:
        """Say that the job is done; on disk on return."""
        assert self._file is not None
        self._line({"end": True, "samples": self._written})
        os.fsync(self._file.fileno())

    def _line(self, value: Mapping[str, Any]) -> None:
        assert self._file is not None
        self._file.write(json.dumps(value, ensure_ascii=False) + "\n")
        self._file.flush()


def read_job(path: Path, depends: Mapping[str, Any] | None = None) -> list[Sample] | None:
    """The samples of a finished job; none if there is no such job or it was interrupted.

    Args:
        path: of its record.
        depends: what it has to depend on; none takes any.

    Raises:
        UserError: the record is of another comparison, or of another form.
    """
    if not path.exists():
        return None
    lines = list(read_lines(path))
    if not lines:
        return None
    head = lines[0]
    if head.get("form") != FORM:
        raise UserError(f"{path} is no record of this form. Name another folder with --out.")
    if depends is not None and head.get("digest") != digest_of(depends):
        held = head.get("depends") or {}
        other = sorted(name for name in {*held, *depends} if digest_of(held.get(name)) != digest_of(depends.get(name)))
        raise UserError(
            f"{path} was recorded with another {', '.join(other) or 'form'}. "
            "Name another folder with --out, or remove this one to measure anew."
        )
    if not lines[-1].get("end"):
        return None
    return [Sample.from_json(line) for line in lines[1:-1]]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file; reading ends at a line that is cut off."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            try:
                value = json.loads(line)
            except ValueError:
                return
            if not isinstance(value, dict):
                return
            yield value


class RecordedModel:
    """A model whose calls are written down, and given back where the same job is done again.

    Args:
        model: is asked for what is not on record.
        path: of the record of calls.

    Attributes:
        usage: of all calls, those given back included.
        failure: why a call gave no reply; none if all did. Engines that go on without a model must not hide it.
    """

    def __init__(self, model: LanguageModel, path: Path) -> None:
        self._model, self._path = model, path
        self._held = list(read_lines(path)) if path.exists() else []
        self._place = 0
        self.usage = Usage()
        self.failure: Exception | None = None
        if path.exists():  # a line that was cut off goes, so that the next one stands alone
            path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self._held), encoding="utf-8")

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    def complete(self, prompt: Prompt) -> Reply:
        """The reply on record if the prompt is the same; else the model's, which is on disk before it is returned."""
        key = digest_of(asdict(prompt))
        if self._place < len(self._held) and self._held[self._place]["key"] == key:
            reply = _reply_from(self._held[self._place]["reply"])
        else:
            if self._place < len(self._held):  # from here on the job goes another way than it went before
                self._held = self._held[: self._place]
                self._path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self._held), encoding="utf-8")
            try:
                reply = self._model.complete(prompt)
            except TenureError as exc:
                self.failure = exc
                raise
            line = {"key": key, "prompt": asdict(prompt), "reply": asdict(reply)}
            self._held.append(line)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
                file.flush()
                os.fsync(file.fileno())
        self._place += 1
        self.usage += reply.usage
        return reply


class SharedReplies:
    """A model whose replies are kept by their prompts, for all jobs of one order.

    Arms that are reset before an instance ask all the same; what they answer is asked for once an order, and is the same for
    all of them.

    Args:
        model: is asked for what is not kept.
        folder: of the replies, one file each.
    """

    def __init__(self, model: LanguageModel, folder: Path) -> None:
        self._model, self._folder = model, folder

    @property
    def name(self) -> str:
        """Of the model."""
        return self._model.name

    def complete(self, prompt: Prompt) -> Reply:
        """The reply that is kept; else the model's, which is on disk before it is returned."""
        path = self._folder / f"{digest_of(asdict(prompt))}.json"
        held = next(read_lines(path), None) if path.exists() else None
        if held is not None:
            return _reply_from(held["reply"])
        reply = self._model.complete(prompt)
        self._folder.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"prompt": asdict(prompt), "reply": asdict(reply)}, ensure_ascii=False, default=str) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        return reply


def _reply_from(held: Mapping[str, Any]) -> Reply:
    usage = dict(held["usage"])
    usage["cost_usd"] = None if usage.get("cost_usd") is None else Decimal(str(usage["cost_usd"]))
    return Reply(text=held["text"], finish_reason=held["finish_reason"], usage=Usage(**usage), model=held["model"])
