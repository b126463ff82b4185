"""Foreign logs to runs: six formats told by their content, streamed, with a report of what could not be read."""

from tenure.traces.formats import FORMATS, detect
from tenure.traces.placing import Projects, SessionScope
from tenure.traces.reading import read_runs, walk
from tenure.traces.report import ReadReport, Unreadable
from tenure.traces.tenure_jsonl import write_runs

__all__ = ["FORMATS", "Projects", "ReadReport", "SessionScope", "Unreadable", "detect", "read_runs", "walk", "write_runs"]
