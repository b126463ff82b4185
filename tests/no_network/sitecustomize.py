"""Python runs this at start where this folder is on PYTHONPATH: `tests/conftest.py` puts it there for child processes."""

from tenure_no_network import forbid

forbid()
