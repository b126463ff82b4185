"""Generators of runs and of damaged JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tenure.playbook.run import RELIABILITY, STEP_KINDS, Draw, Origin, Outcome, Run, Step, Task

texts = st.text(max_size=40) | st.sampled_from(["a\r\nb\n", "\x00\x1f\u2028", '{"tenure_run": 1}', "😀 請求書 \u202eabc", "</x>\\ud800"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
origins = st.builds(Origin, principal=texts, channel=texts, document=texts, trusted=st.booleans())
steps = st.builds(
    Step,
    kind=st.sampled_from(STEP_KINDS),
    role=texts,
    name=texts,
    arguments=st.dictionaries(texts, json_values, max_size=3),
    content=texts,
    error=texts,
    call_id=texts,
    origin=st.none() | origins | st.just(Origin()),
    at=texts,
)
fractions = st.floats(0, 1)
outcomes = st.builds(
    Outcome,
    score=st.none() | fractions | st.sampled_from([0, 1]),
    success=st.none() | st.booleans(),
    feedback=texts,
    signal=st.sampled_from(sorted(RELIABILITY)),
    reliability=st.none() | fractions,
    expected=texts,
    at=texts,
)
ids = st.lists(texts, max_size=3).map(tuple)
draws = st.builds(
    Draw,
    lesson=st.text(min_size=1, max_size=20),
    withheld=st.booleans(),
    chance=st.floats(0, 1, exclude_min=True, exclude_max=True),
    reason=st.sampled_from(["holdout", "release"]),
    text=texts,
)
runs = st.builds(
    Run,
    id=st.text(min_size=1, max_size=20),
    task=st.builds(Task, text=texts, kind=texts, key=texts),
    scope=texts,
    steps=st.lists(steps, max_size=4).map(tuple),
    shown=ids,
    withheld=ids,
    cited=ids,
    draws=st.lists(draws, max_size=2).map(tuple),
    outcome=outcomes,
    origin=origins | st.just(Origin()),
    session=texts,
    started=texts,
    ended=texts,
)


@st.composite
def damaged(draw: st.DrawFn, record: Any) -> Any:
    """A JSON value in which one place holds something else than it should."""
    if isinstance(record, dict) and record and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(record)))
        return {**record, key: draw(damaged(record[key]))}
    if isinstance(record, list) and record and draw(st.integers(0, 4)):
        place = draw(st.integers(0, len(record) - 1))
        return [*record[:place], draw(damaged(record[place])), *record[place + 1 :]]
    return draw(
        st.sampled_from([None, True, 0, -1.5, 10**30, "", "x", [], {}, [[]], [None], [{}], {"type": []}, {"error": {}}]) | json_values
    )
