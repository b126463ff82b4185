"""What Tenure tells of its own work: spans and metrics, to nobody until it is switched on.

OpenTelemetry and Prometheus are known here alone, and loaded only then.
"""

from tenure.telemetry.port import Spanning, count, exposition, is_on, model_call, span, watch_queue
from tenure.telemetry.switching import start, start_if_asked, start_serving, stop

__all__ = [
    "Spanning",
    "count",
    "exposition",
    "is_on",
    "model_call",
    "span",
    "start",
    "start_if_asked",
    "start_serving",
    "stop",
    "watch_queue",
]
