"""A LangGraph graph with a playbook: the first run fails, the second is shown what it taught.

python examples/langgraph_agent.py [DATABASE]

The node that asks the model puts the lessons into its prompt; each state of the graph is reported. The model is a scripted
chat model: put one of yours in its place, `ChatOpenAI(...)` say.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from invoices import POSTED, decide, post, tell
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from tenure import Tenure
from tenure.active_run import ActiveRun
from tenure.frameworks import context_parts, record_messages


class ScriptedChatModel(BaseChatModel):
    """The scripted model."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Any:
        """It knows its one tool."""
        return self

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **_: Any) -> ChatResult:
        results = [str(message.content) for message in messages if isinstance(message, ToolMessage)]
        decision = decide("\n".join(str(message.content) for message in messages), results)
        calls = [] if isinstance(decision, str) else [{"name": "post", "args": decision, "id": "call-1"}]
        reply = AIMessage(content=decision if isinstance(decision, str) else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=reply)])


def build(model: BaseChatModel, run: ActiveRun) -> Any:
    """The graph of an agent with one tool, for one run."""
    asked = model.bind_tools([post])
    prompt = "\n\n".join(filter(None, ("You are a clerk. Try once.", *context_parts(run))))

    def think(state: MessagesState) -> dict[str, list[BaseMessage]]:
        # The lessons are in the prompt and not in the state, so they are kept nowhere and stay fresh.
        return {"messages": [asked.invoke([SystemMessage(prompt), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([post], handle_tool_errors=lambda error: f"Error: {error}"))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()


def work(model: BaseChatModel, run: ActiveRun) -> str:
    """Runs the graph, and reports each of its states: what was reported before is not reported again."""
    messages: list[BaseMessage] = []
    for state in build(model, run).stream({"messages": [HumanMessage(run.task.text)]}, stream_mode="values"):
        messages = state["messages"]
        record_messages(run, convert_to_openai_messages(messages))
    return str(messages[-1].content)


def main() -> None:
    """Post two invoices."""
    with Tenure.open(sys.argv[1] if len(sys.argv) > 1 else "memory://", scope="invoices") as book:
        for invoice in (7, 8):
            with book.run(f"post invoice {invoice}") as run:
                answer = work(ScriptedChatModel(), run)
                run.finish(success=invoice in POSTED, feedback=answer)
            tell(run, answer, success=invoice in POSTED)


if __name__ == "__main__":
    main()
