"""A server with OpenAI's embeddings endpoint on loopback: real HTTP, vectors from word counts."""

from __future__ import annotations

import base64
import json
import threading
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tenure.testing import WordEmbedder


@dataclass
class EmbeddingServer:
    """What it was sent, and how it answers.

    Attributes:
        dimension: of its vectors.
        status: other than 200 answers with an error.
        drop: vectors left out of each answer.
    """

    url: str = ""
    dimension: int = 16
    status: int = 200
    drop: int = 0
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """A server for as long as the block runs."""
    state = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.bodies.append(body)
            state.keys.append(self.headers.get("Authorization", ""))
            answer = json.dumps(self._answer(body)).encode()
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
            if state.status != 200:
                return {"error": {"message": "no such model: tiny", "code": None, "type": None}}
            texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
            made = [vector or (0.0,) * state.dimension for vector in WordEmbedder(state.dimension).embed(texts)]
            as_text = body.get("encoding_format") == "base64"
            data = [
                {
                    "object": "embedding",
                    "index": place,
                    "embedding": base64.b64encode(array("f", vector).tobytes()).decode() if as_text else vector,
                }
                for place, vector in enumerate(made[: len(made) - state.drop])
            ]
            return {"object": "list", "model": "tiny", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
