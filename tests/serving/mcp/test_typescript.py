"""The server by the clients of the TypeScript SDK, which most hosts are built with.

Set TENURE_NODE_MCP to a folder `node_modules` with one of them: `npm install @modelcontextprotocol/sdk @modelcontextprotocol/client`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.serving.mcp.conftest import STEPS

PACKAGES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/client")


@pytest.mark.parametrize("package", PACKAGES)
def test_a_host_in_typescript_goes_from_context_to_lesson(package: str, tenure_command: list[str], tmp_path: Path) -> None:
    node = shutil.which("node")
    modules = os.environ.get("TENURE_NODE_MCP", "")
    if node is None:
        pytest.skip("needs node, which is not on the path")
    if not modules:
        pytest.skip("needs the TypeScript SDK: set TENURE_NODE_MCP to a node_modules folder that has it")
    if not (Path(modules) / package).is_dir():
        pytest.skip(f"{package} is not in {modules}")
    (tmp_path / "node_modules").symlink_to(Path(modules).resolve())
    shutil.copy(Path(__file__).with_name("client.mjs"), tmp_path)
    done = subprocess.run(
        [node, "client.mjs", package, *tenure_command, "mcp", "--db", "book.db", "--scope", "acme/orders"],
        cwd=tmp_path,
        env={**os.environ, "STEPS": json.dumps(STEPS)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["tools"] == ["context", "report_outcome", "propose_lesson", "review_list", "submit_reflection", "submit_revision"]
    assert seen["prompts"] == ["reflect", "revise"]
    assert seen["templates"] == ["tenure://lessons/{id}"]
    assert seen["report"]["added"] == seen["reflection"]["added"] == 1
    assert seen["prompt"] is True
    assert "Pass dates to search_orders" in seen["playbook"]
    assert seen["refused"]["isError"]
    assert seen["refused"]["content"][0]["text"].startswith("Refused: ")
    assert seen["unknown"]["isError"]
    assert "is not in scope" in seen["unknown"]["content"][0]["text"]
    assert seen["runs"] == 20
