"""The proxy between an agent and its provider: it adds lessons to requests, passes replies on as they come, and records runs."""

BUDGET_MS = 40
"""Milliseconds that Tenure may take, unless told otherwise, before a request goes on without it."""
