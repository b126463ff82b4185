"""What `from tenure import ...` offers. A name added here is a promise: it stays, and it is documented."""

from __future__ import annotations

import inspect

import pytest

import tenure

PUBLIC = frozenset(
    {
        # values
        "Evidence",
        "Lesson",
        "Origin",
        "Outcome",
        "Playbook",
        "Run",
        "Step",
        "Task",
        # changes, and what became of them
        "Add",
        "Delta",
        "Merge",
        "Pin",
        "Receipt",
        "Restore",
        "Retire",
        "Tally",
        "Update",
        # functions on values, with what they take and return
        "Applied",
        "Bounds",
        "apply",
        "dumps",
        "loads",
        "refine",
        "render",
        # what an agent practises on, and what judges it
        "Attempt",
        "Instance",
        "Scorer",
        "TaskAgent",
        # the engine, and the errors a caller tells apart
        "Tenure",
        "TenureError",
        "UserError",
        "__version__",
    }
)
DOCUMENTED = sorted(PUBLIC - {"__version__"})


def test_the_public_names_are_these() -> None:
    assert frozenset(tenure.__all__) == PUBLIC


def test_no_public_name_is_listed_twice() -> None:
    assert len(tenure.__all__) == len(set(tenure.__all__))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(tenure, name)
    # A dataclass without a docstring gets its signature for one; that says nothing.
    doc = inspect.getdoc(value) or ""
    assert doc
    assert not doc.startswith(f"{name}(")


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_method_is_documented(name: str) -> None:
    value = getattr(tenure, name)
    if not inspect.isclass(value):
        return
    own = {key: member for key, member in vars(value).items() if not key.startswith("_")}
    called = {
        key: member
        for key, member in own.items()
        if inspect.isfunction(member) or isinstance(member, property | classmethod | staticmethod)
    }
    assert [key for key, member in called.items() if not inspect.getdoc(member)] == []


def test_dir_lists_what_is_loaded_on_first_use() -> None:
    assert set(dir(tenure)) >= PUBLIC


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tenure.no_such_name  # type: ignore[attr-defined,unused-ignore]
