"""The formats Tenure reads, and which of them a file has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Protocol

from tenure.playbook.run import Run
from tenure.traces import claude_code, codex, openai_chat, otlp, tau_bench, tenure_jsonl
from tenure.traces.placing import Place
from tenure.traces.report import ReadReport
from tenure.traces.streaming import read_records


class Reader(Protocol):
    """Reads the runs of one file of one format."""

    def __call__(self, path: Path, *, scope: Place, report: ReadReport) -> Iterator[Run]:
        """The runs, as they are read.

        Raises:
            OSError: the file cannot be opened or read on.
        """
        ...


FORMATS: Mapping[str, Reader] = {
    tenure_jsonl.HOST: tenure_jsonl.read,
    tau_bench.HOST: tau_bench.read,
    codex.HOST: codex.read,
    claude_code.HOST: claude_code.read,
    otlp.HOST: otlp.read,
    openai_chat.HOST: openai_chat.read,
}
"""Every format by name, with its reader."""

_RECOGNISERS: Mapping[str, Callable[[object], bool]] = {
    tenure_jsonl.HOST: tenure_jsonl.recognises,
    tau_bench.HOST: tau_bench.recognises,
    codex.HOST: codex.recognises,
    claude_code.HOST: claude_code.recognises,
    otlp.HOST: otlp.recognises,
    openai_chat.HOST: openai_chat.recognises,
}
"""In the order in which they are asked: a format with a mark of its own before one that others resemble."""

_RECORDS_TRIED = 50
_PROSE = 64 << 10
_OPENINGS = (b"{", b"[")


def detect(path: Path) -> str | None:
    """The name of the format of a file, judged by its content alone; none if it is none of them.

    Looks at the first records that can be read, so that a broken first line does not matter.

    Raises:
        OSError: the file cannot be opened.
    """
    if not _may_hold_records(path):
        return None
    for record in islice(read_records(path, ReadReport(), lists=True), _RECORDS_TRIED):
        for name, recognises in _RECOGNISERS.items():
            if recognises(record.value):
                return name
    return None


def _may_hold_records(path: Path) -> bool:
    """Whether JSON begins early in the file: spares reading large files of another kind to their end."""
    with path.open("rb") as stream:
        head = stream.read(_PROSE)
        if head.count(b"\x00") == len(head):
            return bool(head)  # a start lost to a crash; what follows may be whole
    lines = head.lstrip(b"\xef\xbb\xbf\x00 \t\r\n").split(b"\n")
    return any(line.lstrip(b"\x00 \t").startswith(_OPENINGS) for line in lines)
