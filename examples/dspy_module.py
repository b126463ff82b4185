"""A DSPy module with a playbook: the first run fails, the second is shown what it taught. The metric is the outcome.

python examples/dspy_module.py [DATABASE]

The lessons are an input field of the signature. With MODEL set, such as MODEL=openai/gpt-4o-mini and its key, it asks that
model; else a scripted one answers, without a network.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import dspy
from invoices import POSTED, decide, post, tell

from tenure import Tenure
from tenure.active_run import ActiveRun


class Plan(dspy.Signature):
    """Say how to post an invoice. Follow the lessons whose conditions hold, and name the ids of those you used."""

    lessons: str = dspy.InputField()
    task: str = dspy.InputField()
    invoice: int = dspy.OutputField()
    rate_on: str = dspy.OutputField(desc="payment_date or invoice_date")
    used: list[str] = dspy.OutputField(desc="ids of lessons, as they stand in square brackets")


class Clerk(dspy.Module):
    """Plans, and posts. What it does is reported to the run."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.Predict(Plan)

    def forward(self, run: ActiveRun) -> dspy.Prediction:
        """One invoice, tried once."""
        plan = self.plan(lessons=run.context, task=run.task.text)
        run.step("message", run.task.text, role="user")
        run.step("tool_call", name="post", arguments={"invoice": plan.invoice, "rate_on": plan.rate_on})
        try:
            run.step("tool_result", post(plan.invoice, plan.rate_on), name="post")
        except ValueError as error:
            run.step("tool_result", name="post", error=str(error))
        run.cite(plan.used)
        return dspy.Prediction(invoice=plan.invoice, used=plan.used)


def is_posted(example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float:
    """The metric: whether the invoice that was asked for is posted."""
    return float(prediction.invoice == example.invoice and example.invoice in POSTED)


class ScriptedEngine:
    """The scripted model."""

    def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
        """Its answer in the form that DSPy asks for."""
        told = "\n".join(part.text for message in request.messages for part in message.parts if isinstance(part, dspy.lm15.TextPart))
        decision = decide(told, [])
        assert isinstance(decision, dict)
        used = decide(told, ["posted"])
        said = {**decision, "used": [str(used).partition("[")[2].partition("]")[0]] if "[" in used else []}
        fields = "".join(f"[[ ## {name} ## ]]\n{str(value).replace(chr(39), chr(34))}\n\n" for name, value in said.items())
        message = dspy.lm15.Message(role="assistant", parts=(dspy.lm15.TextPart(f"{fields}[[ ## completed ## ]]"),))
        return dspy.lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=dspy.lm15.Usage())


def main() -> None:
    """Post two invoices."""
    model = os.environ.get("MODEL")
    dspy.configure(lm=dspy.LM(model) if model else dspy.LM("scripted/clerk", engine=ScriptedEngine(), cache=False))
    clerk = Clerk()
    with Tenure.open(sys.argv[1] if len(sys.argv) > 1 else "memory://", scope="invoices") as book:
        for invoice in (7, 8):
            example = dspy.Example(invoice=invoice).with_inputs()
            with book.run(f"post invoice {invoice}") as run:
                prediction = clerk(run)
                score = is_posted(example, prediction)
                run.finish(score=score)
            tell(run, f"Used {', '.join(prediction.used) or 'no lesson'}.", success=score == 1)


if __name__ == "__main__":
    main()
