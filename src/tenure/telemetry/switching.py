"""Switching telemetry on and off, by hand or as the environment says."""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tenure.errors import MissingExtra, SettingError
from tenure.telemetry.port import LISTENER

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.trace import SpanProcessor

VARIABLE = "TENURE_TELEMETRY"
"""`on`, `off`, or empty, which is on where an endpoint is named."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
_ON, _OFF = frozenset({"on", "1", "true", "yes"}), frozenset({"off", "0", "false", "no"})
_lock = threading.Lock()


def start_if_asked(environment: Mapping[str, str] | None = None) -> bool:
    """Switches telemetry on if the environment says so and it is not on yet; whether it is on then.

    `TENURE_TELEMETRY=on` asks for it, `off` forbids it. Without either it is on where an OTLP endpoint is named in the environment and
    the extra is installed: such a variable is often set for all programs of a machine, and must stop none.

    Raises:
        SettingError: the variable has another value.
        MissingExtra: it says on, and the extra `telemetry` is not installed.
    """
    if LISTENER.telemetry is not None:
        return True
    environment = os.environ if environment is None else environment
    asked = environment.get(VARIABLE, "").strip().lower()
    if asked and asked not in _ON | _OFF:
        raise SettingError(
            f"{VARIABLE} is '{environment[VARIABLE]}'; it must be on or off. Unset, it is on where an OTLP endpoint is named."
        )
    if asked in _OFF or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if asked not in _ON and not (any(environment.get(name) for name in _ENDPOINTS) and is_installed()):
        return False
    start(export=True)
    return True


def is_installed() -> bool:
    """Whether the extra `telemetry` is there."""
    try:
        return importlib.util.find_spec("opentelemetry.sdk") is not None
    except ModuleNotFoundError:  # not even the package above it
        return False


def start(
    *,
    export: bool = False,
    prometheus: bool = False,
    spans: Sequence[SpanProcessor] = (),
    readers: Sequence[MetricReader] = (),
) -> None:
    """Switches telemetry on for this process; what was on before is stopped.

    Args:
        export: send spans and metrics by OTLP over HTTP, to where the standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and the like) say.
            Where the program around Tenure has a tracer or meter provider of its own, that is used instead.
        prometheus: keep metrics for `exposition`.
        spans, readers: further processors of spans and readers of metrics, of OpenTelemetry's SDK.

    Raises:
        MissingExtra: the extra `telemetry` is not installed.
    """
    if not is_installed():
        raise MissingExtra("Telemetry", extra="telemetry")
    from tenure.telemetry.recording import Recording

    with _lock:
        before, LISTENER.telemetry = LISTENER.telemetry, None
        if before is not None:
            before.stop()
        LISTENER.telemetry = Recording(export=export, prometheus=prometheus, spans=spans, readers=readers)


def start_serving(environment: Mapping[str, str] | None = None) -> None:
    """Switches telemetry on for a server that was asked for it: metrics for Prometheus, and export where an OTLP endpoint is named.

    Raises:
        MissingExtra: the extra `telemetry` is not installed.
    """
    environment = os.environ if environment is None else environment
    start(export=any(environment.get(name) for name in _ENDPOINTS), prometheus=True)


def stop() -> None:
    """Switches telemetry off and hands over what is left."""
    with _lock:
        before, LISTENER.telemetry = LISTENER.telemetry, None
    if before is not None:
        before.stop()
