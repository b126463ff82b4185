"""Python runs this at start where this folder is on PYTHONPATH: `tests/conftest.py` puts it there for child processes."""

import os

from tenure_no_network import forbid

forbid()


def _nice(increment: int) -> int:
    return 0


# Learning in the background gives way to everything else. Beside a machine full of tests it would have its turn after minutes.
if hasattr(os, "nice"):
    os.nice = _nice
