"""Small runs to learn from, made by hand."""

from __future__ import annotations

from tenure import Outcome, Run, Step, Task
from tenure.playbook.run import Origin

TOOL = Origin(channel="tool", document="convert", trusted=False)


def call(name: str, **arguments: object) -> Step:
    """A tool call."""
    return Step(kind="tool_call", role="assistant", name=name, arguments=arguments)


def accepted(name: str, content: str = "ok") -> Step:
    """A result that was accepted."""
    return Step(kind="tool_result", role="tool", name=name, content=content, origin=TOOL)


def rejected(name: str, error: str) -> Step:
    """A result that was rejected."""
    return Step(kind="tool_result", role="tool", name=name, content=f"Error: {error}", error=error, origin=TOOL)


def cured_run(run_id: str = "r1", *, invoice: int = 7, outcome: Outcome | None = None, scope: str = "local/test", **more: object) -> Run:
    """A run in which a conversion is rejected, then accepted at another rate."""
    return Run(
        id=run_id,
        scope=scope,
        task=Task(text=f"reconcile invoice {invoice}"),
        steps=(
            call("convert", invoice=invoice, rate_on="payment_date"),
            rejected("convert", f"invoice {invoice} cannot be converted at the rate of its payment date"),
            call("convert", invoice=invoice, rate_on="invoice_date"),
            accepted("convert", "1043.10"),
        ),
        outcome=outcome or Outcome(success=True, signal="environment"),
        ended="2026-01-05T09:00:00+00:00",
        **more,  # type: ignore[arg-type]
    )


def uncured_run(run_id: str = "u1", **more: object) -> Run:
    """A failed run whose error is never cured."""
    return Run(
        id=run_id,
        scope="local/test",
        task=Task(text="post the total of week 3"),
        steps=(call("post", total="10"), rejected("post", "total 10 does not match the control total")),
        outcome=Outcome(success=False, signal="environment"),
        ended="2026-01-05T09:00:00+00:00",
        **more,  # type: ignore[arg-type]
    )


def clean_run(run_id: str, *, shown: tuple[str, ...] = (), cited: tuple[str, ...] = (), success: bool | None = True) -> Run:
    """A run without an error, with lessons shown and named."""
    return Run(
        id=run_id,
        scope="local/test",
        task=Task(text="reconcile invoice 9"),
        steps=(call("convert", invoice=9, rate_on="invoice_date"), accepted("convert", "88.00")),
        shown=shown,
        cited=cited,
        outcome=Outcome(success=success, signal="environment" if success is not None else "none"),
        ended="2026-01-05T09:00:00+00:00",
    )
