"""The self-contained tour: the same Monday task for twelve weeks, with and without a memory."""

from tenure.evaluation.demo.tour import Tour, Week, run_demo

__all__ = ["Tour", "Week", "run_demo"]
