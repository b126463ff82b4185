"""A Python that runs the examples of one page, one after the other, with the same names.

Reads one JSON object a line, `{"page", "line", "code"}`, and answers each with `{"output", "error"}`.
Lines that start with `>>> ` are checked against what stands below them.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import sys
import traceback
from typing import Any


def run_example(code: str, names: dict[str, Any], *, page: str, line: int) -> dict[str, str]:
    """What an example printed, and its traceback or doctest report; empty if all is well."""
    out = io.StringIO()
    error = ""
    with contextlib.redirect_stdout(out):
        if code.lstrip().startswith(">>> "):
            test = doctest.DocTestParser().get_doctest(code, names, page, page, line - 1)
            report = io.StringIO()
            runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
            runner.run(test, out=report.write, clear_globs=False)
            names.update(test.globs)
            error = report.getvalue()
        else:
            try:
                # Blank lines in front, so that a traceback names the line of the page.
                exec(compile("\n" * (line - 1) + code, page, "exec"), names)
            except BaseException:  # noqa: BLE001  # also SystemExit: an example must not end the session
                error = traceback.format_exc()
    return {"output": out.getvalue(), "error": error}


def main() -> None:
    """Serve until the input ends."""
    # What an example writes to file descriptor 1 by itself must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    names: dict[str, Any] = {"__name__": "__main__"}
    for asked in sys.stdin:
        request = json.loads(asked)
        answers.write(json.dumps(run_example(request["code"], names, page=request["page"], line=request["line"])) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
