"""How long a process takes until it answers, from a warm disk: the best of several, because other work only ever adds."""

from __future__ import annotations

import subprocess
import sys
import time

SEED = None
"""Nothing is drawn."""

COMMANDS = {
    "python_alone": ["-c", ""],
    "import_tenure": ["-c", "import tenure"],
    "import_engine": ["-c", "from tenure import Tenure"],
    "help": ["-c", "import sys; sys.argv[1:] = ['--help']; from tenure.serving.cli.main import main; main()"],
    "version": ["-c", "import sys; sys.argv[1:] = ['version']; from tenure.serving.cli.main import main; main()"],
}


def measure(*, full: bool) -> dict[str, float]:
    """Wall time in milliseconds, by what is started."""
    return {f"{name}_ms": best_ms([sys.executable, *command], times=15 if full else 3) for name, command in COMMANDS.items()}


def best_ms(command: list[str], *, times: int) -> float:
    """The shortest wall time of a process, in milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken)
