"""Adapters for agent frameworks: what an agent is shown goes in where its framework wants it, what it did comes back as steps.

`tenure.frameworks.openai`, `tenure.frameworks.anthropic` and `tenure.frameworks.pydantic_ai` wrap one call each; nothing
of a framework is imported before its functions are called. For any other framework there are the two parts they are made
of: `context_parts` gives the texts to show, `record_messages` takes the conversation.
"""

from tenure.frameworks.placing import context_parts
from tenure.frameworks.recording import record_messages

__all__ = ["context_parts", "record_messages"]
